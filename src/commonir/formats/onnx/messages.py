"""The protobuf messages of ONNX files and, with field numbers from 50 on, of the Common IR around and inside of them.

Common IR is a superset of ONNX on the wire: messages of ONNX have the fields of onnx.proto, and those that the first
public draft of Common IR left for itself, from 50 on; readers of ONNX skip them. The messages after `ModelProto` are
those of Common IR alone. Enumerations are `int32`, so that values of later versions stay visible.

It knows nothing of programs. Source: onnx.proto of ONNX 1.23 (IR version 14); field numbers of the historic Common IR
(LotusIR), with additions of this project where a message says so.
"""

# ruff: noqa: D101  the names and fields of messages are those of onnx.proto, which explains them

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

from commonir.formats.onnx.declaring import Message, Repeated, declared_fields, declared_in, many, message_classes, one

M = TypeVar("M", bound=Message)


class StringStringEntryProto(Message):
    key: str = one(1, "string")
    value: str = one(2, "string")


class SegmentProto(Message):
    begin: int = one(1, "int64")
    end: int = one(2, "int64")


class TensorProto(Message):
    dims: Repeated[int] = many(1, "int64")
    data_type: int = one(2, "int32")
    segment: SegmentProto = one(3, "SegmentProto")
    float_data: Repeated[float] = many(4, "float", packed=True)
    int32_data: Repeated[int] = many(5, "int32", packed=True)
    string_data: Repeated[bytes] = many(6, "bytes")
    int64_data: Repeated[int] = many(7, "int64", packed=True)
    name: str = one(8, "string")
    doc_string: str = one(12, "string")
    raw_data: bytes = one(9, "bytes")
    external_data: Repeated[StringStringEntryProto] = many(13, "StringStringEntryProto")
    data_location: int = one(14, "int32")
    double_data: Repeated[float] = many(10, "double", packed=True)
    uint64_data: Repeated[int] = many(11, "uint64", packed=True)
    metadata_props: Repeated[StringStringEntryProto] = many(16, "StringStringEntryProto")


class SparseTensorProto(Message):
    values: TensorProto = one(1, "TensorProto")
    indices: TensorProto = one(2, "TensorProto")
    dims: Repeated[int] = many(3, "int64")


class DimensionProto(Message):
    dim_value: int = one(1, "int64", "value")
    dim_param: str = one(2, "string", "value")
    denotation: str = one(3, "string")


class TensorShapeProto(Message):
    dim: Repeated[DimensionProto] = many(1, "DimensionProto")


class TensorTypeProto(Message):
    elem_type: int = one(1, "int32")
    shape: TensorShapeProto = one(2, "TensorShapeProto")
    elem_param: str = one(50, "string")


class SequenceTypeProto(Message):
    elem_type: TypeProto = one(1, "TypeProto")


class MapTypeProto(Message):
    key_type: int = one(1, "int32")
    value_type: TypeProto = one(2, "TypeProto")
    key_param: str = one(50, "string")


class OptionalTypeProto(Message):
    elem_type: TypeProto = one(1, "TypeProto")


class SparseTensorTypeProto(Message):
    elem_type: int = one(1, "int32")
    shape: TensorShapeProto = one(2, "TensorShapeProto")
    elem_param: str = one(50, "string")


class OpaqueTypeProto(Message):
    domain: str = one(1, "string")
    name: str = one(2, "string")


class TypeProto(Message):
    tensor_type: TensorTypeProto = one(1, "TensorTypeProto", "value")
    sequence_type: SequenceTypeProto = one(4, "SequenceTypeProto", "value")
    map_type: MapTypeProto = one(5, "MapTypeProto", "value")
    optional_type: OptionalTypeProto = one(9, "OptionalTypeProto", "value")
    sparse_tensor_type: SparseTensorTypeProto = one(8, "SparseTensorTypeProto", "value")
    opaque_type: OpaqueTypeProto = one(7, "OpaqueTypeProto", "value")
    denotation: str = one(6, "string")
    tuple_type: TupleTypeProto = one(50, "TupleTypeProto", "value")
    handle_type: HandleTypeProto = one(51, "HandleTypeProto", "value")
    type_param: str = one(52, "string", "value")


class ValueInfoProto(Message):
    name: str = one(1, "string")
    type: TypeProto = one(2, "TypeProto")
    doc_string: str = one(3, "string")
    metadata_props: Repeated[StringStringEntryProto] = many(4, "StringStringEntryProto")


class AttributeProto(Message):
    name: str = one(1, "string")
    ref_attr_name: str = one(21, "string")
    doc_string: str = one(13, "string")
    type: int = one(20, "int32")
    f: float = one(2, "float")
    i: int = one(3, "int64")
    s: bytes = one(4, "bytes")
    t: TensorProto = one(5, "TensorProto")
    g: GraphProto = one(6, "GraphProto")
    sparse_tensor: SparseTensorProto = one(22, "SparseTensorProto")
    tp: TypeProto = one(14, "TypeProto")
    floats: Repeated[float] = many(7, "float")
    ints: Repeated[int] = many(8, "int64")
    strings: Repeated[bytes] = many(9, "bytes")
    tensors: Repeated[TensorProto] = many(10, "TensorProto")
    graphs: Repeated[GraphProto] = many(11, "GraphProto")
    sparse_tensors: Repeated[SparseTensorProto] = many(23, "SparseTensorProto")
    type_protos: Repeated[TypeProto] = many(15, "TypeProto")
    shape: TensorShapeProto = one(50, "TensorShapeProto")
    shapes: Repeated[TensorShapeProto] = many(51, "TensorShapeProto")
    value: DataProto = one(52, "DataProto")
    values: Repeated[DataProto] = many(53, "DataProto")


class IntIntListEntryProto(Message):
    key: int = one(1, "int64")
    value: Repeated[int] = many(2, "int64")


class SimpleShardedDimProto(Message):
    dim_value: int = one(1, "int64", "dim")
    dim_param: str = one(2, "string", "dim")
    num_shards: int = one(3, "int64")


class ShardedDimProto(Message):
    axis: int = one(1, "int64")
    simple_sharding: Repeated[SimpleShardedDimProto] = many(2, "SimpleShardedDimProto")


class ShardingSpecProto(Message):
    tensor_name: str = one(1, "string")
    device: Repeated[int] = many(2, "int64")
    index_to_device_group_map: Repeated[IntIntListEntryProto] = many(3, "IntIntListEntryProto")
    sharded_dim: Repeated[ShardedDimProto] = many(4, "ShardedDimProto")


class NodeDeviceConfigurationProto(Message):
    configuration_id: str = one(1, "string")
    sharding_spec: Repeated[ShardingSpecProto] = many(2, "ShardingSpecProto")
    pipeline_stage: int = one(3, "int32")


class NodeProto(Message):
    input: Repeated[str] = many(1, "string")
    output: Repeated[str] = many(2, "string")
    name: str = one(3, "string")
    op_type: str = one(4, "string")
    domain: str = one(7, "string")
    overload: str = one(8, "string")
    attribute: Repeated[AttributeProto] = many(5, "AttributeProto")
    doc_string: str = one(6, "string")
    metadata_props: Repeated[StringStringEntryProto] = many(9, "StringStringEntryProto")
    device_configurations: Repeated[NodeDeviceConfigurationProto] = many(10, "NodeDeviceConfigurationProto")
    input_arg_count: Repeated[int] = many(50, "int32")
    control_input: Repeated[str] = many(51, "string")


class TensorAnnotation(Message):
    tensor_name: str = one(1, "string")
    quant_parameter_tensor_names: Repeated[StringStringEntryProto] = many(2, "StringStringEntryProto")


class GraphProto(Message):
    node: Repeated[NodeProto] = many(1, "NodeProto")
    name: str = one(2, "string")
    initializer: Repeated[TensorProto] = many(5, "TensorProto")
    sparse_initializer: Repeated[SparseTensorProto] = many(15, "SparseTensorProto")
    doc_string: str = one(10, "string")
    input: Repeated[ValueInfoProto] = many(11, "ValueInfoProto")
    output: Repeated[ValueInfoProto] = many(12, "ValueInfoProto")
    value_info: Repeated[ValueInfoProto] = many(13, "ValueInfoProto")
    quantization_annotation: Repeated[TensorAnnotation] = many(14, "TensorAnnotation")
    metadata_props: Repeated[StringStringEntryProto] = many(16, "StringStringEntryProto")
    function: Repeated[FunctionDefProto] = many(50, "FunctionDefProto")
    operator: Repeated[OperatorDeclProto] = many(51, "OperatorDeclProto")
    imported_libraries: Repeated[str] = many(52, "string")
    library: Repeated[LibraryProto] = many(53, "LibraryProto")


class OperatorSetIdProto(Message):
    domain: str = one(1, "string")
    version: int = one(2, "int64")


class TrainingInfoProto(Message):
    initialization: GraphProto = one(1, "GraphProto")
    algorithm: GraphProto = one(2, "GraphProto")
    initialization_binding: Repeated[StringStringEntryProto] = many(3, "StringStringEntryProto")
    update_binding: Repeated[StringStringEntryProto] = many(4, "StringStringEntryProto")


class FunctionProto(Message):
    name: str = one(1, "string")
    input: Repeated[str] = many(4, "string")
    output: Repeated[str] = many(5, "string")
    attribute: Repeated[str] = many(6, "string")
    attribute_proto: Repeated[AttributeProto] = many(11, "AttributeProto")
    node: Repeated[NodeProto] = many(7, "NodeProto")
    doc_string: str = one(8, "string")
    opset_import: Repeated[OperatorSetIdProto] = many(9, "OperatorSetIdProto")
    domain: str = one(10, "string")
    overload: str = one(13, "string")
    value_info: Repeated[ValueInfoProto] = many(12, "ValueInfoProto")
    metadata_props: Repeated[StringStringEntryProto] = many(14, "StringStringEntryProto")


class DeviceConfigurationProto(Message):
    name: str = one(1, "string")
    num_devices: int = one(2, "int32")
    device: Repeated[str] = many(3, "string")


class ModelProto(Message):
    ir_version: int = one(1, "int64")
    opset_import: Repeated[OperatorSetIdProto] = many(8, "OperatorSetIdProto")
    producer_name: str = one(2, "string")
    producer_version: str = one(3, "string")
    domain: str = one(4, "string")
    model_version: int = one(5, "int64")
    doc_string: str = one(6, "string")
    graph: GraphProto = one(7, "GraphProto")
    metadata_props: Repeated[StringStringEntryProto] = many(14, "StringStringEntryProto")
    training_info: Repeated[TrainingInfoProto] = many(20, "TrainingInfoProto")
    functions: Repeated[FunctionProto] = many(25, "FunctionProto")
    configuration: Repeated[DeviceConfigurationProto] = many(26, "DeviceConfigurationProto")
    model_author: str = one(50, "string")
    model_license: str = one(51, "string")
    common_ir_version: int = one(52, "int64")


class TupleTypeProto(Message):
    """A value of several parts, each of its own type. Not historic: there, number 4 of a type was a tuple."""

    elem_type: Repeated[TypeProto] = many(1, "TypeProto")


class HandleTypeProto(Message):
    """An opaque value of 64 bits. Not historic: there, number 3 of a type was a handle."""


class HandleProto(Message):
    uid: int = one(1, "int64")


class SequenceDataProto(Message):
    elements: Repeated[DataProto] = many(1, "DataProto")


class MapDataProto(Message):
    keys: TensorProto = one(1, "TensorProto")
    values: TensorProto = one(2, "TensorProto")


class DictionaryDataProto(Message):
    """Values by name. Not historic."""

    keys: Repeated[str] = many(1, "string")
    values: Repeated[DataProto] = many(2, "DataProto")


class DataProto(Message):
    dense: TensorProto = one(1, "TensorProto", "value")
    sparse: SparseTensorProto = one(2, "SparseTensorProto", "value")
    handle: HandleProto = one(3, "HandleProto", "value")
    tuple: SequenceDataProto = one(4, "SequenceDataProto", "value")
    seq: SequenceDataProto = one(5, "SequenceDataProto", "value")
    map: MapDataProto = one(6, "MapDataProto", "value")
    dictionary: DictionaryDataProto = one(50, "DictionaryDataProto", "value")


class ParameterDeclProto(Message):
    """A formal parameter; `multiplicity` (0 one, 1 optional, 2 any number) and `default` are not historic."""

    name: str = one(1, "string")
    type: TypeProto = one(2, "TypeProto")
    shape: TensorShapeProto = one(3, "TensorShapeProto")
    doc_string: str = one(4, "string")
    multiplicity: int = one(50, "int32")
    default: AttributeProto = one(51, "AttributeProto")


class TypeConstraintProto(Message):
    """The types that a variable of a signature ranges over. Not historic."""

    name: str = one(1, "string")
    types: Repeated[TypeProto] = many(2, "TypeProto")


class SignatureDeclProto(Message):
    input_params: Repeated[ParameterDeclProto] = many(1, "ParameterDeclProto")
    output_params: Repeated[ParameterDeclProto] = many(2, "ParameterDeclProto")
    input_attributes: Repeated[ParameterDeclProto] = many(3, "ParameterDeclProto")
    doc_string: str = one(4, "string")
    type_constraint: Repeated[TypeConstraintProto] = many(50, "TypeConstraintProto")


class OperatorDeclProto(Message):
    name: str = one(1, "string")
    signature: Repeated[SignatureDeclProto] = many(2, "SignatureDeclProto")
    doc_string: str = one(3, "string")


class FunctionDefProto(Message):
    """A function with typed parameters; `doc_string` and `opset_import` are not historic."""

    name: str = one(1, "string")
    input_params: Repeated[ParameterDeclProto] = many(2, "ParameterDeclProto")
    output_params: Repeated[ParameterDeclProto] = many(3, "ParameterDeclProto")
    node: Repeated[NodeProto] = many(4, "NodeProto")
    attr: Repeated[AttributeProto] = many(5, "AttributeProto")
    doc_string: str = one(50, "string")
    opset_import: Repeated[OperatorSetIdProto] = many(51, "OperatorSetIdProto")


class LibraryProto(Message):
    """A file of declarations and functions; `opset_import` and `common_ir_version` are not historic."""

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
    opset_import: Repeated[OperatorSetIdProto] = many(51, "OperatorSetIdProto")
    common_ir_version: int = one(52, "int64")


IR_VERSIONS = MappingProxyType(
    {9: 4, 10: 5, 11: 6, 12: 7, 13: 7, 14: 7, 15: 8, 16: 8, 17: 8, 18: 8, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11}
)
"""The oldest IR version that each version of the default operator set belongs to."""


FIRST_EXTENSION = 50
"""Fields of messages of ONNX with this number or a larger one are those of Common IR."""


def create(declared: type[M]) -> M:
    """A new, empty message of a declared class."""
    return _classes()[declared.__name__]()


def bytes_of(message: Message, *, is_packed: bool) -> bytes:
    """The bytes of a message; repeated numbers are packed everywhere if `is_packed`, else where onnx.proto says so."""
    content = message.SerializeToString()
    if not is_packed:
        return content
    packed: Message = _packed_classes()[type(message).__name__]()
    packed.ParseFromString(content)
    return packed.SerializeToString()


def field_number(declared: type[Message], name: str) -> int:
    """The number of a field."""
    return declared_fields(declared)[name].number


def declared_messages() -> tuple[type[Message], ...]:
    """Every message declared here, in order."""
    return declared_in(globals())


@cache
def _classes() -> MappingProxyType[str, Any]:
    return MappingProxyType(dict(message_classes(declared_messages(), "onnx")))


@cache
def _packed_classes() -> MappingProxyType[str, Any]:
    return MappingProxyType(dict(message_classes(declared_messages(), "onnx", packs=True)))
