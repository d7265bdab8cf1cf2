#ifndef PRELUDE_VECTORINTERFACES
#define PRELUDE_VECTORINTERFACES

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  foreach name = ["VectorTransferOpInterface", "VectorUnrollOpInterface"] in def name : OpInterface<name>;
}

#endif
