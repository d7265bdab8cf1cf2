"""ONNX feature operators: scaling, imputation, encoding, selection.

Source: ONNX operator reference, domain ai.onnx.ml, versions 1 to 4.
"""

from __future__ import annotations

import math

from commonir.dialects import core
from commonir.dialects.onnx.base import STRING, OnnxOp, element_of, rank_of, shape_of, whole
from commonir.dialects.onnx.ml.scores import REAL, floats, texts
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, f32, f64, i16, i32, i64, string
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, by_version, element_type, one_of, operand, result

CODES = STRING | element_type(i64)
UNUSED = "_Unused"


class ArrayFeatureExtractor(OnnxOp, name="onnx.ml.ArrayFeatureExtractor", since="ml1"):
    """Selects elements of the last axis by index; for a vector, returns one row."""

    X: Value = operand("T")
    Y: Value = operand("i64")
    Z: Value = result("T")
    T = REAL | STRING

    def reference(self, X: Value, Y: Value) -> Value:
        places = Y if rank_of(Y) == 1 else core.reshape(Y, (-1,))
        x = core.unsqueeze(X, (0,)) if rank_of(X) == 1 else X
        return core.gather(x, places, rank_of(x) - 1)


class Binarizer(OnnxOp, name="onnx.ml.Binarizer", since="ml1"):
    """Compares each element with a threshold: 1 where it is larger, else 0."""

    X: Value = operand("T")
    threshold: float = attribute(attr_types.number, default=0.0)
    Y: Value = result("T")
    T = REAL

    def reference(self, X: Value) -> Value:
        element = element_of(X)
        threshold = self.threshold
        if not element.is_float:
            # An integer is above a number if and only if it is above its floor.
            threshold = whole(self.threshold) - (whole(self.threshold) > self.threshold)
        return core.cast(core.greater(X, core.splat(threshold, X)), element)


class FeatureVectorizer(OnnxOp, name="onnx.ml.FeatureVectorizer", since="ml1"):
    """Concatenates the columns of all inputs, each cut or padded with zeros to its number of columns."""

    X: tuple[Value, ...] = operand("T1", variadic=True)
    inputdimensions: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    Y: Value = result("f32")
    T1 = REAL

    def reference(self, X: tuple[Value, ...]) -> Value:
        widths = self.inputdimensions or (None,) * len(X)
        if len(widths) != len(X):
            raise NotationError(f"{len(widths)} sizes for {len(X)} inputs")
        return core.concat(tuple([_columns(x, n) for x, n in zip(X, widths, strict=True)]), 1)


def _columns(x: Value, width: int | None) -> Value:
    """Rows of single precision with a number of columns; a vector is one row, and axes after the second are more."""
    if rank_of(x) == 0:
        raise NotationError("features of rank 0")
    first = 1 if rank_of(x) == 1 else shape_of(x)[0]
    wide = x if rank_of(x) == 2 else core.reshape(x, (first, -1))
    rows = wide if element_of(wide) is f32 else core.cast(wide, f32)
    count, size = shape_of(rows)
    if width is None or size == width:
        return rows
    if not isinstance(size, int):
        raise NotationError(f"an input of {size} columns, of which {width} are wanted")
    if size > width:
        return core.slice(rows, (0, 0), (count, width), (1, 1))
    return core.pad(rows, (0, 0), (0, width - size))


class Imputer(OnnxOp, name="onnx.ml.Imputer", since="ml1"):
    """Replaces elements equal to a value, which may be NaN, by an imputed value, which may be per column."""

    X: Value = operand("T")
    replaced_value_int64: int = attribute(attr_types.integer, default=0)
    imputed_value_int64s: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    replaced_value_float: float = attribute(attr_types.number, default=0.0)
    imputed_value_floats: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    Y: Value = result("T")
    T = REAL

    def reference(self, X: Value) -> Value:
        element = element_of(X)
        if element.is_float:
            new = floats(self.imputed_value_floats or (), element)
        else:
            integers = core.vector(self.imputed_value_int64s or ())
            new = integers if element is i64 else core.cast(integers, element)
        if not shape_of(new)[0]:
            raise NotationError("there is no value to put in")
        if element.is_float and math.isnan(self.replaced_value_float):
            return core.select(core.is_nan(X), new, X)
        old = self.replaced_value_float if element.is_float else self.replaced_value_int64
        return core.select(core.equal(X, core.splat(old, X)), new, X)


class Normalizer(OnnxOp, name="onnx.ml.Normalizer", since="ml1"):
    """Normalizes rows: divides each by its largest element, its L1 norm or its L2 norm."""

    X: Value = operand("T")
    norm: str = attribute(attr_types.string, default="MAX", check=one_of("MAX", "L1", "L2"))
    Y: Value = result("f32")
    T = REAL

    def reference(self, X: Value) -> Value:
        x = X if element_of(X).is_float else core.cast(X, f32)
        match self.norm:
            case "MAX":
                size = core.reduce_max(x, (-1,), True)
            case "L1":
                size = core.reduce_sum(core.abs(x), (-1,), True)
            case _:
                size = core.sqrt(core.reduce_sum(core.mul(x, x), (-1,), True))
        y = core.select(core.equal(size, core.splat(0.0, x)), x, core.div(x, size))
        return y if element_of(y) is f32 else core.cast(y, f32)


class Scaler(OnnxOp, name="onnx.ml.Scaler", since="ml1"):
    """Scales features: (x - offset) * scale, each of them one number or one for each column."""

    X: Value = operand("T")
    scale: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    offset: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    Y: Value = result("f32")
    T = REAL

    def reference(self, X: Value) -> Value:
        x = X if element_of(X).is_float else core.cast(X, f32)
        element = element_of(x)
        moved = core.sub(x, floats(self.offset, element)) if self.offset else x
        y = core.mul(moved, floats(self.scale, element)) if self.scale else moved
        return y if element is f32 else core.cast(y, f32)


class OneHotEncoder(OnnxOp, name="onnx.ml.OneHotEncoder", since="ml1"):
    """One-hot encoding: a new last axis with 1 at the index of the category; without `zeros` it must be a known one."""

    X: Value = operand("T")
    zeros: bool = attribute(attr_types.flag, default=True)
    cats_strings: tuple[str, ...] | None = attribute(attr_types.strings, default=None)
    cats_int64s: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    Y: Value = result("f32")
    T = REAL | STRING

    def reference(self, X: Value) -> Value:
        if element_of(X) is string:
            x, categories = X, texts(self.cats_strings or ())
        else:
            x, categories = X if element_of(X) is i64 else core.cast(X, i64), core.vector(self.cats_int64s or ())
        count = len(self.cats_strings or self.cats_int64s or ())
        places = core.lookup(x, categories, core.vector(tuple(range(count))), core.scalar(count, i64))
        if not self.zeros:
            places = core.checked_positions(places, core.scalar(count, i64))
        return core.one_hot(places, core.scalar(1.0, f32), core.scalar(0.0, f32), count, -1)


class CategoryMapper(OnnxOp, name="onnx.ml.CategoryMapper", since="ml1"):
    """Maps strings to integers, or integers to strings."""

    X: Value = operand("T1")
    default_int64: int = attribute(attr_types.integer, default=-1)
    default_string: str = attribute(attr_types.string, default=UNUSED)
    cats_int64s: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    cats_strings: tuple[str, ...] | None = attribute(attr_types.strings, default=None)
    Y: Value = result("T2")
    T1 = CODES
    T2 = CODES

    def reference(self, X: Value) -> Value:
        numbers, names = core.vector(self.cats_int64s or ()), texts(self.cats_strings or ())
        if element_of(X) is string:
            return core.lookup(X, names, numbers, core.scalar(self.default_int64, i64))
        return core.lookup(X, numbers, names, core.scalar(self.default_string, string))


class LabelEncoder1(OnnxOp, name="onnx.ml.LabelEncoder", since="ml1"):
    """Maps each string to its index among the classes, or each index to the class."""

    X: Value = operand("T1")
    default_string: str = attribute(attr_types.string, default=UNUSED)
    default_int64: int = attribute(attr_types.integer, default=-1)
    classes_strings: tuple[str, ...] | None = attribute(attr_types.strings, default=None)
    Y: Value = result("T2")
    T1 = CODES
    T2 = CODES

    def reference(self, X: Value) -> Value:
        names = self.classes_strings or ()
        places = core.vector(tuple(range(len(names))))
        if element_of(X) is string:
            return core.lookup(X, texts(names), places, core.scalar(self.default_int64, i64))
        return core.lookup(X, places, texts(names), core.scalar(self.default_string, string))


class LabelEncoder(OnnxOp, name="onnx.ml.LabelEncoder"):
    """Maps each element to the value of its key, or to a default if there is none; the last of equal keys counts."""

    X: Value = operand("T1")
    default_int64: int = attribute(attr_types.integer, default=-1)
    default_float: float = attribute(attr_types.number, default=-0.0)
    default_string: str = attribute(attr_types.string, default=UNUSED)
    default_tensor: Data | None = attribute(attr_types.data, default=None, since="ml4")
    keys_int64s: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    keys_floats: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    keys_strings: tuple[str, ...] | None = attribute(attr_types.strings, default=None)
    keys_tensor: Data | None = attribute(attr_types.data, default=None, since="ml4")
    values_int64s: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    values_floats: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    values_strings: tuple[str, ...] | None = attribute(attr_types.strings, default=None)
    values_tensor: Data | None = attribute(attr_types.data, default=None, since="ml4")
    Y: Value = result("T2")
    T1 = by_version(ml2=STRING | element_type(f32, i64), ml4=STRING | element_type(f32, f64, i16, i32, i64))
    T2 = by_version(ml2=STRING | element_type(f32, i64), ml4=STRING | element_type(f32, f64, i16, i32, i64))

    def reference(self, X: Value) -> Value:
        keys = _one_of(self.keys_int64s, self.keys_floats, self.keys_strings, self.keys_tensor)
        values = _one_of(self.values_int64s, self.values_floats, self.values_strings, self.values_tensor)
        return core.lookup(X, keys, values, self._default(element_of(values)))

    def _default(self, element: ElementType) -> Value:
        if self.default_tensor is not None:
            return core.reshape(core.constant(self.default_tensor), ())
        if element is string:
            return core.scalar(self.default_string, string)
        return core.scalar(self.default_float if element.is_float else self.default_int64, element)


def _one_of(
    ints: tuple[int, ...] | None, numbers: tuple[float, ...] | None, names: tuple[str, ...] | None, tensor: Data | None
) -> Value:
    """The entries of a table, in whichever form they are given. Raises: NotationError when they are not."""
    if tensor is not None:
        return core.constant(tensor)
    if names is not None:
        return texts(names)
    if numbers is not None:
        return floats(numbers)
    if ints is None:
        raise NotationError("neither keys nor values may be missing")
    return core.vector(ints)
