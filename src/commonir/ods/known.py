"""Values whose elements are known before the program runs."""

from __future__ import annotations

from functools import lru_cache

from commonir.ir.data import AbsentData, Data, data_of
from commonir.ir.operation import UNASKED, Operation, Value
from commonir.ir.types import TensorType, Type, are_numbers
from commonir.symbolic import Dim
from commonir.symbolic.constraints import NotKnownError

_SHORT = 64
"""Elements of a tensor of several axes up to which shape arithmetic goes through it."""


class Known(Operation):
    """A placeholder for the definition of an operand with known elements, while a reference is traced."""

    __slots__ = ("data", "dims")

    name = "builtin.known"

    def __init__(self, type: Type, dims: tuple[Dim, ...] | None, data: Data | None = None) -> None:
        super().__init__((), (type,))
        self.dims = dims
        self.data = data

    def constant_data(self) -> Data | None:
        return self.data

    def constant_dims(self) -> tuple[Dim, ...] | None:
        return self.dims


@lru_cache(1 << 10)
def may_be_known(maker: type[object]) -> bool:
    """Returns whether results of operations of a class may be known; False for blocks."""
    if not issubclass(maker, Operation):
        return False
    return (
        maker.constant_data is not Operation.constant_data or maker.constant_results is not Operation.constant_results
    )


def known_data(value: Value) -> Data | None:
    """Returns the contents of a value that a constant operation defines."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return None
    if len(owner.results) == 1:
        data = owner.constant_data()
        return None if isinstance(data, AbsentData) else data
    result = owner.constant_results()
    return result[value.index] if result else None


def known_integer(value: Value) -> int | None:
    """Returns the only element of a value, if it is a known integer; true is 1."""
    data = known_data(value)
    element = data.values()[0] if data is not None and data.count == 1 else None
    return int(element) if isinstance(element, bool | int) else None


def known_dims(value: Value) -> tuple[Dim, ...] | None:
    """Returns the elements of an integer value when they are known before running, perhaps as symbolic expressions.

    The result is cached in the value, because a chain of shape arithmetic needs it repeatedly.
    """
    if value.elements is not UNASKED:
        return value.elements
    result: tuple[Dim, ...] | None = None
    pending = [value]
    while pending:
        at = pending[-1]
        owner = at.owner
        waiting = [v for v in owner.operands if _may_be_constant(v)] if isinstance(owner, Operation) else []
        if waiting and at.elements is UNASKED:
            # Seen once: an answer that depends on itself is none.
            at.elements = None
            pending += waiting
            continue
        pending.pop()
        at.elements = result = _dims_of(owner) if isinstance(owner, Operation) else None
    return result


def _dims_of(op: Operation) -> tuple[Dim, ...] | None:
    try:
        return op.constant_dims()
    except NotKnownError:  # because of the type of another operand
        return None


def known_contents(value: Value) -> Data | None:
    """Returns the contents of a value that a constant defines, or that consists of static dims."""
    data, type = known_data(value), value.type
    if data is not None or not isinstance(type, TensorType) or not type.is_static:
        return data
    dims = known_dims(value)
    return data_of(type.element, type.static_shape, dims) if are_numbers(dims) else None


def _may_be_constant(value: Value) -> bool:
    """Returns whether the elements of an operand may determine those of a result, and are not computed yet."""
    return value.elements is UNASKED and isinstance(value.type, TensorType) and is_short(value.type)


def is_short(type: TensorType) -> bool:
    """Returns whether elements of a type are tracked for shape arithmetic: vectors, and other small integer tensors.

    Matrices of two paddings for each axis are transposed and sliced on the way to a list of them.
    """
    return type.rank in (0, 1, None) or (type.element.is_integer and type.is_static and type.count <= _SHORT)
