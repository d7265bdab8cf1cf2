"""The index dialect of MLIR: arithmetic on positions, here integers of 64 bits.

Source: MLIR index dialect.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Self

from commonir.base.codes import WRONG_TYPE
from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core, integers, made_of
from commonir.dialects.mlir.arith.comparison import CmpIPredicate, integer_comparisons
from commonir.dialects.mlir.number_rules import (
    HAS_SIGNED_QUOTIENT,
    HAS_UNSIGNED_QUOTIENT,
    Specified,
    always_specified,
    is_distance,
)
from commonir.ir.core_types import core_type
from commonir.ir.data import Data, data_of
from commonir.ir.operation import Value
from commonir.ir.types import Type, boolean, i64, index
from commonir.ods import Dialect, MlirOp, attr_types, attribute, definitions_in, operand, result, traits
from commonir.ods.mlir_attr_types import dialect_enumeration, typed_integer
from commonir.ods.mlir_op import FromData
from commonir.ods.own_forms import own_forms
from commonir.ods.type_constraints import I1, AnyInteger, Index, any_type_of, is_integer

if TYPE_CHECKING:
    from commonir.dialects.core.base import Function2


class IndexOp(MlirOp, traits=(traits.Pure,)):
    """Base of the operations of the index dialect."""

    sign: ClassVar[bool] = True

    def in_32_bits(self, operands: Sequence[Data]) -> Sequence[Data] | None:
        return [
            _in_32_bits(d, sign=self.sign) if v.type is index else d
            for d, v in zip(operands, self.operands, strict=True)
        ]


def _in_32_bits(data: Data, *, sign: bool) -> Data:
    """Positions whose upper half is the sign of the lower one, or zero; the same contents where that is so already."""
    before = [int(v) for v in data.values()]
    half = 1 << 31 if sign else 0
    after = [(v + half) % (1 << 32) - half for v in before]
    return data if after == before else data_of(data.element, data.shape, after)


class _Binary(IndexOp, assembly="$lhs `,` $rhs attr-dict"):
    """A function of two positions."""

    fn: ClassVar[Function2]

    lhs: Value = operand(Index)
    rhs: Value = operand(Index)
    result_: Value = result(Index)

    is_specified: ClassVar[Specified] = staticmethod(always_specified)

    def folds(self, operands: Sequence[Data]) -> bool:
        return type(self).is_specified(operands)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return type(self).fn(lhs, rhs)


class Add(_Binary, name="index.add", traits=(traits.Commutative,)):
    """Index addition."""

    fn = staticmethod(core.add)


class Sub(_Binary, name="index.sub"):
    """Index subtraction."""

    fn = staticmethod(core.sub)


class Mul(_Binary, name="index.mul", traits=(traits.Commutative,)):
    """Index multiplication."""

    fn = staticmethod(core.mul)


class DivS(_Binary, name="index.divs"):
    """Signed index division, truncated toward zero."""

    fn = staticmethod(integers.div_signed)
    is_specified = HAS_SIGNED_QUOTIENT


class DivU(_Binary, name="index.divu"):
    """Unsigned index division, truncated."""

    sign = False
    fn = staticmethod(integers.div_unsigned)
    is_specified = HAS_UNSIGNED_QUOTIENT


class CeilDivS(_Binary, name="index.ceildivs"):
    """Signed index division, rounded up."""

    fn = staticmethod(integers.ceil_div_signed)
    is_specified = HAS_SIGNED_QUOTIENT


class CeilDivU(_Binary, name="index.ceildivu"):
    """Unsigned index division, rounded up."""

    sign = False
    fn = staticmethod(integers.ceil_div_unsigned)
    is_specified = HAS_UNSIGNED_QUOTIENT


class FloorDivS(_Binary, name="index.floordivs"):
    """Signed index division, rounded down."""

    fn = staticmethod(integers.floor_div_signed)
    is_specified = HAS_SIGNED_QUOTIENT


class RemS(_Binary, name="index.rems"):
    """Remainder of a signed index division; it has the sign of the dividend."""

    fn = staticmethod(integers.remainder_signed)
    is_specified = HAS_UNSIGNED_QUOTIENT


class RemU(_Binary, name="index.remu"):
    """Remainder of an unsigned index division."""

    sign = False
    fn = staticmethod(integers.remainder_unsigned)
    is_specified = HAS_UNSIGNED_QUOTIENT


class MaxS(_Binary, name="index.maxs", traits=(traits.Commutative,)):
    """Signed index maximum."""

    fn = staticmethod(core.maximum)


class MaxU(_Binary, name="index.maxu", traits=(traits.Commutative,)):
    """Unsigned index maximum."""

    sign = False
    fn = staticmethod(made_of(integers.unsigned, core.maximum))


class MinS(_Binary, name="index.mins", traits=(traits.Commutative,)):
    """Signed index minimum."""

    fn = staticmethod(core.minimum)


class MinU(_Binary, name="index.minu", traits=(traits.Commutative,)):
    """Unsigned index minimum."""

    sign = False
    fn = staticmethod(made_of(integers.unsigned, core.minimum))


class Shl(_Binary, name="index.shl"):
    """Shifts an index left; a shift amount of at least the bit width gives poison."""

    fn = staticmethod(integers.shift_left_of)
    is_specified = staticmethod(partial(is_distance, width=32))


class ShrS(_Binary, name="index.shrs"):
    """Arithmetic right shift of an index, which copies the sign bit; at least the bit width gives poison."""

    fn = staticmethod(integers.shift_right_signed)
    is_specified = staticmethod(partial(is_distance, width=32))


class ShrU(_Binary, name="index.shru"):
    """Logical right shift of an index, which inserts zeros; at least the bit width gives poison."""

    sign = False
    fn = staticmethod(integers.shift_right_unsigned)
    is_specified = staticmethod(partial(is_distance, width=32))


class And(_Binary, name="index.and", traits=(traits.Commutative,)):
    """Bitwise and of indices."""

    fn = staticmethod(core.bitwise_and)


class Or(_Binary, name="index.or", traits=(traits.Commutative,)):
    """Bitwise or of indices."""

    fn = staticmethod(core.bitwise_or)


class XOr(_Binary, name="index.xor", traits=(traits.Commutative,)):
    """Bitwise exclusive or of indices."""

    fn = staticmethod(core.bitwise_xor)


_INDEX_OR_INTEGER = any_type_of(AnyInteger, Index, summary="integer or index")


class _Cast(IndexOp, assembly="$input attr-dict `:` type($input) `to` type($output)"):
    """A conversion between positions and integers. C1: one side is a position and the other an integer."""

    sign = False
    input: Value = operand(_INDEX_OR_INTEGER)
    output: Value = result(_INDEX_OR_INTEGER)

    def verify(self) -> Iterable[Diagnostic]:
        source, target = self.input.type, self.output.type
        other = target if source is index else source
        if (source is index) == (target is index) or not is_integer(other):
            message = f"{self.name}: C1: operand type {source} and result type {target} are cast incompatible"
            yield Diagnostic(WRONG_TYPE, message)

    def reference(self, input: Value) -> Value:
        element = core.as_tensor(core_type(self.output.type)).element
        return integers.resized(input, element, sign=self.sign)


class CastS(_Cast, name="index.casts"):
    """Converts between index and integer types: truncates, or sign-extends."""

    sign = True


class CastU(_Cast, name="index.castu"):
    """Converts between index and integer types: truncates, or zero-extends."""


cmp_predicate = dialect_enumeration(CmpIPredicate, "index", mnemonic="cmp_predicate")
OWN = own_forms(cmp_predicate)


class Cmp(IndexOp, name="index.cmp", assembly="`` $pred `(` $lhs `,` $rhs `)` attr-dict"):
    """Compares two indices under a signed or unsigned predicate."""

    pred: CmpIPredicate = attribute(cmp_predicate)
    lhs: Value = operand(Index)
    rhs: Value = operand(Index)
    result_: Value = result(I1)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return integer_comparisons()[self.pred](lhs, rhs)

    def in_32_bits(self, operands: Sequence[Data]) -> Sequence[Data] | None:
        return [_in_32_bits(d, sign=not self.pred.value.startswith("u")) for d in operands]


class SizeOf(IndexOp, name="index.sizeof", assembly="attr-dict"):
    """The bit width of the index type."""

    result_: Value = result(Index)

    def reference(self) -> Value:
        return core.scalar(index.bits, i64)


class Constant(IndexOp, FromData, name="index.constant", traits=(traits.ConstantLike,), assembly="attr-dict $value"):
    """A compile-time index constant."""

    value: int = attribute(typed_integer(index))
    result_: Value = result(Index)

    @classmethod
    def from_data(cls, data: Data, type: Type) -> Self | None:
        return cls(int(data.values()[0])) if type is index else None

    def suggested_names(self) -> Iterable[tuple[Value, str]]:
        return ((self.result_, f"idx{self.value}"),)

    def constant_data(self) -> Data | None:
        return data_of(i64, (), (self.value,))

    def reference(self) -> Value:
        return core.scalar(self.value, i64)


class BoolConstant(
    IndexOp, FromData, name="index.bool.constant", traits=(traits.ConstantLike,), assembly="attr-dict $value"
):
    """A compile-time boolean constant."""

    value: bool = attribute(attr_types.flag)
    result_: Value = result(I1)

    @classmethod
    def from_data(cls, data: Data, type: Type) -> Self | None:
        return cls(bool(data.values()[0])) if type is boolean else None

    def suggested_names(self) -> Iterable[tuple[Value, str]]:
        return ((self.result_, "true" if self.value else "false"),)

    def constant_data(self) -> Data | None:
        return data_of(boolean, (), (self.value,))

    def reference(self) -> Value:
        return core.scalar(self.value, boolean)


DIALECT = Dialect(
    "index",
    definitions_in(globals(), "index"),
    summary="Arithmetic on positions, integers of the width of the machine, here 64 bits; as in MLIR.",
    constants="index.constant index.bool.constant",
    rules="commonir.dialects.mlir.index_rules:RULES",
    own="commonir.dialects.mlir.index:OWN",
)
