"""Base classes of the operations of the tensor dialect: static and dynamic dims, and checks of types.

Source: MLIR tensor dialect.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from commonir.dialects.lazy_core import core
from commonir.ir.attributes import ArrayAttr, Attribute, IntegerAttr
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import DYNAMIC, Shape, TensorType, Type, are_known, i64
from commonir.ods import MlirOp, attr_types, known_dims
from commonir.ods.mlir_attr_types import array_of
from commonir.symbolic import Dim
from commonir.symbolic.errors import NotKnownError

Groups = tuple[tuple[int, ...], ...]

positions = array_of(i64)


class TensorOp(MlirOp):
    """Base of the operations of the tensor dialect."""

    def folds(self, operands: Sequence[Data]) -> bool:
        # Large tensors are not made before running, but for those that definitions and rules name.
        del operands
        return False


def _group(attr: Attribute) -> tuple[int, ...]:
    if not isinstance(attr, ArrayAttr):
        raise ValueError(f"expected an array of integers, found {attr!r}")
    result = [v.value for v in attr.values if isinstance(v, IntegerAttr) and v.type is i64]
    if len(result) != len(attr.values):
        raise ValueError(f"expected 64-bit integers, found {attr!r}")
    return tuple(result)


def _groups(attr: Attribute) -> Groups:
    if not isinstance(attr, ArrayAttr):
        raise ValueError(f"expected an array of arrays of integers, found {attr!r}")
    return tuple([_group(v) for v in attr.values])


reassociation = attr_types.AttrType[Groups](
    "groups of axes",
    attr_types.sequence_of(attr_types.sequence_of(attr_types.to_integer, "integers"), "arrays of integers"),
    lambda v: ArrayAttr(tuple([ArrayAttr(tuple([IntegerAttr(n, i64) for n in group])) for group in v])),
    _groups,
)
"""Which neighbouring axes belong together: `[[0, 1], [2]]`."""


def static_sizes(shape: Shape) -> tuple[int, ...]:
    """A shape as a list of numbers says it."""
    return tuple([d if isinstance(d, int) else DYNAMIC for d in shape])


def known_size(value: Value) -> Dim:
    """The number that a value is. Raises: NotKnownError when it is not known before running."""
    result = known_dims(value)
    if result is None or len(result) != 1:
        raise NotKnownError("a size is not known before running")
    return result[0]


def mixed(static: Sequence[int], dynamic: Iterable[Value]) -> list[int | Value]:
    """A list of numbers with values in place of those that are not known."""
    rest = iter(dynamic)
    return [next(rest) if n == DYNAMIC else n for n in static]


def mixed_sizes(shape: Shape, dynamic: Iterable[Value]) -> tuple[Dim, ...]:
    """A shape with what values say in place of the sizes that it leaves open.

    Raises: NotKnownError when one is not known before running.
    """
    rest = iter(dynamic)
    return tuple([d if isinstance(d, int) else known_size(next(rest)) for d in shape])


def count_dynamic(shape: Shape) -> int:
    """Returns the number of dynamic dims of a shape."""
    return sum(not isinstance(d, int) for d in shape)


def as_value(number: int | Value) -> Value:
    """A position as a value."""
    return number if isinstance(number, Value) else core.scalar(number, i64)


def row(indices: Sequence[Value]) -> Value:
    """Positions as a vector."""
    if not indices:
        return core.vector((), i64)
    return core.concat(tuple([core.unsqueeze(as_position(v), (0,)) for v in indices]), 0)


def as_position(value: Value) -> Value:
    """An integer as a position."""
    return value if core.tensor_type(value).element is i64 else core.cast(value, i64)


def refined(value: Value, declared: Type) -> Value:
    """A value with the sizes that a type states where they are not known of it."""
    type = core.tensor_type(value)
    shape = declared.shape if isinstance(declared, TensorType) else None
    if shape is None or type.shape is None or len(shape) != len(type.shape):
        return value
    sizes = tuple([d if isinstance(d, int) else n for d, n in zip(shape, type.shape, strict=True)])
    return core.reshape(value, sizes) if are_known(sizes) and sizes != type.shape else value


def rank_reduction(full: Sequence[int], reduced: Sequence[int]) -> tuple[int, ...] | None:
    """The axes of size 1 that one list of sizes has and another lacks; None when there is more to it.

    Sizes that are not numbers are `DYNAMIC`.
    """
    dropped: list[int] = []
    at = 0
    for axis, size in enumerate(full):
        if at < len(reduced) and reduced[at] == size:
            at += 1
        elif size == 1:
            dropped.append(axis)
        else:
            return None
    return tuple(dropped) if at == len(reduced) else None


def sizes_text(sizes: Sequence[int], element: object) -> str:
    """A tensor type of some sizes, for messages."""
    shown = ["?" if n == DYNAMIC else str(n) for n in sizes]
    return f"'tensor<{''.join([f'{n}x' for n in shown])}{element}>'"
