#ifndef PRELUDE_TENSORENCODING
#define PRELUDE_TENSORENCODING

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def VerifiableTensorEncoding : AttrInterface<"VerifiableTensorEncoding">;
}

#endif
