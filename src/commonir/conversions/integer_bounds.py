"""How large integers of a program can be, as far as the operations that make them tell."""

from __future__ import annotations

import math

from commonir.dialects import core
from commonir.dialects.core.base import tensor_type
from commonir.ir.operation import Value
from commonir.ir.types import boolean

_DEEPEST = 16
"""Operations that are looked behind, one after another."""
_LOOKED_AT = 1 << 20
"""Elements of a constant that are looked at."""


def largest_magnitude(value: Value, depth: int = _DEEPEST) -> int:
    """A number that no element of a tensor of integers exceeds in magnitude."""
    element = tensor_type(value).element
    if element is boolean:
        return 1
    if not element.is_integer:
        raise ValueError(f"{element} is no type of integers")
    most = 1 << (element.bits - (element.kind == "int"))
    return min(most, _made(value, depth) or most)


def _made(value: Value, depth: int) -> int | None:
    """The bound that follows from the operation that makes a value."""
    owner = value.owner if depth else None
    match owner:
        case core.Constant(value=data) if data.count <= _LOOKED_AT:
            return max((abs(int(v)) for v in data.values()), default=0)
        case core.Cast(x=x) if not tensor_type(x).element.is_float:
            return largest_magnitude(x, depth - 1)
        case core.Reshape(x=x) | core.Transpose(x=x) | core.Slice(x=x) | core.Neg(x=x) | core.Abs(x=x):
            return largest_magnitude(x, depth - 1)
        case core.Add(a=a, b=b) | core.Sub(a=a, b=b):
            return largest_magnitude(a, depth - 1) + largest_magnitude(b, depth - 1)
        case core.Mul(a=a, b=b):
            return largest_magnitude(a, depth - 1) * largest_magnitude(b, depth - 1)
        case _:
            return None


def largest_sum(op: core.Conv) -> int | None:
    """A number that no partial sum of a convolution of integers exceeds; None when nothing tells how many there are."""
    sizes = [d for d in (tensor_type(op.weight).shape or (None,))[1:] if isinstance(d, int)]
    if len(sizes) != len(tensor_type(op.weight).shape or ()) - 1:
        return None
    bias = 0 if op.bias is None else largest_magnitude(op.bias)
    return math.prod(sizes) * largest_magnitude(op.x) * largest_magnitude(op.weight) + bias
