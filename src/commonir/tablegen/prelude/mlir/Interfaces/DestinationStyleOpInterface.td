#ifndef PRELUDE_DESTINATIONSTYLEOPINTERFACE
#define PRELUDE_DESTINATIONSTYLEOPINTERFACE

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def DestinationStyleOpInterface : OpInterface<"DestinationStyleOpInterface">;
}

#endif
