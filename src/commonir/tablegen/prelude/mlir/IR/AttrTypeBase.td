include "mlir/Definitions.td"
