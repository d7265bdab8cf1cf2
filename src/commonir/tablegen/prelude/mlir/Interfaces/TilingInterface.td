#ifndef PRELUDE_TILINGINTERFACE
#define PRELUDE_TILINGINTERFACE

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def TilingInterface : OpInterface<"TilingInterface">;
  def PartialReductionOpInterface : OpInterface<"PartialReductionOpInterface", [TilingInterface]>;
}

#endif
