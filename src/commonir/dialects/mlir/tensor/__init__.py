"""The tensor dialect of MLIR: tensors made, taken apart and put together.

Source: MLIR tensor dialect.
"""

# ruff: noqa: F401
# pyright: reportUnusedImport=false
# The imports tell type checkers, and `LazyDefinitions`, which members the package has.

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.ods.dialect import Dialect, LazyDefinitions

if TYPE_CHECKING:
    from commonir.dialects.mlir.tensor.elements import (
        Dim_,
        Empty,
        Extract,
        FromElements,
        Generate,
        Insert,
        Rank,
        Splat,
        Yield,
    )
    from commonir.dialects.mlir.tensor.reshaping import Bitcast, Cast, CollapseShape, ExpandShape, Reshape
    from commonir.dialects.mlir.tensor.slicing import (
        Concat,
        ExtractSlice,
        Gather,
        InsertSlice,
        Pad,
        ParallelInsertSlice,
        Scatter,
    )
else:

    def __getattr__(name):
        found = globals()[name] = _DEFINITIONS.member(name)
        return found


_DEFINITIONS = LazyDefinitions(__name__)

DIALECT = Dialect(
    "tensor",
    _DEFINITIONS,
    summary="Tensors made, taken apart and put together.",
    constants="arith.constant",
    rules="commonir.dialects.mlir.tensor.rules:RULES",
    own="commonir.ods.own_forms:NOTHING",
)
