"""How a value lies on ranks: whole on each, divided along an axis, or as a sum of which each has a part.

An axis is divided in blocks: of every block of `period` positions, each rank in turn has an equal part. One block is
the axis cut into as many pieces as there are ranks; three blocks are what a product that gives queries, keys and
values side by side needs. In row-major order a sharding is determined by its period, so it survives a reshape whenever
an axis of the new shape carries it.
"""

from __future__ import annotations

from enum import Enum

from commonir.base.tuples import NamedTuple
from commonir.ir.data import ArrayData, Data, DeferredData, FileData, InlineData, SplatData
from commonir.ir.types import TensorType, Type
from commonir.symbolic import Dim, element_count


class Split(NamedTuple):
    """A tensor divided along an axis: of each block of `period` positions, each rank has an equal part, in order."""

    axis: int
    period: int


class Partial(Enum):
    """A tensor of which each rank has a summand."""

    SUM = "sum"


ShardLayout = Split | Partial | None
"""None is a tensor that is whole on each rank."""


def part_type(type: Type, split: Split, ranks: int) -> Type:
    """The type of the part that a rank has of a tensor whose sizes allow it."""
    if not isinstance(type, TensorType) or type.shape is None:
        return type
    sizes = list(type.shape)
    size = sizes[split.axis]
    sizes[split.axis] = size // ranks if isinstance(size, int) else size
    return type.with_shape(tuple(sizes))


def reshaped(split: Split, source: tuple[Dim, ...], target: tuple[Dim, ...], ranks: int) -> Split | None:
    """The same division of the same elements under another shape; None when no axis of it carries the division."""
    axis, period = split
    if source[: axis + 1] == target[: axis + 1]:
        return split
    # What is the same behind the axis may be of any size.
    same = 0
    while axis < len(source) - 1 - same and same < len(target) and source[-1 - same] == target[-1 - same]:
        same += 1
    stride = element_count(source[axis + 1 : len(source) - same])
    if not isinstance(stride, int):
        return None
    whole = period * stride
    inner: Dim = 1
    for n in range(len(target) - 1 - same, -1, -1):
        size, outer = target[n], inner * target[n]
        if not isinstance(inner, int) or whole // ranks < inner:
            return None
        if isinstance(size, int) and isinstance(outer, int) and outer >= whole:
            fits = outer % whole == 0 and (whole // ranks) % inner == 0
            return Split(n, whole // inner) if fits else None
        inner = outer
    return None


def part_of(data: Data, split: Split, rank: int, ranks: int) -> Data:
    """The part of a constant that a rank has: of one that lies in a file or in memory in one piece, a view of it."""
    type = part_type(data.type, split, ranks)
    assert isinstance(type, TensorType)
    if isinstance(data, SplatData):
        return SplatData(type, data.element_bytes)
    size_bytes = type.element.size_bytes(type.count)
    is_one_piece = all(n == 1 for n in data.shape[: split.axis]) and data.shape[split.axis] == split.period
    if is_one_piece and not type.element.bits % 8:
        if isinstance(data, FileData):
            return FileData(type, data.file, data.offset + rank * size_bytes)
        if isinstance(data, InlineData):
            return InlineData(type, data.buffer()[rank * size_bytes : (rank + 1) * size_bytes])
    return DeferredData(type, lambda: _cut(data, type, split, rank, ranks))


def _cut(data: Data, type: TensorType, split: Split, rank: int, ranks: int) -> Data:
    shape, (axis, period) = data.shape, split
    blocks = data.array().reshape(*shape[:axis], shape[axis] // period, ranks, period // ranks, *shape[axis + 1 :])
    chosen = blocks[(slice(None),) * (axis + 1) + (rank,)]
    return ArrayData(type, chosen.reshape(type.static_shape).copy())
