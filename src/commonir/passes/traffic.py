"""Communication of a core program: messages and bytes by pair and tag.

A message in the body of a loop counts once. An all-reduce counts as the messages that it consists of. The bytes of
dynamic shapes are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.module import Function
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType
from commonir.reports import TrafficEntry


class Key(NamedTuple):
    """The key of messages; the tag is None for those of all-reduces."""

    source: int
    destination: int
    tag: int | None


def core_traffic(functions: Sequence[Function]) -> tuple[TrafficEntry, ...]:
    """Returns all messages of the functions of ranks, by pair and tag."""
    sizes: dict[Key, list[int | None]] = {}
    for function in functions:
        for key, size_bytes in _sent(function):
            sizes.setdefault(key, []).append(size_bytes)
    ordered = sorted(sizes, key=lambda key: (*key[:2], key.tag is None, key.tag or 0))
    return tuple([TrafficEntry(*key, len(sizes[key]), _sum(sizes[key])) for key in ordered])


def barriers_of(functions: Sequence[Function]) -> int:
    """Returns the number of barriers."""
    result = [sum(isinstance(op, core.Barrier) for op in _operations(function)) for function in functions]
    return max(result, default=0)


def _sent(function: Function) -> Iterator[tuple[Key, int | None]]:
    rank, world_size = core.rank_of(function) or (0, 1)
    for op in _operations(function):
        match op:
            case core.Send(x=x, destination=destination, tag=tag):
                yield Key(rank, destination, tag), size_bytes(x)
            case core.AllReduce(x=x):
                for step in core.all_reduce_steps(rank, world_size):
                    yield Key(rank, step.destination, None), size_bytes(x)
            case _:
                pass


def _operations(function: Function) -> Iterator[Operation]:
    for op in function.body.operations:
        yield from op.walk()


def size_bytes(value: Value) -> int | None:
    """Returns the bytes of a tensor; None if its shape is dynamic."""
    type = value.type
    if not isinstance(type, TensorType) or type.shape is None:
        return None
    dims = [d for d in type.shape if isinstance(d, int)]
    return type.element.size_bytes(prod(dims)) if len(dims) == len(type.shape) else None


def _sum(sizes: Sequence[int | None]) -> int | None:
    known_sizes = [size for size in sizes if size is not None]
    return sum(known_sizes) if len(known_sizes) == len(sizes) else None
