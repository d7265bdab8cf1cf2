"""The linalg dialect of MLIR: operations on tensors as scalar programs over iteration spaces.

Source: MLIR linalg dialect.
"""

from commonir.dialects.mlir.linalg import convolutions, generic, matmul, named, pooling, quantized, relayout, transforms
from commonir.dialects.mlir.linalg.base import Index_, Yield, iterator_type, type_function
from commonir.dialects.mlir.linalg.matmul import elementwise_kind
from commonir.ods import Dialect, definitions_in
from commonir.ods.own_forms import own_forms

_MODULES = (convolutions, generic, matmul, named, pooling, quantized, relayout, transforms)

OWN = own_forms(iterator_type, type_function, elementwise_kind, attributes="binary_fn ternary_fn unary_fn")
DIALECT = Dialect(
    "linalg",
    [Index_, Yield, *(d for m in _MODULES for d in definitions_in(vars(m), "linalg"))],
    summary="Operations on tensors as scalar programs over iteration spaces.",
    constants="arith.constant",
    rules="commonir.dialects.mlir.linalg.rules:RULES",
    own="commonir.dialects.mlir.linalg:OWN",
)

__all__ = ["DIALECT"]
