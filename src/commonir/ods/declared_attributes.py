"""Types of the attributes that a file declares, and the Python values of such attributes.

The type of an attribute is written like that of a parameter: `i64[]` is an integer, `f32[n]` a list of numbers, `f32[n,
m]` a tensor; others are `type`, `shape`, `graph` and lists of them. Integers and floats are not converted to
each other: a value in a file must have the declared type.

Source: Common IR specification, nodes and operators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from commonir.base.suggestions import did_you_mean
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DataAttr,
    DenseArrayAttr,
    DictionaryAttr,
    DimsAttr,
    IntegerAttr,
    is_sequence,
)
from commonir.ir.data import Data
from commonir.ir.types import ELEMENT_TYPES, ElementType, handle
from commonir.ods import attr_types
from commonir.ods.attr_types import AttrType
from commonir.ods.declared_types import DeclaredType, ListOf, OptionalOf, TensorOf, declared_type
from commonir.ods.declared_values import (
    LITERALS,
    NO_ELEMENTS,
    Elements,
    TypedPart,
    dense_in,
    description,
    exact_literal,
    literal_form,
    parts_of_value,
)
from commonir.ods.fields import Check

GRAPH = "graph"
GRAPHS = "list<graph>"
ANYTHING = frozenset({"any", "value", "list<value>"})
"""Types that say nothing of the contents of an attribute."""


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

    def parts(self, value: object, elements: Elements = NO_ELEMENTS) -> Iterator[TypedPart]:
        """Yields the tensors in a Python value of this type, each with its declared type; `elements` are those of type
        variables. Raises: ValueError.
        """
        if self.declared is not None and self.attr_type is not None:
            yield from parts_of_value(self.declared, self.attr_type.to_attribute(value), elements)

    def exact(self, attr: Attribute) -> Attribute:
        """Returns a literal with the element type that is declared of it."""
        return attr if self.declared is None else exact_literal(self.declared, attr)

    def literal(self, attr: Attribute) -> Attribute:
        """Returns a value as operators take it: a scalar or vector as a literal, whatever its form in the file."""
        return attr if self.declared is None or _literal_of(self.declared) is None else literal_form(attr)


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
    """Returns the type of the Python value of an attribute, and a check of it."""
    literal = _literal_of(declared)
    if literal is None:
        return _checked(declared), None
    element, is_vector = literal
    scalar, vector = LITERALS[element.kind]
    base = vector if is_vector else scalar

    def decode(attr: Attribute) -> Any:
        for _ in parts_of_value(declared, attr):
            pass
        plain = literal_form(attr)
        return base.from_attribute(_as_bool(plain) if base is attr_types.flag else plain)

    attr_type = AttrType(base.name, base.coerce, base.to_attribute, decode, base.from_elements, base.cases)
    return attr_type, _within(element) if element.is_integer else None


def _literal_of(declared: DeclaredType) -> tuple[ElementType, bool] | None:
    """Returns the element type of a scalar or a vector, with whether it is a vector; None for another type."""
    is_list = isinstance(declared, ListOf)
    content = declared.element if isinstance(declared, ListOf) else declared
    if not isinstance(content, TensorOf) or content.is_sparse or content.pattern.dims is None:
        return None
    element, dims = ELEMENT_TYPES.get(content.pattern.element), content.pattern.dims
    is_vector = len(dims) == 1 and not dims[0][1]
    if element is None or element.kind not in LITERALS or (dims and (is_list or not is_vector)):
        return None
    return element, is_list or is_vector


def _checked(declared: DeclaredType) -> AttrType[Any]:
    """Returns the type of attributes that are values of a declared type, kept as they are; a dense tensor is data."""
    is_tensor = isinstance(declared, TensorOf) and not declared.is_sparse and declared.pattern.element != handle.name

    def checked(attr: Attribute) -> Any:
        for _ in parts_of_value(declared, attr):
            pass
        data = dense_in(attr)
        return data if is_tensor and data is not None else attr

    def coerce(value: object) -> Any:
        if isinstance(value, Data):
            return checked(DataAttr(value))
        if not isinstance(value, Attribute):
            raise ValueError(f"expected {declared}, found {value!r}")
        return checked(value)

    def to_attribute(value: Any) -> Attribute:
        return DataAttr(value) if isinstance(value, Data) else value

    return AttrType("data" if is_tensor else str(declared), coerce, to_attribute, checked)


def _plain(name: str, accepts: Callable[[Attribute], bool]) -> AttrType[Any]:
    """Returns the type of attributes of some form, whatever their contents."""

    def checked(attr: object) -> Attribute:
        value = DataAttr(attr) if isinstance(attr, Data) else attr
        if not isinstance(value, Attribute) or not accepts(value):
            shown = description(value) if isinstance(value, Attribute) else repr(value)
            raise ValueError(f"expected {name}, found {shown}")
        return value

    return AttrType(name, checked, lambda v: v, checked)


def _each(accepts: Callable[[Attribute], bool]) -> Callable[[Attribute], bool]:
    return lambda attr: isinstance(attr, ArrayAttr) and all(map(accepts, attr.values))


def _is_sparse(attr: Attribute) -> bool:
    return isinstance(attr, DictionaryAttr) and [k for k, _ in attr.entries] == ["values", "indices", "dims"]


_PLAIN: Mapping[str, AttrType[Any]] = MappingProxyType(
    {
        "type": attr_types.type_,
        "list<type>": attr_types.types,
        "shape": attr_types.dims,
        "list<shape>": _plain("a list of shapes", _each(lambda a: isinstance(a, DimsAttr))),
        "tensor": _plain("a tensor", lambda a: isinstance(a, DataAttr)),
        "list<tensor>": _plain("a list of tensors", _each(lambda a: isinstance(a, DataAttr))),
        "sparse_tensor": _plain("a sparse tensor", _is_sparse),
        "list<sparse_tensor>": _plain("a list of sparse tensors", _each(_is_sparse)),
        "value": attr_types.any_attribute,
        "list<value>": _plain("a list", lambda a: isinstance(a, ArrayAttr | DenseArrayAttr)),
        "any": attr_types.any_attribute,
    }
)
"""Types of attributes that are not those of values, or say nothing of the contents."""


def _as_bool(attr: Attribute) -> Attribute:
    """Returns a bool, which may be the integer 0 or 1 in files."""
    is_number = isinstance(attr, IntegerAttr) and attr.value in (0, 1)
    return BoolAttr(bool(attr.value)) if isinstance(attr, IntegerAttr) and is_number else attr


def _within(element: ElementType) -> Check:
    """Returns the check that integers are in the range of a type."""
    least, most = element.integer_limits

    def holds(value: object) -> bool:
        return all(map(holds, value)) if is_sequence(value) else isinstance(value, int) and least <= value <= most

    return Check(f"between {least} and {most}, as {element} is", holds)
