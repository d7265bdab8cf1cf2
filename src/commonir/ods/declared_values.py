"""Values of declared types: whether an attribute is one, and the types of the tensors in it.

A value has the form that files give it: a number, bool, string or list of them is a literal or a dense tensor, a list
is an array, and what has no literal is a dictionary with one key: `{dense = ...}`, `{sparse = {values, indices,
dims}}`, `{handle = 7}`, `{tuple = [...]}`, `{list = [...]}` or `{map = {keys, values}}`. The declared type decides
what a literal is: an integer is a value of any integer type whose range it is in, and 0 and 1 are bools too. Integers
and floats are not converted to each other.

Source: Common IR specification, standard data types.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    BytesAttr,
    DataAttr,
    DenseArrayAttr,
    DictionaryAttr,
    DimsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TypeAttr,
)
from commonir.ir.data import Data, Scalar, data_of, rounded, sparse_fault
from commonir.ir.types import (
    ELEMENT_TYPES,
    ElementType,
    SparseTensorType,
    TensorType,
    Type,
    boolean,
    handle,
    string,
)
from commonir.ods import attr_types
from commonir.ods.attr_types import AttrType
from commonir.ods.declared_types import DeclaredType, DialectOf, ListOf, MapOf, OptionalOf, TensorOf, TupleOf

Elements = Mapping[str, ElementType]
NO_ELEMENTS: Elements = MappingProxyType({})

TypedPart = tuple[DeclaredType, Type]
"""The declared type of a tensor in a value, and the type that it has."""


def parts_of_value(
    declared: DeclaredType, value: Attribute, elements: Elements = NO_ELEMENTS, *, is_inner: bool = False
) -> Iterator[TypedPart]:
    """Yields the tensors in a value, each with its declared type; element types and ranks are checked, dims are not.

    `elements` are the element types of type variables, which literals have too. `is_inner`: it is a part of a value,
    where literals have exact types.
    Raises: ValueError, which says what is wrong and where, for a value of another type.
    """
    match declared:
        case TensorOf(is_sparse=True):
            yield declared, _sparse_type(declared, value)
        case TensorOf():
            yield declared, _dense_type(declared, value, elements, is_inner=is_inner)
        case OptionalOf(element=element):
            yield from parts_of_value(element, value, elements, is_inner=is_inner)
        case ListOf(element=element):
            if not isinstance(_tagged(value, "list") or value, ArrayAttr | DenseArrayAttr) or (
                isinstance(element, TensorOf) and _is_empty_of_others(element, value, elements)
            ):
                raise _unexpected(declared, value)
            is_exact = not isinstance(value, DenseArrayAttr)
            for n, item in enumerate(items_of(value)):
                yield from _within(f"element {n} of the list", element, item, elements, is_inner=is_exact)
        case TupleOf(elements=declared_parts):
            items = _tagged(value, "tuple")
            if not isinstance(items, ArrayAttr):
                raise _unexpected(declared, value)
            if len(items.values) != len(declared_parts):
                raise ValueError(f"expected {declared}, found a tuple of {len(items.values)}")
            for n, (element, item) in enumerate(zip(declared_parts, items.values, strict=True)):
                yield from _within(f"element {n} of the tuple", element, item)
        case MapOf():
            yield from _map_parts(declared, value)
        case DialectOf():
            raise ValueError(f"a value of {declared} has no form as an attribute")
        case _:
            return


def _within(
    where: str, declared: DeclaredType, value: Attribute, elements: Elements = NO_ELEMENTS, *, is_inner: bool = True
) -> Iterator[TypedPart]:
    try:
        yield from parts_of_value(declared, value, elements, is_inner=is_inner)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _unexpected(declared: DeclaredType, value: Attribute) -> ValueError:
    return ValueError(f"expected {declared}, found {description(value)}")


def _tagged(value: Attribute, tag: str) -> Attribute | None:
    """The content of a dictionary with one key; None for another value."""
    if isinstance(value, DictionaryAttr) and len(value.entries) == 1 and value.entries[0][0] == tag:
        return value.entries[0][1]
    return None


def dense_in(value: Attribute) -> Data | None:
    """Returns the contents of a dense tensor; None for a value that is a literal, or not a tensor."""
    content = _tagged(value, "dense") or value
    return content.data if isinstance(content, DataAttr) else None


# -- tensors


def _dense_type(declared: TensorOf, value: Attribute, elements: Elements, *, is_inner: bool) -> TensorType:
    """The type of a dense tensor or literal. Raises: ValueError for another element type or rank."""
    type = _element_and_shape(declared, value, elements, is_inner=is_inner)
    dims, has_wildcard = declared.pattern.dims, declared.pattern.has_wildcard
    rank = len(type.static_shape)
    if dims is not None and (rank < len(dims) - 1 if has_wildcard else rank != len(dims)):
        raise _unexpected(declared, value)
    return type


def _is_empty_of_others(declared: TensorOf, value: Attribute, elements: Elements) -> bool:
    """Returns whether a value is an empty list of numbers of another kind than declared."""
    expected = ELEMENT_TYPES.get(declared.pattern.element) or elements.get(declared.pattern.element)
    match value:
        case DenseArrayAttr(element=element, values=values) if expected is not None and not len(values):
            return element.is_float != expected.is_float
        case _:
            return False


def _element_and_shape(declared: TensorOf, value: Attribute, elements: Elements, *, is_inner: bool) -> TensorType:
    expected = ELEMENT_TYPES.get(declared.pattern.element)
    data = dense_in(value)
    if data is not None:
        if expected is not None and data.element is not expected:
            raise _unexpected(declared, value)
        return data.type
    if expected is handle and (
        isinstance(_tagged(value, "handle"), IntegerAttr) or (isinstance(value, IntegerAttr) and value.type is handle)
    ):
        return TensorType(handle, ())
    expected = expected or elements.get(declared.pattern.element)
    items = _literals(value)
    shape = () if items is None else (len(items),)
    actual = {_element_of(declared, expected, v) for v in ([value] if items is None else items)}
    exact = {v.type for v in ([value] if items is None else items) if isinstance(v, IntegerAttr | FloatAttr)}
    if None in actual or len(actual) > 1 or (is_inner and not exact <= actual):
        raise _unexpected(declared, value)
    if _is_empty_of_others(declared, value, elements):
        raise _unexpected(declared, value)
    element = next(iter(actual), expected)
    if element is None:
        raise ValueError(f"expected {declared}, found an empty list, which has no element type")
    return TensorType(element, shape)


def _literals(value: Attribute) -> Sequence[Attribute] | None:
    """The items of a list of numbers, bools or strings; None for another value."""
    match value:
        case DenseArrayAttr(element=element, values=values):
            return [_literal(element, v) for v in values]
        case ArrayAttr(values=values) if all(isinstance(v, StringAttr | BoolAttr) for v in values):
            return values
        case _:
            return None


def _literal(element: ElementType, value: Scalar) -> Attribute:
    """A number, bool or string as an attribute; another scalar as a dense tensor."""
    match value:
        case bool():
            return BoolAttr(value)
        case int():
            return IntegerAttr(value, element)
        case float():
            return FloatAttr(value, element)
        case str():
            return StringAttr(value)
        case _:
            return DataAttr(data_of(element, (), [value]))


def _element_of(declared: TensorOf, expected: ElementType | None, value: Attribute) -> ElementType | None:
    """The element type of a literal; of a type variable, that of the literal itself. None for one of another type.

    Raises: ValueError for a literal out of range.
    """
    match value:
        case BoolAttr() if expected in (None, boolean):
            return boolean
        case StringAttr() if expected in (None, string):
            return string
        case IntegerAttr(value=number) if expected is boolean:
            if number not in (0, 1):
                raise ValueError(f"expected {declared}, found {number}, which is not a bool")
            return boolean
        case IntegerAttr(value=number, type=type) if expected is None or expected.is_integer:
            element = expected or type
            least, most = element.integer_limits
            if not least <= number <= most:
                raise ValueError(f"{number} is not between {least} and {most}, as {element} is")
            return element
        case FloatAttr(value=number, type=type) if expected is None or expected.is_float:
            element = expected or type
            if math.isfinite(number) and not math.isfinite(rounded(number, element)):
                raise ValueError(f"{number} is out of the range of {element}")
            return element
        case _:
            return None


def _sparse_type(declared: TensorOf, value: Attribute) -> SparseTensorType:
    content = _tagged(value, "sparse") or value
    parts = dict(content.entries) if isinstance(content, DictionaryAttr) else {}
    values, indices, dims = parts.get("values"), parts.get("indices"), parts.get("dims")
    if not (isinstance(values, DataAttr) and isinstance(indices, DataAttr) and isinstance(dims, DenseArrayAttr)):
        raise _unexpected(declared, value)
    expected = ELEMENT_TYPES.get(declared.pattern.element)
    element = values.data.element
    if expected is not None and element is not expected:
        raise ValueError(f"expected {declared}, found a sparse tensor of {element}")
    shape = tuple(map(int, dims.values))
    fault = sparse_fault(values.data, indices.data, shape)
    if fault is not None:
        raise ValueError(fault)
    return SparseTensorType(element, shape)


# -- collections


def _map_parts(declared: MapOf, value: Attribute) -> Iterator[TypedPart]:
    """The types of the keys and values of a map, which are two dense tensors of one dimension. Raises: ValueError."""
    entries = _tagged(value, "map")
    parts = dict(entries.entries) if isinstance(entries, DictionaryAttr) else {}
    if sorted(parts) != ["keys", "values"]:
        raise _unexpected(declared, value)
    counts: list[int] = []
    for what, expected in (("keys", declared.key), ("values", declared.value)):
        data = dense_in(parts[what])
        if data is None or len(data.shape) != 1:
            raise ValueError(f"the {what} of a map are a tensor of one dimension, found {description(parts[what])}")
        if not isinstance(expected, TensorOf) or ELEMENT_TYPES.get(expected.pattern.element, data.element) is not (
            data.element
        ):
            raise ValueError(f"expected {declared}, found a map with {what} of {data.element}")
        counts.append(data.count)
        yield expected, TensorType(data.element, ())
    if counts[0] != counts[1]:
        raise ValueError(f"a map has {counts[0]} keys and {counts[1]} values")


# -- literals


def literal_form(value: Attribute) -> Attribute:
    """Returns a dense scalar or vector as a literal, and a list of numbers as an array of them; other values as they
    are.
    """
    data = dense_in(value)
    if data is not None:
        if len(data.shape) > 1 or data.element.kind not in LITERALS:
            return DataAttr(data)
        items = [_literal(data.element, v) for v in data.values()]
        return items[0] if not data.shape else _array(data.element, items)
    content = _tagged(value, "list") or value
    if not isinstance(content, ArrayAttr):
        return content
    types = {v.type if isinstance(v, IntegerAttr | FloatAttr) else None for v in content.values}
    element = next(iter(types), None)
    return _array(element, content.values) if len(types) == 1 and isinstance(element, ElementType) else content


LITERALS: Mapping[str, tuple[AttrType[Any], AttrType[Any]]] = MappingProxyType(
    {
        "bool": (attr_types.flag, attr_types.flags),
        "int": (attr_types.integer, attr_types.integers),
        "uint": (attr_types.integer, attr_types.integers),
        "float": (attr_types.number, attr_types.numbers),
        "string": (attr_types.string, attr_types.strings),
    }
)
"""Types of the Python values of literals, scalars and vectors, by the kind of their element type."""


def _array(element: ElementType, items: Sequence[Attribute]) -> Attribute:
    numbers = [v.value for v in items if isinstance(v, IntegerAttr | FloatAttr | BoolAttr)]
    return DenseArrayAttr(element, tuple(numbers)) if len(numbers) == len(items) else ArrayAttr(tuple(items))


def exact_literal(declared: DeclaredType, value: Attribute) -> Attribute:
    """Returns a literal with the element type that is declared of it; other values as they are."""
    leaves = list(declared.leaves())
    element = ELEMENT_TYPES.get(leaves[0].pattern.element) if len(leaves) == 1 else None
    match value:
        case FloatAttr(value=number) if element is not None and element.is_float:
            return FloatAttr(rounded(number, element), element)
        case IntegerAttr(value=number) if element is not None and element.is_integer:
            return IntegerAttr(number, element)
        case DenseArrayAttr(values=values) if element is not None and element.is_float:
            return DenseArrayAttr(element, tuple([rounded(float(v), element) for v in values]))
        case DenseArrayAttr(values=values) if element is not None and element.kind != "string":
            return DenseArrayAttr(element, values)
        case _:
            return value


def items_of(value: Attribute) -> Sequence[Attribute]:
    """Returns the items of a list, each with its own type. Raises: ValueError for another value."""
    match _tagged(value, "list") or value:
        case ArrayAttr(values=values):
            return values
        case DenseArrayAttr(element=type, values=numbers):
            return [_literal(type, v) for v in numbers]
        case _:
            raise ValueError(f"expected a list, found {description(value)}")


_DESCRIPTIONS: Mapping[type[Attribute], str] = MappingProxyType(
    {
        BoolAttr: "a bool",
        IntegerAttr: "an integer",
        FloatAttr: "a number",
        StringAttr: "a string",
        BytesAttr: "bytes that are not UTF-8",
        TypeAttr: "a type",
        DimsAttr: "a shape",
        ArrayAttr: "a list",
    }
)
_TAGS: Mapping[str, str] = MappingProxyType(
    {"handle": "a handle", "list": "a list", "tuple": "a tuple", "sparse": "a sparse tensor", "map": "a map"}
)


def description(value: Attribute) -> str:
    """Returns the kind of a value in words."""
    data = dense_in(value)
    if data is not None:
        return f"a tensor {data.type}"
    match value:
        case DenseArrayAttr(element=element):
            return f"a list of {element}"
        case DictionaryAttr(entries=((tag, _),)) if tag in _TAGS:
            return _TAGS[tag]
        case _:
            return _DESCRIPTIONS.get(type(value), "something else")
