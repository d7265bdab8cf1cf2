"""Operations of the stablehlo dialect that compute each element from those at the same position.

There is no broadcasting: operands have one shape, except for documented scalars.
Source: StableHLO specification, elementwise operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import complex_numbers, core, integers, real_functions
from commonir.dialects.mlir.stablehlo import forms
from commonir.dialects.mlir.stablehlo.accuracy import result_faults
from commonir.dialects.mlir.stablehlo.base import (
    Analytic,
    AnyHlo,
    AnyQuantizedToo,
    CompatibleTypes,
    Complexes,
    Floats,
    FloatsOrComplexes,
    FloatsOrQuantized,
    HloOp,
    Integers,
    NonQuantized,
    Numbers,
    SignedNumbers,
    SignedReals,
    Truths,
    TruthsOrIntegers,
    WideFloats,
    dialect_attribute,
    element,
    is_quantized,
    kind_of,
    like,
    stated_shape,
)
from commonir.dialects.mlir.stablehlo.bits import as_type
from commonir.dialects.mlir.stablehlo.number_types import (
    by_kind,
    complex_splat,
    is_complex_value,
    is_truth,
    is_unsigned,
    lexicographic,
    negated,
    number_as,
    zero,
    zero_like,
)
from commonir.dialects.mlir.stablehlo.quantization import added_faults
from commonir.ir.attributes import Attribute, DialectAttr
from commonir.ir.operation import Value
from commonir.ir.types import ComplexType, ElementType, Type, boolean, integer_type
from commonir.ods import attribute, operand, result, traits
from commonir.ods.text_form import CustomForm
from commonir.ods.type_rules import SameOperandsAndResultShape, SameOperandsElementType

if TYPE_CHECKING:
    from commonir.dialects.core.base import Function1, Function2

# -- one operand


class _Unary(HloOp, traits=(traits.Elementwise, traits.Pure, CompatibleTypes)):
    """A function of one tensor."""

    custom_form: ClassVar[CustomForm | None] = forms.SAME_FORM

    fn: ClassVar[Function1]


class _Analytic(_Unary):
    """A function of floats or complex numbers, whose accuracy may be asked for, which changes nothing here."""

    implied: ClassVar[Mapping[str, Attribute]] = {
        "result_accuracy": DialectAttr(
            "stablehlo", "result_accuracy", "mode = #stablehlo.result_accuracy_mode<DEFAULT>"
        )
    }

    operand: Value = operand(Analytic)
    result_accuracy: Attribute | None = attribute(dialect_attribute, default=None)
    result_: Value = result(Analytic)

    def verify(self) -> Iterator[Diagnostic]:
        yield from map(self.violated, result_faults(self.result_accuracy))

    def reference(self, operand: Value) -> Value:
        return type(self).fn(operand)


class Cbrt(_Analytic, name="stablehlo.cbrt"):
    """Elementwise cube root."""

    fn = by_kind(real_functions.cbrt, lambda x: complex_numbers.power(x, complex_splat(1 / 3, x)))


class Cosine(_Analytic, name="stablehlo.cosine"):
    """Elementwise cosine of angles in radians."""

    fn = by_kind(core.cos, complex_numbers.cosine)


class Exp(_Analytic, name="stablehlo.exponential"):
    """Elementwise exponential."""

    fn = by_kind(core.exp, complex_numbers.exponential)


class Expm1(_Analytic, name="stablehlo.exponential_minus_one"):
    """Elementwise exponential minus one, accurate near zero."""

    fn = by_kind(real_functions.expm1, complex_numbers.exponential_less_one)


class Log(_Analytic, name="stablehlo.log"):
    """Elementwise natural logarithm."""

    fn = by_kind(core.log, complex_numbers.logarithm)


class Log1p(_Analytic, name="stablehlo.log_plus_one"):
    """Elementwise natural logarithm of one plus the operand, accurate near zero."""

    fn = by_kind(real_functions.log1p, complex_numbers.logarithm_of_one_more)


def _complex_logistic(x: Value) -> Value:
    one = complex_splat(1.0, x)
    return complex_numbers.quotient(one, core.add(one, complex_numbers.exponential(negated(x))))


class Logistic(_Analytic, name="stablehlo.logistic"):
    """Logistic sigmoid: 1 / (1 + exp(-x))."""

    fn = by_kind(core.sigmoid, _complex_logistic)


class Rsqrt(_Analytic, name="stablehlo.rsqrt"):
    """Elementwise reciprocal square root."""

    fn = by_kind(core.rsqrt, complex_numbers.reciprocal_root)


class Sine(_Analytic, name="stablehlo.sine"):
    """Elementwise sine of angles in radians."""

    fn = by_kind(core.sin, complex_numbers.sine)


class Sqrt(_Analytic, name="stablehlo.sqrt"):
    """Elementwise square root."""

    fn = by_kind(core.sqrt, complex_numbers.square_root)


class Tan(_Analytic, name="stablehlo.tan"):
    """Elementwise tangent of angles in radians."""

    fn = by_kind(core.tan, complex_numbers.tangent)


class Tanh(_Analytic, name="stablehlo.tanh"):
    """Elementwise hyperbolic tangent."""

    fn = by_kind(core.tanh, complex_numbers.hyperbolic_tangent)


class _Rounding(_Unary):
    """A function of floats that gives integers."""

    operand: Value = operand(FloatsOrQuantized)
    result_: Value = result(FloatsOrQuantized)

    def reference(self, operand: Value) -> Value:
        return type(self).fn(operand)


class Ceil(_Rounding, name="stablehlo.ceil"):
    """Rounds each element up."""

    fn = core.ceil


class Floor(_Rounding, name="stablehlo.floor"):
    """Rounds each element down."""

    fn = core.floor


class Round(_Rounding, name="stablehlo.round_nearest_afz"):
    """Rounds each element to the nearest integer, halves away from zero."""

    fn = real_functions.round_away


class RoundNearestEven(_Rounding, name="stablehlo.round_nearest_even"):
    """Rounds each element to the nearest integer, halves to even."""

    fn = core.round


class _OfIntegers(_Unary):
    """A function of the bits of integers."""

    operand: Value = operand(Integers)
    result_: Value = result(Integers)

    def reference(self, operand: Value) -> Value:
        return type(self).fn(operand)


class Clz(_OfIntegers, name="stablehlo.count_leading_zeros"):
    """Counts the leading zero bits of each element."""

    fn = integers.count_leading_zeros


class PopulationCount(_OfIntegers, name="stablehlo.popcnt"):
    """Counts the bits that are set in each element."""

    fn = integers.count_ones


class Not(_Unary, name="stablehlo.not"):
    """Elementwise logical not of booleans, bitwise not of integers."""

    operand: Value = operand(TruthsOrIntegers)
    result_: Value = result(TruthsOrIntegers)

    def reference(self, operand: Value) -> Value:
        return core.logical_not(operand) if is_truth(operand) else core.bitwise_not(operand)


class Neg(_Unary, name="stablehlo.negate"):
    """Negates each element; unsigned integers wrap."""

    operand: Value = operand(Numbers)
    result_: Value = result(Numbers)

    def reference(self, operand: Value) -> Value:
        return negated(operand)


class Sign(_Unary, name="stablehlo.sign"):
    """Sign of each element: 1, -1 or 0; of complex numbers x / |x|."""

    operand: Value = operand(SignedNumbers)
    result_: Value = result(SignedNumbers)

    def reference(self, operand: Value) -> Value:
        if is_complex_value(operand):
            return complex_numbers.direction(operand)
        result = core.sign(operand)
        if not kind_of(operand).is_float:
            return result
        # Zeros keep their sign, and NaN is NaN.
        keeps = core.logical_or(core.is_nan(operand), core.equal(operand, zero(operand)))
        return core.select(keeps, operand, result)


def _part(type: Type) -> Type:
    return type.part if isinstance(type, ComplexType) else type


class _ToReal(HloOp, traits=(traits.Elementwise, traits.Pure, SameOperandsAndResultShape)):
    """A real number of a complex one."""

    custom_form: ClassVar[CustomForm | None] = forms.SAME_FORM

    def infer_results(self) -> tuple[Type, ...] | None:
        (given,) = self.operands
        if is_quantized(element(given)):
            return None  # the result has scales of its own
        return (like(given.type, stated_shape(given), _part(element(given))),)


class Abs(_ToReal, name="stablehlo.abs"):
    """Absolute value; the magnitude of complex numbers."""

    operand: Value = operand(SignedNumbers)
    result_: Value = result(SignedReals)

    def reference(self, operand: Value) -> Value:
        return complex_numbers.magnitude(operand) if is_complex_value(operand) else core.abs(operand)


class Real(_ToReal, name="stablehlo.real"):
    """Real part of each element."""

    operand: Value = operand(FloatsOrComplexes)
    result_: Value = result(Floats)

    def reference(self, operand: Value) -> Value:
        return core.real(operand) if is_complex_value(operand) else operand


class Imag(_ToReal, name="stablehlo.imag"):
    """Imaginary part of each element."""

    operand: Value = operand(FloatsOrComplexes)
    result_: Value = result(Floats)

    def reference(self, operand: Value) -> Value:
        return core.imag(operand) if is_complex_value(operand) else zero_like(operand)


class IsFinite(HloOp, name="stablehlo.is_finite", traits=(traits.Elementwise, traits.Pure, SameOperandsAndResultShape)):
    """Tests each element for a finite number."""

    assembly = "operands attr-dict `:` functional-type(operands, results)"

    x: Value = operand(FloatsOrQuantized)
    y: Value = result(Truths)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (like(self.x.type, stated_shape(self.x), boolean),)

    def reference(self, x: Value) -> Value:
        return real_functions.is_finite(x)


class Convert(HloOp, name="stablehlo.convert", traits=(traits.Elementwise, traits.Pure, SameOperandsAndResultShape)):
    """Converts each element to another type.

    Floats become integers without their fraction; integers that do not fit keep their low bits; what is not zero is
    true; a real number has the imaginary part 0, and of a complex one the real part is taken.
    """

    custom_form: ClassVar[CustomForm | None] = forms.SAME_FORM

    operand: Value = operand(NonQuantized)
    result_: Value = result(NonQuantized)

    def reference(self, operand: Value) -> Value:
        expected = element(self.result_)
        assert isinstance(expected, ElementType)
        return number_as(operand, expected)


# -- two operands


class _Binary(HloOp, traits=(traits.Elementwise, traits.Pure, CompatibleTypes)):
    """A function of two tensors of one shape."""

    custom_form: ClassVar[CustomForm | None] = forms.SAME_FORM


class _OfAll(_Binary):
    """A function of two tensors of any elements."""

    lhs: Value = operand(AnyHlo)
    rhs: Value = operand(AnyHlo)
    result_: Value = result(AnyHlo)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return self.computed(lhs, rhs)

    def computed(self, lhs: Value, rhs: Value) -> Value:
        """The function."""
        raise NotImplementedError


class Add(_Binary, name="stablehlo.add", traits=(traits.Commutative,)):
    """Elementwise addition; integers wrap, booleans are combined by logical or."""

    lhs: Value = operand(AnyQuantizedToo)
    rhs: Value = operand(AnyQuantizedToo)
    result_: Value = result(AnyQuantizedToo)

    def verify(self) -> Iterator[Diagnostic]:
        yield from map(self.violated, added_faults(self.lhs, self.rhs, self.result_))

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return core.logical_or(lhs, rhs) if is_truth(lhs) else core.add(lhs, rhs)


class Max(_OfAll, name="stablehlo.maximum", traits=(traits.Commutative,)):
    """Elementwise maximum that propagates NaN; complex numbers compare by real, then by imaginary part."""

    def computed(self, lhs: Value, rhs: Value) -> Value:
        if is_truth(lhs):
            return core.logical_or(lhs, rhs)
        return lexicographic(core.greater, lhs, rhs) if is_complex_value(lhs) else core.maximum(lhs, rhs)


class Min(_OfAll, name="stablehlo.minimum", traits=(traits.Commutative,)):
    """Elementwise minimum that propagates NaN; complex numbers compare by real, then by imaginary part."""

    def computed(self, lhs: Value, rhs: Value) -> Value:
        if is_truth(lhs):
            return core.logical_and(lhs, rhs)
        return lexicographic(core.less, lhs, rhs) if is_complex_value(lhs) else core.minimum(lhs, rhs)


class Mul(_OfAll, name="stablehlo.multiply", traits=(traits.Commutative,)):
    """Elementwise multiplication; integers wrap, booleans are combined by logical and."""

    def computed(self, lhs: Value, rhs: Value) -> Value:
        if is_truth(lhs):
            return core.logical_and(lhs, rhs)
        return complex_numbers.product(lhs, rhs) if is_complex_value(lhs) else core.mul(lhs, rhs)


class _OfNumbers(_Binary):
    """A function of two tensors of numbers."""

    lhs: Value = operand(Numbers)
    rhs: Value = operand(Numbers)
    result_: Value = result(Numbers)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return self.computed(lhs, rhs)

    def computed(self, lhs: Value, rhs: Value) -> Value:
        """The function."""
        raise NotImplementedError


class Subtract(_OfNumbers, name="stablehlo.subtract"):
    """Elementwise subtraction; integers wrap."""

    def computed(self, lhs: Value, rhs: Value) -> Value:
        return core.sub(lhs, rhs)


class Div(_OfNumbers, name="stablehlo.divide"):
    """Elementwise division; integers are truncated toward zero."""

    def computed(self, lhs: Value, rhs: Value) -> Value:
        return complex_numbers.quotient(lhs, rhs) if is_complex_value(lhs) else core.div(lhs, rhs)


class Rem(_OfNumbers, name="stablehlo.remainder"):
    """Elementwise remainder of a truncating division; it has the sign of the dividend."""

    def computed(self, lhs: Value, rhs: Value) -> Value:
        return core.remainder(lhs, rhs)


class Pow(_OfNumbers, name="stablehlo.power"):
    """Elementwise power."""

    def computed(self, lhs: Value, rhs: Value) -> Value:
        if is_complex_value(lhs):
            return complex_numbers.power(lhs, rhs)
        return core.pow(lhs, rhs) if kind_of(lhs).is_float or is_unsigned(lhs) else integers.power(lhs, rhs)


class Atan2(_Binary, name="stablehlo.atan2"):
    """Arc tangent of lhs / rhs in the quadrant of the point (rhs, lhs), in radians."""

    lhs: Value = operand(Analytic)
    rhs: Value = operand(Analytic)
    result_: Value = result(Analytic)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return complex_numbers.arc_tangent_of_two(lhs, rhs) if is_complex_value(lhs) else real_functions.atan2(lhs, rhs)


class _Bits(_Binary, traits=(traits.Commutative,)):
    """A function of bools or of bits."""

    of_truths: ClassVar[Function2]
    of_bits: ClassVar[Function2]

    lhs: Value = operand(TruthsOrIntegers)
    rhs: Value = operand(TruthsOrIntegers)
    result_: Value = result(TruthsOrIntegers)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return type(self).of_truths(lhs, rhs) if is_truth(lhs) else type(self).of_bits(lhs, rhs)


class And(_Bits, name="stablehlo.and"):
    """Elementwise logical and of booleans, bitwise and of integers."""

    of_truths = core.logical_and
    of_bits = core.bitwise_and


class Or(_Bits, name="stablehlo.or"):
    """Elementwise logical or of booleans, bitwise or of integers."""

    of_truths = core.logical_or
    of_bits = core.bitwise_or


class Xor(_Bits, name="stablehlo.xor"):
    """Elementwise logical exclusive or of booleans, bitwise exclusive or of integers."""

    of_truths = core.logical_xor
    of_bits = core.bitwise_xor


class _Shift(_Binary):
    """Bits moved by a distance; at a distance of the width or more, all are moved out."""

    lhs: Value = operand(Integers)
    rhs: Value = operand(Integers)
    result_: Value = result(Integers)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        width = kind_of(lhs).bits
        inside = core.less(integers.as_unsigned(rhs), core.splat(width, integers.as_unsigned(rhs)))
        near = core.select(inside, rhs, zero(rhs))
        return self.moved(lhs, near, inside)

    def moved(self, x: Value, distance: Value, inside: Value) -> Value:
        """The bits moved, where the distance is inside of the width."""
        raise NotImplementedError


class ShiftLeft(_Shift, name="stablehlo.shift_left"):
    """Elementwise left shift."""

    def moved(self, x: Value, distance: Value, inside: Value) -> Value:
        return core.select(inside, integers.shift_left_of(x, distance), zero(x))


class ShiftRightArithmetic(_Shift, name="stablehlo.shift_right_arithmetic"):
    """Elementwise arithmetic right shift, which copies the sign bit."""

    def moved(self, x: Value, distance: Value, inside: Value) -> Value:
        signed = x
        if is_unsigned(x):
            signed, distance = [core.bit_cast(v, integer_type(kind_of(x).bits)) for v in (x, distance)]
        far = core.splat(kind_of(signed).bits - 1, distance)
        return as_type(core.shift_right(signed, core.select(inside, distance, far)), kind_of(x))


class ShiftRightLogical(_Shift, name="stablehlo.shift_right_logical"):
    """Elementwise logical right shift, which inserts zeros."""

    def moved(self, x: Value, distance: Value, inside: Value) -> Value:
        return core.select(inside, integers.shift_right_unsigned(x, distance), zero(x))


class Complex(
    HloOp,
    name="stablehlo.complex",
    traits=(traits.Elementwise, traits.Pure, SameOperandsElementType, SameOperandsAndResultShape),
):
    """Creates complex numbers from real and imaginary parts."""

    custom_form: ClassVar[CustomForm | None] = forms.WordsForm(types=forms.ComplexTypes())

    lhs: Value = operand(WideFloats)
    rhs: Value = operand(WideFloats)
    result_: Value = result(Complexes)

    def infer_results(self) -> tuple[Type, ...] | None:
        part = element(self.lhs)
        if not isinstance(part, ElementType):
            return None
        return (like(self.lhs.type, stated_shape(self.lhs), ComplexType(part)),)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return core.make_complex(lhs, rhs)
