"""Tensors divided into tiles and put together again.

Source: MLIR linalg dialect, pack and unpack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.linalg.base import LinalgOp
from commonir.ir.operation import Value
from commonir.ir.types import DYNAMIC, Shape, i64
from commonir.ods import attribute, known_data, operand, result, traits
from commonir.ods.mlir_attr_types import array_of
from commonir.ods.operand_shapes import known_dims_of, ranked_shape
from commonir.ods.type_constraints import AnyRankedTensor, AnyType, Index
from commonir.ods.type_rules import element_of, types_match_with
from commonir.symbolic import Dim
from commonir.symbolic.errors import NotKnownError

positions = array_of(i64)

_TAIL = (
    "(`outer_dims_perm` `=` $outer_dims_perm^)? `inner_dims_pos` `=` $inner_dims_pos"
    " `inner_tiles` `=` custom<DynamicIndexList>($inner_tiles, $static_inner_tiles)"
    " `into` $dest attr-dict `:` type($source) `->` type($dest)"
)
_OF_DEST = types_match_with("result type matches type of dest", "dest", "result_", lambda t: t)


class _Relayout(LinalgOp):
    """Base of both. Of each axis that `inner_dims_pos` names, the tiles become an axis at the end."""

    def wrong_layout(
        self, whole: Value, packed: Value, layout: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], int]
    ) -> Iterator[Diagnostic]:
        """Yields the faults of the positions and sizes of tiles of a tensor."""
        order, where, tiles, dynamic = layout
        shape, parts = ranked_shape(whole), ranked_shape(packed)
        rank = len(shape)
        if element_of(whole.type) is not element_of(packed.type):
            yield self.violated("expected elements of one type")
        elif any(t == 0 for t in tiles):
            yield self.violated("invalid zero tile factor")
        elif len({*where}) != len(where) or any(not 0 <= p < rank for p in where):
            yield self.violated("invalid inner_dims_pos vector")
        elif order and sorted(order) != list(range(rank)):
            yield self.violated("invalid outer_dims_perm vector")
        elif len(where) != len(tiles) or sum(t == DYNAMIC for t in tiles) != dynamic:
            yield self.violated("tiling factors must equal the number of dimensions to tile")
        elif len(parts) != rank + len(tiles):
            yield self.violated(
                f"packed rank != (unpacked rank + num tiling factors), got {len(parts)} != {rank + len(tiles)}"
            )
        elif any(
            (t == DYNAMIC) == isinstance(n, int) or (t not in (DYNAMIC, n))
            for t, n in zip(tiles, parts[rank:], strict=True)
        ):
            yield self.violated(
                "mismatch in inner tile sizes specified and shaped of tiled dimension in the packed type"
            )
        else:
            yield from self._wrong_sizes(shape, parts, order, dict(zip(where, tiles, strict=True)))

    def _wrong_sizes(
        self, shape: Shape, parts: Shape, order: Sequence[int], tiles: dict[int, int]
    ) -> Iterator[Diagnostic]:
        outer: list[int | None] = []
        for axis, n in enumerate(shape):
            tile = tiles.get(axis, 1)
            outer.append(-(-n // tile) if isinstance(n, int) and tile != DYNAMIC else None)
        outer = [outer[a] for a in order] if order else outer
        for n, expected in zip(parts, outer, strict=False):
            if isinstance(n, int) and expected is not None and n != expected:
                yield self.violated(f"expected {outer} for the packed domain value, got {list(parts[: len(outer)])}")
                return


class Pack(
    _Relayout,
    name="linalg.pack",
    traits=(_OF_DEST, traits.PureOnTensors),
    assembly="$source (`padding_value` `(` $padding_value^ `:` type($padding_value) `)`)? " + _TAIL,
):
    """Packs a tensor into tiles: outer dimensions, in a given order, followed by those of a tile.

    C1: the tiled dimensions are different axes of the source. C2: the sizes of the result follow from those of source
    and tiles. C3: without a padding value, tiles divide the axes.
    """

    result_name = "pack"

    source: Value = operand(AnyRankedTensor)
    dest: Value = operand(AnyRankedTensor)
    inner_dims_pos: tuple[int, ...] = attribute(positions)
    static_inner_tiles: tuple[int, ...] = attribute(positions)
    padding_value: Value | None = operand(AnyType, default=None)
    inner_tiles: tuple[Value, ...] = operand(Index, variadic=True, default=())
    outer_dims_perm: tuple[int, ...] | None = attribute(positions, default=None, elided=())
    result_: Value = result(AnyRankedTensor)

    def verify(self) -> Iterator[Diagnostic]:
        where, tiles = self.inner_dims_pos, self.static_inner_tiles
        layout = (self.outer_dims_perm or (), where, tiles, len(self.inner_tiles))
        wrong = list(self.wrong_layout(self.source, self.dest, layout))
        yield from wrong
        if wrong:
            return
        element = element_of(self.source.type)
        if self.padding_value is not None:
            if self.padding_value.type is not element:
                yield self.violated(f"expected padding_value has {element} but got: {self.padding_value.type}")
            return
        shape = ranked_shape(self.source)
        for axis, tile in zip(where, tiles, strict=True):
            n = shape[axis]
            if isinstance(n, int) and tile != DYNAMIC and n % tile:
                message = "invalid tile factor or output size provided. Only full tiles are supported"
                yield self.violated(f"{message} when padding_value is not set")
                return

    def reference(
        self,
        source: Value,
        dest: Value,
        padding_value: Value | None,
        inner_tiles: tuple[Value, ...],  # noqa: ARG002
    ) -> Value:
        rank = len(ranked_shape(source))
        order = self.outer_dims_perm or tuple(range(rank))
        where = self.inner_dims_pos
        parts = known_dims_of(dest)
        outer = {axis: parts[n] for n, axis in enumerate(order)}
        tiles = dict(zip(where, parts[rank:], strict=True))
        x = _continued(source, [outer[a] * tiles.get(a, 1) for a in range(rank)], padding_value)
        split: list[Dim] = []
        places: dict[int, tuple[int, int]] = {}
        for a in range(rank):
            places[a] = (len(split), len(split) + 1)
            split += [outer[a], tiles[a]] if a in tiles else [outer[a]]
        x = core.reshape(x, tuple(split))
        return core.transpose(x, (*(places[a][0] for a in order), *(places[a][1] for a in where)))


def _continued(x: Value, sizes: Sequence[Dim], value: Value | None) -> Value:
    """A tensor continued at the end of its axes up to some sizes. Raises: NotKnownError when they are not known."""
    shape = known_dims_of(x)
    more = [m - n for m, n in zip(sizes, shape, strict=True)]
    if all(n == 0 for n in more) or value is None:
        return x
    known = [n for n in more if isinstance(n, int)]
    if len(known) != len(more):
        raise NotKnownError("how much padding tiles need is not known before running")
    before = (0,) * len(more)
    data = known_data(value)
    number = data.values()[0] if data is not None and data.count == 1 else None
    if isinstance(number, int | float):
        return core.pad(x, before, tuple(known), value=number)
    inside = core.broadcast_to(core.scalar(1, i64), shape)
    mask = core.equal(core.pad(inside, before, tuple(known)), core.scalar(1, i64))
    return core.select(mask, core.pad(x, before, tuple(known)), value)


class Unpack(_Relayout, name="linalg.unpack", traits=(_OF_DEST, traits.PureOnTensors), assembly="$source " + _TAIL):
    """Unpacks a tensor of tiles; elements of tiles beyond the result are dropped. C1: the tiled dimensions are
    different axes of the result. C2: the sizes of the source follow from those of result and tiles.
    """

    result_name = "unpack"

    source: Value = operand(AnyRankedTensor)
    dest: Value = operand(AnyRankedTensor)
    inner_tiles: tuple[Value, ...] = operand(Index, variadic=True)
    inner_dims_pos: tuple[int, ...] = attribute(positions)
    static_inner_tiles: tuple[int, ...] = attribute(positions)
    outer_dims_perm: tuple[int, ...] | None = attribute(positions, default=None, elided=())
    result_: Value = result(AnyRankedTensor)

    def verify(self) -> Iterator[Diagnostic]:
        layout = (self.outer_dims_perm or (), self.inner_dims_pos, self.static_inner_tiles, len(self.inner_tiles))
        yield from self.wrong_layout(self.dest, self.source, layout)

    def reference(self, source: Value, dest: Value, inner_tiles: tuple[Value, ...]) -> Value:  # noqa: ARG002
        shape = known_dims_of(dest)
        rank = len(shape)
        order = self.outer_dims_perm or tuple(range(rank))
        perm: list[int] = []
        for a in range(rank):
            perm.append(order.index(a))
            if a in self.inner_dims_pos:
                perm.append(rank + self.inner_dims_pos.index(a))
        parts = known_dims_of(source)
        joined = [
            parts[order.index(a)] * (parts[rank + self.inner_dims_pos.index(a)] if a in self.inner_dims_pos else 1)
            for a in range(rank)
        ]
        x = core.reshape(core.transpose(source, tuple(perm)), tuple(joined))
        if tuple(joined) == shape:
            return x
        return core.slice(x, (0,) * rank, shape, (1,) * rank)
