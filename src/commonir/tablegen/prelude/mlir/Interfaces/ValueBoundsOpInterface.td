#ifndef PRELUDE_VALUEBOUNDSOPINTERFACE
#define PRELUDE_VALUEBOUNDSOPINTERFACE

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def ValueBoundsOpInterface : OpInterface<"ValueBoundsOpInterface">;
}

#endif
