#ifndef PRELUDE_SHAPEDOPINTERFACES
#define PRELUDE_SHAPEDOPINTERFACES

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def ShapedDimOpInterface : OpInterface<"ShapedDimOpInterface">;
}

#endif
