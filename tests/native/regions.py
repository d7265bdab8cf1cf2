"""Regions of loops and branches that tests build."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonir.dialects import core
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import Type
from commonir.ods import operations_behind


def region(build: Callable[..., Sequence[Value]], *types: Type, outside: Sequence[Value] = ()) -> Region:
    """Returns a region with all operations that a function needs, except for those of values outside."""
    block = Block(types)
    values = tuple(build(*block.arguments))
    for op in operations_behind(values, frozenset(outside)):
        block.append(op)
    block.append(core.Yield(values))
    return Region([block])
