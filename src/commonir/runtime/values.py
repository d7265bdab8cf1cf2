"""The run-time representation of values.

A tensor is an array, a sparse tensor a `SparseArray`, a list a Python list, a tuple a Python tuple, an absent value
None, a map a dictionary of Python scalars, a handle an integer of 64 bits. Annotations use `Array` for all of them:
almost all code handles tensors, and only passes the others through.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.sparse import SparseArray
from commonir.ir.operation import Value
from commonir.ir.types import (
    ElementType,
    ListType,
    MapType,
    OptionalType,
    SparseTensorType,
    TensorType,
    TupleType,
    Type,
    bf16,
    f16,
    unknown,
)
from commonir.ods.patterns import as_value

Array = NDArray[Any]


def is_array(x: object) -> TypeGuard[Array]:
    """Returns whether a value is an array."""
    return isinstance(x, np.ndarray)


def is_list(x: object) -> TypeGuard[Sequence[Array]]:
    """Returns whether a value is a list or a tuple."""
    return isinstance(x, list | tuple)


def is_map(x: object) -> TypeGuard[dict[object, object]]:
    """Returns whether a value is a dictionary."""
    return isinstance(x, dict)


def declared(x: Any, type: Type) -> Any:
    """Returns a value converted to its declared element types."""
    if not isinstance(type, TensorType):
        return _with_converted_parts(x, type, declared)
    expected = dtype_of(type.element.name)
    if is_array(x) and x.dtype == expected:
        return x
    with np.errstate(all="ignore"):  # overflow to infinity
        return np.asarray(x).astype(expected, copy=False)


def _with_converted_parts(x: Any, type: Type, convert: Callable[[Any, Type], Any]) -> Any:
    """Returns a value of a collection with converted parts; maps, whose entries are scalars, as they are."""
    match type:
        case SparseTensorType():
            return x.with_values(convert(x.values, TensorType(type.element, (None,))))
        case ListType():
            return [convert(v, type.element) for v in x]
        case TupleType():
            return tuple([convert(v, t) for v, t in zip(x, type.elements, strict=True)])
        case OptionalType():
            return None if x is None else convert(x, type.element)
        case _:
            return x


@cache
def compute_dtype(element: ElementType) -> np.dtype[Any]:
    """Returns the dtype in which an element type is computed: f32 for narrower floats, bytes for narrower integers."""
    if element.kind == "float" and (element in (f16, bf16) or element.bits < 16):
        return np.dtype(np.float32)
    if element.is_integer and element.bits < 8:
        return np.dtype(np.int8 if element.kind == "int" else np.uint8)
    return dtype_of(element.name)


def declared_dtype(element: ElementType) -> np.dtype[Any]:
    """Returns the dtype of an element type."""
    return dtype_of(element.name)


def is_computed_as_declared(value: Value) -> bool:
    """Returns whether a value is a tensor of known rank whose elements are computed in the type that is declared."""
    t = value.type
    return isinstance(t, TensorType) and t.shape is not None and compute_dtype(t.element) == declared_dtype(t.element)


def computed(x: Any, type: Type) -> Any:
    """Returns a value converted to the dtypes in which it is computed."""
    if not isinstance(type, TensorType):
        return _with_converted_parts(x, type, computed)
    return np.asarray(x).astype(compute_dtype(type.element), copy=False)


def copied(x: Any) -> Any:
    """Returns a deep copy of a value."""
    if is_array(x):
        return x.copy()
    if is_list(x):
        members = [copied(v) for v in x]
        return tuple(members) if isinstance(x, tuple) else members
    return x


def with_declared_entries(x: Any, type: Type | None) -> Any:
    """Returns a value with arrays of the declared element types in maps, whose entries are Python scalars."""
    if isinstance(type, MapType) and is_map(x):
        return {key: declared(v, as_value(type.value)) for key, v in x.items()}
    if isinstance(type, ListType | TupleType) and is_list(x):
        types = type.parts if isinstance(type, TupleType) else type.parts * len(x)
        return [with_declared_entries(v, t) for v, t in zip(x, types, strict=False)]
    return with_declared_entries(x, type.element) if isinstance(type, OptionalType) else x


def flat_array(x: Any) -> Array:
    """Returns the elements of a value in one array; members of lists, tuples and maps are concatenated."""
    if isinstance(x, SparseArray):
        return x.dense()
    if is_map(x):
        return flat_array([v for _, v in sorted(x.items(), key=lambda item: str(item[0]))])
    if is_list(x):
        parts = [flat_array(v).reshape(-1) for v in x]
        return np.concatenate(parts) if parts else np.empty(0, np.float32)
    return np.empty(0, np.float32) if x is None else np.asarray(x)


def shapes_of(values: Sequence[Array]) -> list[tuple[int, ...]]:
    """Returns the shapes of values, () for those that are not tensors."""
    return [x.shape if is_array(x) else () for x in values]


def value_type(value: Value, x: Any) -> Type:
    """Returns the type of a value with the shape of the array computed for it."""
    if isinstance(value.type, SparseTensorType):
        return SparseTensorType(value.type.element, x.shape)
    return value.type.with_shape(np.shape(x)) if isinstance(value.type, TensorType) else value.type


def refine_unknown_types(results: Sequence[Value], inferred: Sequence[Value]) -> None:
    """Sets the types of results of unknown type to those of values computed for them, with unknown shapes."""
    for result, actual in zip(results, inferred, strict=False):
        if result.type is unknown:
            result.retype(actual.type.with_shape(None) if isinstance(actual.type, TensorType) else actual.type)
