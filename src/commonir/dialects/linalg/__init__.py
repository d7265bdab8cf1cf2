"""The linalg dialect of MLIR: operations on tensors as scalar programs over iteration spaces.

Source: MLIR linalg dialect.
"""

from commonir.dialects.linalg import convolutions, generic, matmul, named, pooling, quantized, relayout, transforms
from commonir.dialects.linalg.base import Index_, Yield
from commonir.ods import Dialect, definitions_in

_MODULES = (convolutions, generic, matmul, named, pooling, quantized, relayout, transforms)

DIALECT = Dialect(
    "linalg",
    [Index_, Yield, *(d for m in _MODULES for d in definitions_in(vars(m), "linalg"))],
    summary="Operations on tensors as scalar programs over iteration spaces.",
    rules="commonir.dialects.linalg.rules:RULES",
)

__all__ = ["DIALECT"]
