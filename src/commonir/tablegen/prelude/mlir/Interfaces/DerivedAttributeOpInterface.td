#ifndef PRELUDE_DERIVEDATTRIBUTEOPINTERFACE
#define PRELUDE_DERIVEDATTRIBUTEOPINTERFACE

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def DerivedAttributeOpInterface : OpInterface<"DerivedAttributeOpInterface">;
}

#endif
