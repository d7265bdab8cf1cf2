#ifndef PRELUDE_VIEWLIKEINTERFACE
#define PRELUDE_VIEWLIKEINTERFACE

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  foreach name = ["OffsetSizeAndStrideOpInterface", "ViewLikeOpInterface"] in def name : OpInterface<name>;
}
def DistinctObjectsTrait : NativeOpTrait<"DistinctObjectsTrait">;

#endif
