#ifndef PRELUDE_FUNCTIONINTERFACES
#define PRELUDE_FUNCTIONINTERFACES

include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"

let cppNamespace = "::mlir" in {
  def FunctionOpInterface : OpInterface<"FunctionOpInterface", [Symbol, CallableOpInterface]>;
}

#endif
