"""The protobuf messages of Core ML files, declared as data and loaded into a descriptor pool of their own.

There is no generated code: any version of the protobuf runtime will do, and coremltools may be in the same process,
because nothing is registered in the pool that all packages share.

Three things differ from the published declarations, none of them on the wire. A map is a sequence of entries with `key`
and `value`, so that the order of the file and repeated keys stay visible. Enumerations are `int32`, so that values of
later versions stay visible. Messages of other kinds of models than programs and pipelines are plain bytes.

Sources: MIL specification (messages of a program); Model.proto, FeatureTypes.proto and MIL.proto of coremltools 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

if TYPE_CHECKING:
    from google.protobuf.message import Message

PACKAGE = "CoreML.Specification"
MIL = "MILSpec."

# One message a line: `Name field=number:type`; `*` marks a repeated field, `/name` the oneof it belongs to.
_DECLARATIONS = """
Model specificationVersion=1:int32 description=2:ModelDescription isUpdatable=10:bool
  pipelineClassifier=200:PipelineClassifier/Type pipelineRegressor=201:PipelineRegressor/Type pipeline=202:Pipeline/Type
  glmRegressor=300:bytes/Type supportVectorRegressor=301:bytes/Type treeEnsembleRegressor=302:bytes/Type
  neuralNetworkRegressor=303:bytes/Type bayesianProbitRegressor=304:bytes/Type glmClassifier=400:bytes/Type
  supportVectorClassifier=401:bytes/Type treeEnsembleClassifier=402:bytes/Type neuralNetworkClassifier=403:bytes/Type
  kNearestNeighborsClassifier=404:bytes/Type neuralNetwork=500:bytes/Type itemSimilarityRecommender=501:bytes/Type
  mlProgram=502:MILSpec.Program/Type customModel=555:bytes/Type linkedModel=556:bytes/Type
  classConfidenceThresholding=560:bytes/Type oneHotEncoder=600:bytes/Type imputer=601:bytes/Type
  featureVectorizer=602:bytes/Type dictVectorizer=603:bytes/Type scaler=604:bytes/Type categoricalMapping=606:bytes/Type
  normalizer=607:bytes/Type arrayFeatureExtractor=609:bytes/Type nonMaximumSuppression=610:NonMaximumSuppression/Type
  identity=900:bytes/Type textClassifier=2000:bytes/Type wordTagger=2001:bytes/Type visionFeaturePrint=2002:bytes/Type
  soundAnalysisPreprocessing=2003:bytes/Type gazetteer=2004:bytes/Type wordEmbedding=2005:bytes/Type
  audioFeaturePrint=2006:bytes/Type serializedModel=3000:SerializedModel/Type
ModelDescription input=1:*FeatureDescription output=10:*FeatureDescription predictedFeatureName=11:string
  predictedProbabilitiesName=12:string state=13:*FeatureDescription functions=20:*FunctionDescription
  defaultFunctionName=21:string trainingInput=50:*FeatureDescription metadata=100:Metadata
FunctionDescription name=1:string input=2:*FeatureDescription output=3:*FeatureDescription predictedFeatureName=4:string
  predictedProbabilitiesName=5:string state=6:*FeatureDescription
FeatureDescription name=1:string shortDescription=2:string type=3:FeatureType
Metadata shortDescription=1:string versionString=2:string author=3:string license=4:string userDefined=100:*StringEntry
StringEntry key=1:string value=2:string
Pipeline models=1:*Model names=2:*string
PipelineClassifier pipeline=1:Pipeline
PipelineRegressor pipeline=1:Pipeline
SerializedModel identifier=1:string model=2:bytes
FeatureType int64Type=1:Int64FeatureType/Type doubleType=2:DoubleFeatureType/Type stringType=3:StringFeatureType/Type
  imageType=4:ImageFeatureType/Type multiArrayType=5:ArrayFeatureType/Type dictionaryType=6:DictionaryFeatureType/Type
  sequenceType=7:SequenceFeatureType/Type stateType=8:StateFeatureType/Type isOptional=1000:bool
Int64FeatureType
DoubleFeatureType
StringFeatureType
ArrayFeatureType shape=1:*int64 dataType=2:int32 enumeratedShapes=21:EnumeratedShapes/ShapeFlexibility
  shapeRange=31:ShapeRange/ShapeFlexibility intDefaultValue=41:int32/defaultOptionalValue
  floatDefaultValue=51:float/defaultOptionalValue doubleDefaultValue=61:double/defaultOptionalValue
EnumeratedShapes shapes=1:*FeatureShape
FeatureShape shape=1:*int64
ShapeRange sizeRanges=1:*SizeRange
SizeRange lowerBound=1:uint64 upperBound=2:int64
ImageFeatureType width=1:int64 height=2:int64 colorSpace=3:int32 enumeratedSizes=21:EnumeratedImageSizes/SizeFlexibility
  imageSizeRange=31:ImageSizeRange/SizeFlexibility
EnumeratedImageSizes sizes=1:*ImageSize
ImageSize width=1:uint64 height=2:uint64
ImageSizeRange widthRange=1:SizeRange heightRange=2:SizeRange
DictionaryFeatureType int64KeyType=1:Int64FeatureType/KeyType stringKeyType=2:StringFeatureType/KeyType
SequenceFeatureType int64Type=1:Int64FeatureType/Type stringType=3:StringFeatureType/Type sizeRange=101:SizeRange
StateFeatureType arrayType=1:ArrayFeatureType/Type
NonMaximumSuppression pickTop=1:PickTop/SuppressionMethod stringClassLabels=100:StringVector/ClassLabels
  int64ClassLabels=101:Int64Vector/ClassLabels iouThreshold=110:double confidenceThreshold=111:double
  confidenceInputFeatureName=200:string coordinatesInputFeatureName=201:string iouThresholdInputFeatureName=202:string
  confidenceThresholdInputFeatureName=203:string confidenceOutputFeatureName=210:string
  coordinatesOutputFeatureName=211:string
PickTop perClass=1:bool
StringVector vector=1:*string
Int64Vector vector=1:*int64
MILSpec.Program version=1:int64 functions=2:*MILSpec.FunctionEntry docString=3:string attributes=4:*MILSpec.ValueEntry
MILSpec.FunctionEntry key=1:string value=2:MILSpec.Function
MILSpec.Function inputs=1:*MILSpec.NamedValueType opset=2:string block_specializations=3:*MILSpec.BlockEntry
  attributes=4:*MILSpec.ValueEntry
MILSpec.BlockEntry key=1:string value=2:MILSpec.Block
MILSpec.Block inputs=1:*MILSpec.NamedValueType outputs=2:*string operations=3:*MILSpec.Operation
  attributes=4:*MILSpec.ValueEntry
MILSpec.Operation type=1:string inputs=2:*MILSpec.ArgumentEntry outputs=3:*MILSpec.NamedValueType
  blocks=4:*MILSpec.Block attributes=5:*MILSpec.ValueEntry
MILSpec.ArgumentEntry key=1:string value=2:MILSpec.Argument
MILSpec.Argument arguments=1:*MILSpec.Binding
MILSpec.Binding name=1:string/binding value=2:MILSpec.Value/binding
MILSpec.NamedValueType name=1:string type=2:MILSpec.ValueType
MILSpec.ValueType tensorType=1:MILSpec.TensorType/type listType=2:MILSpec.ListType/type
  tupleType=3:MILSpec.TupleType/type dictionaryType=4:MILSpec.DictionaryType/type stateType=5:MILSpec.StateType/type
MILSpec.TensorType dataType=1:int32 rank=2:int64 dimensions=3:*MILSpec.Dimension attributes=4:*MILSpec.ValueEntry
MILSpec.TupleType types=1:*MILSpec.ValueType
MILSpec.ListType type=1:MILSpec.ValueType length=2:MILSpec.Dimension
MILSpec.DictionaryType keyType=1:MILSpec.ValueType valueType=2:MILSpec.ValueType
MILSpec.StateType wrappedType=1:MILSpec.ValueType
MILSpec.Dimension constant=1:MILSpec.ConstantDimension/dimension unknown=2:MILSpec.UnknownDimension/dimension
MILSpec.ConstantDimension size=1:uint64
MILSpec.UnknownDimension variadic=1:bool
MILSpec.ValueEntry key=1:string value=2:MILSpec.Value
MILSpec.Value docString=1:string type=2:MILSpec.ValueType immediateValue=3:MILSpec.ImmediateValue/value
  blobFileValue=5:MILSpec.BlobFileValue/value
MILSpec.ImmediateValue tensor=1:MILSpec.TensorValue/value tuple=2:MILSpec.TupleValue/value
  list=3:MILSpec.ListValue/value dictionary=4:MILSpec.DictionaryValue/value
MILSpec.BlobFileValue fileName=1:string offset=2:uint64
MILSpec.TensorValue floats=1:MILSpec.RepeatedFloats/value ints=2:MILSpec.RepeatedInts/value
  bools=3:MILSpec.RepeatedBools/value strings=4:MILSpec.RepeatedStrings/value longInts=5:MILSpec.RepeatedLongInts/value
  doubles=6:MILSpec.RepeatedDoubles/value bytes=7:MILSpec.RepeatedBytes/value
MILSpec.RepeatedFloats values=1:*float
MILSpec.RepeatedDoubles values=1:*double
MILSpec.RepeatedInts values=1:*int32
MILSpec.RepeatedLongInts values=1:*int64
MILSpec.RepeatedBools values=1:*bool
MILSpec.RepeatedStrings values=1:*string
MILSpec.RepeatedBytes values=1:bytes
MILSpec.TupleValue values=1:*MILSpec.Value
MILSpec.ListValue values=1:*MILSpec.Value
MILSpec.DictionaryValue values=1:*MILSpec.KeyValuePair
MILSpec.KeyValuePair key=1:MILSpec.Value value=2:MILSpec.Value
"""

_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "bool": _Field.TYPE_BOOL,
    "bytes": _Field.TYPE_BYTES,
    "double": _Field.TYPE_DOUBLE,
    "float": _Field.TYPE_FLOAT,
    "int32": _Field.TYPE_INT32,
    "int64": _Field.TYPE_INT64,
    "string": _Field.TYPE_STRING,
    "uint64": _Field.TYPE_UINT64,
}


def message_class(name: str) -> type[Message]:
    """The class of a message by its name, such as `ModelDescription` or `MILSpec.Program`."""
    return _classes()[f"{PACKAGE}.{name}"]


@cache
def _classes() -> dict[str, type[Message]]:
    pool = descriptor_pool.DescriptorPool()
    files = {PACKAGE: _file("Model.proto", PACKAGE), f"{PACKAGE}.MILSpec": _file("MIL.proto", f"{PACKAGE}.MILSpec")}
    files[PACKAGE].dependency.append("MIL.proto")
    for line in _DECLARATIONS.replace("\n  ", " ").strip().split("\n"):
        name, *fields = line.split()
        package, _, bare = f"{PACKAGE}.{name}".rpartition(".")
        _declare(files[package].message_type.add(name=bare), fields)
    for package in reversed(files):
        pool.AddSerializedFile(files[package].SerializeToString())
    return message_factory.GetMessageClassesForFiles(["Model.proto", "MIL.proto"], pool)


def _file(name: str, package: str) -> descriptor_pb2.FileDescriptorProto:
    return descriptor_pb2.FileDescriptorProto(name=name, package=package, syntax="proto3")


def _declare(message: descriptor_pb2.DescriptorProto, fields: Sequence[str]) -> None:
    groups: dict[str, int] = {}
    for text in fields:
        name, _, rest = text.partition("=")
        number, _, kind = rest.partition(":")
        kind, _, group = kind.partition("/")
        bare = kind.removeprefix("*")
        field = message.field.add(name=name, number=int(number))
        field.label = _Field.LABEL_OPTIONAL if bare == kind else _Field.LABEL_REPEATED
        if bare in _SCALARS:
            field.type = _SCALARS[bare]
        else:
            field.type = _Field.TYPE_MESSAGE
            field.type_name = f".{PACKAGE}.{bare}"
        if group:
            if group not in groups:
                groups[group] = len(message.oneof_decl)
                message.oneof_decl.add(name=group)
            field.oneof_index = groups[group]
