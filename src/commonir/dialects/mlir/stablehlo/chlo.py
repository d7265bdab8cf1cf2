"""The chlo dialect: functions that jax and torch export beside those of stablehlo, and arithmetic that broadcasts.

Source: StableHLO repository, chlo dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import TYPE_CHECKING, ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import complex_numbers, core, integers, real_functions, special_functions
from commonir.dialects.mlir.stablehlo import elementwise
from commonir.dialects.mlir.stablehlo.base import (
    ComparisonDirection,
    ComparisonType,
    CompatibleElements,
    CompatibleTypes,
    HloOp,
    Integers,
    axes,
    axis,
    element,
    is_complex,
    is_number,
    is_quantized,
    kind_of,
    like,
    non_negative,
    stated_shape,
)
from commonir.dialects.mlir.stablehlo.base import Truths as RankedTruths
from commonir.dialects.mlir.stablehlo.chlo_programs import RaggedDot, Scan
from commonir.dialects.mlir.stablehlo.comparison import Compare, total_order
from commonir.dialects.mlir.stablehlo.layout import broadcast_in
from commonir.dialects.mlir.stablehlo.number_types import by_kind, is_complex_value, is_unsigned
from commonir.ir.attributes import Attribute, BoolAttr, FloatAttr, IntegerAttr
from commonir.ir.core_types import core_data
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, Type, boolean, i32
from commonir.notation import NotationError
from commonir.ods import Dialect, TypeConstraint, attr_types, attribute, definitions_in, operand, result, traits
from commonir.ods.mlir_attr_types import bool_, dialect_enumeration
from commonir.ods.operand_shapes import known_dims_of
from commonir.ods.type_constraints import is_float
from commonir.ods.type_rules import SameOperandsAndResultShape, type_of_attribute
from commonir.symbolic import Dim

if TYPE_CHECKING:
    from commonir.dialects.core.base import Function1


def _of(name: str, summary: str, *tests: Callable[[Type], bool]) -> TypeConstraint:
    def admits(type: Type) -> bool:
        return isinstance(type, TensorType) and any(test(type.element) for test in tests)

    return TypeConstraint(name, summary, admits)


def _is_truth(type: Type) -> bool:
    return type is boolean


Floats = _of("HLO_AnyFpTensor", "tensor of 4/6/8/16/32/64-bit float values", is_float)
Complexes = _of("HLO_AnyComplexTensor", "tensor of complex type with 32/64-bit float elements values", is_complex)
FloatsOrComplexes = _of(
    "HLO_AnyFpOrComplexTensor", "tensor of float or complex values with 32/64-bit float elements", is_float, is_complex
)
Any = _of(
    "HLO_AnyTensor",
    "tensor of float, bool, integer, complex or quantized values",
    *(is_float, is_number, _is_truth, is_complex, is_quantized),
)
TruthsOrIntegers = _of("HLO_AnyPredOrIntTensor", "tensor of bool or integer values", _is_truth, is_number)
Truths = _of("HLO_AnyPredTensor", "tensor of bool values", _is_truth)

BINARY = "$%s `,` $%s attr-dict `:` type($%s) `,` type($%s) `->` type(results)"
TOP_K = (
    "`(` $operand `,` `k` `=` $k (`,` `is_stable` `=` $is_stable^)? `)` attr-dict `:` type($operand) `->` "
    "`(` type($values) `,` type($indices) `)`"
)
UNARY = "$operand attr-dict `:` type($operand) `->` type($result)"


_ELEMENTWISE = (traits.Pure, traits.Elementwise, SameOperandsAndResultShape)


class _Unary(HloOp, traits=_ELEMENTWISE, assembly=UNARY):
    """A function of one tensor of floats or complex numbers."""

    operand: Value = operand(FloatsOrComplexes)
    result_: Value = result(FloatsOrComplexes)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.operand.type,)


class _Function(_Unary):
    """A function that core has."""

    fn: ClassVar[Function1]

    def reference(self, operand: Value) -> Value:
        return type(self).fn(operand)


class _OfFloats(HloOp, traits=_ELEMENTWISE, assembly=UNARY):
    """A function of one tensor of floats."""

    operand: Value = operand(Floats)
    result_: Value = result(Floats)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.operand.type,)


class _Question(HloOp, traits=_ELEMENTWISE, assembly=UNARY):
    """Base class of predicates on floats."""

    operand: Value = operand(Floats)
    result_: Value = result(Truths)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (like(self.operand.type, stated_shape(self.operand), boolean),)


def _square(x: Value) -> Value:
    return complex_numbers.product(x, x) if is_complex_value(x) else core.mul(x, x)


class AsinAcosKernel(HloOp, name="chlo._asin_acos_kernel", traits=_ELEMENTWISE, assembly=UNARY):
    """The common part of the inverse sine and cosine of complex numbers; only expansions of these contain it."""

    operand: Value = operand(Complexes)
    result_: Value = result(Complexes)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.operand.type,)


class Acos(_Function, name="chlo.acos"):
    """Arc cosine, in radians."""

    fn = core.acos


class Acosh(_Function, name="chlo.acosh"):
    """Inverse hyperbolic cosine."""

    fn = core.acosh


class Asin(_Function, name="chlo.asin"):
    """Arc sine, in radians."""

    fn = core.asin


class Asinh(_Function, name="chlo.asinh"):
    """Inverse hyperbolic sine."""

    fn = core.asinh


class Atan(_Function, name="chlo.atan"):
    """Arc tangent, in radians."""

    fn = core.atan


class Atanh(_Function, name="chlo.atanh"):
    """Inverse hyperbolic tangent."""

    fn = core.atanh


class BesselI1e(_Unary, name="chlo.bessel_i1e"):
    """Exponentially scaled modified Bessel function of the first kind of order 1."""

    def reference(self, operand: Value) -> Value:
        return special_functions.bessel_i1e(operand)


class Conj(_Unary, name="chlo.conj"):
    """Complex conjugate."""

    def reference(self, operand: Value) -> Value:
        return complex_numbers.conjugate(operand)


class Cosh(_Function, name="chlo.cosh"):
    """Hyperbolic cosine."""

    fn = core.cosh


class Digamma(_OfFloats, name="chlo.digamma"):
    """Digamma function, the derivative of the logarithm of the gamma function."""

    def reference(self, operand: Value) -> Value:
        return special_functions.digamma(operand)


class Erf(_OfFloats, name="chlo.erf"):
    """Error function."""

    def reference(self, operand: Value) -> Value:
        return core.erf(operand)


class ErfInv(_OfFloats, name="chlo.erf_inv"):
    """Inverse error function."""

    def reference(self, operand: Value) -> Value:
        return special_functions.erf_inv(operand)


class Erfc(_OfFloats, name="chlo.erfc"):
    """Complementary error function: 1 - erf(x)."""

    def reference(self, operand: Value) -> Value:
        return real_functions.erfc(operand)


class Lgamma(_OfFloats, name="chlo.lgamma"):
    """Logarithm of the absolute value of the gamma function."""

    def reference(self, operand: Value) -> Value:
        return special_functions.lgamma(operand)


class Sinh(_Function, name="chlo.sinh"):
    """Hyperbolic sine."""

    fn = core.sinh


class Square(_Unary, name="chlo.square"):
    """Square of each element."""

    def reference(self, operand: Value) -> Value:
        return _square(operand)


class Tan(_Unary, name="chlo.tan"):
    """Tangent of an angle in radians."""

    def reference(self, operand: Value) -> Value:
        return by_kind(core.tan, complex_numbers.tangent)(operand)


class IsInf(_Question, name="chlo.is_inf"):
    """Tests each element for an infinity of either sign."""

    def reference(self, operand: Value) -> Value:
        return core.is_inf(operand)


class IsNegInf(_Question, name="chlo.is_neg_inf"):
    """Tests each element for negative infinity."""

    def reference(self, operand: Value) -> Value:
        return core.equal(operand, core.splat(-inf, operand))


class IsPosInf(_Question, name="chlo.is_pos_inf"):
    """Tests each element for positive infinity."""

    def reference(self, operand: Value) -> Value:
        return core.equal(operand, core.splat(inf, operand))


class Constant(HloOp, name="chlo.constant", traits=(traits.ConstantLike, traits.Pure), assembly="attr-dict $value"):
    """A compile-time constant tensor."""

    value: Data = attribute(attr_types.data)
    output: Value = result(Any)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.value.type,)

    def constant_data(self) -> Data | None:
        return core_data(self.value)

    def reference(self) -> Value:
        return core.constant(core_data(self.value))


class TopK(HloOp, name="chlo.top_k", traits=(traits.Pure,), assembly=TOP_K):
    """The k largest elements along the last axis in descending order, and their indices. C1: k is at most the size of
    the last axis.
    """

    operand: Value = operand(Any)
    k: int = attribute(axis, check=non_negative)
    is_stable: bool | None = attribute(bool_, default=None)
    values: Value = result(Any)
    indices: Value = result(Any)

    def infer_results(self) -> tuple[Type, ...] | None:
        shape = stated_shape(self.operand)
        if not shape:
            return None
        kept = (*shape[:-1], self.k)
        return (like(self.operand.type, kept), like(self.operand.type, kept, i32))

    def verify(self) -> Iterator[Diagnostic]:
        shape = stated_shape(self.operand)
        if shape == ():
            yield self.violated("C1: operand's rank must be at least 1")
        elif shape and isinstance(shape[-1], int) and shape[-1] < self.k:
            yield self.violated(f"C1: operand's last dimension must be at least {self.k}")

    def reference(self, operand: Value) -> tuple[Value, Value]:
        return largest(operand, self.k)


def largest(x: Value, k: Dim) -> tuple[Value, Value]:
    """Returns the k largest elements along the last axis in descending order, and their indices as i32."""
    key = total_order(x) if kind_of(x).is_float else x
    order = core.argsort(key, -1, True)
    sizes = known_dims_of(order)
    kept = core.slice(order, (0,) * len(sizes), (*sizes[:-1], k), (1,) * len(sizes))
    return core.gather_elements(x, kept, -1), core.cast(kept, i32)


# -- functions of two tensors


class _OfTwoFloats(HloOp, traits=(traits.Pure, CompatibleTypes)):
    """A function of two tensors of floats of one shape."""


class NextAfter(_OfTwoFloats, name="chlo.next_after", assembly=BINARY % ("x", "y", "x", "y")):
    """The next number that the type of x has in the direction of y."""

    x: Value = operand(Floats)
    y: Value = operand(Floats)
    result_: Value = result(Floats)

    def reference(self, x: Value, y: Value) -> Value:
        return real_functions.next_after(x, y)


class Polygamma(_OfTwoFloats, name="chlo.polygamma", assembly=BINARY % ("n", "x", "n", "x")):
    """Polygamma function, the n-th derivative of the digamma function."""

    n: Value = operand(Floats)
    x: Value = operand(Floats)
    result_: Value = result(Floats)

    def reference(self, n: Value, x: Value) -> Value:
        return special_functions.polygamma(n, x)


class Zeta(_OfTwoFloats, name="chlo.zeta", assembly=BINARY % ("x", "q", "x", "q")):
    """Hurwitz zeta function: the sum of (q + n)^-x over all n from 0 on."""

    x: Value = operand(Floats)
    q: Value = operand(Floats)
    result_: Value = result(Floats)

    def reference(self, x: Value, q: Value) -> Value:
        return special_functions.zeta(x, q)


class Mulhi(
    HloOp,
    name="chlo.mulhi",
    traits=(traits.Commutative, traits.Pure, CompatibleTypes),
    assembly=BINARY % ("lhs", "rhs", "lhs", "rhs"),
):
    """The upper half of the bits of a product of integers."""

    lhs: Value = operand(Integers)
    rhs: Value = operand(Integers)
    result_: Value = result(Integers)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        signed = not is_unsigned(lhs)
        return integers.like(integers.low_and_high(lhs, rhs, sign=signed)[1], kind_of(lhs))


class ConstantLike(HloOp, name="chlo.constant_like", traits=(traits.Pure, SameOperandsAndResultShape)):
    """A tensor of the shape of another one, all of whose elements are a number of its type."""

    assembly = ""

    value: Attribute = attribute(attr_types.any_attribute)
    operand: Value = operand(Any)
    result_: Value = result(Any)

    def infer_results(self) -> tuple[Type, ...] | None:
        type = type_of_attribute(self.value)
        return (like(self.operand.type, stated_shape(self.operand), type),) if isinstance(type, ElementType) else None

    def reference(self, operand: Value) -> Value:
        match self.value:
            case FloatAttr(type=ElementType() as type) | IntegerAttr(type=ElementType() as type):
                number = core.scalar(self.value.value, type)
            case BoolAttr():
                number = core.scalar(self.value.value, boolean)
            case _:
                raise NotationError(f"the elements of {self.value!r} are not known")
        return core.broadcast_to(number, known_dims_of(operand))


# -- arithmetic that broadcasts


_direction = dialect_enumeration(ComparisonDirection, "chlo", mnemonic="comparison_direction")
_comparison = dialect_enumeration(ComparisonType, "chlo", mnemonic="comparison_type")
BROADCAST = "$lhs `,` $rhs attr-dict `:` `(` type($lhs) `,` type($rhs) `)` `->` type(results)"


class _Broadcasting(HloOp, traits=(traits.Pure,), assembly=BROADCAST):
    """A function of two tensors, of which one is repeated along axes that it lacks, and those of size 1."""

    kind: ClassVar[type[HloOp]]

    lhs: Value = operand(Any)
    rhs: Value = operand(Any)
    broadcast_dimensions: tuple[int, ...] | None = attribute(axes, default=None)
    result_: Value = result(Any)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        kind, both = type(self).kind, _aligned(lhs, rhs, self.broadcast_dimensions)
        expected = like(both[0].type, known_dims_of(both[0]), element(self.result_))
        operands = dict(zip([f.name for f in kind.layout.inputs], both, strict=True))
        return kind.build(operands, [expected]).reference(*both)


def _aligned(a: Value, b: Value, places: tuple[int, ...] | None) -> tuple[Value, Value]:
    left, right = known_dims_of(a), known_dims_of(b)
    rank = max(len(left), len(right))
    at = [places if places is not None and len(s) < rank else range(rank - len(s), rank) for s in (left, right)]
    sizes: list[Dim] = [1] * rank
    for shape, own in zip((left, right), at, strict=True):
        if len(own) != len(shape) or any(not 0 <= d < rank for d in own):
            raise NotationError(
                f"broadcast_dimensions must name one of {rank} axes for each of {len(shape)}, found {list(own)}"
            )
        for d, n in zip(own, shape, strict=True):
            sizes[d] = n if n != 1 else sizes[d]
    return broadcast_in(a, tuple(at[0]), sizes), broadcast_in(b, tuple(at[1]), sizes)


class _OfOneType(_Broadcasting, traits=(CompatibleElements,)):
    """A function of two tensors of one element type, which the result has too."""


class BroadcastAdd(_OfOneType, name="chlo.broadcast_add"):
    """`stablehlo.add` with broadcasting."""

    kind = elementwise.Add


class BroadcastAtan2(_OfOneType, name="chlo.broadcast_atan2"):
    """`stablehlo.atan2` with broadcasting."""

    kind = elementwise.Atan2


class BroadcastDiv(_OfOneType, name="chlo.broadcast_divide"):
    """`stablehlo.divide` with broadcasting."""

    kind = elementwise.Div


class BroadcastMax(_OfOneType, name="chlo.broadcast_maximum"):
    """`stablehlo.maximum` with broadcasting."""

    kind = elementwise.Max


class BroadcastMin(_OfOneType, name="chlo.broadcast_minimum"):
    """`stablehlo.minimum` with broadcasting."""

    kind = elementwise.Min


class BroadcastMul(_OfOneType, name="chlo.broadcast_multiply"):
    """`stablehlo.multiply` with broadcasting."""

    kind = elementwise.Mul


class BroadcastPow(_OfOneType, name="chlo.broadcast_power"):
    """`stablehlo.power` with broadcasting."""

    kind = elementwise.Pow


class BroadcastRem(_OfOneType, name="chlo.broadcast_remainder"):
    """`stablehlo.remainder` with broadcasting."""

    kind = elementwise.Rem


class BroadcastShiftLeft(_OfOneType, name="chlo.broadcast_shift_left"):
    """`stablehlo.shift_left` with broadcasting."""

    kind = elementwise.ShiftLeft


class BroadcastShiftRightArithmetic(_OfOneType, name="chlo.broadcast_shift_right_arithmetic"):
    """`stablehlo.shift_right_arithmetic` with broadcasting."""

    kind = elementwise.ShiftRightArithmetic


class BroadcastShiftRightLogical(_OfOneType, name="chlo.broadcast_shift_right_logical"):
    """`stablehlo.shift_right_logical` with broadcasting."""

    kind = elementwise.ShiftRightLogical


class BroadcastSubtract(_OfOneType, name="chlo.broadcast_subtract"):
    """`stablehlo.subtract` with broadcasting."""

    kind = elementwise.Subtract


class BroadcastAnd(_OfOneType, name="chlo.broadcast_and"):
    """`stablehlo.and` with broadcasting."""

    kind = elementwise.And

    lhs: Value = operand(TruthsOrIntegers)
    rhs: Value = operand(TruthsOrIntegers)


class BroadcastOr(_OfOneType, name="chlo.broadcast_or"):
    """`stablehlo.or` with broadcasting."""

    kind = elementwise.Or

    lhs: Value = operand(TruthsOrIntegers)
    rhs: Value = operand(TruthsOrIntegers)


class BroadcastXor(_OfOneType, name="chlo.broadcast_xor"):
    """`stablehlo.xor` with broadcasting."""

    kind = elementwise.Xor

    lhs: Value = operand(TruthsOrIntegers)
    rhs: Value = operand(TruthsOrIntegers)


class BroadcastComplex(_Broadcasting, name="chlo.broadcast_complex"):
    """`stablehlo.complex` with broadcasting."""

    kind = elementwise.Complex


class BroadcastNextAfter(_OfOneType, name="chlo.broadcast_next_after"):
    """`chlo.next_after` with broadcasting."""

    kind = NextAfter


class BroadcastPolygamma(_OfOneType, name="chlo.broadcast_polygamma"):
    """`chlo.polygamma` with broadcasting."""

    kind = Polygamma


class BroadcastZeta(_OfOneType, name="chlo.broadcast_zeta"):
    """`chlo.zeta` with broadcasting."""

    kind = Zeta

    lhs: Value = operand(Floats)
    rhs: Value = operand(Floats)
    result_: Value = result(Floats)


class BroadcastCompare(HloOp, name="chlo.broadcast_compare", traits=(traits.Pure,), assembly=BROADCAST):
    """`stablehlo.compare` with broadcasting."""

    lhs: Value = operand(Any)
    rhs: Value = operand(Any)
    comparison_direction: ComparisonDirection = attribute(_direction)
    broadcast_dimensions: tuple[int, ...] | None = attribute(axes, default=None)
    compare_type: ComparisonType | None = attribute(_comparison, default=None)
    result_: Value = result(Truths)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        first, second = _aligned(lhs, rhs, self.broadcast_dimensions)
        return Compare(first, second, self.comparison_direction, self.compare_type).reference(first, second)


class BroadcastSelect(
    HloOp,
    name="chlo.broadcast_select",
    traits=(traits.Pure,),
    assembly=(
        "$pred `,` $on_true `,` $on_false attr-dict `:` "
        "`(` type($pred) `,` type($on_true) `,` type($on_false) `)` `->` type(results)"
    ),
):
    """`stablehlo.select` with broadcasting. C1: the values have one element type."""

    pred: Value = operand(RankedTruths)
    on_true: Value = operand(Any)
    on_false: Value = operand(Any)
    result_: Value = result(Any)

    def verify(self) -> Iterator[Diagnostic]:
        if element(self.on_true) is not element(self.on_false):
            yield self.violated(f"C1: mismatched operand types {self.on_true.type} and {self.on_false.type}")

    def reference(self, pred: Value, on_true: Value, on_false: Value) -> Value:
        return core.select(pred, on_true, on_false)


DIALECT = Dialect(
    "chlo",
    (*definitions_in(globals(), "chlo"), RaggedDot, Scan),
    summary="What jax and torch export beside stablehlo.",
    constants="stablehlo.constant",
    own="commonir.dialects.mlir.stablehlo.dimension_numbers:CHLO",
)
