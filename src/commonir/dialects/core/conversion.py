"""Core operations that convert elements in ways that index notation cannot express: to narrow types, to and from
strings, and as bits.
"""

from __future__ import annotations

from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any

from commonir.dialects.core.base import ANYTHING, REALS, CoreOp, function, numpy_type, tensor_type
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, Type, boolean, f8e8m0fnu, f32, f64, string
from commonir.notation import limits
from commonir.ods import (
    all_integers,
    attr_types,
    attribute,
    constraint,
    element_type,
    floats,
    known_dims,
    operand,
    result,
    traits,
)
from commonir.symbolic import Dim, at_least

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[Any]

NARROW = element_type(
    *(t for t in (*floats.members, *all_integers.members) if t.bits < 8 or (t.is_float and t.bits == 8))
)
"""Floating-point types of at most eight bits, and integer types of fewer."""
WRITTEN = element_type(floats, all_integers, boolean)


class Toward(Enum):
    """Rounding to powers of two; ties go up to the larger."""

    UP = "up"
    DOWN = "down"
    NEAREST = "nearest"


class NarrowCast(CoreOp, name="core.narrow_cast", traits=(traits.Pure, traits.Elementwise)):
    """Rounds each element to a narrow type: to the nearest number, ties to even.

    Values beyond the range of a floating-point type, infinities too, become its largest number of that sign; without
    `saturate` they become infinity, NaN, or, in a type with neither, the largest number. The numbers of `f8E8M0FNU` are
    powers of two: `toward` selects one of two neighbors, and values below the least one, such as zero, count as beyond
    the range. Conversion to an integer truncates and wraps around.
    """

    x: Value = operand("T[s*]")
    to: ElementType = attribute(attr_types.element)
    saturate: bool = attribute(attr_types.flag, default=True)
    toward: Toward = attribute(attr_types.enumeration(Toward), default=Toward.UP)
    y: Value = result("U[s*]")
    T = REALS | element_type(boolean)
    U = NARROW

    def infer(self) -> tuple[Type, ...]:
        return (tensor_type(self.x).with_element(self.to),)

    def reference(self, x: Array) -> Array:
        xp: Any = x.__array_namespace__()
        source, dtype = tensor_type(self.x).element, numpy_type(self.to)
        # The types of ml_dtypes convert to few others.
        wide = x if source in (f32, f64) else x.astype(xp.float32 if source.is_float else xp.int64)
        if self.to.is_integer:
            low, high = limits(self.to)
            span = int(high) - int(low) + 1
            return ((xp.trunc(wide).astype(xp.int64) - int(low)) % span + int(low)).astype(dtype)
        if self.to is f8e8m0fnu:
            return _power_of_two(wide, dtype, self.saturate, self.toward)
        wide = wide if source.is_float else wide.astype(xp.float64)
        if not self.saturate:
            return wide.astype(dtype)
        # By name, because its result is untyped in the stubs.
        most = import_module("ml_dtypes").finfo(dtype)
        return xp.clip(wide, wide.dtype.type(most.min), wide.dtype.type(most.max)).astype(dtype)


def _power_of_two(x: Array, dtype: np.dtype[Any], saturate: bool, toward: Toward) -> Array:
    """Powers of two near positive numbers; NaN of negative ones."""
    xp: Any = x.__array_namespace__()
    low, high = limits(f8e8m0fnu)
    wide = x.astype(xp.float64)
    part, exponent = xp.frexp(wide)  # part in [0.5, 1)
    up = {Toward.UP: part > 0.5, Toward.DOWN: part > 1, Toward.NEAREST: part >= 0.75}[toward]
    near = xp.ldexp(1.0, xp.where(xp.isfinite(wide), exponent - 1 + up, 0))
    near = xp.where(xp.isfinite(wide) & (wide > 0), near, wide)
    if saturate:
        near = xp.clip(near, low, high)
    inside = (near >= low) & (near <= high) & (wide >= 0)
    return xp.where(inside, near, xp.nan).astype(dtype)


class BitCast(CoreOp, name="core.bit_cast", traits=(traits.Pure, traits.Elementwise)):
    """Reinterprets the bits of each element as another type of the same width."""

    x: Value = operand("T[s*]")
    to: ElementType = attribute(attr_types.element)
    y: Value = result("U[s*]")
    T = ANYTHING
    U = ANYTHING

    @constraint("C1")
    def widths_agree(self) -> object:
        """Both types have the same width."""
        return tensor_type(self.x).element.bits == self.to.bits

    def infer(self) -> tuple[Type, ...]:
        return (tensor_type(self.x).with_element(self.to),)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        """Sizes are the same number with and without a sign; what is negative is not."""
        known = known_dims(self.x)
        if known is None or not (self.to.is_integer and tensor_type(self.x).element.is_integer):
            return None
        high = limits(self.to)[1]
        return known if all(at_least(d, 0) and not (isinstance(d, int) and d > high) for d in known) else None

    def reference(self, x: Array) -> Array:
        from commonir.base.arrays import array_of_bytes, bytes_of_array  # noqa: PLC0415  loads numpy

        source = tensor_type(self.x).element
        packed = memoryview(bytes_of_array(x.astype(numpy_type(source), copy=False), source.bits))
        return array_of_bytes(packed, self.to.name, self.to.bits, x.shape)


class ParseNumbers(CoreOp, name="core.parse_numbers", traits=(traits.Pure, traits.Elementwise)):
    """Parses each string as a number in decimal or scientific notation; `INF` and `NaN` in any case.

    Conversion to integers truncates and wraps around. Bools are parsed from numbers (true if nonzero), and from `true`
    and `false` in any case. A string that is not a number is a runtime error.
    """

    x: Value = operand("T[s*]")
    to: ElementType = attribute(attr_types.element)
    y: Value = result("U[s*]")
    T = element_type(string)
    U = WRITTEN

    def infer(self) -> tuple[Type, ...]:
        return (tensor_type(self.x).with_element(self.to),)

    def reference(self, x: Array) -> Array:
        xp: Any = x.__array_namespace__()
        texts = [str(v).strip() for v in x.reshape(-1)]
        dtype = numpy_type(self.to)
        if self.to.is_integer:
            low, high = limits(self.to)
            span = int(high) - int(low) + 1
            numbers = [(_whole(t) - int(low)) % span + int(low) for t in texts]
            return xp.asarray(numbers, object).astype(dtype).reshape(x.shape)
        if self.to is boolean:
            return xp.asarray([_truth(t) for t in texts], bool).reshape(x.shape)
        return xp.asarray([float(t) for t in texts], xp.float64).astype(dtype).reshape(x.shape)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return int(float(text))


def _truth(text: str) -> bool:
    named = {"true": True, "false": False}.get(text.lower())
    return float(text) != 0 if named is None else named


class FormatNumbers(CoreOp, name="core.format_numbers", traits=(traits.Pure, traits.Elementwise)):
    """Formats each number as a string; of a float, the shortest that reads back as the same float."""

    x: Value = operand("T[s*]")
    y: Value = result("!builtin.string[s*]")
    T = WRITTEN

    def infer(self) -> tuple[Type, ...]:
        return (tensor_type(self.x).with_element(string),)

    def reference(self, x: Array) -> Array:
        xp: Any = x.__array_namespace__()
        source = tensor_type(self.x).element
        exact = x.astype(numpy_type(source), copy=False)
        if source is not boolean and exact.dtype.type.__module__ != "numpy":
            # numpy does not format the types of ml_dtypes.
            exact = exact.astype(xp.float32 if source.is_float else xp.int64)
        return exact.astype(xp.str_).astype(object)


narrow_cast = function(NarrowCast)
bit_cast = function(BitCast)
parse_numbers = function(ParseNumbers)
format_numbers = function(FormatNumbers)
