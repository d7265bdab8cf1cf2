"""Complex numbers: construction, real and imaginary parts, and functions, composed of those of the parts.

Results may differ from the exact ones by some units in the last place; the signs of zeros on branch cuts follow from
the formulas.
Source: MLIR complex dialect; ISO C, complex arithmetic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.dialects.core.base import FLOATS, CoreOp, function, tensor_type
from commonir.dialects.core.constants import splat
from commonir.dialects.core.elementwise import (
    abs,
    add,
    cos,
    cosh,
    div,
    equal,
    exp,
    is_inf,
    less,
    log,
    logical_and,
    logical_or,
    maximum,
    minimum,
    mul,
    neg,
    select,
    sin,
    sinh,
    sqrt,
    sub,
)
from commonir.dialects.core.integers import to_float
from commonir.dialects.core.real_functions import atan2, copy_sign, expm1, log1p
from commonir.ir.operation import Value
from commonir.ir.types import ELEMENT_TYPES, TensorType, Type
from commonir.notation import NotationError
from commonir.ods import element_type, operand, result, traits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.inexact]

COMPLEX = element_type(*(t for t in ELEMENT_TYPES.values() if t.kind == "complex"))


class MakeComplex(CoreOp, name="core.complex", traits=(traits.Pure, traits.Elementwise)):
    """Creates complex numbers from real and imaginary parts."""

    real: Value = operand("T[s*]")
    imaginary: Value = operand("T[s*]")
    y: Value = result("C[s*]")
    T = FLOATS
    C = COMPLEX

    def infer(self) -> tuple[Type, ...]:
        type = tensor_type(self.real)
        built = ELEMENT_TYPES.get(f"complex<{type.element}>")
        if built is None:
            raise NotationError(f"there are no complex numbers of {type.element}")
        return (type.with_element(built),)

    def reference(self, real: Array, imaginary: Array) -> Array:
        xp = real.__array_namespace__()
        # In a product with i, infinities would become NaN.
        result: Array = xp.empty(real.shape, xp.result_type(real.dtype, xp.complex64))
        result.real, result.imag = real, imaginary
        return result


class _Part(CoreOp, traits=(traits.Pure, traits.Elementwise)):
    x: Value = operand("C[s*]")
    y: Value = result("T[s*]")
    C = COMPLEX
    T = FLOATS

    def infer(self) -> tuple[Type, ...]:
        return (part_type(tensor_type(self.x)),)


class Real(_Part, name="core.real"):
    """Real part of each complex number."""

    def reference(self, x: Array) -> Array:
        return x.real.copy()


class Imaginary(_Part, name="core.imag"):
    """Imaginary part of each complex number."""

    def reference(self, x: Array) -> Array:
        return x.imag.copy()


def part_type(type: TensorType) -> TensorType:
    """The type of the parts of complex numbers."""
    return type.with_element(ELEMENT_TYPES[type.element.name.removeprefix("complex<").removesuffix(">")])


make_complex = function(MakeComplex)
real = function(Real)
imag = function(Imaginary)


def _parts(z: Value) -> tuple[Value, Value]:
    return real(z), imag(z)


def magnitude(z: Value) -> Value:
    """The absolute value, without overflow on the way."""
    x, y = map(abs, _parts(z))
    large, small = maximum(x, y), minimum(x, y)
    one, zero = splat(1.0, x), splat(0.0, x)
    ratio = div(small, select(equal(large, zero), one, large))
    plain = mul(large, sqrt(add(one, mul(ratio, ratio))))
    infinite = logical_or(is_inf(x), is_inf(y))
    # One part may be NaN where the other is infinite.
    return select(infinite, select(is_inf(x), x, y), plain)


def angle(z: Value) -> Value:
    """The argument."""
    x, y = _parts(z)
    return atan2(y, x)


def conjugate(z: Value) -> Value:
    """The number with the other imaginary sign."""
    x, y = _parts(z)
    return make_complex(x, neg(y))


def negative(z: Value) -> Value:
    """The number with the other sign."""
    x, y = _parts(z)
    return make_complex(neg(x), neg(y))


def scaled(z: Value, factor: Value) -> Value:
    """The number times a real one."""
    x, y = _parts(z)
    return make_complex(mul(x, factor), mul(y, factor))


def product(a: Value, b: Value) -> Value:
    """The product, by the formula."""
    (x, y), (u, v) = _parts(a), _parts(b)
    return make_complex(sub(mul(x, u), mul(y, v)), add(mul(x, v), mul(y, u)))


def quotient(a: Value, b: Value) -> Value:
    """The quotient, the divisor scaled by its larger part so that nothing overflows on the way."""
    (x, y), (u, v) = _parts(a), _parts(b)
    is_tall = less(abs(u), abs(v))
    ratio = div(select(is_tall, u, v), select(is_tall, v, u))
    below = add(select(is_tall, v, u), mul(ratio, select(is_tall, u, v)))
    first = select(is_tall, add(mul(x, ratio), y), add(x, mul(y, ratio)))
    second = select(is_tall, sub(mul(y, ratio), x), sub(y, mul(x, ratio)))
    return make_complex(div(first, below), div(second, below))


def exponential(z: Value) -> Value:
    """e to the power of the number."""
    x, y = _parts(z)
    size = exp(x)
    is_real = equal(y, splat(0.0, y))
    return make_complex(select(is_real, size, mul(size, cos(y))), select(is_real, y, mul(size, sin(y))))


def exponential_less_one(z: Value) -> Value:
    """e to the power of the number, less one, precise near zero."""
    x, y = _parts(z)
    half = sin(mul(splat(0.5, y), y))
    real_part = sub(mul(expm1(x), cos(y)), mul(splat(2.0, y), mul(half, half)))
    return make_complex(real_part, mul(exp(x), sin(y)))


def logarithm(z: Value) -> Value:
    """The principal natural logarithm."""
    return make_complex(log(magnitude(z)), angle(z))


def logarithm_of_one_more(z: Value) -> Value:
    """The logarithm of one plus the number, precise near zero."""
    x, y = _parts(z)
    one, half = splat(1.0, x), splat(0.5, x)
    more = add(one, x)
    # |1 + z|^2 = 1 + (x (2 + x) + y^2)
    near = mul(half, log1p(add(mul(x, add(splat(2.0, x), x)), mul(y, y))))
    far = log(magnitude(make_complex(more, y)))
    is_near = logical_and(less(abs(x), half), less(abs(y), half))
    return make_complex(select(is_near, near, far), atan2(y, more))


def square_root(z: Value) -> Value:
    """The root with a real part that is not negative; its imaginary part has the sign of that of the number."""
    x, y = _parts(z)
    zero, half, one = splat(0.0, x), splat(0.5, x), splat(1.0, x)
    large = sqrt(mul(half, add(magnitude(z), abs(x))))
    small = div(abs(y), mul(splat(2.0, x), select(equal(large, zero), one, large)))
    is_left = less(x, zero)
    return make_complex(select(is_left, small, large), copy_sign(select(is_left, large, small), y))


def reciprocal_root(z: Value) -> Value:
    """Reciprocal square root of each element."""
    root = square_root(z)
    x = real(root)
    return quotient(make_complex(add(mul(x, splat(0.0, x)), splat(1.0, x)), mul(x, splat(0.0, x))), root)


def power(a: Value, b: Value) -> Value:
    """The principal power; one for exponent zero, and zero to another power is zero."""
    (u, v), zero, one = _parts(b), splat(0.0, real(a)), splat(1.0, real(a))
    size, turn = magnitude(a), angle(a)
    is_zero = equal(size, zero)
    known = log(select(is_zero, one, size))
    length = exp(sub(mul(u, known), mul(v, turn)))
    direction = add(mul(v, known), mul(u, turn))
    is_one = logical_and(equal(u, zero), equal(v, zero))
    real_part = select(is_one, one, select(is_zero, zero, mul(length, cos(direction))))
    return make_complex(real_part, select(logical_or(is_one, is_zero), zero, mul(length, sin(direction))))


def integer_power(a: Value, n: Value) -> Value:
    """A complex number to the power of an integer."""
    exponent = to_float(n, tensor_type(real(a)).element, sign=True)
    return power(a, make_complex(exponent, mul(exponent, splat(0.0, exponent))))


def sine(z: Value) -> Value:
    """The sine."""
    x, y = _parts(z)
    return make_complex(mul(sin(x), cosh(y)), mul(cos(x), sinh(y)))


def cosine(z: Value) -> Value:
    """The cosine."""
    x, y = _parts(z)
    return make_complex(mul(cos(x), cosh(y)), neg(mul(sin(x), sinh(y))))


def tangent(z: Value) -> Value:
    """The tangent, by twice the angle."""
    x, y = _parts(z)
    return _times_minus_i(hyperbolic_tangent(make_complex(neg(y), x)))


def _times_minus_i(z: Value) -> Value:
    x, y = _parts(z)
    return make_complex(y, neg(x))


def hyperbolic_tangent(z: Value) -> Value:
    """The hyperbolic tangent; far from zero its real part is one of the sign of that of the number."""
    x, y = _parts(z)
    limit = splat(20.0 if tensor_type(x).element.bits > 32 else 10.0, x)
    is_far = less(limit, abs(x))
    near_x = select(is_far, copy_sign(limit, x), x)
    two = splat(2.0, x)
    below = add(cosh(mul(two, near_x)), cos(mul(two, y)))
    first = div(sinh(mul(two, near_x)), below)
    second = div(sin(mul(two, y)), below)
    fades = mul(mul(splat(4.0, x), mul(sin(y), cos(y))), exp(neg(mul(two, abs(x)))))
    return make_complex(select(is_far, copy_sign(splat(1.0, x), x), first), select(is_far, fades, second))


def direction(z: Value) -> Value:
    """The number divided by its absolute value; zero for zero."""
    x, y = _parts(z)
    size = magnitude(z)
    is_zero = equal(size, splat(0.0, size))
    safe = select(is_zero, splat(1.0, size), size)
    return make_complex(select(is_zero, x, div(x, safe)), select(is_zero, y, div(y, safe)))


def arc_tangent_of_two(a: Value, b: Value) -> Value:
    """-i log((b + i a) / sqrt(a^2 + b^2)), which for real numbers is the angle of the point (b, a)."""
    x, y = _parts(a)
    above = add(b, make_complex(neg(y), x))
    below = square_root(add(product(a, a), product(b, b)))
    return _times_minus_i(logarithm(quotient(above, below)))
