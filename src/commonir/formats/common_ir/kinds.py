"""The kinds of attributes that Common IR has and ONNX has not, numbered as the fields that hold their values."""

from __future__ import annotations

from enum import IntEnum

from commonir.formats.onnx.messages import AttributeProto, field_number


class OwnType(IntEnum):
    """Kinds of attributes by their numbers, beside those of `AttributeType`."""

    SHAPE = field_number(AttributeProto, "shape")
    SHAPES = field_number(AttributeProto, "shapes")
    VALUE = field_number(AttributeProto, "value")
    VALUES = field_number(AttributeProto, "values")
