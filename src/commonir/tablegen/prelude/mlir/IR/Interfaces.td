include "mlir/prelude/Definitions.td"
