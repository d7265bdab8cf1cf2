"""The tosa dialect of MLIR: tensor operators with exact integer arithmetic.

Source: MLIR tosa dialect, LLVM 22; TOSA specification 1.0.
"""

from __future__ import annotations

from commonir.ods.dialect import Dialect, LazyDefinitions

_MEMBERS = LazyDefinitions(
    __name__,
    {
        "control": "CondIf Custom Variable VariableRead VariableWrite WhileLoop Yield",
        "elementwise": (
            "Abs Add ArithmeticRightShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast Ceil Clamp Clz Cos Equal "
            "Erf Exp Floor Greater GreaterEqual Identity IntDiv Log LogicalAnd LogicalLeftShift LogicalNot LogicalOr "
            "LogicalRightShift LogicalXor Maximum Minimum Mul Negate Pow Reciprocal Rsqrt Select Sigmoid Sin Sub Tanh"
        ),
        "layout": "Concat Const Gather Pad Reshape Reverse Scatter Slice Tile Transpose",
        "quantization": "ApplyScale CastFromBlockScaled CastToBlockScaled MatMulTBlockScaled Rescale Table",
        "reduction": "ArgMax ReduceAll ReduceAny ReduceMax ReduceMin ReduceProduct ReduceSum",
        "sampling": "Resize",
        "shapes": (
            "AddShape ConcatShape ConstShape DimOp DivCeilShape DivFloorShape Exp2Shape Log2CeilShape Log2FloorShape "
            "MaxShape MinShape ModShape MulShape SliceShape SubShape"
        ),
        "windows": "AvgPool2D Conv2D Conv3D DepthwiseConv2D FFT2d MatMul MaxPool2D RFFT2d TransposeConv2D",
    },
)


def __getattr__(name: str) -> object:
    result = globals()[name] = _MEMBERS.member(name)
    return result


DIALECT: Dialect = Dialect(
    "tosa",
    _MEMBERS,
    summary="Tensor operators with exact integer arithmetic.",
    constants="tosa.const",
    rules="commonir.dialects.mlir.tosa.rules:RULES",
    own="commonir.dialects.mlir.tosa.base:OWN",
)
