"""Values whose elements are known before the program runs."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from functools import lru_cache

from commonir.ir.data import AbsentData, Data, data_of
from commonir.ir.operation import Operation, Value
from commonir.ir.printable import PrintableOperation
from commonir.ir.types import TensorType, Type, are_numbers
from commonir.symbolic import Dim, terms_of
from commonir.symbolic.errors import NotKnownError

_SHORT = 64
"""The most elements of a tensor of several axes that shape arithmetic tracks."""

_BITS = 64


class NotComputed(Enum):
    """The type of the sentinel for elements that are not computed yet."""

    NOT_COMPUTED = auto()


NOT_COMPUTED = NotComputed.NOT_COMPUTED


class DimsCache(PrintableOperation):
    """An operation that caches the elements of its integer result, for `known_dims`; constructors set `cached_dims`."""

    __slots__ = ("cached_dims",)

    cached_dims: tuple[Dim, ...] | NotComputed | None

    def notify_modified(self) -> None:
        """Drops what is cached for it, and for operations that depend on it."""
        if self.cached_dims is not NOT_COMPUTED:
            pending: list[DimsCache] = [self]
            while pending:
                op = pending.pop()
                op.cached_dims = NOT_COMPUTED
                # The elements of a result are only cached if those of its operands are.
                users = [user for r in op.results for user in r.users]
                pending += [u for u in users if isinstance(u, DimsCache) and u.cached_dims is not NOT_COMPUTED]


class Known(Operation):
    """A placeholder that defines an operand with known elements while a reference is traced."""

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
def may_be_known(owner: type[object]) -> bool:
    """Returns whether results of operations of a class may be known; False for blocks."""
    if not issubclass(owner, Operation):
        return False
    return (
        owner.constant_data is not Operation.constant_data or owner.constant_results is not Operation.constant_results
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
    """Returns the elements of an integer value if they are known before running, perhaps as symbolic expressions.

    The result is cached in the operation, because a chain of shape arithmetic needs it repeatedly.
    """
    owner = value.owner
    if not isinstance(owner, DimsCache):
        return _dims_of(owner) if isinstance(owner, Operation) else None
    pending = [owner] if owner.cached_dims is NOT_COMPUTED else []
    while pending:
        op = pending[-1]
        waiting = [v.owner for v in op.operands if isinstance(v.owner, DimsCache) and _is_needed(v, v.owner)]
        if waiting and op.cached_dims is NOT_COMPUTED:
            # Visited once: dims that depend on themselves are not known.
            op.cached_dims = None
            pending += waiting
            continue
        pending.pop()
        op.cached_dims = _dims_of(op)
    assert owner.cached_dims is not NOT_COMPUTED
    return owner.cached_dims


def _is_needed(value: Value, owner: DimsCache) -> bool:
    """Returns whether the elements of an operand may determine those of a result, and are not computed yet."""
    return owner.cached_dims is NOT_COMPUTED and isinstance(value.type, TensorType) and is_short(value.type)


def _dims_of(op: Operation) -> tuple[Dim, ...] | None:
    try:
        dims = op.constant_dims()
    except NotKnownError:  # because of the type of another operand, or too large
        return None
    return dims if dims is None or _fit(dims, op.results[0].type) else None


def _fit(dims: Sequence[Dim], type: Type) -> bool:
    """Returns whether numbers are values of a type: arithmetic wraps around where they are not, as running does.

    Integers of programs have 64 bits at most: expressions with larger coefficients have overflowed.
    """
    if isinstance(type, TensorType) and type.element.is_integer:
        least, most = type.element.integer_limits
        if any(isinstance(d, int) and not least <= d <= most for d in dims):
            return False
    return all(c.bit_length() <= _BITS for d in dims for c in terms_of(d).values())


def known_contents(value: Value) -> Data | None:
    """Returns the contents of a value that a constant defines, or that consists of static dims."""
    data, type = known_data(value), value.type
    if data is not None or not isinstance(type, TensorType) or not type.is_static:
        return data
    dims = known_dims(value)
    return data_of(type.element, type.static_shape, dims) if are_numbers(dims) else None


def is_short(type: TensorType) -> bool:
    """Returns whether elements of a type are tracked for shape arithmetic: vectors, and other small integer tensors.

    For example, a matrix of two paddings per axis is transposed and sliced to a vector.
    """
    return type.rank in (0, 1, None) or (type.element.is_integer and type.is_static and type.count <= _SHORT)
