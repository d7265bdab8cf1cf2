"""Rules for operations that act element by element.

Bools are 1 and 0. Two numbers are compared by the sign of their difference, which is exact: a difference of
floats is zero only where they are equal. Times a large number, the sigmoid of any other one is not 1/2, and what it is
more or less than that, times a large number, is so far from zero that its sigmoid is 0 or 1.
What has several steps in half precision is computed in single precision and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from commonir.conversions.core_to_ark.building import BufferPlace
from commonir.conversions.core_to_ark.context import ArkContext, Built, rule, shape_of, storage_type
from commonir.conversions.core_to_ark.indexing import looked_up
from commonir.conversions.core_to_ark.reduction import reduced
from commonir.conversions.operands import element_of, refused
from commonir.dialects import ark, core
from commonir.dialects.ark import elementwise
from commonir.dialects.core import GeluForm
from commonir.ir.data import data_of, data_of_positions
from commonir.ir.operation import Value
from commonir.ir.types import bf16, boolean, f16, f32, i32, u32
from commonir.ods import Op, known_data
from commonir.rewrite.legalize import LegalizationRule, Mismatch, counterparts_in

_HUGE = 3.0e38
LARGEST = 3.4028234663852886e38
"""The largest number of single precision."""
_EXACT = 1 << 24
"""Integers up to this one are exact in single precision."""


def _wide(place: BufferPlace, context: ArkContext) -> BufferPlace:
    """A tensor of half precision in single precision."""
    return context.cast(place, f32) if place.element in (f16, bf16) else place


# -- arithmetic

SAME: Mapping[type[Op], type[ark.ArkOp]] = {
    **{source: built for source, built in counterparts_in(elementwise).items() if issubclass(built, ark.ArkOp)},
    core.Relu: ark.Relu,
}
"""The definitions of ARK that mean the same as one of core."""


def _factor(value: Value, context: ArkContext) -> float | None:
    """The number that a constant is everywhere, where arguments hold it as it is."""
    number = context.scalar(value)
    if number is None or element_of(value) is boolean:
        return None
    if isinstance(number, int) and abs(number) > _EXACT:
        return None
    return float(number)


def _direct(source: type[Op], definition: type[ark.ArkOp]) -> LegalizationRule:
    def binary(op: core.Binary, context: ArkContext, a: Value, b: Value) -> Built:
        storage_type(element_of(a))
        shape = shape_of(op.y)
        result = _with_number(op, context, a, b)
        if result is not None:
            return result
        return context.elementwise(definition, [context.place(a), context.place(b)], shape)

    def unary(op: core.Unary | core.Activation | core.Relu, context: ArkContext, x: Value) -> Built:
        place = context.place(x)
        return context.elementwise(definition, [place], place.dims)

    return rule(source)(binary if issubclass(source, core.Binary) else unary)


DIRECT_COUNTERPARTS = [_direct(source, definition) for source, definition in SAME.items()]


def _with_number(op: core.Binary, context: ArkContext, a: Value, b: Value) -> BufferPlace | None:
    """An operation with a number, where one of both is that and the other has the shape of the result."""
    shape = shape_of(op.y)
    first, second = _factor(a, context), _factor(b, context)
    is_second = second is not None and shape_of(a) == shape
    is_first = not is_second and first is not None and shape_of(b) == shape
    number = second if is_second else first
    if number is None or not (is_first or is_second):
        return None
    x = a if is_second else b
    signed = element_of(x).kind != "uint"
    match op:
        case core.Add():
            return context.add_number(context.place(x), number)
        case core.Sub() if is_second and signed:
            return context.add_number(context.place(x), -number)
        case core.Sub() if is_first and element_of(x).is_float:
            return context.add_number(context.times(context.place(x), -1.0), number)
        case core.Mul():
            return context.times(context.place(x), number)
        case core.Div() if is_second and element_of(x).is_float and number and math.frexp(number)[0] in (0.5, -0.5):
            # The reciprocal of a power of two is a number of every type, if it is in its range.
            power = abs(math.frexp(number)[1])
            return context.times(context.place(x), 1.0 / number) if power < _SAFE_POWER else None
        case _:
            return None


_SAFE_POWER = 14


@rule(core.Neg)
def neg(op: core.Neg, context: ArkContext, x: Value) -> Built:
    return context.times(context.place(x), -1.0)


@rule(core.Reciprocal)
def reciprocal(op: core.Reciprocal, context: ArkContext, x: Value) -> Built:
    return core.div(core.splat(1.0, x), x)


@rule(core.Abs)
def absolute(op: core.Abs, context: ArkContext, x: Value) -> Built:
    if element_of(x).kind == "uint":
        return x
    place = context.place(x)
    above = context.elementwise(ark.Relu, [place], place.dims)
    below = context.elementwise(ark.Relu, [context.times(place, -1.0)], place.dims)
    return context.elementwise(ark.Add, [above, below], place.dims)


def _larger(places: Sequence[BufferPlace], dims: tuple[int, ...], context: ArkContext) -> BufferPlace:
    """The largest of some tensors at each position: they are put side by side, and the largest is picked."""
    side = context.fresh(places[0].element, (len(places), *dims))
    for n, place in enumerate(places):
        part = side.layout.part(0, n, 1)
        layout = part.reshaped(dims)
        if layout is not None:
            spread = BufferPlace(place.buffer, place.layout.spread(dims))
            context.copy_into(spread, BufferPlace(side.buffer, layout))
    return context.reshaped(reduced(ark.ReduceMax, side, (0,), context), dims)


@rule(core.Maximum)
def maximum(op: core.Maximum, context: ArkContext, a: Value, b: Value) -> Built:
    shape = shape_of(op.y)
    for x, other in ((a, b), (b, a)):
        if context.scalar(other) == 0 and shape_of(x) == shape:
            return context.elementwise(ark.Relu, [context.place(x)], shape)
    if element_of(a) is boolean:
        return core.logical_or(a, b)
    return _larger([context.place(a), context.place(b)], shape, context)


@rule(core.Minimum)
def minimum(op: core.Minimum, context: ArkContext, a: Value, b: Value) -> Built:
    if element_of(a) is boolean:
        return core.logical_and(a, b)
    shape = shape_of(op.y)
    return context.turned(_larger([context.turned(context.place(v)) for v in (a, b)], shape, context))


# -- functions


def composed(x: Value, of: Callable[[Value], Value]) -> Value:
    """A function of several steps, in single precision."""
    element = element_of(x)
    return core.cast(of(core.cast(x, f32)), element) if element in (f16, bf16) else of(x)


@rule(core.Tanh)
def tanh(op: core.Tanh, context: ArkContext, x: Value) -> Built:
    """2 sigmoid(2 x) - 1."""

    def of(x: Value) -> Value:
        twice = core.mul(x, core.splat(2.0, x))
        return core.sub(core.mul(core.sigmoid(twice), core.splat(2.0, x)), core.splat(1.0, x))

    return composed(x, of)


@rule(core.Silu)
def silu(op: core.Silu, context: ArkContext, x: Value) -> Built:
    return composed(x, lambda x: core.mul(x, core.sigmoid(x)))


@rule(core.Gelu)
def gelu(op: core.Gelu, context: ArkContext, x: Value) -> Built:
    match op.approximation:
        case GeluForm.TANH:
            place = context.place(x)
            return context.elementwise(ark.Gelu, [place], place.dims)
        case GeluForm.SIGMOID:
            return composed(x, lambda v: core.mul(v, core.sigmoid(core.mul(v, core.splat(1.702, v)))))
        case GeluForm.EXACT:
            return composed(x, _exact_gelu)


def _exact_gelu(x: Value) -> Value:
    probable = core.add(core.erf(core.mul(x, core.splat(math.sqrt(0.5), x))), core.splat(1.0, x))
    return core.mul(core.mul(x, core.splat(0.5, x)), probable)


_ERF = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
_ERF_SCALE = 0.3275911


@rule(core.Erf)
def erf(op: core.Erf, context: ArkContext, x: Value) -> Built:
    """A polynomial of 1 / (1 + p |x|) times exp(-x²), to 1.5e-7. Source: Abramowitz and Stegun, 7.1.26."""

    def of(x: Value) -> Value:
        one = core.splat(1.0, x)
        magnitude = core.abs(x)
        t = core.div(one, core.add(core.mul(magnitude, core.splat(_ERF_SCALE, x)), one))
        total: Value = core.mul(t, core.splat(_ERF[-1], x))
        for c in reversed(_ERF[:-1]):
            total = core.mul(core.add(total, core.splat(c, x)), t)
        rest = core.mul(total, core.exp(core.neg(core.mul(x, x))))
        # Far from zero this is the sign; near zero both factors are small.
        sign = core.sub(core.mul(core.sigmoid(core.mul(x, core.splat(_HUGE, x))), core.splat(2.0, x)), one)
        return core.mul(sign, core.sub(one, rest))

    return composed(x, of)


_MOST_FACTORS = 64


@rule(core.Pow)
def power(op: core.Pow, context: ArkContext, a: Value, b: Value) -> Built:
    """Whole and half exponents, by products and a root."""
    exponent, base = _number(b), _number(a)
    x = a
    if exponent is None and base is not None and base > 0 and element_of(x).is_float:
        number = math.log(base)
        return composed(b, lambda v: core.exp(core.mul(v, core.splat(number, v))))
    if exponent is None or not math.isfinite(exponent) or shape_of(x) != shape_of(op.y):
        return Mismatch("ARK has powers of constant exponents only, which are one number")
    whole = math.floor(exponent)
    if exponent - whole not in (0, 0.5) or abs(exponent) > _MOST_FACTORS or not (element_of(x).is_float or whole >= 0):
        return Mismatch(f"ARK has no powers with the exponent {exponent}: only whole ones and halves")
    if whole == exponent == 0:
        return core.add(core.mul(x, core.splat(0.0, x)), core.splat(1.0, x))
    return composed(x, lambda v: _powered(v, abs(exponent), exponent < 0))


def _powered(x: Value, exponent: float, is_inverse: bool) -> Value:
    """A product of squares of squares, and of a root."""
    left = math.floor(exponent)
    result: Value | None = core.sqrt(x) if left != exponent else None
    square = x
    while left:
        if left % 2:
            result = square if result is None else core.mul(result, square)
        left //= 2
        square = core.mul(square, square) if left else square
    built = x if result is None else result
    return core.div(core.splat(1.0, built), built) if is_inverse else built


# -- types


@rule(core.Cast)
def cast(op: core.Cast, context: ArkContext, x: Value) -> Built:
    source, to = element_of(x), op.to
    target = storage_type(to)
    if to is boolean and source is not boolean:
        return core.not_equal(x, core.splat(0, x))
    place = context.place(x)
    if source.is_integer and to.is_integer and target.bits < place.element.bits and place.element is not i32:
        return Mismatch(f"ARK leaves open what becomes of {source} in {to}")
    return context.cast(place, target)


# -- comparisons


def _sign(a: Value, b: Value, dims: tuple[int, ...], context: ArkContext) -> BufferPlace:
    """1, 0 or -1, as a difference is above, at or below zero; NaN where there is none."""
    element = element_of(a)
    if storage_type(element) is u32:
        raise refused("differences of unsigned numbers have no sign")
    operands = [_wide(context.place(v), context) for v in (a, b)]
    if not element.is_float and element is not boolean:
        operands = [context.cast(p, i32) for p in operands]
    difference = context.elementwise(ark.Sub, operands, dims)
    result = context.cast(difference, f32)
    for _ in range(2):
        scaled = context.times(result, _HUGE)
        result = context.add_number(context.elementwise(ark.Sigmoid, [scaled], scaled.dims), -0.5)
    return context.times(result, 2.0)


def _opposite(truth: BufferPlace, context: ArkContext) -> BufferPlace:
    """Not."""
    return context.add_number(context.times(truth, -1.0), 1.0)


def _above(sign: BufferPlace, context: ArkContext) -> BufferPlace:
    return context.elementwise(ark.Relu, [sign], sign.dims)


def _is_zero(sign: BufferPlace, context: ArkContext) -> BufferPlace:
    square = context.elementwise(ark.Mul, [sign, sign], sign.dims)
    return _above(_opposite(square, context), context)


def _same(a: Value, b: Value, sign: BufferPlace, context: ArkContext) -> BufferPlace:
    """Whether two numbers are equal, by the sign of their difference. Of two equal infinities that is NaN, as it is of
    NaN, but only the latter makes the sum of both NaN.
    """
    if not element_of(a).is_float or any(context.scalar(v) is not None for v in (a, b)):
        return _is_zero(sign, context)
    total = context.elementwise(ark.Add, [_wide(context.place(v), context) for v in (a, b)], sign.dims)
    is_zero = _is_zero(_without_nan(sign, context), context)
    return context.elementwise(ark.Mul, [is_zero, _is_number(total, context)], sign.dims)


def _is_number(x: BufferPlace, context: ArkContext) -> BufferPlace:
    """Whether an element is not NaN: the sigmoid of all others is finite, and `Relu` of NaN is zero."""
    finite = context.elementwise(ark.Sigmoid, [x], x.dims)
    return _above(context.add_number(context.times(finite, 0.0), 1.0), context)


def _infinite(value: Value) -> float | None:
    """The infinity that a constant is everywhere."""
    data = known_data(value)
    number = None if data is None or not data.element.is_float else data.splat()
    return number if isinstance(number, float) and math.isinf(number) else None


def _is_infinite(x: Value, limit: float) -> Value:
    """Whether a number is beyond the largest one, on the side of an infinity."""
    single = core.cast(x, f32)
    near = core.splat(math.copysign(LARGEST, limit), single)
    return core.greater(single, near) if limit > 0 else core.less(single, near)


@rule(core.Comparison)
def comparison(op: core.Comparison, context: ArkContext, a: Value, b: Value) -> Built:
    if isinstance(op, core.Equal | core.NotEqual):
        for x, other in ((a, b), (b, a)):
            limit = _infinite(other)
            if limit is not None and shape_of(x) == shape_of(op.y):
                result = _is_infinite(x, limit)
                return core.logical_not(result) if isinstance(op, core.NotEqual) else result
    shape = shape_of(op.y)
    match op:
        case core.Greater():
            return _above(_sign(a, b, shape, context), context)
        case core.Less():
            return _above(_sign(b, a, shape, context), context)
        case core.Equal():
            return _same(a, b, _sign(a, b, shape, context), context)
        case core.NotEqual():
            return _opposite(_same(a, b, _sign(a, b, shape, context), context), context)
        case core.GreaterEqual() | core.LessEqual():
            first, second = (a, b) if isinstance(op, core.GreaterEqual) else (b, a)
            sign = _sign(first, second, shape, context)
            return context.elementwise(ark.Add, [_above(sign, context), _same(a, b, sign, context)], shape)
        case _:
            return Mismatch(f"there is no rule for {op.name}")


@rule(core.IsInf)
def is_inf(op: core.IsInf, context: ArkContext, x: Value) -> Built:
    x = core.cast(x, f32)
    return core.greater(core.abs(x), core.splat(LARGEST, x))


@rule(core.IsNan)
def is_nan(op: core.IsNan, context: ArkContext, x: Value) -> Built:
    return _opposite(_is_number(_wide(context.place(x), context), context), context)


@rule(core.LogicalNot)
def logical_not(op: core.LogicalNot, context: ArkContext, x: Value) -> Built:
    return _opposite(context.place(x), context)


@rule(core.LogicalAnd)
def logical_and(op: core.LogicalAnd, context: ArkContext, a: Value, b: Value) -> Built:
    return context.elementwise(ark.Mul, [context.place(a), context.place(b)], shape_of(op.y))


@rule(core.LogicalOr)
def logical_or(op: core.LogicalOr, context: ArkContext, a: Value, b: Value) -> Built:
    """a + b - a b."""
    left, right = context.place(a), context.place(b)
    shape = shape_of(op.y)
    both = context.elementwise(ark.Mul, [left, right], shape)
    return context.elementwise(ark.Sub, [context.elementwise(ark.Add, [left, right], shape), both], shape)


@rule(core.LogicalXor)
def logical_xor(op: core.LogicalXor, context: ArkContext, a: Value, b: Value) -> Built:
    difference = context.elementwise(ark.Sub, [context.place(a), context.place(b)], shape_of(op.y))
    return context.elementwise(ark.Mul, [difference, difference], difference.dims)


# -- choices


@rule(core.Select)
def select(op: core.Select, context: ArkContext, condition: Value, a: Value, b: Value) -> Built:
    """A sum of products where both values are surely finite; else by looking each element up, which picks anything."""
    element = element_of(a)
    shape = shape_of(op.y)
    if element is boolean or element.is_integer:
        truth = context.cast(context.place(condition), storage_type(element))
        left, right = context.place(a), context.place(b)
        difference = context.elementwise(ark.Sub, [left, right], shape)
        chosen = context.elementwise(ark.Mul, [truth, difference], shape)
        return context.elementwise(ark.Add, [right, chosen], shape)
    first, second = context.scalar(a), context.scalar(b)
    test = context.owner_of(op.condition)
    if first == 0 and isinstance(test, core.IsNan) and test.x is op.b:
        return _without_nan(context.place(b), context)
    if first == 1 and second == 0:
        return core.broadcast_to(core.cast(condition, element), shape)
    if first == 0 and second == 1:
        return core.broadcast_to(core.cast(core.logical_not(condition), element), shape)
    if _number(a) is not None and _number(b) is not None:
        return _one_of_two(condition, a, b, shape, context)
    if _is_tame(op.a, context) and _number(b) is not None:
        return _masked(condition, a, b)
    if _is_tame(op.b, context) and _number(a) is not None:
        return _masked(core.logical_not(condition), b, a)
    return _looked_up(condition, a, b, shape, context)


def _without_nan(x: BufferPlace, context: ArkContext) -> BufferPlace:
    """Zero in the place of NaN, which is what `Relu` gives for it."""
    above = context.elementwise(ark.Relu, [x], x.dims)
    return context.elementwise(
        ark.Sub, [above, context.elementwise(ark.Relu, [context.times(x, -1.0)], x.dims)], x.dims
    )


def _number(value: Value) -> float | None:
    """The number that a constant is everywhere, also an infinity."""
    data = known_data(value)
    number = None if data is None else data.splat()
    return number if isinstance(number, int | float) else None


def _masked(condition: Value, x: Value, other: Value) -> Value:
    """x where the condition holds, else a number: x is finite, and what it is elsewhere is taken away."""
    element = element_of(x)
    rest = core.select(condition, core.scalar(0.0, element), other)
    if math.isinf(_number(other) or 0.0):
        return core.add(x, rest)
    return core.add(core.mul(x, core.cast(condition, element)), rest)


def _one_of_two(condition: Value, a: Value, b: Value, dims: tuple[int, ...], context: ArkContext) -> BufferPlace:
    """One of two numbers, by the number of the row that holds it."""
    element = element_of(a)
    numbers = [float(_number(v) or 0.0) for v in (b, a)]
    rows = context.constant(data_of(element, (2, 1), numbers), "choices")
    position = context.cast(context.place(condition), i32)
    return looked_up(rows, BufferPlace(position.buffer, position.layout.spread(dims)), dims, context)


def _looked_up(condition: Value, a: Value, b: Value, dims: tuple[int, ...], context: ArkContext) -> BufferPlace:
    """All elements of both in one table, and for each position the number of the row that is chosen."""
    count = math.prod(dims)
    if 2 * count > _EXACT:
        raise refused(f"of {2 * count:,} elements, single precision cannot distinguish them")
    both = context.fresh(element_of(a), (2, *dims))
    for n, value in enumerate((b, a)):
        layout = both.layout.part(0, n, 1).reshaped(dims)
        place = context.place(value)
        if layout is not None:
            context.copy_into(BufferPlace(place.buffer, place.layout.spread(dims)), BufferPlace(both.buffer, layout))
    order = context.constant(data_of_positions(i32, dims), "positions")
    truth = context.place(condition)
    offset = context.cast(context.times(truth, float(count)), i32)
    position = context.elementwise(ark.Add, [offset, order], dims)
    return looked_up(context.reshaped(both, (2 * count, 1)), position, dims, context)


_TAME = (
    core.MatMul, core.Linear, core.Mul, core.Add, core.Sub, core.Neg, core.Movement, core.Concat, core.Split, core.Cast,
    core.Sigmoid, core.Tanh, core.Relu, core.Gather, core.Einsum,
)  # fmt: skip
"""Operations with finite results for finite operands that are not too large for their type."""
_ENDS = (core.MatMul, core.Linear, core.Gather, core.Sigmoid, core.Tanh, core.Einsum)
_MOST_STEPS = 64


def _is_tame(value: Value, context: ArkContext) -> bool:
    """Returns whether a tensor is computed by matrix products and the like, which keep finite values finite."""
    pending = [value]
    for _ in range(_MOST_STEPS):
        if not pending:
            return True
        at = pending.pop()
        owner = context.owner_of(at)
        if known_data(at) is not None:
            number = _number(at)
            if number is None or math.isfinite(number):
                continue
            return False
        if isinstance(owner, core.Div) and _number(owner.b) not in (None, 0):
            pending.append(owner.a)
        elif isinstance(owner, _ENDS):
            continue
        elif isinstance(owner, _TAME):
            pending += owner.operands
        else:
            return False
    return False
