"""Operators of the domain `com.microsoft`, which onnxruntime adds to ONNX: what its tools quantize and fuse models to.

Definitions only. Those that onnxruntime has for its own optimizer alone, for training, or for devices, are not here.
"""

from commonir.dialects.onnx.microsoft.attention import (
    Attention,
    GroupQueryAttention,
    MultiHeadAttention,
    QAttention,
    RotaryEmbedding,
)
from commonir.dialects.onnx.microsoft.blocks import GatherBlockQuantized, MatMulNBits
from commonir.dialects.onnx.microsoft.fused import (
    BiasGelu,
    BiasSplitGelu,
    CDist,
    FastGelu,
    FusedConv,
    FusedGemm,
    FusedMatMul,
    Gelu,
    QuickGelu,
    TransposeMatMul,
)
from commonir.dialects.onnx.microsoft.legacy_ops import ExpandDims, GatherND, GridSample, Pad, Range, Trilu, Unique
from commonir.dialects.onnx.microsoft.normalization import (
    EmbedLayerNormalization,
    LayerNormalization,
    SimplifiedLayerNormalization,
    SkipLayerNormalization,
    SkipSimplifiedLayerNormalization,
)
from commonir.dialects.onnx.microsoft.quantized import (
    DequantizeLinear,
    NhwcMaxPool,
    QLinearAdd,
    QLinearAveragePool,
    QLinearConcat,
    QLinearGlobalAveragePool,
    QLinearLeakyRelu,
    QLinearMul,
    QLinearSigmoid,
    QLinearSoftmax,
    QLinearWhere,
    QuantizeLinear,
)
from commonir.dialects.onnx.microsoft.quantized_products import (
    DynamicQuantizeMatMul,
    MatMulInteger16,
    MatMulIntegerToFloat,
    QGemm,
    QLinearConv,
)
from commonir.dialects.onnx.microsoft.recurrent import DynamicQuantizeLSTM

__all__ = [
    "Attention",
    "BiasGelu",
    "BiasSplitGelu",
    "CDist",
    "DequantizeLinear",
    "DynamicQuantizeLSTM",
    "DynamicQuantizeMatMul",
    "EmbedLayerNormalization",
    "ExpandDims",
    "FastGelu",
    "FusedConv",
    "FusedGemm",
    "FusedMatMul",
    "GatherBlockQuantized",
    "GatherND",
    "Gelu",
    "GridSample",
    "GroupQueryAttention",
    "LayerNormalization",
    "MatMulInteger16",
    "MatMulIntegerToFloat",
    "MatMulNBits",
    "MultiHeadAttention",
    "NhwcMaxPool",
    "Pad",
    "QAttention",
    "QGemm",
    "QLinearAdd",
    "QLinearAveragePool",
    "QLinearConcat",
    "QLinearConv",
    "QLinearGlobalAveragePool",
    "QLinearLeakyRelu",
    "QLinearMul",
    "QLinearSigmoid",
    "QLinearSoftmax",
    "QLinearWhere",
    "QuantizeLinear",
    "QuickGelu",
    "Range",
    "RotaryEmbedding",
    "SimplifiedLayerNormalization",
    "SkipLayerNormalization",
    "SkipSimplifiedLayerNormalization",
    "TransposeMatMul",
    "Trilu",
    "Unique",
]
