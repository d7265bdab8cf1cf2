#ifndef PRELUDE_INFERINTRANGEINTERFACE
#define PRELUDE_INFERINTRANGEINTERFACE

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def InferIntRangeInterface : OpInterface<"InferIntRangeInterface">;
}

#endif
