#ifndef PRELUDE_SUBSETOPINTERFACE
#define PRELUDE_SUBSETOPINTERFACE

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def SubsetOpInterface : OpInterface<"SubsetOpInterface">;
  foreach kind = ["Extraction", "Insertion"] in
    def Subset # kind # OpInterface : OpInterface<"Subset" # kind # "OpInterface", [SubsetOpInterface]>;
}

#endif
