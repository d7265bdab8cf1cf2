"""Core operations on lists, and on optional values.

While a program runs, a list is a Python list, and an absent value is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from commonir.dialects.core.base import ELEMENTS, CoreOp, axis_of, function, tensor_type
from commonir.ir.operation import Value
from commonir.ir.types import (
    ListType,
    OptionalType,
    Shape,
    SparseTensorType,
    TensorType,
    Type,
    boolean,
    have_like_parts,
    i32,
    i64,
    unknown,
)
from commonir.notation import NotationError
from commonir.ods import (
    any_type,
    any_value,
    attr_types,
    attribute,
    constraint,
    element_type,
    known_dims,
    operand,
    result,
    traits,
)
from commonir.symbolic import Dim, ceil_div

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    ArrayList = Sequence[Array]

_POSITIONS = element_type(i32, i64)


def common_type(a: Type, b: Type) -> Type:
    """A type for values of either type of one element type: sizes that differ are unknown."""
    if a is b or b is unknown:
        return a
    match a, b:
        case TensorType(), TensorType():
            if a.shape is None or b.shape is None or len(a.shape) != len(b.shape):
                return a.with_shape(None)
            return a.with_shape(tuple([x if x == y else None for x, y in zip(a.shape, b.shape, strict=True)]))
        case ListType(), ListType():
            return ListType(common_type(a.element, b.element), a.length if a.length == b.length else None)
        case SparseTensorType(), SparseTensorType():
            dense = common_type(a.dense, b.dense)
            return SparseTensorType(a.element, dense.shape if isinstance(dense, TensorType) else None)
        case _ if have_like_parts(a, b):
            return a.with_parts(tuple(map(common_type, a.parts, b.parts)))
        case _:
            return b if a is unknown else a


def _element(value: Value) -> Type:
    """The type of the elements of a list. Raises: NotationError for what is not a list."""
    if not isinstance(value.type, ListType):
        raise NotationError(f"expected a list, found {value.type}")
    return value.type.element


def _tensor_element(value: Value) -> TensorType:
    result = _element(value)
    if not isinstance(result, TensorType):
        raise NotationError(f"expected a list of tensors, found {value.type}")
    return result


class ListOf(CoreOp, name="core.list_of", traits=(traits.Pure,)):
    """A list of values of one type, in order; the shapes of tensors may differ."""

    xs: tuple[Value, ...] = operand("T", variadic=True)
    y: Value = result("list<T>")
    T = any_value

    @constraint("C1")
    def has_a_value(self) -> object:
        """There is a value."""
        return len(self.xs) > 0

    def infer(self) -> tuple[Type, ...]:
        first, *rest = [v.type for v in self.xs]
        for other in rest:
            first = common_type(first, other)
        return (ListType(first),)

    def reference(self, xs: tuple[Array, ...]) -> ArrayList:
        return list(xs)


class ListEmpty(CoreOp, name="core.list_empty", traits=(traits.Pure,)):
    """A list without elements."""

    element: Type = attribute(attr_types.type_)
    y: Value = result(any_type)

    def infer(self) -> tuple[Type, ...]:
        return (ListType(self.element),)

    def reference(self) -> ArrayList:
        return []


class ListLength(CoreOp, name="core.list_length", traits=(traits.Pure,)):
    """The number of elements of a list, as a scalar."""

    x: Value = operand("list<T>")
    y: Value = result("i64[]")
    T = any_value

    def infer(self) -> tuple[Type, ...]:
        _element(self.x)
        return (TensorType(i64, ()),)

    def reference(self, x: ArrayList) -> Array:
        import numpy as np  # noqa: PLC0415  there may be no array to ask for it

        return np.asarray(len(x), np.int64)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        length = self.x.type.length if isinstance(self.x.type, ListType) else None
        return None if length is None else (length,)


class ListAt(CoreOp, name="core.list_at", traits=(traits.Pure,)):
    """Returns the element of a list at a position; a negative position counts from the end, and one out of range is a
    runtime error.
    """

    x: Value = operand("list<T>")
    position: Value = operand("P[*]", by_value=True)
    y: Value = result("T")
    T = any_value
    P = _POSITIONS

    def infer(self) -> tuple[Type, ...]:
        return (_element(self.x),)

    def reference(self, x: ArrayList, position: Array) -> Array:
        return x[_inside(position, len(x), len(x))]


def _inside(position: Array, count: int, end: int) -> int:
    """A position counted from the front. Raises: IndexError when it is not below the end."""
    p = int(position.item())
    if not -count <= p < end:
        raise IndexError(f"position {p} in a list of {count}")
    return p + count if p < 0 else p


class ListInsert(CoreOp, name="core.list_insert", traits=(traits.Pure,)):
    """A copy of a list with a value inserted before a position, or at the end if no position is given.

    A negative position counts from the end. One out of range is a runtime error.
    """

    x: Value = operand("list<T>")
    inserted: Value = operand("T")
    position: Value | None = operand("P[*]", default=None, by_value=True)
    y: Value = result("list<T>")
    T = any_value
    P = _POSITIONS

    def infer(self) -> tuple[Type, ...]:
        return (ListType(common_type(_element(self.x), self.inserted.type)),)

    def reference(self, x: ArrayList, inserted: Array, position: Array | None) -> ArrayList:
        at = len(x) if position is None else _inside(position, len(x), len(x) + 1)
        return [*x[:at], inserted, *x[at:]]


class ListErase(CoreOp, name="core.list_erase", traits=(traits.Pure,)):
    """A copy of a list without the element at a position, or without the last one if no position is given.

    A negative position counts from the end. One out of range is a runtime error.
    """

    x: Value = operand("list<T>")
    position: Value | None = operand("P[*]", default=None, by_value=True)
    y: Value = result("list<T>")
    T = any_value
    P = _POSITIONS

    def infer(self) -> tuple[Type, ...]:
        return (ListType(_element(self.x)),)

    def reference(self, x: ArrayList, position: Array | None) -> ArrayList:
        if not x:
            raise IndexError("nothing to take out of an empty list")
        at = len(x) - 1 if position is None else _inside(position, len(x), len(x))
        return [*x[:at], *x[at + 1 :]]


class ListConcat(CoreOp, name="core.list_concat", traits=(traits.Pure,)):
    """Concatenates the tensors of a list along an axis, or stacks them along a new one; an error if it is empty."""

    x: Value = operand("list<T>")
    axis: int = attribute(attr_types.integer)
    new_axis: bool = attribute(attr_types.flag, default=False)
    y: Value = result("T[*]")
    T = ELEMENTS

    def infer(self) -> tuple[Type, ...]:
        type = _tensor_element(self.x)
        if type.shape is None:
            return (type,)
        a = axis_of(self.axis, len(type.shape) + self.new_axis)
        shape: Shape = (*type.shape[:a], None, *type.shape[a + (not self.new_axis) :])
        return (type.with_shape(shape),)

    def reference(self, x: ArrayList) -> Array:
        if not x:
            raise ValueError("no tensors to join")
        xp: Any = x[0].__array_namespace__()
        return xp.stack(x, axis=self.axis) if self.new_axis else xp.concatenate(x, axis=self.axis)


class SplitToList(CoreOp, name="core.split_to_list", traits=(traits.Pure,)):
    """Splits a tensor along an axis, into a list.

    `sizes` has the sizes of the chunks; a scalar is the size of all but the last, which may be smaller. With
    `keep_axis` false the chunks, of size 1, lack the axis.
    """

    x: Value = operand("T[*]")
    sizes: Value = operand("P[*]", by_value=True)
    axis: int = attribute(attr_types.integer, default=0)
    keep_axis: bool = attribute(attr_types.flag, default=True)
    y: Value = result("list<T>")
    T = ELEMENTS
    P = _POSITIONS

    def infer(self) -> tuple[Type, ...]:
        type, sizes, pieces = tensor_type(self.x), known_dims(self.sizes), tensor_type(self.sizes)
        if type.shape is None:
            return (ListType(type),)
        a = axis_of(self.axis, len(type.shape))
        whole, size, count = type.shape[a], None, None
        if pieces.rank == 1 and pieces.shape is not None:
            count = pieces.shape[0]
            if sizes is not None and isinstance(whole, int) and all(isinstance(s, int) for s in sizes):
                _check_pieces([s for s in sizes if isinstance(s, int)], whole)
            size = sizes[0] if sizes and all(s == sizes[0] for s in sizes) else None
        elif sizes is not None and isinstance(sizes[0], int) and sizes[0] > 0 and whole is not None:
            count = ceil_div(whole, sizes[0])
            size = sizes[0] if (isinstance(whole, int) and whole % sizes[0] == 0) or sizes[0] == 1 else None
        middle = (size,) if self.keep_axis else ()
        return (ListType(type.with_shape((*type.shape[:a], *middle, *type.shape[a + 1 :])), count),)

    def reference(self, x: Array, sizes: Array) -> ArrayList:
        xp: Any = x.__array_namespace__()
        whole = x.shape[self.axis]
        if sizes.ndim == 0:
            size = int(sizes)
            if size < 1:
                raise ValueError(f"pieces of size {size}")
            ends = [min(n + size, whole) for n in range(0, whole, size)]
        else:
            _check_pieces(sizes.tolist(), whole)
            ends = xp.cumsum(sizes).tolist()
        pieces: list[Array] = xp.split(x, ends[:-1], axis=self.axis) if ends else []
        return pieces if self.keep_axis else [xp.squeeze(p, axis=self.axis) for p in pieces]


def _check_pieces(sizes: Sequence[int], whole: int) -> None:
    """Raises: NotationError when sizes are not those of the pieces of an axis."""
    if any(s < 0 for s in sizes) or sum(sizes) != whole:
        raise NotationError(f"pieces of sizes {list(sizes)} of an axis of size {whole}")


class OptionalOf(CoreOp, name="core.optional_of", traits=(traits.Pure,)):
    """An optional with a value."""

    x: Value = operand(any_type)
    y: Value = result(any_type)

    def infer(self) -> tuple[Type, ...]:
        return (OptionalType(self.x.type),)

    def reference(self, x: Array) -> Array:
        return x


class OptionalNone(CoreOp, name="core.optional_none", traits=(traits.Pure,)):
    """An absent optional."""

    element: Type = attribute(attr_types.type_)
    y: Value = result(any_type)

    def infer(self) -> tuple[Type, ...]:
        return (OptionalType(self.element),)

    def reference(self) -> Array | None:
        return None


class OptionalHas(CoreOp, name="core.optional_has", traits=(traits.Pure,)):
    """True when the optional has a value."""

    x: Value = operand(any_type)
    y: Value = result("i1[]")

    def infer(self) -> tuple[Type, ...]:
        return (TensorType(boolean, ()),)

    def reference(self, x: Array | None) -> Array:
        import numpy as np  # noqa: PLC0415  there may be no array to ask for it

        return np.asarray(x is not None)


class OptionalGet(CoreOp, name="core.optional_get", traits=(traits.Pure,)):
    """The value of an optional; a runtime error if it is absent."""

    x: Value = operand(any_type)
    y: Value = result(any_type)

    @constraint("C1")
    def may_be_absent(self) -> object:
        """The operand is one that may be absent."""
        return isinstance(self.x.type, OptionalType)

    def infer(self) -> tuple[Type, ...]:
        return (self.x.type.element if isinstance(self.x.type, OptionalType) else self.x.type,)

    def reference(self, x: Array | None) -> Array:
        if x is None:
            raise ValueError("the value is absent")
        return x


list_of = function(ListOf)
list_empty = function(ListEmpty)
list_length = function(ListLength)
list_at = function(ListAt)
list_insert = function(ListInsert)
list_erase = function(ListErase)
list_concat = function(ListConcat)
split_to_list = function(SplitToList)
optional_of = function(OptionalOf)
optional_none = function(OptionalNone)
optional_has = function(OptionalHas)
optional_get = function(OptionalGet)
