#ifndef PRELUDE_CASTINTERFACES
#define PRELUDE_CASTINTERFACES

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def CastOpInterface : OpInterface<"CastOpInterface">;
}

#endif
