"""Core operations on tuples, and on handles.

While a program runs, a tuple is a Python tuple, and a handle an integer of 64 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonir.dialects.core.base import CoreOp, function
from commonir.dialects.core.elementwise import equal
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, TupleType, Type, i64
from commonir.notation import NotationError
from commonir.ods import any_type, attr_types, attribute, constraint, operand, result, traits
from commonir.symbolic import Dim

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    ArrayTuple = tuple[Any, ...]


class TupleOf(CoreOp, name="core.tuple_of", traits=(traits.Pure,)):
    """A tuple of values, each of its own type."""

    xs: tuple[Value, ...] = operand(any_type, variadic=True, default=())
    y: Value = result(any_type)

    def infer(self) -> tuple[Type, ...]:
        return (TupleType(tuple([x.type for x in self.xs])),)

    def reference(self, xs: ArrayTuple) -> ArrayTuple:
        return xs


def _elements(value: Value) -> tuple[Type, ...]:
    """The types of the elements of a tuple. Raises: NotationError for what is not a tuple."""
    if not isinstance(value.type, TupleType):
        raise NotationError(f"expected a tuple, found {value.type}")
    return value.type.elements


class TupleGet(CoreOp, name="core.tuple_get", traits=(traits.Pure,)):
    """The element of a tuple at a position."""

    x: Value = operand(any_type)
    index: int = attribute(attr_types.integer)
    y: Value = result(any_type)

    @constraint("C1")
    def has_the_element(self) -> object:
        """index is the position of an element, counted from 0."""
        count = len(_elements(self.x))
        if not 0 <= self.index < count:
            raise NotationError(f"index {self.index} in a tuple of {count}", label="C1")
        return True

    def infer(self) -> tuple[Type, ...]:
        return (_elements(self.x)[self.index],)

    def reference(self, x: ArrayTuple) -> Array:
        return x[self.index]

    def fold(self) -> Value | None:
        source = self.x.owner
        return source.xs[self.index] if isinstance(source, TupleOf) else None


class TupleLength(CoreOp, name="core.tuple_length", traits=(traits.Pure,)):
    """The number of elements of a tuple, as a scalar."""

    x: Value = operand(any_type)
    y: Value = result("i64[]")

    def infer(self) -> tuple[Type, ...]:
        _elements(self.x)
        return (TensorType(i64, ()),)

    def reference(self, x: ArrayTuple) -> Array:
        import numpy as np  # noqa: PLC0415  loads numpy

        return np.asarray(len(x), np.int64)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        return (len(_elements(self.x)),)


class HandleOf(CoreOp, name="core.handle_of", traits=(traits.Pure,)):
    """The handle with a number."""

    x: Value = operand("i64[]")
    y: Value = result("!builtin.handle[]")

    def reference(self, x: Array) -> Array:
        return x


class HandleValue(CoreOp, name="core.handle_value", traits=(traits.Pure,)):
    """The number of a handle."""

    x: Value = operand("!builtin.handle[]")
    y: Value = result("i64[]")

    def reference(self, x: Array) -> Array:
        return x

    def fold(self) -> Value | None:
        source = self.x.owner
        return source.x if isinstance(source, HandleOf) else None


class HandleEqual(CoreOp, name="core.handle_equal", traits=(traits.Pure,)):
    """True when two handles are equal: when their numbers are."""

    a: Value = operand("!builtin.handle[]")
    b: Value = operand("!builtin.handle[]")
    y: Value = result("i1[]")

    def reference(self, a: Value, b: Value) -> Value:
        return equal(handle_value(a), handle_value(b))


tuple_of = function(TupleOf)
tuple_get = function(TupleGet)
tuple_length = function(TupleLength)
handle_of = function(HandleOf)
handle_value = function(HandleValue)
handle_equal = function(HandleEqual)
