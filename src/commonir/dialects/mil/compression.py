"""Compressed constants of the mil dialect: weights that are decoded before the program runs.

Their results count as constants. Until iOS 17 a file keeps their parameters as attributes, from iOS 18 as literals or
as results of other such operations. Decoding is deferred until somebody reads the elements.
Source: MIL operation reference, constexpr_ops and compression.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_6, CORE_ML_8, MilOp
from commonir.dialects.mil.operands import (
    FLOATS,
    STRING,
    Condition,
    all_hold,
    dims_of,
    element_of,
    is_axis,
    rank_of,
    same_sizes,
)
from commonir.ir.data import ArrayData, Data, DeferredData
from commonir.ir.operation import Value
from commonir.ir.types import (
    ElementType,
    TensorType,
    f16,
    f32,
    i4,
    i8,
    u1,
    u2,
    u3,
    u4,
    u6,
    u8,
)
from commonir.notation import NotationError
from commonir.ods import attribute, constraint, element_type, kinds, known_data, operand, parameter, result, traits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]

ENTRIES = element_type(i8, u8, f16, f32)
"""What a table or the non-zero elements may hold until iOS 17."""
VALUES = element_type(ENTRIES, i4, u4)
"""What compressed values may be from iOS 18."""
_INDICES = {1: u1, 2: u2, 3: u3, 4: u4, 6: u6, 8: u8}
INDICES = element_type(*_INDICES.values())


class Compressed(MilOp, traits=(traits.Pure, traits.ConstantLike)):
    """A constant in compressed form."""

    __slots__ = ()

    output: Value = result("any")

    @abstractmethod
    def decoded(self) -> Data:
        """The constant. Raises: NotationError when a parameter is not known."""

    def infer(self) -> tuple[TensorType, ...]:
        return (self.decoded().type,)

    def constant_data(self) -> Data | None:
        try:
            return self.decoded()
        except NotationError:
            return None


class Stored(Compressed):
    """A constant whose parameters are attributes of the operation."""

    __slots__ = ()

    def reference(self) -> Value:
        return core.constant(self.decoded())


def _deferred(element: ElementType, shape: tuple[int, ...], decode: Callable[[], Array]) -> Data:
    kind = TensorType(element, shape)
    return DeferredData(kind, lambda: ArrayData(kind, decode()))


def _contents(value: Value) -> Data:
    data = known_data(value)
    if data is None:
        raise NotationError("a parameter must be constant")
    return data


def _integers(data: Data) -> tuple[int, ...]:
    return tuple([int(v) for v in data.values()])


class ConstexprAffineDequantize(Stored, name="mil.constexpr_affine_dequantize", since=CORE_ML_6):
    """scale * (quantized_data - zero_point); scale and zero_point are scalars, or vectors along axis.

    C1: the types are int8 or uint8 for quantized_data, these or fp32 for zero_point, fp16 or fp32 for scale.
    C2: axis is one of the axes of quantized_data, and vectors have its size.

    Source: MIL operation reference, constexpr_affine_dequantize (iOS 16).
    """

    __slots__ = ()

    quantized_data: Data = attribute(kinds.data)
    zero_point: Data = attribute(kinds.data)
    scale: Data = attribute(kinds.data)
    axis: int = attribute(kinds.integer)

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

    def decoded(self) -> Data:
        data, scale, zero_point, axis = self.quantized_data, self.scale, self.zero_point, self.axis

        def decode() -> Array:
            from commonir.dialects.mil.decoding import dequantized  # noqa: PLC0415

            return dequantized(data.array(), scale.array(), zero_point.array(), axis)

        return _deferred(scale.element, data.shape, decode)


class ConstexprCast(Stored, name="mil.constexpr_cast", since=CORE_ML_6):
    """A constant in half precision converted to single precision.

    C1: source_val is of type fp16, and output_dtype is fp32.

    Source: MIL operation reference, constexpr_cast (iOS 16).
    """

    __slots__ = ()

    source_val: Data = attribute(kinds.data)
    output_dtype: str = attribute(kinds.text)

    @constraint("C1")
    def _widens(self) -> bool:
        """source_val is of type fp16, and output_dtype is fp32."""
        return self.source_val.element is f16 and self.output_dtype == "fp32"

    def decoded(self) -> Data:
        source = self.source_val
        return _deferred(f32, source.shape, lambda: source.array().astype("float32"))


class ConstexprCastCoreML8(Compressed, name="mil.constexpr_cast", since=CORE_ML_8):
    """A constant in half precision converted to single precision.

    C1: output_dtype is fp32.

    Source: MIL operation reference, constexpr_cast (iOS 18).
    """

    __slots__ = ()

    source_val: Value = operand("f16[*]", constant=True)
    output_dtype: str = parameter(kinds.text, spec=STRING)

    def traced_with(self) -> object:
        return known_data(self.source_val)

    @constraint("C1")
    def _widens(self) -> bool:
        """output_dtype is fp32."""
        return self.output_dtype == "fp32"

    def decoded(self) -> Data:
        source = _contents(self.source_val)
        return _deferred(f32, source.shape, lambda: source.array().astype("float32"))

    def reference(self, source_val: Value) -> Value:  # noqa: ARG002  read as a constant
        return core.constant(self.decoded())


class ConstexprLutToDense(Stored, name="mil.constexpr_lut_to_dense", since=CORE_ML_6):
    """Elements given by their positions in a table of 2, 4, 16, 64 or 256 entries, as 1, 2, 4, 6 or 8 bits each.

    The positions are packed into bytes, the first in the least significant bits.

    C1: the types are uint8 for indices, int8, uint8, fp16 or fp32 for lut, uint32 for shape.
    C2: lut has 2, 4, 16, 64 or 256 entries.
    C3: indices has the bytes that the positions take.

    Source: MIL operation reference, constexpr_lut_to_dense (iOS 16).
    """

    __slots__ = ()

    indices: Data = attribute(kinds.data)
    lut: Data = attribute(kinds.data)
    shape: Data = attribute(kinds.data)

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
        """indices has the bytes that the positions take."""
        count = TensorType(u8, _integers(self.shape)).count
        return self.indices.shape == ((count * (self.lut.count.bit_length() - 1) + 7) // 8,)

    def decoded(self) -> Data:
        table, packed, shape = self.lut, self.indices, _integers(self.shape)
        bits = table.count.bit_length() - 1

        def decode() -> Array:
            from commonir.dialects.mil.decoding import looked_up, unpacked  # noqa: PLC0415

            return looked_up(unpacked(packed.buffer(), bits, shape), table.array())

        return _deferred(table.element, shape, decode)


class ConstexprLutToDenseCoreML8(Compressed, name="mil.constexpr_lut_to_dense", since=CORE_ML_8):
    """Elements given by their positions in tables, one for each block of elements; a position may stand for a vector.

    With n bits for a position, lut has the axes [g.., 2^n, v]: for each axis the number g of blocks along it, then the
    entries and their size. Vectors of more than one element lie along vector_axis, which becomes v times as long.

    C1: lut has two axes more than indices, and as many entries as a position can tell.
    C2: the number of blocks along each axis divides its size.
    C3: vectors of more than one element have a vector_axis, one of the axes of indices.

    Source: MIL operation reference, constexpr_lut_to_dense (iOS 18).
    """

    __slots__ = ()

    indices: Value = operand("I[*]", constant=True)
    lut: Value = operand("T[*]", constant=True)
    vector_axis: int | None = parameter(kinds.integer, spec="i32[]", default=None)
    I = INDICES  # noqa: E741  a type variable
    T = ENTRIES

    def traced_with(self) -> object:
        return known_data(self.indices), known_data(self.lut)

    @constraint("C1")
    def _has_table(self) -> bool:
        """lut has two axes more than indices, and as many entries as a position can tell."""
        rank = rank_of(self.indices)
        return rank_of(self.lut) == rank + 2 and dims_of(self.lut)[rank] == 1 << element_of(self.indices).bits

    @constraint("C2")
    def _has_blocks(self) -> bool:
        """the number of blocks along each axis divides its size."""
        pairs = zip(dims_of(self.indices), dims_of(self.lut), strict=False)
        return all(not isinstance(n, int) or not isinstance(g, int) or (g > 0 and n % g == 0) for n, g in pairs)

    @constraint("C3")
    def _has_vector_axis(self) -> bool:
        """vectors of more than one element have a vector_axis, one of the axes of indices."""
        axis = self.vector_axis
        return dims_of(self.lut)[-1:] == (1,) if axis is None else is_axis(axis, rank_of(self.indices))

    def decoded(self) -> Data:
        positions, table = _contents(self.indices), _contents(self.lut)
        shape, axis = list(positions.shape), self.vector_axis
        if axis is not None:
            shape[axis] *= table.shape[-1]

        def decode() -> Array:
            from commonir.dialects.mil.decoding import looked_up_in_blocks  # noqa: PLC0415

            return looked_up_in_blocks(positions.array(), table.array(), axis)

        return _deferred(table.element, tuple(shape), decode)

    def reference(self, indices: Value, lut: Value) -> Value:  # noqa: ARG002  read as constants
        return core.constant(self.decoded())


class ConstexprSparseToDense(Stored, name="mil.constexpr_sparse_to_dense", since=CORE_ML_6):
    """Elements that are zero where a bit of mask is 0, and elsewhere the next of nonzero_data.

    Bits are packed into bytes, the first in the least significant bit.

    C1: the types are int8, uint8, fp16 or fp32 for nonzero_data, uint8 for mask, uint32 for shape.
    C2: mask has the bytes that a bit for each element takes.

    Source: MIL operation reference, constexpr_sparse_to_dense (iOS 16).
    """

    __slots__ = ()

    nonzero_data: Data = attribute(kinds.data)
    mask: Data = attribute(kinds.data)
    shape: Data = attribute(kinds.data)

    @constraint("C1")
    def _have_types(self) -> bool:
        """the types are int8, uint8, fp16 or fp32 for nonzero_data, uint8 for mask, uint32 for shape."""
        return self.nonzero_data.element in ENTRIES and self.mask.element is u8 and self.shape.element.name == "ui32"

    @constraint("C2")
    def _has_bits(self) -> bool:
        """mask has the bytes that a bit for each element takes."""
        return self.mask.shape == ((TensorType(u8, _integers(self.shape)).count + 7) // 8,)

    def decoded(self) -> Data:
        values, packed, shape = self.nonzero_data, self.mask, _integers(self.shape)

        def decode() -> Array:
            from commonir.dialects.mil.decoding import spread_out, unpacked  # noqa: PLC0415

            return spread_out(values.array(), unpacked(packed.buffer(), 1, shape))

        return _deferred(values.element, shape, decode)


class ConstexprSparseToDenseCoreML8(Compressed, name="mil.constexpr_sparse_to_dense", since=CORE_ML_8):
    """Elements that are zero where mask is 0, and elsewhere the next of nonzero_data.

    Source: MIL operation reference, constexpr_sparse_to_dense (iOS 18).
    """

    __slots__ = ()

    nonzero_data: Value = operand("T[n]", constant=True)
    mask: Value = operand("ui1[*]", constant=True)
    T = VALUES

    def traced_with(self) -> object:
        return known_data(self.nonzero_data), known_data(self.mask)

    def decoded(self) -> Data:
        values, mask = _contents(self.nonzero_data), _contents(self.mask)

        def decode() -> Array:
            from commonir.dialects.mil.decoding import spread_out  # noqa: PLC0415

            return spread_out(values.array(), mask.array())

        return _deferred(values.element, mask.shape, decode)

    def reference(self, nonzero_data: Value, mask: Value) -> Value:  # noqa: ARG002  read as constants
        return core.constant(self.decoded())


class ConstexprBlockwiseShiftScale(Compressed, name="mil.constexpr_blockwise_shift_scale", since=CORE_ML_8):
    """scale * (data - offset), with a scale and an offset for each block of elements; without offset nothing is
    subtracted.

    C1: scale and offset have the rank of data, and their sizes divide its sizes.

    Source: MIL operation reference, constexpr_blockwise_shift_scale (iOS 18).
    """

    __slots__ = ()

    data: Value = operand("Q[*]", constant=True)
    scale: Value = operand("T[*]", constant=True)
    offset: Value | None = operand("Z[*]", default=None, constant=True)
    Q = VALUES
    T = FLOATS
    Z = VALUES

    def traced_with(self) -> object:
        return tuple([v if v is None else known_data(v) for v in (self.data, self.scale, self.offset)])

    @constraint("C1")
    def _has_blocks(self) -> Condition:
        """scale and offset have the rank of data, and their sizes divide its sizes."""
        sizes, blocks = dims_of(self.data), dims_of(self.scale)
        if len(sizes) != len(blocks):
            return False
        if any(
            isinstance(n, int) and isinstance(g, int) and (g < 1 or n % g) for n, g in zip(sizes, blocks, strict=True)
        ):
            return False
        return all_hold([same_sizes(dims_of(v), blocks, "offset") for v in (self.offset,) if v is not None])

    def decoded(self) -> Data:
        data, scale = _contents(self.data), _contents(self.scale)
        offset = None if self.offset is None else _contents(self.offset)

        def decode() -> Array:
            from commonir.dialects.mil.decoding import scaled_in_blocks  # noqa: PLC0415

            return scaled_in_blocks(data.array(), scale.array(), None if offset is None else offset.array())

        return _deferred(scale.element, data.shape, decode)

    def reference(self, data: Value, scale: Value, offset: Value | None) -> Value:  # noqa: ARG002  read as constants
        return core.constant(self.decoded())
