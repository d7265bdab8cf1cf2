"""The protobuf messages of ONNX files: each declared once, as a class whose fields carry their numbers.

The classes here are what type checkers see. The classes of the messages themselves are made from these declarations by
the protobuf runtime, in a descriptor pool of their own: no generated code is needed, any version of the runtime will
do, and the `onnx` package may live in the same process. Enumerations are `int32`, so that values of later versions stay
visible.

It knows nothing of programs. Source: onnx.proto of ONNX 1.23 (IR version 14).
"""

# ruff: noqa: D101  the names and fields of messages are those of onnx.proto, which explains them

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import MappingProxyType
from typing import Any, Generic, SupportsIndex, TypeVar, overload

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "onnx"

T = TypeVar("T")
M = TypeVar("M", bound="Message")
_FieldProto = descriptor_pb2.FieldDescriptorProto


class _Declared:
    """The number and type of one field."""

    __slots__ = ("name", "number", "oneof", "packed", "repeated", "type")

    def __init__(self, number: int, type: str, *, repeated: bool, packed: bool, oneof: str) -> None:
        self.number = number
        self.type = type
        self.repeated = repeated
        self.packed = packed
        self.oneof = oneof
        self.name = ""

    def __set_name__(self, owner: object, name: str) -> None:
        self.name = name


def _one(number: int, type: str, oneof: str = "") -> Any:
    """A field that occurs at most once. `type` is a scalar type of protobuf or the name of a message."""
    return _Declared(number, type, repeated=False, packed=False, oneof=oneof)


def _many(number: int, type: str, *, packed: bool = False) -> Any:
    """A field that occurs any number of times."""
    return _Declared(number, type, repeated=True, packed=packed, oneof="")


class Repeated(Generic[T]):
    """What a repeated field offers."""

    def __len__(self) -> int:
        raise NotImplementedError

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError

    @overload
    def __getitem__(self, index: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> T | list[T]:
        raise NotImplementedError

    def append(self, value: T) -> None:
        """Adds a copy of a value at the end."""
        raise NotImplementedError

    def extend(self, values: Any) -> None:
        """Adds copies of several values at the end."""
        raise NotImplementedError

    def add(self) -> T:
        """Adds an empty message at the end and returns it."""
        raise NotImplementedError


class Message:
    """What every message offers."""

    def SerializeToString(self) -> bytes:  # noqa: N802
        """Its bytes."""
        raise NotImplementedError

    def ParseFromString(self, serialized: bytes | memoryview) -> int:  # noqa: N802
        """Fills it from bytes. Raises: google.protobuf.message.DecodeError."""
        raise NotImplementedError

    def ByteSize(self) -> int:  # noqa: N802
        """Number of its bytes."""
        raise NotImplementedError

    def HasField(self, name: str) -> bool:  # noqa: N802
        """Whether a field that occurs at most once is present."""
        raise NotImplementedError

    def WhichOneof(self, name: str) -> str | None:  # noqa: N802
        """Which of the fields of a oneof is present."""
        raise NotImplementedError

    def SetInParent(self) -> None:  # noqa: N802
        """Makes an empty message present."""
        raise NotImplementedError


class StringStringEntryProto(Message):
    key: str = _one(1, "string")
    value: str = _one(2, "string")


class SegmentProto(Message):
    begin: int = _one(1, "int64")
    end: int = _one(2, "int64")


class TensorProto(Message):
    dims: Repeated[int] = _many(1, "int64")
    data_type: int = _one(2, "int32")
    segment: SegmentProto = _one(3, "SegmentProto")
    float_data: Repeated[float] = _many(4, "float", packed=True)
    int32_data: Repeated[int] = _many(5, "int32", packed=True)
    string_data: Repeated[bytes] = _many(6, "bytes")
    int64_data: Repeated[int] = _many(7, "int64", packed=True)
    name: str = _one(8, "string")
    doc_string: str = _one(12, "string")
    raw_data: bytes = _one(9, "bytes")
    external_data: Repeated[StringStringEntryProto] = _many(13, "StringStringEntryProto")
    data_location: int = _one(14, "int32")
    double_data: Repeated[float] = _many(10, "double", packed=True)
    uint64_data: Repeated[int] = _many(11, "uint64", packed=True)
    metadata_props: Repeated[StringStringEntryProto] = _many(16, "StringStringEntryProto")


class SparseTensorProto(Message):
    values: TensorProto = _one(1, "TensorProto")
    indices: TensorProto = _one(2, "TensorProto")
    dims: Repeated[int] = _many(3, "int64")


class DimensionProto(Message):
    dim_value: int = _one(1, "int64", "value")
    dim_param: str = _one(2, "string", "value")
    denotation: str = _one(3, "string")


class TensorShapeProto(Message):
    dim: Repeated[DimensionProto] = _many(1, "DimensionProto")


class TensorTypeProto(Message):
    elem_type: int = _one(1, "int32")
    shape: TensorShapeProto = _one(2, "TensorShapeProto")


class SequenceTypeProto(Message):
    elem_type: TypeProto = _one(1, "TypeProto")


class MapTypeProto(Message):
    key_type: int = _one(1, "int32")
    value_type: TypeProto = _one(2, "TypeProto")


class OptionalTypeProto(Message):
    elem_type: TypeProto = _one(1, "TypeProto")


class SparseTensorTypeProto(Message):
    elem_type: int = _one(1, "int32")
    shape: TensorShapeProto = _one(2, "TensorShapeProto")


class OpaqueTypeProto(Message):
    domain: str = _one(1, "string")
    name: str = _one(2, "string")


class TypeProto(Message):
    tensor_type: TensorTypeProto = _one(1, "TensorTypeProto", "value")
    sequence_type: SequenceTypeProto = _one(4, "SequenceTypeProto", "value")
    map_type: MapTypeProto = _one(5, "MapTypeProto", "value")
    optional_type: OptionalTypeProto = _one(9, "OptionalTypeProto", "value")
    sparse_tensor_type: SparseTensorTypeProto = _one(8, "SparseTensorTypeProto", "value")
    opaque_type: OpaqueTypeProto = _one(7, "OpaqueTypeProto", "value")
    denotation: str = _one(6, "string")


class ValueInfoProto(Message):
    name: str = _one(1, "string")
    type: TypeProto = _one(2, "TypeProto")
    doc_string: str = _one(3, "string")
    metadata_props: Repeated[StringStringEntryProto] = _many(4, "StringStringEntryProto")


class AttributeProto(Message):
    name: str = _one(1, "string")
    ref_attr_name: str = _one(21, "string")
    doc_string: str = _one(13, "string")
    type: int = _one(20, "int32")
    f: float = _one(2, "float")
    i: int = _one(3, "int64")
    s: bytes = _one(4, "bytes")
    t: TensorProto = _one(5, "TensorProto")
    g: GraphProto = _one(6, "GraphProto")
    sparse_tensor: SparseTensorProto = _one(22, "SparseTensorProto")
    tp: TypeProto = _one(14, "TypeProto")
    floats: Repeated[float] = _many(7, "float")
    ints: Repeated[int] = _many(8, "int64")
    strings: Repeated[bytes] = _many(9, "bytes")
    tensors: Repeated[TensorProto] = _many(10, "TensorProto")
    graphs: Repeated[GraphProto] = _many(11, "GraphProto")
    sparse_tensors: Repeated[SparseTensorProto] = _many(23, "SparseTensorProto")
    type_protos: Repeated[TypeProto] = _many(15, "TypeProto")


class IntIntListEntryProto(Message):
    key: int = _one(1, "int64")
    value: Repeated[int] = _many(2, "int64")


class SimpleShardedDimProto(Message):
    dim_value: int = _one(1, "int64", "dim")
    dim_param: str = _one(2, "string", "dim")
    num_shards: int = _one(3, "int64")


class ShardedDimProto(Message):
    axis: int = _one(1, "int64")
    simple_sharding: Repeated[SimpleShardedDimProto] = _many(2, "SimpleShardedDimProto")


class ShardingSpecProto(Message):
    tensor_name: str = _one(1, "string")
    device: Repeated[int] = _many(2, "int64")
    index_to_device_group_map: Repeated[IntIntListEntryProto] = _many(3, "IntIntListEntryProto")
    sharded_dim: Repeated[ShardedDimProto] = _many(4, "ShardedDimProto")


class NodeDeviceConfigurationProto(Message):
    configuration_id: str = _one(1, "string")
    sharding_spec: Repeated[ShardingSpecProto] = _many(2, "ShardingSpecProto")
    pipeline_stage: int = _one(3, "int32")


class NodeProto(Message):
    input: Repeated[str] = _many(1, "string")
    output: Repeated[str] = _many(2, "string")
    name: str = _one(3, "string")
    op_type: str = _one(4, "string")
    domain: str = _one(7, "string")
    overload: str = _one(8, "string")
    attribute: Repeated[AttributeProto] = _many(5, "AttributeProto")
    doc_string: str = _one(6, "string")
    metadata_props: Repeated[StringStringEntryProto] = _many(9, "StringStringEntryProto")
    device_configurations: Repeated[NodeDeviceConfigurationProto] = _many(10, "NodeDeviceConfigurationProto")


class TensorAnnotation(Message):
    tensor_name: str = _one(1, "string")
    quant_parameter_tensor_names: Repeated[StringStringEntryProto] = _many(2, "StringStringEntryProto")


class GraphProto(Message):
    node: Repeated[NodeProto] = _many(1, "NodeProto")
    name: str = _one(2, "string")
    initializer: Repeated[TensorProto] = _many(5, "TensorProto")
    sparse_initializer: Repeated[SparseTensorProto] = _many(15, "SparseTensorProto")
    doc_string: str = _one(10, "string")
    input: Repeated[ValueInfoProto] = _many(11, "ValueInfoProto")
    output: Repeated[ValueInfoProto] = _many(12, "ValueInfoProto")
    value_info: Repeated[ValueInfoProto] = _many(13, "ValueInfoProto")
    quantization_annotation: Repeated[TensorAnnotation] = _many(14, "TensorAnnotation")
    metadata_props: Repeated[StringStringEntryProto] = _many(16, "StringStringEntryProto")


class OperatorSetIdProto(Message):
    domain: str = _one(1, "string")
    version: int = _one(2, "int64")


class TrainingInfoProto(Message):
    initialization: GraphProto = _one(1, "GraphProto")
    algorithm: GraphProto = _one(2, "GraphProto")
    initialization_binding: Repeated[StringStringEntryProto] = _many(3, "StringStringEntryProto")
    update_binding: Repeated[StringStringEntryProto] = _many(4, "StringStringEntryProto")


class FunctionProto(Message):
    name: str = _one(1, "string")
    input: Repeated[str] = _many(4, "string")
    output: Repeated[str] = _many(5, "string")
    attribute: Repeated[str] = _many(6, "string")
    attribute_proto: Repeated[AttributeProto] = _many(11, "AttributeProto")
    node: Repeated[NodeProto] = _many(7, "NodeProto")
    doc_string: str = _one(8, "string")
    opset_import: Repeated[OperatorSetIdProto] = _many(9, "OperatorSetIdProto")
    domain: str = _one(10, "string")
    overload: str = _one(13, "string")
    value_info: Repeated[ValueInfoProto] = _many(12, "ValueInfoProto")
    metadata_props: Repeated[StringStringEntryProto] = _many(14, "StringStringEntryProto")


class DeviceConfigurationProto(Message):
    name: str = _one(1, "string")
    num_devices: int = _one(2, "int32")
    device: Repeated[str] = _many(3, "string")


class ModelProto(Message):
    ir_version: int = _one(1, "int64")
    opset_import: Repeated[OperatorSetIdProto] = _many(8, "OperatorSetIdProto")
    producer_name: str = _one(2, "string")
    producer_version: str = _one(3, "string")
    domain: str = _one(4, "string")
    model_version: int = _one(5, "int64")
    doc_string: str = _one(6, "string")
    graph: GraphProto = _one(7, "GraphProto")
    metadata_props: Repeated[StringStringEntryProto] = _many(14, "StringStringEntryProto")
    training_info: Repeated[TrainingInfoProto] = _many(20, "TrainingInfoProto")
    functions: Repeated[FunctionProto] = _many(25, "FunctionProto")
    configuration: Repeated[DeviceConfigurationProto] = _many(26, "DeviceConfigurationProto")


IR_VERSIONS = MappingProxyType({18: 8, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11})
"""The oldest IR version that each version of the default operator set belongs to."""


def create(declared: type[M]) -> M:
    """A new, empty message of a declared class."""
    return _classes()[declared.__name__]()


def field_number(declared: type[Message], name: str) -> int:
    """The number of a field."""
    return _fields(declared)[name].number


def declared_messages() -> tuple[type[Message], ...]:
    """Every message declared here, in order."""
    return tuple([m for m in globals().values() if isinstance(m, type) and issubclass(m, Message) and m is not Message])


def _fields(declared: type[Message]) -> dict[str, _Declared]:
    return {name: f for name, f in vars(declared).items() if isinstance(f, _Declared)}


@cache
def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="commonir/onnx.proto", package=_PACKAGE, syntax="proto2")
    for declared in declared_messages():
        made = file.message_type.add(name=declared.__name__)
        for f in _fields(declared).values():
            label = _FieldProto.LABEL_REPEATED if f.repeated else _FieldProto.LABEL_OPTIONAL
            field = made.field.add(name=f.name, number=f.number, label=label)
            if f.type.islower():
                field.type = _FieldProto.Type.Value(f"TYPE_{f.type.upper()}")
            else:
                field.type = _FieldProto.TYPE_MESSAGE
                field.type_name = f".{_PACKAGE}.{f.type}"
            if f.packed:
                field.options.packed = True
            if f.oneof:
                names = [o.name for o in made.oneof_decl]
                if f.oneof not in names:
                    made.oneof_decl.add(name=f.oneof)
                    names.append(f.oneof)
                field.oneof_index = names.index(f.oneof)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        d.__name__: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{d.__name__}"))
        for d in declared_messages()
    }
