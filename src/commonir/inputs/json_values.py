"""Reads inputs of a function from JSON, and gives values as JSON.

| type | JSON |
|-|-|
| tensor | nested arrays, of a scalar its element; a float may be "nan", "inf" or "-inf", a complex number is a string |
| list, tuple | an array of the elements |
| map | an object; a key that is not a string is written as one |
| sparse tensor | an object with `values`, `indices` (coordinates, or indices in row-major order) and `shape` |
| handle | its number |
| optional | the value, or null |
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from commonir.base.arrays import array_of_texts, dtype_of
from commonir.base.codes import WRONG_INPUT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.sparse import SparseArray
from commonir.base.strict_json import Json
from commonir.base.text import escape
from commonir.inputs.scalars import scalar_array, unknown_input
from commonir.ir.module import Function
from commonir.ir.types import (
    ElementType,
    ListType,
    MapType,
    OptionalType,
    SparseTensorType,
    TensorType,
    TupleType,
    Type,
    i64,
)
from commonir.ods.patterns import as_value
from commonir.runtime.binding.ports import names_of
from commonir.runtime.values import is_array, is_list, is_map

_PARTS = ("values", "indices", "shape")
_NOT_FINITE = ("nan", "inf", "-inf")


def input_of_json(function: Function, name: str, value: Json) -> Any:
    """Returns the value of an input in its declared type.

    Raises: DiagnosticError (E0703) for an unknown input, and for JSON that is not a value of its type.
    """
    types = dict(zip(names_of(function), [v.type for v in function.inputs], strict=True))
    if name not in types:
        raise unknown_input(name, types)
    return _read(escape(name), value, types[name])


def _read(name: str, value: Json, type: Type) -> Any:
    match type, value:
        case TensorType(), _:
            return _tensor(name, value, type)
        case ListType(), list():
            return [_read(f"{name}[{n}]", v, type.element) for n, v in enumerate(value)]
        case TupleType(), list() if len(value) == len(type.elements):
            return tuple(
                [_read(f"{name}[{n}]", v, t) for n, (v, t) in enumerate(zip(value, type.elements, strict=True))]
            )
        case MapType(), dict():
            return {_key(name, k, type.key): _read(f"{name}[{k!r}]", v, as_value(type.value)) for k, v in value.items()}
        case SparseTensorType(), dict() if value.keys() == set(_PARTS):
            return _sparse(name, value, type)
        case OptionalType(), _:
            return None if value is None else _read(name, value, type.element)
        case _:
            raise _refusal(name, value, type)


def _key(name: str, key: str, type: Type) -> object:
    element = as_value(type)
    assert isinstance(element, TensorType)
    if element.element.kind == "string":
        return key
    try:
        return scalar_array(element.element, key).item()
    except (ValueError, OverflowError, KeyError):
        raise _refusal(name, key, type) from None


def _sparse(name: str, value: Mapping[str, Json], type: SparseTensorType) -> SparseArray:
    values, indices, shape = [
        _tensor(f"{name}.{part}", value[part], TensorType(element, None))
        for part, element in zip(_PARTS, (type.element, i64, i64), strict=True)
    ]
    if not values.size:
        indices = indices.reshape(0, shape.size)
    try:
        return SparseArray(values, indices, shape.reshape(-1).tolist())
    except ValueError as error:
        raise DiagnosticError(Diagnostic(WRONG_INPUT, f"input '{name}': {error}")) from None


def _tensor(name: str, value: Json, type: TensorType) -> Any:
    shape: list[int] = []
    inner = value
    while isinstance(inner, list):
        shape.append(len(inner))
        inner = inner[0] if inner else None
    if len(shape) > DEFAULT_LIMITS.max_rank:
        raise _refusal(name, value, type)
    if 0 in shape and type.shape is not None:
        shape += [d if isinstance(d, int) else 0 for d in type.shape[len(shape) :]]
    elements = [_element(name, v, type) for v in _leaves(name, value, shape, type)]
    if type.element.kind == "string":
        return array_of_texts(elements, tuple(shape))
    return np.asarray(elements, dtype_of(type.element.name)).reshape(shape)


def _leaves(name: str, value: Json, shape: list[int], type: Type) -> Iterator[Json]:
    """Yields the elements of nested arrays of a shape. Raises: DiagnosticError for ragged ones."""
    pending: list[tuple[Json, int]] = [(value, 0)]
    while pending:
        current, axis = pending.pop()
        if isinstance(current, list) and axis < len(shape) and len(current) == shape[axis]:
            pending += [(v, axis + 1) for v in reversed(current)]
        elif isinstance(current, list) or axis < len(shape):
            raise _refusal(name, value, type, "arrays of equal length")
        else:
            yield current


def _element(name: str, value: Json, type: TensorType) -> Any:
    element = type.element
    if element.kind == "string" and isinstance(value, str):
        return value
    text = _number_text(value, element)
    if text is None:
        raise _refusal(name, value, type)
    try:
        return scalar_array(element, text)[()]
    except (ValueError, OverflowError, KeyError):
        raise _refusal(name, value, type) from None


def _number_text(value: Json, element: ElementType) -> str | None:
    """Returns the text of a number or bool; None for what is not an element of the type."""
    if isinstance(value, bool) or element.kind == "bool":
        return str(value).lower() if isinstance(value, bool) and element.kind == "bool" else None
    if isinstance(value, str):
        return value if element.kind == "complex" or (element.is_float and value in _NOT_FINITE) else None
    return repr(value) if isinstance(value, int | float) else None


def _refusal(name: str, value: Json, type: Type, expected: str = "") -> DiagnosticError:
    found = "an array" if isinstance(value, list) else "an object" if isinstance(value, dict) else json.dumps(value)
    return DiagnosticError(Diagnostic(WRONG_INPUT, f"input '{name}': expected {expected or type}, found {found}"))


# -- values as JSON


def json_of(value: Any) -> Json:
    """Returns a value of a run as JSON, in the form in which it is read."""
    if value is None:
        return None
    if isinstance(value, SparseArray):
        return {"values": json_of(value.values), "indices": value.indices.tolist(), "shape": list(value.shape)}
    if is_map(value):
        return {_text(key): json_of(v) for key, v in value.items()}
    if is_list(value):
        return [json_of(v) for v in value]
    if is_array(value):
        return json_of(value.tolist())
    is_plain = isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value))
    return value if is_plain else _text(value)


def _text(value: object) -> str:
    """Returns a key or a number that JSON does not have as a string that `scalar_array` reads."""
    return str(value).lower() if isinstance(value, bool) else str(value).strip("()")
