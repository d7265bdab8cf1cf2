"""Values whose contents are known before the program runs."""

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
    """Stands for the operation behind an operand whose elements are known, while a reference is traced."""

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
    """Returns whether what is made by operations of a class may be known; what makes a value may also be a block."""
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
    """Returns the only element of a value, where it is known and an integer; true is 1."""
    data = known_data(value)
    found = data.values()[0] if data is not None and data.count == 1 else None
    return int(found) if isinstance(found, bool | int) else None


def known_dims(value: Value) -> tuple[Dim, ...] | None:
    """Returns the elements of an integer value when they are known before running, perhaps as symbolic expressions.

    What was found is kept by the value: it is asked for again and again along a chain of shape arithmetic.
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
    except NotKnownError:  # the type of another operand than those that may tell
        return None


def known_contents(value: Value) -> Data | None:
    """Returns the contents of a value that a constant defines, or that follow from sizes that are numbers."""
    data, kind = known_data(value), value.type
    if data is not None or not isinstance(kind, TensorType) or not kind.is_static:
        return data
    dims = known_dims(value)
    return data_of(kind.element, kind.static_shape, dims) if are_numbers(dims) else None


def _may_be_constant(value: Value) -> bool:
    """Returns whether the elements of an operand may make those of a result known, and have not been asked for."""
    return value.elements is UNASKED and isinstance(value.type, TensorType) and is_short(value.type)


def is_short(kind: TensorType) -> bool:
    """Returns whether shape arithmetic goes through tensors of a type: vectors, and of others small ones of integers.

    Tables of two amounts for each axis are turned and cut on the way to a list of them.
    """
    return kind.rank in (0, 1, None) or (kind.element.is_integer and kind.is_static and kind.count <= _SHORT)
