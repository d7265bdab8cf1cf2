"""Operators of the domain `com.microsoft`, which onnxruntime adds to ONNX: its tools produce them when they quantize
and fuse models.

Definitions only. Those that onnxruntime has for its own optimizer alone, for training, or for devices, are not here.
"""

from commonir.base.lazy import import_members

import_members(
    globals(),
    {
        "attention": "Attention GroupQueryAttention MultiHeadAttention QAttention RotaryEmbedding",
        "blocks": "GatherBlockQuantized MatMulBnb4 MatMulNBits",
        "experimental": "Affine Crop DynamicSlice ImageScaler ParametricSoftplus Scale ScaledTanh",
        "fused": "BiasGelu BiasSplitGelu CDist FastGelu FusedConv FusedGemm FusedMatMul Gelu QuickGelu TransposeMatMul",
        "legacy_ops": "ExpandDims GatherND GridSample Pad Range Trilu Unique",
        "matrices": "Inverse",
        "normalization": (
            "EmbedLayerNormalization LayerNormalization SimplifiedLayerNormalization SkipLayerNormalization "
            "SkipSimplifiedLayerNormalization"
        ),
        "quantized": (
            "DequantizeLinear NhwcMaxPool QLinearAdd QLinearAveragePool QLinearConcat QLinearGlobalAveragePool "
            "QLinearLeakyRelu QLinearMul QLinearSigmoid QLinearSoftmax QLinearWhere QuantizeLinear"
        ),
        "quantized_products": "DynamicQuantizeMatMul MatMulInteger16 MatMulIntegerToFloat QGemm QLinearConv",
        "recurrent": "DynamicQuantizeLSTM",
    },
)
