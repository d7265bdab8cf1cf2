#ifndef PRELUDE_SIDEEFFECTINTERFACES
#define PRELUDE_SIDEEFFECTINTERFACES

include "mlir/Interfaces/SideEffectInterfaceBase.td"

let cppNamespace = "::mlir" in {
  def MemoryEffectsOpInterface : EffectOpInterfaceBase<"MemoryEffectOpInterface", "::mlir::MemoryEffects::Effect">;
  def ConditionallySpeculatable : OpInterface<"ConditionallySpeculatable">;
}
class MemoryEffect<string effectName, Resource resource, int stage, EffectRange range>
    : SideEffect<MemoryEffectsOpInterface, effectName, resource, stage, range>;
class MemoryEffects<list<MemoryEffect> effects = []> : SideEffectsTraitBase<MemoryEffectsOpInterface, effects>;
class MemAlloc<Resource resource, int stage = 0, EffectRange range = PartialEffect>
    : MemoryEffect<"::mlir::MemoryEffects::Allocate", resource, stage, range>;
class MemAllocAt<int stage, EffectRange range = PartialEffect> : MemAlloc<DefaultResource, stage, range>;
def MemAlloc : MemAlloc<DefaultResource>;
class MemFree<Resource resource, int stage = 0, EffectRange range = PartialEffect>
    : MemoryEffect<"::mlir::MemoryEffects::Free", resource, stage, range>;
class MemFreeAt<int stage, EffectRange range = PartialEffect> : MemFree<DefaultResource, stage, range>;
def MemFree : MemFree<DefaultResource>;
class MemRead<Resource resource, int stage = 0, EffectRange range = PartialEffect>
    : MemoryEffect<"::mlir::MemoryEffects::Read", resource, stage, range>;
class MemReadAt<int stage, EffectRange range = PartialEffect> : MemRead<DefaultResource, stage, range>;
def MemRead : MemRead<DefaultResource>;
class MemWrite<Resource resource, int stage = 0, EffectRange range = PartialEffect>
    : MemoryEffect<"::mlir::MemoryEffects::Write", resource, stage, range>;
class MemWriteAt<int stage, EffectRange range = PartialEffect> : MemWrite<DefaultResource, stage, range>;
def MemWrite : MemWrite<DefaultResource>;
def NoMemoryEffect : MemoryEffects;
def RecursiveMemoryEffects : NativeOpTrait<"HasRecursiveMemoryEffects">;
foreach how = ["Always", "Recursively"] in {
  def how # SpeculatableImplTrait : NativeOpTrait<how # "SpeculatableImplTrait">;
  def how # Speculatable : TraitList<[ConditionallySpeculatable, !cast<Trait>(how # "SpeculatableImplTrait")]>;
}
def Pure : TraitList<[AlwaysSpeculatable, NoMemoryEffect]>;

#endif
