"""The complex dialect of MLIR: arithmetic and functions of single complex numbers.

Results may differ from the exact ones by some units in the last place; near branch cuts they follow the formulas.
Source: MLIR complex dialect.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from commonir.base.codes import WRONG_ATTRIBUTE, WRONG_TYPE
from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import complex_numbers, core
from commonir.dialects.mlir.number_attributes import FastMath, fastmath
from commonir.dialects.mlir.number_functions import FloatBinary
from commonir.ir.attributes import ArrayAttr, Attribute, BoolAttr, FloatAttr, IntegerAttr
from commonir.ir.core_types import core_type
from commonir.ir.data import Data, InlineData
from commonir.ir.operation import Operation, Value
from commonir.ir.types import ComplexType, ElementType, TensorType, Type, boolean
from commonir.ods import Dialect, MlirOp, attr_types, attribute, definitions_in, operand, result, traits
from commonir.ods.own_forms import own_forms
from commonir.ods.type_constraints import (
    I1,
    AnyComplex,
    AnyFloat,
    AnySignlessInteger,
    AnyType,
    complex_of,
    is_float,
    is_signless,
)
from commonir.ods.type_rules import (
    SameOperandsAndResultShape,
    SameOperandsAndResultType,
    all_types_match,
    types_match_with,
)
from commonir.symbolic.errors import NotationError

if TYPE_CHECKING:
    from commonir.dialects.core.base import Function1

FloatComplex = complex_of(AnyFloat)


def _part_of(type: Type) -> Type | None:
    return type.part if isinstance(type, ComplexType) else None


def _part_matches(target: str) -> traits.Trait:
    """A result that has the type of the parts of the operand."""
    return types_match_with("complex element type matches result type", "complex", target, _part_of)


class ComplexOp(MlirOp, traits=(traits.Pure,)):
    """Base of the operations of the complex dialect."""

    def folds(self, operands: Sequence[Data]) -> bool:
        del operands
        return isinstance(self, Re | Im)


class _OfComplex(
    ComplexOp,
    traits=(traits.Elementwise,),
    assembly="$complex (`fastmath` `` $fastmath^)? attr-dict `:` type($complex)",
):
    """A function of one number."""

    fn: ClassVar[Function1]

    complex: Value = operand(FloatComplex)
    fastmath: FastMath = attribute(fastmath, default=FastMath.NONE)

    def reference(self, complex: Value) -> Value:
        return type(self).fn(complex)


class _Unary(_OfComplex, traits=(SameOperandsAndResultType,)):
    """A function of one number."""

    result_: Value = result(FloatComplex)


class _Binary(FloatBinary, ComplexOp):
    """A function of two numbers."""

    lhs: Value = operand(FloatComplex)
    rhs: Value = operand(FloatComplex)
    result_: Value = result(FloatComplex)


class _ToReal(_OfComplex, traits=(_part_matches("result_"),)):
    """A real number of a complex one."""

    result_: Value = result(AnyFloat)


class Abs(_ToReal, name="complex.abs"):
    """Absolute value of a complex number."""

    fn = staticmethod(complex_numbers.magnitude)


class Angle(_ToReal, name="complex.angle"):
    """Argument (phase angle) of a complex number."""

    fn = staticmethod(complex_numbers.angle)


class Re(_OfComplex, name="complex.re", traits=(_part_matches("real"),)):
    """Real part of a complex number."""

    real: Value = result(AnyFloat)
    fn = staticmethod(core.real)

    def fold(self) -> Value | None:
        source = self.complex.owner
        return source.real if isinstance(source, Operation) and isinstance(source, Create) else None


class Im(_OfComplex, name="complex.im", traits=(_part_matches("imaginary"),)):
    """Imaginary part of a complex number."""

    imaginary: Value = result(AnyFloat)
    fn = staticmethod(core.imag)

    def fold(self) -> Value | None:
        source = self.complex.owner
        return source.imaginary if isinstance(source, Operation) and isinstance(source, Create) else None


class Create(
    ComplexOp,
    name="complex.create",
    traits=(
        all_types_match("real", "imaginary"),
        types_match_with("complex element type matches real operand type", "complex", "real", _part_of),
        types_match_with("complex element type matches imaginary operand type", "complex", "imaginary", _part_of),
    ),
    assembly="$real `,` $imaginary attr-dict `:` type($complex)",
):
    """Creates a complex number from a real and an imaginary part."""

    real: Value = operand(AnyFloat)
    imaginary: Value = operand(AnyFloat)
    complex: Value = result(FloatComplex)

    def infer_results(self) -> tuple[Type, ...] | None:
        type = self.real.type
        return (ComplexType(type),) if isinstance(type, ElementType) else None

    def reference(self, real: Value, imaginary: Value) -> Value:
        return core.make_complex(real, imaginary)


class Constant(
    ComplexOp, name="complex.constant", traits=(traits.ConstantLike,), assembly="$value attr-dict `:` type($complex)"
):
    """A compile-time complex constant: an array of its real and imaginary part. C1: the array has two floating-point
    numbers or two integers. C2: they have the type of the parts of the result.
    """

    result_name = "cst"

    value: Attribute = attribute(attr_types.any_attribute)
    complex: Value = result(AnyComplex)

    @property
    def parts(self) -> tuple[FloatAttr | IntegerAttr | BoolAttr, ...]:
        """Its real and its imaginary part; none when the array does not say them."""
        result = self.value.values if isinstance(self.value, ArrayAttr) else ()
        numbers = tuple([v for v in result if isinstance(v, FloatAttr | IntegerAttr | BoolAttr)])
        return numbers if len(numbers) == len(result) == 2 else ()

    def constant_data(self) -> Data | None:
        type = core_type(self.complex.type)
        part, parts = _part_of(self.complex.type), [p for p in self.parts if isinstance(p, FloatAttr)]
        codes = [p.bits.to_bytes(p.type.bits // 8, "little") for p in parts if p.type is part and not p.type.bits % 8]
        if not isinstance(type, TensorType) or len(codes) != 2:
            return None
        return InlineData(type, b"".join(codes))

    def verify(self) -> Iterable[Diagnostic]:
        parts = self.parts
        if not parts:
            message = f"{self.name}: C1: requires 'value' to be a complex constant, represented as array of two values"
            yield Diagnostic(WRONG_ATTRIBUTE, message)
            return
        expected = _part_of(self.complex.type)
        first, second = [boolean if isinstance(p, BoolAttr) else p.type for p in parts]
        if first is not expected or second is not expected:
            message = (
                f"{self.name}: C2: requires attribute's element types ({first}, {second}) to match the"
                f" element type of the op's return type ({expected})"
            )
            yield Diagnostic(WRONG_TYPE, message)

    def reference(self) -> Value:
        parts = [p for p in self.parts if isinstance(p, FloatAttr)]
        if not parts:
            raise NotationError(f"the core has no constant {self.value}")
        first, second = [core.scalar(float(p.value), p.type) for p in parts]
        return core.make_complex(first, second)


class Bitcast(ComplexOp, name="complex.bitcast", assembly="$operand attr-dict `:` type($operand) `to` type($result)"):
    """Reinterprets the bits of a complex number as a float or an integer of the same width, or the reverse. C1: one
    side is complex, the other a float or an integer, unless both are of one type. C2: both have the same width.
    """

    operand: Value = operand(AnyType)
    result_: Value = result(AnyType)

    def verify(self) -> Iterable[Diagnostic]:
        source, target = self.operand.type, self.result_.type
        plain = [t for t in (source, target) if is_float(t) or is_signless(t)]
        pairs = [t for t in (source, target) if isinstance(t, ComplexType)]
        if source is target:
            return
        if len(pairs) + len(plain) != 2 or not pairs:
            message = f"{self.name}: C1: cannot cast {source} to {target}: one of them must be complex"
            yield Diagnostic(WRONG_TYPE, message)
        elif _bits(source) != _bits(target):
            message = f"{self.name}: C2: casting bitwidths do not match, found {source} and {target}"
            yield Diagnostic(WRONG_TYPE, message)

    def fold(self) -> Value | None:
        return self.operand if self.operand.type is self.result_.type else None

    def reference(self, operand: Value) -> Value:
        target = self.result_.type
        if not isinstance(target, ElementType):
            raise NotationError(f"the core has no bits of {target}")
        return core.bit_cast(operand, target)


def _bits(type: Type) -> int:
    return type.bits if isinstance(type, ElementType) else 0


class _Comparison(
    ComplexOp,
    traits=(all_types_match("lhs", "rhs"), traits.Elementwise),
    assembly="$lhs `,` $rhs attr-dict `:` type($lhs)",
):
    lhs: Value = operand(FloatComplex)
    rhs: Value = operand(FloatComplex)
    result_: Value = result(I1)


class Equal(_Comparison, name="complex.eq"):
    """Tests complex numbers for equality: both parts are equal."""

    def reference(self, lhs: Value, rhs: Value) -> Value:
        same = core.equal(core.imag(lhs), core.imag(rhs))
        return core.logical_and(core.equal(core.real(lhs), core.real(rhs)), same)


class NotEqual(_Comparison, name="complex.neq"):
    """Tests complex numbers for inequality: a part differs or is NaN."""

    def reference(self, lhs: Value, rhs: Value) -> Value:
        differs = core.not_equal(core.imag(lhs), core.imag(rhs))
        return core.logical_or(core.not_equal(core.real(lhs), core.real(rhs)), differs)


class Add(_Binary, name="complex.add", traits=(traits.Commutative,)):
    """Complex addition."""

    fn = staticmethod(core.add)


class Sub(_Binary, name="complex.sub"):
    """Complex subtraction."""

    fn = staticmethod(core.sub)


class Mul(_Binary, name="complex.mul", traits=(traits.Commutative,)):
    """Complex multiplication."""

    fn = staticmethod(complex_numbers.product)


class Div(_Binary, name="complex.div"):
    """Complex division."""

    fn = staticmethod(complex_numbers.quotient)


class Pow(_Binary, name="complex.pow"):
    """Raises a complex number to a complex power."""

    fn = staticmethod(complex_numbers.power)


class Atan2(_Binary, name="complex.atan2"):
    """Complex arc tangent of two numbers a and b: -i log((b + i a) / sqrt(a^2 + b^2))."""

    fn = staticmethod(complex_numbers.arc_tangent_of_two)


class Powi(
    ComplexOp,
    name="complex.powi",
    traits=(SameOperandsAndResultShape, all_types_match("lhs", "result_"), traits.Elementwise),
    assembly="$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result) `,` type($rhs)",
):
    """Raises a complex number to a signed integer power."""

    lhs: Value = operand(FloatComplex)
    rhs: Value = operand(AnySignlessInteger)
    fastmath: FastMath | None = attribute(fastmath, default=None)
    result_: Value = result(FloatComplex)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return complex_numbers.integer_power(lhs, rhs)


class Conj(_Unary, name="complex.conj"):
    """Complex conjugate: negates the imaginary part."""

    fn = staticmethod(complex_numbers.conjugate)

    def fold(self) -> Value | None:
        source = self.complex.owner
        return source.complex if isinstance(source, Operation) and isinstance(source, Conj) else None


class Neg(_Unary, name="complex.neg"):
    """Negates a complex number."""

    fn = staticmethod(complex_numbers.negative)

    def fold(self) -> Value | None:
        source = self.complex.owner
        return source.complex if isinstance(source, Operation) and isinstance(source, Neg) else None


class Cos(_Unary, name="complex.cos"):
    """Cosine of a complex number."""

    fn = staticmethod(complex_numbers.cosine)


class Exp(_Unary, name="complex.exp"):
    """Exponential of a complex number."""

    fn = staticmethod(complex_numbers.exponential)


class Expm1(_Unary, name="complex.expm1"):
    """Exponential of a complex number minus one."""

    fn = staticmethod(complex_numbers.exponential_less_one)


class Log(_Unary, name="complex.log"):
    """Principal natural logarithm of a complex number."""

    fn = staticmethod(complex_numbers.logarithm)


class Log1p(_Unary, name="complex.log1p"):
    """Principal natural logarithm of one plus a complex number."""

    fn = staticmethod(complex_numbers.logarithm_of_one_more)


class Rsqrt(_Unary, name="complex.rsqrt"):
    """Reciprocal square root of a complex number."""

    fn = staticmethod(complex_numbers.reciprocal_root)


class Sign(_Unary, name="complex.sign"):
    """Sign of a complex number: the number divided by its absolute value; zero for zero."""

    fn = staticmethod(complex_numbers.direction)


class Sin(_Unary, name="complex.sin"):
    """Sine of a complex number."""

    fn = staticmethod(complex_numbers.sine)


class Sqrt(_Unary, name="complex.sqrt"):
    """Principal square root of a complex number."""

    fn = staticmethod(complex_numbers.square_root)


class Tan(_Unary, name="complex.tan"):
    """Tangent of a complex number."""

    fn = staticmethod(complex_numbers.tangent)


class Tanh(_Unary, name="complex.tanh"):
    """Hyperbolic tangent of a complex number."""

    fn = staticmethod(complex_numbers.hyperbolic_tangent)


OWN = own_forms(attributes="number")
DIALECT = Dialect(
    "complex",
    definitions_in(globals(), "complex"),
    summary="Arithmetic and functions of single complex numbers; as in MLIR.",
    constants="arith.constant",
    rules="commonir.dialects.mlir.complex_rules:RULES",
    own="commonir.dialects.mlir.complex:OWN",
)
