"""Resampling of trailing axes.

Positions in the source are fractions of integers, so that rounding them down or to the nearest element is exact.
Source: ONNX Resize and Core ML MIL resize operations, coordinate modes.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from commonir.dialects.core.base import REALS, CoreOp, accumulator, function, tensor_type
from commonir.ir.operation import Value
from commonir.ir.types import Type, i32, i64
from commonir.notation import Constraint, Expr, Index, Kernel, NotationError, Tensor, cast, indices, lift, require
from commonir.ods import attr_types, attribute, constraint, element_type, known_dims, one_of, operand, result, traits
from commonir.symbolic import Dim, ceil_div, evaluate, floor_div, largest, modulo, smallest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]


class ResizeMode(Enum):
    """Interpolation between the neighbours of an element in the source; cubic is for `grid_sample`."""

    NEAREST = "nearest"
    LINEAR = "linear"
    CUBIC = "cubic"


class Coordinates(Enum):
    """Coordinate transforms: the position of element `i` of `m` among `n` source elements.

    HALF_PIXEL: (i + 1/2) n / m - 1/2. ASYMMETRIC: i n / m. ALIGN_CORNERS: i (n - 1) / (m - 1), and 0 for one element.
    ALIGN_CENTRE: the same, and (n - 1) / 2 for one element. OFFSET: d / 2 + i d with d = max(1, n - 1) / m.
    HALF_PIXEL_OR_FIRST: as HALF_PIXEL, and 0 for one element.
    """

    HALF_PIXEL = "half_pixel"
    ASYMMETRIC = "asymmetric"
    ALIGN_CORNERS = "align_corners"
    ALIGN_CENTRE = "align_centre"
    OFFSET = "offset"
    HALF_PIXEL_OR_FIRST = "half_pixel_or_first"


class Rounding(Enum):
    """Choices of the nearest neighbour."""

    FLOOR = "floor"
    CEIL = "ceil"
    HALF_DOWN = "half_down"
    HALF_UP = "half_up"


class Resize(CoreOp, name="core.resize", traits=(traits.Pure,)):
    """Resizes the trailing axes of a tensor by interpolation; coordinates outside are clamped to the border.

    C1: there are at most as many sizes as axes. C2: sizes, old and new, are positive. C3: interpolated elements are
    floats.
    """

    x: Value = operand("T[*]")
    sizes: tuple[Dim, ...] = attribute(attr_types.dims)
    mode: ResizeMode = attribute(
        attr_types.enumeration(ResizeMode),
        default=ResizeMode.LINEAR,
        check=one_of(ResizeMode.NEAREST, ResizeMode.LINEAR),
    )
    coordinates: Coordinates = attribute(attr_types.enumeration(Coordinates), default=Coordinates.HALF_PIXEL)
    rounding: Rounding = attribute(attr_types.enumeration(Rounding), default=Rounding.HALF_DOWN)
    y: Value = result("T[*]")
    T = REALS

    def reference(self, x: Tensor) -> Kernel:
        kept = len(x.shape) - len(self.sizes)
        if kept < 0:
            raise NotationError(f"{len(self.sizes)} sizes for a tensor of rank {len(x.shape)}", label="C1")
        at = indices("i", len(x.shape))
        extents: dict[Index, Dim] = dict(zip(at[kept:], self.sizes, strict=True))
        axes = list(zip(at[kept:], x.shape[kept:], self.sizes, strict=True))
        needed: tuple[Constraint, ...] = ()
        for _, n, m in axes:
            needed += require(m, ">=", 1, "size asked for", label="C2")
            needed += require(n, ">=", 1, "size of an axis", label="C2")
        if self.mode is ResizeMode.NEAREST:
            nearest = [nearest_element(self.coordinates, self.rounding, i, n, m) for i, n, m in axes]
            return x[(*at[:kept], *nearest)].by(*at).where(extents, needed)
        if not x.dtype.is_float:
            raise NotationError(f"no interpolation between elements of type {x.dtype}", label="C3")
        return cast(self._interpolated(x, at[:kept], axes), x.dtype).by(*at).where(extents, needed)

    def _interpolated(self, x: Tensor, lead: tuple[Index, ...], axes: list[tuple[Index, Dim, Dim]]) -> Expr:
        wide = accumulator(x.dtype)
        taps: list[tuple[tuple[Dim, ...], Expr | None]] = [((), None)]
        for i, n, m in axes:
            if n == m and self.coordinates is not Coordinates.OFFSET:
                taps = [((*where, i), weight) for where, weight in taps]
                continue
            num, den = position(self.coordinates, i, n, m)
            low = floor_div(num, den)
            part = lift(modulo(num, den), wide) / lift(den, wide)
            pair = ((low, 1 - part), (low + 1, part))
            taps = [
                ((*where, smallest(largest(p, 0), n - 1)), share if weight is None else weight * share)
                for where, weight in taps
                for p, share in pair
            ]
        terms: list[Expr] = []
        for where, weight in taps:
            value = cast(x[(*lead, *where)], wide)
            terms.append(value if weight is None else value * weight)
        return sum(terms[1:], terms[0])


def position(coordinates: Coordinates, i: Dim, n: Dim, m: Dim) -> tuple[Dim, Dim]:
    """Returns the position of element `i` of `m` among `n`, as numerator and positive denominator."""
    match coordinates:
        case Coordinates.HALF_PIXEL:
            return (i * 2 + 1) * n - m, m * 2
        case Coordinates.HALF_PIXEL_OR_FIRST:
            # The factor is 0 for a single element and else 1.
            return ((i * 2 + 1) * n - m) * smallest(m - 1, 1), m * 2
        case Coordinates.ASYMMETRIC:
            return i * n, m
        case Coordinates.OFFSET:
            return (i * 2 + 1) * largest(n - 1, 1), m * 2
        case Coordinates.ALIGN_CORNERS:
            return i * (n - 1), largest(m - 1, 1)
        case Coordinates.ALIGN_CENTRE:
            # A single element lies halfway between the first and the last: then and only then 2 - m is positive.
            return (i * 2 + largest(2 - m, 0)) * (n - 1), largest(m - 1, 1) * 2


def nearest_element(coordinates: Coordinates, rounding: Rounding, i: Dim, n: Dim, m: Dim) -> Dim:
    """The one of `n` elements that is nearest to where element `i` of `m` lies."""
    num, den = position(coordinates, i, n, m)
    match rounding:
        case Rounding.FLOOR:
            p = floor_div(num, den)
        case Rounding.CEIL:
            p = ceil_div(num, den)
        case Rounding.HALF_UP:
            p = floor_div(num * 2 + den, den * 2)
        case Rounding.HALF_DOWN:
            p = ceil_div(num * 2 - den, den * 2)
    return smallest(largest(p, 0), n - 1)


class DynamicResize(CoreOp, name="core.dynamic_resize", traits=(traits.Pure,)):
    """Resizes the trailing axes of a tensor to sizes known at run time. Sizes, old and new, are positive."""

    x: Value = operand("T[*]")
    sizes: Value = operand("P[r]", by_value=True)
    mode: ResizeMode = attribute(
        attr_types.enumeration(ResizeMode),
        default=ResizeMode.LINEAR,
        check=one_of(ResizeMode.NEAREST, ResizeMode.LINEAR),
    )
    coordinates: Coordinates = attribute(attr_types.enumeration(Coordinates), default=Coordinates.HALF_PIXEL)
    rounding: Rounding = attribute(attr_types.enumeration(Rounding), default=Rounding.HALF_DOWN)
    y: Value = result("T[*]")
    T = REALS
    P = element_type(i32, i64)

    @constraint("C1")
    def sizes_fit(self) -> object:
        """There are not more sizes than axes."""
        rank, (count,) = tensor_type(self.x).rank, tensor_type(self.sizes).shape or (None,)
        return rank is None or count is None or require(count, "<=", rank, "number of sizes")

    @constraint("C2")
    def floats_are_interpolated(self) -> object:
        """Elements that are interpolated are floats."""
        return self.mode is ResizeMode.NEAREST or tensor_type(self.x).element.is_float

    def infer(self) -> tuple[Type, ...]:
        type, (count,) = tensor_type(self.x), tensor_type(self.sizes).shape or (None,)
        if type.shape is None or not isinstance(count, int):
            return (type.with_shape(None),)
        sizes: tuple[Dim | None, ...] = known_dims(self.sizes) or (None,) * count
        return (type.with_shape((*type.shape[: len(type.shape) - count], *sizes)),)

    def reference(self, x: Array, sizes: Array) -> Array:
        first = x.ndim - len(sizes)
        for n, m in enumerate(sizes.tolist()):
            x = self._along(x, first + n, int(m))
        return x

    def _along(self, x: Array, axis: int, m: int) -> Array:
        """One axis resampled to m elements; products of elements and shares are formed in single precision at least."""
        xp, n = x.__array_namespace__(), x.shape[axis]
        if m < 1 or n < 1:
            raise ValueError(f"sizes are positive, found {m} for an axis of size {n}")
        if self.mode is ResizeMode.NEAREST:
            nearest = [evaluate(nearest_element(self.coordinates, self.rounding, i, n, m), {}) for i in range(m)]
            return x.take(nearest, axis=axis)
        if n == m and self.coordinates is not Coordinates.OFFSET:
            return x
        places = [position(self.coordinates, i, n, m) for i in range(m)]
        low = [evaluate(floor_div(num, den), {}) for num, den in places]
        shares = [evaluate(modulo(num, den), {}) / evaluate(den, {}) for num, den in places]
        wide = xp.result_type(x.dtype, xp.float32)
        part = xp.asarray(shares, dtype=wide).reshape([-1 if a == axis else 1 for a in range(x.ndim)])
        before = x.take([min(max(p, 0), n - 1) for p in low], axis=axis).astype(wide)
        after = x.take([min(max(p + 1, 0), n - 1) for p in low], axis=axis).astype(wide)
        return (before * (1 - part) + after * part).astype(x.dtype)

    def canonicalize(self) -> tuple[Value, ...] | None:
        """Sizes that are known are attributes."""
        known = known_dims(self.sizes)
        return None if known is None else (Resize(self.x, known, self.mode, self.coordinates, self.rounding).y,)


resize = function(Resize)
dynamic_resize = function(DynamicResize)


def resize_to(x: Value, sizes: Value, mode: ResizeMode, coordinates: Coordinates, rounding: Rounding) -> Value:
    """A tensor resampled to sizes given by a value: with fixed sizes where they are known."""
    known = known_dims(sizes)
    if known is not None:
        return resize(x, known, mode, coordinates, rounding)
    return dynamic_resize(x, sizes, mode, coordinates, rounding)
