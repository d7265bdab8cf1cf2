#ifndef PRELUDE_INFERSTRIDEDMETADATAINTERFACE
#define PRELUDE_INFERSTRIDEDMETADATAINTERFACE

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def InferStridedMetadataOpInterface : OpInterface<"InferStridedMetadataOpInterface">;
}

#endif
