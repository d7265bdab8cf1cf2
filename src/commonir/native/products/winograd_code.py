"""Code of convolutions with windows of 3 x 3, at every or every other position: fewer products by transforming tiles.

`m x m` results of a channel need `(m + 2)^2` products instead of `9 m^2`: a tile of the operand and the weights are
transformed, multiplied position by position, and transformed back. At every other position `(2m + 1)^2` are enough:
windows of 3 are those of 2 over even positions, and of 1 over odd ones. The products of all tiles and channels at one
position are a matrix product. Tiles are handled in blocks whose transformed numbers stay in the second-level cache.
Tiles at the far sides overlap those before them, so nothing outside of the operand is read.

Errors are larger than those of plain sums, about 1e-5 of the largest element at `m = 4`, so `EngineOptions.fast_math`
can turn it off.
Source: A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks (2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.llvm.llvm_ir import F32, Function, LlvmType, LlvmValue
from commonir.llvm.target import Target
from commonir.native.kernels.expression_code import Buffer
from commonir.native.kernels.kernel_code import KernelCode
from commonir.native.products.contraction_plan import Plan, factor_matrix
from commonir.native.products.pair_products import multiplies_pairs
from commonir.native.products.product_tiles import (
    Columns,
    LeftRow,
    PlainColumns,
    ProductTile,
    TermRange,
    panels_of,
    tile_of,
)
from commonir.runtime.kernel_graph.strips import even_part
from commonir.symbolic import element_count

Array = NDArray[Any]
Matrix = tuple[tuple[float, ...], ...]

TRANSFORMED_BYTES = 600_000
"""Bytes of transformed numbers of a block of tiles, before and after the products."""

LARGE_IMAGE = 13
"""Sizes from which on tiles of 4 x 4 results pay; the weights of smaller images would not stay in the cache."""

LEAST_CHANNELS = 16
"""Channels, before and after, from which on transforms cost less than they save."""


LEAST_SAVED_BY_PAIRS = 2
"""How many times fewer the products are to be where an instruction multiplies two pairs of bfloat16 instead."""


class Transform(NamedTuple):
    """The matrices for `size` results of a window of 3: of the operand, of the weights, and of the products.

    The window moves by `step` from one result to the next.
    """

    size: int
    operand: Matrix
    weights: Matrix
    result: Matrix
    step: int = 1

    @property
    def points(self) -> int:
        """The number of positions along one side of a tile."""
        return len(self.operand)


def _every_other(size: int, operand: Matrix, weights: Matrix, result: Matrix) -> Transform:
    """Returns the transform for every other result, from that for windows of 2.

    These read the operand at even positions; at odd ones each result reads one, which is not transformed.
    """
    odd = [tuple([float(n == 2 * i + 1) for n in range(2 * size + 1)]) for i in range(size)]
    even = [tuple([x for pair in zip(row, (0,) * len(row), strict=True) for x in pair][:-1]) for row in operand]
    return Transform(
        size,
        (*even, *odd),
        (*[(first, 0, last) for first, last in weights], *[(0, 1, 0)] * size),
        tuple([(*row, *[float(n == i) for n in range(size)]) for i, row in enumerate(result)]),
        step=2,
    )


_TRANSFORMS = (
    Transform(
        2,
        ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1)),
        ((1, 0, 0), (1 / 2, 1 / 2, 1 / 2), (1 / 2, -1 / 2, 1 / 2), (0, 0, 1)),
        ((1, 1, 1, 0), (0, 1, -1, -1)),
    ),
    Transform(
        4,
        (
            (4, 0, -5, 0, 1, 0),
            (0, -4, -4, 1, 1, 0),
            (0, 4, -4, -1, 1, 0),
            (0, -2, -1, 2, 1, 0),
            (0, 2, -1, -2, 1, 0),
            (0, 4, 0, -5, 0, 1),
        ),
        (
            (1 / 4, 0, 0),
            (-1 / 6, -1 / 6, -1 / 6),
            (-1 / 6, 1 / 6, -1 / 6),
            (1 / 24, 1 / 12, 1 / 6),
            (1 / 24, -1 / 12, 1 / 6),
            (0, 0, 1),
        ),
        ((1, 1, 1, 1, 1, 0), (0, 1, -1, 2, -2, 0), (0, 1, 1, 4, 4, 0), (0, 1, -1, 8, -8, 1)),
    ),
    _every_other(
        2,
        ((1, -1, 0), (0, 1, 0), (0, -1, 1)),
        ((1, 0), (1, 1), (0, 1)),
        ((1, 1, 0), (0, 1, 1)),
    ),
    _every_other(
        4,
        ((2, -1, -2, 1, 0), (0, -2, -1, 1, 0), (0, 2, -3, 1, 0), (0, -1, 0, 1, 0), (0, 2, -1, -2, 1)),
        ((1 / 2, 0), (-1 / 2, -1 / 2), (-1 / 6, 1 / 6), (1 / 6, 1 / 3), (0, 1)),
        ((1, 1, 1, 1, 0), (0, 1, -1, 2, 0), (0, 1, 1, 4, 0), (0, 1, -1, 8, 1)),
    ),
)


def _transform_of(sizes: Sequence[int], step: int, target: Target) -> Transform | None:
    """Returns the transform with the fewest products for windows that move by a step; None if that would not pay."""
    small, large = [t for t in _TRANSFORMS if t.step == step]
    if min(sizes) < LARGE_IMAGE:
        fewest = small if step == 1 else None
    else:
        fewest = min(small, large, key=lambda t: _products(t, sizes))
    if fewest is None or not multiplies_pairs(target):
        return fewest
    return fewest if _products(fewest, sizes) * LEAST_SAVED_BY_PAIRS < 9 * prod(sizes) else None


def _products(t: Transform, sizes: Sequence[int]) -> int:
    """Returns the products of a channel for an image of a size."""
    return prod([-(-n // t.size) * t.points for n in sizes])


class WinogradPlan(NamedTuple):
    """The roles of the indices of a contraction: images, positions `y` and `x`, windows over them, and channels."""

    plan: Plan
    transform: Transform
    images: tuple[str, ...]
    y: str
    x: str
    window_y: str
    window_x: str
    channel: str

    def count(self, name: str) -> int:
        """Returns the range of an index other than those of images."""
        extent = self.plan.extent(name)
        assert isinstance(extent, int)
        return extent


def winograd_plan(plan: Plan, target: Target) -> WinogradPlan | None:
    """Returns how a contraction is computed by transformed tiles; None if it is not to be or that would not pay."""
    steps = plan.left.steps
    windows = [i for i in plan.sums if plan.extent(i) == 3]
    if target.fast_math == "none" or plan.others:
        return None
    if plan.batch or plan.first_column != 0 or len(windows) != 2:
        return None
    for step in (1, 2):
        y, x = [next((r for r in plan.rows if steps[r] == steps[w] * step), None) for w in windows]
        if y is not None and x is not None and y != x:
            break
    else:
        return None
    channels = [i for i in plan.sums if i not in windows]
    if len(channels) != 1 or steps[channels[0]] != 1:
        return None
    channel, (window_y, window_x) = channels[0], windows
    sizes = [n for n in map(plan.extent, (y, x)) if isinstance(n, int)]
    least = [n for n in map(plan.extent, (channel, plan.column)) if isinstance(n, int)]
    if len(sizes) != 2 or len(least) != 2 or min(least) < LEAST_CHANNELS or min(sizes) < 2:
        return None
    transform = _transform_of(sizes, step, target)
    if transform is None:
        return None
    images = tuple([i for i in plan.rows if i not in (y, x)])
    return WinogradPlan(plan, transform, images, y, x, window_y, window_x, channel)


def transformed_weights(w: WinogradPlan, array: Array, vectors: int, lanes: int) -> Array:
    """Returns the transformed weights in panels, for each position of a tile one after another."""
    plan, g = w.plan, np.array(w.transform.weights)
    counts = [w.count(i) for i in plan.sums]
    matrix = factor_matrix(plan, array, lanes).reshape(*counts, -1)
    order = [plan.sums.index(i) for i in (w.window_y, w.window_x, w.channel)]
    windows = matrix.transpose(*order, len(order))
    points, window = g.shape
    channels, columns = windows.shape[2:]
    out = np.zeros((points, points, channels * _padded(columns, lanes)), np.float32)
    # A few channels at a time stay in the cache: touching memory for the first time takes longer than the products.
    step = max(1, TRANSFORMED_BYTES // (points**2 * columns * 8))
    for start in range(0, channels, step):
        part = windows[:, :, start : start + step].astype(np.float64)
        of_rows = g @ part.reshape(window, -1)
        of_points = (g @ of_rows.reshape(points, window, -1)).reshape(points, points, -1, columns)
        for j, n in panels_of(columns, vectors, lanes):
            panel = out[:, :, channels * j : channels * (j + n * lanes)].reshape(points, points, channels, -1)
            panel[:, :, start : start + step, : columns - j] = of_points[..., j : j + n * lanes]
    return out.reshape(-1)


class WinogradCode:
    """Adds the code of a convolution to a function."""

    def __init__(self, code: KernelCode, function: Function, target: Target, w: WinogradPlan, out: Buffer) -> None:
        self._code = code
        self._f = function
        self._w = w
        self._out = out
        self._lanes = lanes = target.lanes()
        self._type = LlvmType(F32.scalar, lanes)
        size = w.transform.size
        self._tiles_y, self._tiles_x = [-(-w.count(i) // size) for i in (w.y, w.x)]
        self._points = w.transform.points**2
        self._channels = _padded(w.count(w.channel), lanes)
        self._columns = _padded(w.count(w.plan.column), lanes)
        tiles = self._tiles_y * self._tiles_x
        of_tile = self._points * (self._channels + self._columns) * F32.bits // 8
        even = even_part(tiles, TRANSFORMED_BYTES // of_tile)
        self.tile = tile_of(even, self._columns, target)
        self._block = min(_padded(even, self.tile.rows), tiles)
        # An odd number of vectors: the positions of a tile lie in different sets of the cache.
        self._operand_step, self._product_step = [self._block * n | lanes for n in (self._channels, self._columns)]

    def emit(self, weights: LlvmValue) -> None:
        """Adds the loops; `weights` are the transformed ones. A unit of work is a block of tiles."""
        f, w, scratch = self._f, self._w, self._code.scratch
        operands = self._points * self._operand_step
        products = self._points * self._product_step
        results = w.transform.size**2 * self._lanes
        scratch.require((operands + products + results) * F32.bits // 8)
        transformed = scratch.pointer
        multiplied = f.element(transformed, f.integer(operands), F32.scalar)
        finished = f.element(multiplied, f.integer(products), F32.scalar)
        tiles = self._tiles_y * self._tiles_x
        images = element_count(map(w.plan.extent, w.images))
        blocks = -(-tiles // self._block)
        units = self._code.units((), images * blocks)
        with units.loop(self._code.size(images * blocks), f.integer(1)) as (n, _):
            image = f.binary("udiv", "udiv", n, blocks)
            start = f.part_start(n - image * blocks, self._block, tiles)
            with self._code.bound_all(self._position_of_image(image)):
                self._transform_operand(start, transformed)
                self._multiply(transformed, weights, multiplied)
                self._finish(start, multiplied, finished)

    def _position_of_image(self, image: LlvmValue) -> dict[str, LlvmValue]:
        names = self._w.images
        sizes = [self._code.size(self._w.plan.extent(i)) for i in names]
        return dict(zip(names, self._f.digits(image, sizes), strict=True))

    def _place(self, tile: LlvmValue) -> tuple[LlvmValue, LlvmValue]:
        """Returns the position of the first result of a tile."""
        f, w, size = self._f, self._w, self._w.transform.size
        ty, tx = f.digits(tile, [f.integer(self._tiles_y), f.integer(self._tiles_x)])
        y = f.intrinsic("umin", ty * size, f.integer(w.count(w.y) - size))
        return y, f.intrinsic("umin", tx * size, f.integer(w.count(w.x) - size))

    def _transform_operand(self, start: LlvmValue, transformed: LlvmValue) -> None:
        f, w, code, points = self._f, self._w, self._code, self._w.transform.points
        left = w.plan.left
        step_y, step_x = code.size(left.steps[w.y]), code.size(left.steps[w.x])
        in_window = code.size(left.steps[w.window_y]), code.size(left.steps[w.window_x])
        base = f.element(code.buffer(left.name).pointer, code.size(left.address(w.images)), F32.scalar)
        with f.loop(f.integer(0), f.integer(self._block)) as t:
            y, x = self._place(start + t)
            first = f.element(base, y * step_y + x * step_x, F32.scalar)
            out = f.element(transformed, t * self._channels, F32.scalar)
            for c, _, mask in f.vectors(w.count(w.channel), self._lanes):
                self._transform_channels(first, out, c, in_window, points, mask)

    def _transform_channels(
        self,
        first: LlvmValue,
        out: LlvmValue,
        channel: LlvmValue,
        steps: tuple[LlvmValue, LlvmValue],
        points: int,
        mask: LlvmValue | None,
    ) -> None:
        """Transforms one tile of a vector of channels."""
        f, matrix = self._f, self._w.transform.operand
        rows: list[list[LlvmValue]] = []
        for i in range(points):
            places = [f.element(first, steps[0] * i + steps[1] * j + channel, F32.scalar) for j in range(points)]
            row = [f.load(p, self._type, mask) for p in places]
            rows.append(transformed_values(f, matrix, row))
        for q in range(points):
            for p, value in enumerate(transformed_values(f, matrix, [row[q] for row in rows])):
                at = channel + (p * points + q) * self._operand_step
                f.store(value, f.element(out, at, F32.scalar))

    def _multiply(self, transformed: LlvmValue, weights: LlvmValue, multiplied: LlvmValue) -> None:
        """Adds the matrix products of all positions of tiles."""
        f, channels = self._f, self._w.count(self._w.channel)
        with f.loop(f.integer(0), f.integer(self._points)) as p:
            left = f.element(transformed, p * self._operand_step, F32.scalar)
            right = f.element(weights, p * (channels * self._columns), F32.scalar)
            out = f.element(multiplied, p * self._product_step, F32.scalar)
            for j, vectors, _ in f.vectors(self._columns, self._lanes, self.tile.vectors):
                self._panel(left, right, out, j, vectors)

    def _panel(self, left: LlvmValue, right: LlvmValue, out: LlvmValue, j: LlvmValue, vectors: int) -> None:
        f, rows, channels = self._f, self.tile.rows, self._w.count(self._w.channel)
        pointer = f.element(right, j * channels, F32.scalar)
        columns = PlainColumns(f, self._type, pointer, vectors, (f.integer(vectors * self._lanes),))
        tiles = -(-self._block // rows)
        with f.loop(f.integer(0), f.integer(tiles)) as n:
            of_tile = columns.before_next(n, tiles, channels)
            self._tile(left, of_tile, f.element(out, j, F32.scalar), f.part_start(n, rows, self._block))

    def _tile(self, left: LlvmValue, columns: Columns, out: LlvmValue, i: LlvmValue) -> None:
        f, lanes = self._f, self._lanes
        first = f.element(left, i * self._channels, F32.scalar)
        rows = [LeftRow(first, r * self._channels) for r in range(self.tile.rows)]
        channels = f.integer(self._w.count(self._w.channel))
        terms = [TermRange(channels, f.integer(1))]
        for r, of_row in enumerate(ProductTile(f).sums(rows, columns, terms)):
            for v, x in enumerate(of_row):
                f.store(x, f.element(out, (i + r) * self._columns + v * lanes, F32.scalar))

    def _finish(self, start: LlvmValue, multiplied: LlvmValue, finished: LlvmValue) -> None:
        """Transforms the products of all tiles, and adds what follows the sums."""
        f, w = self._f, self._w
        with f.loop(f.integer(0), f.integer(self._block)) as t:
            y, x = self._place(start + t)
            tile = f.element(multiplied, t * self._columns, F32.scalar)
            for j, _, mask in f.vectors(w.count(w.plan.column), self._lanes):
                self._finish_columns(tile, finished, (y, x), j, mask)

    def _finish_columns(
        self,
        tile: LlvmValue,
        finished: LlvmValue,
        position: tuple[LlvmValue, LlvmValue],
        j: LlvmValue,
        mask: LlvmValue | None,
    ) -> None:
        """Computes one tile of a vector of columns. Results go through memory, so what follows is code once."""
        f, w, code, t = self._f, self._w, self._code, self._w.transform
        points, lanes = t.points, self._lanes
        columns: list[list[LlvmValue]] = []
        for q in range(points):
            places = [j + (p * points + q) * self._product_step for p in range(points)]
            values = [f.load(f.element(tile, at, F32.scalar), self._type) for at in places]
            columns.append(transformed_values(f, t.result, values))
        for a in range(t.size):
            for b, value in enumerate(transformed_values(f, t.result, [column[a] for column in columns])):
                f.store(value, f.element(finished, f.integer((a * t.size + b) * lanes), F32.scalar))
        size = f.integer(t.size)
        with (
            f.loop(f.integer(0), size) as a,
            code.bound(w.y, position[0] + a),
            f.loop(f.integer(0), size) as b,
            code.bound(w.x, position[1] + b),
            code.bound(w.plan.column, j, lanes, mask),
        ):
            code.assume(w.plan.fold, f.load(f.element(finished, (a * t.size + b) * lanes, F32.scalar), self._type))
            code.store(code.value(w.plan.kernel.body), w.plan.kernel, self._out)


def _padded(count: int, multiple: int) -> int:
    return -(-count // multiple) * multiple


def transformed_values(f: Function, matrix: Matrix, values: Sequence[LlvmValue]) -> list[LlvmValue]:
    """Returns the products of the rows of a matrix with a vector of values.

    Two rows that differ in the signs of all odd terms share the sums of their even and odd ones.
    """
    out: list[LlvmValue] = []
    for n, row in enumerate(matrix):
        partner = matrix[n - 1] if n > 0 else None
        if partner is not None and len(out) == n and _is_mirrored(partner, row):
            even, odd = _combination(f, partner[::2], values[::2]), _combination(f, partner[1::2], values[1::2])
            if even is not None and odd is not None:
                out[n - 1 :] = [even + odd, even - odd]
                continue
        whole = _combination(f, row, values)
        assert whole is not None
        out.append(whole)
    return out


def _is_mirrored(first: Sequence[float], second: Sequence[float]) -> bool:
    return all(b == (a if n % 2 == 0 else -a) for n, (a, b) in enumerate(zip(first, second, strict=True)))


def _combination(f: Function, factors: Sequence[float], values: Sequence[LlvmValue]) -> LlvmValue | None:
    """Returns a sum of multiples; None if all factors are zero."""
    out: LlvmValue | None = None
    for c, v in sorted(zip(factors, values, strict=True), key=lambda pair: abs(pair[0]) != 1):
        if c == 0:
            continue
        if out is None:
            out = v if c == 1 else -v if c == -1 else v * float(c)
        elif abs(c) == 1:
            out = out + v if c == 1 else out - v
        else:
            out = f.fused_multiply_add(v, f.constant(v.type, float(c)), out)
    return out
