"""Core operations on maps from scalars to scalars. While a program runs, a map is a dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from commonir.dialects.core.base import ELEMENTS, CoreOp, as_tensor, function, tensor_type
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, ListType, MapType, TensorType, Type
from commonir.notation import NotationError
from commonir.ods import any_type, operand, result, traits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    ArrayMap = Mapping[Any, Any]
    MapArrays = Sequence[ArrayMap]


def map_elements(value: Value) -> tuple[ElementType, ElementType]:
    """The element types of keys and values of a map from scalars to scalars. Raises: NotationError for others."""
    match value.type:
        case MapType(key=ElementType() as key, value=ElementType() as held):
            return key, held
        case MapType(key=ElementType() as key, value=TensorType(element=held)):
            return key, held
        case _:
            raise NotationError(f"expected a map from scalars to scalars, found {value.type}")


def _row(values: Sequence[Any], type: Type) -> Array:
    """Scalars, or tensors of one element, as a vector."""
    import numpy as np  # noqa: PLC0415  loads numpy

    from commonir.base.arrays import dtype_of  # noqa: PLC0415  loads numpy

    out = np.empty(len(values), dtype_of(as_tensor(type).element.name))
    for n, value in enumerate(values):
        out[n] = value.item() if isinstance(value, np.ndarray) else value
    return out


class MapKeys(CoreOp, name="core.map_keys", traits=(traits.Pure,)):
    """The keys of a map in ascending order."""

    x: Value = operand(any_type)
    y: Value = result("T[n]")
    T = ELEMENTS

    def infer(self) -> tuple[Type, ...]:
        return (TensorType(map_elements(self.x)[0], (None,)),)

    def reference(self, x: ArrayMap) -> Array:
        return _row(sorted(x), self.y.type)


class MapValues(CoreOp, name="core.map_values", traits=(traits.Pure,)):
    """The values of a map in ascending order of their keys."""

    x: Value = operand(any_type)
    y: Value = result("T[n]")
    T = ELEMENTS

    def infer(self) -> tuple[Type, ...]:
        return (TensorType(map_elements(self.x)[1], (None,)),)

    def reference(self, x: ArrayMap) -> Array:
        return _row([x[k] for k in sorted(x)], self.y.type)


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
        names: list[Any] = keys.tolist()
        return [dict(zip(names, row, strict=True)) for row in x.tolist()]


map_keys = function(MapKeys)
map_values = function(MapValues)
maps_of_rows = function(MapsOfRows)
