"""Types of the attributes that a file declares, and the Python values of such attributes.

The type of an attribute is written like that of a parameter: `i64[]` is an integer, `f32[n]` a list of numbers, `f32[n,
m]` a tensor; others are `type`, `shape`, `graph` and lists of them. Integers and floats are not converted to
each other: a value in a file must have the declared type.

Source: Common IR specification, nodes and operators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from commonir.base.suggestions import did_you_mean
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DataAttr,
    DenseArrayAttr,
    DimsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TypeAttr,
    is_sequence,
)
from commonir.ir.data import Data
from commonir.ir.types import ELEMENT_TYPES, ElementType, TensorType, Type
from commonir.ods import attr_types
from commonir.ods.attr_types import AttrType
from commonir.ods.declared_types import DeclaredType, ListOf, OptionalOf, TensorOf, declared_type
from commonir.ods.fields import Check

GRAPH = "graph"
GRAPHS = "list<graph>"
_PLAIN: dict[str, AttrType[Any]] = {
    "type": attr_types.type_,
    "list<type>": attr_types.types,
    "shape": attr_types.dims,
    "any": attr_types.any_attribute,
}


class DeclaredAttrType:
    """The type of a declared attribute. `attr_type` is None for a graph, `declared` for an attribute without a value
    type.
    """

    __slots__ = ("attr_type", "check", "declared", "is_optional", "text")

    def __init__(
        self,
        text: str,
        attr_type: AttrType[Any] | None,
        declared: DeclaredType | None = None,
        check: Check | None = None,
        is_optional: bool = False,
    ) -> None:
        self.text = text
        self.attr_type = attr_type
        self.declared = declared
        self.check = check
        self.is_optional = is_optional

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeclaredAttrType) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def tensor_type(self, value: object) -> Type | None:
        """Returns the type of the value of a list or tensor; None for one of any shape."""
        if isinstance(value, Data):
            return value.type
        if isinstance(self.declared, TensorOf) and is_sequence(value):
            element = ELEMENT_TYPES.get(self.declared.pattern.element)
            return None if element is None else TensorType(element, (len(value),))
        return None


def declared_attr_type(text: str, variables: Iterable[str] = ()) -> DeclaredAttrType:
    """Returns the type of an attribute from its text. Raises: ValueError for an invalid text."""
    stripped = text.strip()
    if stripped in (GRAPH, GRAPHS):
        return DeclaredAttrType(stripped, None)
    nested = stripped.removeprefix("optional<").removesuffix(">") if stripped.startswith("optional<") else stripped
    if nested in _PLAIN:
        return DeclaredAttrType(stripped, _PLAIN[nested], is_optional=nested is not stripped)
    try:
        declared = declared_type(stripped, variables)
    except ValueError as error:
        near = did_you_mean(stripped, [GRAPH, *_PLAIN])
        raise type(error)(f"{error}; {near}" if near else str(error)) from None
    if isinstance(declared, OptionalOf):
        attr_type, check = _attr_type_of(declared.element)
        return DeclaredAttrType(str(declared), attr_type, declared.element, check, is_optional=True)
    attr_type, check = _attr_type_of(declared)
    return DeclaredAttrType(str(declared), attr_type, declared, check)


def _attr_type_of(declared: DeclaredType) -> tuple[AttrType[Any], Check | None]:
    if isinstance(declared, ListOf) and isinstance(declared.element, TensorOf):
        element = ELEMENT_TYPES.get(declared.element.pattern.element)
        if element is not None and declared.element.pattern.dims == ():
            return _vector(element)
    if isinstance(declared, TensorOf) and not declared.is_sparse:
        element = ELEMENT_TYPES.get(declared.pattern.element)
        dims = declared.pattern.dims
        if element is not None and dims == ():
            return _scalar(element)
        if element is not None and dims is not None and len(dims) == 1 and not dims[0][1]:
            return _vector(element)
        return _TENSOR, None
    return attr_types.any_attribute, None


def _strict(attr_type: AttrType[Any], accepts: Callable[[Attribute], bool]) -> AttrType[Any]:
    """Returns an attribute type that accepts only some forms of attributes."""

    def decode(attr: Attribute) -> Any:
        if not accepts(attr):
            raise ValueError(f"expected {attr_type.name}, found {_description(attr)}")
        return attr_type.from_attribute(attr)

    return AttrType(
        attr_type.name, attr_type.coerce, attr_type.to_attribute, decode, attr_type.from_elements, attr_type.cases
    )


def _description(attr: Attribute) -> str:
    match attr:
        case BoolAttr():
            return "a bool"
        case IntegerAttr():
            return "an integer"
        case FloatAttr():
            return "a number"
        case StringAttr():
            return "a string"
        case DataAttr(data=data):
            return f"a tensor {data.type}"
        case DenseArrayAttr(element=element):
            return f"a list of {element}"
        case ArrayAttr():
            return "a list"
        case TypeAttr():
            return "a type"
        case DimsAttr():
            return "a shape"
        case _:
            return "something else"


def _as_bool(attr: Attribute) -> Attribute:
    """Returns a bool, which may be the integer 0 or 1 in files."""
    is_number = isinstance(attr, IntegerAttr) and attr.value in (0, 1)
    return BoolAttr(bool(attr.value)) if isinstance(attr, IntegerAttr) and is_number else attr


def _is_list_of(attr: Attribute, accepts: Callable[[ElementType], bool]) -> bool:
    match attr:
        case DenseArrayAttr(element=element, values=values):
            return not values or accepts(element)
        case ArrayAttr(values=values):
            return not values
        case _:
            return False


_INTEGER = _strict(attr_types.integer, lambda a: isinstance(a, IntegerAttr))
_NUMBER = _strict(attr_types.number, lambda a: isinstance(a, FloatAttr))
_STRING = _strict(attr_types.string, lambda a: isinstance(a, StringAttr))
_FLAG: AttrType[bool] = AttrType(
    "bool", attr_types.flag.coerce, attr_types.flag.to_attribute, lambda a: attr_types.flag.from_attribute(_as_bool(a))
)
_INTEGERS = _strict(attr_types.integers, lambda a: _is_list_of(a, lambda e: e.is_integer))
_NUMBERS = _strict(attr_types.numbers, lambda a: _is_list_of(a, lambda e: e.is_float))
_FLAGS = _strict(attr_types.flags, lambda a: _is_list_of(a, lambda e: e.is_integer or e.kind == "bool"))
_STRINGS = _strict(
    attr_types.strings, lambda a: isinstance(a, ArrayAttr) and all(isinstance(v, StringAttr) for v in a.values)
)
_TENSOR = _strict(attr_types.data, lambda a: isinstance(a, DataAttr))


def _scalar(element: ElementType) -> tuple[AttrType[Any], Check | None]:
    match element.kind:
        case "bool":
            return _FLAG, None
        case "int" | "uint":
            return _INTEGER, _within(element)
        case "float":
            return _NUMBER, None
        case "string":
            return _STRING, None
        case _:
            return _TENSOR, None


def _vector(element: ElementType) -> tuple[AttrType[Any], Check | None]:
    match element.kind:
        case "bool":
            return _FLAGS, None
        case "int" | "uint":
            return _INTEGERS, _within(element)
        case "float":
            return _NUMBERS, None
        case "string":
            return _STRINGS, None
        case _:
            return _TENSOR, None


def _within(element: ElementType) -> Check:
    """Returns the check that integers are in the range of a type."""
    signed = element.kind == "int"
    least = -(1 << (element.bits - 1)) if signed else 0
    most = (1 << (element.bits - signed)) - 1

    def holds(value: object) -> bool:
        return all(map(holds, value)) if is_sequence(value) else isinstance(value, int) and least <= value <= most

    return Check(f"between {least} and {most}, as {element} is", holds)
