"""Terms of rules that speak of numbers, whatever dialect the numbers are of.

Constants are meant whole: a tensor is zero when all of its elements are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from commonir.ir.core_types import core_type
from commonir.ir.data import Data, data_of
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, Type
from commonir.ods import Op, known_data
from commonir.ods.mlir_op import FromData
from commonir.ods.terms import Computed, Constant, Variable, computed

Number = bool | int | float


def _is_zero(value: object) -> bool:
    return isinstance(value, bool | int) and not value


def _is_one(value: object) -> bool:
    return isinstance(value, bool | int | float) and value == 1


def _is_all_ones(value: object) -> bool:
    return value is True or (isinstance(value, int) and not isinstance(value, bool) and value == -1)


ZERO = Constant("0", _is_zero, is_splat=True)
ONE = Constant("1", _is_one, is_splat=True)
ALL_ONES = Constant("-1", _is_all_ones, is_splat=True)
NAN = Constant("NaN", lambda v: isinstance(v, float) and math.isnan(v), is_splat=True)


def constant(name: str) -> Constant:
    """A constant, whatever it holds."""
    return Constant(f"${name}", name=name)


def splat_of(value: Value) -> object:
    """The number that all elements of a constant are; None when it is none or they differ."""
    data = known_data(value)
    return None if data is None else data.splat()


def has_quotient(operands: Sequence[Data], *, signed: bool) -> bool:
    """Returns whether the quotient of two constants is specified, whole tensors at once: by zero it is not, nor where
    that of signed numbers does not fit.
    """
    lhs, rhs = (d.values() for d in operands)
    if any(not v for v in rhs):
        return False
    least = -(1 << (operands[0].element.bits - 1))
    return not signed or not any(a == least and b == -1 for a, b in zip(lhs, rhs, strict=True))


def is_distance(operands: Sequence[Data], width: int = 0) -> bool:
    """Returns whether the second of two constants, read without sign, is below the width of the elements of the first,
    or below another width.
    """
    bits = width or operands[0].element.width
    return all(0 <= int(v) < bits for v in operands[1].values())


def always_specified(operands: Sequence[Data]) -> bool:  # noqa: ARG001
    """Returns True."""
    return True


Specified = Callable[[Sequence[Data]], bool]
"""Returns whether the result for two constants is specified, so that it may be folded."""
HAS_SIGNED_QUOTIENT: Specified = staticmethod(partial(has_quotient, signed=True))
HAS_UNSIGNED_QUOTIENT: Specified = staticmethod(partial(has_quotient, signed=False))


def filled(maker: type[FromData], type: Type, number: Number) -> Value | None:
    """A constant of a type whose elements are all one number; None where sizes are not known."""
    kind = core_type(type)
    if not isinstance(kind, TensorType) or not kind.is_static:
        return None
    result = maker.from_data(splat(kind, number), type)
    return result.results[0] if isinstance(result, Op) else None


def splat(type: TensorType, number: Number) -> Data:
    """Contents whose elements are all one number, wrapped around as integers of its type are."""
    element = type.element
    if element.kind == "int":
        number = _wrapped(int(number), element)
    elif element.kind == "bool":
        number = bool(number)
    return data_of(element, type.static_shape, (number,) * type.count)


def _wrapped(number: int, element: ElementType) -> int:
    half = 1 << (element.bits - 1)
    return (number + half) % (2 * half) - half


def filled_like(maker: type[FromData], name: str, number: Number) -> Computed:
    """In a result: a constant of the type of a bound value, all of whose elements are a number."""

    def constant_like(value: Value) -> Value | None:
        return filled(maker, value.type, number)

    return computed(constant_like, Variable(name))
