"""Compressed constants of the mil dialect: weights that are decoded before the program runs.

Their results count as constants. Until iOS 17 a file keeps their parameters as attributes, from iOS 18 as literals or
as results of other such operations. Elements are decoded when they are read.
Source: MIL operation reference, constexpr_ops and compression.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.codes import VIOLATED_CONSTRAINT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_6, CORE_ML_8, MilOp
from commonir.dialects.mil.operands import FLOATS, STRING, Condition, element_of, is_axis, rank_of, same_sizes
from commonir.ir.data import Data, DeferredData, InlineData
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, f16, f32, i4, i8, u1, u2, u3, u4, u6, u8
from commonir.notation import NotationError
from commonir.ods import (
    attr_types,
    attribute,
    constraint,
    element_type,
    known_data,
    operand,
    parameter,
    result,
    results_of,
    traits,
)
from commonir.ods.fields import MISSING
from commonir.ods.operand_shapes import ranked_shape
from commonir.symbolic import Dim

ENTRIES = element_type(i8, u8, f16, f32)
"""The element types of a table or of the non-zero elements until iOS 17."""
VALUES = element_type(ENTRIES, i4, u4)
"""The element types of compressed values from iOS 18."""
_INDICES = {1: u1, 2: u2, 3: u3, 4: u4, 6: u6, 8: u8}
INDICES = element_type(*_INDICES.values())


class Constexpr(MilOp, traits=(traits.Pure, traits.ConstantLike)):
    """An operation on constants, whose core counterpart preserves the compressed form."""

    def constant_results(self) -> tuple[Data | None, ...]:
        if any(self.field_value(f) is MISSING for f in self.layout.arguments):
            return ()
        operands = [known_data(v) for v in self.operands]
        known = [core.constant(d) for d in operands if d is not None]
        if len(known) != len(operands):
            return ()
        stands = dict(zip(self.operands, known, strict=True))
        grouped = [v for v in self.grouped_operands() if not isinstance(v, tuple)]
        try:
            built = results_of(self.reference(*[None if v is None else stands[v] for v in grouped]))
        except (NotationError, DiagnosticError):
            return ()
        return tuple([known_data(v) for v in built])


class Compressed(Constexpr):
    """A tensor in compressed form."""

    output: Value = result("any")

    def constant_data(self) -> Data | None:
        result = self.constant_results()
        return result[0] if result else None


def viewed(data: Data, shape: tuple[int, ...], element: ElementType | None = None) -> Data:
    """The same bytes as elements of another shape, and perhaps of another type."""
    type = TensorType(element or data.element, shape)
    return DeferredData(type, lambda: InlineData(type, data.buffer()[: type.element.size_bytes(type.count)]))


def _integers(data: Data) -> tuple[int, ...]:
    return tuple([int(v) for v in data.values()])


class ConstexprAffineDequantize(
    Compressed,
    name="mil.constexpr_affine_dequantize",
    since=CORE_ML_6,
    traits=(traits.Decodes("quantized_data", "quantized", scales="scale"),),
):
    """Linear dequantization of a constant: scale * (quantized_data - zero_point); both are scalars, or vectors along
    axis.
    """

    quantized_data: Data = attribute(attr_types.data)
    zero_point: Data = attribute(attr_types.data)
    scale: Data = attribute(attr_types.data)
    axis: int = attribute(attr_types.integer)

    @constraint("C1")
    def _have_types(self) -> bool:
        """the types are int8 or uint8 for quantized_data, these or fp32 for zero_point, fp16 or fp32 for scale."""
        quantized, offset = self.quantized_data.element, self.zero_point.element
        return quantized in (i8, u8) and offset in (i8, u8, f32) and self.scale.element in FLOATS

    @constraint("C2")
    def _fit(self) -> bool:
        """axis is one of the axes of quantized_data, and vectors have its size."""
        shape = self.quantized_data.shape
        return is_axis(self.axis, len(shape)) and all(
            v.shape in ((), (shape[self.axis],)) for v in (self.zero_point, self.scale)
        )

    def reference(self) -> Value:
        data, shape = core.constant(self.quantized_data), [1] * len(self.quantized_data.shape)

        def along(given: Data) -> Value:
            sizes = shape if given.count == 1 else [*shape]
            sizes[self.axis] = given.count
            return core.constant(viewed(given, tuple(sizes)))

        return core.dequantize(data, along(self.scale), along(self.zero_point))


class ConstexprCast(
    Compressed, name="mil.constexpr_cast", since=CORE_ML_6, traits=(traits.Decodes("source_val", "cast"),)
):
    """A constant in half precision converted to single precision."""

    source_val: Data = attribute(attr_types.data)
    output_dtype: str = attribute(attr_types.string)

    @constraint("C1")
    def _widens(self) -> bool:
        """source_val is of type fp16, and output_dtype is fp32."""
        return self.source_val.element is f16 and self.output_dtype == "fp32"

    def reference(self) -> Value:
        return core.cast(core.constant(self.source_val), f32)


class ConstexprCastCoreML8(
    Compressed, name="mil.constexpr_cast", since=CORE_ML_8, traits=(traits.Decodes("source_val", "cast"),)
):
    """Converts a constant in half precision to single precision."""

    source_val: Value = operand("f16[*]", constant=True)
    output_dtype: str = parameter(attr_types.string, spec=STRING)

    @constraint("C1")
    def _widens(self) -> bool:
        """output_dtype is fp32."""
        return self.output_dtype == "fp32"

    def reference(self, source_val: Value) -> Value:
        return core.cast(source_val, f32)


class ConstexprLutToDense(
    Compressed,
    name="mil.constexpr_lut_to_dense",
    since=CORE_ML_6,
    traits=(traits.Decodes("indices", "palettized", bits="index_bits"),),
):
    """Looks up the elements of a constant in a table of 2, 4, 16, 64 or 256 entries, by indices of 1, 2, 4, 6 or 8
    bits.

    Indices are packed into bytes, the first in the least significant bits.
    """

    indices: Data = attribute(attr_types.data)
    lut: Data = attribute(attr_types.data)
    shape: Data = attribute(attr_types.data)

    @property
    def index_bits(self) -> int:
        """The number of bits of an index."""
        return self.lut.count.bit_length() - 1

    @constraint("C1")
    def _have_types(self) -> bool:
        """the types are uint8 for indices, int8, uint8, fp16 or fp32 for lut, uint32 for shape."""
        return self.indices.element is u8 and self.lut.element in ENTRIES and self.shape.element.name == "ui32"

    @constraint("C2")
    def _has_table(self) -> bool:
        """lut has 2, 4, 16, 64 or 256 entries."""
        return len(self.lut.shape) == 1 and self.lut.count in (2, 4, 16, 64, 256)

    @constraint("C3")
    def _has_positions(self) -> bool:
        """indices has as many bytes as the packed indices take."""
        count = TensorType(u8, _integers(self.shape)).count
        return self.indices.shape == ((count * self.index_bits + 7) // 8,)

    def reference(self) -> Value:
        shape, count = _integers(self.shape), self.lut.count
        positions = viewed(self.indices, shape, _INDICES[self.index_bits])
        tables = viewed(self.lut, (*(1,) * len(shape), count, 1))
        return core.table_lookup(core.constant(positions), core.constant(tables))


class ConstexprLutToDenseCoreML8(
    Compressed, name="mil.constexpr_lut_to_dense", since=CORE_ML_8, traits=(traits.Decodes("indices", "palettized"),)
):
    """Looks up the elements of a constant in lookup tables, one for each block; an entry may be a vector.

    With n-bit indices, lut has the shape [g.., 2^n, v]: the number g of blocks along each axis, the number of entries,
    and the size of an entry. Vectors lie along vector_axis, which becomes v times as long.
    """

    indices: Value = operand("I[*]", constant=True)
    lut: Value = operand("T[*]", constant=True)
    vector_axis: int | None = parameter(attr_types.integer, spec="i32[]", default=None)
    I = INDICES  # noqa: E741  a type variable
    T = ENTRIES

    @constraint("C1")
    def _has_table(self) -> bool:
        """lut has two axes more than indices, and as many entries as an index can select."""
        return _has_table(self.indices, self.indices, self.lut)

    @constraint("C2")
    def _has_blocks(self) -> bool:
        """the number of blocks along each axis divides its size."""
        return _divide(self.lut, self.indices)

    @constraint("C3")
    def _has_vector_axis(self) -> bool:
        """vectors of more than one element have a vector_axis, one of the axes of indices."""
        return _has_vector_axis(self.vector_axis, self.lut, self.indices)

    def reference(self, indices: Value, lut: Value) -> Value:
        return core.table_lookup(indices, lut, self.vector_axis)


def _has_table(indices: Value, positions: Value, lut: Value) -> bool:
    """Returns whether a table has two axes more than indices, and as many entries as an index can address."""
    rank = rank_of(indices)
    return rank_of(lut) == rank + 2 and ranked_shape(lut)[rank] == 1 << element_of(positions).bits


def _divide(lut: Value, indices: Value) -> bool:
    """Returns whether the number of blocks along each axis divides its dim."""
    pairs = zip(ranked_shape(indices), ranked_shape(lut), strict=False)
    return all(not isinstance(n, int) or not isinstance(g, int) or (g > 0 and n % g == 0) for n, g in pairs)


def _has_vector_axis(axis: int | None, lut: Value, indices: Value) -> bool:
    """Returns whether vectors of more than one element have an axis to lie along."""
    return ranked_shape(lut)[-1:] == (1,) if axis is None else is_axis(axis, rank_of(indices))


class ConstexprSparseToDense(
    Compressed,
    name="mil.constexpr_sparse_to_dense",
    since=CORE_ML_6,
    traits=(traits.Decodes("nonzero_data", "sparse"),),
):
    """Expands a sparse constant: zero where a bit of mask is 0, elsewhere the next element of nonzero_data.

    Bits are packed into bytes, the first in the least significant bit.

    C3: nonzero_data has as many elements as mask has bits set. C4: padding bits of mask are 0.
    """

    nonzero_data: Data = attribute(attr_types.data)
    mask: Data = attribute(attr_types.data)
    shape: Data = attribute(attr_types.data)

    @constraint("C1")
    def _have_types(self) -> bool:
        """the types are int8, uint8, fp16 or fp32 for nonzero_data, uint8 for mask, uint32 for shape."""
        return self.nonzero_data.element in ENTRIES and self.mask.element is u8 and self.shape.element.name == "ui32"

    @constraint("C2")
    def _has_bits(self) -> bool:
        """mask has as many bytes as one bit for each element takes."""
        return self.mask.shape == ((TensorType(u8, _integers(self.shape)).count + 7) // 8,)

    def verify(self) -> Iterator[Diagnostic]:
        count = _bits_set(self.mask)
        if self.nonzero_data.shape != (count,):
            yield _wrong_count(f"{self.name}: C3", self.nonzero_data.count, count)
        elements = TensorType(u8, _integers(self.shape)).count
        if int.from_bytes(self.mask.buffer(), "little") >> elements:
            message = f"{self.name}: C4: bits of mask beyond the {elements} elements must be 0"
            yield Diagnostic(VIOLATED_CONSTRAINT, message)

    def reference(self) -> Value:
        mask = viewed(self.mask, _integers(self.shape), u1)
        return core.sparse_to_dense(core.constant(mask), core.constant(self.nonzero_data))


class ConstexprSparseToDenseCoreML8(
    Compressed,
    name="mil.constexpr_sparse_to_dense",
    since=CORE_ML_8,
    traits=(traits.Decodes("nonzero_data", "sparse"),),
):
    """Expands a sparse constant: zeros where mask is 0, and nonzero_data in order elsewhere.

    C1: nonzero_data has as many elements as mask has bits set.
    """

    nonzero_data: Value = operand("T[n]", constant=True)
    mask: Value = operand("ui1[*]", constant=True)
    T = VALUES

    def verify(self) -> Iterator[Diagnostic]:
        yield from _count_differs(f"{self.name}: C1", self.mask, self.nonzero_data)

    def reference(self, nonzero_data: Value, mask: Value) -> Value:
        return core.sparse_to_dense(mask, nonzero_data)


class ConstexprBlockwiseShiftScale(
    Compressed,
    name="mil.constexpr_blockwise_shift_scale",
    since=CORE_ML_8,
    traits=(traits.Decodes("data", "quantized", scales="scale"),),
):
    """Blockwise dequantization of a constant: scale * (data - offset), with a scale and an offset for each block;
    offset is 0 by default.
    """

    data: Value = operand("Q[*]", constant=True)
    scale: Value = operand("T[*]", constant=True)
    offset: Value | None = operand("Z[*]", default=None, constant=True)
    Q = VALUES
    T = FLOATS
    Z = VALUES

    @constraint("C1")
    def _has_blocks(self) -> Condition:
        """scale and offset have the rank of data, at least 1, and their sizes divide its sizes."""
        return _have_blocks(ranked_shape(self.data), self.scale, self.offset)

    @constraint("C2")
    def _shares_type(self) -> bool:
        """offset has the type of data or is a float."""
        return _is_offset(self.offset, self.data)

    def reference(self, data: Value, scale: Value, offset: Value | None) -> Value:
        return core.dequantize(data, scale, offset)


def _have_blocks(sizes: tuple[Dim | None, ...], scale: Value, offset: Value | None) -> Condition:
    """Returns the condition that scales have a rank and dims that divide others, and offsets the shape of scales."""
    blocks = ranked_shape(scale)
    if not blocks or len(sizes) != len(blocks):
        return False
    pairs = [(n, g) for n, g in zip(sizes, blocks, strict=True) if isinstance(n, int) and isinstance(g, int)]
    if any(g < 1 or n % g for n, g in pairs):
        return False
    return offset is None or same_sizes(ranked_shape(offset), blocks, "offset")


def _is_offset(offset: Value | None, data: Value) -> bool:
    return offset is None or element_of(offset) in (element_of(data), *FLOATS.members)


def _bits_set(mask: Data) -> int:
    """Returns how many bits of a mask are set."""
    return int.from_bytes(mask.buffer(), "little").bit_count()


def _wrong_count(what: str, size: int, count: int) -> Diagnostic:
    return Diagnostic(VIOLATED_CONSTRAINT, f"{what}: {size} values for {count} bits of the mask that are set")


def _count_differs(what: str, mask: Value, values: Value) -> Iterator[Diagnostic]:
    """Yields a diagnostic where the number of values is not the number of bits set. A mask that is decoded is left for
    later.
    """
    data, (size,) = known_data(mask), ranked_shape(values)
    if data is None or isinstance(data, DeferredData) or not isinstance(size, int):
        return
    count = _bits_set(data)
    if size != count:
        yield _wrong_count(what, size, count)


class ConstexprLutToSparse(
    Constexpr,
    name="mil.constexpr_lut_to_sparse",
    since=CORE_ML_8,
    traits=(traits.Decodes("indices_nonzero_data", "palettized"),),
):
    """Looks up the elements of a sparse constant in tables: returns its mask and its nonzero elements.

    lut is as in `constexpr_lut_to_dense`. With vectors, the mask is repeated along vector_axis.

    C4: indices_nonzero_data has as many elements as indices_mask has bits set.
    """

    indices_mask: Value = operand("ui1[*]", constant=True)
    indices_nonzero_data: Value = operand("I[n]", constant=True)
    lut: Value = operand("T[*]", constant=True)
    vector_axis: int | None = parameter(attr_types.integer, spec="i32[]", default=None)
    mask: Value = result("ui1[*]")
    nonzero_data: Value = result("T[*]")
    I = INDICES  # noqa: E741  a type variable
    T = ENTRIES

    @constraint("C1")
    def _has_table(self) -> bool:
        """lut has two axes more than indices_mask, and as many entries as an index can select."""
        return _has_table(self.indices_mask, self.indices_nonzero_data, self.lut)

    @constraint("C2")
    def _has_blocks(self) -> bool:
        """the number of blocks along each axis divides its size."""
        return _divide(self.lut, self.indices_mask)

    @constraint("C3")
    def _has_vector_axis(self) -> bool:
        """vectors of more than one element have a vector_axis, one of the axes of indices_mask."""
        return _has_vector_axis(self.vector_axis, self.lut, self.indices_mask)

    def verify(self) -> Iterator[Diagnostic]:
        yield from _count_differs(f"{self.name}: C4", self.indices_mask, self.indices_nonzero_data)

    def reference(self, indices_mask: Value, indices_nonzero_data: Value, lut: Value) -> tuple[Value, ...]:
        values = core.sparse_table_lookup(indices_mask, indices_nonzero_data, lut, self.vector_axis)
        size = ranked_shape(lut)[-1]
        if self.vector_axis is None or not isinstance(size, int) or size == 1:
            return indices_mask, values
        return core.repeat_mask(indices_mask, size, self.vector_axis), values


class ConstexprSparseBlockwiseShiftScale(
    Constexpr,
    name="mil.constexpr_sparse_blockwise_shift_scale",
    since=CORE_ML_8,
    traits=(traits.Decodes("nonzero_data", "quantized", scales="scale"),),
):
    """Blockwise dequantization of a sparse constant, scale * (value - offset): returns its mask and its nonzero
    elements.

    Scales and offsets belong to the blocks of the elements that the mask selects.

    C3: nonzero_data has as many elements as data_mask has bits set.
    """

    data_mask: Value = operand("ui1[s*]", constant=True)
    nonzero_data: Value = operand("Q[n]", constant=True)
    scale: Value = operand("T[*]", constant=True)
    offset: Value | None = operand("Z[*]", default=None, constant=True)
    mask: Value = result("ui1[s*]")
    values: Value = result("T[n]")
    Q = VALUES
    T = FLOATS
    Z = VALUES

    @constraint("C1")
    def _has_blocks(self) -> Condition:
        """scale and offset have the rank of data_mask, and their sizes divide its sizes."""
        return _have_blocks(ranked_shape(self.data_mask), self.scale, self.offset)

    @constraint("C2")
    def _shares_type(self) -> bool:
        """offset has the type of nonzero_data or is a float."""
        return _is_offset(self.offset, self.nonzero_data)

    def verify(self) -> Iterator[Diagnostic]:
        yield from _count_differs(f"{self.name}: C3", self.data_mask, self.nonzero_data)

    def reference(self, data_mask: Value, nonzero_data: Value, scale: Value, offset: Value | None) -> tuple[Value, ...]:
        return data_mask, core.sparse_dequantize(data_mask, nonzero_data, scale, offset)
