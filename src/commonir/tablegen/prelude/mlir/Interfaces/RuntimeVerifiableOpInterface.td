#ifndef PRELUDE_RUNTIMEVERIFIABLEOPINTERFACE
#define PRELUDE_RUNTIMEVERIFIABLEOPINTERFACE

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def RuntimeVerifiableOpInterface : OpInterface<"RuntimeVerifiableOpInterface">;
}

#endif
