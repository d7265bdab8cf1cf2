"""Conversions of the arith dialect: between widths, between integers and floats, of bits, of positions.

Source: MLIR arith dialect.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import ClassVar

from commonir.base.codes import VIOLATED_CONSTRAINT, WRONG_TYPE
from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core, integers, real_functions
from commonir.dialects.mlir.arith.base import ArithOp, bits_of, carried_element, cast_incompatible
from commonir.dialects.mlir.number_attributes import FastMath, Overflow, fastmath, overflow
from commonir.ir.data import Data, rounded
from commonir.ir.floats import Rounding
from commonir.ir.operation import Value
from commonir.ir.types import MemRefType, TensorType, Type, VectorType, boolean, f8e8m0fnu, i32, index
from commonir.ods import attribute, operand, result
from commonir.ods.mlir_attr_types import numbered
from commonir.ods.type_constraints import (
    AnyFloat,
    AnySignlessInteger,
    FloatLike,
    Index,
    SignlessIntegerOrFloatLike,
    SignlessIntegerOrIndexLike,
    any_type_of,
    memref_of,
    type_or_container,
)
from commonir.ods.type_rules import SameNonScalars, SameOperandsAndResultShape, element_of, shape_of

SignlessFixedWidthIntegerLike = type_or_container(AnySignlessInteger, "signless-fixed-width-integer-like")
IndexCastTypes = any_type_of(
    SignlessIntegerOrIndexLike,
    memref_of(AnySignlessInteger, Index),
    summary="signless-integer-like or memref of signless-integer",
)
BitcastTypes = any_type_of(
    SignlessIntegerOrFloatLike,
    memref_of(AnySignlessInteger, AnyFloat),
    summary="signless-integer-or-float-like or memref of signless-integer or float",
)
rounding_mode = numbered(Rounding, i32)


class Cast(ArithOp, traits=(SameOperandsAndResultShape,), assembly="$in attr-dict `:` type($in) `to` type($out)"):
    """A conversion of each element. C1: the operand and the result have the same dimensions, whose number is known. C2:
    the types can be converted.
    """

    in_: Value
    out: Value

    def converts(self, source: Type, target: Type) -> bool:
        """Returns whether elements of a type can be converted to another."""
        del source, target
        return True

    def verify(self) -> Iterable[Diagnostic]:
        source, target = self.in_.type, self.out.type
        if _dimensions(source) != _dimensions(target) or shape_of(source) is None:
            message = f"{self.name}: C1: failed to verify that input and output have the same tensor dimensions"
            yield Diagnostic(VIOLATED_CONSTRAINT, message)
        elif not self.converts(element_of(source), element_of(target)):
            yield from cast_incompatible(self, self.in_, self.out)


def _dimensions(type: Type) -> object:
    """Returns the part of a type that a conversion must preserve."""
    match type:
        case TensorType():
            return ("tensor", type.shape)
        case VectorType():
            return ("vector", type.shape, type.scalable)
        case MemRefType():
            return ("memref", type.shape)
        case _:
            return "scalar"


class _IntegerToInteger(Cast):
    in_: Value = operand(SignlessFixedWidthIntegerLike)
    out: Value = result(SignlessFixedWidthIntegerLike)


class _Extension(_IntegerToInteger):
    sign: ClassVar[bool] = False

    def converts(self, source: Type, target: Type) -> bool:
        return bits_of(source) < bits_of(target)

    def reference(self, in_: Value) -> Value:
        return integers.extended(in_, carried_element(self.out), sign=self.sign)


class ExtUI(_Extension, name="arith.extui"):
    """Zero-extends an integer to a wider type."""


class ExtSI(_Extension, name="arith.extsi"):
    """Sign-extends an integer to a wider type."""

    sign = True


class TruncI(
    _IntegerToInteger,
    name="arith.trunci",
    assembly="$in (`overflow` `` $overflowFlags^)? attr-dict `:` type($in) `to` type($out)",
):
    """Truncates an integer to its low bits, in a narrower type."""

    overflowFlags: Overflow = attribute(overflow, default=Overflow.NONE)

    def converts(self, source: Type, target: Type) -> bool:
        return bits_of(source) > bits_of(target)

    def reference(self, in_: Value) -> Value:
        return integers.truncated(in_, carried_element(self.out))


class ExtF(Cast, name="arith.extf", assembly="$in (`fastmath` `` $fastmath^)? attr-dict `:` type($in) `to` type($out)"):
    """Extends a float to a wider floating-point type, exactly."""

    in_: Value = operand(FloatLike)
    fastmath: FastMath | None = attribute(fastmath, default=None)
    out: Value = result(FloatLike)

    def converts(self, source: Type, target: Type) -> bool:
        return bits_of(source) < bits_of(target)

    def reference(self, in_: Value) -> Value:
        return core.cast(in_, carried_element(self.out))


class TruncF(
    Cast,
    name="arith.truncf",
    assembly="$in ($roundingmode^)? (`fastmath` `` $fastmath^)? attr-dict `:` type($in) `to` type($out)",
):
    """Truncates a float to a narrower floating-point type; rounds to nearest even unless a rounding mode is given."""

    in_: Value = operand(FloatLike)
    roundingmode: Rounding | None = attribute(rounding_mode, default=None)
    fastmath: FastMath | None = attribute(fastmath, default=None)
    out: Value = result(FloatLike)

    def converts(self, source: Type, target: Type) -> bool:
        return bits_of(source) > bits_of(target)

    def folds(self, operands: Sequence[Data]) -> bool:
        element = carried_element(self.out)
        return all(math.isnan(v) or rounded(v, element) == v for v in operands[0].values() if isinstance(v, float))

    def reference(self, in_: Value) -> Value:
        return real_functions.rounded_to(in_, carried_element(self.out), self.roundingmode or Rounding.NEAREST_EVEN)


class _Scaling(ArithOp, traits=(SameNonScalars,)):
    """A conversion of elements that share scales, which are powers of two. C1: the operands and the result have the
    same dimensions. C2: the types can be converted.
    """

    in_: Value = operand(FloatLike)
    scale: Value = operand(FloatLike)
    out: Value = result(FloatLike)

    def converts(self, source: Type, target: Type) -> bool:
        """Returns whether elements of a type can be converted to another."""
        raise NotImplementedError

    def verify(self) -> Iterable[Diagnostic]:
        if _dimensions(self.in_.type) != _dimensions(self.out.type) or shape_of(self.in_.type) is None:
            message = f"{self.name}: C1: failed to verify that input and output have the same tensor dimensions"
            yield Diagnostic(VIOLATED_CONSTRAINT, message)
        elif not self.converts(element_of(self.in_.type), element_of(self.out.type)):
            message = (
                f"{self.name}: operand types {self.in_.type}, {self.scale.type} and result type {self.out.type} are"
                " cast incompatible"
            )
            yield Diagnostic(WRONG_TYPE, message)


def _power_of_two(scale: Value) -> Value:
    """A scale as the type of scales holds it."""
    is_one = core.tensor_type(scale).element is f8e8m0fnu
    return scale if is_one else core.narrow_cast(scale, f8e8m0fnu, False, core.Toward.NEAREST)


class ScalingExtF(
    _Scaling,
    name="arith.scaling_extf",
    assembly="$in `,` $scale (`fastmath` `` $fastmath^)? attr-dict `:` type($in) `,` type($scale) `to` type($out)",
):
    """Extends a float to a wider type and multiplies it by a scale, which is first rounded to a power of two."""

    fastmath: FastMath | None = attribute(fastmath, default=None)

    def converts(self, source: Type, target: Type) -> bool:
        return bits_of(source) < bits_of(target)

    def reference(self, in_: Value, scale: Value) -> Value:
        element = carried_element(self.out)
        return core.mul(core.cast(in_, element), core.cast(_power_of_two(scale), element))


class ScalingTruncF(
    _Scaling,
    name="arith.scaling_truncf",
    assembly="$in `,` $scale ($roundingmode^)? (`fastmath` `` $fastmath^)? attr-dict `:` type($in) `,` type($scale)"
    " `to` type($out)",
):
    """Divides a float by a scale, first rounded to a power of two, and truncates the quotient to a narrower type."""

    roundingmode: Rounding | None = attribute(rounding_mode, default=None)
    fastmath: FastMath | None = attribute(fastmath, default=None)

    def converts(self, source: Type, target: Type) -> bool:
        return bits_of(source) > bits_of(target)

    def reference(self, in_: Value, scale: Value) -> Value:
        divided = core.div(in_, core.cast(_power_of_two(scale), core.tensor_type(in_).element))
        element = carried_element(self.out)
        if self.roundingmode in (None, Rounding.NEAREST_EVEN) and element.bits <= 8:
            return core.narrow_cast(divided, element, False)
        return real_functions.rounded_to(divided, element, self.roundingmode or Rounding.NEAREST_EVEN)


class _IntegerToFloat(Cast):
    sign: ClassVar[bool] = False
    in_: Value = operand(SignlessFixedWidthIntegerLike)
    out: Value = result(FloatLike)

    def reference(self, in_: Value) -> Value:
        return integers.to_float(in_, carried_element(self.out), sign=self.sign)


class UIToFP(_IntegerToFloat, name="arith.uitofp"):
    """Converts an unsigned integer to the nearest float."""


class SIToFP(_IntegerToFloat, name="arith.sitofp"):
    """Converts a signed integer to the nearest float."""

    sign = True


class _FloatToInteger(Cast):
    sign: ClassVar[bool] = False
    in_: Value = operand(FloatLike)
    out: Value = result(SignlessFixedWidthIntegerLike)

    def folds(self, operands: Sequence[Data]) -> bool:
        bits = bits_of(self.out.type) - self.sign
        least = -(1 << bits) if self.sign else 0
        values = [v for v in operands[0].values() if isinstance(v, float)]
        return all(math.isfinite(v) and least <= int(v) < 1 << bits for v in values)

    def reference(self, in_: Value) -> Value:
        return integers.from_float(in_, carried_element(self.out), sign=self.sign)


class FPToUI(_FloatToInteger, name="arith.fptoui"):
    """Converts a float to an unsigned integer, rounding toward zero; out of range, the result is unspecified."""


class FPToSI(_FloatToInteger, name="arith.fptosi"):
    """Converts a float to a signed integer, rounding toward zero; out of range, the result is unspecified."""

    sign = True


class _IndexCast(Cast):
    sign: ClassVar[bool] = False
    in_: Value = operand(IndexCastTypes)
    out: Value = result(IndexCastTypes)

    def converts(self, source: Type, target: Type) -> bool:
        return (source is index) != (target is index)

    def reference(self, in_: Value) -> Value:
        return integers.resized(in_, carried_element(self.out), sign=self.sign)


class IndexCast(_IndexCast, name="arith.index_cast"):
    """Converts between index and integer types: truncates, or sign-extends."""

    sign = True


class IndexCastUI(_IndexCast, name="arith.index_castui"):
    """Converts between index and integer types: truncates, or zero-extends."""


class Bitcast(Cast, name="arith.bitcast"):
    """Reinterprets the bits of each element as another type of the same width."""

    in_: Value = operand(BitcastTypes)
    out: Value = result(BitcastTypes)

    def converts(self, source: Type, target: Type) -> bool:
        return bits_of(source) == bits_of(target)

    def fold(self) -> Value | None:
        return self.in_ if self.in_.type is self.out.type else None

    def reference(self, in_: Value) -> Value:
        element = carried_element(self.out)
        return in_ if core.tensor_type(in_).element in (element, boolean) else core.bit_cast(in_, element)
