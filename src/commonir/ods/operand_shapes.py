"""Shapes of operands for references, with an error if the required dims are not known yet."""

from __future__ import annotations

from commonir.ir.operation import Value
from commonir.ir.types import Shape, TensorType, Type, are_known, are_numbers
from commonir.symbolic import Dim
from commonir.symbolic.errors import NotKnownError

_UNKNOWN_SIZE = "a size of an operand is not known before running"


def ranked_shape(of: Value | Type) -> Shape:
    """Returns the shape of a tensor of known rank. Raises: NotKnownError for another tensor."""
    type = of.type if isinstance(of, Value) else of
    if not isinstance(type, TensorType) or type.shape is None:
        raise NotKnownError("the rank of an operand is not known before running")
    return type.shape


def known_dims_of(of: Value | Type) -> tuple[Dim, ...]:
    """Returns the dims of a tensor, as numbers or symbols. Raises: NotKnownError when one is unknown."""
    shape = ranked_shape(of)
    if not are_known(shape):
        raise NotKnownError(_UNKNOWN_SIZE)
    return shape


def static_dims(of: Value | Type) -> tuple[int, ...]:
    """Returns the static dims of a tensor. Raises: NotKnownError when one is not a number."""
    shape = ranked_shape(of)
    if not are_numbers(shape):
        raise NotKnownError(_UNKNOWN_SIZE)
    return shape
