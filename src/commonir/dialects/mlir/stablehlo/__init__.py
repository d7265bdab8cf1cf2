"""The stablehlo dialect: tensor operations of machine learning programs, as jax, torch and TensorFlow export them.

Source: StableHLO specification 1.0; StableHLO dialect, version 1.20.
"""

from __future__ import annotations

from commonir.base.lazy import import_members
from commonir.ods import Dialect, definitions_in

import_members(
    globals(),
    {
        "bits": "BitcastConvert ReducePrecision",
        "communication": (
            "AfterAll AllGather AllReduce AllToAll AsyncDone AsyncStart CollectiveBroadcast CollectivePermute "
            "CollectiveReduce CreateToken CrossReplicaSum Infeed Outfeed PartitionId Recv ReduceScatter ReplicaId Rng "
            "RngBitGenerator Send UniformDequantize UniformQuantize"
        ),
        "comparison": "Clamp Compare Select",
        "constants": "Constant DynamicIota Iota",
        "contraction": "Cholesky Convolution Dot DotGeneral DynamicConv Einsum Fft TriangularSolve UnaryEinsum",
        "control": "Case Composite CustomCall GetTupleElement If MakeTuple OptimizationBarrier Return While",
        "elementwise": (
            "Abs Add And Atan2 Cbrt Ceil Clz Complex Convert Cosine Div Exp Expm1 Floor Imag IsFinite Log Log1p "
            "Logistic Max Min Mul Neg Not Or PopulationCount Pow Real Rem Round RoundNearestEven Rsqrt ShiftLeft "
            "ShiftRightArithmetic ShiftRightLogical Sign Sine Sqrt Subtract Tan Tanh Xor"
        ),
        "indexing": "DynamicGather Gather Scatter TorchIndexSelect",
        "layout": (
            "Broadcast BroadcastInDim Concatenate DynamicBroadcastInDim DynamicPad DynamicReshape DynamicSlice "
            "DynamicUpdateSlice GetDimensionSize Pad RealDynamicSlice Reshape Reverse SetDimensionSize Slice "
            "Transpose"
        ),
        "normalization": "BatchNormGrad BatchNormInference BatchNormTraining",
        "reduction": "Map Reduce ReduceWindow SelectAndScatter Sort",
    },
)

DIALECT: Dialect = Dialect(
    "stablehlo",
    definitions_in(globals(), "stablehlo"),
    summary="Tensor operations that jax and torch export.",
    constants="stablehlo.constant",
    own="commonir.dialects.mlir.stablehlo.dimension_numbers:OWN",
)
