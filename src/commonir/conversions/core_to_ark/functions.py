"""Rules for functions that ARK does not have, made of those that it has.

Logarithms begin with roots that bring the number near one, and a step of Halley's method with the exponential makes
them exact but for two units in the last place. Angles are taken to a quarter turn by subtracting multiples of it in
three parts, for angles up to 10,000. Fractions are dropped by way of integers, where numbers have one at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from commonir.conversions.core_to_ark.context import ArkContext, Built, rule, shape_of
from commonir.conversions.core_to_ark.elementwise import LARGEST, composed
from commonir.conversions.operands import element_of
from commonir.dialects import core
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import bf16, boolean, f16, f32, i32
from commonir.rewrite.legalize import LegalizationRule, Mismatch

_ROOTS = 7
_WHOLE = 8388608.0
"""From here on all numbers of single precision are whole."""


def _number(x: Value, value: float) -> Value:
    return core.splat(value, x)


@rule(core.Log)
def log(op: core.Log, context: ArkContext, x: Value) -> Built:
    """Of zero minus infinity, of infinity infinity."""

    def of(x: Value) -> Value:
        zero, infinite = core.equal(x, _number(x, 0.0)), core.greater(x, _number(x, LARGEST))
        finite = core.minimum(core.add(x, core.cast(zero, f32)), _number(x, LARGEST))
        below = core.select(zero, core.scalar(-math.inf, f32), core.scalar(0.0, f32))
        above = core.select(infinite, core.scalar(math.inf, f32), core.scalar(0.0, f32))
        return _undefined_like(x, core.add(core.add(_logarithm(finite), below), above))

    return composed(x, of)


def _undefined_like(x: Value, y: Value) -> Value:
    """Returns y, but NaN where x is: the smaller of two numbers and sizes of numbers are not NaN in ARK."""
    one = _number(x, 1.0)
    # Of numbers, also infinite ones, this is zero.
    return core.add(y, core.mul(core.div(one, core.add(core.mul(x, x), one)), _number(x, 0.0)))


def _logarithm(x: Value) -> Value:
    """The natural logarithm of positive finite numbers of single precision."""
    one = _number(x, 1.0)
    root = x
    for _ in range(_ROOTS):
        root = core.sqrt(root)
    u = core.div(core.sub(root, one), core.add(root, one))
    square = core.mul(u, u)
    series = core.add(core.mul(square, _number(x, 1 / 7)), _number(x, 1 / 5))
    series = core.add(core.mul(square, series), _number(x, 1 / 3))
    series = core.add(core.mul(square, series), one)
    guess = core.mul(core.mul(u, series), _number(x, 2.0 * 2**_ROOTS))
    half = core.exp(core.mul(guess, _number(x, -0.5)))
    ratio = core.mul(core.mul(x, half), half)
    step = core.div(core.sub(ratio, one), core.add(ratio, one))
    return core.add(guess, core.mul(step, _number(x, 2.0)))


@rule(core.LogSoftmax)
def log_softmax(op: core.LogSoftmax, context: ArkContext, x: Value) -> Built:
    """The sum of exponentials below zero is between 1 and the number of them."""

    def of(x: Value) -> Value:
        low = core.sub(x, core.reduce_max(x, (op.axis,), True))
        return core.sub(low, _logarithm(core.reduce_sum(core.exp(low), (op.axis,), True)))

    return composed(x, of)


@rule(core.Softplus)
def softplus(op: core.Softplus, context: ArkContext, x: Value) -> Built:
    """max(x, 0) + log(1 + exp(-|x|))."""

    def of(x: Value) -> Value:
        tail = core.exp(core.neg(core.abs(x)))
        return core.add(core.relu(x), _logarithm(core.add(tail, _number(x, 1.0))))

    return composed(x, of)


_QUARTER = (1.5703125, 4.837512969970703e-4, 7.549789948768648e-8)
"""A quarter turn in three parts, of which the first two have few bits."""


def _turned(x: Value, by: float) -> Value:
    """The sine of an angle and some quarter turns, in single precision."""
    turns = _rounded_half_up(core.mul(x, _number(x, 2 / math.pi)))
    rest = x
    for part in _QUARTER:
        rest = core.sub(rest, core.mul(turns, _number(x, part)))
    quarter = core.add(turns, _number(x, by))
    square = core.mul(rest, rest)
    sine = core.mul(rest, _series(square, (1.0, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880)))
    cosine = _series(square, (1.0, -1 / 2, 1 / 24, -1 / 720, 1 / 40320))
    # Which quarter it is, from 0 to 3: odd ones are those of the cosine, the last two are negative.
    fours = _floor_of(core.mul(quarter, _number(x, 0.25)))
    which = core.sub(quarter, core.mul(fours, _number(x, 4.0)))
    half = _floor_of(core.mul(which, _number(x, 0.5)))
    is_odd = core.sub(which, core.mul(half, _number(x, 2.0)))
    picked = core.add(sine, core.mul(is_odd, core.sub(cosine, sine)))
    return core.mul(picked, core.sub(_number(x, 1.0), core.mul(half, _number(x, 2.0))))


def _series(square: Value, factors: tuple[float, ...]) -> Value:
    total = _number(square, factors[-1])
    for factor in reversed(factors[:-1]):
        total = core.add(core.mul(square, total), _number(square, factor))
    return total


@rule(core.Sin)
def sin(op: core.Sin, context: ArkContext, x: Value) -> Built:
    return composed(x, lambda x: _turned(x, 0.0))


@rule(core.Cos)
def cos(op: core.Cos, context: ArkContext, x: Value) -> Built:
    return composed(x, lambda x: _turned(x, 1.0))


# -- inverses of angles, and hyperbolas


def _angle_of(x: Value) -> Value:
    """The arc tangent of numbers from -1 to 1: that of a quarter of the angle, by a series."""
    for _ in range(2):
        root = core.sqrt(core.add(core.mul(x, x), _number(x, 1.0)))
        x = core.div(x, core.add(root, _number(x, 1.0)))
    series = _series(core.mul(x, x), (1.0, -1 / 3, 1 / 5, -1 / 7, 1 / 9))
    return core.mul(core.mul(x, series), _number(x, 4.0))


def _arc_tangent(x: Value) -> Value:
    """Of numbers above one, what is left of a quarter turn after the angle of the reciprocal."""
    size, one = core.abs(x), _number(x, 1.0)
    is_large = core.cast(core.greater(size, one), f32)
    angle = _angle_of(core.minimum(size, core.div(one, size)))
    left = core.sub(_number(x, math.pi / 2), core.mul(angle, _number(x, 2.0)))
    return _undefined_like(x, core.mul(core.sign(x), core.add(angle, core.mul(is_large, left))))


def _arc_sine(x: Value) -> Value:
    one = _number(x, 1.0)
    cosine = core.sqrt(core.sub(one, core.mul(x, x)))
    return core.mul(_angle_of(core.div(x, core.add(cosine, one))), _number(x, 2.0))


def _area_sine(x: Value) -> Value:
    size = core.abs(x)
    root = core.sqrt(core.add(core.mul(size, size), _number(x, 1.0)))
    return _undefined_like(x, core.mul(core.sign(x), core.log(core.add(size, root))))


def _area_cosine(x: Value) -> Value:
    one = _number(x, 1.0)
    root = core.mul(core.sqrt(core.sub(x, one)), core.sqrt(core.add(x, one)))
    return core.log(core.add(x, root))


def _area_tangent(x: Value) -> Value:
    one = _number(x, 1.0)
    return core.mul(core.log(core.div(core.add(one, x), core.sub(one, x))), _number(x, 0.5))


def _of_exponentials(x: Value, sign: float) -> Value:
    other = core.mul(core.exp(core.neg(x)), _number(x, sign))
    return core.mul(core.add(core.exp(x), other), _number(x, 0.5))


def _in_single(source: type[core.Unary], of: Callable[[Value], Value]) -> LegalizationRule:
    def build(op: core.Unary, context: ArkContext, x: Value) -> Built:
        return composed(x, of)

    return rule(source)(build)


asin = _in_single(core.Asin, _arc_sine)
acos = _in_single(core.Acos, lambda x: core.sub(_number(x, math.pi / 2), _arc_sine(x)))
atan = _in_single(core.Atan, _arc_tangent)
asinh = _in_single(core.Asinh, _area_sine)
acosh = _in_single(core.Acosh, _area_cosine)
atanh = _in_single(core.Atanh, _area_tangent)
sinh = _in_single(core.Sinh, lambda x: _of_exponentials(x, -1.0))
cosh = _in_single(core.Cosh, lambda x: _of_exponentials(x, 1.0))
tan = _in_single(core.Tan, lambda x: core.div(_turned(x, 0.0), _turned(x, 1.0)))


# -- integers


def _truncated(x: Value) -> Value:
    """A number of single precision that fits into an integer, without its fraction."""
    return core.cast(core.cast(x, i32), f32)


def _floor_of(x: Value) -> Value:
    """The largest integer that is not above one of single precision that fits into an integer."""
    whole = _truncated(x)
    return core.sub(whole, core.cast(core.greater(whole, x), f32))


def _rounded_half_up(x: Value) -> Value:
    """The nearest integer of a number that fits into an integer."""
    return _floor_of(core.add(x, _number(x, 0.5)))


def _ceiling_of(x: Value) -> Value:
    return core.neg(_floor_of(core.neg(x)))


def _to_even(x: Value) -> Value:
    """The nearest integer, of two the even one."""
    below = _floor_of(x)
    rest, half = core.sub(x, below), _number(x, 0.5)
    halved = core.mul(below, half)
    is_odd = core.cast(core.not_equal(_floor_of(halved), halved), f32)
    more = core.cast(core.greater(rest, half), f32)
    same = core.cast(core.equal(rest, half), f32)
    return core.add(below, core.add(more, core.mul(same, is_odd)))


def _whole(x: Value, of: Callable[[Value], Value]) -> Value:
    """Numbers that have a fraction as a function of it makes them whole; the others as they are, also infinities and
    NaN.
    """
    small = core.cast(core.less(core.abs(x), _number(x, _WHOLE)), f32)
    large = core.sub(_number(x, 1.0), small)
    product = core.mul(x, small)
    fraction = core.sub(core.relu(product), core.relu(core.neg(product)))
    return core.add(of(fraction), core.mul(x, large))


def _made_whole(source: type[core.Unary], of: Callable[[Value], Value]) -> LegalizationRule:
    def build(op: core.Unary, context: ArkContext, x: Value) -> Built:
        return composed(x, lambda x: _whole(x, of))

    return rule(source)(build)


floor = _made_whole(core.Floor, _floor_of)
ceil = _made_whole(core.Ceil, _ceiling_of)
truncate = _made_whole(core.Truncate, _truncated)
round_ = _made_whole(core.Round, _to_even)


@rule(core.Sign)
def sign(op: core.Sign, context: ArkContext, x: Value) -> Built:
    zero = core.splat(0, x)
    element = element_of(x)
    return core.sub(core.cast(core.greater(x, zero), element), core.cast(core.less(x, zero), element))


@rule(core.Remainder)
def remainder(op: core.Remainder, context: ArkContext, a: Value, b: Value) -> Built:
    """Of integers: what is left of a when multiples of b are taken away, with the sign of a."""
    if element_of(a).is_float:
        return Mismatch("quotients of floats are rounded, so that what is left is not exact")
    return core.sub(a, core.mul(core.div(a, b), b))


@rule(core.Mod)
def mod(op: core.Mod, context: ArkContext, a: Value, b: Value) -> Built:
    """Of integers: with the sign of b."""
    element = element_of(a)
    if element.is_float:
        return Mismatch("quotients of floats are rounded, so that what is left is not exact")
    rest = core.sub(a, core.mul(core.div(a, b), b))
    if element.kind == "uint":
        return rest
    zero = core.splat(0, rest)
    differs = core.logical_xor(core.less(rest, zero), core.less(b, zero))
    is_other = core.logical_and(core.not_equal(rest, zero), differs)
    return core.add(rest, core.mul(core.cast(is_other, element), b))


@rule(core.FloorDiv)
def floor_div(op: core.FloorDiv, context: ArkContext, a: Value, b: Value) -> Built:
    """Of integers: the quotient, one less where it is negative and something is left."""
    element = element_of(a)
    if element.is_float:
        return Mismatch("quotients of floats are rounded, so that what is below them is not exact")
    if element.kind == "uint":
        return core.div(a, b)
    return core.div(core.sub(a, core.mod(a, b)), b)


@rule(core.ArgReduce)
def arg_reduce(op: core.ArgReduce, context: ArkContext, x: Value) -> Built:
    """Of the positions that hold the largest number, the first. NaN counts at the first position only.

    An element is the best unless the best is beyond it. That is a comparison which is also right for infinities, and
    for NaN it is false.
    """
    shape = shape_of(x)
    axis = op.axis % len(shape)
    count = shape[axis]
    x = core.cast(x, f32) if element_of(x) in (f16, bf16) else x
    is_largest = isinstance(op, core.ArgMax)
    best = core.reduce_max(x, (axis,), True) if is_largest else core.reduce_min(x, (axis,), True)
    is_best = core.logical_not(core.greater(best, x) if is_largest else core.less(best, x))
    if element_of(x).is_float:
        along = tuple([n if a == axis else 1 for a, n in enumerate(shape)])
        later = core.constant(data_of(boolean, along, [k > 0 for k in range(count)]))
        is_best = core.logical_and(is_best, core.logical_not(core.logical_and(core.is_nan(x), later)))
    left = core.sub(core.splat(float(count), core.cast(x, f32)), core.iota(shape, axis, f32))
    marked = core.mul(core.cast(is_best, f32), left)
    result = core.sub(_number(marked, float(count)), core.reduce_max(marked, (axis,), True))
    whole = core.cast(result, op.element)
    return whole if op.keep_dims else core.squeeze(whole, (axis,))
