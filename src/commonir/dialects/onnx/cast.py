"""ONNX operators that convert elements from one type to another.

Source: ONNX operator reference, default domain, versions 6 to 28.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import (
    ANY_25,
    BOOLEAN,
    COMPLEX,
    FLOATS_6,
    FLOATS_8,
    INTEGERS_2,
    INTEGERS_4,
    NUMBERS,
    NUMBERS_1,
    SCALES_8,
    STRING,
    OnnxOp,
    element_of,
    tensor_type,
)
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, Type, boolean, f4e2m1fn, f32, i64, string
from commonir.ods import attr_types, attribute, by_version, element_type, one_of, operand, result
from commonir.ods.patterns import ElementClass

CAST_6 = NUMBERS_1 | BOOLEAN
CAST_9 = CAST_6 | STRING
CAST_13 = NUMBERS | BOOLEAN | STRING
CAST_19 = CAST_13 | FLOATS_8
CAST_21 = CAST_19 | INTEGERS_4
CAST_23 = CAST_21 | element_type(f4e2m1fn)
CAST_24 = CAST_23 | SCALES_8
CAST_25 = CAST_24 | INTEGERS_2
CASTABLE = by_version(
    opset6=CAST_6, opset9=CAST_9, opset13=CAST_13, opset19=CAST_19, opset21=CAST_21, opset23=CAST_23, opset24=CAST_24,
    opset25=CAST_25, opset28=CAST_25 | FLOATS_6,
)  # fmt: skip
CASTABLE_LIKE = by_version(
    opset15=CAST_13, opset19=CAST_19, opset21=CAST_21, opset23=CAST_23, opset24=CAST_24, opset25=CAST_25
)
WITHOUT_TEXT = ElementClass((ANY_25 | COMPLEX).members - {string})


def cast_to(x: Value, to: ElementType, *, saturate: bool | None, round_mode: str | None) -> Value:
    """The elements converted to another type; to itself, the tensor."""
    source = element_of(x)
    if source is to:
        return x
    if source is string:
        # Text is read in a type that holds the numbers of the narrow ones.
        read = core.parse_numbers(x, f32 if to in core.NARROW.members and to.is_float else to)
        return cast_to(read, to, saturate=saturate, round_mode=round_mode)
    if to is string:
        # onnx does not say how bools are written; onnxruntime writes them as numbers.
        return core.format_numbers(core.cast(x, i64) if source is boolean else x)
    if to in core.NARROW.members:
        return core.narrow_cast(x, to, saturate is not False, core.Toward(round_mode or "up"))
    return core.cast(x, to)


class Cast(OnnxOp, name="onnx.Cast"):
    """Converts each element to another type.

    Floating point to integer truncates; integers wrap around; strings are parsed, and numbers formatted as strings,
    bools as `1` and `0`. A value out of range of a floating-point type of 8 bits or fewer becomes its largest number,
    or without `saturate` its infinity or NaN; `round_mode` applies to float8e8m0.
    """

    input: Value = operand("T1", by_value=True)
    to: ElementType = attribute(attr_types.element)
    saturate: bool = attribute(attr_types.flag, default=True, since="opset19")
    round_mode: str = attribute(attr_types.string, default="up", check=one_of("up", "down", "nearest"), since="opset24")
    output: Value = result("T2")
    T1 = CASTABLE
    T2 = CASTABLE

    def reference(self, input: Value) -> Value:
        return cast_to(input, self.to, saturate=self.saturate, round_mode=self.round_mode)

    def infer_partially(self) -> tuple[Type, ...]:
        return (TensorType(self.to, tensor_type(self.input).shape),)


class CastLike(OnnxOp, name="onnx.CastLike"):
    """Converts each element to the type of another tensor, as `Cast` does."""

    input: Value = operand("T1", by_value=True)
    target_type: Value = operand("T2")
    saturate: bool = attribute(attr_types.flag, default=True, since="opset19")
    round_mode: str = attribute(attr_types.string, default="up", check=one_of("up", "down", "nearest"), since="opset24")
    output: Value = result("T2")
    T1 = CASTABLE_LIKE
    T2 = CASTABLE_LIKE

    def reference(self, input: Value, target_type: Value) -> Value:
        return cast_to(input, element_of(target_type), saturate=self.saturate, round_mode=self.round_mode)


class BitCast(OnnxOp, name="onnx.BitCast", since="opset26"):
    """Reinterprets the bits of each element as another type of the same width."""

    input: Value = operand("T1")
    to: ElementType = attribute(attr_types.element)
    output: Value = result("T2")
    T1 = WITHOUT_TEXT
    T2 = WITHOUT_TEXT

    def reference(self, input: Value) -> Value:
        return core.bit_cast(input, self.to)

    def infer_partially(self) -> tuple[Type, ...]:
        return (TensorType(self.to, tensor_type(self.input).shape),)
