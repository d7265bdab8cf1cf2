"""Rules for operations that act element by element, and for constants.

Operands of tosa have one rank and are broadcast along axes of size 1. It computes with signed integers and with floats
of at most 32 bits; a quotient of floats is a product with the reciprocal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf

from commonir.conversions.core_to_tosa.building import all_positions, constant, known, numbers, of_rank, zero_point
from commonir.conversions.operands import dims_of, element_of, rank_of
from commonir.conversions.to_mlir.finish import bytes_of_truth
from commonir.dialects import core
from commonir.dialects.mlir import tosa
from commonir.dialects.mlir.tosa import elementwise
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, boolean, f32, i8, i32, i64
from commonir.ods import Op
from commonir.rewrite.legalize import NO_REASON, Context, LegalizationRule, Mismatch, Result, counterparts_in, rule


def computes_with(element: ElementType) -> Mismatch | None:
    """Why tosa does not compute with elements of a type."""
    if element.kind == "uint":
        return Mismatch("tosa computes with no unsigned integers")
    if element.is_float and element.bits > f32.bits:
        return Mismatch(f"tosa has no {element}")
    if element.kind == "complex":
        return Mismatch("tosa has no complex numbers")
    return None


def is_narrow(element: ElementType) -> bool:
    """Whether the values of an element type are integers that profiles of tosa compute with more bits only."""
    return element.is_integer and element.bits < i32.bits


def _elementwise(definition: type[Op]) -> Callable[[Callable[..., Result]], LegalizationRule]:
    """Makes a function the rule for a definition, on operands with elements that tosa computes with one by one."""

    def guarded(build: Callable[..., Result]) -> LegalizationRule:
        def build_or_refuse(op: Op, context: Context, *operands: Value) -> Result:
            element = element_of(op.operands[0])
            if is_narrow(element):
                return Mismatch("profiles of tosa compute with integers of 32 bits")
            return computes_with(element) or build(op, context, *operands)

        return LegalizationRule(definition, build_or_refuse)

    return guarded


SAME: Mapping[type[Op], type[Op]] = {**counterparts_in(elementwise), core.LogicalNot: tosa.LogicalNot}
"""The definitions of tosa that mean the same as one of core."""
_WITH_OWN_RULES = (core.Equal, core.Pow, core.ShiftLeft)


def _pair(op: core.Binary | core.Comparison, context: Context, a: Value, b: Value) -> dict[str, Value]:
    """Returns two operands as tosa names them, of one rank."""
    rank = rank_of(op.y)
    return {"input1": of_rank(context, a, rank), "input2": of_rank(context, b, rank)}


def _unary(source: type[Op], definition: type[Op]) -> LegalizationRule:
    (name,) = [field.name for field in definition.layout.inputs]

    @_elementwise(source)
    def build(op: core.Unary, context: Context, x: Value) -> Result:
        return definition.build({name: x}, [op.y.type])

    return build


def _binary(source: type[Op], definition: type[Op]) -> LegalizationRule:
    @_elementwise(source)
    def build(op: core.Binary | core.Comparison, context: Context, a: Value, b: Value) -> Result:
        return definition.build(_pair(op, context, a, b), [op.y.type])

    return build


def _direct(source: type[Op], definition: type[Op]) -> LegalizationRule:
    return (_unary if len(source.layout.inputs) == 1 else _binary)(source, definition)


def _widened(source: type[Op]) -> LegalizationRule:
    """Narrow integers are computed as integers of 32 bits."""

    def build(op: Op, context: Context, *operands: Value) -> Result:
        if not is_narrow(element_of(op.operands[0])):
            return NO_REASON
        wide = type(op)(*[core.cast(v, i32) for v in operands]).result
        element = element_of(op.result)
        return wide if element is element_of(wide) else core.cast(wide, element)

    return LegalizationRule(source, build)


RULES = [
    *[_direct(source, definition) for source, definition in SAME.items() if source not in _WITH_OWN_RULES],
    *map(_widened, (core.Unary, core.Binary, core.Comparison)),
]


@rule(core.Constant)
def constant_(op: core.Constant, context: Context) -> Result:
    element = op.value.element
    if element.kind not in ("bool", "int", "uint", "float"):
        return Mismatch(f"tosa has no tensors of {element}")
    data = bytes_of_truth(op.value)
    return constant(context, op.value) if data is None else core.cast(core.constant(data), boolean)


@rule(core.Dims)
def dims(op: core.Dims, context: Context) -> Result:
    values = known(op.values)
    return constant(context, data_of(op.element, () if op.scalar else (len(values),), values))


@rule(core.Iota)
def iota(op: core.Iota, context: Context) -> Result:
    """Positions along one axis, which are broadcast along the others."""
    shape = known(op.shape)
    axis = op.axis % len(shape)
    row = all_positions(context, op.element, shape[axis])
    others = tuple([a for a in range(len(shape)) if a != axis])
    return core.broadcast_to(core.unsqueeze(row, others) if others else row, tuple(shape))


@rule(core.Neg)
def neg(op: core.Neg, context: Context, x: Value) -> Result:
    zero = zero_point(context, element_of(op.x))
    return tosa.Negate.build({"input1": x, "input1_zp": zero, "output_zp": zero}, [op.y.type])


@_elementwise(core.Mul)
def mul(op: core.Mul, context: Context, a: Value, b: Value) -> Result:
    arguments = {"shift": numbers(context, i8, (1,), (0,)), **_pair(op, context, a, b)}
    return tosa.Mul.build(arguments, [op.y.type])


@_elementwise(core.Pow)
def power(op: core.Pow, context: Context, a: Value, b: Value) -> Result:
    if not element_of(op.a).is_float:
        return Mismatch("tosa has powers of floats only")
    return tosa.Pow.build(_pair(op, context, a, b), [op.y.type])


@_elementwise(core.Equal)
def equal(op: core.Equal, context: Context, a: Value, b: Value) -> Result:
    if element_of(op.a) is boolean:
        return core.logical_not(core.logical_xor(a, b))
    return tosa.Equal.build(_pair(op, context, a, b), [op.y.type])


@_elementwise(core.NotEqual)
def not_equal(op: core.NotEqual, context: Context, a: Value, b: Value) -> Result:
    return core.logical_xor(a, b) if element_of(op.a) is boolean else core.logical_not(core.equal(a, b))


@_elementwise(core.Less)
def less(op: core.Less, context: Context, a: Value, b: Value) -> Result:
    return core.greater(b, a)


@_elementwise(core.LessEqual)
def less_equal(op: core.LessEqual, context: Context, a: Value, b: Value) -> Result:
    return core.greater_equal(b, a)


@_elementwise(core.Div)
def div(op: core.Div, context: Context, a: Value, b: Value) -> Result:
    if element_of(op.a).is_float:
        return core.mul(a, core.reciprocal(b))
    return tosa.IntDiv.build(_pair(op, context, a, b), [op.y.type])


@rule(core.Sqrt)
def sqrt(op: core.Sqrt, context: Context, x: Value) -> Result:
    return core.pow(x, core.splat(0.5, x))


@rule(core.Exp2)
def exp2(op: core.Exp2, context: Context, x: Value) -> Result:
    return core.pow(core.splat(2.0, x), x)


@rule(core.Tan)
def tan(op: core.Tan, context: Context, x: Value) -> Result:
    return core.div(core.sin(x), core.cos(x))


@rule(core.Sign)
def sign(op: core.Sign, context: Context, x: Value) -> Result:
    """Sign; elements that are neither above nor below zero stay as they are."""
    zero, one, minus = [core.splat(n, x) for n in (0, 1, -1)]
    return core.select(core.greater(x, zero), one, core.select(core.less(x, zero), minus, x))


@rule(core.Truncate)
def truncate(op: core.Truncate, context: Context, x: Value) -> Result:
    return core.select(core.less(x, core.splat(0.0, x)), core.ceil(x), core.floor(x))


@rule(core.Round)
def round_(op: core.Round, context: Context, x: Value) -> Result:
    """Up from more than a half, and from a half above an odd number."""
    below = core.floor(x)
    rest, half = core.sub(x, below), core.splat(0.5, x)
    halved = core.mul(below, half)
    is_odd = core.not_equal(core.floor(halved), halved)
    is_up = core.logical_or(core.greater(rest, half), core.logical_and(core.equal(rest, half), is_odd))
    return core.select(is_up, core.add(below, core.splat(1.0, x)), below)


@rule(core.IsNan)
def is_nan(op: core.IsNan, context: Context, x: Value) -> Result:
    return core.not_equal(x, x)


@rule(core.IsInf)
def is_inf(op: core.IsInf, context: Context, x: Value) -> Result:
    return core.equal(core.abs(x), core.splat(inf, x))


@rule(core.Remainder)
def remainder(op: core.Remainder, context: Context, a: Value, b: Value) -> Result:
    if not element_of(op.a).is_integer:
        return Mismatch("tosa has remainders of neither floats nor large quotients")
    return core.sub(a, core.mul(core.div(a, b), b))


@rule(core.Mod)
def modulo(op: core.Mod, context: Context, a: Value, b: Value) -> Result:
    if not element_of(op.a).is_integer:
        return Mismatch("tosa has remainders of neither floats nor large quotients")
    rest, zero = core.remainder(a, b), core.splat(0, a)
    is_other = core.logical_xor(core.less(rest, zero), core.less(b, zero))
    return core.select(core.logical_and(is_other, core.not_equal(rest, zero)), core.add(rest, b), rest)


@rule(core.FloorDiv)
def floor_div(op: core.FloorDiv, context: Context, a: Value, b: Value) -> Result:
    if not element_of(op.a).is_integer:
        return Mismatch("tosa divides floats by a product with the reciprocal, which may miss an integer")
    return core.div(core.sub(a, core.mod(a, b)), b)


@_elementwise(core.ShiftLeft)
def shift_left(op: core.ShiftLeft, context: Context, a: Value, b: Value) -> Result:
    """Amounts from the width on, and below zero, leave zeros."""
    inside, amount = _amount(b)
    shifted = tosa.LogicalLeftShift.build(_pair(op, context, a, amount), [op.y.type]).results[0]
    return core.select(inside, shifted, core.splat(0, a))


@_elementwise(core.ShiftRight)
def shift_right(op: core.ShiftRight, context: Context, a: Value, b: Value) -> Result:
    """Amounts from the width on, and below zero, leave the sign."""
    inside, amount = _amount(b)
    amount = core.select(inside, amount, core.splat(element_of(b).bits - 1, b))
    arguments = {**_pair(op, context, a, amount), "round": False}
    return tosa.ArithmeticRightShift.build(arguments, [op.y.type])


def _amount(b: Value) -> tuple[Value, Value]:
    """Whether an amount is below the width and not negative, and the nearest one that is."""
    zero, last = core.splat(0, b), core.splat(element_of(b).bits - 1, b)
    amount = core.minimum(core.maximum(b, zero), last)
    return core.equal(amount, b), amount


@rule(core.Select)
def select(op: core.Select, context: Context, condition: Value, a: Value, b: Value) -> Result:
    rank = rank_of(op.y)
    arguments = [of_rank(context, v, rank) for v in (condition, a, b)]
    return tosa.Select.build(dict(zip(("input1", "input2", "input3"), arguments, strict=True)), [op.y.type])


@rule(core.Cast)
def cast(op: core.Cast, context: Context, x: Value) -> Result:
    """Floats become integers without their fractions, which tosa would round."""
    source, target = element_of(op.x), op.to
    if source is not target and (is_narrow(source) and source.kind == "uint"):
        # Bits that tosa takes for those of a number with a sign.
        signed = tosa.Cast.build({"input": x}, [TensorType(i32, dims_of(op.y))]).results[0]
        whole = core.bitwise_and(signed, core.scalar((1 << source.bits) - 1, i32))
        return whole if target is i32 else core.cast(whole, target)
    if source is not target and (is_narrow(target) and target.kind == "uint"):
        whole = x if source is i32 else core.cast(x, i32)
        return tosa.Cast.build({"input": whole}, [op.y.type])
    reason = computes_with(source) or computes_with(target)
    if reason is not None:
        return reason
    if target is boolean:
        return core.not_equal(x, core.splat(0, x))
    if source is target:
        return x
    if source.is_float and target.is_integer:
        x = core.truncate(x)
        if target.bits > i32.bits:
            return _in_pieces(x)
    return tosa.Cast.build({"input": x}, [op.y.type])


_PIECE = 22
"""Bits of a piece of a number: three make one of 64 bits, and a float in single precision holds each."""


def _in_pieces(x: Value) -> Value:
    """Integral floats as integers of 64 bits, which tosa makes of integers of 32 bits only."""
    x = x if element_of(x) is f32 else core.cast(x, f32)
    whole: Value | None = None
    for shift in (2 * _PIECE, _PIECE, 0):
        piece = core.truncate(core.mul(x, core.scalar(2.0**-shift, f32)))
        x = core.sub(x, core.mul(piece, core.scalar(2.0**shift, f32)))
        part = core.cast(core.cast(piece, i32), i64)
        whole = part if whole is None else core.add(core.mul(whole, core.scalar(1 << _PIECE, i64)), part)
    assert whole is not None
    return whole


@rule(core.OneHot)
def one_hot(op: core.OneHot, context: Context, positions: Value, on: Value, off: Value) -> Result:
    if not isinstance(op.depth, int):
        return Mismatch("tosa has no axis of a size that is an expression")
    rank = rank_of(op.positions) + 1
    axis = op.axis % rank
    row = all_positions(context, i32, op.depth)
    others = tuple([a for a in range(rank) if a != axis])
    where = core.unsqueeze(row, others) if others else row
    wide = positions if element_of(positions) is i32 else core.cast(positions, i32)
    return core.select(core.equal(core.unsqueeze(wide, (axis,)), where), on, off)
