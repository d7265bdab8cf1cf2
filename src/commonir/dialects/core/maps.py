"""Core operations on maps from scalars to scalars.

While a program runs, a map is a dictionary of Python scalars. Of entries with equal keys the last one counts, and NaN
is a key like others, as in `core.lookup`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from commonir.dialects.core.base import ELEMENTS, CoreOp, function, tensor_type
from commonir.dialects.core.constants import dim, scalar, vector
from commonir.dialects.core.elementwise import not_equal
from commonir.dialects.core.indexing import gather
from commonir.dialects.core.lookup import lookup
from commonir.dialects.core.shape import fill, reshape
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, ListType, MapType, TensorType, Type, boolean, i64
from commonir.notation import NotationError
from commonir.ods import any_type, known_data, operand, result, traits
from commonir.ods.patterns import as_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    ArrayMap = Mapping[Any, Any]
    MapArrays = Sequence[ArrayMap]

_MAP = "map<K[], V[]>"


def map_elements(value: Value) -> tuple[ElementType, ElementType]:
    """The element types of keys and values of a map from scalars to scalars. Raises: NotationError for others."""
    match value.type:
        case MapType(parts=parts):
            key, value_type = map(as_value, parts)
        case _:
            key, value_type = None, None
    if not isinstance(key, TensorType) or not isinstance(value_type, TensorType):
        raise NotationError(f"expected a map from scalars to scalars, found {value.type}")
    return key.element, value_type.element


def map_key(key: Any) -> Any:
    """The key of a dictionary that stands for a scalar: all NaN are one key."""
    return math.nan if isinstance(key, float) and math.isnan(key) else key


def _keys(x: Array) -> list[Any]:
    return [map_key(key) for key in x.reshape(-1).tolist()]


def _row(values: Sequence[Any], element: ElementType) -> Array:
    """Scalars, or tensors of one element, as a vector."""
    import numpy as np  # noqa: PLC0415  loads numpy

    from commonir.base.arrays import dtype_of  # noqa: PLC0415  loads numpy

    out = np.empty(len(values), dtype_of(element.name))
    for n, value in enumerate(values):
        out[n] = value.item() if isinstance(value, np.ndarray) else value
    return out


def _entries(x: ArrayMap, element: ElementType) -> tuple[Array, list[Any]]:
    """The keys in ascending order, and the values in this order."""
    keys = _row([*x], element)
    # Narrow floats of ml_dtypes have no order for NaN.
    order = (keys.astype("f4") if keys.dtype.kind == "V" else keys).argsort(kind="stable")
    values = [*x.values()]
    return keys[order], [values[n] for n in order]


class MapOf(CoreOp, name="core.map_of", traits=(traits.Pure,)):
    """A map with an entry for each key; of equal keys the last one counts."""

    keys: Value = operand("K[n]")
    values: Value = operand("V[n]")
    y: Value = result(_MAP)
    K = ELEMENTS
    V = ELEMENTS

    def reference(self, keys: Array, values: Array) -> ArrayMap:
        return dict(zip(_keys(keys), values.tolist(), strict=True))


class MapGet(CoreOp, name="core.map_get", traits=(traits.Pure,)):
    """Returns the values of keys in a map; a missing key gives `otherwise`, and is a runtime error without it."""

    x: Value = operand(_MAP)
    key: Value = operand("K[s*]")
    otherwise: Value | None = operand("V[]", default=None)
    y: Value = result("V[s*]")
    K = ELEMENTS
    V = ELEMENTS

    def reference(self, x: ArrayMap, key: Array, otherwise: Array | None) -> Array:
        keys = _keys(key)
        missing = [k for k in keys if k not in x]
        if missing and otherwise is None:
            raise ValueError(f"no key {missing[0]!r} in a map of {len(x)}")
        default = None if otherwise is None else otherwise.item()
        return _row([x.get(k, default) for k in keys], tensor_type(self.y).element).reshape(key.shape)

    def canonicalize(self) -> tuple[Value, ...] | None:
        """A map that the program makes is a table."""
        source = self.x.owner
        if not isinstance(source, MapOf):
            return None
        if self.otherwise is not None:
            return (lookup(self.key, source.keys, source.values, self.otherwise),)
        keys, wanted = known_data(source.keys), known_data(self.key)
        positions = {map_key(k): n for n, k in enumerate(keys.values())} if keys is not None else {}
        if wanted is None or any(map_key(k) not in positions for k in wanted.values()):
            return None
        at = vector(tuple([positions[map_key(k)] for k in wanted.values()]))
        return (gather(source.values, reshape(at, tensor_type(self.key).static_shape)),)


class MapHas(CoreOp, name="core.map_has", traits=(traits.Pure,)):
    """True for each key that a map has."""

    x: Value = operand(_MAP)
    key: Value = operand("K[s*]")
    y: Value = result("i1[s*]")
    K = ELEMENTS
    V = ELEMENTS

    def reference(self, x: ArrayMap, key: Array) -> Array:
        return _row([k in x for k in _keys(key)], boolean).reshape(key.shape)

    def canonicalize(self) -> tuple[Value, ...] | None:
        """A map that the program makes is a table."""
        source = self.x.owner
        shape = tensor_type(source.keys).shape if isinstance(source, MapOf) else None
        if not isinstance(source, MapOf) or not shape or shape[0] is None:
            return None
        zero = scalar(0, i64)
        return (not_equal(lookup(self.key, source.keys, fill(scalar(1, i64), (shape[0],)), zero), zero),)


class MapInsert(CoreOp, name="core.map_insert", traits=(traits.Pure,)):
    """A copy of a map with entries added; the value of a key that it has already is replaced."""

    x: Value = operand(_MAP)
    key: Value = operand("K[s*]")
    value: Value = operand("V[s*]")
    y: Value = result(_MAP)
    K = ELEMENTS
    V = ELEMENTS

    def reference(self, x: ArrayMap, key: Array, value: Array) -> ArrayMap:
        return {**x, **dict(zip(_keys(key), value.reshape(-1).tolist(), strict=True))}


class MapErase(CoreOp, name="core.map_erase", traits=(traits.Pure,)):
    """A copy of a map without the entries of some keys; a missing key is a runtime error."""

    x: Value = operand(_MAP)
    key: Value = operand("K[s*]")
    y: Value = result(_MAP)
    K = ELEMENTS
    V = ELEMENTS

    def reference(self, x: ArrayMap, key: Array) -> ArrayMap:
        erased = dict.fromkeys(_keys(key))
        missing = [k for k in erased if k not in x]
        if missing:
            raise ValueError(f"no key {missing[0]!r} in a map of {len(x)}")
        return {k: v for k, v in x.items() if k not in erased}


class MapLength(CoreOp, name="core.map_length", traits=(traits.Pure,)):
    """The number of entries of a map, as a scalar."""

    x: Value = operand(_MAP)
    y: Value = result("i64[]")
    K = ELEMENTS
    V = ELEMENTS

    def reference(self, x: Value) -> Value:
        return dim(map_values(x), 0)


class MapKeys(CoreOp, name="core.map_keys", traits=(traits.Pure,)):
    """The keys of a map in ascending order."""

    x: Value = operand(_MAP)
    y: Value = result("K[n]")
    K = ELEMENTS
    V = ELEMENTS

    def infer(self) -> tuple[Type, ...]:
        return (TensorType(map_elements(self.x)[0], (None,)),)

    def reference(self, x: ArrayMap) -> Array:
        return _entries(x, map_elements(self.x)[0])[0]


class MapValues(CoreOp, name="core.map_values", traits=(traits.Pure,)):
    """The values of a map in ascending order of their keys."""

    x: Value = operand(_MAP)
    y: Value = result("V[n]")
    K = ELEMENTS
    V = ELEMENTS

    def infer(self) -> tuple[Type, ...]:
        return (TensorType(map_elements(self.x)[1], (None,)),)

    def reference(self, x: ArrayMap) -> Array:
        key, value = map_elements(self.x)
        return _row(_entries(x, key)[1], value)


class MapsOfRows(CoreOp, name="core.maps_of_rows", traits=(traits.Pure,)):
    """Creates a list of maps, one for each row of a matrix, from each key to the element in its column."""

    keys: Value = operand("K[c]")
    x: Value = operand("T[n, c]")
    y: Value = result(any_type)
    K = ELEMENTS
    T = ELEMENTS

    def infer(self) -> tuple[Type, ...]:
        shape = tensor_type(self.x).shape
        row = MapType(tensor_type(self.keys).element, TensorType(tensor_type(self.x).element, ()))
        return (ListType(row, None if shape is None else shape[0]),)

    def reference(self, keys: Array, x: Array) -> MapArrays:
        names = _keys(keys)
        return [dict(zip(names, row, strict=True)) for row in x.tolist()]


map_of = function(MapOf)
map_get = function(MapGet)
map_has = function(MapHas)
map_insert = function(MapInsert)
map_erase = function(MapErase)
map_length = function(MapLength)
map_keys = function(MapKeys)
map_values = function(MapValues)
maps_of_rows = function(MapsOfRows)
