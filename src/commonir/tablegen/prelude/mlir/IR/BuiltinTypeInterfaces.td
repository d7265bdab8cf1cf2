#ifndef PRELUDE_BUILTINTYPEINTERFACES
#define PRELUDE_BUILTINTYPEINTERFACES

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  foreach name = ["MemRefElementTypeInterface", "PtrLikeTypeInterface", "VectorElementTypeInterface"] in
    def name : TypeInterface<name>;
  def FloatTypeInterface : TypeInterface<"FloatType", [VectorElementTypeInterface]>;
  def ShapedTypeInterface : TypeInterface<"ShapedType">;
}

#endif
