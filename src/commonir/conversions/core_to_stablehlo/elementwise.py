"""Rules for functions of elements, by the operation of stablehlo or chlo that means the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, log

from commonir.conversions.core_to_stablehlo.building import (
    broadcast,
    compared,
    constant_of_data,
    converted,
    like,
    scalar,
)
from commonir.conversions.operands import dims_of, element_of
from commonir.dialects import core
from commonir.dialects.mlir import stablehlo as hlo
from commonir.dialects.mlir.stablehlo import chlo, elementwise
from commonir.dialects.mlir.stablehlo.base import ComparisonDirection
from commonir.ir.operation import Value
from commonir.ir.types import ComplexType, TensorType, boolean, i32
from commonir.ods import Op
from commonir.rewrite.legalize import Context, LegalizationRule, Mismatch, Result, counterparts_in, rule
from commonir.symbolic import Dim

UNARY: Mapping[type[Op], Callable[[Value], Op]] = {
    **counterparts_in(chlo, elementwise),
    core.Abs: hlo.Abs,
    core.BitwiseNot: hlo.Not,
    core.Erf: chlo.Erf,
    core.Imaginary: hlo.Imag,
    core.IsInf: chlo.IsInf,
    core.LogicalNot: hlo.Not,
    core.Neg: hlo.Neg,
    core.Real: hlo.Real,
    core.Sign: hlo.Sign,
}
"""Functions of one tensor. Definitions named here have a reference that is more than one function of core, as most of
them depend on the element type.
"""

BINARY: Mapping[type[Op], Callable[[Value, Value], Op]] = {
    core.Add: hlo.Add,
    core.BitwiseAnd: hlo.And,
    core.BitwiseOr: hlo.Or,
    core.BitwiseXor: hlo.Xor,
    core.Div: hlo.Div,
    core.LogicalAnd: hlo.And,
    core.LogicalOr: hlo.Or,
    core.LogicalXor: hlo.Xor,
    core.MakeComplex: hlo.Complex,
    core.Maximum: hlo.Max,
    core.Minimum: hlo.Min,
    core.Mul: hlo.Mul,
    core.Remainder: hlo.Rem,
    core.ShiftLeft: hlo.ShiftLeft,
    core.Sub: hlo.Subtract,
}
"""Functions of two tensors, which are broadcast first."""

COMPARISONS: Mapping[type[Op], ComparisonDirection] = {
    core.Equal: ComparisonDirection.EQ,
    core.NotEqual: ComparisonDirection.NE,
    core.Less: ComparisonDirection.LT,
    core.LessEqual: ComparisonDirection.LE,
    core.Greater: ComparisonDirection.GT,
    core.GreaterEqual: ComparisonDirection.GE,
}


def _unary(definition: Callable[[Value], Op]) -> Callable[..., Result]:
    def same(op: Op, context: Context, x: Value) -> Value:
        return definition(x).results[0]

    return same


def _aligned(op: Op, context: Context, operands: Sequence[Value]) -> list[Value]:
    shape = dims_of(op.results[0])
    return [broadcast(context, v, shape) for v in operands]


def _binary(definition: Callable[[Value, Value], Op]) -> Callable[..., Result]:
    def same(op: Op, context: Context, a: Value, b: Value) -> Value:
        first, second = _aligned(op, context, (a, b))
        return definition(first, second).results[0]

    return same


def _comparison(direction: ComparisonDirection) -> Callable[..., Result]:
    def same(op: Op, context: Context, a: Value, b: Value) -> Value:
        first, second = _aligned(op, context, (a, b))
        return compared(first, second, direction)

    return same


DIRECT_COUNTERPARTS = (
    *[LegalizationRule(source, _unary(target)) for source, target in UNARY.items()],
    *[LegalizationRule(source, _binary(target)) for source, target in BINARY.items()],
    *[LegalizationRule(source, _comparison(direction)) for source, direction in COMPARISONS.items()],
)
"""Operations that mean the same."""


@rule(core.Constant)
def constant(op: core.Constant, context: Context) -> Value:
    return constant_of_data(context, op.value)


@rule(core.Pow)
def power(op: core.Pow, context: Context, a: Value, b: Value) -> Result:
    if not element_of(a).is_float:
        return Mismatch("a power of integers is computed by other operations")
    return hlo.Pow(*_aligned(op, context, (a, b))).result_


@rule(core.Exp2)
def exp2(op: core.Exp2, context: Context, x: Value) -> Value:
    return hlo.Exp(hlo.Mul(x, like(context, log(2.0), x)).result_).result_


@rule(core.Truncate)
def truncate(op: core.Truncate, context: Context, x: Value) -> Value:
    is_negative = compared(x, like(context, 0.0, x), ComparisonDirection.LT)
    return hlo.Select(is_negative, hlo.Ceil(x).result_, hlo.Floor(x).result_).result_


@rule(core.IsNan)
def is_nan(op: core.IsNan, context: Context, x: Value) -> Value:
    return compared(x, x, ComparisonDirection.NE)


@rule(core.Relu)
def relu(op: core.Relu, context: Context, x: Value) -> Value:
    return hlo.Max(x, like(context, 0, x)).result_


@rule(core.Clip)
def clip(op: core.Clip, context: Context, x: Value) -> Value:
    element_type = element_of(x)
    low, high = [v if element_type.is_float else _whole(v, element_type.bits) for v in (op.low, op.high)]
    return hlo.Clamp(scalar(context, low, element_type), x, scalar(context, high, element_type)).result_


def _whole(value: float, bits: int) -> int:
    limit = 1 << (bits - 1)
    return -limit if value == -inf else limit - 1 if value == inf else int(value)


@rule(core.Select)
def select(op: core.Select, context: Context, condition: Value, a: Value, b: Value) -> Value:
    shape: tuple[Dim, ...] = dims_of(op.y)
    chosen = condition if not dims_of(condition) else broadcast(context, condition, shape)
    return hlo.Select(chosen, broadcast(context, a, shape), broadcast(context, b, shape)).result_


@rule(core.Cast)
def cast(op: core.Cast, context: Context, x: Value) -> Result:
    element_type, expected = element_of(x), op.to
    if isinstance(element_type, ComplexType) or isinstance(expected, ComplexType):
        return Mismatch("conversions of complex numbers are stated by their parts")
    if expected is boolean and element_type is not boolean:
        return compared(x, like(context, 0.0 if element_type.is_float else 0, x), ComparisonDirection.NE)
    return converted(x, expected)


@rule(core.BitCast)
def bit_cast(op: core.BitCast, context: Context, x: Value) -> Result:
    if boolean in (element_of(x), op.to):
        # A bool is a byte that is 0 or 1.
        return converted(x, op.to) if op.to is not boolean else cast_to_truth(context, x)
    type = TensorType(op.to, dims_of(op.y))
    return hlo.BitcastConvert.build({"operand": x}, [type]).results[0]


def cast_to_truth(context: Context, x: Value) -> Value:
    """Which numbers are not zero."""
    return compared(x, like(context, 0, x), ComparisonDirection.NE)


@rule(core.ShiftRight)
def shift_right(op: core.ShiftRight, context: Context, a: Value, b: Value) -> Value:
    definition = hlo.ShiftRightLogical if element_of(a).kind == "uint" else hlo.ShiftRightArithmetic
    return definition(*_aligned(op, context, (a, b))).result_


@rule(core.FloorDiv)
def floor_div(op: core.FloorDiv, context: Context, a: Value, b: Value) -> Result:
    if element_of(a).is_float:
        return core.floor(core.div(a, b))
    if element_of(a).kind == "uint":
        return core.div(a, b)
    whole, rest = core.div(a, b), core.remainder(a, b)
    is_below = core.logical_and(
        core.not_equal(rest, core.splat(0, rest)),
        core.not_equal(core.less(rest, core.splat(0, rest)), core.less(b, core.splat(0, b))),
    )
    return core.select(is_below, core.sub(whole, core.splat(1, whole)), whole)


@rule(core.Mod)
def mod(op: core.Mod, context: Context, a: Value, b: Value) -> Result:
    rest = core.remainder(a, b)
    if element_of(a).kind == "uint":
        return rest
    nothing = core.splat(0, rest)
    moves = core.logical_and(
        core.not_equal(rest, nothing), core.not_equal(core.less(rest, nothing), core.less(b, core.splat(0, b)))
    )
    return core.select(moves, core.add(rest, b), rest)


@rule(core.NarrowCast)
def narrow_cast(op: core.NarrowCast, context: Context, x: Value) -> Result:
    if not op.to.is_integer:
        return Mismatch(f"stablehlo.convert does not round to {op.to} as asked for")
    wide = converted(x, i32) if element_of(x).is_float else x
    return converted(wide, op.to)
