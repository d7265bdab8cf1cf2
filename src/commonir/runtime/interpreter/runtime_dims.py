"""Data-dependent dims, as a program runs; see `ods/data_dependent_dims.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from commonir.ir.operation import Block, Operation, Value
from commonir.ods.data_dependent_dims import defined_dims, dims_introduced

Array = NDArray[Any]


def block_sizes(block: Block, values: Mapping[Value, Array], sizes: Mapping[str, int]) -> dict[str, int]:
    """Returns the sizes known at the begin of a block: those from outside, and those of its arguments."""
    brought = dims_introduced(block.arguments, sizes)
    return {**sizes, **{s.name: values[block.arguments[s.position]].shape[s.axis] for s in brought}}


def result_sizes(op: Operation, shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
    """Returns the sizes of the dims that the results of an operation define, given their shapes."""
    return {s.name: shapes[s.position][s.axis] for s in defined_dims(op)}
