"""Operators of com.microsoft on block-quantized weights of few bits.

Source: onnxruntime, contrib operator reference, version 1.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import FLOATS_8, INTEGERS_4, POSITIONS, OnnxOp, axis_from_start, element_of, shape_of
from commonir.dialects.onnx.quantization import HALF_AND_SINGLE, WHOLE, dequantized
from commonir.ir.data import Data, DeferredData, InlineData, codes_of, data_of, packed_codes
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f4e2m1fn, f32, i32, u2, u4, u8
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, element_type, known_data, one_of, operand, positive, result, traits
from commonir.symbolic import Dim, ceil_div

_OF_BITS = {2: u2, 4: u4, 8: u8}
BYTE = element_type(u8)


def _unpacked(x: Value, bits: int, shape: tuple[Dim, ...]) -> Value:
    """The numbers of some bits that lie in bytes, the lowest bits first, as a tensor of a shape.

    Each row of the last axis begins with a byte; what fills up its last one is left out.
    """
    element, per_byte = _OF_BITS[bits], 8 // bits
    if element is u8:
        return core.reshape(x, shape)
    *lead, kept = shape
    row = ceil_div(kept, per_byte) * per_byte
    data = known_data(x)
    sizes = tuple([n for n in shape if isinstance(n, int)])
    if data is not None and isinstance(row, int) and isinstance(kept, int) and len(sizes) == len(shape):
        type = TensorType(element, sizes)
        return core.constant(DeferredData(type, lambda: InlineData(type, _without_ends(data, bits, row, kept))))
    parts = core.bits_as(core.reshape(x, (*lead, ceil_div(kept, per_byte))), element)
    rows = core.reshape(parts, (*lead, row))
    return rows if row == kept else core.slice(rows, (0,) * len(shape), shape, (1,) * len(shape))


def _without_ends(data: Data, bits: int, row: int, length: int) -> bytes | memoryview:
    """Returns the bytes of rows of numbers of some bits without the padding of the last byte of each."""
    if row == length:
        return data.buffer()
    codes = codes_of(data.buffer(), bits, data.count * (8 // bits))
    return packed_codes([c for n in range(0, len(codes), row) for c in codes[n : n + length]], bits)


def _middle(bits: int) -> Value:
    """The zero point of numbers of some bits where none is given."""
    return core.scalar(1 << (bits - 1), _OF_BITS[bits])


class MatMulNBits(
    OnnxOp,
    name="onnx.microsoft.MatMulNBits",
    since="microsoft1",
    traits=(traits.Decodes("B", "quantized", block="block_size", bits="bits", shape=("K", "N"), is_used=True),),
):
    """Product with a transposed matrix that is quantized to 2, 4 or 8 bits, with a scale for each block of a row, plus
    a bias.

    `accuracy_level`, the precision to which A may be reduced, has no effect here.
    """

    A: Value = operand("T1")
    B: Value = operand("T2")
    scales: Value = operand("T1")
    K: int = attribute(attr_types.integer, check=positive)
    N: int = attribute(attr_types.integer, check=positive)
    block_size: int = attribute(attr_types.integer, check=positive)
    zero_points: Value | None = operand("T3", default=None)
    g_idx: Value | None = operand("T4", default=None)
    bias: Value | None = operand("T1", default=None)
    bits: int = attribute(attr_types.integer, default=4, check=one_of(2, 4, 8))
    accuracy_level: int = attribute(attr_types.integer, default=0)
    weight_prepacked: int = attribute(attr_types.integer, default=0)
    Y: Value = result("T1")
    T1 = HALF_AND_SINGLE
    T2 = BYTE
    T3 = BYTE | HALF_AND_SINGLE
    T4 = WHOLE

    def reference(
        self, A: Value, B: Value, scales: Value, zero_points: Value | None, g_idx: Value | None, bias: Value | None
    ) -> Value:
        if g_idx is not None or self.weight_prepacked:
            what = "an order of rows (g_idx)" if g_idx is not None else "a matrix in the layout of a device"
            raise NotationError(f"{what} has no meaning here")
        blocks = -(-self.K // self.block_size)
        width = blocks * self.block_size
        quanta = _unpacked(B, self.bits, (self.N, width))
        factors = core.reshape(scales, (self.N, blocks))
        if zero_points is None:
            offsets = _middle(self.bits)
        elif element_of(zero_points) is u8:
            offsets = _unpacked(zero_points, self.bits, (self.N, blocks))
        else:
            offsets = core.reshape(zero_points, (self.N, blocks))
        rows = dequantized(quanta, factors, offsets, 1, self.block_size)
        if width != self.K:
            rows = core.slice(rows, (0, 0), (self.N, self.K), (1, 1))
        y = core.matmul(A, rows, False, True)
        return y if bias is None else core.add(y, bias)


def _packed(x: Value, bits: int) -> tuple[Dim, ...]:
    """The shape of the numbers that lie in a tensor of bytes."""
    *lead, count = shape_of(x)
    return (*lead, count * (8 // bits))


class GatherBlockQuantized(
    OnnxOp,
    name="onnx.microsoft.GatherBlockQuantized",
    since="microsoft1",
    traits=(traits.Decodes("data", "quantized", block="block_size", bits="bits", is_used=True),),
):
    """Gathers slices of a block-quantized table along an axis, and dequantizes them.

    Blocks, along another axis, have a scale each. Numbers of `bits` bits are packed into bytes along the last axis. An
    index out of range gives zeros.
    """

    data: Value = operand("T1")
    indices: Value = operand("Tind")
    scales: Value = operand("T2")
    zero_points: Value | None = operand("T1", default=None)
    gather_axis: int = attribute(attr_types.integer, default=0)
    quantize_axis: int = attribute(attr_types.integer, default=1)
    block_size: int = attribute(attr_types.integer, default=128)
    bits: int = attribute(attr_types.integer, default=4, check=one_of(2, 4, 8))
    output: Value = result("T2")
    T1 = INTEGERS_4 | BYTE | FLOATS_8 | element_type(f4e2m1fn)
    T2 = HALF_AND_SINGLE
    Tind = POSITIONS

    def reference(self, data: Value, indices: Value, scales: Value, zero_points: Value | None) -> Value:
        offsets, quanta = zero_points, data
        if element_of(data) is u8:
            quanta = _unpacked(data, self.bits, _packed(data, self.bits))
            offsets = _middle(self.bits) if zero_points is None else _unpacked(zero_points, self.bits, shape_of(scales))
        shape = shape_of(quanta)
        at, along = axis_from_start(self.gather_axis, len(shape)), axis_from_start(self.quantize_axis, len(shape))
        size = shape[at]
        index = element_of(indices)
        count = core.dims((size,), index, True)
        places = core.select(core.less(indices, core.scalar(0, index)), core.add(indices, count), indices)
        is_inside = core.logical_and(core.greater_equal(places, core.scalar(0, index)), core.less(places, count))
        taken = core.select(is_inside, places, core.scalar(0, index))
        if at == along:
            y = core.gather(self._numbers(quanta, scales, offsets, along), taken, at)
        else:
            rank = len(shape_of(indices))
            parts = [v if v is None else _taken(v, taken, at) for v in (quanta, scales, offsets)]
            assert parts[0] is not None
            assert parts[1] is not None
            y = self._numbers(parts[0], parts[1], parts[2], along if along < at else along + rank - 1)
        lying = core.reshape(is_inside, (*shape_of(indices), *(1,) * (len(shape) - at - 1)))
        return core.select(lying, y, core.splat(0.0, y))

    def _numbers(self, quanta: Value, scales: Value, offsets: Value | None, axis: int) -> Value:
        return dequantized(quanta, scales, offsets, axis, self.block_size)


def _taken(values: Value, places: Value, axis: int) -> Value:
    """The slices at some places; of what is one for all, that one."""
    shape = shape_of(values)
    if not shape:
        return values
    if shape[axis] == 1:
        places = core.fill(core.splat(0, places), shape_of(places))
    return core.gather(values, places, axis)


_FP4 = (0.0, 0.005208333333, 0.66666667, 1.0, 0.33333333, 0.5, 0.16666667, 0.25)
_NF4 = (
    *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334),
    *(-0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
    *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
)
_TABLES = ((*_FP4, *[-x for x in _FP4]), _NF4)
"""The values of the 4-bit codes of bitsandbytes, by `quant_type`."""


def _in_type_of(values: Value, x: Value) -> Value:
    return values if element_of(values) is element_of(x) else core.cast(values, element_of(x))


class MatMulBnb4(OnnxOp, name="onnx.microsoft.MatMulBnb4", since="microsoft1"):
    """Product with a transposed matrix whose elements are codes of 4 bits, two in a byte, the first in the upper bits.
    Codes stand for numbers of a table, FP4 or NF4, which are multiplied by a scale for each block of the flat matrix.

    Source: onnxruntime, contrib operator reference, version 1.
    """

    A: Value = operand("T1")
    B: Value = operand("T2")
    absmax: Value = operand("T1")
    K: int = attribute(attr_types.integer, check=positive)
    N: int = attribute(attr_types.integer, check=positive)
    block_size: int = attribute(attr_types.integer, check=positive)
    quant_type: int = attribute(attr_types.integer, check=one_of(0, 1))
    training_mode: int = attribute(attr_types.integer, default=0)
    transB: bool = attribute(attr_types.flag, default=True)
    Y: Value = result("T1")
    T1 = HALF_AND_SINGLE
    T2 = BYTE

    def reference(self, A: Value, B: Value, absmax: Value) -> Value:
        count, blocks = self.N * self.K, -(-self.N * self.K // self.block_size)
        pairs = core.bits_as(core.reshape(B, (-(-count // 2),)), u4)
        codes = core.cast(core.reshape(core.reverse(pairs, (1,)), (-1,)), i32)
        table = core.constant(data_of(f32, (16,), _TABLES[self.quant_type]))
        numbers = core.gather(_in_type_of(table, A), codes, 0)
        short = blocks * self.block_size - shape_of(codes)[0]
        padded = core.concat((numbers, core.fill(core.scalar(0.0, element_of(A)), (short,))), 0) if short else numbers
        scaled = core.mul(core.reshape(padded, (blocks, self.block_size)), core.reshape(absmax, (blocks, 1)))
        flat = core.slice(core.reshape(scaled, (-1,)), (0,), (count,), (1,))
        return core.matmul(A, core.reshape(flat, (self.N, self.K)), False, self.transB)
