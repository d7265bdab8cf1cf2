"""Binds data-dependent dims while a program runs; see `ods/data_dependent_dims.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from commonir.ir.operation import Block, Operation, Value
from commonir.ods.data_dependent_dims import defined_dims, dims_introduced

Array = NDArray[Any]


def block_dims(block: Block, values: Mapping[Value, Array], dims: Mapping[str, int]) -> dict[str, int]:
    """Returns the dims known at the start of a block: those of the enclosing block, and those of its arguments."""
    introduced = dims_introduced(block.arguments, dims)
    return {**dims, **{s.name: values[block.arguments[s.position]].shape[s.axis] for s in introduced}}


def result_dims(op: Operation, shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
    """Returns the dims that the results of an operation define, for the shapes of these results."""
    return {s.name: shapes[s.position][s.axis] for s in defined_dims(op)}
