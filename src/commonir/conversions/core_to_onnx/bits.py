"""Rules for shifts of bits, running products and determinants."""

from __future__ import annotations

from commonir.conversions.core_to_onnx.building import cast, constant, scalar
from commonir.conversions.operands import element_of
from commonir.dialects import core, onnx
from commonir.ir.operation import Value
from commonir.ir.types import i64, u32, u64
from commonir.rewrite.legalize import Context, Mismatch, Result, Rule, rule


@rule(core.ShiftLeft)
def shift_left(op: core.ShiftLeft, context: Context, a: Value, b: Value) -> Value:
    return onnx.BitShift(a, b, direction="LEFT").Z


@rule(core.ShiftRight)
def shift_right(op: core.ShiftRight, context: Context, a: Value, b: Value) -> Value:
    return onnx.BitShift(a, b, direction="RIGHT").Z


def _shifted(context: Context, a: Value, b: Value, direction: str) -> Value:
    """Bits that do not stand for a negative number shifted by a number of [0, bits), as unsigned numbers."""
    element = element_of(a)
    wide = u64 if element.bits > u32.bits else u32
    return cast(onnx.BitShift(cast(a, wide), cast(b, wide), direction=direction).Z, element)


def _is_far(context: Context, b: Value) -> Value:
    """Whether a shift leaves nothing of the bits."""
    bits = scalar(context, element_of(b).bits, b)
    return onnx.Or(onnx.Less(b, scalar(context, 0, b)).C, onnx.GreaterOrEqual(b, bits).C).C


def _left_by_unsigned(op: core.ShiftLeft, context: Context, a: Value, b: Value) -> Value:
    """A shift of signed numbers, for versions that shift only unsigned ones."""
    zero, is_far = scalar(context, 0, a), _is_far(context, b)
    near = onnx.Where(is_far, zero, b).output
    return onnx.Where(is_far, zero, _shifted(context, a, near, "LEFT")).output


def _right_by_unsigned(op: core.ShiftRight, context: Context, a: Value, b: Value) -> Value:
    """A shift of signed numbers: of a negative one, its inverted bits are shifted, and inverted again."""
    most = scalar(context, element_of(b).bits - 1, b)
    near = onnx.Where(_is_far(context, b), most, b).output
    is_negative = onnx.Less(a, scalar(context, 0, a)).C
    bits = onnx.Where(is_negative, core.bitwise_not(a), a).output
    moved = _shifted(context, bits, near, "RIGHT")
    return onnx.Where(is_negative, core.bitwise_not(moved), moved).output


SIGNED_SHIFTS: tuple[Rule, ...] = (
    Rule(core.ShiftLeft, _left_by_unsigned),
    Rule(core.ShiftRight, _right_by_unsigned),
)


@rule(core.Det)
def det(op: core.Det, context: Context, x: Value) -> Value:
    return onnx.Det(x).Y


@rule(core.CumProd)
def cumprod(op: core.CumProd, context: Context, x: Value) -> Value:
    axis = constant(context, i64, (), (op.axis,))
    return onnx.CumProd(x, axis, exclusive=op.exclusive, reverse=op.reverse).y


def _cumprod_by_doubling(op: core.CumProd, context: Context, x: Value) -> Result:
    """A running product by products with what lies 1, 2, 4 ... places before, for versions without it."""
    shape = core.tensor_type(x).shape or ()
    axis = core.axis_of(op.axis, len(shape))
    size = shape[axis]
    if not isinstance(size, int):
        return Mismatch(f"a running product along an axis of size {size} needs onnx.CumProd")
    y = core.reverse(x, (axis,)) if op.reverse else x
    if op.exclusive:
        y = _moved(y, axis, 1)
    step = 1
    while step < size:
        y = core.mul(y, _moved(y, axis, step))
        step *= 2
    return core.reverse(y, (axis,)) if op.reverse else y


def _moved(x: Value, axis: int, places: int) -> Value:
    """The elements moved to the end of an axis; ones come in."""
    shape = [n if n is not None else 0 for n in core.tensor_type(x).shape or ()]
    starts, stops = [0] * len(shape), [*shape]
    stops[axis] = shape[axis] - places
    kept = core.slice(x, tuple(starts), tuple(stops), (1,) * len(shape))
    before = [places if n == axis else 0 for n in range(len(shape))]
    return core.pad(kept, tuple(before), (0,) * len(shape), core.PadMode.CONSTANT, 1.0)


CUMULATIVE: tuple[Rule, ...] = (Rule(core.CumProd, _cumprod_by_doubling),)
