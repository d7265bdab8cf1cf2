"""The messages of the first drafts of Common IR (package LotusIR), by the numbers that their fields had.

Stage A is a bare `HistoricGraphProto` whose values are described in lists beside their names; stage B, which the
specification describes, has models and libraries. What both share is declared once: a field that a stage did not have
is never present in its files. Enumerations are those of ONNX.

Source: onnx.proto in the history of CNTK.
"""

# ruff: noqa: D101  the names and fields of messages are the historic ones

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

from commonir.formats.onnx import messages
from commonir.formats.onnx.declaring import Message, Repeated, declared_in, many, message_classes, one

M = TypeVar("M", bound=Message)


class SegmentProto(messages.SegmentProto):
    pass


class TensorProto(messages.TensorProto, without="doc_string external_data data_location uint64_data metadata_props"):
    """As in ONNX, but elements of type UINT32 lie in `int64_data`."""


class DimensionProto(messages.DimensionProto, without="denotation"):
    pass


class TensorShapeProto(messages.TensorShapeProto):
    pass


class TensorTypeProto(messages.TensorTypeProto, without="elem_param"):
    """`shape` came with stage B; before, shapes stood beside types."""


class HandleTypeProto(messages.HandleTypeProto):
    pass


class TupleTypeProto(Message):
    elem_type: Repeated[TypeProto] = many(1, "TypeProto")


class SequenceTypeProto(Message):
    elem_type: TypeProto = one(1, "TypeProto")


class MapTypeProto(Message):
    key_type: int = one(1, "int32")
    value_type: int = one(2, "int32")


class TypeProto(Message):
    """Other numbers than in ONNX, where 4 is a sequence; `map` came with stage B."""

    tensor: TensorTypeProto = one(1, "TensorTypeProto", "value")
    sparse: TensorTypeProto = one(2, "TensorTypeProto", "value")
    handle: HandleTypeProto = one(3, "HandleTypeProto", "value")
    tuple: TupleTypeProto = one(4, "TupleTypeProto", "value")
    seq: SequenceTypeProto = one(5, "SequenceTypeProto", "value")
    map: MapTypeProto = one(6, "MapTypeProto", "value")


class ArgInfoProto(Message):
    """Of stage A: describes the value at the same place in a list of names."""

    type: TypeProto = one(1, "TypeProto")
    shape: TensorShapeProto = one(2, "TensorShapeProto")


class ValueInfoProto(messages.ValueInfoProto, without="doc_string metadata_props"):
    pass


class AttributeProto(
    messages.AttributeProto, without="ref_attr_name doc_string sparse_tensor tp sparse_tensors type_protos value values"
):
    """The field that is present is the type; later files have it in the field `discriminator`."""

    type: TypeProto = one(12, "TypeProto")  # pyright: ignore[reportIncompatibleVariableOverride]  a number today
    types: Repeated[TypeProto] = many(13, "TypeProto")
    shape: messages.TensorShapeProto = one(14, "TensorShapeProto")
    shapes: Repeated[messages.TensorShapeProto] = many(15, "TensorShapeProto")
    discriminator: int = one(20, "int32")


class NodeProto(messages.NodeProto, without="domain overload metadata_props device_configurations"):
    pass


class ParameterDeclProto(messages.ParameterDeclProto, without="multiplicity default"):
    type: TypeProto = one(2, "TypeProto")  # pyright: ignore[reportIncompatibleVariableOverride]  of another form


class SignatureDeclProto(messages.SignatureDeclProto, without="type_constraint"):
    pass


class OperatorDeclProto(messages.OperatorDeclProto):
    pass


class FunctionDefProto(messages.FunctionDefProto, without="doc_string opset_import"):
    pass


class GraphProto(messages.GraphProto, without="sparse_initializer quantization_annotation metadata_props library"):
    pass


class ModelProto(
    messages.ModelProto, without="opset_import metadata_props training_info functions configuration common_ir_version"
):
    pass


class LibraryProto(messages.LibraryProto, without="opset_import common_ir_version"):
    pass


class OldAttributeProto(AttributeProto):
    """An attribute of stage A, whose graphs are those of stage A."""

    g: OldGraphProto = one(6, "OldGraphProto")  # pyright: ignore[reportIncompatibleVariableOverride]  another message
    graphs: Repeated[OldGraphProto] = many(11, "OldGraphProto")  # pyright: ignore[reportIncompatibleVariableOverride]  as above


class OldNodeProto(Message):
    """A node of stage A."""

    input: Repeated[str] = many(1, "string")
    output: Repeated[str] = many(2, "string")
    name: str = one(3, "string")
    op_type: str = one(4, "string")
    attribute: Repeated[OldAttributeProto] = many(5, "OldAttributeProto")
    doc_string: str = one(6, "string")
    input_arg_info: Repeated[ArgInfoProto] = many(7, "ArgInfoProto")
    output_arg_info: Repeated[ArgInfoProto] = many(8, "ArgInfoProto")
    input_arg_count: Repeated[int] = many(9, "int32")
    control_input: Repeated[str] = many(10, "string")


class OldFunctionProto(Message):
    """A function of stage A."""

    name: str = one(1, "string")
    input_arg: Repeated[ParameterDeclProto] = many(2, "ParameterDeclProto")
    output_arg: Repeated[ParameterDeclProto] = many(3, "ParameterDeclProto")
    node: Repeated[OldNodeProto] = many(4, "OldNodeProto")
    attr: Repeated[OldAttributeProto] = many(5, "OldAttributeProto")


class OldGraphProto(Message):
    """A graph of stage A, which is a whole file."""

    node: Repeated[OldNodeProto] = many(1, "OldNodeProto")
    name: str = one(2, "string")
    input: Repeated[str] = many(3, "string")
    output: Repeated[str] = many(4, "string")
    initializer: Repeated[TensorProto] = many(5, "TensorProto")
    ir_version: int = one(6, "int64")
    producer_version: int = one(7, "int64")
    producer_tag: str = one(8, "string")
    domain: str = one(9, "string")
    doc_string: str = one(10, "string")
    function: Repeated[OldFunctionProto] = many(11, "OldFunctionProto")
    input_arg_info: Repeated[ArgInfoProto] = many(12, "ArgInfoProto")
    output_arg_info: Repeated[ArgInfoProto] = many(13, "ArgInfoProto")


def historic_class(declared: type[M]) -> type[M]:
    """The message class of a declaration."""
    return _classes()[declared.__name__]


@cache
def _classes() -> MappingProxyType[str, Any]:
    return MappingProxyType(dict(message_classes(declared_in(globals()), "lotus_ir")))
