#ifndef PRELUDE_ALIGNMENTATTRINTERFACE
#define PRELUDE_ALIGNMENTATTRINTERFACE

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def AlignmentAttrOpInterface : OpInterface<"AlignmentAttrOpInterface">;
}

#endif
