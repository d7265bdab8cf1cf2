"""The tensor dialect of MLIR: tensors made, taken apart and put together.

Source: MLIR tensor dialect.
"""

from commonir.dialects.tensor.elements import Dim_, Empty, Extract, FromElements, Generate, Insert, Rank, Splat, Yield
from commonir.dialects.tensor.reshaping import Bitcast, Cast, CollapseShape, ExpandShape, Reshape
from commonir.dialects.tensor.slicing import (
    Concat,
    ExtractSlice,
    Gather,
    InsertSlice,
    Pad,
    ParallelInsertSlice,
    Scatter,
)
from commonir.ods import Dialect, definitions_in

DIALECT = Dialect(
    "tensor",
    definitions_in(globals(), "tensor"),
    summary="Tensors made, taken apart and put together.",
    constants="arith.constant",
    rules="commonir.dialects.tensor.rules:RULES",
)

__all__ = [
    "DIALECT",
    "Bitcast",
    "Cast",
    "CollapseShape",
    "Concat",
    "Dim_",
    "Empty",
    "ExpandShape",
    "Extract",
    "ExtractSlice",
    "FromElements",
    "Gather",
    "Generate",
    "Insert",
    "InsertSlice",
    "Pad",
    "ParallelInsertSlice",
    "Rank",
    "Reshape",
    "Scatter",
    "Splat",
    "Yield",
]
