"""Operations of the shape dialect on sizes, and those that take shapes apart into them.

Source: MLIR shape dialect; messages as of MLIR 22.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, Self

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.shape.base import (
    AnyShapeOrSize,
    ShapeOp,
    ShapeOrExtents,
    ShapeOrSize,
    SizeOrIndex,
    SizeType,
    may_state,
    meet_of,
    shape,
    size,
)
from commonir.ir.data import Data, data_of
from commonir.ir.operation import Value
from commonir.ir.types import Type, i64, index
from commonir.ods import attr_types, attribute, operand, result, traits
from commonir.ods.mlir_attr_types import typed_integer
from commonir.ods.mlir_op import FromData
from commonir.ods.type_constraints import AnyShaped, Index
from commonir.symbolic import Dim

if TYPE_CHECKING:
    from commonir.dialects.core.base import Function2

BINARY = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"


class ConstSize(
    ShapeOp, FromData, name="shape.const_size", traits=(traits.Pure, traits.ConstantLike), assembly="$value attr-dict"
):
    """A compile-time dim."""

    value: int = attribute(typed_integer(index))
    result_: Value = result(SizeType)

    @classmethod
    def from_data(cls, data: Data, type: Type) -> Self | None:
        return cls(int(data.values()[0])) if type is size else None

    def suggested_names(self) -> Iterable[tuple[Value, str]]:
        return ((self.result_, f"c{self.value}"),)

    def constant_data(self) -> Data | None:
        return data_of(i64, (), (self.value,))

    def constant_dims(self) -> tuple[Dim, ...] | None:
        return (self.value,)

    def reference(self) -> Value:
        return core.scalar(self.value, i64)


class _SizeFunction(ShapeOp, traits=(traits.Pure,), assembly=BINARY):
    """A function of two sizes."""

    fn: ClassVar[Function2]

    lhs: Value = operand(SizeOrIndex)
    rhs: Value = operand(SizeOrIndex)
    result_: Value = result(SizeOrIndex)

    def infer_results(self) -> tuple[Type, ...] | None:
        return self._declared_types() or (size if size in (self.lhs.type, self.rhs.type) else index,)

    def verify(self) -> Iterator[Diagnostic]:
        if self.lets_errors_vanish():
            yield self.vanishing(size)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return type(self).fn(lhs, rhs)


class Add(_SizeFunction, name="shape.add", traits=(traits.Commutative,)):
    """Addition of dims."""

    fn = staticmethod(core.add)


class Mul(_SizeFunction, name="shape.mul", traits=(traits.Commutative,)):
    """Multiplication of dims."""

    fn = staticmethod(core.mul)


class Div(_SizeFunction, name="shape.div"):
    """Division of dims, rounded down."""

    fn = staticmethod(core.floor_div)


class _Extreme(ShapeOp, traits=(traits.Pure, traits.Commutative), assembly=BINARY):
    """A function of two sizes, or of the sizes of two shapes of one rank."""

    fn: ClassVar[Function2]

    lhs: Value = operand(ShapeOrSize)
    rhs: Value = operand(ShapeOrSize)
    result_: Value = result(ShapeOrSize)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.lhs.type if self.lhs.type is self.rhs.type else size,)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return type(self).fn(lhs, rhs)


class Max(_Extreme, name="shape.max"):
    """Elementwise maximum of two shapes, or of two dims."""

    fn = staticmethod(core.maximum)


class Min(_Extreme, name="shape.min"):
    """Elementwise minimum of two shapes, or of two dims."""

    fn = staticmethod(core.minimum)


class Meet(
    ShapeOp,
    name="shape.meet",
    traits=(traits.Commutative,),
    assembly="$arg0 `,` $arg1 (`,` `error` `=` $error^)? attr-dict `:` type($arg0) `,` type($arg1) `->` type($result)",
):
    """The most specific shape or dim that two agree on; unspecified if they contradict each other. C1: both operands
    are dims, or both are shapes.
    """

    arg0: Value = operand(AnyShapeOrSize)
    arg1: Value = operand(AnyShapeOrSize)
    error: str | None = attribute(attr_types.string, default=None)
    result_: Value = result(AnyShapeOrSize)

    def infer_results(self) -> tuple[Type, ...] | None:
        result = meet_of(self.arg0.type, self.arg1.type)
        return self._declared_types() or (None if result is None else (result,))

    def verify(self) -> Iterator[Diagnostic]:
        result = meet_of(self.arg0.type, self.arg1.type)
        if result is None:
            yield self.violated("C1: requires all sizes or shapes")
        elif not may_state(result, self.result_.type):
            message = f"inferred type '{result}' is incompatible with the return type '{self.result_.type}'"
            yield self.violated(message)

    def reference(self, arg0: Value, arg1: Value) -> Value:
        del arg1
        return arg0


class IndexToSize(ShapeOp, name="shape.index_to_size", traits=(traits.Pure,), assembly="$arg attr-dict"):
    """Converts an index to a dim."""

    arg: Value = operand(Index)
    result_: Value = result(SizeType)

    def reference(self, arg: Value) -> Value:
        return arg


class SizeToIndex(ShapeOp, name="shape.size_to_index", traits=(traits.Pure,), assembly="$arg attr-dict `:` type($arg)"):
    """Converts a dim to an index."""

    arg: Value = operand(SizeOrIndex)
    result_: Value = result(Index)

    def reference(self, arg: Value) -> Value:
        return arg


class _SizeOf(ShapeOp, traits=(traits.Pure,)):
    """Returns a dim of a shape."""

    def infer_results(self) -> tuple[Type, ...] | None:
        return self._declared_types() or (size if {shape, size} & {v.type for v in self.operands} else index,)

    def verify(self) -> Iterator[Diagnostic]:
        if self.lets_errors_vanish():
            yield self.vanishing(size)


class Rank(_SizeOf, name="shape.rank", assembly="$shape attr-dict `:` type($shape) `->` type($rank)"):
    """The rank of a shape."""

    shape: Value = operand(ShapeOrExtents)
    rank: Value = result(SizeOrIndex)

    def reference(self, shape: Value) -> Value:
        return core.dim(shape, 0)


class NumElements(_SizeOf, name="shape.num_elements", assembly="$shape attr-dict `:` type($shape) `->` type($result)"):
    """The number of elements of a tensor of a shape."""

    shape: Value = operand(ShapeOrExtents)
    result_: Value = result(SizeOrIndex)

    def reference(self, shape: Value) -> Value:
        return core.reduce_prod(shape, (0,))


class GetExtent(
    _SizeOf,
    name="shape.get_extent",
    assembly="$shape `,` $dim attr-dict `:` type($shape) `,` type($dim) `->` type($extent)",
):
    """One dim of a shape."""

    shape: Value = operand(ShapeOrExtents)
    dim: Value = operand(SizeOrIndex)
    extent: Value = result(SizeOrIndex)

    def reference(self, shape: Value, dim: Value) -> Value:
        return core.gather(shape, dim, 0)


class Dim_(  # noqa: N801  `Dim` is a size
    ShapeOp,
    name="shape.dim",
    traits=(traits.Pure,),
    assembly="$value `,` $index attr-dict `:` type($value) `,`type($index) `->` type($extent)",
):
    """The dim of a tensor along an axis."""

    value: Value = operand(AnyShaped)
    index: Value = operand(SizeOrIndex)
    extent: Value = result(SizeOrIndex)

    def infer_results(self) -> tuple[Type, ...] | None:
        return self._declared_types() or (self.index.type,)

    def reference(self, value: Value, index: Value) -> Value:
        return core.gather(core.shape_of(value), index, 0)
