"""ONNX operators between maps and tensors.

Source: ONNX operator reference, domain ai.onnx.ml, version 1.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import STRING, OnnxOp, element_of
from commonir.dialects.onnx.ml.scores import texts
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, f32, f64, i64, string
from commonir.ods import attr_types, attribute, element_type, lists, maps, one_of, operand, positive, result, types

_INTEGER, _SINGLE, _DOUBLE = element_type(i64), element_type(f32), element_type(f64)
_ELEMENTS = {"TO_FLOAT": f32, "TO_STRING": string, "TO_INT64": i64}


def _converted(values: Value, element: ElementType) -> Value:
    """Numbers or texts in another type."""
    given = element_of(values)
    if given is element:
        return values
    if given is string:
        return core.parse_numbers(values, element)
    return core.format_numbers(values) if element is string else core.cast(values, element)


class CastMap(OnnxOp, name="onnx.ml.CastMap", since="ml1"):
    """Converts a map to one row of its values: in order of their keys, or, if sparse, each at the index that is its
    key.
    """

    X: Value = operand("T1")
    max_map: int = attribute(attr_types.integer, default=1, check=positive)
    map_form: str = attribute(attr_types.string, default="DENSE", check=one_of("DENSE", "SPARSE"))
    cast_to: str = attribute(attr_types.string, default="TO_FLOAT", check=one_of(*_ELEMENTS))
    Y: Value = result("T2")
    T1 = types(maps(_INTEGER, STRING), maps(_INTEGER, _SINGLE))
    T2 = element_type(string, f32, i64)

    def reference(self, X: Value) -> Value:
        element, source = _ELEMENTS[self.cast_to], core.map_elements(X)[1]
        places = core.vector(tuple(range(self.max_map)))
        if self.map_form == "SPARSE" and string not in (element, source):
            values = _converted(core.map_get(X, places, core.scalar(0, source)), element)
        elif self.map_form == "SPARSE":
            nothing = core.scalar("", string) if element is string else core.scalar(0, element)
            values = core.lookup(places, core.map_keys(X), _converted(core.map_values(X), element), nothing)
        else:
            values = _converted(core.map_values(X), element)
        return core.unsqueeze(values, (0,))


class DictVectorizer(OnnxOp, name="onnx.ml.DictVectorizer", since="ml1"):
    """Converts a map to one row: the value of each key of a vocabulary; zero, or the empty string, for missing ones."""

    X: Value = operand("T1")
    int64_vocabulary: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    string_vocabulary: tuple[str, ...] | None = attribute(attr_types.strings, default=None)
    Y: Value = result("T2")
    T1 = types(
        maps(STRING, _INTEGER),
        maps(_INTEGER, STRING),
        maps(_INTEGER, _SINGLE),
        maps(_INTEGER, _DOUBLE),
        maps(STRING, _SINGLE),
        maps(STRING, _DOUBLE),
    )
    T2 = element_type(i64, f32, f64, string)

    def reference(self, X: Value) -> Value:
        words = texts(self.string_vocabulary) if self.string_vocabulary else core.vector(self.int64_vocabulary or ())
        element = core.map_elements(X)[1]
        nothing = core.scalar("", string) if element is string else core.scalar(0, element)
        return core.unsqueeze(core.map_get(X, words, nothing), (0,))


class ZipMap(OnnxOp, name="onnx.ml.ZipMap", since="ml1"):
    """Creates a map for each row, from the label of each column to its element."""

    X: Value = operand("f32")
    classlabels_int64s: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    classlabels_strings: tuple[str, ...] | None = attribute(attr_types.strings, default=None)
    Z: Value = result("T")
    T = types(lists(maps(STRING, _SINGLE)), lists(maps(_INTEGER, _SINGLE)))

    def reference(self, X: Value) -> Value:
        names = self.classlabels_strings
        labels = texts(names) if names else core.vector(self.classlabels_int64s or ())
        return core.maps_of_rows(labels, X)
