"""Elementwise and pooling operators of com.microsoft on quantized tensors.

Each dequantizes its operands, computes in single precision, and quantizes the result. Source: onnxruntime, contrib
operator reference, version 1.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.activation import of_matrix
from commonir.dialects.onnx.base import BOOLEAN, BYTES, INTEGERS_4, OnnxOp, axis_from_start, element_of, rank_of
from commonir.dialects.onnx.quantization import SHORTS, WHOLE, dequantized, quantized
from commonir.dialects.onnx.windows import AUTO_PAD, spatial_rank, window
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, Type, f16, f32, u8
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, element_type, operand, positive, result, traits

SINGLE = element_type(f32)
HALF_OR_SINGLE = element_type(f16, f32)
STEPS = BYTES | SHORTS | INTEGERS_4
_SOFTMAX_OF_ONE_AXIS = 13
"""The version of the default operator set from which on a softmax is one along a single axis."""


def one(value: Value) -> Value:
    """A per-tensor scale or zero point, which may be a vector of one element."""
    return core.reshape(value, ()) if rank_of(value) else value


def numbers(x: Value, scale: Value, zero_point: Value | None) -> Value:
    """A tensor with one scale, dequantized."""
    return dequantized(x, one(scale), None if zero_point is None else one(zero_point), 0)


def steps(x: Value, scale: Value, zero_point: Value | None, like: Value) -> Value:
    """Numbers quantized with one scale, to the element type of another tensor."""
    return quantized(x, one(scale), None if zero_point is None else one(zero_point), element_of(like), 0)


def channels_first(x: Value) -> Value:
    """A tensor [batch, spatial axes, channels] as [batch, channels, spatial axes]."""
    rank = rank_of(x)
    return core.transpose(x, (0, rank - 1, *range(1, rank - 1)))


def channels_last(x: Value) -> Value:
    """A tensor [batch, channels, spatial axes] as [batch, spatial axes, channels]."""
    rank = rank_of(x)
    return core.transpose(x, (0, *range(2, rank), 1))


class QuantizeLinear(OnnxOp, name="onnx.microsoft.QuantizeLinear", since="microsoft1"):
    """Linear quantization: x / y_scale, rounded half to even, plus y_zero_point, saturated to the type of y."""

    x: Value = operand("T1")
    y_scale: Value = operand("T1")
    y_zero_point: Value | None = operand("T2", default=None)
    axis: int | None = attribute(attr_types.integer, default=None)
    y: Value = result("T2")
    T1 = HALF_OR_SINGLE
    T2 = STEPS

    def reference(self, x: Value, y_scale: Value, y_zero_point: Value | None) -> Value:
        element = u8 if y_zero_point is None else element_of(y_zero_point)
        return quantized(x, y_scale, y_zero_point, element, 1 if self.axis is None else self.axis)

    def infer_partially(self) -> tuple[Type, ...]:
        type = self.x.type
        element = u8 if self.y_zero_point is None else element_of(self.y_zero_point)
        return (TensorType(element, type.shape if isinstance(type, TensorType) else None),)


class DequantizeLinear(
    OnnxOp,
    name="onnx.microsoft.DequantizeLinear",
    since="microsoft1",
    traits=(traits.Decodes("x", "quantized", scales="x_scale"),),
):
    """Linear dequantization: (x - x_zero_point) * x_scale."""

    x: Value = operand("T1")
    x_scale: Value = operand("T2")
    x_zero_point: Value | None = operand("T1", default=None)
    axis: int | None = attribute(attr_types.integer, default=None)
    y: Value = result("T2")
    T1 = STEPS | WHOLE
    T2 = HALF_OR_SINGLE

    def reference(self, x: Value, x_scale: Value, x_zero_point: Value | None) -> Value:
        return dequantized(x, x_scale, x_zero_point, 1 if self.axis is None else self.axis)


class QuantizedPair(OnnxOp):
    """Base class of binary operations on quantized tensors, which are broadcast."""

    A: Value = operand("T")
    A_scale: Value = operand("f32")
    A_zero_point: Value | None = operand("T", optional=True)
    B: Value = operand("T")
    B_scale: Value = operand("f32")
    B_zero_point: Value | None = operand("T", optional=True)
    C_scale: Value = operand("f32")
    C_zero_point: Value | None = operand("T", default=None)
    C: Value = result("T")
    T = BYTES

    def of(self, a: Value, b: Value) -> Value:
        """Returns the result for two dequantized tensors."""
        raise NotImplementedError

    def reference(
        self,
        A: Value,
        A_scale: Value,
        A_zero_point: Value | None,
        B: Value,
        B_scale: Value,
        B_zero_point: Value | None,
        C_scale: Value,
        C_zero_point: Value | None,
    ) -> Value:
        a, b = numbers(A, A_scale, A_zero_point), numbers(B, B_scale, B_zero_point)
        return steps(self.of(a, b), C_scale, C_zero_point, A)


class QLinearAdd(QuantizedPair, name="onnx.microsoft.QLinearAdd", since="microsoft1"):
    """Sum of two quantized tensors, with a quantized result."""

    def of(self, a: Value, b: Value) -> Value:
        return core.add(a, b)


class QLinearMul(QuantizedPair, name="onnx.microsoft.QLinearMul", since="microsoft1"):
    """Product of two quantized tensors, with a quantized result."""

    def of(self, a: Value, b: Value) -> Value:
        return core.mul(a, b)


class QuantizedElements(OnnxOp):
    """A function of the elements of a quantized tensor."""

    X: Value = operand("T")
    X_scale: Value = operand("f32")
    X_zero_point: Value | None = operand("T", optional=True)
    Y_scale: Value = operand("f32")
    Y_zero_point: Value | None = operand("T", default=None)
    Y: Value = result("T")
    T = BYTES

    def of(self, x: Value) -> Value:
        """The function of the numbers."""
        raise NotImplementedError

    def reference(
        self, X: Value, X_scale: Value, X_zero_point: Value | None, Y_scale: Value, Y_zero_point: Value | None
    ) -> Value:
        return steps(self.of(numbers(X, X_scale, X_zero_point)), Y_scale, Y_zero_point, X)


class QLinearSigmoid(QuantizedElements, name="onnx.microsoft.QLinearSigmoid", since="microsoft1"):
    """Logistic sigmoid, 1 / (1 + exp(-x)), of a quantized tensor, with a quantized result."""

    def of(self, x: Value) -> Value:
        return core.sigmoid(x)


class QLinearLeakyRelu(QuantizedElements, name="onnx.microsoft.QLinearLeakyRelu", since="microsoft1"):
    """Leaky ReLU of a quantized tensor, with a quantized result."""

    alpha: float = attribute(attr_types.number, default=0.01)

    def of(self, x: Value) -> Value:
        return core.leaky_relu(x, self.alpha)


class QLinearSoftmax(OnnxOp, name="onnx.microsoft.QLinearSoftmax", since="microsoft1"):
    """Softmax of a quantized tensor, with a quantized result; `opset` is the version of `Softmax` that it follows.

    onnxruntime looks up the exponentials in a table; its results may differ by one quantization step.
    """

    X: Value = operand("T")
    X_scale: Value = operand("f32")
    x_zero_point: Value | None = operand("T", optional=True)
    y_scale: Value = operand("f32")
    y_zero_point: Value = operand("T")
    opset: int = attribute(attr_types.integer)
    axis: int = attribute(attr_types.integer, default=-1)
    Y: Value = result("T")
    T = BYTES

    def reference(
        self, X: Value, X_scale: Value, x_zero_point: Value | None, y_scale: Value, y_zero_point: Value
    ) -> Value:
        x = numbers(X, X_scale, x_zero_point)
        is_of_matrix = self.opset < _SOFTMAX_OF_ONE_AXIS
        y = of_matrix(core.softmax, x, self.axis) if is_of_matrix else core.softmax(x, self.axis)
        return steps(y, y_scale, y_zero_point, X)


class QLinearWhere(OnnxOp, name="onnx.microsoft.QLinearWhere", since="microsoft1"):
    """Selects elements of two quantized tensors by a condition, with a quantized result."""

    condition: Value = operand("B")
    X: Value = operand("T")
    x_scale: Value = operand("TF")
    x_zero_point: Value = operand("T")
    Y: Value = operand("T")
    y_scale: Value = operand("TF")
    y_zero_point: Value = operand("T")
    z_scale: Value = operand("TF")
    z_zero_point: Value = operand("T")
    Z: Value = result("T")
    B = BOOLEAN
    TF = SINGLE
    T = BYTES

    def reference(
        self,
        condition: Value,
        X: Value,
        x_scale: Value,
        x_zero_point: Value,
        Y: Value,
        y_scale: Value,
        y_zero_point: Value,
        z_scale: Value,
        z_zero_point: Value,
    ) -> Value:
        x, y = numbers(X, x_scale, x_zero_point), numbers(Y, y_scale, y_zero_point)
        return steps(core.select(condition, x, y), z_scale, z_zero_point, X)


class QLinearConcat(OnnxOp, name="onnx.microsoft.QLinearConcat", since="microsoft1"):
    """Concatenates quantized tensors along an axis, with a quantized result.

    Inputs are triples of a tensor, its scale and its zero point.

    C1: inputs are threes of a tensor, its scale and its zero point.
    """

    Y_scale: Value = operand("TF")
    Y_zero_point: Value = operand("T8")
    inputs: tuple[Value, ...] = operand("any", variadic=True)
    axis: int = attribute(attr_types.integer)
    Y: Value = result("T8")
    TF = SINGLE
    T8 = BYTES

    def reference(self, Y_scale: Value, Y_zero_point: Value, inputs: tuple[Value, ...]) -> Value:
        if not inputs or len(inputs) % 3:
            raise NotationError(f"{len(inputs)} inputs are not tensors with a scale and a zero point each", label="C1")
        parts = [numbers(*inputs[n : n + 3]) for n in range(0, len(inputs), 3)]
        joined = core.concat(tuple(parts), axis_from_start(self.axis, rank_of(parts[0])))
        return steps(joined, Y_scale, Y_zero_point, Y_zero_point)


class QLinearGlobalAveragePool(OnnxOp, name="onnx.microsoft.QLinearGlobalAveragePool", since="microsoft1"):
    """Global average pooling of a quantized tensor: the mean over all spatial axes, which keep size 1, quantized."""

    X: Value = operand("T")
    x_scale: Value = operand("f32")
    x_zero_point: Value = operand("T")
    y_scale: Value = operand("f32")
    y_zero_point: Value = operand("T")
    channels_last: bool = attribute(attr_types.flag, default=False)
    Y: Value = result("T")
    T = BYTES

    def reference(self, X: Value, x_scale: Value, x_zero_point: Value, y_scale: Value, y_zero_point: Value) -> Value:
        first = 1 if self.channels_last else 2
        axes = tuple(range(first, first + spatial_rank(X)))
        mean = core.reduce_mean(numbers(X, x_scale, x_zero_point), axes, True)
        return steps(mean, y_scale, y_zero_point, X)


class QLinearAveragePool(OnnxOp, name="onnx.microsoft.QLinearAveragePool", since="microsoft1"):
    """Average pooling of a quantized tensor, with a quantized result; `count_include_pad` counts padding as zeros."""

    X: Value = operand("T")
    x_scale: Value = operand("f32")
    x_zero_point: Value | None = operand("T", optional=True)
    y_scale: Value = operand("f32")
    kernel_shape: tuple[int, ...] = attribute(attr_types.integers, check=positive)
    y_zero_point: Value | None = operand("T", default=None)
    pads: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    auto_pad: str = attribute(attr_types.string, default="NOTSET", check=AUTO_PAD)
    strides: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive)
    count_include_pad: bool = attribute(attr_types.flag, default=False)
    ceil_mode: bool = attribute(attr_types.flag, default=False)
    channels_last: bool = attribute(attr_types.flag, default=False)
    Y: Value = result("T")
    T = BYTES

    def reference(
        self, X: Value, x_scale: Value, x_zero_point: Value | None, y_scale: Value, y_zero_point: Value | None
    ) -> Value:
        x = numbers(X, x_scale, x_zero_point)
        found = window(self, channels_first(x) if self.channels_last else x, self.kernel_shape, None)
        is_cut = self.ceil_mode and not self.auto_pad.startswith("SAME")
        rest = (found.kernel, found.strides, found.dilations, found.pads, is_cut, self.count_include_pad)
        mean = core.average_pool(found.x, *rest)
        return steps(channels_last(mean) if self.channels_last else mean, y_scale, y_zero_point, X)


class NhwcMaxPool(OnnxOp, name="onnx.microsoft.NhwcMaxPool", since="microsoft1"):
    """Max pooling of 8-bit integers in NHWC layout: the largest element of each window."""

    x: Value = operand("T")
    kernel_shape: tuple[int, ...] = attribute(attr_types.integers, check=positive)
    pads: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    auto_pad: str = attribute(attr_types.string, default="NOTSET", check=AUTO_PAD)
    strides: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive)
    dilations: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive)
    ceil_mode: bool = attribute(attr_types.flag, default=False)
    y: Value = result("T")
    T = BYTES

    def reference(self, x: Value) -> Value:
        least = 0 if element_of(x) is u8 else -128
        found = window(self, channels_first(x), self.kernel_shape, self.dilations, least)
        is_cut = self.ceil_mode and not self.auto_pad.startswith("SAME")
        largest = core.max_pool(found.x, found.kernel, found.strides, found.dilations, found.pads, is_cut)
        return channels_last(largest)
