"""The base class of core operations, and functions that build an operation and return its values.

The core is the small set of operations in which the operations of all formats are defined. Its definitions are kernels
where index notation can express them, composites of other core operations, and a few algorithms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, ParamSpec

from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, Type, boolean, f32, string, unknown
from commonir.notation import NotationError, NotKnownError
from commonir.ods import Op, all_integers, all_numbers, element_type, floats, signed_integers

if TYPE_CHECKING:
    import numpy as np

P = ParamSpec("P")

Function1 = Callable[[Value], Value]
Function2 = Callable[[Value, Value], Value]

NUMBERS = all_numbers
FLOATS = floats
SIGNED = floats | signed_integers
INTEGERS = all_integers
REALS = floats | all_integers
ANYTHING = all_numbers | element_type(boolean)
ELEMENTS = ANYTHING | element_type(string)
"""The element types of operations that only move elements."""


class CoreOp(Op):
    """Base of the core operations."""


def function(definition: Callable[P, Op]) -> Callable[P, Value]:
    """Returns the function that builds an operation and returns its only result; it wraps the definition."""

    def build(*args: P.args, **named: P.kwargs) -> Value:
        return definition(*args, **named).result

    return update_wrapper(build, definition, ("__doc__",), ())


def function_of_several(definition: Callable[P, Op]) -> Callable[P, tuple[Value, ...]]:
    """The function that builds an operation and returns all of its results."""

    def build(*args: P.args, **named: P.kwargs) -> tuple[Value, ...]:
        return definition(*args, **named).results

    build.__doc__ = definition.__doc__
    return build


def numpy_type(element: ElementType) -> np.dtype[Any]:
    """Returns the dtype of arrays of an element type."""
    from commonir.base.arrays import dtype_of  # noqa: PLC0415  loads numpy

    return dtype_of(element.name)


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from the front. Raises: NotationError when it is not in [-rank, rank)."""
    if not -rank <= axis < rank:
        raise NotationError(f"axis {axis} of a tensor of rank {rank}")
    return axis + rank if axis < 0 else axis


def axes_of(axes: Iterable[int], rank: int, label: str = "C1") -> list[int]:
    """Axes counted from the front, in ascending order.

    Raises: NotationError when one is named twice (a constraint of the given label) or not there.
    """
    arguments = list(axes)
    result = {axis_of(a, rank) for a in arguments}
    if len(result) != len(arguments):
        raise NotationError(f"axes {arguments} name one axis twice", label=label)
    return sorted(result)


def accumulator(element: ElementType) -> ElementType:
    """The element type in which sums of products are formed: at least single precision for floats."""
    return f32 if element.is_float and element.bits < f32.bits else element


def tensor_type(value: Value) -> TensorType:
    """The type of a value that is known to be a tensor. Raises: as `as_tensor`."""
    return as_tensor(value.type)


def rank_of(value: Value) -> int:
    """The number of axes of a tensor. Raises: NotKnownError when it is unknown."""
    shape = tensor_type(value).shape
    if shape is None:
        raise NotKnownError("the rank of an operand is not known before running")
    return len(shape)


def as_tensor(type: Type) -> TensorType:
    """A type that is known to be a tensor.

    Raises: NotKnownError when nothing is known of it; NotationError when it is something else.
    """
    if type is unknown:
        raise NotKnownError("the type of an operand is not known before running")
    if not isinstance(type, TensorType):
        raise NotationError(f"expected a tensor, found {type}")
    return type
