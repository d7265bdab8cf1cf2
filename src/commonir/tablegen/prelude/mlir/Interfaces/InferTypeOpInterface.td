#ifndef PRELUDE_INFERTYPEOPINTERFACE
#define PRELUDE_INFERTYPEOPINTERFACE

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  foreach name = ["InferShapedTypeOpInterface", "InferTypeOpInterface", "ReifyRankedShapedTypeOpInterface"] in
    def name : OpInterface<name>;
}

foreach what = ["Rank", "Type"] in def SameOperandsAndResult # what : NativeOpTrait<"SameOperandsAndResult" # what>;

// Results whose types, or shapes, C++ infers; an adaptor names the arguments of the operation.
defvar Prelude_infers = DeclareOpInterfaceMethods<InferTypeOpInterface>;
class Prelude_InfersShape<list<string> methods> : DeclareOpInterfaceMethods<InferShapedTypeOpInterface, methods>;
class InferTypeOpAdaptorBase<code additionalDecls = [{}]>
    : TraitList<[Prelude_infers, NativeOpTrait<"InferTypeOpAdaptor">]>;
foreach more = ["", "WithIsCompatible"] in def InferTypeOpAdaptor # more : InferTypeOpAdaptorBase;
class InferShapedTypeOpAdaptorBase<list<string> overridenMethods = []>
    : TraitList<[Prelude_InfersShape<overridenMethods>, NativeOpTrait<"InferShapedTypeOpAdaptor">]>;
class InferTensorTypeBase<list<string> overridenMethods = []>
    : TraitList<[Prelude_infers, Prelude_InfersShape<overridenMethods>, NativeOpTrait<"InferTensorType">]>;
class InferTensorTypeAdaptorBase<list<string> overridenMethods = []>
    : TraitList<[Prelude_infers, Prelude_InfersShape<overridenMethods>, NativeOpTrait<"InferTensorTypeAdaptor">]>;
foreach more = ["", "WithReify"] in {
  defvar reifies = !if(!empty(more), []<string>, ["reifyReturnTypeShapes"]);
  def InferShapedTypeOpAdaptor # more : InferShapedTypeOpAdaptorBase<reifies>;
  def InferTensorType # more : InferTensorTypeBase<reifies>;
  def InferTensorTypeAdaptor # more : InferTensorTypeAdaptorBase<reifies>;
}

#endif
