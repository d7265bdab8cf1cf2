#ifndef PRELUDE_PARALLELCOMBININGOPINTERFACE
#define PRELUDE_PARALLELCOMBININGOPINTERFACE

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  foreach name = ["InParallelOpInterface", "ParallelCombiningOpInterface"] in def name : OpInterface<name>;
}

#endif
