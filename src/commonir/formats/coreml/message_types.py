"""The form of MIL messages for type checkers; nothing here exists while a program runs.

The classes of the messages are made from declarations (`messages.py`), so type checkers cannot see their fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, Protocol, TypeVar

from google.protobuf.descriptor import Descriptor

T = TypeVar("T")


class Repeated(Sequence[T]):
    """A repeated field."""

    def append(self, value: T) -> None: ...
    def extend(self, values: Iterable[T]) -> None: ...
    def add(self) -> T: ...


class AnyMessage(Protocol):
    """The interface of every message."""

    DESCRIPTOR: Descriptor

    def HasField(self, field_name: str) -> bool: ...  # noqa: N802  protobuf's name
    def SerializeToString(self) -> bytes: ...  # noqa: N802  protobuf's name
    def MergeFromString(self, serialized: bytes) -> int: ...  # noqa: N802  protobuf's name
    def SetInParent(self) -> None: ...  # noqa: N802  protobuf's name


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
    def dimensions(self) -> Repeated[DimensionMessage]: ...
    @property
    def attributes(self) -> Repeated[ValueEntryMessage]: ...


class ListTypeMessage(AnyMessage, Protocol):
    """`ListType`."""

    @property
    def type(self) -> ValueTypeMessage: ...
    @property
    def length(self) -> DimensionMessage: ...


class TupleTypeMessage(AnyMessage, Protocol):
    """`TupleType`."""

    @property
    def types(self) -> Repeated[ValueTypeMessage]: ...


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

    def CopyFrom(self, other: ValueTypeMessage) -> None: ...  # noqa: N802  protobuf's name

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
    def values(self) -> Repeated[int | float | bool]: ...


class StringsMessage(AnyMessage, Protocol):
    """`RepeatedStrings`."""

    @property
    def values(self) -> Repeated[str]: ...


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
    def values(self) -> Repeated[ValueMessage]: ...


class KeyValuePairMessage(AnyMessage, Protocol):
    """`DictionaryValue.KeyValuePair`."""

    @property
    def key(self) -> ValueMessage: ...
    @property
    def value(self) -> ValueMessage: ...


class DictionaryValueMessage(AnyMessage, Protocol):
    """`DictionaryValue`."""

    @property
    def values(self) -> Repeated[KeyValuePairMessage]: ...


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
    def arguments(self) -> Repeated[BindingMessage]: ...


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
    def inputs(self) -> Repeated[ArgumentEntryMessage]: ...
    @property
    def outputs(self) -> Repeated[NamedValueTypeMessage]: ...
    @property
    def blocks(self) -> Repeated[BlockMessage]: ...
    @property
    def attributes(self) -> Repeated[ValueEntryMessage]: ...


class BlockMessage(AnyMessage, Protocol):
    """`Block`."""

    @property
    def inputs(self) -> Repeated[NamedValueTypeMessage]: ...
    @property
    def outputs(self) -> Repeated[str]: ...
    @property
    def operations(self) -> Repeated[OperationMessage]: ...
    @property
    def attributes(self) -> Repeated[ValueEntryMessage]: ...


class BlockEntryMessage(AnyMessage, Protocol):
    """An entry of the map of specializations of a function."""

    key: str

    @property
    def value(self) -> BlockMessage: ...


class FunctionMessage(AnyMessage, Protocol):
    """`Function`."""

    opset: str

    @property
    def inputs(self) -> Repeated[NamedValueTypeMessage]: ...
    @property
    def block_specializations(self) -> Repeated[BlockEntryMessage]: ...
    @property
    def attributes(self) -> Repeated[ValueEntryMessage]: ...


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
    def functions(self) -> Repeated[FunctionEntryMessage]: ...
    @property
    def attributes(self) -> Repeated[ValueEntryMessage]: ...


class SizeRangeMessage(AnyMessage, Protocol):
    """`SizeRange`."""

    lowerBound: int  # noqa: N815
    upperBound: int  # noqa: N815


class FeatureShapeMessage(AnyMessage, Protocol):
    """`ArrayFeatureType.Shape`."""

    @property
    def shape(self) -> Sequence[int]: ...


class EnumeratedShapesMessage(AnyMessage, Protocol):
    """`ArrayFeatureType.EnumeratedShapes`."""

    @property
    def shapes(self) -> Sequence[FeatureShapeMessage]: ...


class ShapeRangeMessage(AnyMessage, Protocol):
    """`ArrayFeatureType.ShapeRange`."""

    @property
    def sizeRanges(self) -> Sequence[SizeRangeMessage]: ...  # noqa: N802


ArrayOneof = Literal["enumeratedShapes", "shapeRange", "intDefaultValue", "floatDefaultValue", "doubleDefaultValue"]


class ArrayFeatureMessage(AnyMessage, Protocol):
    """`ArrayFeatureType`."""

    dataType: int  # noqa: N815
    intDefaultValue: int  # noqa: N815
    floatDefaultValue: float  # noqa: N815
    doubleDefaultValue: float  # noqa: N815

    @property
    def shape(self) -> Sequence[int]: ...
    @property
    def enumeratedShapes(self) -> EnumeratedShapesMessage: ...  # noqa: N802
    @property
    def shapeRange(self) -> ShapeRangeMessage: ...  # noqa: N802
    def WhichOneof(self, oneof_group: str) -> ArrayOneof | None: ...  # noqa: N802


class ImageSizeMessage(AnyMessage, Protocol):
    """`ImageFeatureType.ImageSize`."""

    width: int
    height: int


class EnumeratedImageSizesMessage(AnyMessage, Protocol):
    """`ImageFeatureType.EnumeratedImageSizes`."""

    @property
    def sizes(self) -> Sequence[ImageSizeMessage]: ...


class ImageSizeRangeMessage(AnyMessage, Protocol):
    """`ImageFeatureType.ImageSizeRange`."""

    @property
    def widthRange(self) -> SizeRangeMessage: ...  # noqa: N802
    @property
    def heightRange(self) -> SizeRangeMessage: ...  # noqa: N802


class ImageFeatureMessage(AnyMessage, Protocol):
    """`ImageFeatureType`."""

    width: int
    height: int
    colorSpace: int  # noqa: N815

    @property
    def enumeratedSizes(self) -> EnumeratedImageSizesMessage: ...  # noqa: N802
    @property
    def imageSizeRange(self) -> ImageSizeRangeMessage: ...  # noqa: N802
    def WhichOneof(self, oneof_group: str) -> Literal["enumeratedSizes", "imageSizeRange"] | None: ...  # noqa: N802


class DictionaryFeatureMessage(AnyMessage, Protocol):
    """`DictionaryFeatureType`."""

    def WhichOneof(self, oneof_group: str) -> Literal["int64KeyType", "stringKeyType"] | None: ...  # noqa: N802


class SequenceFeatureMessage(AnyMessage, Protocol):
    """`SequenceFeatureType`."""

    @property
    def sizeRange(self) -> SizeRangeMessage: ...  # noqa: N802
    def WhichOneof(self, oneof_group: str) -> Literal["int64Type", "stringType"] | None: ...  # noqa: N802


class StateFeatureMessage(AnyMessage, Protocol):
    """`StateFeatureType`."""

    @property
    def arrayType(self) -> ArrayFeatureMessage: ...  # noqa: N802


FeatureTypeKind = Literal[
    "int64Type",
    "doubleType",
    "stringType",
    "imageType",
    "multiArrayType",
    "dictionaryType",
    "sequenceType",
    "stateType",
]


class FeatureTypeMessage(AnyMessage, Protocol):
    """`FeatureType`."""

    isOptional: bool  # noqa: N815

    @property
    def imageType(self) -> ImageFeatureMessage: ...  # noqa: N802
    @property
    def multiArrayType(self) -> ArrayFeatureMessage: ...  # noqa: N802
    @property
    def dictionaryType(self) -> DictionaryFeatureMessage: ...  # noqa: N802
    @property
    def sequenceType(self) -> SequenceFeatureMessage: ...  # noqa: N802
    @property
    def stateType(self) -> StateFeatureMessage: ...  # noqa: N802
    def WhichOneof(self, oneof_group: str) -> FeatureTypeKind | None: ...  # noqa: N802


class FeatureMessage(AnyMessage, Protocol):
    """`FeatureDescription`."""

    name: str
    shortDescription: str  # noqa: N815

    @property
    def type(self) -> FeatureTypeMessage: ...


class InterfaceMessage(AnyMessage, Protocol):
    """The fields that `FunctionDescription` and `ModelDescription` share."""

    predictedFeatureName: str  # noqa: N815
    predictedProbabilitiesName: str  # noqa: N815

    @property
    def input(self) -> Sequence[FeatureMessage]: ...
    @property
    def output(self) -> Sequence[FeatureMessage]: ...
    @property
    def state(self) -> Sequence[FeatureMessage]: ...


class FunctionDescriptionMessage(InterfaceMessage, Protocol):
    """`FunctionDescription`."""

    name: str


class StringEntryMessage(AnyMessage, Protocol):
    """An entry of `Metadata.userDefined`."""

    key: str
    value: str


class StringEntries(Protocol):
    """Entries of a map from text to text."""

    def __iter__(self) -> Iterator[StringEntryMessage]: ...
    def add(self, *, key: str, value: str) -> StringEntryMessage: ...


class MetadataMessage(AnyMessage, Protocol):
    """`Metadata`."""

    shortDescription: str  # noqa: N815
    versionString: str  # noqa: N815
    author: str
    license: str

    @property
    def userDefined(self) -> StringEntries: ...  # noqa: N802
    def ClearField(self, field_name: str) -> None: ...  # noqa: N802


class DescriptionMessage(InterfaceMessage, Protocol):
    """`ModelDescription`."""

    defaultFunctionName: str  # noqa: N815

    @property
    def functions(self) -> Sequence[FunctionDescriptionMessage]: ...
    @property
    def trainingInput(self) -> Sequence[FeatureMessage]: ...  # noqa: N802
    @property
    def metadata(self) -> MetadataMessage: ...


class ModelMessage(AnyMessage, Protocol):
    """`Model`; of the oneof `Type`, programs and pipelines."""

    specificationVersion: int  # noqa: N815
    isUpdatable: bool  # noqa: N815

    @property
    def description(self) -> DescriptionMessage: ...
    @property
    def mlProgram(self) -> ProgramMessage: ...  # noqa: N802
    @property
    def pipeline(self) -> PipelineMessage: ...
    @property
    def pipelineClassifier(self) -> PipelineHolderMessage: ...  # noqa: N802
    @property
    def pipelineRegressor(self) -> PipelineHolderMessage: ...  # noqa: N802
    def WhichOneof(self, oneof_group: str) -> str | None: ...  # noqa: N802


class PipelineMessage(AnyMessage, Protocol):
    """`Pipeline`."""

    @property
    def models(self) -> Repeated[ModelMessage]: ...


class PipelineHolderMessage(AnyMessage, Protocol):
    """`PipelineClassifier` and `PipelineRegressor`."""

    @property
    def pipeline(self) -> PipelineMessage: ...


class PickTopMessage(AnyMessage, Protocol):
    """How boxes are suppressed: each takes away others, of its own class only or of all."""

    perClass: bool  # noqa: N815


class NonMaximumSuppressionMessage(AnyMessage, Protocol):
    """A model that suppresses boxes: its thresholds, and the names of its inputs and outputs."""

    @property
    def pickTop(self) -> PickTopMessage: ...  # noqa: N802

    iouThreshold: float  # noqa: N815
    confidenceThreshold: float  # noqa: N815
    confidenceInputFeatureName: str  # noqa: N815
    coordinatesInputFeatureName: str  # noqa: N815
    iouThresholdInputFeatureName: str  # noqa: N815
    confidenceThresholdInputFeatureName: str  # noqa: N815
    confidenceOutputFeatureName: str  # noqa: N815
    coordinatesOutputFeatureName: str  # noqa: N815
