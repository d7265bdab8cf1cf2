#ifndef PRELUDE_BUILTIN
#define PRELUDE_BUILTIN

include "mlir/prelude/Definitions.td"

def Builtin_Dialect : Dialect {
  let name = "builtin"; let cppNamespace = "::mlir"; let summary = "types and attributes of all dialects";
}

#endif
