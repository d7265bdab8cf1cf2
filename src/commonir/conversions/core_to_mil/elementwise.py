"""Rules for core operations that act element by element."""

from __future__ import annotations

from collections.abc import Callable

from commonir.conversions.core_to_mil.building import cast, data_behind, scalar, small
from commonir.conversions.operands import element_of, rank_of, shape_of
from commonir.dialects import core
from commonir.dialects.mil import activation
from commonir.dialects.mil import elementwise as mil
from commonir.ir.operation import Value
from commonir.ir.types import boolean, i32
from commonir.ods import Op
from commonir.ods.patterns import known_shape
from commonir.rewrite.legalize import (
    Context,
    LegalizationRule,
    Mismatch,
    Result,
    counterparts_in,
    direct_counterpart,
    rule,
)

SAME = {**counterparts_in(mil, activation), core.Exp2: mil.Exp2}
"""Operations with a direct counterpart: of the same operands, without parameters."""


DIRECT_COUNTERPARTS = tuple([direct_counterpart(source, built) for source, built in SAME.items()])


@rule(core.Mul)
def mul(op: core.Mul, context: Context, a: Value, b: Value) -> Value:
    return mil.Square(a).output if a is b else mil.Mul(a, b).output


@rule(core.Log)
def log(op: core.Log, context: Context, x: Value) -> Value:
    return mil.Log(x, epsilon=0.0).output


@rule(core.Rsqrt)
def rsqrt(op: core.Rsqrt, context: Context, x: Value) -> Value:
    return mil.Rsqrt(x, epsilon=0.0).output


@rule(core.Reciprocal)
def reciprocal(op: core.Reciprocal, context: Context, x: Value) -> Value:
    return mil.Inverse(x, epsilon=0.0).output


@rule(core.Neg)
def neg(op: core.Neg, context: Context, x: Value) -> Value:
    return mil.Mul(x, scalar(context, -1, x)).output


@rule(core.Relu)
def relu(op: core.Relu, context: Context, x: Value) -> Value:
    if element_of(x).is_float:
        return activation.Relu(x).output
    return mil.Maximum(x, scalar(context, 0, x)).output


@rule(core.Truncate)
def truncate(op: core.Truncate, context: Context, x: Value) -> Value:
    negative = mil.Less(x, scalar(context, 0.0, x)).output
    return mil.Select(negative, mil.Ceil(x).output, mil.Floor(x).output).output


@rule(core.Asinh)
def asinh(op: core.Asinh, context: Context, x: Value) -> Value:
    """Near zero by the inverse hyperbolic tangent, which keeps small numbers; else by logarithms: none overflows."""
    one, magnitude = scalar(context, 1.0, x), mil.Abs(x).output
    near = mil.Minimum(magnitude, one).output
    root = mil.Sqrt(mil.Add(mil.Square(near).output, one).output).output
    inner = mil.Atanh(mil.RealDiv(near, root).output).output
    far = mil.Maximum(magnitude, one).output
    part = mil.Inverse(far, epsilon=0.0).output
    bend = mil.Sqrt(mil.Add(mil.Square(part).output, one).output).output
    outer = mil.Add(_log(far), _log(mil.Add(bend, one).output)).output
    result = mil.Select(mil.Less(magnitude, one).output, inner, outer).output
    return mil.Mul(mil.Sign(x).output, result).output


@rule(core.Acosh)
def acosh(op: core.Acosh, context: Context, x: Value) -> Value:
    """Near one by the inverse hyperbolic tangent; else by logarithms that do not overflow. NaN below one."""
    one, two = scalar(context, 1.0, x), scalar(context, 2.0, x)
    near = mil.Minimum(x, two).output
    # Of the product of both, the root of numbers below -1 would be one.
    root = mil.Mul(mil.Sqrt(mil.Sub(near, one).output).output, mil.Sqrt(mil.Add(near, one).output).output).output
    inner = mil.Atanh(mil.RealDiv(root, near).output).output
    far = mil.Maximum(x, two).output
    part = mil.Inverse(far, epsilon=0.0).output
    bend = mil.Sqrt(mil.Sub(one, mil.Square(part).output).output).output
    outer = mil.Add(_log(far), _log(mil.Add(bend, one).output)).output
    return mil.Select(mil.Less(x, two).output, inner, outer).output


def _log(x: Value) -> Value:
    return mil.Log(x, epsilon=0.0).output


@rule(core.IsNan)
def is_nan(op: core.IsNan, context: Context, x: Value) -> Value:
    return mil.NotEqual(x, x).output


@rule(core.IsInf)
def is_inf(op: core.IsInf, context: Context, x: Value) -> Value:
    return mil.Equal(mil.Abs(x).output, scalar(context, float("inf"), x)).output


@rule(core.Equal)
def equal(op: core.Equal, context: Context, a: Value, b: Value) -> Value:
    if element_of(a) is boolean:
        return mil.LogicalNot(mil.LogicalXor(a, b).output).output
    return mil.Equal(a, b).output


@rule(core.NotEqual)
def not_equal(op: core.NotEqual, context: Context, a: Value, b: Value) -> Value:
    return (mil.LogicalXor if element_of(a) is boolean else mil.NotEqual)(a, b).output


@rule(core.Div)
def div(op: core.Div, context: Context, a: Value, b: Value) -> Value:
    if element_of(a).is_float:
        return mil.RealDiv(a, b).output
    # Toward zero: magnitudes are divided, signs multiplied. What real_div makes of integers is not documented.
    magnitude = mil.FloorDiv(mil.Abs(a).output, mil.Abs(b).output).output
    return mil.Mul(magnitude, mil.Mul(mil.Sign(a).output, mil.Sign(b).output).output).output


@rule(core.Remainder)
def remainder(op: core.Remainder, context: Context, a: Value, b: Value) -> Value:
    return mil.Mul(mil.Mod(mil.Abs(a).output, mil.Abs(b).output).output, mil.Sign(a).output).output


@rule(core.Pow)
def pow_(op: core.Pow, context: Context, a: Value, b: Value) -> Value:
    base = data_behind(a)
    if base is not None and base.count == 1 and base.values() == (2.0,) and element_of(b).is_float:
        # Core ML computes the square of b when the base is the constant 2.
        powers = mil.Exp2(b).output
        return powers if rank_of(a) <= rank_of(b) else core.reshape(powers, (1,) * rank_of(a))
    return mil.Pow(a, b).output


@rule(core.BitwiseNot)
def bitwise_not(op: core.BitwiseNot, context: Context, x: Value) -> Value:
    return mil.Sub(scalar(context, -1, x), x).output


_BITS = 31
_LEAST = -(2**31)


def _bits(context: Context, x: Value) -> tuple[Value, Value]:
    """The lower 31 bits of integers along a new last axis, and whether each is negative, as 0 and 1."""
    apart = core.unsqueeze(x, (-1,))
    powers = small(context, i32, (_BITS,), [2**n for n in range(_BITS)])
    two = small(context, i32, (), (2,))
    return core.mod(core.floor_div(apart, powers), two), core.cast(core.less(x, small(context, i32, (), (0,))), i32)


def _bitwise(combine: Callable[[Value, Value], Value]) -> Callable[..., Result]:
    def of_bits(op: Op, context: Context, a: Value, b: Value) -> Result:
        if max(rank_of(a), rank_of(b)) >= 5:
            return Mismatch("bits need an axis of their own, and Core ML has tensors of rank at most 5")
        powers = small(context, i32, (_BITS,), [2**n for n in range(_BITS)])
        (low_a, sign_a), (low_b, sign_b) = _bits(context, a), _bits(context, b)
        low = core.reduce_sum(core.mul(combine(low_a, low_b), powers), (-1,), False)
        high = core.mul(combine(sign_a, sign_b), small(context, i32, (), (_LEAST,)))
        return core.add(low, high)

    return of_bits


BITWISE = (
    LegalizationRule(core.BitwiseAnd, _bitwise(core.mul)),
    LegalizationRule(core.BitwiseOr, _bitwise(core.maximum)),
    LegalizationRule(core.BitwiseXor, _bitwise(lambda a, b: core.abs(core.sub(a, b)))),
)


_MOST_BITS = 30
"""Powers of two up to this one are positive numbers of 32 bits."""


def _power(context: Context, amounts: Value) -> Value:
    """Two to the power of amounts from 0 to 30."""
    return core.gather(small(context, i32, (_MOST_BITS + 1,), [1 << n for n in range(_MOST_BITS + 1)]), amounts)


def _in_two_steps(context: Context, amounts: Value) -> tuple[Value, Value, Value]:
    """Whether amounts are from 0 to 31, and as sums of two from 0 to 30; others as 31."""
    most = core.splat(i32.bits - 1, amounts)
    allowed = core.logical_and(core.greater_equal(amounts, core.splat(0, amounts)), core.less_equal(amounts, most))
    whole = core.select(allowed, amounts, most)
    first = core.minimum(whole, core.splat(_MOST_BITS, amounts))
    return allowed, first, core.sub(whole, first)


@rule(core.ShiftLeft)
def shift_left(op: core.ShiftLeft, context: Context, x: Value, amounts: Value) -> Value:
    allowed, first, second = _in_two_steps(context, amounts)
    moved = core.mul(core.mul(x, _power(context, first)), _power(context, second))
    return core.select(allowed, moved, core.splat(0, moved))


@rule(core.ShiftRight)
def shift_right(op: core.ShiftRight, context: Context, x: Value, amounts: Value) -> Value:
    _, first, second = _in_two_steps(context, amounts)
    return core.floor_div(core.floor_div(x, _power(context, first)), _power(context, second))


@rule(core.Select)
def select(op: core.Select, context: Context, condition: Value, a: Value, b: Value) -> Value:
    if shape_of(op.a) != shape_of(op.y) and shape_of(op.b) != shape_of(op.y):
        # coremltools takes the shape of the result from the two values alone.
        shape = known_shape(op.y.type)
        if shape is not None:
            a = core.broadcast_to(a, shape)
    return mil.Select(condition, a, b).output


@rule(core.Cast)
def converted(op: core.Cast, context: Context, x: Value) -> Value:
    if op.to is boolean and not element_of(x).is_float:
        return x if element_of(x) is boolean else mil.NotEqual(x, scalar(context, 0, x)).output
    return cast(x, op.to)


@rule(core.Clip)
def clip(op: core.Clip, context: Context, x: Value) -> Result:
    if not element_of(x).is_float:
        return Mismatch("mil.clip has no integers")
    if not -float("inf") < op.low < op.high < float("inf"):
        return Mismatch("mil.clip needs two bounds, the lower one first")
    return mil.Clip(x, op.low, op.high).output


@rule(core.LeakyRelu)
def leaky_relu(op: core.LeakyRelu, context: Context, x: Value) -> Value:
    return activation.LeakyRelu(x, op.alpha).output


@rule(core.Elu)
def elu(op: core.Elu, context: Context, x: Value) -> Value:
    return activation.Elu(x, op.alpha).output


@rule(core.HardSigmoid)
def hard_sigmoid(op: core.HardSigmoid, context: Context, x: Value) -> Value:
    return activation.SigmoidHard(x, op.alpha, op.beta).output


@rule(core.Prelu)
def prelu(op: core.Prelu, context: Context, x: Value, slope: Value) -> Result:
    if data_behind(slope) is None or rank_of(x) != 4:
        return Mismatch("mil.prelu takes constant slopes, and different ones for images only")
    return activation.Prelu(x, slope).output


_GELU = {
    core.GeluForm.EXACT: activation.GeluMode.EXACT,
    core.GeluForm.TANH: activation.GeluMode.TANH_APPROXIMATION,
    core.GeluForm.SIGMOID: activation.GeluMode.SIGMOID_APPROXIMATION,
}


@rule(core.Gelu)
def gelu(op: core.Gelu, context: Context, x: Value) -> Value:
    return activation.Gelu(x, _GELU[op.approximation]).output


@rule(core.Softmax)
def softmax(op: core.Softmax, context: Context, x: Value) -> Value:
    return activation.Softmax(x, op.axis).output


@rule(core.LogSoftmax)
def log_softmax(op: core.LogSoftmax, context: Context, x: Value) -> Value:
    """In the type of the operands: what is subtracted keeps every exponential at or below 1."""
    shifted = core.sub(x, core.reduce_max(x, (op.axis,), True))
    return core.sub(shifted, core.log(core.reduce_sum(core.exp(shifted), (op.axis,), True)))
