"""Operations of the tosa dialect on lists of sizes.

Source: MLIR tosa dialect, shape operators; TOSA specification 1.0, shape operators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.tosa.base import (
    AnyShape,
    AtLeast1D,
    ScalarInt32,
    TosaOp,
    axis,
    known_number,
    numbers_in,
    shape_rank,
    shape_type,
    stated_shape,
)
from commonir.dialects.mlir.tosa.reduction import check_axis
from commonir.ir.core_types import core_data
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import Type, i64, index
from commonir.ods import attr_types, attribute, operand, result, traits
from commonir.ods.operand_shapes import known_dims_of
from commonir.symbolic import Dim, ceil_div, floor_div, largest, modulo, smallest
from commonir.symbolic.errors import NotationError, NotKnownError

Size1 = Callable[[Dim], Dim]
Size2 = Callable[[Dim, Dim], Dim]


class ConstShape(TosaOp, name="tosa.const_shape", traits=(traits.ConstantLike,)):
    """A compile-time shape. C1: the values are a vector of indices of the length of the result."""

    attr_types_suffice = True

    values: Data = attribute(attr_types.data)
    output: Value = result(AnyShape)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (shape_type(self.values.shape[0]),) if len(self.values.shape) == 1 else None

    def verify(self) -> Iterator[Diagnostic]:
        rank = shape_rank(self.output.type)
        if len(self.values.shape) != 1:
            yield self.violated("C1: expect elements in attribute values with rank 1")
        elif self.values.element is not index:
            yield self.violated(f"C1: expect elements of type index, found {self.values.element}")
        elif rank is not None and self.values.count != rank and not (rank == 0 and self.values.count == 1):
            message = f"C1: expect number of elements in attribute values ({self.values.count}) to be equal"
            yield self.violated(f"{message} to the rank ({rank}) for the result shape type")

    def constant_data(self) -> Data | None:
        return core_data(self.values)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        return tuple([int(v) for v in self.values.values() if isinstance(v, int)])

    def reference(self) -> Value:
        return core.constant(core_data(self.values))


def _sizes(values: tuple[Dim, ...]) -> Value:
    return core.dims(values, i64)


class _Unary(TosaOp):
    """A function of each size."""

    fn: ClassVar[Size1]

    input: Value = operand(AnyShape)
    output: Value = result(AnyShape)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.input.type,)

    def verify(self) -> Iterator[Diagnostic]:
        if self.input.type is not self.output.type:
            yield self.violated("operands and result are not of one rank")

    def reference(self, input: Value) -> Value:
        return _sizes(tuple([type(self).fn(d) for d in numbers_in(input)]))


class _Binary(TosaOp):
    """A function of sizes at the same place."""

    fn: ClassVar[Size2]

    input1: Value = operand(AnyShape)
    input2: Value = operand(AnyShape)
    output: Value = result(AnyShape)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.input1.type,)

    def verify(self) -> Iterator[Diagnostic]:
        if len({self.input1.type, self.input2.type, self.output.type}) > 1:
            yield self.violated("operands and result are not of one rank")

    def reference(self, input1: Value, input2: Value) -> Value:
        pairs = zip(numbers_in(input1), numbers_in(input2), strict=True)
        return _sizes(tuple([type(self).fn(a, b) for a, b in pairs]))


def _add(a: Dim, b: Dim) -> Dim:
    return a + b


def _sub(a: Dim, b: Dim) -> Dim:
    return a - b


def _mul(a: Dim, b: Dim) -> Dim:
    return a * b


def _checked(function: Size2) -> Size2:
    """A quotient, of which the divisor is not zero."""

    def divided(a: Dim, b: Dim) -> Dim:
        if b == 0:
            raise NotationError("a size is divided by zero")
        return function(a, b)

    return divided


def _number(size: Dim) -> int:
    if not isinstance(size, int):
        raise NotKnownError("a size is not known before running")
    if size < 1:
        raise NotationError(f"the logarithm of {size} is none")
    return size


def _log2_floor(size: Dim) -> Dim:
    return _number(size).bit_length() - 1


def _log2_ceil(size: Dim) -> Dim:
    return (_number(size) - 1).bit_length()


def _exp2(size: Dim) -> Dim:
    if not isinstance(size, int):
        raise NotKnownError("a size is not known before running")
    if not 0 <= size < i64.bits - 1:
        raise NotationError(f"two to the power of {size} is not a size")
    return 1 << size


class AddShape(_Binary, name="tosa.add_shape"):
    """Elementwise addition of shapes."""

    fn = _add


class SubShape(_Binary, name="tosa.sub_shape"):
    """Elementwise subtraction of shapes."""

    fn = _sub


class MulShape(_Binary, name="tosa.mul_shape"):
    """Elementwise multiplication of shapes."""

    fn = _mul


class DivCeilShape(_Binary, name="tosa.div_ceil_shape"):
    """Elementwise division of shapes, rounded up."""

    fn = _checked(ceil_div)


class DivFloorShape(_Binary, name="tosa.div_floor_shape"):
    """Elementwise division of shapes, rounded down."""

    fn = _checked(floor_div)


class ModShape(_Binary, name="tosa.mod_shape"):
    """Elementwise remainder of a division of shapes."""

    fn = _checked(modulo)


class MaxShape(_Binary, name="tosa.max_shape"):
    """Elementwise maximum of shapes."""

    fn = largest


class MinShape(_Binary, name="tosa.min_shape"):
    """Elementwise minimum of shapes."""

    fn = smallest


class Exp2Shape(_Unary, name="tosa.exp2_shape"):
    """Two to the power of each element of a shape."""

    fn = _exp2


class Log2CeilShape(_Unary, name="tosa.log2_ceil_shape"):
    """Base-2 logarithm of each element of a shape, rounded up."""

    fn = _log2_ceil


class Log2FloorShape(_Unary, name="tosa.log2_floor_shape"):
    """Base-2 logarithm of each element of a shape, rounded down."""

    fn = _log2_floor


class ConcatShape(TosaOp, name="tosa.concat_shape"):
    """Concatenates shapes. C1: there is at least one operand, and their lengths add up to that of the result."""

    input: tuple[Value, ...] = operand(AnyShape, variadic=True)
    output: Value = result(AnyShape)

    def _length(self) -> int:
        return sum([shape_rank(v.type) or 0 for v in self.operands])

    def infer_results(self) -> tuple[Type, ...] | None:
        return (shape_type(self._length()),)

    def verify(self) -> Iterator[Diagnostic]:
        if not self.input:
            yield self.violated("C1: requires at least one input shape")
        elif shape_rank(self.output.type) != self._length():
            yield self.violated(f"C1: requires output shape rank to be {self._length()}, found {self.output.type}")

    def reference(self, input: tuple[Value, ...]) -> Value:
        return core.concat(input, 0)


class SliceShape(TosaOp, name="tosa.slice_shape"):
    """Extracts a slice of a shape."""

    input: Value = operand(AnyShape)
    start: Value = operand(ScalarInt32)
    size: Value = operand(ScalarInt32)
    output: Value = result(AnyShape)

    def verify(self) -> Iterator[Diagnostic]:
        rank, found = shape_rank(self.input.type), shape_rank(self.output.type)
        start, size = known_number(self.start), known_number(self.size)
        if start is not None and start < 0:
            yield self.violated(f"expected start to be non-negative, got {start}")
        if size is not None and size <= 0:
            yield self.violated(f"expected size to be positive, got {size}")
        elif size is not None and found != size:
            yield self.violated(f"expected output type size to be equal to size {size}, got {found}")
        if start is not None and size is not None and rank is not None and start + size > rank:
            yield self.violated(f"expected start + size to be at most the input rank {rank}, got {start + size}")

    def reference(self, input: Value, start: Value, size: Value) -> Value:
        first, count = known_number(start), known_number(size)
        if first is None or count is None:
            raise NotKnownError("which sizes are meant is not known before running")
        return core.slice(input, (int(first),), (int(first) + int(count),), (1,))


class DimOp(TosaOp, name="tosa.dim"):
    """The dim of the operand along an axis. C1: the axis is one of the operand."""

    input1: Value = operand(AtLeast1D)
    axis: int = attribute(axis)
    output: Value = result(AnyShape)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (shape_type(1),)

    def verify(self) -> Iterator[Diagnostic]:
        yield from check_axis(self, self.axis, stated_shape(self.input1))
        if shape_rank(self.output.type) != 1:
            yield self.violated(f"expect output shape type to have one size, got {self.output.type}")

    def reference(self, input1: Value) -> Value:
        return _sizes((known_dims_of(input1)[self.axis],))
