"""Core operations on sparse tensors. While a program runs, a sparse tensor is a `base.sparse.SparseArray`.

Elements that are not stored are zero, or the empty string. Source: ONNX, onnx.proto, `SparseTensorProto`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonir.dialects.core.base import ELEMENTS, CoreOp, function, rank_of, tensor_type
from commonir.dialects.core.constants import dim, dims, scalar, shape_of
from commonir.dialects.core.elementwise import cast, floor_div, mod
from commonir.dialects.core.indexing import gather_nd, non_zero, scatter_nd
from commonir.dialects.core.shape import concat, dynamic_pad, fill, pad, reshape, unsqueeze
from commonir.ir.operation import Value
from commonir.ir.types import SparseTensorType, TensorType, Type, are_known, boolean, i32, i64, string
from commonir.notation import NotationError, NotKnownError
from commonir.ods import attr_types, attribute, constraint, element_type, known_dims, operand, result, traits
from commonir.symbolic import Dim

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commonir.base.sparse import SparseArray

    Array = NDArray[Any]

_POSITIONS = element_type(i32, i64)


def _sparse_type(value: Value) -> SparseTensorType:
    """The type of a sparse tensor. Raises: NotationError for what is not one."""
    if not isinstance(value.type, SparseTensorType):
        raise NotationError(f"expected a sparse tensor, found {value.type}")
    return value.type


class SparseOf(CoreOp, name="core.sparse_of", traits=(traits.Pure,)):
    """A sparse tensor with elements at some indices.

    `indices` are coordinates, one row for each element, or indices in row-major order. They may be in any order; of
    elements with equal indices the last one counts. An index out of range is a runtime error.
    """

    values: Value = operand("T[n]")
    indices: Value = operand("I[*]")
    shape: Value = operand("P[r]", by_value=True)
    y: Value = result("sparse<T[*]>")
    T = ELEMENTS
    I = _POSITIONS  # noqa: E741  as in ONNX
    P = _POSITIONS

    @constraint("C1")
    def has_indices_of_each_value(self) -> object:
        """indices has shape [n], or [n, r]."""
        shape, rank = tensor_type(self.indices).shape, tensor_type(self.shape).shape
        if shape is None or len(shape) == 1:
            return True
        return len(shape) == 2 and (rank is None or None in (shape[1], rank[0]) or shape[1] == rank[0])

    def infer(self) -> tuple[Type, ...]:
        known, shape = known_dims(self.shape), tensor_type(self.shape).shape
        rank = None if shape is None else shape[0]
        unknown = (None,) * rank if isinstance(rank, int) else None
        return (SparseTensorType(tensor_type(self.values).element, unknown if known is None else known),)

    def reference(self, values: Array, indices: Array, shape: Array) -> SparseArray:
        from commonir.base.sparse import SparseArray  # noqa: PLC0415  loads numpy

        return SparseArray(values, indices, shape.tolist())


class ToSparse(CoreOp, name="core.to_sparse", traits=(traits.Pure,)):
    """The sparse tensor with the nonzero elements of a dense one; NaN is not zero."""

    x: Value = operand("T[s*]")
    y: Value = result("sparse<T[s*]>")
    T = ELEMENTS

    def reference(self, x: Value) -> Value:
        return sparse_of(*_nonzero_elements(x), shape_of(x))


def _nonzero_elements(x: Value) -> tuple[Value, Value]:
    """The nonzero elements of a dense tensor, and their coordinates."""
    indices = non_zero(x)
    if rank_of(x):
        return gather_nd(x, indices), indices
    row = reshape(x, (1,))
    return gather_nd(row, non_zero(row)), indices


class ToDense(CoreOp, name="core.to_dense", traits=(traits.Pure,)):
    """The dense tensor with the elements of a sparse one."""

    x: Value = operand("sparse<T[s*]>")
    y: Value = result("T[s*]")
    T = ELEMENTS

    def reference(self, x: Value) -> Value:
        return _dense(sparse_values(x), sparse_indices(x), sparse_shape(x), _sparse_type(x))

    def canonicalize(self) -> tuple[Value, ...] | None:
        """Elements of a sparse tensor that the program makes go to their places at once."""
        type, source = _sparse_type(self.x), self.x.owner
        if isinstance(source, ToSparse):
            return (_dense(*_nonzero_elements(source.x), shape_of(source.x), type),)
        if isinstance(source, SparseOf):
            return (_dense(source.values, _coordinates(source.indices, source.shape), source.shape, type),)
        return None


def _dense(values: Value, indices: Value, shape: Value, type: SparseTensorType) -> Value:
    """A dense tensor with elements at coordinates. Raises: NotKnownError for an unknown rank."""
    element = tensor_type(values).element
    zero = scalar("" if element is string else False if element is boolean else 0, element)
    if type.shape is None:
        raise NotKnownError("the rank of a sparse tensor is not known before running")
    if type.shape == ():
        row = SparseTensorType(element, (1,))
        return reshape(_dense(values, pad(indices, (0, 0), (0, 1)), shape, row), ())
    if are_known(type.shape):
        return scatter_nd(fill(zero, type.shape), indices, values)
    rank = len(type.shape)
    nothing = fill(zero, (0,) * rank)
    return scatter_nd(dynamic_pad(nothing, fill(scalar(0, i64), (rank,)), cast(shape, i64)), indices, values)


def _coordinates(indices: Value, shape: Value) -> Value:
    """Indices as coordinates. Raises: NotKnownError when the rank of the indices, or that of the tensor, is unknown."""
    if rank_of(indices) != 1:
        return indices
    known = known_dims(shape)
    if not known:
        raise NotKnownError("the shape of a sparse tensor is not known before running")
    element, columns, rest = tensor_type(indices).element, list[Value](), indices
    for n in reversed(known[1:]):
        size = dims((n,), element)
        columns.append(unsqueeze(mod(rest, size), (1,)))
        rest = floor_div(rest, size)
    # What is left of an index that is out of range is a row that is.
    return concat((unsqueeze(rest, (1,)), *reversed(columns)), 1)


class SparseValues(CoreOp, name="core.sparse_values", traits=(traits.Pure,)):
    """The stored elements of a sparse tensor, in row-major order."""

    x: Value = operand("sparse<T>")
    y: Value = result("T[n]")
    T = ELEMENTS

    def infer(self) -> tuple[Type, ...]:
        return (TensorType(_sparse_type(self.x).element, (None,)),)

    def reference(self, x: SparseArray) -> Array:
        return x.values

    def canonicalize(self) -> tuple[Value, ...] | None:
        """Those of a dense tensor are its nonzero elements."""
        source = self.x.owner
        return (_nonzero_elements(source.x)[0],) if isinstance(source, ToSparse) else None


class SparseIndices(CoreOp, name="core.sparse_indices", traits=(traits.Pure,)):
    """The indices of the stored elements of a sparse tensor, in row-major order: coordinates, one row for each element,
    or with `linear` indices in row-major order.
    """

    x: Value = operand("sparse<T>")
    linear: bool = attribute(attr_types.flag, default=False)
    y: Value = result("i64[*]")
    T = ELEMENTS

    def infer(self) -> tuple[Type, ...]:
        shape = _sparse_type(self.x).shape
        rank = None if shape is None else len(shape)
        return (TensorType(i64, (None,) if self.linear else (None, rank)),)

    def reference(self, x: SparseArray) -> Array:
        return x.linear_indices if self.linear else x.indices

    def canonicalize(self) -> tuple[Value, ...] | None:
        """Those of a dense tensor are the places of its nonzero elements."""
        source = self.x.owner
        if not isinstance(source, ToSparse):
            return None
        if not self.linear:
            return (non_zero(source.x),)
        flat = reshape(source.x, (-1,))
        return (reshape(non_zero(flat), (-1,)),)


class SparseShape(CoreOp, name="core.sparse_shape", traits=(traits.Pure,)):
    """The shape of a sparse tensor, as a vector."""

    x: Value = operand("sparse<T>")
    y: Value = result("i64[r]")
    T = ELEMENTS

    def infer(self) -> tuple[Type, ...]:
        shape = _sparse_type(self.x).shape
        return (TensorType(i64, (None if shape is None else len(shape),)),)

    def reference(self, x: SparseArray) -> Array:
        import numpy as np  # noqa: PLC0415  loads numpy

        return np.asarray(x.shape, np.int64)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        shape = _sparse_type(self.x).shape
        return shape if are_known(shape) else None


class SparseLength(CoreOp, name="core.sparse_length", traits=(traits.Pure,)):
    """The number of stored elements of a sparse tensor, as a scalar."""

    x: Value = operand("sparse<T>")
    y: Value = result("i64[]")
    T = ELEMENTS

    def reference(self, x: Value) -> Value:
        return dim(sparse_values(x), 0)

    def canonicalize(self) -> tuple[Value, ...] | None:
        """That of a dense tensor is the number of its nonzero elements."""
        source = self.x.owner
        return (dim(non_zero(source.x), 0),) if isinstance(source, ToSparse) else None


sparse_of = function(SparseOf)
to_sparse = function(ToSparse)
to_dense = function(ToDense)
sparse_values = function(SparseValues)
sparse_indices = function(SparseIndices)
sparse_shape = function(SparseShape)
sparse_length = function(SparseLength)
