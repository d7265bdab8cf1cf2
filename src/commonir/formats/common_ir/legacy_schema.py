"""The messages of the first drafts of Common IR (package LotusIR), by the numbers that their fields had.

Stage A is a bare `HistoricGraphProto` whose values are described in lists beside their names; stage B, which the
specification describes, has models and libraries. What both share is declared once: a field that a stage did not have
is never present in its files. Enumerations are those of ONNX.

Source: onnx.proto in the history of CNTK (facts on ONNX and Common IR, section 1).
"""

# ruff: noqa: D101  the names and fields of messages are the historic ones

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

from commonir.formats.onnx.declaring import Message, Repeated, declared_in, many, message_classes, one

M = TypeVar("M", bound=Message)


class SegmentProto(Message):
    begin: int = one(1, "int64")
    end: int = one(2, "int64")


class TensorProto(Message):
    """As in ONNX, but elements of type UINT32 lie in `int64_data`."""

    dims: Repeated[int] = many(1, "int64")
    data_type: int = one(2, "int32")
    segment: SegmentProto = one(3, "SegmentProto")
    float_data: Repeated[float] = many(4, "float", packed=True)
    int32_data: Repeated[int] = many(5, "int32", packed=True)
    string_data: Repeated[bytes] = many(6, "bytes")
    int64_data: Repeated[int] = many(7, "int64", packed=True)
    name: str = one(8, "string")
    raw_data: bytes = one(9, "bytes")
    double_data: Repeated[float] = many(10, "double", packed=True)


class SparseTensorProto(Message):
    """With the numbers 1 and 3 the other way round than in ONNX."""

    dims: Repeated[int] = many(1, "int64")
    indices: TensorProto = one(2, "TensorProto")
    values: TensorProto = one(3, "TensorProto")


class DimensionProto(Message):
    dim_value: int = one(1, "int64", "value")
    dim_param: str = one(2, "string", "value")


class TensorShapeProto(Message):
    dim: Repeated[DimensionProto] = many(1, "DimensionProto")


class TensorTypeProto(Message):
    """`shape` came with stage B; before, shapes stood beside types."""

    elem_type: int = one(1, "int32")
    shape: TensorShapeProto = one(2, "TensorShapeProto")


class HandleTypeProto(Message):
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


class ValueInfoProto(Message):
    name: str = one(1, "string")
    type: TypeProto = one(2, "TypeProto")


class AttributeProto(Message):
    """The kind is the one field that is present; `discriminator` is the field by which later files tell it."""

    name: str = one(1, "string")
    f: float = one(2, "float")
    i: int = one(3, "int64")
    s: bytes = one(4, "bytes")
    t: TensorProto = one(5, "TensorProto")
    g: GraphProto = one(6, "GraphProto")
    floats: Repeated[float] = many(7, "float")
    ints: Repeated[int] = many(8, "int64")
    strings: Repeated[bytes] = many(9, "bytes")
    tensors: Repeated[TensorProto] = many(10, "TensorProto")
    graphs: Repeated[GraphProto] = many(11, "GraphProto")
    type: TypeProto = one(12, "TypeProto")
    types: Repeated[TypeProto] = many(13, "TypeProto")
    shape: TensorShapeProto = one(14, "TensorShapeProto")
    shapes: Repeated[TensorShapeProto] = many(15, "TensorShapeProto")
    discriminator: int = one(20, "int32")


class NodeProto(Message):
    input: Repeated[str] = many(1, "string")
    output: Repeated[str] = many(2, "string")
    name: str = one(3, "string")
    op_type: str = one(4, "string")
    attribute: Repeated[AttributeProto] = many(5, "AttributeProto")
    doc_string: str = one(6, "string")
    input_arg_count: Repeated[int] = many(50, "int32")
    control_input: Repeated[str] = many(51, "string")


class ParameterDeclProto(Message):
    name: str = one(1, "string")
    type: TypeProto = one(2, "TypeProto")
    shape: TensorShapeProto = one(3, "TensorShapeProto")
    doc_string: str = one(4, "string")


class SignatureDeclProto(Message):
    input_params: Repeated[ParameterDeclProto] = many(1, "ParameterDeclProto")
    output_params: Repeated[ParameterDeclProto] = many(2, "ParameterDeclProto")
    input_attributes: Repeated[ParameterDeclProto] = many(3, "ParameterDeclProto")
    doc_string: str = one(4, "string")


class OperatorDeclProto(Message):
    name: str = one(1, "string")
    signature: Repeated[SignatureDeclProto] = many(2, "SignatureDeclProto")
    doc_string: str = one(3, "string")


class FunctionDefProto(Message):
    name: str = one(1, "string")
    input_params: Repeated[ParameterDeclProto] = many(2, "ParameterDeclProto")
    output_params: Repeated[ParameterDeclProto] = many(3, "ParameterDeclProto")
    node: Repeated[NodeProto] = many(4, "NodeProto")
    attr: Repeated[AttributeProto] = many(5, "AttributeProto")


class GraphProto(Message):
    node: Repeated[NodeProto] = many(1, "NodeProto")
    name: str = one(2, "string")
    initializer: Repeated[TensorProto] = many(5, "TensorProto")
    doc_string: str = one(10, "string")
    input: Repeated[ValueInfoProto] = many(11, "ValueInfoProto")
    output: Repeated[ValueInfoProto] = many(12, "ValueInfoProto")
    value_info: Repeated[ValueInfoProto] = many(13, "ValueInfoProto")
    function: Repeated[FunctionDefProto] = many(50, "FunctionDefProto")
    operator: Repeated[OperatorDeclProto] = many(51, "OperatorDeclProto")
    imported_libraries: Repeated[str] = many(52, "string")


class ModelProto(Message):
    ir_version: int = one(1, "int64")
    producer_name: str = one(2, "string")
    producer_version: str = one(3, "string")
    domain: str = one(4, "string")
    model_version: int = one(5, "int64")
    doc_string: str = one(6, "string")
    graph: GraphProto = one(7, "GraphProto")
    model_author: str = one(50, "string")
    model_license: str = one(51, "string")


class LibraryProto(Message):
    ir_version: int = one(1, "int64")
    producer_version: int = one(2, "int64")
    producer_tag: str = one(3, "string")
    model_version: int = one(4, "int64")
    model_author: str = one(5, "string")
    model_license: str = one(6, "string")
    name: str = one(7, "string")
    domain: str = one(8, "string")
    doc_string: str = one(9, "string")
    operator: Repeated[OperatorDeclProto] = many(10, "OperatorDeclProto")
    function: Repeated[FunctionDefProto] = many(11, "FunctionDefProto")
    imported_libraries: Repeated[str] = many(12, "string")


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
