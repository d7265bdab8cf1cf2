"""The tosa dialect of MLIR: tensor operators with exact integer arithmetic.

Source: MLIR tosa dialect, LLVM 22; TOSA specification 1.0.
"""

# ruff: noqa: F401
# pyright: reportUnusedImport=false
# The imports tell type checkers, and `LazyDefinitions`, which members the package has.

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.ods.dialect import Dialect, LazyDefinitions

if TYPE_CHECKING:
    from commonir.dialects.mlir.tosa.control import (
        CondIf,
        Custom,
        Variable,
        VariableRead,
        VariableWrite,
        WhileLoop,
        Yield,
    )
    from commonir.dialects.mlir.tosa.elementwise import (
        Abs,
        Add,
        ArithmeticRightShift,
        BitwiseAnd,
        BitwiseNot,
        BitwiseOr,
        BitwiseXor,
        Cast,
        Ceil,
        Clamp,
        Clz,
        Cos,
        Equal,
        Erf,
        Exp,
        Floor,
        Greater,
        GreaterEqual,
        Identity,
        IntDiv,
        Log,
        LogicalAnd,
        LogicalLeftShift,
        LogicalNot,
        LogicalOr,
        LogicalRightShift,
        LogicalXor,
        Maximum,
        Minimum,
        Mul,
        Negate,
        Pow,
        Reciprocal,
        Rsqrt,
        Select,
        Sigmoid,
        Sin,
        Sub,
        Tanh,
    )
    from commonir.dialects.mlir.tosa.layout import (
        Concat,
        Const,
        Gather,
        Pad,
        Reshape,
        Reverse,
        Scatter,
        Slice,
        Tile,
        Transpose,
    )
    from commonir.dialects.mlir.tosa.quantization import (
        ApplyScale,
        CastFromBlockScaled,
        CastToBlockScaled,
        MatMulTBlockScaled,
        Rescale,
        Table,
    )
    from commonir.dialects.mlir.tosa.reduction import (
        ArgMax,
        ReduceAll,
        ReduceAny,
        ReduceMax,
        ReduceMin,
        ReduceProduct,
        ReduceSum,
    )
    from commonir.dialects.mlir.tosa.sampling import Resize
    from commonir.dialects.mlir.tosa.shapes import (
        AddShape,
        ConcatShape,
        ConstShape,
        DimOp,
        DivCeilShape,
        DivFloorShape,
        Exp2Shape,
        Log2CeilShape,
        Log2FloorShape,
        MaxShape,
        MinShape,
        ModShape,
        MulShape,
        SliceShape,
        SubShape,
    )
    from commonir.dialects.mlir.tosa.windows import (
        AvgPool2D,
        Conv2D,
        Conv3D,
        DepthwiseConv2D,
        FFT2d,
        MatMul,
        MaxPool2D,
        RFFT2d,
        TransposeConv2D,
    )
else:

    def __getattr__(name):
        found = globals()[name] = _DEFINITIONS.member(name)
        return found


_DEFINITIONS = LazyDefinitions(__name__)

DIALECT = Dialect(
    "tosa",
    _DEFINITIONS,
    summary="Tensor operators with exact integer arithmetic.",
    constants="tosa.const",
    rules="commonir.dialects.mlir.tosa.rules:RULES",
    own="commonir.dialects.mlir.tosa.base:OWN",
)
