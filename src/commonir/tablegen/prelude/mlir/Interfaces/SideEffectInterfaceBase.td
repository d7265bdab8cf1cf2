#ifndef PRELUDE_SIDEEFFECTINTERFACEBASE
#define PRELUDE_SIDEEFFECTINTERFACEBASE

include "mlir/prelude/Definitions.td"

class Resource<string resourceName> { string name = resourceName; }
class IntrinsicResource<string resourceName> : Resource<"::mlir::SideEffects::" # resourceName>;
foreach name = ["AutomaticAllocationScopeResource", "DefaultResource"] in def name : IntrinsicResource<name>;
class EffectRange<bits<1> val> { bits<1> Value = val; }
foreach name = ["PartialEffect", "FullEffect"] in def name : EffectRange<!eq(name, "FullEffect")>;
class EffectOpInterfaceBase<string name, string baseEffect> : OpInterface<name> { string baseEffectName = baseEffect; }
class SideEffect<EffectOpInterfaceBase interface, string effectName, Resource resourceReference, int effectStage,
                 EffectRange range> : OpVariableDecorator {
  string effect = effectName; string resource = resourceReference.name; int stage = effectStage;
  string baseEffectName = interface.baseEffectName; string interfaceTrait = interface.trait;
  string cppNamespace = interface.cppNamespace; bit effectOnFullRegion = range.Value;
}
class SideEffectsTraitBase<EffectOpInterfaceBase parentInterface, list<SideEffect> staticEffects>
    : OpInterfaceTrait<""> {
  list<SideEffect> effects = staticEffects; string baseEffectName = parentInterface.baseEffectName;
  let cppNamespace = parentInterface.cppNamespace; let trait = parentInterface.trait;
}

#endif
