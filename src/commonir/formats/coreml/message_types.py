"""The form of MIL messages for type checkers; nothing here exists while a program runs.

The classes of the messages are made from declarations (`messages.py`), so type checkers cannot see their fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from google.protobuf.descriptor import Descriptor


class AnyMessage(Protocol):
    """What every message can do."""

    DESCRIPTOR: Descriptor

    def HasField(self, field_name: str) -> bool: ...  # noqa: N802  protobuf's name
    def SerializeToString(self) -> bytes: ...  # noqa: N802  protobuf's name


class DimensionMessage(AnyMessage, Protocol):
    """`Dimension`."""

    @property
    def constant(self) -> ConstantDimensionMessage: ...
    @property
    def unknown(self) -> UnknownDimensionMessage: ...
    def WhichOneof(self, oneof_group: str) -> Literal["constant", "unknown"] | None: ...  # noqa: N802


class ConstantDimensionMessage(AnyMessage, Protocol):
    """`Dimension.ConstantDimension`."""

    size: int


class UnknownDimensionMessage(AnyMessage, Protocol):
    """`Dimension.UnknownDimension`."""

    variadic: bool


class TensorTypeMessage(AnyMessage, Protocol):
    """`TensorType`."""

    dataType: int  # noqa: N815
    rank: int

    @property
    def dimensions(self) -> Sequence[DimensionMessage]: ...
    @property
    def attributes(self) -> Sequence[ValueEntryMessage]: ...


class ListTypeMessage(AnyMessage, Protocol):
    """`ListType`."""

    @property
    def type(self) -> ValueTypeMessage: ...
    @property
    def length(self) -> DimensionMessage: ...


class TupleTypeMessage(AnyMessage, Protocol):
    """`TupleType`."""

    @property
    def types(self) -> Sequence[ValueTypeMessage]: ...


class DictionaryTypeMessage(AnyMessage, Protocol):
    """`DictionaryType`."""

    @property
    def keyType(self) -> ValueTypeMessage: ...  # noqa: N802
    @property
    def valueType(self) -> ValueTypeMessage: ...  # noqa: N802


class StateTypeMessage(AnyMessage, Protocol):
    """`StateType`."""

    @property
    def wrappedType(self) -> ValueTypeMessage: ...  # noqa: N802


ValueTypeKind = Literal["tensorType", "listType", "tupleType", "dictionaryType", "stateType"]


class ValueTypeMessage(AnyMessage, Protocol):
    """`ValueType`."""

    @property
    def tensorType(self) -> TensorTypeMessage: ...  # noqa: N802
    @property
    def listType(self) -> ListTypeMessage: ...  # noqa: N802
    @property
    def tupleType(self) -> TupleTypeMessage: ...  # noqa: N802
    @property
    def dictionaryType(self) -> DictionaryTypeMessage: ...  # noqa: N802
    @property
    def stateType(self) -> StateTypeMessage: ...  # noqa: N802
    def WhichOneof(self, oneof_group: str) -> ValueTypeKind | None: ...  # noqa: N802


class NumbersMessage(AnyMessage, Protocol):
    """`RepeatedFloats`, `RepeatedInts` and the like."""

    @property
    def values(self) -> Sequence[int | float | bool]: ...


class StringsMessage(AnyMessage, Protocol):
    """`RepeatedStrings`."""

    @property
    def values(self) -> Sequence[str]: ...


class BytesMessage(AnyMessage, Protocol):
    """`RepeatedBytes`."""

    values: bytes


TensorField = Literal["floats", "ints", "bools", "strings", "longInts", "doubles", "bytes"]


class TensorValueMessage(AnyMessage, Protocol):
    """`TensorValue`."""

    @property
    def strings(self) -> StringsMessage: ...
    @property
    def bytes(self) -> BytesMessage: ...
    def WhichOneof(self, oneof_group: str) -> TensorField | None: ...  # noqa: N802


class ValuesMessage(AnyMessage, Protocol):
    """`ListValue` and `TupleValue`."""

    @property
    def values(self) -> Sequence[ValueMessage]: ...


class KeyValuePairMessage(AnyMessage, Protocol):
    """`DictionaryValue.KeyValuePair`."""

    @property
    def key(self) -> ValueMessage: ...
    @property
    def value(self) -> ValueMessage: ...


class DictionaryValueMessage(AnyMessage, Protocol):
    """`DictionaryValue`."""

    @property
    def values(self) -> Sequence[KeyValuePairMessage]: ...


class ImmediateValueMessage(AnyMessage, Protocol):
    """`Value.ImmediateValue`."""

    @property
    def tensor(self) -> TensorValueMessage: ...
    @property
    def tuple(self) -> ValuesMessage: ...
    @property
    def list(self) -> ValuesMessage: ...
    @property
    def dictionary(self) -> DictionaryValueMessage: ...
    def WhichOneof(self, oneof_group: str) -> Literal["tensor", "tuple", "list", "dictionary"] | None: ...  # noqa: N802


class BlobFileValueMessage(AnyMessage, Protocol):
    """`Value.BlobFileValue`."""

    fileName: str  # noqa: N815
    offset: int


class ValueMessage(AnyMessage, Protocol):
    """`Value`."""

    docString: str  # noqa: N815

    @property
    def type(self) -> ValueTypeMessage: ...
    @property
    def immediateValue(self) -> ImmediateValueMessage: ...  # noqa: N802
    @property
    def blobFileValue(self) -> BlobFileValueMessage: ...  # noqa: N802
    def WhichOneof(self, oneof_group: str) -> Literal["immediateValue", "blobFileValue"] | None: ...  # noqa: N802


class ValueEntryMessage(AnyMessage, Protocol):
    """An entry of a map of attributes."""

    key: str

    @property
    def value(self) -> ValueMessage: ...


class BindingMessage(AnyMessage, Protocol):
    """`Argument.Binding`."""

    name: str

    @property
    def value(self) -> ValueMessage: ...
    def WhichOneof(self, oneof_group: str) -> Literal["name", "value"] | None: ...  # noqa: N802


class ArgumentMessage(AnyMessage, Protocol):
    """`Argument`."""

    @property
    def arguments(self) -> Sequence[BindingMessage]: ...


class ArgumentEntryMessage(AnyMessage, Protocol):
    """An entry of the map of inputs of an operation."""

    key: str

    @property
    def value(self) -> ArgumentMessage: ...


class NamedValueTypeMessage(AnyMessage, Protocol):
    """`NamedValueType`."""

    name: str

    @property
    def type(self) -> ValueTypeMessage: ...


class OperationMessage(AnyMessage, Protocol):
    """`Operation`."""

    type: str

    @property
    def inputs(self) -> Sequence[ArgumentEntryMessage]: ...
    @property
    def outputs(self) -> Sequence[NamedValueTypeMessage]: ...
    @property
    def blocks(self) -> Sequence[BlockMessage]: ...
    @property
    def attributes(self) -> Sequence[ValueEntryMessage]: ...


class BlockMessage(AnyMessage, Protocol):
    """`Block`."""

    @property
    def inputs(self) -> Sequence[NamedValueTypeMessage]: ...
    @property
    def outputs(self) -> Sequence[str]: ...
    @property
    def operations(self) -> Sequence[OperationMessage]: ...
    @property
    def attributes(self) -> Sequence[ValueEntryMessage]: ...


class BlockEntryMessage(AnyMessage, Protocol):
    """An entry of the map of specializations of a function."""

    key: str

    @property
    def value(self) -> BlockMessage: ...


class FunctionMessage(AnyMessage, Protocol):
    """`Function`."""

    opset: str

    @property
    def inputs(self) -> Sequence[NamedValueTypeMessage]: ...
    @property
    def block_specializations(self) -> Sequence[BlockEntryMessage]: ...
    @property
    def attributes(self) -> Sequence[ValueEntryMessage]: ...


class FunctionEntryMessage(AnyMessage, Protocol):
    """An entry of the map of functions."""

    key: str

    @property
    def value(self) -> FunctionMessage: ...


class ProgramMessage(AnyMessage, Protocol):
    """`Program`."""

    version: int
    docString: str  # noqa: N815

    @property
    def functions(self) -> Sequence[FunctionEntryMessage]: ...
    @property
    def attributes(self) -> Sequence[ValueEntryMessage]: ...
