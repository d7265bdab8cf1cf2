#ifndef PRELUDE_LOOPLIKEINTERFACE
#define PRELUDE_LOOPLIKEINTERFACE

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def LoopLikeOpInterface : OpInterface<"LoopLikeOpInterface">;
}
def HasParallelRegion : NativeOpTrait<"HasParallelRegion">;

#endif
