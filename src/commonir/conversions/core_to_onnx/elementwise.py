"""Rules for core operations that act element by element."""

from __future__ import annotations

from collections.abc import Callable

from commonir.conversions.core_to_onnx.building import cast, integers, opset_of, scalar
from commonir.conversions.operands import element_of, rank_of, shape_of
from commonir.dialects import core, onnx
from commonir.dialects.onnx import activation, arithmetic, comparison, elementwise
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, bf16, boolean, f16, f32, i8, i16, i32, i64, u16, u64
from commonir.ods import Op
from commonir.rewrite.legalize import (
    Context,
    LegalizationRule,
    Mismatch,
    Result,
    counterparts_in,
    direct_counterpart,
    rule,
)

SAME: dict[type[Op], Callable[..., Op]] = {
    **counterparts_in(activation, arithmetic, comparison, elementwise),
    core.Abs: onnx.Abs,
    core.Erf: onnx.Erf,
    core.IsInf: onnx.IsInf,
    core.IsNan: onnx.IsNaN,
    core.LogicalNot: onnx.Not,
    core.Pow: onnx.Pow,
    core.Select: onnx.Where,
    core.Sign: onnx.Sign,
}
"""Operations with a direct counterpart: of the same operands, without attributes."""


DIRECT_COUNTERPARTS = tuple([direct_counterpart(source, built) for source, built in SAME.items()])


def _or_equal(definition: Callable[..., Op]) -> Callable[..., Result]:
    def compared(op: Op, context: Context, x: Value, y: Value) -> Value:
        return onnx.Or(definition(x, y).result, core.equal(x, y)).C

    return compared


OR_EQUAL = (
    LegalizationRule(core.GreaterEqual, _or_equal(onnx.Greater)),
    LegalizationRule(core.LessEqual, _or_equal(onnx.Less)),
)
"""Comparisons that opsets before 12 have no operator for."""


def _in_single_precision(op: Op, context: Context, *operands: Value) -> Result:
    """For half-precision types that the direct counterpart does not take: as single precision, rounded once."""
    narrow = {e for v in operands if (e := element_of(v)) in (f16, bf16)}
    if not narrow or type(op) not in SAME:
        return Mismatch(f"{op.name} has no direct counterpart for {element_of(operands[0])}")
    wide = type(op)(*[cast(v, f32) if element_of(v) in narrow else v for v in operands]).result
    return wide if element_of(wide) is element_of(op.result) else cast(wide, element_of(op.result))


WIDENED = tuple(LegalizationRule(source, _in_single_precision) for source in SAME)


def _in_wider_integers(op: Op, context: Context, *operands: Value) -> Result:
    """For integers under 32 bits that the direct counterpart does not take: bits that do not fit are dropped."""
    element = element_of(operands[0])
    if not element.is_integer or element.bits >= i32.bits:
        return Mismatch(f"{op.name} has no direct counterpart for {element}")
    wide = type(op)(*[cast(v, i32) for v in operands]).result
    return wide if element_of(wide) is element_of(op.result) else cast(wide, element_of(op.result))


IN_WIDER_INTEGERS = tuple(
    LegalizationRule(source, _in_wider_integers)
    for source in (core.Add, core.Sub, core.Mul, core.Div, core.Equal, core.Greater, core.Less)
)
"""Arithmetic of narrow integers, for versions that have only that of wider ones."""


# The first opset in which the operands of Max and Min are broadcast.
_BROADCAST = 8


def _refused_shapes(context: Context, a: Value, b: Value) -> Mismatch | None:
    if opset_of(context) < _BROADCAST and shape_of(a) != shape_of(b):
        return Mismatch("before opset 8 the operands of Max and Min have one shape")
    return None


@rule(core.Maximum)
def maximum(op: core.Maximum, context: Context, a: Value, b: Value) -> Result:
    return _refused_shapes(context, a, b) or onnx.Max((a, b)).max


@rule(core.Maximum)
def larger_integer(op: core.Maximum, context: Context, a: Value, b: Value) -> Result:
    # Opsets before 12 have no such operator for integers.
    if not element_of(a).is_integer:
        return Mismatch("NaN does not compare with anything")
    return core.select(onnx.Greater(a, b).C, a, b)


@rule(core.Minimum)
def minimum(op: core.Minimum, context: Context, a: Value, b: Value) -> Result:
    return _refused_shapes(context, a, b) or onnx.Min((a, b)).min


@rule(core.Minimum)
def smaller_integer(op: core.Minimum, context: Context, a: Value, b: Value) -> Result:
    if not element_of(a).is_integer:
        return Mismatch("NaN does not compare with anything")
    return core.select(onnx.Less(a, b).C, a, b)


@rule(core.Select)
def choice_of_bools(op: core.Select, context: Context, condition: Value, a: Value, b: Value) -> Result:
    """By logic: runtimes have no `Where` of bools."""
    if element_of(op.y) is not boolean:
        return Mismatch("only bools are chosen by logic")
    return onnx.Or(onnx.And(condition, a).C, onnx.And(onnx.Not(condition).Y, b).C).C


# Of these types runtimes have no `Where`; each is of the same bits as one that they have it of, or within it.
_CHOSEN_AS = {i8: i32, i16: i32, u16: i32, u64: i64}


@rule(core.Select)
def choice_in_another_type(op: core.Select, context: Context, condition: Value, a: Value, b: Value) -> Result:
    element = element_of(op.y)
    chosen_as = _CHOSEN_AS.get(element)
    if chosen_as is None:
        return Mismatch(f"runtimes choose between {element}")
    return cast(onnx.Where(condition, cast(a, chosen_as), cast(b, chosen_as)).output, element)


@rule(core.NotEqual)
def not_equal(op: core.NotEqual, context: Context, a: Value, b: Value) -> Value:
    return onnx.Not(core.equal(a, b)).Y


@rule(core.FloorDiv)
def floor_div(op: core.FloorDiv, context: Context, a: Value, b: Value) -> Value:
    if element_of(a).is_float:
        return onnx.Floor(onnx.Div(a, b).C).Y
    # Division of integers drops the fraction: without the rest there is none.
    return onnx.Div(onnx.Sub(a, onnx.Mod(a, b).C).C, b).C


@rule(core.Mod)
def mod(op: core.Mod, context: Context, a: Value, b: Value) -> Value:
    if not element_of(a).is_float:
        return onnx.Mod(a, b).C
    rest = onnx.Mod(a, b, fmod=True).C
    zero = scalar(context, 0.0, a)
    opposite = onnx.Xor(onnx.Less(rest, zero).C, onnx.Less(b, zero).C).C
    moved = onnx.And(opposite, onnx.Not(onnx.Equal(rest, zero).C).Y).C
    return onnx.Where(moved, onnx.Add(rest, b).C, rest).output


@rule(core.Remainder)
def remainder(op: core.Remainder, context: Context, a: Value, b: Value) -> Value:
    return onnx.Mod(a, b, fmod=True).C


@rule(core.Exp2)
def exp2(op: core.Exp2, context: Context, x: Value) -> Value:
    return onnx.Pow(scalar(context, 2.0, x), x).Z


@rule(core.Truncate)
def truncate(op: core.Truncate, context: Context, x: Value) -> Value:
    negative = onnx.Less(x, scalar(context, 0.0, x)).C
    return onnx.Where(negative, onnx.Ceil(x).Y, onnx.Floor(x).Y).output


@rule(core.Cast)
def converted(op: core.Cast, context: Context, x: Value) -> Value:
    return onnx.Cast(x, to=op.to).output


@rule(core.Rsqrt)
def rsqrt(op: core.Rsqrt, context: Context, x: Value) -> Value:
    return onnx.Reciprocal(onnx.Sqrt(x).Y).Y


@rule(core.Clip)
def clip(op: core.Clip, context: Context, x: Value) -> Value:
    low, high = _limit(op.low, element_of(x)), _limit(op.high, element_of(x))
    return onnx.Clip(x, scalar(context, low, x), scalar(context, high, x)).output


def _limit(value: float, element: ElementType) -> float:
    return int(value) if element.is_integer else value


@rule(core.LeakyRelu)
def leaky_relu(op: core.LeakyRelu, context: Context, x: Value) -> Value:
    return onnx.LeakyRelu(x, alpha=op.alpha).Y


@rule(core.Elu)
def elu(op: core.Elu, context: Context, x: Value) -> Value:
    return onnx.Elu(x, alpha=op.alpha).Y


@rule(core.HardSigmoid)
def hard_sigmoid(op: core.HardSigmoid, context: Context, x: Value) -> Value:
    return onnx.HardSigmoid(x, alpha=op.alpha, beta=op.beta).Y


@rule(core.Prelu)
def prelu(op: core.Prelu, context: Context, x: Value, slope: Value) -> Value:
    spatial = tuple(range(1, rank_of(x) - 1))
    if spatial:
        slope = onnx.Unsqueeze(slope, integers(context, spatial)).expanded
    return onnx.PRelu(x, slope).Y


@rule(core.Gelu)
def gelu(op: core.Gelu, context: Context, x: Value) -> Result:
    match op.approximation:
        case core.GeluForm.EXACT:
            return onnx.Gelu(x).Y
        case core.GeluForm.TANH:
            return onnx.Gelu(x, approximate="tanh").Y
        case core.GeluForm.SIGMOID:
            return Mismatch("onnx.Gelu has no form with a sigmoid")


@rule(core.Gelu)
def gelu_of_erf(op: core.Gelu, context: Context, x: Value) -> Result:
    """In the form that onnxruntime fuses."""
    if op.approximation is not core.GeluForm.EXACT:
        return Mismatch("only the exact form is made of the error function")
    inner = onnx.Erf(onnx.Div(x, scalar(context, 2.0**0.5, x)).C).output
    weight = onnx.Add(inner, scalar(context, 1.0, x)).C
    return onnx.Mul(onnx.Mul(x, weight).C, scalar(context, 0.5, x)).C


@rule(core.Silu)
def silu(op: core.Silu, context: Context, x: Value) -> Value:
    return onnx.Swish(x).Y


@rule(core.Softmax)
def softmax(op: core.Softmax, context: Context, x: Value) -> Value:
    return onnx.Softmax(x, axis=op.axis).output


@rule(core.LogSoftmax)
def log_softmax(op: core.LogSoftmax, context: Context, x: Value) -> Value:
    return onnx.LogSoftmax(x, axis=op.axis).output
