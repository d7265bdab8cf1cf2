"""Resampling of trailing axes.

Positions in the source are fractions of integers, so that rounding them down or to the nearest element is exact.
Source: ONNX Resize and Core ML MIL resize operations, coordinate modes.
"""

from __future__ import annotations

from enum import Enum

from commonir.dialects.core.base import REALS, CoreOp, accumulator, function
from commonir.ir.operation import Value
from commonir.notation import Constraint, Expr, Index, Kernel, NotationError, Tensor, cast, indices, lift, require
from commonir.ods import attribute, kinds, operand, result, traits
from commonir.symbolic import Dim, ceil_div, floor_div, largest, modulo, smallest


class ResizeMode(Enum):
    """How an element of the result follows from its neighbours in the source."""

    NEAREST = "nearest"
    LINEAR = "linear"


class Coordinates(Enum):
    """Where element `i` of `m` lies among `n` source elements, counted from the first.

    HALF_PIXEL: (i + 1/2) n / m - 1/2. ASYMMETRIC: i n / m. ALIGN_CORNERS: i (n - 1) / (m - 1), and 0 for one element.
    ALIGN_CENTRE: the same, and (n - 1) / 2 for one element. OFFSET: d / 2 + i d with d = max(1, n - 1) / m.
    """

    HALF_PIXEL = "half_pixel"
    ASYMMETRIC = "asymmetric"
    ALIGN_CORNERS = "align_corners"
    ALIGN_CENTRE = "align_centre"
    OFFSET = "offset"


class Rounding(Enum):
    """Which neighbour is nearest."""

    FLOOR = "floor"
    CEIL = "ceil"
    HALF_DOWN = "half_down"
    HALF_UP = "half_up"


class Resize(CoreOp, name="core.resize", traits=(traits.Pure,)):
    """The tensor with its trailing axes resampled to other sizes; positions outside take the element at the border.

    C1: there are not more sizes than axes. C2: a size that aligns centres is fixed. C3: sizes, and those of the axes
    they replace, are positive. C4: elements that are interpolated are floats.
    """

    __slots__ = ()

    x: Value = operand("T[*]")
    sizes: tuple[Dim, ...] = attribute(kinds.dims)
    mode: ResizeMode = attribute(kinds.enumeration(ResizeMode), default=ResizeMode.LINEAR)
    coordinates: Coordinates = attribute(kinds.enumeration(Coordinates), default=Coordinates.HALF_PIXEL)
    rounding: Rounding = attribute(kinds.enumeration(Rounding), default=Rounding.HALF_DOWN)
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
            needed += require(m, ">=", 1, "size asked for", label="C3")
            needed += require(n, ">=", 1, "size of an axis", label="C3")
        if self.mode is ResizeMode.NEAREST:
            nearest = [self._nearest(i, n, m) for i, n, m in axes]
            return x[(*at[:kept], *nearest)].by(*at).where(extents, needed)
        if not x.dtype.is_float:
            raise NotationError(f"no interpolation between elements of type {x.dtype}", label="C4")
        return cast(self._interpolated(x, at[:kept], axes), x.dtype).by(*at).where(extents, needed)

    def _nearest(self, i: Index, n: Dim, m: Dim) -> Dim:
        num, den = self._position(i, n, m)
        match self.rounding:
            case Rounding.FLOOR:
                p = floor_div(num, den)
            case Rounding.CEIL:
                p = ceil_div(num, den)
            case Rounding.HALF_UP:
                p = floor_div(num * 2 + den, den * 2)
            case Rounding.HALF_DOWN:
                p = ceil_div(num * 2 - den, den * 2)
        return smallest(largest(p, 0), n - 1)

    def _interpolated(self, x: Tensor, lead: tuple[Index, ...], axes: list[tuple[Index, Dim, Dim]]) -> Expr:
        wide = accumulator(x.dtype)
        taps: list[tuple[tuple[Dim, ...], Expr | None]] = [((), None)]
        for i, n, m in axes:
            if n == m and self.coordinates is not Coordinates.OFFSET:
                taps = [((*where, i), weight) for where, weight in taps]
                continue
            num, den = self._position(i, n, m)
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

    def _position(self, i: Index, n: Dim, m: Dim) -> tuple[Dim, Dim]:
        """The position in the source as numerator and positive denominator."""
        match self.coordinates:
            case Coordinates.HALF_PIXEL:
                return (i * 2 + 1) * n - m, m * 2
            case Coordinates.ASYMMETRIC:
                return i * n, m
            case Coordinates.OFFSET:
                return (i * 2 + 1) * largest(n - 1, 1), m * 2
            case Coordinates.ALIGN_CORNERS | Coordinates.ALIGN_CENTRE:
                if self.coordinates is Coordinates.ALIGN_CORNERS:
                    return i * (n - 1), largest(m - 1, 1)
                if not isinstance(m, int):
                    raise NotationError("a size that aligns centres must be fixed", label="C2")
                return (i * (n - 1), m - 1) if m > 1 else (n - 1, 2)


resize = function(Resize)
