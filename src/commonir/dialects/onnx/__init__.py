"""The onnx dialect: the operators of ONNX, and the structure of a model.

A class is an operator with one meaning, in all the versions that differ in element types or fields. Where an older
version has another meaning, it is a class of its own whose name ends with a number (`Softmax1`). Fields have the names
of the standard. Definitions only.
"""

from commonir.base.lazy import import_members
from commonir.dialects.onnx import microsoft
from commonir.dialects.onnx.program import ONNXRUNTIME_VERSION, version_in, version_of
from commonir.ods import Dialect, definitions_in
from commonir.ods.definition import ATTRIBUTE_REFERENCES
from commonir.ods.patterns import version_number

import_members(
    globals(),
    {
        "activation": (
            "Celu Elu Gelu Hardmax Hardmax1 HardSigmoid HardSwish LeakyRelu LogSoftmax LogSoftmax1 Mish PRelu PRelu6 "
            "Relu Selu Shrink Sigmoid Softmax Softmax1 Softplus Softsign SwiGLU Swish ThresholdedRelu"
        ),
        "arithmetic": ("Add BitShift BitwiseAnd BitwiseOr BitwiseXor Clip Div Max Mean Min Mod Mul Pow Sub Sum"),
        "attention": "Attention FlexAttention LinearAttention RotaryEmbedding",
        "base": "ANY OnnxOp is_deprecated",
        "cast": "BitCast Cast CastLike",
        "comparison": "And Equal Greater GreaterOrEqual Less LessOrEqual Or Where Xor",
        "constants": "Constant ConstantOfShape EyeLike Range",
        "contraction": "Einsum Gemm MatMul",
        "control": "If Loop Scan Scan8 SequenceMap",
        "convolution": "CausalConvWithState Col2Im Conv ConvTranspose DeformConv",
        "elementwise": (
            "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Cos Cosh Erf Exp Floor IsInf IsNaN Log Neg Not "
            "Reciprocal Round Sign Sin Sinh Sqrt Tan Tanh"
        ),
        "functions": (
            "Call FunctionInstance LocalFunction function_path function_symbol infer_results with_actual_attributes"
        ),
        "image": "ImageDecoder",
        "indexing": (
            "Compress CumProd CumSum Gather GatherElements GatherND NonZero OneHot ReverseSequence Scatter "
            "ScatterElements ScatterND TensorScatter TopK Trilu Unique"
        ),
        "losses": "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
        "matrices": "Det",
        "ml.classifiers": "LinearClassifier LinearRegressor SVMClassifier SVMRegressor",
        "ml.features": (
            "ArrayFeatureExtractor Binarizer CategoryMapper FeatureVectorizer Imputer LabelEncoder LabelEncoder1 "
            "Normalizer OneHotEncoder Scaler"
        ),
        "ml.maps": "CastMap DictVectorizer ZipMap",
        "ml.trees": "TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor",
        "normalization": (
            "LRN BatchNormalization BatchNormalization6 BatchNormalization9 "
            "GroupNormalization GroupNormalization18 InstanceNormalization LayerNormalization LpNormalization "
            "MeanVarianceNormalization RMSNormalization"
        ),
        "pooling": "AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxUnpool",
        "program": (
            "DEVICE_CONFIGURATIONS DOC_KEY DOC_STRING DOMAIN FREE_INITIALIZERS GRAPH HIDING_RESULTS IMAGE_KEY "
            "IR_VERSION LABELS_KEY METADATA MODEL_VERSION NODE_NAME ONNXRUNTIME_VERSION OPSET_FORMS PARTLY_DEFINED "
            "PRODUCER_NAME PRODUCER_VERSION STATE_KEY TYPED "
            "QUANTIZATION_ANNOTATION STORAGE TRAILING_NAMES TYPE_FORMS UNNAMED_GRAPH UNNAMED_RESULTS Custom Graph "
            "Initializer Return SparseInitializer added_name ir_version_of operation_name operator_of path_in returned "
            "shown_name version_in version_of"
        ),
        "quantization": "DequantizeLinear DynamicQuantizeLinear QuantizeLinear",
        "quantized_products": "ConvInteger MatMulInteger QLinearConv QLinearMatMul",
        "random": (
            "Bernoulli Dropout Dropout6 Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike"
        ),
        "recurrent": "GRU LSTM RNN",
        "reduction": (
            "ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
            "ReduceSum ReduceSumSquare"
        ),
        "resize": "Resize Resize10",
        "sampling": "AffineGrid GridSample NonMaxSuppression",
        "sequence": (
            "ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt "
            "SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SplitToSequence"
        ),
        "shape": (
            "CenterCropPad Concat DepthToSpace Expand Flatten Identity Pad Reshape Shape Size Slice "
            "SpaceToDepth Split Squeeze Tile Transpose Unsqueeze"
        ),
        "signal": "DFT STFT BlackmanWindow HammingWindow HannWindow MelWeightMatrix",
        "strings": "RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer",
        "training": "Adagrad Adam Gradient Momentum",
        "upsample": "Upsample",
        "vision": "MaxRoiPool RoiAlign RoiAlign10",
    },
)

OPSETS: tuple[int, ...] = tuple(range(1, 29))
"""Versions of the default operator set, oldest first."""
OLDEST_OPSET: int = 7
"""The oldest version of which all definitions are here."""
NEWEST_OPSET: int = 28
"""The newest version of which all definitions are here."""
_OTHER_VERSIONS = (*(f"ml{n}" for n in range(1, 6)), "preview1", "training1", "microsoft1", ONNXRUNTIME_VERSION)


DIALECT: Dialect = Dialect(
    "onnx",
    (*definitions_in(globals(), "onnx"), *definitions_in(vars(microsoft), "onnx")),
    summary="Operators of ONNX, and the structure of its models.",
    keeps_names=True,
    rules="commonir.dialects.onnx.rules:RULES",
    versions=(*map(version_of, OPSETS), *_OTHER_VERSIONS),
    meaningful=[ATTRIBUTE_REFERENCES],
)


def newest_version(domain: str) -> int:
    """The newest version of the operator set of a domain of the format."""
    prefix = version_in(domain, 0)[:-1]
    return max(version_number(v) for v in DIALECT.versions if v.startswith(prefix))


def first_version(name: str) -> int:
    """The version of its operator set that an operator came with; 0 for one that is not known."""
    result = DIALECT.operations.get(name, ())
    return min([version_number(d.since) for d in result], default=0)
