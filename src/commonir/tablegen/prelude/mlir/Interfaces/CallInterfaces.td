#ifndef PRELUDE_CALLINTERFACES
#define PRELUDE_CALLINTERFACES

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def ArgAndResultAttrsOpInterface : OpInterface<"ArgAndResultAttrsOpInterface">;
  foreach name = ["CallOpInterface", "CallableOpInterface"] in
    def name : OpInterface<name, [ArgAndResultAttrsOpInterface]>;
}

#endif
