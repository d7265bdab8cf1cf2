"""Rules for core operations on bits: shifts, bits as those of another type, and conversions to types of few bits."""

from __future__ import annotations

from collections.abc import Callable

from commonir.conversions.core_to_onnx.building import cast, scalar
from commonir.conversions.operands import element_of
from commonir.dialects import core, onnx
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, boolean, f8e8m0fnu, i64, u32, u64
from commonir.ods import Op
from commonir.rewrite.legalize import Context, LegalizationRule, Mismatch, Result, rule


@rule(core.ShiftLeft)
def shift_left(op: core.ShiftLeft, context: Context, a: Value, b: Value) -> Value:
    return onnx.BitShift(a, b, direction="LEFT").Z


@rule(core.ShiftRight)
def shift_right(op: core.ShiftRight, context: Context, a: Value, b: Value) -> Value:
    return onnx.BitShift(a, b, direction="RIGHT").Z


def _wide(element: ElementType) -> ElementType:
    return u64 if element.bits > u32.bits else u32


def _shifted(shift: Callable[[Value, Value], Value], a: Value, b: Value) -> Value:
    """Bits that do not stand for a negative number shifted by a number of [0, bits), as unsigned numbers."""
    wide = _wide(element_of(a))
    return cast(shift(cast(a, wide), cast(b, wide)), element_of(a))


def _is_far(context: Context, b: Value) -> Value:
    """Whether a shift leaves nothing of the bits."""
    bits = scalar(context, element_of(b).bits, b)
    return onnx.Or(onnx.Less(b, scalar(context, 0, b)).C, onnx.GreaterOrEqual(b, bits).C).C


def _left_by_unsigned(op: core.ShiftLeft, context: Context, a: Value, b: Value) -> Value:
    """A shift of signed numbers, for versions that shift only unsigned ones."""
    zero, is_far = scalar(context, 0, a), _is_far(context, b)
    near = onnx.Where(is_far, zero, b).output
    return onnx.Where(is_far, zero, _shifted(core.shift_left, a, near)).output


def _right_by_unsigned(op: core.ShiftRight, context: Context, a: Value, b: Value) -> Value:
    """A shift of signed numbers: of a negative one, its inverted bits are shifted, and inverted again."""
    most = scalar(context, element_of(b).bits - 1, b)
    near = onnx.Where(_is_far(context, b), most, b).output
    is_negative = onnx.Less(a, scalar(context, 0, a)).C
    bits = onnx.Where(is_negative, core.bitwise_not(a), a).output
    moved = _shifted(core.shift_right, bits, near)
    return onnx.Where(is_negative, core.bitwise_not(moved), moved).output


def _entry(table: tuple[int, ...], b: Value) -> Value:
    """Returns the entries of a table at the numbers of an unsigned tensor; the last one for all that are greater."""
    last, wide = len(table) - 1, _wide(element_of(b))
    is_inside = core.less(b, core.splat(last, b))
    return core.gather(core.vector(table, wide), core.select(is_inside, core.cast(b, i64), core.scalar(last, i64)), 0)


def _left_by_product(op: core.ShiftLeft, context: Context, a: Value, b: Value) -> Result:
    """A shift of unsigned numbers, for versions without shifts: a product wraps around."""
    element = element_of(a)
    if element.kind != "uint":
        return Mismatch("numbers with a sign are shifted as unsigned ones")
    factors = tuple([1 << n for n in range(element.bits)])
    return cast(core.mul(cast(a, _wide(element)), _entry((*factors, 0), b)), element)


def _right_by_quotient(op: core.ShiftRight, context: Context, a: Value, b: Value) -> Result:
    """A shift of unsigned numbers, for versions without shifts."""
    element = element_of(a)
    if element.kind != "uint":
        return Mismatch("numbers with a sign are shifted as unsigned ones")
    divisors = tuple([1 << n for n in range(element.bits)])
    quotient = core.div(cast(a, _wide(element)), _entry(divisors, b))
    return cast(core.mul(quotient, _entry((1,) * element.bits + (0,), b)), element)


@rule(core.BitwiseNot)
def inverted(op: core.BitwiseNot, context: Context, x: Value) -> Result:
    """For versions without the operator: what remains to the number of which all bits are set."""
    element = element_of(x)
    if not element.is_integer:
        return Mismatch("a bool is inverted otherwise")
    return core.sub(core.splat(-1 if element.kind == "int" else (1 << element.bits) - 1, x), x)


def _common_bits(a: Value, b: Value, count: int) -> Value:
    """The first bits that are set in both of two integers of 64 bits, found one by one along a new axis."""
    # Runtimes add integers as if they were double precision, and only signed ones: 32 bits at a time are exact.
    low = _sum_of_common_bits(a, b, 0, min(count, 32))
    if count <= u32.bits:
        return low
    high = _sum_of_common_bits(a, b, 32, count - 32)
    return core.add(core.mul(high, core.scalar(1 << 32, i64)), low)


def _sum_of_common_bits(a: Value, b: Value, first: int, count: int) -> Value:
    """Some bits that are set in both numbers, as the number that they make."""
    places, two = core.vector(tuple(range(first, first + count)), u64), core.scalar(2, u64)
    bits = [core.mod(core.shift_right(core.unsqueeze(core.cast(v, u64), (-1,)), places), two) for v in (a, b)]
    both = core.cast(core.mul(*bits), i64)
    return core.reduce_sum(core.mul(both, core.vector(tuple([1 << n for n in range(count)]), i64)), (-1,))


def _by_arithmetic(of_sum: int) -> Callable[..., Result]:
    """A rule for versions without the operator: a sum less the bits in common, so many times, or these alone for 0."""

    def build(op: Op, context: Context, a: Value, b: Value) -> Result:
        element = element_of(a)
        if not element.is_integer:
            return Mismatch("bools are combined otherwise")
        first, second = cast(a, i64), cast(b, i64)
        both = _common_bits(first, second, element.bits)
        result = core.add(first, second) if of_sum else both
        for _ in range(of_sum):
            result = core.sub(result, both)
        return cast(result, element)

    return build


ARITHMETIC: tuple[LegalizationRule, ...] = (
    LegalizationRule(core.BitwiseAnd, _by_arithmetic(0)),
    LegalizationRule(core.BitwiseOr, _by_arithmetic(1)),
    LegalizationRule(core.BitwiseXor, _by_arithmetic(2)),
)
"""Bits of integers, for versions that have no operators for them. Sums wrap around."""


SIGNED_SHIFTS: tuple[LegalizationRule, ...] = (
    LegalizationRule(core.ShiftLeft, _left_by_unsigned),
    LegalizationRule(core.ShiftRight, _right_by_unsigned),
)
UNSIGNED_SHIFTS: tuple[LegalizationRule, ...] = (
    LegalizationRule(core.ShiftLeft, _left_by_product),
    LegalizationRule(core.ShiftRight, _right_by_quotient),
)
"""Shifts for versions that have none."""


@rule(core.NarrowCast)
def narrow_cast(op: core.NarrowCast, context: Context, x: Value) -> Value:
    if not op.to.is_integer:
        round_mode = op.toward.value if op.to is f8e8m0fnu else "up"
        return onnx.Cast(x, to=op.to, saturate=op.saturate, round_mode=round_mode).output
    # Beyond the range ONNX says what a conversion from integers gives, and not what one from floats gives.
    is_exact = element_of(x).is_integer or element_of(x) is boolean
    return onnx.Cast(x if is_exact else cast(x, i64), to=op.to).output


@rule(core.BitCast)
def bit_cast(op: core.BitCast, context: Context, x: Value) -> Value:
    if (element_of(x).is_integer or element_of(x) is boolean) and op.to.is_integer:
        return cast(x, op.to)  # which keeps the bits
    return onnx.BitCast(x, to=op.to).output
