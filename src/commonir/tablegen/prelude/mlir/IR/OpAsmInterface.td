#ifndef PRELUDE_OPASMINTERFACE
#define PRELUDE_OPASMINTERFACE

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def OpAsmOpInterface : OpInterface<"OpAsmOpInterface">;
  def OpAsmTypeInterface : TypeInterface<"OpAsmTypeInterface">;
  def OpAsmAttrInterface : AttrInterface<"OpAsmAttrInterface">;
}

#endif
