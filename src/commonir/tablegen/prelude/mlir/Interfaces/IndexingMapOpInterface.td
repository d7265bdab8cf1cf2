#ifndef PRELUDE_INDEXINGMAPOPINTERFACE
#define PRELUDE_INDEXINGMAPOPINTERFACE

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def IndexingMapOpInterface : OpInterface<"IndexingMapOpInterface">;
}

#endif
