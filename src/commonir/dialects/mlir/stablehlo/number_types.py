"""Constraints of stablehlo operations that depend on the type of numbers, and their meaning for complex ones.

Source: StableHLO specification, elementwise operations.
"""

from __future__ import annotations

from functools import update_wrapper
from typing import TYPE_CHECKING

from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.stablehlo.base import converted, kind_of
from commonir.ir.operation import Value
from commonir.ir.types import ComplexType, ElementType, boolean
from commonir.ods.operand_shapes import known_dims_of

if TYPE_CHECKING:
    from commonir.dialects.core.base import Function1, Function2


def is_complex_value(x: Value) -> bool:
    """Returns whether elements are complex numbers."""
    return isinstance(kind_of(x), ComplexType)


def is_truth(x: Value) -> bool:
    """Returns whether elements are bools."""
    return kind_of(x) is boolean


def is_unsigned(x: Value) -> bool:
    """Returns whether elements are integers without a sign."""
    return kind_of(x).kind == "uint"


def by_kind(real: Function1, complex_: Function1) -> Function1:
    """Returns a function that has another formula for complex numbers; it wraps the one for real numbers."""

    def build(x: Value) -> Value:
        return complex_(x) if is_complex_value(x) else real(x)

    return update_wrapper(build, real, (), ())


def zero(x: Value) -> Value:
    """Zero of the type of a tensor's elements, of rank 0."""
    return core.splat(0, x)


def complex_splat(value: float, x: Value) -> Value:
    """A real number as a complex one of the type of another."""
    part = core.real(x)
    return core.make_complex(core.add(zero_like(part), core.splat(value, part)), zero_like(part))


def zero_like(x: Value) -> Value:
    """Zeros in the shape of a tensor."""
    return core.broadcast_to(core.splat(0.0, x), known_dims_of(x))


def negated(x: Value) -> Value:
    """The numbers with the other sign; unsigned ones wrap."""
    if is_complex_value(x):
        return core.make_complex(core.neg(core.real(x)), core.neg(core.imag(x)))
    return core.sub(zero(x), x) if is_unsigned(x) else core.neg(x)


def number_as(x: Value, expected: ElementType) -> Value:
    """Numbers in another type."""
    source = kind_of(x)
    if isinstance(expected, ComplexType):
        if isinstance(source, ComplexType):
            return core.make_complex(converted(core.real(x), expected.part), converted(core.imag(x), expected.part))
        real = converted(x, expected.part)
        return core.make_complex(real, zero_like(real))
    if isinstance(source, ComplexType):
        return number_as(core.real(x), expected)
    if expected is boolean and source is not boolean:
        return core.not_equal(x, zero(x))
    return converted(x, expected)


def lexicographic(before: Function2, a: Value, b: Value) -> Value:
    """Of two complex numbers the one that comes before, by the real part, then by the imaginary one."""
    real, other = core.real(a), core.real(b)
    imag, beside = core.imag(a), core.imag(b)
    first = core.logical_or(before(real, other), core.logical_and(core.equal(real, other), before(imag, beside)))
    return core.make_complex(core.select(first, real, other), core.select(first, imag, beside))
