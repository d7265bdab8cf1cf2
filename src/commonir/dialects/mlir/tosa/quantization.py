"""Operations of the tosa dialect on quantized numbers: scaling, tables, and blocks that share a scale.

Source: MLIR tosa dialect; TOSA specification 1.0, type conversion and activation function operators; for blocks the OCP
microscaling formats specification 1.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core, integers
from commonir.dialects.mlir.tosa.base import (
    AnyTosaTensor,
    AtLeast1D,
    BlockData,
    BlockData3D,
    BlockScale,
    BlockScale3D,
    BlockSize,
    EnumForm,
    Int8Like,
    IntegerLike,
    Multipliers,
    RoundingMode,
    Shifts,
    Tensor1D,
    Tensor3D,
    TosaOp,
    ZeroPoint,
    block_size,
    element,
    known_number,
    rounding_mode,
    stated_shape,
    stored_element,
    tensor_like,
)
from commonir.dialects.mlir.tosa.layout import same_sizes
from commonir.dialects.mlir.tosa.numbers import extended, saturated, scaled
from commonir.ir.operation import Value
from commonir.ir.types import Shape, Type, f32, i8, i16, i32
from commonir.ods import attr_types, attribute, operand, result, traits
from commonir.ods.operand_shapes import known_dims_of, static_dims
from commonir.ods.text_form import CustomForm
from commonir.ods.type_rules import SameNonScalars


class ApplyScale(TosaOp, name="tosa.apply_scale", traits=(traits.Elementwise, SameNonScalars)):
    """Multiplies by a multiplier and divides by two to the power of `shift`, with rounding; scalars are allowed."""

    custom_form: ClassVar[CustomForm | None] = EnumForm()

    value: Value = operand(IntegerLike)
    multiplier: Value = operand(IntegerLike)
    shift: Value = operand(Int8Like)
    rounding_mode: RoundingMode = attribute(rounding_mode)
    output: Value = result(IntegerLike)

    def reference(self, value: Value, multiplier: Value, shift: Value) -> Value:
        twice = self.rounding_mode is RoundingMode.DOUBLE_ROUND
        found = scaled(extended(value), extended(multiplier), extended(shift), double_round=twice)
        return integers.truncated(found, i32)


class Rescale(TosaOp, name="tosa.rescale"):
    """Rescales quantized integers to another scale and zero point by a multiplier and a shift.

    With `per_channel` there is a multiplier and a shift for each element of the last axis. Bits of input or output may
    be those of an unsigned number.

    C1: zero points have the element types of input and output. C2: multipliers have 32 bits with `scale32`, else 16.
    C3: rounding twice needs 32 bits. C4: there are as many multipliers and shifts as channels, or one.
    """

    custom_form: ClassVar[CustomForm | None] = EnumForm()

    input: Value = operand(AnyTosaTensor)
    multiplier: Value = operand(Multipliers)
    shift: Value = operand(Shifts)
    input_zp: Value = operand(ZeroPoint)
    output_zp: Value = operand(ZeroPoint)
    scale32: bool = attribute(attr_types.flag)
    rounding_mode: RoundingMode = attribute(rounding_mode)
    per_channel: bool = attribute(attr_types.flag)
    input_unsigned: bool = attribute(attr_types.flag)
    output_unsigned: bool = attribute(attr_types.flag)
    output: Value = result(AnyTosaTensor)

    def verify(self) -> Iterator[Diagnostic]:
        for what, value, zero in (("input", self.input, self.input_zp), ("output", self.output, self.output_zp)):
            if element(value).is_float:
                yield self.violated(f"expect {what} to have integer element type, got {element(value)}")
            if stored_element(zero) is not stored_element(value):
                message = f"C1: expect {what} and {what}_zp to have the same element type"
                yield self.violated(f"{message}, got {element(value)} and {element(zero)}")
            elif known_number(zero) not in (0, None) and stored_element(value).bits not in (8, 16):
                yield self.violated(f"expect {what}_zp of 0 for elements of {element(value)}")
        if element(self.multiplier) is not (i32 if self.scale32 else i16):
            expected = "i32" if self.scale32 else "i16"
            message = f"C2: expect {expected} element type for multiplier for scale32={str(self.scale32).lower()}"
            yield self.violated(f"{message}, got {element(self.multiplier)}")
        if self.rounding_mode is RoundingMode.DOUBLE_ROUND and not self.scale32:
            yield self.violated("C3: DOUBLE_ROUND is only allowed with scale32=true")
        if not same_sizes(stated_shape(self.input), stated_shape(self.output)):
            yield self.violated(f"expect input and output to have one shape, got {self.input.type}")
        yield from self._check_counts()

    def _check_counts(self) -> Iterator[Diagnostic]:
        shape = stated_shape(self.input)
        if self.per_channel and shape == ():
            yield self.violated("requires input to be at least rank 1 when per_channel is true, but got rank 0")
        expected = 1 if not self.per_channel else None if not shape else shape[-1]
        for what, value in (("multiplier", self.multiplier), ("shift", self.shift)):
            result = (stated_shape(value) or (None,))[0]
            if isinstance(result, int) and isinstance(expected, int) and result != expected:
                yield self.violated(f"C4: expect shape of {{ {expected} }} for {what} input, got {{ {result} }}")

    def infer_results(self) -> tuple[Type, ...] | None:
        return None

    def reference(self, input: Value, multiplier: Value, shift: Value, input_zp: Value, output_zp: Value) -> Value:
        value = core.sub(
            extended(input, unsigned=self.input_unsigned),
            extended(core.reshape(input_zp, ()), unsigned=self.input_unsigned),
        )
        factors = [extended(v) for v in (multiplier, shift)]
        if not self.per_channel:
            factors = [core.reshape(v, ()) for v in factors]
        twice = self.rounding_mode is RoundingMode.DOUBLE_ROUND
        found = scaled(value, *factors, double_round=twice)
        target = extended(core.reshape(output_zp, ()), unsigned=self.output_unsigned)
        return saturated(core.add(found, target), element(self.output), unsigned=self.output_unsigned)


class Table(TosaOp, name="tosa.table"):
    """Looks up each element in a table.

    8-bit numbers choose one of 256 entries. 16-bit numbers lie between two of 513, by their low 7 bits: the result has
    7 more bits than the entries.

    C1: the table has 256 entries for 8-bit numbers, 513 for 16-bit ones.
    """

    input1: Value = operand(AnyTosaTensor)
    table: Value = operand(Tensor1D)
    output: Value = result(AnyTosaTensor)

    def infer_results(self) -> tuple[Type, ...] | None:
        return None

    def verify(self) -> Iterator[Diagnostic]:
        shape, found = stated_shape(self.input1), stated_shape(self.output)
        if shape is not None and found is not None and len(shape) != len(found):
            yield self.violated(f"expected input tensor rank to equal result tensor rank, got {self.output.type}")
        elif not same_sizes(shape, found):
            yield self.violated(f"expected the shape of the input, got {self.output.type}")
        count = (stated_shape(self.table) or (None,))[0]
        expected = {8: 256, 16: 513}.get(element(self.input1).bits)
        if isinstance(count, int) and expected is not None and count != expected:
            yield self.violated(f"C1: expected a table of {expected} entries, got {count}")

    def reference(self, input1: Value, table: Value) -> Value:
        if element(input1) is i8:
            return core.gather(table, core.add(core.cast(input1, i32), core.scalar(128, i32)), 0)
        x, entries = core.cast(input1, i32), core.cast(table, i32)
        place = core.shift_right(core.add(x, core.scalar(32768, i32)), core.scalar(7, i32))
        fraction = core.bitwise_and(x, core.scalar(0x7F, i32))
        first = core.gather(entries, place, 0)
        after = core.gather(entries, core.add(place, core.scalar(1, i32)), 0)
        low, high = core.scalar(-32768, i32), core.scalar(32767, i32)
        slope = core.minimum(core.maximum(core.sub(after, first), low), high)
        return core.add(core.mul(first, core.scalar(128, i32)), core.mul(slope, fraction))


# -- blocks that share a scale

_SIZES = {BlockSize.BLOCK_SIZE_32: 32}


def _blocks(op: TosaOp, data: Value, scale: Value, size: int) -> Iterator[Diagnostic]:
    a, b = stated_shape(data), stated_shape(scale)
    last = None if a is None else a[-1]
    if isinstance(last, int) and last % size:
        yield op.violated(f"expect last axis of the data ({last}) to be a multiple of the block size ({size})")
        return
    if a is None or b is None:
        return
    if not same_sizes(a[:-1], b[:-1]):
        yield op.violated(f"require shapes of data and scale to match but for the last axis, got {data.type}")
    count = b[-1]
    if isinstance(last, int) and isinstance(count, int) and count != last // size:
        yield op.violated(f"expect last axis of the scale ({count}) to be {last // size}")


def _sizes_in_blocks(data: Value, scale: Value, size: int) -> Shape:
    """Returns the shape of a batch of matrices with blocked rows, inferred from its elements or their scales."""
    nothing = (None, None, None)
    *lead, columns = stated_shape(data) or nothing
    counted = (*lead, columns // size if isinstance(columns, int) else None)
    return tuple([m if n is None else n for n, m in zip(counted, stated_shape(scale) or nothing, strict=True)])


def _one_shape(op: TosaOp, value: Value, built: Value) -> Iterator[Diagnostic]:
    if not same_sizes(stated_shape(value), stated_shape(built)):
        yield op.violated(f"require one shape of input and output, got {built.type}")


class CastFromBlockScaled(TosaOp, name="tosa.cast_from_block_scaled"):
    """Converts narrow floats with a scale for each block of the last axis to wider floats."""

    custom_form: ClassVar[CustomForm | None] = EnumForm()

    input_data: Value = operand(BlockData)
    input_scale: Value = operand(BlockScale)
    block_size: BlockSize = attribute(block_size)
    output_data: Value = result(AtLeast1D)

    def verify(self) -> Iterator[Diagnostic]:
        yield from _blocks(self, self.input_data, self.input_scale, _SIZES[self.block_size])
        yield from _one_shape(self, self.input_data, self.output_data)

    def reference(self, input_data: Value, input_scale: Value) -> Value:
        found = _unscaled(input_data, input_scale, _SIZES[self.block_size])
        return core.cast(found, element(self.output_data))


def _unscaled(data: Value, scale: Value, size: int) -> Value:
    *lead, last = known_dims_of(data)
    parts = core.reshape(core.cast(data, f32), (*lead, known_dims_of(scale)[-1], size))
    factors = core.unsqueeze(core.cast(scale, f32), (len(lead) + 1,))
    return core.reshape(core.mul(parts, factors), (*lead, last))


class CastToBlockScaled(TosaOp, name="tosa.cast_to_block_scaled"):
    """Converts floats to narrow floats, with a power of two as scale for each block of the last axis."""

    custom_form: ClassVar[CustomForm | None] = EnumForm()

    input_data: Value = operand(AtLeast1D)
    block_size: BlockSize = attribute(block_size)
    output_data: Value = result(BlockData)
    output_scale: Value = result(BlockScale)

    def verify(self) -> Iterator[Diagnostic]:
        shape, size = stated_shape(self.input_data), _SIZES[self.block_size]
        last = shape[-1] if shape else None
        if isinstance(last, int) and last % size:
            yield self.violated(f"expect last dimension of input_data ({last}) to be divisible by block_size ({size})")
        yield from _blocks(self, self.output_data, self.output_scale, _SIZES[self.block_size])
        yield from _one_shape(self, self.input_data, self.output_data)


class MatMulTBlockScaled(TosaOp, name="tosa.matmul_t_block_scaled"):
    """Batched matrix product of block-scaled narrow floats; the second matrix is transposed."""

    custom_form: ClassVar[CustomForm | None] = EnumForm()

    a_data: Value = operand(BlockData3D)
    a_scale: Value = operand(BlockScale3D)
    b_data: Value = operand(BlockData3D)
    b_scale: Value = operand(BlockScale3D)
    block_size: BlockSize = attribute(block_size)
    output_data: Value = result(Tensor3D)

    def verify(self) -> Iterator[Diagnostic]:
        size = _SIZES[self.block_size]
        if element(self.a_data) is not element(self.b_data):
            kinds_ = f"'{element(self.a_data)}' and '{element(self.b_data)}'"
            yield self.violated(f"expect A_data and B_data to have same element type, got {kinds_}")
        yield from _blocks(self, self.a_data, self.a_scale, size)
        yield from _blocks(self, self.b_data, self.b_scale, size)
        summed = next((s[2] for v in (self.a_data, self.b_data) if (s := stated_shape(v)) is not None), None)
        if isinstance(summed, int) and summed % size:
            yield self.violated(f"expect C to be a multiple of block size, got C={summed}, block_size={size}")
        a = _sizes_in_blocks(self.a_data, self.a_scale, size)
        b = _sizes_in_blocks(self.b_data, self.b_scale, size)
        expected = (a[0], a[1], b[1])
        if not same_sizes(a[2:], b[2:]):
            yield self.violated(f"expect one size of the summed axes, got {self.a_data.type} and {self.b_data.type}")
        elif b[0] != 1 and not same_sizes(a[:1], b[:1]):
            yield self.violated(f"expect as many matrices in B as in A ({a[0]}), or one, got {b[0]}")
        elif not same_sizes(expected, stated_shape(self.output_data)):
            shape = "x".join(["?" if d is None else str(d) for d in expected])
            yield self.violated(f"expected a result of {shape}, found {self.output_data.type}")

    def infer_results(self) -> tuple[Type, ...] | None:
        a, b = stated_shape(self.a_data), stated_shape(self.b_data)
        return None if a is None or b is None else (tensor_like(f32, (a[0], a[1], b[1])),)

    def reference(self, a_data: Value, a_scale: Value, b_data: Value, b_scale: Value) -> Value:
        size = _SIZES[self.block_size]
        left, right = _unscaled(a_data, a_scale, size), _unscaled(b_data, b_scale, size)
        if static_dims(right)[0] == 1:
            right = core.broadcast_to(right, (known_dims_of(left)[0], *known_dims_of(right)[1:]))
        return core.cast(core.matmul(left, right, False, True), element(self.output_data))
