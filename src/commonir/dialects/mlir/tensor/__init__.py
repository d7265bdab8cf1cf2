"""The tensor dialect of MLIR: tensors made, taken apart and put together.

Source: MLIR tensor dialect.
"""

from __future__ import annotations

from commonir.ods.dialect import Dialect, LazyDefinitions

_MEMBERS = LazyDefinitions(
    __name__,
    {
        "elements": "Dim_ Empty Extract FromElements Generate Insert Rank Splat Yield",
        "reshaping": "Bitcast Cast CollapseShape ExpandShape Reshape",
        "slicing": "Concat ExtractSlice Gather InsertSlice Pad ParallelInsertSlice Scatter",
    },
)


def __getattr__(name: str) -> object:
    result = globals()[name] = _MEMBERS.member(name)
    return result


DIALECT: Dialect = Dialect(
    "tensor",
    _MEMBERS,
    summary="Tensors made, taken apart and put together.",
    constants="arith.constant",
    rules="commonir.dialects.mlir.tensor.rules:RULES",
    own="commonir.ods.own_forms:NOTHING",
)
