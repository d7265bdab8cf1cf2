#ifndef PRELUDE_MEMOPINTERFACES
#define PRELUDE_MEMOPINTERFACES

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  foreach name = ["MemorySpaceCastConsumerOpInterface", "MemorySpaceCastOpInterface"] in
    def name : OpInterface<name>;
}

#endif
