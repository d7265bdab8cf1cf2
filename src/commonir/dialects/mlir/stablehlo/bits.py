"""Operations of the stablehlo dialect on the bits of numbers: taken as another type, or fewer of them.

Source: StableHLO specification, bitcast_convert, reduce_precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.stablehlo import forms
from commonir.dialects.mlir.stablehlo.base import (
    AnyQuantizedToo,
    CompatibleTypes,
    FloatsOrQuantized,
    HloOp,
    converted,
    element,
    is_complex,
    kind_of,
    like,
    non_negative,
    positive,
    small,
    stated_shape,
)
from commonir.dialects.mlir.stablehlo.quantization import quantization_of
from commonir.ir.operation import Value
from commonir.ir.types import ComplexType, ElementType, Type, boolean, f32, f64, i64, unsigned_type
from commonir.notation import NotationError
from commonir.ods import attribute, operand, result, traits
from commonir.ods.operand_shapes import known_dims_of
from commonir.ods.text_form import CustomForm
from commonir.ods.type_rules import are_compatible_shapes


class BitcastConvert(HloOp, name="stablehlo.bitcast_convert", traits=(traits.Pure,)):
    """Reinterprets the bits as another element type; if widths differ, the last axis is added or removed. C1: the
    shapes agree, except for a last axis whose size is the ratio of the bit widths.
    """

    assembly = "operands attr-dict `:` functional-type(operands, results)"

    operand: Value = operand(AnyQuantizedToo)
    result_: Value = result(AnyQuantizedToo)

    def verify(self) -> Iterator[Diagnostic]:
        source, expected = element(self.operand), element(self.result_)
        if is_complex(source) is not is_complex(expected):
            yield self.violated(f"C1: cannot convert between real and complex types, got {source} and {expected}")
            return
        before, after = stated_shape(self.operand), stated_shape(self.result_)
        if before is None or after is None:
            return
        wide, narrow = bits_of(source), bits_of(expected)
        if wide == narrow:
            longer, shorter, count = before, after, None
        elif wide > narrow:
            longer, shorter, count = after, before, wide // narrow
        else:
            longer, shorter, count = before, after, narrow // wide
        result = longer if count is None else longer[:-1]
        last = longer[-1] if longer and count is not None else None
        if (
            len(result) != len(shorter)
            or (count is not None and (not longer or (isinstance(last, int) and last != count)))
            or not are_compatible_shapes(
                like(self.operand.type, result, boolean), like(self.operand.type, shorter, boolean)
            )
        ):
            yield self.violated(f"C1: shapes of {self.operand.type} and {self.result_.type} do not agree")

    def reference(self, operand: Value) -> Value:
        expected = element(self.result_)
        assert isinstance(expected, ElementType)
        return rebitted(operand, expected)


def bits_of(type: Type) -> int:
    """The width of elements; a bool has one bit, and a quantized number those of its integer."""
    quantization = quantization_of(type)
    if quantization is not None:
        return quantization.bits
    return type.width if isinstance(type, ElementType) else 0


def rebitted(x: Value, expected: ElementType) -> Value:
    """The same bits as numbers of another type."""
    source = kind_of(x)
    if source is expected:
        return x
    if bits_of(source) == bits_of(expected):
        return core.bit_cast(x, expected)
    if isinstance(source, ComplexType) and isinstance(expected, ComplexType):
        return _complex_parts(x, expected)
    if isinstance(source, ComplexType) or isinstance(expected, ComplexType):
        raise NotationError(f"bits of {source} cannot be taken as {expected}")
    if source is boolean:
        return _of_single_bits(x, expected)
    if expected is boolean:
        return _single_bits(x)
    return core.bits_as(x, expected)


def _complex_parts(x: Value, expected: ComplexType) -> Value:
    """Complex numbers of another precision that have the bits of some: the real part comes first in memory."""
    if bits_of(kind_of(x)) > bits_of(expected):
        parts = [core.bits_as(part(x), expected.part) for part in (core.real, core.imag)]
        pairs = [[_along_last(p, n) for n in range(2)] for p in parts]
        numbers = [core.unsqueeze(core.make_complex(*pair), (len(known_dims_of(x)),)) for pair in pairs]
        return core.concat(tuple(numbers), len(known_dims_of(x)))
    wide: list[Value] = []
    for n in range(2):
        number = _along_last(x, n)
        halves = [core.unsqueeze(v, (len(known_dims_of(v)),)) for v in (core.real(number), core.imag(number))]
        wide.append(core.bits_as(core.concat(tuple(halves), len(known_dims_of(number))), expected.part))
    return core.make_complex(*wide)


def _along_last(x: Value, n: int) -> Value:
    """The elements at a place of the last axis."""
    return core.gather(x, core.scalar(n, i64), len(known_dims_of(x)) - 1)


def _of_single_bits(x: Value, expected: ElementType) -> Value:
    """Numbers of the bits along the last axis, the lowest first."""
    whole = unsigned_type(bits_of(expected))
    last = len(known_dims_of(x)) - 1
    bits = core.shift_left(core.cast(x, whole), core.cast(core.iota((bits_of(expected),)), whole))
    return as_type(core.reduce_sum(bits, (last,)), expected)


def _single_bits(x: Value) -> Value:
    """The bits of numbers along a new last axis, the lowest first."""
    count, rank = bits_of(kind_of(x)), len(known_dims_of(x))
    whole = unsigned_type(count)
    bits = core.unsqueeze(as_type(x, whole), (rank,))
    moved = core.shift_right(bits, core.cast(core.iota((count,)), whole))
    one = core.splat(1, moved)
    return core.equal(core.bitwise_and(moved, one), one)


def as_type(x: Value, expected: ElementType) -> Value:
    """The bits as numbers of a type of the same width."""
    return x if kind_of(x) is expected else core.bit_cast(x, expected)


class ReducePrecision(
    HloOp, name="stablehlo.reduce_precision", traits=(traits.Elementwise, traits.Pure, CompatibleTypes)
):
    """Rounds each element to a float of fewer exponent and mantissa bits, in the same type."""

    custom_form: ClassVar[CustomForm | None] = forms.FormatForm(types=forms.SAME)

    operand: Value = operand(FloatsOrQuantized)
    exponent_bits: int = attribute(small, check=positive)
    mantissa_bits: int = attribute(small, check=non_negative)
    output: Value = result(FloatsOrQuantized)

    def reference(self, operand: Value) -> Value:
        return reduced_precision(operand, self.exponent_bits, self.mantissa_bits)


def reduced_precision(x: Value, exponent_bits: int, mantissa_bits: int) -> Value:
    """Floats rounded to fewer bits, halves to even; what is too large is infinite, what is too small is zero."""
    element_type = kind_of(x)
    wide = x if element_type in (f32, f64) else core.cast(x, f32)
    mantissa, exponent, width = (52, 11, 64) if element_type is f64 else (23, 8, 32)
    bits_type = unsigned_type(width)
    bits = core.bit_cast(wide, bits_type)
    sign = core.bitwise_and(bits, core.splat(1 << (width - 1), bits))
    most = ((1 << exponent) - 1) << mantissa
    if mantissa_bits < mantissa:
        dropped = mantissa - mantissa_bits
        last = core.bitwise_and(core.shift_right(bits, core.splat(dropped, bits)), core.splat(1, bits))
        bits = core.add(bits, core.add(last, core.splat((1 << (dropped - 1)) - 1, bits)))
        bits = core.bitwise_and(bits, core.splat(((1 << width) - 1) ^ ((1 << dropped) - 1), bits))
    if exponent_bits < exponent:
        bias, narrow = (1 << (exponent - 1)) - 1, (1 << (exponent_bits - 1)) - 1
        exponents = core.bitwise_and(bits, core.splat(most, bits))
        infinite = core.splat(most, bits)
        too_large = core.greater(exponents, core.splat((bias + narrow) << mantissa, bits))
        too_small = core.less_equal(exponents, core.splat((bias - narrow) << mantissa, bits))
        bits = core.select(too_large, core.bitwise_or(sign, infinite), bits)
        bits = core.select(too_small, sign, bits)
    # Without bits for its payload, NaN is infinite.
    nan = wide if mantissa_bits else core.bit_cast(core.bitwise_or(sign, core.splat(most, bits)), kind_of(wide))
    built = core.select(core.is_nan(wide), nan, core.bit_cast(bits, kind_of(wide)))
    return converted(built, element_type)
