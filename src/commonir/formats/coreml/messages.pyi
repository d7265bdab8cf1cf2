# Written by `python -m tests.message_stubs` from the declarations in messages.py.

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Protocol, Self, TypeVar

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

T = TypeVar("T")
PACKAGE: str
MIL: str

def message_class(name: str) -> type[Message]: ...

class Repeated(Sequence[T]):
    def append(self, value: T) -> None: ...
    def extend(self, values: Iterable[T]) -> None: ...
    def add(self, **fields: Any) -> T: ...

class AnyMessage(Protocol):
    DESCRIPTOR: Descriptor
    def HasField(self, field_name: str) -> bool: ...
    def ClearField(self, field_name: str) -> None: ...
    def SerializeToString(self) -> bytes: ...
    def MergeFromString(self, serialized: bytes) -> int: ...
    def SetInParent(self) -> None: ...
    def CopyFrom(self, other: Self) -> None: ...

class NumbersMessage(AnyMessage, Protocol):
    """RepeatedFloats, RepeatedInts and the like."""

    @property
    def values(self) -> Repeated[int | float | bool]: ...

class ProgramMessage(AnyMessage, Protocol):
    version: int
    @property
    def functions(self) -> Repeated[FunctionEntryMessage]: ...
    docString: str
    @property
    def attributes(self) -> Repeated[ValueEntryMessage]: ...

class FunctionEntryMessage(AnyMessage, Protocol):
    key: str
    @property
    def value(self) -> FunctionMessage: ...

class FunctionMessage(AnyMessage, Protocol):
    @property
    def inputs(self) -> Repeated[NamedValueTypeMessage]: ...
    opset: str
    @property
    def block_specializations(self) -> Repeated[BlockEntryMessage]: ...
    @property
    def attributes(self) -> Repeated[ValueEntryMessage]: ...

class BlockEntryMessage(AnyMessage, Protocol):
    key: str
    @property
    def value(self) -> BlockMessage: ...

class BlockMessage(AnyMessage, Protocol):
    @property
    def inputs(self) -> Repeated[NamedValueTypeMessage]: ...
    @property
    def outputs(self) -> Repeated[str]: ...
    @property
    def operations(self) -> Repeated[OperationMessage]: ...
    @property
    def attributes(self) -> Repeated[ValueEntryMessage]: ...

class OperationMessage(AnyMessage, Protocol):
    type: str
    @property
    def inputs(self) -> Repeated[ArgumentEntryMessage]: ...
    @property
    def outputs(self) -> Repeated[NamedValueTypeMessage]: ...
    @property
    def blocks(self) -> Repeated[BlockMessage]: ...
    @property
    def attributes(self) -> Repeated[ValueEntryMessage]: ...

class ArgumentEntryMessage(AnyMessage, Protocol):
    key: str
    @property
    def value(self) -> ArgumentMessage: ...

class ArgumentMessage(AnyMessage, Protocol):
    @property
    def arguments(self) -> Repeated[BindingMessage]: ...

class BindingMessage(AnyMessage, Protocol):
    name: str
    @property
    def value(self) -> ValueMessage: ...
    def WhichOneof(self, oneof_group: str) -> BindingField | None: ...

BindingField = Literal["name", "value"]

class NamedValueTypeMessage(AnyMessage, Protocol):
    name: str
    @property
    def type(self) -> ValueTypeMessage: ...

class ValueTypeMessage(AnyMessage, Protocol):
    @property
    def tensorType(self) -> TensorTypeMessage: ...
    @property
    def listType(self) -> ListTypeMessage: ...
    @property
    def tupleType(self) -> TupleTypeMessage: ...
    @property
    def dictionaryType(self) -> DictionaryTypeMessage: ...
    @property
    def stateType(self) -> StateTypeMessage: ...
    def WhichOneof(self, oneof_group: str) -> ValueTypeField | None: ...

ValueTypeField = Literal["tensorType", "listType", "tupleType", "dictionaryType", "stateType"]

class TensorTypeMessage(AnyMessage, Protocol):
    dataType: int
    rank: int
    @property
    def dimensions(self) -> Repeated[DimensionMessage]: ...
    @property
    def attributes(self) -> Repeated[ValueEntryMessage]: ...

class TupleTypeMessage(AnyMessage, Protocol):
    @property
    def types(self) -> Repeated[ValueTypeMessage]: ...

class ListTypeMessage(AnyMessage, Protocol):
    @property
    def type(self) -> ValueTypeMessage: ...
    @property
    def length(self) -> DimensionMessage: ...

class DictionaryTypeMessage(AnyMessage, Protocol):
    @property
    def keyType(self) -> ValueTypeMessage: ...
    @property
    def valueType(self) -> ValueTypeMessage: ...

class StateTypeMessage(AnyMessage, Protocol):
    @property
    def wrappedType(self) -> ValueTypeMessage: ...

class DimensionMessage(AnyMessage, Protocol):
    @property
    def constant(self) -> ConstantDimensionMessage: ...
    @property
    def unknown(self) -> UnknownDimensionMessage: ...
    def WhichOneof(self, oneof_group: str) -> DimensionField | None: ...

DimensionField = Literal["constant", "unknown"]

class ConstantDimensionMessage(AnyMessage, Protocol):
    size: int

class UnknownDimensionMessage(AnyMessage, Protocol):
    variadic: bool

class ValueEntryMessage(AnyMessage, Protocol):
    key: str
    @property
    def value(self) -> ValueMessage: ...

class ValueMessage(AnyMessage, Protocol):
    docString: str
    @property
    def type(self) -> ValueTypeMessage: ...
    @property
    def immediateValue(self) -> ImmediateValueMessage: ...
    @property
    def blobFileValue(self) -> BlobFileValueMessage: ...
    def WhichOneof(self, oneof_group: str) -> ValueField | None: ...

ValueField = Literal["immediateValue", "blobFileValue"]

class ImmediateValueMessage(AnyMessage, Protocol):
    @property
    def tensor(self) -> TensorValueMessage: ...
    @property
    def tuple(self) -> TupleValueMessage: ...
    @property
    def list(self) -> ListValueMessage: ...
    @property
    def dictionary(self) -> DictionaryValueMessage: ...
    def WhichOneof(self, oneof_group: str) -> ImmediateValueField | None: ...

ImmediateValueField = Literal["tensor", "tuple", "list", "dictionary"]

class BlobFileValueMessage(AnyMessage, Protocol):
    fileName: str
    offset: int

class TensorValueMessage(AnyMessage, Protocol):
    @property
    def floats(self) -> RepeatedFloatsMessage: ...
    @property
    def ints(self) -> RepeatedIntsMessage: ...
    @property
    def bools(self) -> RepeatedBoolsMessage: ...
    @property
    def strings(self) -> RepeatedStringsMessage: ...
    @property
    def longInts(self) -> RepeatedLongIntsMessage: ...
    @property
    def doubles(self) -> RepeatedDoublesMessage: ...
    @property
    def bytes(self) -> RepeatedBytesMessage: ...
    def WhichOneof(self, oneof_group: str) -> TensorValueField | None: ...

TensorValueField = Literal["floats", "ints", "bools", "strings", "longInts", "doubles", "bytes"]

class RepeatedFloatsMessage(AnyMessage, Protocol):
    @property
    def values(self) -> Repeated[float]: ...

class RepeatedDoublesMessage(AnyMessage, Protocol):
    @property
    def values(self) -> Repeated[float]: ...

class RepeatedIntsMessage(AnyMessage, Protocol):
    @property
    def values(self) -> Repeated[int]: ...

class RepeatedLongIntsMessage(AnyMessage, Protocol):
    @property
    def values(self) -> Repeated[int]: ...

class RepeatedBoolsMessage(AnyMessage, Protocol):
    @property
    def values(self) -> Repeated[bool]: ...

class RepeatedStringsMessage(AnyMessage, Protocol):
    @property
    def values(self) -> Repeated[str]: ...

class RepeatedBytesMessage(AnyMessage, Protocol):
    values: bytes

class TupleValueMessage(AnyMessage, Protocol):
    @property
    def values(self) -> Repeated[ValueMessage]: ...

class ListValueMessage(AnyMessage, Protocol):
    @property
    def values(self) -> Repeated[ValueMessage]: ...

class DictionaryValueMessage(AnyMessage, Protocol):
    @property
    def values(self) -> Repeated[KeyValuePairMessage]: ...

class KeyValuePairMessage(AnyMessage, Protocol):
    @property
    def key(self) -> ValueMessage: ...
    @property
    def value(self) -> ValueMessage: ...

class ModelMessage(AnyMessage, Protocol):
    specificationVersion: int
    @property
    def description(self) -> ModelDescriptionMessage: ...
    isUpdatable: bool
    @property
    def pipelineClassifier(self) -> PipelineClassifierMessage: ...
    @property
    def pipelineRegressor(self) -> PipelineRegressorMessage: ...
    @property
    def pipeline(self) -> PipelineMessage: ...
    glmRegressor: bytes
    supportVectorRegressor: bytes
    treeEnsembleRegressor: bytes
    neuralNetworkRegressor: bytes
    bayesianProbitRegressor: bytes
    glmClassifier: bytes
    supportVectorClassifier: bytes
    treeEnsembleClassifier: bytes
    neuralNetworkClassifier: bytes
    kNearestNeighborsClassifier: bytes
    neuralNetwork: bytes
    itemSimilarityRecommender: bytes
    @property
    def mlProgram(self) -> ProgramMessage: ...
    customModel: bytes
    linkedModel: bytes
    classConfidenceThresholding: bytes
    oneHotEncoder: bytes
    imputer: bytes
    featureVectorizer: bytes
    dictVectorizer: bytes
    scaler: bytes
    categoricalMapping: bytes
    normalizer: bytes
    arrayFeatureExtractor: bytes
    @property
    def nonMaximumSuppression(self) -> NonMaximumSuppressionMessage: ...
    identity: bytes
    textClassifier: bytes
    wordTagger: bytes
    visionFeaturePrint: bytes
    soundAnalysisPreprocessing: bytes
    gazetteer: bytes
    wordEmbedding: bytes
    audioFeaturePrint: bytes
    @property
    def serializedModel(self) -> SerializedModelMessage: ...
    def WhichOneof(self, oneof_group: str) -> ModelField | None: ...

ModelField = Literal["pipelineClassifier", "pipelineRegressor", "pipeline", "glmRegressor", "supportVectorRegressor", "treeEnsembleRegressor", "neuralNetworkRegressor", "bayesianProbitRegressor", "glmClassifier", "supportVectorClassifier", "treeEnsembleClassifier", "neuralNetworkClassifier", "kNearestNeighborsClassifier", "neuralNetwork", "itemSimilarityRecommender", "mlProgram", "customModel", "linkedModel", "classConfidenceThresholding", "oneHotEncoder", "imputer", "featureVectorizer", "dictVectorizer", "scaler", "categoricalMapping", "normalizer", "arrayFeatureExtractor", "nonMaximumSuppression", "identity", "textClassifier", "wordTagger", "visionFeaturePrint", "soundAnalysisPreprocessing", "gazetteer", "wordEmbedding", "audioFeaturePrint", "serializedModel"]

class ModelDescriptionMessage(AnyMessage, Protocol):
    @property
    def input(self) -> Repeated[FeatureDescriptionMessage]: ...
    @property
    def output(self) -> Repeated[FeatureDescriptionMessage]: ...
    predictedFeatureName: str
    predictedProbabilitiesName: str
    @property
    def state(self) -> Repeated[FeatureDescriptionMessage]: ...
    @property
    def functions(self) -> Repeated[FunctionDescriptionMessage]: ...
    defaultFunctionName: str
    @property
    def trainingInput(self) -> Repeated[FeatureDescriptionMessage]: ...
    @property
    def metadata(self) -> MetadataMessage: ...

class FunctionDescriptionMessage(AnyMessage, Protocol):
    name: str
    @property
    def input(self) -> Repeated[FeatureDescriptionMessage]: ...
    @property
    def output(self) -> Repeated[FeatureDescriptionMessage]: ...
    predictedFeatureName: str
    predictedProbabilitiesName: str
    @property
    def state(self) -> Repeated[FeatureDescriptionMessage]: ...

class FeatureDescriptionMessage(AnyMessage, Protocol):
    name: str
    shortDescription: str
    @property
    def type(self) -> FeatureTypeMessage: ...

class MetadataMessage(AnyMessage, Protocol):
    shortDescription: str
    versionString: str
    author: str
    license: str
    @property
    def userDefined(self) -> Repeated[StringEntryMessage]: ...

class StringEntryMessage(AnyMessage, Protocol):
    key: str
    value: str

class PipelineMessage(AnyMessage, Protocol):
    @property
    def models(self) -> Repeated[ModelMessage]: ...
    @property
    def names(self) -> Repeated[str]: ...

class PipelineClassifierMessage(AnyMessage, Protocol):
    @property
    def pipeline(self) -> PipelineMessage: ...

class PipelineRegressorMessage(AnyMessage, Protocol):
    @property
    def pipeline(self) -> PipelineMessage: ...

class SerializedModelMessage(AnyMessage, Protocol):
    identifier: str
    model: bytes

class FeatureTypeMessage(AnyMessage, Protocol):
    @property
    def int64Type(self) -> Int64FeatureTypeMessage: ...
    @property
    def doubleType(self) -> DoubleFeatureTypeMessage: ...
    @property
    def stringType(self) -> StringFeatureTypeMessage: ...
    @property
    def imageType(self) -> ImageFeatureTypeMessage: ...
    @property
    def multiArrayType(self) -> ArrayFeatureTypeMessage: ...
    @property
    def dictionaryType(self) -> DictionaryFeatureTypeMessage: ...
    @property
    def sequenceType(self) -> SequenceFeatureTypeMessage: ...
    @property
    def stateType(self) -> StateFeatureTypeMessage: ...
    isOptional: bool
    def WhichOneof(self, oneof_group: str) -> FeatureTypeField | None: ...

FeatureTypeField = Literal["int64Type", "doubleType", "stringType", "imageType", "multiArrayType", "dictionaryType", "sequenceType", "stateType"]

class Int64FeatureTypeMessage(AnyMessage, Protocol):
    pass

class DoubleFeatureTypeMessage(AnyMessage, Protocol):
    pass

class StringFeatureTypeMessage(AnyMessage, Protocol):
    pass

class ArrayFeatureTypeMessage(AnyMessage, Protocol):
    @property
    def shape(self) -> Repeated[int]: ...
    dataType: int
    @property
    def enumeratedShapes(self) -> EnumeratedShapesMessage: ...
    @property
    def shapeRange(self) -> ShapeRangeMessage: ...
    intDefaultValue: int
    floatDefaultValue: float
    doubleDefaultValue: float
    def WhichOneof(self, oneof_group: str) -> ArrayFeatureTypeField | None: ...

ArrayFeatureTypeField = Literal["enumeratedShapes", "shapeRange", "intDefaultValue", "floatDefaultValue", "doubleDefaultValue"]

class EnumeratedShapesMessage(AnyMessage, Protocol):
    @property
    def shapes(self) -> Repeated[FeatureShapeMessage]: ...

class FeatureShapeMessage(AnyMessage, Protocol):
    @property
    def shape(self) -> Repeated[int]: ...

class ShapeRangeMessage(AnyMessage, Protocol):
    @property
    def sizeRanges(self) -> Repeated[SizeRangeMessage]: ...

class SizeRangeMessage(AnyMessage, Protocol):
    lowerBound: int
    upperBound: int

class ImageFeatureTypeMessage(AnyMessage, Protocol):
    width: int
    height: int
    colorSpace: int
    @property
    def enumeratedSizes(self) -> EnumeratedImageSizesMessage: ...
    @property
    def imageSizeRange(self) -> ImageSizeRangeMessage: ...
    def WhichOneof(self, oneof_group: str) -> ImageFeatureTypeField | None: ...

ImageFeatureTypeField = Literal["enumeratedSizes", "imageSizeRange"]

class EnumeratedImageSizesMessage(AnyMessage, Protocol):
    @property
    def sizes(self) -> Repeated[ImageSizeMessage]: ...

class ImageSizeMessage(AnyMessage, Protocol):
    width: int
    height: int

class ImageSizeRangeMessage(AnyMessage, Protocol):
    @property
    def widthRange(self) -> SizeRangeMessage: ...
    @property
    def heightRange(self) -> SizeRangeMessage: ...

class DictionaryFeatureTypeMessage(AnyMessage, Protocol):
    @property
    def int64KeyType(self) -> Int64FeatureTypeMessage: ...
    @property
    def stringKeyType(self) -> StringFeatureTypeMessage: ...
    def WhichOneof(self, oneof_group: str) -> DictionaryFeatureTypeField | None: ...

DictionaryFeatureTypeField = Literal["int64KeyType", "stringKeyType"]

class SequenceFeatureTypeMessage(AnyMessage, Protocol):
    @property
    def int64Type(self) -> Int64FeatureTypeMessage: ...
    @property
    def stringType(self) -> StringFeatureTypeMessage: ...
    @property
    def sizeRange(self) -> SizeRangeMessage: ...
    def WhichOneof(self, oneof_group: str) -> SequenceFeatureTypeField | None: ...

SequenceFeatureTypeField = Literal["int64Type", "stringType"]

class StateFeatureTypeMessage(AnyMessage, Protocol):
    @property
    def arrayType(self) -> ArrayFeatureTypeMessage: ...
    def WhichOneof(self, oneof_group: str) -> StateFeatureTypeField | None: ...

StateFeatureTypeField = Literal["arrayType"]

class NonMaximumSuppressionMessage(AnyMessage, Protocol):
    @property
    def pickTop(self) -> PickTopMessage: ...
    @property
    def stringClassLabels(self) -> StringVectorMessage: ...
    @property
    def int64ClassLabels(self) -> Int64VectorMessage: ...
    iouThreshold: float
    confidenceThreshold: float
    confidenceInputFeatureName: str
    coordinatesInputFeatureName: str
    iouThresholdInputFeatureName: str
    confidenceThresholdInputFeatureName: str
    confidenceOutputFeatureName: str
    coordinatesOutputFeatureName: str
    def WhichOneof(self, oneof_group: str) -> NonMaximumSuppressionField | None: ...

NonMaximumSuppressionField = Literal["pickTop", "stringClassLabels", "int64ClassLabels"]

class PickTopMessage(AnyMessage, Protocol):
    perClass: bool

class StringVectorMessage(AnyMessage, Protocol):
    @property
    def vector(self) -> Repeated[str]: ...

class Int64VectorMessage(AnyMessage, Protocol):
    @property
    def vector(self) -> Repeated[int]: ...
