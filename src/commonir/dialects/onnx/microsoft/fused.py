"""Fused operators of com.microsoft, as the optimizer of onnxruntime creates them.

Source: onnxruntime, contrib operator reference, version 1.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.activation import swish
from commonir.dialects.onnx.base import FLOATS, FLOATS_1, WIDE_NUMBERS_1, OnnxOp, rank_of, shape_of
from commonir.dialects.onnx.contraction import AffineProduct, scaled
from commonir.dialects.onnx.convolution import Convolution
from commonir.dialects.onnx.microsoft.quantized import HALF_OR_SINGLE
from commonir.dialects.onnx.recurrent import function_of
from commonir.ir.operation import Value
from commonir.ir.types import f32, f64
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, element_type, one_of, operand, result
from commonir.symbolic.errors import NotKnownError


def _activated(op: OnnxOp, x: Value, name: str | None, parameters: tuple[float, ...]) -> Value:
    """A function of a name, with parameters in the order in which the operator of that name describes them."""
    match name, parameters:
        case None | "", _:
            return x
        case "Clip", (low, high, *_):
            return core.clip(x, low, high)
        case "Celu", (alpha, *_):
            scale = core.splat(alpha, x)
            return core.mul(core.elu(core.div(x, scale), 1.0), scale)
        case "Selu", (alpha, gamma, *_):
            return core.mul(core.elu(x, alpha), core.splat(gamma, x))
        case _, _:
            function = function_of(op.name, name)
            usual = function.usual
            return function.of(x, (*parameters, *usual[len(parameters) :])[: len(usual)])


class FusedConv(Convolution, name="onnx.microsoft.FusedConv", since="microsoft1"):
    """Convolution, to which Z is added, followed by an activation function."""

    Z: Value | None = operand("T", default=None)
    activation: str | None = attribute(attr_types.string, default=None)
    activation_params: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    T = FLOATS_1

    def reference(self, X: Value, W: Value, B: Value | None, Z: Value | None) -> Value:
        y = self.convolved(X, W, B)
        return _activated(self, y if Z is None else core.add(y, Z), self.activation, self.activation_params or ())


class FusedGemm(AffineProduct, name="onnx.microsoft.FusedGemm", since="microsoft1"):
    """General matrix product alpha A B + beta C, followed by an activation function; A and B may be transposed."""

    activation: str | None = attribute(attr_types.string, default=None)
    activation_alpha: float | None = attribute(attr_types.number, default=None)
    activation_beta: float | None = attribute(attr_types.number, default=None)
    activation_gamma: float | None = attribute(attr_types.number, default=None)
    T = WIDE_NUMBERS_1

    def reference(self, A: Value, B: Value, C: Value | None) -> Value:
        given = (self.activation_alpha, self.activation_beta, self.activation_gamma)
        return _activated(self, self.product(A, B, C), self.activation, tuple([p for p in given if p is not None]))


class ScaledProduct(OnnxOp):
    """alpha times the product of matrices, which may be transposed first; vectors never are."""

    A: Value = operand("T")
    B: Value = operand("T")
    alpha: float = attribute(attr_types.number, default=1.0)
    transA: bool = attribute(attr_types.flag, default=False)
    transB: bool = attribute(attr_types.flag, default=False)
    Y: Value = result("T")
    T = FLOATS

    def product(self, A: Value, B: Value) -> Value:
        """The product of two tensors."""
        return scaled(core.matmul(A, B, self.transA and rank_of(A) > 1, self.transB and rank_of(B) > 1), self.alpha)


class TransposeMatMul(ScaledProduct, name="onnx.microsoft.TransposeMatMul", since="microsoft1"):
    """alpha times the product of matrices, which may be transposed first; vectors never are."""

    def reference(self, A: Value, B: Value) -> Value:
        return self.product(A, B)


class FusedMatMul(ScaledProduct, name="onnx.microsoft.FusedMatMul", since="microsoft1"):
    """alpha times a matrix product, whose operands may be transposed first; vectors never are.

    With `transBatchA` the first axis of A is moved before its last one, as its rows; likewise for B.
    """

    transBatchA: bool = attribute(attr_types.flag, default=False)
    transBatchB: bool = attribute(attr_types.flag, default=False)

    def reference(self, A: Value, B: Value) -> Value:
        a = _first_axis_moved(A) if self.transBatchA else A
        return self.product(a, _first_axis_moved(B) if self.transBatchB else B)


def _first_axis_moved(x: Value) -> Value:
    """A tensor with its first axis before the last one."""
    rank = rank_of(x)
    if rank < 3:
        raise NotationError(f"a tensor of rank {rank} has no batch")
    return core.transpose(x, (*range(1, rank - 1), 0, rank - 1))


class CDist(OnnxOp, name="onnx.microsoft.CDist", since="microsoft1"):
    """Pairwise distances, or their squares, between the rows of A and the rows of B.

    Computed as |a|^2 + |b|^2 - 2 a b, as in onnxruntime, which is inexact for small distances between large numbers.
    """

    A: Value = operand("T[m, n]")
    B: Value = operand("T[k, n]")
    metric: str = attribute(attr_types.string, default="sqeuclidean", check=one_of("sqeuclidean", "euclidean"))
    C: Value = result("T[m, k]")
    T = element_type(f32, f64)

    def reference(self, A: Value, B: Value) -> Value:
        rows = core.reduce_sum(core.mul(A, A), (1,), True)
        columns = core.unsqueeze(core.reduce_sum(core.mul(B, B), (1,), False), (0,))
        products = core.matmul(A, B, False, True)
        squares = core.relu(core.sub(core.add(rows, columns), core.add(products, products)))
        return core.sqrt(squares) if self.metric == "euclidean" else squares


class Gelu(OnnxOp, name="onnx.microsoft.Gelu", since="microsoft1"):
    """Gaussian error linear unit: x times the standard normal cumulative distribution function of x."""

    X: Value = operand("T")
    Y: Value = result("T")
    T = FLOATS

    def reference(self, X: Value) -> Value:
        return core.gelu(X, core.GeluForm.EXACT)


class BiasGelu(OnnxOp, name="onnx.microsoft.BiasGelu", since="microsoft1"):
    """Gaussian error linear unit (GELU) of A plus a bias B along the last axis."""

    A: Value = operand("T")
    B: Value = operand("T")
    C: Value = result("T")
    T = FLOATS

    def reference(self, A: Value, B: Value) -> Value:
        return core.gelu(core.add(A, B), core.GeluForm.EXACT)


class BiasSplitGelu(OnnxOp, name="onnx.microsoft.BiasSplitGelu", since="microsoft1"):
    """Adds a bias along the last axis, and multiplies the first half of the sum by the `Gelu` of the second.

    Source: onnxruntime, contrib operator reference, version 1.
    """

    X: Value = operand("T")
    bias: Value = operand("T")
    Y: Value = result("T")
    T = HALF_OR_SINGLE

    def reference(self, X: Value, bias: Value) -> Value:
        size = shape_of(X)[-1] if rank_of(X) else 1
        if not isinstance(size, int):
            raise NotKnownError("the size of the last axis is not known before running")
        if size % 2:
            raise NotationError(f"the last axis has {size} elements, which cannot be halved")
        factor, gated = core.split(core.add(X, bias), -1, (size // 2, size // 2))
        return core.mul(factor, core.gelu(gated, core.GeluForm.EXACT))


class FastGelu(OnnxOp, name="onnx.microsoft.FastGelu", since="microsoft1"):
    """Gaussian error linear unit (GELU) of x plus a bias, approximated by a hyperbolic tangent."""

    X: Value = operand("T")
    bias: Value | None = operand("T", default=None)
    Y: Value = result("T")
    T = FLOATS

    def reference(self, X: Value, bias: Value | None) -> Value:
        return core.gelu(X if bias is None else core.add(X, bias), core.GeluForm.TANH)


class QuickGelu(OnnxOp, name="onnx.microsoft.QuickGelu", since="microsoft1"):
    """Quick GELU: x times the sigmoid of alpha x."""

    X: Value = operand("T")
    alpha: float = attribute(attr_types.number, default=1.702)
    Y: Value = result("T")
    T = FLOATS

    def reference(self, X: Value) -> Value:
        return swish(X, self.alpha)
