"""Programs of linalg's operations that are not loops over elements: softmax, tiles of tensors, Winograd's
transforms."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from tests.dialects.programs import Case, arrays_of


def _case(name: str, operation: str, kinds: list[str], result: str, body: str, tolerance: float = 2e-5) -> Case:
    arrays = arrays_of(kinds, Random(name))
    inputs = ", ".join(f"%x{n}: {kind}" for n, kind in enumerate(kinds))
    text = f"func.func @{name}({inputs}) -> {result} {{\n  %r = linalg.{body}\n  return %r : {result}\n}}"
    return Case(name, operation, text, tuple(arrays), tolerance)


def softmax_cases() -> Iterator[Case]:
    """Softmax along each axis."""
    for dimension in range(3):
        kind = "tensor<2x3x4xf32>"
        body = f"softmax dimension({dimension}) ins(%x0 : {kind}) outs(%x1 : {kind}) -> {kind}"
        yield _case(f"softmax_{dimension}", "softmax", [kind, kind], kind, body)
    kind = "tensor<?x5xf32>"
    body = f"softmax dimension(1) ins(%x0 : {kind}) outs(%x1 : {kind}) -> {kind}"
    yield _case("softmax_dynamic", "softmax", [kind, kind], kind, body)


class Tiles(NamedTuple):
    """How a tensor is packed: its sizes, those of the packed one, axes that have tiles, and the order of the others."""

    name: str
    plain: tuple[int, ...]
    axes: tuple[int, ...]
    tiles: tuple[int, ...]
    order: tuple[int, ...] | None = None

    @property
    def packed(self) -> tuple[int, ...]:
        """The sizes of the packed tensor."""
        outer = list(self.plain)
        for axis, tile in zip(self.axes, self.tiles, strict=True):
            outer[axis] = -(-outer[axis] // tile)
        return (*[outer[n] for n in self.order or range(len(outer))], *self.tiles)


TILES = (
    Tiles("plain", (8, 12), (0, 1), (4, 4)),
    Tiles("swapped", (8, 12), (1, 0), (3, 4)),
    Tiles("outer", (8, 12), (0, 1), (2, 2), (1, 0)),
    Tiles("one_axis", (3, 8, 2), (1,), (4,)),
    Tiles("beyond", (7, 10), (0, 1), (4, 4)),
)
"""The last one has tiles that reach beyond the tensor."""


def tile_cases() -> Iterator[Case]:
    """Packing and unpacking; what lies beyond a tensor is the third operand."""
    for t in TILES:
        small, large = (f"tensor<{'x'.join(map(str, sizes))}xf32>" for sizes in (t.plain, t.packed))
        options = "" if t.order is None else f"outer_dims_perm = {list(t.order)} "
        options += f"inner_dims_pos = {list(t.axes)} inner_tiles = {list(t.tiles)}"
        body = f"pack %x0 padding_value(%x2 : f32) {options} into %x1 : {small} -> {large}"
        yield _case(f"pack_{t.name}", "pack", [small, large, "f32"], large, body)
        body = f"unpack %x0 {options} into %x1 : {large} -> {small}"
        yield _case(f"unpack_{t.name}", "unpack", [large, small], small, body)


def winograd_cases() -> Iterator[Case]:
    """The transforms of filters, images and results, of two axes and of one."""
    for fmr, tile, size in (("F_2_3", 2, 3), ("F_4_3", 4, 3), ("F_2_5", 2, 5)):
        alpha = tile + size - 1
        for axes, (h, w) in (("hw", (True, True)), ("h", (True, False)), ("w", (False, True))):
            window = f"{size if h else 1}x{size if w else 1}"
            matrix = f"{alpha if h else 1}x{alpha if w else 1}"
            places = f"{2 if h else 5}x{3 if w else 4}"
            image = f"{2 * tile + size - 1 if h else 5}x{3 * tile + size - 1 if w else 4}"
            result = f"{2 * tile if h else 5}x{3 * tile if w else 4}"
            for what, operation, source, target in (
                ("filter", "winograd_filter_transform", f"2x{window}x3", f"{matrix}x3x2"),
                ("input", "winograd_input_transform", f"2x{image}x3", f"{matrix}x{places}x2x3"),
                ("output", "winograd_output_transform", f"{matrix}x{places}x2x3", f"2x{result}x3"),
            ):
                a, b = f"tensor<{source}xf32>", f"tensor<{target}xf32>"
                body = f"{operation} fmr({fmr}) ins(%x0 : {a}) outs(%x1 : {b}) -> {b}"
                yield _case(f"winograd_{what}_{fmr}_{axes}", operation, [a, b], b, body, 2e-4)
