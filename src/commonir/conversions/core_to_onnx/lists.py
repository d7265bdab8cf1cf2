"""Rules for core operations on lists and on values that may be absent."""

from __future__ import annotations

from commonir.dialects import core, onnx
from commonir.ir.operation import Value
from commonir.ir.types import TensorType
from commonir.ods import known_dims
from commonir.rewrite.legalize import Context, Mismatch, Result, rule


@rule(core.ListOf)
def list_of(op: core.ListOf, context: Context, xs: tuple[Value, ...]) -> Value:
    return onnx.SequenceConstruct(xs).output_sequence


@rule(core.ListEmpty)
def list_empty(op: core.ListEmpty, context: Context) -> Result:
    if not isinstance(op.element, TensorType):
        return Mismatch(f"onnx has no sequences of {op.element}")
    return onnx.SequenceEmpty(dtype=op.element.element).output


@rule(core.ListLength)
def list_length(op: core.ListLength, context: Context, x: Value) -> Value:
    return onnx.SequenceLength(x).length


@rule(core.ListAt)
def list_at(op: core.ListAt, context: Context, x: Value, position: Value) -> Value:
    return onnx.SequenceAt(x, position).tensor


@rule(core.ListInsert)
def list_insert(op: core.ListInsert, context: Context, x: Value, inserted: Value, position: Value | None) -> Value:
    return onnx.SequenceInsert(x, inserted, position).output_sequence


@rule(core.ListErase)
def list_erase(op: core.ListErase, context: Context, x: Value, position: Value | None) -> Value:
    return onnx.SequenceErase(x, position).output_sequence


@rule(core.ListConcat)
def list_concat(op: core.ListConcat, context: Context, x: Value) -> Value:
    return onnx.ConcatFromSequence(x, axis=op.axis, new_axis=op.new_axis).concat_result


@rule(core.SplitToList)
def split_to_list(op: core.SplitToList, context: Context, x: Value, dims: Value) -> Result:
    if op.keep_axis:
        return onnx.SplitToSequence(x, dims, axis=op.axis).output_sequence
    if known_dims(op.sizes) != (1,):
        return Mismatch("onnx takes the axis away only from pieces of size 1")
    return onnx.SplitToSequence(x, axis=op.axis, keepdims=False).output_sequence


@rule(core.OptionalOf)
def optional_of(op: core.OptionalOf, context: Context, x: Value) -> Value:
    return onnx.Optional(x).output


@rule(core.OptionalNone)
def optional_none(op: core.OptionalNone, context: Context) -> Value:
    return onnx.Optional(type=op.element).output


@rule(core.OptionalHas)
def optional_has(op: core.OptionalHas, context: Context, x: Value) -> Value:
    return onnx.OptionalHasElement(x).output


@rule(core.OptionalGet)
def optional_get(op: core.OptionalGet, context: Context, x: Value) -> Value:
    return onnx.OptionalGetElement(x).output
