"""Operations of the tosa dialect that compute each element from those at the same position.

Axes of size 1 are broadcast; all operands have one rank.
Source: MLIR tosa dialect; TOSA specification 1.0, elementwise operators and activation functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING, ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core, integers, real_functions
from commonir.dialects.mlir.tosa.base import (
    AnyTosaTensor,
    EnumForm,
    FloatTensor,
    NanMode,
    ScalarInt8,
    TosaOp,
    TruthTensor,
    WideIntegerTensor,
    ZeroPoint,
    broadcast,
    element,
    known_number,
    nan_mode,
    number,
    stated_shape,
    stored_element,
    tensor_like,
)
from commonir.dialects.mlir.tosa.numbers import bounds, saturated, widened
from commonir.ir.attributes import Attribute, BoolAttr, FloatAttr, IntegerAttr
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, Type, boolean, i32, i64
from commonir.ods import attr_types, attribute, operand, result, traits
from commonir.ods.broadcasting import ResultsBroadcastableShape
from commonir.ods.text_form import CustomForm
from commonir.ods.traits import Trait
from commonir.ods.type_constraints import is_integer
from commonir.ods.type_rules import (
    SameOperandsAndResultElementType,
    SameOperandsAndResultRank,
    SameOperandsAndResultShape,
    SameOperandsElementType,
)

if TYPE_CHECKING:
    from commonir.dialects.core.base import Function1, Function2

_UNARY: tuple[Trait, ...] = (
    SameOperandsAndResultShape,
    SameOperandsAndResultElementType,
    SameOperandsAndResultRank,
    traits.Elementwise,
)
_BINARY: tuple[Trait, ...] = (
    SameOperandsAndResultElementType,
    SameOperandsAndResultRank,
    ResultsBroadcastableShape,
    traits.Elementwise,
)


class _Unary(TosaOp, traits=_UNARY):
    """A function of one tensor."""

    fn: ClassVar[Function1]

    input1: Value = operand(AnyTosaTensor)
    output: Value = result(AnyTosaTensor)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.operands[0].type,)

    def reference(self, input1: Value) -> Value:
        return type(self).fn(input1)


class _UnaryInput(TosaOp, traits=_UNARY):
    """A function of one tensor, which is called `input`."""

    fn: ClassVar[Function1]

    input: Value = operand(AnyTosaTensor)
    output: Value = result(AnyTosaTensor)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.operands[0].type,)

    def reference(self, input: Value) -> Value:
        return type(self).fn(input)


class _UnaryFloat(TosaOp, traits=_UNARY):
    """A function of one tensor of floats."""

    fn: ClassVar[Function1]

    input1: Value = operand(FloatTensor)
    output: Value = result(FloatTensor)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.operands[0].type,)

    def reference(self, input1: Value) -> Value:
        return type(self).fn(input1)


class _Binary(TosaOp, traits=_BINARY):
    """A function of two tensors."""

    fn: ClassVar[Function2]

    input1: Value = operand(AnyTosaTensor)
    input2: Value = operand(AnyTosaTensor)
    output: Value = result(AnyTosaTensor)

    def infer_results(self) -> tuple[Type, ...] | None:
        return _broadcast_type(self, element(self.input1))

    def reference(self, input1: Value, input2: Value) -> Value:
        return type(self).fn(input1, input2)


def _broadcast_type(op: TosaOp, element_type: ElementType) -> tuple[Type, ...] | None:
    shape = broadcast([stated_shape(v) for v in op.operands])
    return None if shape is None else (tensor_like(element_type, shape),)


# -- one tensor


class Abs(_Unary, name="tosa.abs"):
    """Elementwise absolute value; the least integer stays negative."""

    fn = core.abs


class BitwiseNot(_Unary, name="tosa.bitwise_not"):
    """Elementwise bitwise not."""

    fn = core.bitwise_not


class Ceil(_Unary, name="tosa.ceil"):
    """Rounds each element up."""

    fn = core.ceil


class Clz(_Unary, name="tosa.clz"):
    """Counts the leading zero bits of each element."""

    fn = integers.count_leading_zeros


class Cos(_UnaryFloat, name="tosa.cos"):
    """Elementwise cosine of angles in radians."""

    fn = core.cos


class Erf(_UnaryInput, name="tosa.erf"):
    """Elementwise error function."""

    fn = core.erf


class Exp(_Unary, name="tosa.exp"):
    """Elementwise exponential."""

    fn = core.exp


class Floor(_Unary, name="tosa.floor"):
    """Rounds each element down."""

    fn = core.floor


class Log(_Unary, name="tosa.log"):
    """Elementwise natural logarithm."""

    fn = core.log


class LogicalNot(TosaOp, name="tosa.logical_not", traits=_UNARY):
    """Elementwise logical not."""

    input1: Value = operand(TruthTensor)
    output: Value = result(TruthTensor)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.input1.type,)

    def reference(self, input1: Value) -> Value:
        return core.logical_not(input1)


class Reciprocal(_Unary, name="tosa.reciprocal"):
    """Elementwise reciprocal."""

    folds_splats = True

    fn = core.reciprocal


class Rsqrt(_Unary, name="tosa.rsqrt"):
    """Elementwise reciprocal square root."""

    fn = core.rsqrt


class Sigmoid(_UnaryInput, name="tosa.sigmoid"):
    """Logistic sigmoid: 1 / (1 + exp(-x))."""

    fn = core.sigmoid


class Sin(_UnaryFloat, name="tosa.sin"):
    """Elementwise sine of angles in radians."""

    fn = core.sin


class Tanh(_UnaryInput, name="tosa.tanh"):
    """Elementwise hyperbolic tangent."""

    fn = core.tanh


class Identity(TosaOp, name="tosa.identity"):
    """Returns its operand."""

    input1: Value = operand(AnyTosaTensor)
    output: Value = result(AnyTosaTensor)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.input1.type,)

    def reference(self, input1: Value) -> Value:
        return input1


class Cast(TosaOp, name="tosa.cast", traits=(SameOperandsAndResultShape,)):
    """Converts each element to another type.

    Floats become integers by rounding to the nearest, halves to even, and stay within the range of the type; integers
    that do not fit keep their low bits; what is not zero is true.
    """

    folds_splats = True

    input: Value = operand(AnyTosaTensor)
    output: Value = result(AnyTosaTensor)

    def reference(self, input: Value) -> Value:
        source, expected = element(input), element(self.output)
        if not source.is_float or expected.is_float or expected is boolean:
            return core.cast(input, expected)
        low, high = bounds(expected, unsigned=False)
        rounded = core.round(widened(input))
        held = core.clip(rounded, float(low), float(high))
        built = core.cast(held, expected)
        # The largest integer may be no float: what is not below it is given as the integer.
        built = core.select(core.greater_equal(rounded, core.splat(float(high), rounded)), _like(built, high), built)
        return core.select(core.is_nan(input), _like(built, 0), built)


def _like(x: Value, value: int) -> Value:
    return core.splat(value, x)


class Clamp(TosaOp, name="tosa.clamp", traits=_UNARY):
    """Clamps each element between a minimum and a maximum. C1: the lower bound is not above the upper one, and neither
    is NaN. C2: the bounds are of the element type.
    """

    custom_form: ClassVar[CustomForm | None] = EnumForm()

    input: Value = operand(AnyTosaTensor)
    min_val: Attribute = attribute(number)
    max_val: Attribute = attribute(number)
    nan_mode: NanMode = attribute(nan_mode, default=NanMode.PROPAGATE)
    output: Value = result(AnyTosaTensor)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.input.type,)

    def verify(self) -> Iterator[Diagnostic]:
        low, high, element_type = self.min_val, self.max_val, element(self.input)
        for what, bound in (("min", low), ("max", high)):
            result = boolean if isinstance(bound, BoolAttr) else _type_of(bound)
            if result is not element_type:
                yield self.violated(f"C2: {what}_val is of type {result}, but the elements are of {element_type}")
        a, b = _number(low), _number(high)
        if isnan(a) or isnan(b):
            yield self.violated("C1: min/max attributes should not be 'NaN'")
        elif a > b:
            yield self.violated("C1: min_val must be less than or equal to max_val")

    def reference(self, input: Value) -> Value:
        low, high = _like_number(input, _number(self.min_val)), _like_number(input, _number(self.max_val))
        if element(input).is_float and self.nan_mode is NanMode.IGNORE:
            return real_functions.smaller_number(real_functions.larger_number(input, low), high)
        return core.minimum(core.maximum(input, low), high)


def _like_number(x: Value, value: float) -> Value:
    return core.splat(value if element(x).is_float else int(value), x)


def _type_of(attr: Attribute) -> Type | None:
    return attr.type if isinstance(attr, IntegerAttr | FloatAttr) else None


def _number(attr: Attribute) -> float:
    return attr.value if isinstance(attr, IntegerAttr | FloatAttr | BoolAttr) else 0


class Negate(TosaOp, name="tosa.negate", traits=(traits.Elementwise,)):
    """Negates each element, relative to zero points if it is quantized."""

    input1: Value = operand(AnyTosaTensor)
    input1_zp: Value = operand(ZeroPoint)
    output_zp: Value = operand(ZeroPoint)
    output: Value = result(AnyTosaTensor)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.input1.type,)

    def verify(self) -> Iterator[Diagnostic]:
        for zero, value in ((self.input1_zp, self.input1), (self.output_zp, self.output)):
            if stored_element(zero) is not stored_element(value):
                message = f"expect input1 and input1_zp to have the same element type, got {element(value)}"
                yield self.violated(f"{message} and {element(zero)}")

    def reference(self, input1: Value, input1_zp: Value, output_zp: Value) -> Value:
        element_type = element(input1)
        if element_type.is_float or (
            known_number(input1_zp) == 0 and known_number(output_zp) == 0 and element_type is i32
        ):
            return core.neg(input1)
        x, zero, target = [core.cast(v, i64) for v in (input1, _scalar(input1_zp), _scalar(output_zp))]
        return saturated(core.add(core.sub(zero, x), target), element_type)


def _scalar(x: Value) -> Value:
    return core.reshape(x, ())


# -- two tensors


class Add(_Binary, name="tosa.add", traits=(traits.Commutative,)):
    """Elementwise addition with broadcasting; integers wrap."""

    folds_splats = True

    fn = core.add


class Sub(_Binary, name="tosa.sub"):
    """Elementwise subtraction with broadcasting; integers wrap."""

    folds_splats = True

    fn = core.sub


class BitwiseAnd(_Binary, name="tosa.bitwise_and", traits=(traits.Commutative,)):
    """Elementwise bitwise and."""

    fn = core.bitwise_and


class BitwiseOr(_Binary, name="tosa.bitwise_or", traits=(traits.Commutative,)):
    """Elementwise bitwise or."""

    fn = core.bitwise_or


class BitwiseXor(_Binary, name="tosa.bitwise_xor", traits=(traits.Commutative,)):
    """Elementwise bitwise exclusive or."""

    fn = core.bitwise_xor


class LogicalLeftShift(_Binary, name="tosa.logical_left_shift"):
    """Elementwise left shift."""

    fn = core.shift_left


class LogicalRightShift(_Binary, name="tosa.logical_right_shift"):
    """Elementwise logical right shift, which inserts zeros."""

    fn = integers.shift_right_unsigned


class ArithmeticRightShift(_Binary, name="tosa.arithmetic_right_shift"):
    """Elementwise arithmetic right shift; with `round`, rounded to nearest, halves up."""

    round: bool = attribute(attr_types.flag)

    def reference(self, input1: Value, input2: Value) -> Value:
        shifted = integers.shift_right_signed(input1, input2)
        if not self.round:
            return shifted
        one, zero = core.splat(1, input1), core.splat(0, input1)
        before = core.maximum(core.sub(input2, one), zero)
        lost = core.bitwise_and(integers.shift_right_signed(input1, before), one)
        return core.add(shifted, core.select(core.greater(input2, zero), lost, zero))


class Pow(_Binary, name="tosa.pow"):
    """Elementwise power."""

    fn = core.pow


class _Extreme(_Binary, traits=(traits.Commutative,)):
    """The larger or smaller of two numbers."""

    custom_form: ClassVar[CustomForm | None] = EnumForm()
    number_fn: ClassVar[Function2]

    nan_mode: NanMode = attribute(nan_mode, default=NanMode.PROPAGATE)

    def reference(self, input1: Value, input2: Value) -> Value:
        ignores = element(input1).is_float and self.nan_mode is NanMode.IGNORE
        return (type(self).number_fn if ignores else type(self).fn)(input1, input2)


class Maximum(_Extreme, name="tosa.maximum"):
    """Elementwise maximum; `nan_mode` propagates or ignores NaN."""

    fn = core.maximum
    number_fn = real_functions.larger_number


class Minimum(_Extreme, name="tosa.minimum"):
    """Elementwise minimum; `nan_mode` propagates or ignores NaN."""

    fn = core.minimum
    number_fn = real_functions.smaller_number


class IntDiv(TosaOp, name="tosa.intdiv", traits=_BINARY):
    """Elementwise integer division, truncated toward zero."""

    folds_splats = True

    input1: Value = operand(WideIntegerTensor)
    input2: Value = operand(WideIntegerTensor)
    output: Value = result(WideIntegerTensor)

    def infer_results(self) -> tuple[Type, ...] | None:
        return _broadcast_type(self, element(self.input1))

    def reference(self, input1: Value, input2: Value) -> Value:
        return core.div(input1, input2)


class _Logical(TosaOp, traits=(*_BINARY, traits.Commutative)):
    """A function of two bools."""

    fn: ClassVar[Function2]

    input1: Value = operand(TruthTensor)
    input2: Value = operand(TruthTensor)
    output: Value = result(TruthTensor)

    def infer_results(self) -> tuple[Type, ...] | None:
        return _broadcast_type(self, boolean)

    def reference(self, input1: Value, input2: Value) -> Value:
        return type(self).fn(input1, input2)


class LogicalAnd(_Logical, name="tosa.logical_and"):
    """Elementwise logical and."""

    fn = core.logical_and


class LogicalOr(_Logical, name="tosa.logical_or"):
    """Elementwise logical or."""

    fn = core.logical_or


class LogicalXor(_Logical, name="tosa.logical_xor"):
    """Elementwise logical exclusive or."""

    fn = core.logical_xor


class _Comparison(
    TosaOp, traits=(SameOperandsElementType, SameOperandsAndResultRank, ResultsBroadcastableShape, traits.Elementwise)
):
    """Base class of comparisons; nothing compares with NaN."""

    fn: ClassVar[Function2]

    input1: Value = operand(AnyTosaTensor)
    input2: Value = operand(AnyTosaTensor)
    output: Value = result(TruthTensor)

    def infer_results(self) -> tuple[Type, ...] | None:
        return _broadcast_type(self, boolean)

    def reference(self, input1: Value, input2: Value) -> Value:
        return type(self).fn(input1, input2)


class Equal(_Comparison, name="tosa.equal", traits=(traits.Commutative,)):
    """Tests elementwise whether the operands are equal."""

    folds_splats = True

    fn = core.equal


class Greater(_Comparison, name="tosa.greater"):
    """Tests elementwise whether the first operand is greater."""

    folds_splats = True

    fn = core.greater


class GreaterEqual(_Comparison, name="tosa.greater_equal"):
    """Tests elementwise whether the first operand is greater or equal."""

    folds_splats = True

    fn = core.greater_equal


class Mul(TosaOp, name="tosa.mul"):
    """Elementwise multiplication with broadcasting; products of integers may be shifted right.

    Of 32-bit integers it is computed in 64 bits and divided by two to the power of `shift`, to the nearest and halves
    upward. Narrower integers give 32 bits.

    C1: only products of 32-bit integers are shifted.
    """

    folds_splats = True

    input1: Value = operand(AnyTosaTensor)
    input2: Value = operand(AnyTosaTensor)
    shift: Value = operand(ScalarInt8)
    output: Value = result(AnyTosaTensor)

    def verify(self) -> Iterator[Diagnostic]:
        if element(self.input1) is not element(self.input2):
            kinds_ = f"{element(self.input1)} and {element(self.input2)}"
            yield self.violated(f"requires the same element type for all operands, found {kinds_}")
            return
        yield from self._check_shapes()
        element_type, shift = element(self.input1), known_number(self.shift)
        if element(self.output) is not element_type and not (
            is_integer(element_type) and is_integer(element(self.output))
        ):
            yield self.violated("requires the same element type for all operands and results")
        elif is_integer(element_type) and element(self.output).bits < element_type.bits:
            yield self.violated("invalid data type size for operands or result")
        if shift and element_type is not i32:
            yield self.violated("C1: require shift to be 0 for elements that are not 32-bit integers")

    def _check_shapes(self) -> Iterator[Diagnostic]:
        shapes = [stated_shape(v) for v in (self.input1, self.input2)]
        ranks = [len(s) for s in (*shapes, stated_shape(self.output)) if s is not None]
        if len(set(ranks)) > 1:
            yield self.violated("result type has different rank than operands")
        elif None not in shapes and broadcast(shapes) is None:
            yield self.violated("operands don't have broadcast-compatible shapes")

    def reference(self, input1: Value, input2: Value, shift: Value) -> Value:
        element_type, expected = element(input1), element(self.output)
        if element_type.is_float:
            return core.mul(input1, input2)
        if element_type is not i32:
            return core.mul(core.cast(input1, expected), core.cast(input2, expected))
        product = core.mul(core.cast(input1, i64), core.cast(input2, i64))
        by = core.cast(_scalar(shift), i64)
        if known_number(shift) != 0:
            one, zero = core.splat(1, by), core.splat(0, by)
            half = core.shift_left(one, core.maximum(core.sub(by, one), zero))
            product = core.add(product, core.select(core.greater(by, zero), half, zero))
            product = core.shift_right(product, by)
        return integers.truncated(product, expected)


class Select(
    TosaOp, name="tosa.select", traits=(SameOperandsAndResultRank, ResultsBroadcastableShape, traits.Elementwise)
):
    """Selects elements of the second operand where the first is true, else of the third."""

    input1: Value = operand(TruthTensor)
    input2: Value = operand(AnyTosaTensor)
    input3: Value = operand(AnyTosaTensor)
    output: Value = result(AnyTosaTensor)

    def infer_results(self) -> tuple[Type, ...] | None:
        return _broadcast_type(self, element(self.input2))

    def verify(self) -> Iterator[Diagnostic]:
        result = [element(v) for v in (self.input2, self.input3, self.output)]
        if len(set(result)) > 1:
            yield self.violated(f"expect input2, input3 and output to have one element type, got {result}")

    def reference(self, input1: Value, input2: Value, input3: Value) -> Value:
        return core.select(input1, input2, input3)
