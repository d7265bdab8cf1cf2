"""Rules for compressed constants, which keep their form where the operation set has it, and for quantization.

Until iOS 17 a compressed constant has its parts as attributes, from iOS 18 as literals.
"""

from __future__ import annotations

import math

from commonir.conversions.core_to_core.quantizing import dequantized_steps, quantized_steps
from commonir.conversions.core_to_mil.building import cast, const, data_behind, mil_element
from commonir.conversions.operands import element_of, rank_of, shape_of
from commonir.dialects import core
from commonir.dialects.mil import compression as mil
from commonir.dialects.mil import quantization
from commonir.dialects.mil.base import CORE_ML_5, CORE_ML_6, CORE_ML_7
from commonir.dialects.mil.compression import viewed
from commonir.dialects.mil.operands import DataType
from commonir.dialects.mil.program import Constant, Literal
from commonir.ir.data import Data, data_of
from commonir.ir.operation import Value
from commonir.ir.types import f32, i8, i32, u8, u32
from commonir.passes.convert_elements import converted_data
from commonir.rewrite.legalize import Context, LegalizationRule, Mismatch, Result, rule

_NO_FORM = Mismatch("the operation set has no such compression")


def _has_attributes(context: Context) -> bool:
    """Whether the compressions of iOS 16 and 17 are those of the operation set."""
    return context.target.version in (CORE_ML_6, CORE_ML_7)


def _literal(value: Value, shape: tuple[int, ...] | None = None) -> Value:
    """A constant as a literal; what another compression gives as it is."""
    if not isinstance(value.owner, Constant):
        return value
    data = value.owner.val
    return Literal(data if shape is None or shape == data.shape else viewed(data, shape)).output


def _plain(value: Value | None) -> Data | None:
    return value.owner.val if value is not None and isinstance(value.owner, Constant) else None


def _sizes(data: Data) -> Data:
    return data_of(u32, (len(data.shape),), data.shape)


def _axis_of(data: Data | None, shape: tuple[int, ...]) -> int | None:
    """The only axis along which values for blocks differ, each for one element; None when there is no such axis."""
    if data is None or data.count == 1:
        return 0
    axes = [n for n, dim in enumerate(data.shape) if dim != 1]
    fits = len(axes) == 1 and len(data.shape) == len(shape) and data.shape[axes[0]] == shape[axes[0]]
    return axes[0] if fits else None


@rule(core.Dequantize)
def affine_weight(op: core.Dequantize, context: Context, x: Value, scale: Value, zero_point: Value | None) -> Result:
    data, factor, offset = _plain(x), _plain(scale), _plain(zero_point)
    if context.target.version == CORE_ML_5 or data is None or factor is None or (offset is None and zero_point):
        return _NO_FORM
    if data.element not in (i8, u8) or not data.shape or not factor.element.is_float or factor.element.bits > f32.bits:
        return _NO_FORM
    axes = {a for d in (factor, offset) if d is not None and d.count > 1 for a in (_axis_of(d, data.shape),)}
    if None in axes or len(axes) > 1 or (offset is not None and offset.element not in (i8, u8, f32)):
        return _NO_FORM
    axis = next((a for a in axes if a is not None), 0)
    zero = data_of(data.element, (), (0,)) if offset is None else _vector(offset)
    return mil.ConstexprAffineDequantize(data, zero, _vector(factor), axis).output


def _vector(data: Data) -> Data:
    """Values along one axis as a vector, one value as a scalar."""
    return viewed(data, () if data.count == 1 else (data.count,))


@rule(core.Dequantize)
def weight_in_blocks(op: core.Dequantize, context: Context, x: Value, scale: Value, zero_point: Value | None) -> Result:
    if any(data_behind(v) is None for v in (x, scale)) or (zero_point is not None and data_behind(zero_point) is None):
        return Mismatch("the operands are not constant")
    shape = tuple([d for d in shape_of(x) if isinstance(d, int)])
    blocks = _blocks(scale, len(shape))
    offset = None if zero_point is None else _repeated(zero_point, blocks)
    if not shape or (offset is None and zero_point is not None):
        return _NO_FORM
    return mil.ConstexprBlockwiseShiftScale(_literal(x), _literal(scale, blocks), offset).output


def _blocks(value: Value, rank: int) -> tuple[int, ...]:
    shape = tuple([d for d in shape_of(value) if isinstance(d, int)])
    return shape or (1,) * rank


def _repeated(value: Value, blocks: tuple[int, ...]) -> Value | None:
    """Offsets with the shape of the scales; None when one of them would have to be repeated."""
    data = _plain(value)
    if data is None:
        return value if shape_of(value) == blocks else None
    return _literal(value, blocks) if data.count == math.prod(blocks) else None


@rule(core.TableLookup)
def table_of_attributes(op: core.TableLookup, context: Context, positions: Value, tables: Value) -> Result:
    indices, table = _plain(positions), _plain(tables)
    if not _has_attributes(context) or indices is None or table is None:
        return _NO_FORM
    entries = table.count
    if math.prod(table.shape[:-2]) != 1 or table.shape[-1] != 1 or entries not in (2, 4, 16, 64, 256):
        return _NO_FORM
    if indices.element.kind != "uint" or 1 << indices.element.bits != entries:
        return _NO_FORM
    packed = viewed(indices, (indices.size_bytes,), u8)
    return mil.ConstexprLutToDense(packed, viewed(table, (entries,)), _sizes(indices)).output


@rule(core.TableLookup)
def table_of_blocks(op: core.TableLookup, context: Context, positions: Value, tables: Value) -> Result:
    if data_behind(positions) is None or data_behind(tables) is None:
        return Mismatch("the operands are not constant")
    return mil.ConstexprLutToDenseCoreML8(_literal(positions), _literal(tables), op.vector_axis).output


@rule(core.SparseToDense)
def sparse_of_attributes(op: core.SparseToDense, context: Context, mask: Value, values: Value) -> Result:
    bits, data = _plain(mask), _plain(values)
    if not _has_attributes(context) or bits is None or data is None:
        return _NO_FORM
    return mil.ConstexprSparseToDense(data, viewed(bits, (bits.size_bytes,), u8), _sizes(bits)).output


@rule(core.SparseToDense)
def sparse(op: core.SparseToDense, context: Context, mask: Value, values: Value) -> Result:
    if data_behind(mask) is None or data_behind(values) is None:
        return Mismatch("the operands are not constant")
    return mil.ConstexprSparseToDenseCoreML8(_literal(values), _literal(mask)).output


@rule(core.SparseTableLookup)
def sparse_table(op: core.SparseTableLookup, context: Context, mask: Value, positions: Value, tables: Value) -> Result:
    if any(data_behind(v) is None for v in (mask, positions, tables)):
        return Mismatch("the operands are not constant")
    new_op = mil.ConstexprLutToSparse(_literal(mask), _literal(positions), _literal(tables), op.vector_axis)
    return new_op.nonzero_data


@rule(core.SparseDequantize)
def sparse_in_blocks(
    op: core.SparseDequantize, context: Context, mask: Value, values: Value, scale: Value, zero_point: Value | None
) -> Result:
    if any(data_behind(v) is None for v in (mask, values, scale)):
        return Mismatch("the operands are not constant")
    blocks = _blocks(scale, rank_of(mask))
    offset = None if zero_point is None else _repeated(zero_point, blocks)
    if offset is None and zero_point is not None:
        return _NO_FORM
    new_op = mil.ConstexprSparseBlockwiseShiftScale(_literal(mask), _literal(values), _literal(scale, blocks), offset)
    return new_op.values


@rule(core.RepeatMask)
def repeated_mask(op: core.RepeatMask, context: Context, mask: Value) -> Result:
    data = op.constant_data()
    return Mismatch("the mask is not constant") if data is None else const(data)


def _decompressed(op: core.Decoded, context: Context, *operands: Value | None) -> Result:
    """The elements themselves, for operation sets that have no such compression."""
    data = op.constant_data()
    if data is None:
        return Mismatch("the operands are not constant")
    return const(converted_data(data, mil_element(data.element)))


DECOMPRESSION = (LegalizationRule(core.Decoded, _decompressed),)
"""The rules for weights that cannot stay compressed."""


@rule(core.Cast)
def widened_weight(op: core.Cast, context: Context, x: Value) -> Result:
    """A weight in half precision that is used in single precision stays in half precision in the file."""
    data = _plain(x)
    if data is None or data.element.name != "f16" or op.to is not f32 or data.count < 10:
        return Mismatch("this is not a weight in half precision")
    if context.target.version == CORE_ML_5:
        return const(converted_data(data, f32))
    if _has_attributes(context):
        return mil.ConstexprCast(data, "fp32").output
    return mil.ConstexprCastCoreML8(Literal(data).output, "fp32").output


# -- quantization of activations

_EIGHT_BITS = {i8: DataType.INT8, u8: DataType.UINT8}


def _along(scale: Value, shape: tuple[object, ...]) -> tuple[Value, int | None] | None:
    """A constant scale or zero point as MIL takes it: a scalar without axis, or a vector along one."""
    data = _plain(scale)
    if data is None:
        return None
    if data.count == 1:
        return const(viewed(data, ())), None
    axis = _axis_of(data, tuple([d if isinstance(d, int) else -1 for d in shape]))
    return None if axis is None else (const(viewed(data, (data.count,))), axis)


@rule(core.Quantize)
def quantize(op: core.Quantize, context: Context, x: Value, scale: Value, zero_point: Value | None) -> Result:
    kind, along = _EIGHT_BITS.get(op.element), _along(scale, shape_of(x))
    offset = None if zero_point is None else _along(zero_point, shape_of(x))
    if kind is None or along is None or (zero_point is not None and offset is None):
        return Mismatch("mil.quantize gives 8 bits, by constant scales along at most one axis")
    if offset is not None and offset[1] != along[1]:
        return Mismatch("scale and zero_point of mil.quantize are along one axis")
    return quantization.Quantize(x, along[0], kind, None if offset is None else offset[0], along[1]).output


@rule(core.Quantize)
def quantize_by_steps(op: core.Quantize, context: Context, x: Value, scale: Value, zero_point: Value | None) -> Value:
    offset = None if zero_point is None else _number(zero_point)
    return core.cast(quantized_steps(cast(x, f32), cast(scale, f32), offset, op.element), i32)


def _number(value: Value) -> Value:
    """An integer of few bits in single precision, converted before the program runs when it is constant."""
    data = _plain(value)
    return cast(value, f32) if data is None else const(converted_data(data, f32))


@rule(core.Dequantize)
def dequantize(op: core.Dequantize, context: Context, x: Value, scale: Value, zero_point: Value | None) -> Result:
    result = _along(scale, shape_of(x))
    offset = None if zero_point is None else _along(zero_point, shape_of(x))
    if data_behind(x) is not None or element_of(x) not in _EIGHT_BITS or result is None:
        return Mismatch("mil.dequantize takes integers of 8 bits, and constant scales along at most one axis")
    if (zero_point is not None and offset is None) or (offset is not None and offset[1] != result[1]):
        return Mismatch("scale and zero_point of mil.dequantize are along one axis")
    return quantization.Dequantize(x, result[0], None if offset is None else offset[0], result[1]).output


@rule(core.Dequantize)
def dequantize_by_steps(
    op: core.Dequantize, context: Context, x: Value, scale: Value, zero_point: Value | None
) -> Result:
    if data_behind(x) is not None:
        return Mismatch("a compressed constant is not computed while the program runs")
    offset = None if zero_point is None else _number(zero_point)
    return core.cast(dequantized_steps(_number(x), cast(scale, f32), offset), element_of(scale))
