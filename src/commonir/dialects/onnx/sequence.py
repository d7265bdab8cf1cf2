"""ONNX operators on sequences of tensors, and on optional values.

Source: ONNX operator reference, default domain, versions 11 to 28.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import ANY_1, ANY_13, ANY_28, BOOLEAN, POSITIONS, OnnxOp
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, OptionalType, TensorType, Type, boolean, f32, i64
from commonir.notation import NotationError
from commonir.ods import (
    attr_types,
    attribute,
    by_version,
    element_type,
    lists,
    operand,
    optionals,
    result,
    types,
    types_by_version,
)

SEQUENCES = types(lists(ANY_1))


class SequenceConstruct(OnnxOp, name="onnx.SequenceConstruct", since="opset11"):
    """Creates a sequence of tensors."""

    inputs: tuple[Value, ...] = operand("T", variadic=True)
    output_sequence: Value = result("S")
    T = ANY_1
    S = SEQUENCES

    def reference(self, inputs: tuple[Value, ...]) -> Value:
        return core.list_of(inputs)


class SequenceEmpty(OnnxOp, name="onnx.SequenceEmpty", since="opset11"):
    """A sequence without tensors; without `dtype`, of single precision."""

    dtype: ElementType | None = attribute(attr_types.element, default=None)
    output: Value = result("S")
    S = SEQUENCES

    def reference(self) -> Value:
        return core.list_empty(TensorType(self.dtype or f32, None))


class SequenceLength(OnnxOp, name="onnx.SequenceLength", since="opset11"):
    """The number of tensors of a sequence, as a scalar."""

    input_sequence: Value = operand("S")
    length: Value = result("I")
    S = SEQUENCES
    I = element_type(i64)  # noqa: E741  the name of the standard

    def reference(self, input_sequence: Value) -> Value:
        return core.list_length(input_sequence)


class SequenceAt(OnnxOp, name="onnx.SequenceAt", since="opset11"):
    """Returns the tensor of a sequence at a position; a negative position counts from the end."""

    input_sequence: Value = operand("S")
    position: Value = operand("I", by_value=True)
    tensor: Value = result("T")
    S = SEQUENCES
    T = ANY_1
    I = POSITIONS  # noqa: E741  the name of the standard

    def reference(self, input_sequence: Value, position: Value) -> Value:
        return core.list_at(input_sequence, position)


class SequenceInsert(OnnxOp, name="onnx.SequenceInsert", since="opset11"):
    """A copy of a sequence with a tensor inserted before a position, or at the end if no position is given."""

    input_sequence: Value = operand("S")
    tensor: Value = operand("T")
    position: Value | None = operand("I", default=None, by_value=True)
    output_sequence: Value = result("S")
    S = SEQUENCES
    T = ANY_1
    I = POSITIONS  # noqa: E741  the name of the standard

    def reference(self, input_sequence: Value, tensor: Value, position: Value | None) -> Value:
        return core.list_insert(input_sequence, tensor, position)


class SequenceErase(OnnxOp, name="onnx.SequenceErase", since="opset11"):
    """A copy of a sequence without the tensor at a position, or without the last one if no position is given."""

    input_sequence: Value = operand("S")
    position: Value | None = operand("I", default=None, by_value=True)
    output_sequence: Value = result("S")
    S = SEQUENCES
    I = POSITIONS  # noqa: E741  the name of the standard

    def reference(self, input_sequence: Value, position: Value | None) -> Value:
        return core.list_erase(input_sequence, position)


class ConcatFromSequence(OnnxOp, name="onnx.ConcatFromSequence", since="opset11"):
    """Concatenates the tensors of a sequence along an axis, or stacks them along a new one."""

    input_sequence: Value = operand("S")
    axis: int = attribute(attr_types.integer)
    new_axis: bool = attribute(attr_types.flag, default=False)
    concat_result: Value = result("T")
    S = SEQUENCES
    T = ANY_1

    def reference(self, input_sequence: Value) -> Value:
        return core.list_concat(input_sequence, self.axis, self.new_axis)


class SplitToSequence(OnnxOp, name="onnx.SplitToSequence"):
    """Splits a tensor along an axis into a sequence of chunks of given sizes, or of one size with a smaller last one.

    Without `split` the chunks have size 1, and lack the axis unless `keepdims` is set.
    """

    input: Value = operand("T")
    split: Value | None = operand("I", default=None, by_value=True)
    keepdims: bool = attribute(attr_types.flag, default=True)
    axis: int = attribute(attr_types.integer, default=0)
    output_sequence: Value = result("S")
    T = by_version(opset11=ANY_1, opset24=ANY_13)
    I = POSITIONS  # noqa: E741  the name of the standard
    S = types_by_version(opset11=types(lists(ANY_1)), opset24=types(lists(ANY_13)))

    def reference(self, input: Value, split: Value | None) -> Value:
        if split is None:
            return core.split_to_list(input, core.scalar(1, i64), self.axis, self.keepdims)
        return core.split_to_list(input, split, self.axis)


_HELD_15 = types(ANY_1, lists(ANY_1))
_HELD_28 = types(ANY_28, lists(ANY_28))
_OPTIONAL_15 = types(optionals(ANY_1), optionals(lists(ANY_1)))
_OPTIONAL_28 = types(optionals(ANY_28), optionals(lists(ANY_28)))
HELD = types_by_version(opset15=_HELD_15, opset28=_HELD_28)
PERHAPS_HELD = types_by_version(
    opset15=_OPTIONAL_15,
    opset18=types(*_OPTIONAL_15.members, *_HELD_15.members),
    opset28=types(*_OPTIONAL_28.members, *_HELD_28.members),
)


class Optional(OnnxOp, name="onnx.Optional"):
    """Creates an optional with a value, or an absent one of the given type."""

    input: Value | None = operand("V", default=None)
    type: Type | None = attribute(attr_types.type_, default=None)
    output: Value = result("O")
    V = HELD
    O = types_by_version(opset15=_OPTIONAL_15, opset28=_OPTIONAL_28)  # noqa: E741  the name of the standard

    def reference(self, input: Value | None) -> Value:
        if input is not None:
            return core.optional_of(input)
        if self.type is None:
            raise NotationError("neither a value nor a type is given")
        return core.optional_none(self.type)


class OptionalGetElement(OnnxOp, name="onnx.OptionalGetElement"):
    """Returns the value of an optional; a value that is not optional is returned unchanged."""

    input: Value = operand("O")
    output: Value = result("V")
    O = PERHAPS_HELD  # noqa: E741  the name of the standard
    V = HELD

    def reference(self, input: Value) -> Value:
        return core.optional_get(input) if isinstance(input.type, OptionalType) else input


class OptionalHasElement(OnnxOp, name="onnx.OptionalHasElement", since="opset15 opset18 opset28"):
    """True when the operand is present and, where it is optional, has a value."""

    input: Value | None = operand("O", default=None, since="opset18", before=operand("O"))
    output: Value = result("B")
    O = PERHAPS_HELD  # noqa: E741  the name of the standard
    B = BOOLEAN

    def reference(self, input: Value | None) -> Value:
        if input is None or not isinstance(input.type, OptionalType):
            return core.scalar(input is not None, boolean)
        return core.optional_has(input)
