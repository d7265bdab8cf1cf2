"""Integer arithmetic of the arith dialect: bits without sign, read as signed or unsigned by the operation.

Source: MLIR arith dialect.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from commonir.dialects.lazy_core import core, integers, made_of
from commonir.dialects.mlir.arith.base import ArithOp, IntBinary, bits_of, is_constant
from commonir.dialects.mlir.number_attributes import Overflow, overflow
from commonir.dialects.mlir.number_rules import HAS_SIGNED_QUOTIENT, HAS_UNSIGNED_QUOTIENT, is_distance
from commonir.ir.operation import Value
from commonir.ir.types import boolean, index
from commonir.ods import attr_types, attribute, known_data, operand, result, traits
from commonir.ods.type_constraints import BoolLike, SignlessIntegerOrIndexLike
from commonir.ods.type_rules import all_types_match, bools_like, types_match_with

if TYPE_CHECKING:
    from commonir.dialects.core.base import Function2


class _Wrapping(IntBinary, assembly="$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"):
    """An operation that wraps; flags declare which overflow does not happen."""

    overflowFlags: Overflow = attribute(overflow, default=Overflow.NONE)


class _Exact(IntBinary, assembly="$lhs `,` $rhs (`exact` $isExact^)? attr-dict `:` type($result)"):
    """An operation that may lose bits; a flag declares that it does not."""

    isExact: bool = attribute(attr_types.unit, default=False)


def _either(of_numbers: Function2, of_truths: Function2) -> Function2:
    """A function that is another one on bools, which are integers of one bit."""

    def apply(a: Value, b: Value) -> Value:
        return (of_truths if core.tensor_type(a).element is boolean else of_numbers)(a, b)

    return apply


class AddI(_Wrapping, name="arith.addi", traits=(traits.Commutative,)):
    """Integer addition, modulo two to the bit width."""

    fn = staticmethod(_either(core.add, core.logical_xor))
    neutral = 0


class SubI(_Wrapping, name="arith.subi"):
    """Integer subtraction, modulo two to the bit width."""

    fn = staticmethod(_either(core.sub, core.logical_xor))
    neutral = 0


_VSCALE = "vector.vscale"
"""The operation whose multiples have names in MLIR."""


class MulI(_Wrapping, name="arith.muli", traits=(traits.Commutative,)):
    """Integer multiplication, modulo two to the bit width."""

    fn = staticmethod(_either(core.mul, core.logical_and))

    def suggested_names(self) -> Iterable[tuple[Value, str]]:
        owners = [v.defining_op for v in self.operands]
        for value, owner in zip(self.operands, reversed(owners), strict=True):
            data = known_data(value) if owner is not None and owner.name == _VSCALE else None
            if data is not None and self.result_.type is index:
                return ((self.result_, f"c{data.splat()}_vscale"),)
        return ()

    def fold(self) -> Value | None:
        # Constants come second: those that come first are moved.
        if is_constant(self.rhs, 1):
            return self.lhs
        if is_constant(self.rhs, 0):
            return self.rhs
        return None


class DivUI(_Exact, name="arith.divui"):
    """Unsigned integer division, truncated."""

    fn = staticmethod(integers.div_unsigned)
    neutral = 1
    is_specified = HAS_UNSIGNED_QUOTIENT


class DivSI(_Exact, name="arith.divsi"):
    """Signed integer division, truncated toward zero."""

    fn = staticmethod(integers.div_signed)
    neutral = 1
    is_specified = HAS_SIGNED_QUOTIENT


class CeilDivUI(IntBinary, name="arith.ceildivui"):
    """Unsigned integer division, rounded up."""

    fn = staticmethod(integers.ceil_div_unsigned)
    neutral = 1
    is_specified = HAS_UNSIGNED_QUOTIENT


class CeilDivSI(IntBinary, name="arith.ceildivsi"):
    """Signed integer division, rounded up."""

    fn = staticmethod(integers.ceil_div_signed)
    neutral = 1
    is_specified = HAS_SIGNED_QUOTIENT


class FloorDivSI(IntBinary, name="arith.floordivsi"):
    """Signed integer division, rounded down."""

    fn = staticmethod(integers.floor_div_signed)
    neutral = 1
    is_specified = HAS_SIGNED_QUOTIENT


class RemUI(IntBinary, name="arith.remui"):
    """Remainder of an unsigned division."""

    fn = staticmethod(integers.remainder_unsigned)
    is_specified = HAS_UNSIGNED_QUOTIENT


class RemSI(IntBinary, name="arith.remsi"):
    """Remainder of a signed division; it has the sign of the dividend."""

    fn = staticmethod(integers.remainder_signed)
    is_specified = HAS_UNSIGNED_QUOTIENT


def _same(op: IntBinary) -> Value | None:
    """The operand that stands twice, unless the result is computed: as in MLIR, that is a constant of its own."""
    return op.lhs if op.lhs is op.rhs and known_data(op.lhs) is None else None


class AndI(IntBinary, name="arith.andi", traits=(traits.Commutative,)):
    """Bitwise and."""

    fn = staticmethod(_either(core.bitwise_and, core.logical_and))

    def fold(self) -> Value | None:
        # Constants come second: those that come first are moved.
        if is_constant(self.rhs, 0):
            return self.rhs
        if is_constant(self.rhs, -1):
            return self.lhs
        return _same(self)


class OrI(IntBinary, name="arith.ori", traits=(traits.Commutative,)):
    """Bitwise or."""

    fn = staticmethod(_either(core.bitwise_or, core.logical_or))

    def fold(self) -> Value | None:
        # Constants come second: those that come first are moved.
        if is_constant(self.rhs, 0):
            return self.lhs
        if is_constant(self.rhs, -1):
            return self.rhs
        return _same(self)


class XOrI(IntBinary, name="arith.xori", traits=(traits.Commutative,)):
    """Bitwise exclusive or."""

    fn = staticmethod(_either(core.bitwise_xor, core.logical_xor))
    neutral = 0


class ShLI(_Wrapping, name="arith.shli"):
    """Shifts the bits left; a shift amount of at least the bit width gives poison."""

    fn = staticmethod(integers.shift_left_of)
    neutral = 0
    is_specified = staticmethod(is_distance)


class ShRUI(_Exact, name="arith.shrui"):
    """Logical right shift, which inserts zeros; a shift amount of at least the bit width gives poison."""

    fn = staticmethod(integers.shift_right_unsigned)
    neutral = 0
    is_specified = staticmethod(is_distance)


class ShRSI(_Exact, name="arith.shrsi"):
    """Arithmetic right shift, which copies the sign bit; a shift amount of at least the bit width gives poison."""

    fn = staticmethod(integers.shift_right_signed)
    neutral = 0
    is_specified = staticmethod(is_distance)


class _Extreme(IntBinary, traits=(traits.Commutative,)):
    largest: ClassVar[bool] = False
    signed: ClassVar[bool] = False

    def fold(self) -> Value | None:
        if self.lhs is self.rhs:
            return self.lhs
        # Constants come second: those that come first are moved.
        data = known_data(self.rhs)
        bits = None if data is None else data.splat()
        if not isinstance(bits, int):
            return None
        width = bits_of(self.rhs.type)
        # The number as it is stored, counted from the least one on.
        place = (bits + ((1 << (width - 1)) if self.signed else 0)) % (1 << width)
        last = (1 << width) - 1
        if place not in (0, last):
            return None
        return self.rhs if (place == last) is self.largest else self.lhs


class MaxSI(_Extreme, name="arith.maxsi"):
    """Signed integer maximum."""

    largest = signed = True
    fn = staticmethod(made_of(integers.signed, core.maximum))


class MaxUI(_Extreme, name="arith.maxui"):
    """Unsigned integer maximum."""

    largest = True
    fn = staticmethod(made_of(integers.unsigned, core.maximum))


class MinSI(_Extreme, name="arith.minsi"):
    """Signed integer minimum."""

    signed = True
    fn = staticmethod(made_of(integers.signed, core.minimum))


class MinUI(_Extreme, name="arith.minui"):
    """Unsigned integer minimum."""

    fn = staticmethod(made_of(integers.unsigned, core.minimum))


class AddUIExtended(
    ArithOp,
    name="arith.addui_extended",
    traits=(
        traits.Commutative,
        all_types_match("lhs", "rhs", "sum"),
        types_match_with("result type has i1 element type and same shape as operands", "lhs", "overflow", bools_like),
    ),
    assembly="$lhs `,` $rhs attr-dict `:` type($sum) `,` type($overflow)",
):
    """Unsigned addition that also returns the carry."""

    lhs: Value = operand(SignlessIntegerOrIndexLike)
    rhs: Value = operand(SignlessIntegerOrIndexLike)
    sum: Value = result(SignlessIntegerOrIndexLike)
    overflow: Value = result(BoolLike)

    def reference(self, lhs: Value, rhs: Value) -> tuple[Value, ...]:
        return integers.sum_and_carry(lhs, rhs)


class _Product(
    ArithOp,
    traits=(traits.Commutative, all_types_match("lhs", "rhs", "low", "high")),
    assembly="$lhs `,` $rhs attr-dict `:` type($lhs)",
):
    lhs: Value = operand(SignlessIntegerOrIndexLike)
    rhs: Value = operand(SignlessIntegerOrIndexLike)
    low: Value = result(SignlessIntegerOrIndexLike)
    high: Value = result(SignlessIntegerOrIndexLike)


class MulSIExtended(_Product, name="arith.mulsi_extended"):
    """Signed multiplication to twice the bit width: the low and the high half of the product."""

    def reference(self, lhs: Value, rhs: Value) -> tuple[Value, ...]:
        return integers.low_and_high(lhs, rhs, sign=True)


class MulUIExtended(_Product, name="arith.mului_extended"):
    """Unsigned multiplication to twice the bit width: the low and the high half of the product."""

    def reference(self, lhs: Value, rhs: Value) -> tuple[Value, ...]:
        return integers.low_and_high(lhs, rhs, sign=False)
