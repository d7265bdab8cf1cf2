"""Rules for compressed tensors: kept compressed where ONNX has the form, else decoded when the file is written."""

from __future__ import annotations

from commonir.conversions.core_to_core.quantizing import dequantized_steps, quantized_steps
from commonir.conversions.core_to_onnx.building import cast, constant, integers, opset_of
from commonir.conversions.operands import dims_of, element_of, shape_of
from commonir.dialects import core, onnx
from commonir.ir.data import ArrayData, Data, DeferredData, InlineData
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, boolean, f32, i2, i4, i8, i16, i32, u2, u4, u8, u16
from commonir.ods import known_data
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import Dim, element_count

_INTEGERS_FROM = {i8: 13, u8: 13, i4: 21, u4: 21, i16: 21, u16: 21, i2: 25, u2: 25}
"""Since which operator set integers of a type are quantized values."""

_HALF_FROM = 19
"""Since which operator set scales are in half precision."""

_MOST_OFFSETS = 1 << 20
"""Offsets that are looked at one by one; a file with more in a type of their own is written decoded."""


class _BlockLayout:
    """How scales lie: `axis` is None for a single one, `block` is 0 without blocks, `shape` is that of the operand."""

    def __init__(self, axis: int | None, block: int, shape: tuple[int, ...]) -> None:
        self.axis = axis
        self.block = block
        self.shape = shape


def _layout(dims: tuple[Dim | None, ...], scale: Value, zero_point: Value | None) -> _BlockLayout | Mismatch:
    """How ONNX says that there are so many scales and offsets along each axis: as many of both."""
    counts = shape_of(scale)
    others = counts if zero_point is None else shape_of(zero_point)
    counts, others = counts or others, others or counts
    if any(g != h and 1 not in (g, h) for g, h in zip(counts, others, strict=True)):
        return Mismatch("scales and offsets lie in different blocks")
    counts = tuple([h if g == 1 else g for g, h in zip(counts, others, strict=True)])
    fixed = tuple([g for g in counts if isinstance(g, int)])
    if len(fixed) != len(counts):
        return Mismatch("the number of scales is not fixed")
    if all(g == 1 for g in fixed):
        return _BlockLayout(None, 0, ())
    many = [a for a, g in enumerate(fixed) if g != 1]
    blocked = [a for a in many if fixed[a] != dims[a]]
    if len(many) == 1 and not blocked:
        return _BlockLayout(many[0], 0, (fixed[many[0]],))
    # Along all axes but one there is a scale for each element.
    axis = blocked[0] if blocked else next((a for a, g in enumerate(fixed) if g == 1), 0)
    dim = dims[axis]
    full = [n for a, n in enumerate(dims) if isinstance(n, int) and a != axis]
    if len(blocked) > 1 or not isinstance(dim, int) or len(full) != len(dims) - 1:
        return Mismatch("scales lie in blocks along more than one axis")
    return _BlockLayout(axis, dim // fixed[axis], (*full[:axis], fixed[axis], *full[axis:]))


def _arranged(
    context: Context, source: Value, value: Value, layout: _BlockLayout, element: ElementType
) -> Value | Mismatch:
    """Scales or offsets in the shape and type that ONNX asks for."""
    data = known_data(source)
    if data is not None:
        result = _arranged_data(data, layout, element)
        return result if isinstance(result, Mismatch) else onnx.Initializer(result).output
    if layout.block:
        return Mismatch("scales of blocks are not constant")
    if element_of(source) is not element and not (element.is_float and element_of(source).is_float):
        return Mismatch("offsets are not constant and of another type than what they belong to")
    dims = shape_of(source)
    if TensorType(element, layout.shape).count != element_count(tuple([-1 if d is None else d for d in dims])):
        return Mismatch("scales and offsets that are not constant differ in number")
    if dims != layout.shape:
        value = onnx.Reshape(value, integers(context, layout.shape)).reshaped
    return cast(value, element)


def _arranged_data(data: Data, layout: _BlockLayout, element: ElementType) -> Data | Mismatch:
    type = TensorType(element, layout.shape)
    if element is data.element and type.count == data.count:
        return DeferredData(type, lambda: InlineData(type, data.buffer()))
    if element.is_integer and element is not data.element:
        low, high = element.integer_limits
        if data.count > _MOST_OFFSETS or any(not low <= v <= high or v != int(v) for v in _numbers(data)):
            return Mismatch("offsets are not integers of the type of what they belong to")
    return DeferredData(type, lambda: _spread(data, type))


def _numbers(data: Data) -> list[float]:
    return [float(v) for v in data.values()]


def _spread(data: Data, type: TensorType) -> Data:
    """Data in another element type, repeated along axes of size 1."""
    from commonir.base.arrays import converted  # noqa: PLC0415  loads numpy

    array = converted(data.array(), type.element.name)
    if data.count == 1:
        # One for all, which has the rank of what it belongs to, whatever the rank here.
        array = array.reshape(())
    if type.count != data.count:
        xp = array.__array_namespace__()
        return ArrayData(type, xp.broadcast_to(array, type.static_shape))
    return ArrayData(type, array.reshape(type.static_shape))


@rule(core.Dequantize)
def dequantize(op: core.Dequantize, context: Context, x: Value, scale: Value, zero_point: Value | None) -> Result:
    element, opset = element_of(x), opset_of(context)
    if opset < _INTEGERS_FROM.get(element, opset + 1):
        return Mismatch(f"{context.target} has no quantized values of type {element}")
    layout = _layout(shape_of(op.x), op.scale, op.zero_point)
    if isinstance(layout, Mismatch):
        return layout
    wide = element_of(op.scale) if opset >= _HALF_FROM else f32
    factors = _arranged(context, op.scale, scale, layout, wide)
    if isinstance(factors, Mismatch):
        return factors
    offsets: Value | None = None
    if op.zero_point is not None and zero_point is not None:
        result = _arranged(context, op.zero_point, zero_point, layout, element)
        if isinstance(result, Mismatch):
            return result
        offsets = result
    axis = 1 if layout.axis is None else layout.axis
    return cast(onnx.DequantizeLinear(x, factors, offsets, axis=axis, block_size=layout.block).y, element_of(op.scale))


@rule(core.Dequantize)
def dequantize_by_arithmetic(
    op: core.Dequantize, context: Context, x: Value, scale: Value, zero_point: Value | None
) -> Result:
    if op.constant_data() is not None:
        return Mismatch("a constant is written decoded")
    offset = None if zero_point is None else cast(zero_point, f32)
    return core.cast(dequantized_steps(cast(x, f32), cast(scale, f32), offset), element_of(op.scale))


@rule(core.Quantize)
def quantize(op: core.Quantize, context: Context, x: Value, scale: Value, zero_point: Value | None) -> Result:
    opset = opset_of(context)
    if opset < _INTEGERS_FROM.get(op.element, opset + 1):
        return Mismatch(f"{context.target} has no quantized values of type {op.element}")
    layout = _layout(shape_of(op.x), op.scale, op.zero_point)
    if isinstance(layout, Mismatch):
        return layout
    wide = element_of(x) if opset >= _HALF_FROM and element_of(x) is element_of(op.scale) else f32
    factors = _arranged(context, op.scale, scale, layout, wide)
    if isinstance(factors, Mismatch):
        return factors
    if op.zero_point is None or zero_point is None:
        count = TensorType(op.element, layout.shape).count
        offsets: Value | Mismatch = constant(context, op.element, layout.shape, (0,) * count)
    else:
        offsets = _arranged(context, op.zero_point, zero_point, layout, op.element)
    if isinstance(offsets, Mismatch):
        return offsets
    axis = 1 if layout.axis is None else layout.axis
    return onnx.QuantizeLinear(cast(x, wide), factors, offsets, axis=axis, block_size=layout.block).y


@rule(core.Quantize)
def quantize_by_arithmetic(
    op: core.Quantize, context: Context, x: Value, scale: Value, zero_point: Value | None
) -> Value:
    offset = None if zero_point is None else cast(zero_point, f32)
    steps = quantized_steps(cast(x, f32), cast(scale, f32), offset, op.element)
    return core.cast(steps, op.element)


@rule(core.TableLookup)
def table_lookup(op: core.TableLookup, context: Context, positions: Value, tables: Value) -> Result:
    *counts, entries, dim = shape_of(op.tables)
    if dim != 1 or any(g != 1 for g in counts) or not isinstance(entries, int):
        return Mismatch("there are several tables, or entries of several elements")
    at, table = known_data(op.positions), known_data(op.tables)
    if at is not None and at.element.bits < u8.bits:
        type = TensorType(u8, at.shape)
        positions = onnx.Initializer(DeferredData(type, lambda: _spread(at, type))).output
    if table is None:
        line = onnx.Reshape(tables, integers(context, (entries,))).reshaped
    else:
        line_type = TensorType(table.element, (entries,))
        line = onnx.Initializer(DeferredData(line_type, lambda: InlineData(line_type, table.buffer()))).output
    return onnx.Gather(line, cast(positions, i32), axis=0).output


@rule(core.Decoded)
def decoded(op: core.Decoded, context: Context, *operands: Value | None) -> Result:
    data = op.constant_data()
    return Mismatch("what is compressed is not constant") if data is None else onnx.Initializer(data).output


@rule(core.SparseToDense)
def sparse_to_dense(op: core.SparseToDense, context: Context, mask: Value, values: Value) -> Result:
    if op.constant_data() is not None:
        return Mismatch("a constant is written decoded")
    # A value stands where the mask is set, after as many others as the mask has before.
    is_set = core.reshape(cast(mask, boolean), (-1,))
    before = core.cumsum(core.cast(is_set, i32), 0, True)
    result = core.select(is_set, core.gather(values, before, 0), core.splat(0, values))
    return core.reshape(result, dims_of(op.y))


@rule(core.RepeatMask)
def repeat_mask(op: core.RepeatMask, context: Context, mask: Value) -> Result:
    if op.constant_data() is not None:
        return Mismatch("a constant is written decoded")
    dims = list(dims_of(op.mask))
    axis = op.axis % len(dims)
    wide = core.broadcast_to(core.unsqueeze(mask, (axis + 1,)), (*dims[: axis + 1], op.count, *dims[axis + 1 :]))
    return core.reshape(wide, dims_of(op.y))
