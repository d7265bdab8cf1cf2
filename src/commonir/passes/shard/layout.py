"""The layouts of a value on ranks: replicated, sharded along an axis, or partial sums.

An axis is sharded in blocks: of every block of `period` positions, each rank in turn has an equal part. With one block,
the axis is cut into as many pieces as there are ranks; a product that computes queries, keys and values side by side
needs three blocks. In row-major order a sharding is determined by its period, so it is preserved by a reshape if an
axis of the new shape can carry it.
"""

from __future__ import annotations

from enum import Enum

from commonir.base.tuples import NamedTuple
from commonir.ir.data import ArrayData, Data, DeferredData, FileData, InlineData, SplatData
from commonir.ir.types import TensorType, Type
from commonir.symbolic import Dim, element_count


class Split(NamedTuple):
    """A tensor sharded along an axis: of each block of `period` positions, each rank has an equal part, in order."""

    axis: int
    period: int


class Partial(Enum):
    """A tensor of which each rank has a summand."""

    SUM = "sum"


ShardLayout = Split | Partial | None
"""None is a tensor that is whole on each rank."""


def shard_type(type: Type, split: Split, ranks: int) -> Type:
    """Returns the type of the shard of a rank."""
    if not isinstance(type, TensorType) or type.shape is None:
        return type
    dims = list(type.shape)
    dim = dims[split.axis]
    dims[split.axis] = dim // ranks if isinstance(dim, int) else dim
    return type.with_shape(tuple(dims))


def reshaped(split: Split, source: tuple[Dim, ...], target: tuple[Dim, ...], ranks: int) -> Split | None:
    """Returns the same sharding of the same elements in another shape; None if no axis can carry it."""
    axis, period = split
    if source[: axis + 1] == target[: axis + 1]:
        return split
    # What is the same behind the axis may be of any size.
    trailing = 0
    while (
        axis < len(source) - 1 - trailing and trailing < len(target) and source[-1 - trailing] == target[-1 - trailing]
    ):
        trailing += 1
    stride = element_count(source[axis + 1 : len(source) - trailing])
    if not isinstance(stride, int):
        return None
    block = period * stride
    inner: Dim = 1
    for n in range(len(target) - 1 - trailing, -1, -1):
        dim, outer = target[n], inner * target[n]
        if not isinstance(inner, int) or block // ranks < inner:
            return None
        if isinstance(dim, int) and isinstance(outer, int) and outer >= block:
            fits = outer % block == 0 and (block // ranks) % inner == 0
            return Split(n, block // inner) if fits else None
        inner = outer
    return None


def shard_of(data: Data, split: Split, rank: int, ranks: int) -> Data:
    """Returns the shard of a constant for a rank; a view if the shard is contiguous in a file or in memory."""
    type = shard_type(data.type, split, ranks)
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
