"""Python values of fields as constants of an ML Program, for programs that were made here instead of read.

The element type of a constant is the one that the definition declares. A type variable is the type that the operation
binds it to, or else that of the first operand if it is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DenseArrayAttr,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    is_sequence,
)
from commonir.ir.data import Data, Scalar, data_of
from commonir.ir.operation import Value
from commonir.ir.types import ELEMENT_TYPES, ElementType, TensorType, boolean, f32, i32, string
from commonir.ods import Op
from commonir.ods.attr_types import AttrType
from commonir.ods.fields import Field


def parameter_data(op: Op, field: Field, value: object) -> Data:
    """The constant for the value of an attribute or parameter of an operation.

    Raises: ValueError when no constant holds the value.
    """
    type = field.type
    if type is None:
        raise ValueError(f"'{field.name}' takes no constant")
    content = _plain(type.to_attribute(value))
    scalars = _flat(content)
    element = _stated_element(op, field) or _natural_element(scalars)
    return data_of(element, _shape(content), scalars)


def natural_type(attr_type: AttrType[Any], value: object) -> TensorType | None:
    """The type of the constant for the value of an attribute of which no type is stated; None when there is none."""
    try:
        content = _plain(attr_type.to_attribute(value))
        return TensorType(_natural_element(_flat(content)), _shape(content))
    except ValueError:
        return None


def plain_data(attribute: Attribute) -> Data:
    """The constant for an attribute without a declared field, such as an integer.

    Raises: ValueError when no constant holds it.
    """
    match attribute:
        case IntegerAttr(value=value, type=ElementType() as element) | FloatAttr(value=value, type=element):
            return data_of(element, (), (value,))
        case DenseArrayAttr(element=element, values=values):
            return data_of(element, (len(values),), values)
        case _:
            content = _plain(attribute)
            scalars = _flat(content)
            return data_of(_natural_element(scalars), _shape(content), scalars)


def _plain(attribute: Attribute) -> object:
    """An attribute as a Python value, perhaps nested tuples."""
    match attribute:
        case BoolAttr(value=value) | IntegerAttr(value=value) | FloatAttr(value=value) | StringAttr(value=value):
            return value
        case EnumAttr(keyword=keyword):
            return keyword
        case DenseArrayAttr(values=values):
            return values
        case ArrayAttr(values=values):
            return tuple(map(_plain, values))
        case _:
            raise ValueError(f"no constant holds {attribute!r}")


def _flat(content: object) -> list[Scalar]:
    if is_sequence(content):
        return list(chain.from_iterable(map(_flat, content)))
    if isinstance(content, bool | int | float | str):
        return [content]
    raise ValueError(f"no constant holds {content!r}")


def _shape(content: object) -> tuple[int, ...]:
    if not is_sequence(content):
        return ()
    inner = {_shape(item) for item in content}
    if len(inner) > 1:
        raise ValueError(f"the rows of {content!r} differ in length")
    return (len(content), *next(iter(inner), ()))


def _natural_element(scalars: Iterable[Scalar]) -> ElementType:
    """The element type for Python values of no stated type; of none at all, int32."""
    match next(iter(scalars), 0):
        case bool():
            return boolean
        case int():
            return i32
        case float():
            return f32
        case str():
            return string


def _stated_element(op: Op, field: Field) -> ElementType | None:
    """The element type that the pattern of a field determines."""
    name = "" if field.pattern is None else field.pattern.element
    if name in ELEMENT_TYPES:
        return ELEMENT_TYPES[name]
    variable = op.layout.variables.get(name)
    if variable is None:
        return None
    elements = [(f, _element(op.field_value(f))) for f in op.layout.inputs if f.type is None]
    for f, element in elements:
        if f.pattern is not None and f.pattern.element == name and element is not None:
            return element
    allowed = [element for _, element in elements if element is not None and element in variable.elements]
    return allowed[0] if allowed else None


def _element(content: object) -> ElementType | None:
    first = content[0] if is_sequence(content) and content else content
    type = first.type if isinstance(first, Value) else None
    return type.element if isinstance(type, TensorType) else None
