"""Experimental operators of ONNX 1.0 to 1.4, which exporters for Windows ML used. ONNX has dropped them; onnxruntime
has them in the default domain for opsets before 10.

Source: onnxruntime, operators of the default domain that `contrib_defs.cc` registers, and their kernels.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import ANY_1, FLOATS_1, POSITIONS, OnnxOp, element_of, image_sizes, shape_of
from commonir.dialects.onnx.shape import sliced
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, operand, result
from commonir.symbolic import Dim

_BORDERS, _SIZES = 4, 2


def _given(value: float | None, name: str) -> float:
    if value is None:
        raise NotationError(f"attribute '{name}' is missing")
    return value


class Experimental(OnnxOp):
    """Base of the operators."""

    removed_in = "opset10"


class Affine(Experimental, name="onnx.onnxruntime.Affine", since="onnxruntime1"):
    """alpha * x + beta."""

    X: Value = operand("T")
    alpha: float = attribute(attr_types.number, default=1.0)
    beta: float = attribute(attr_types.number, default=0.0)
    Y: Value = result("T")
    T = FLOATS_1

    def reference(self, X: Value) -> Value:
        return core.add(core.mul(X, core.splat(self.alpha, X)), core.splat(self.beta, X))


class Scale(Experimental, name="onnx.onnxruntime.Scale", since="onnxruntime1"):
    """scale * x. onnxruntime defines it, and has no kernel for it."""

    input: Value = operand("T")
    scale: float = attribute(attr_types.number, default=1.0)
    output: Value = result("T")
    T = FLOATS_1

    def reference(self, input: Value) -> Value:
        return core.mul(input, core.splat(self.scale, input))


class ParametricSoftplus(Experimental, name="onnx.onnxruntime.ParametricSoftplus", since="onnxruntime1"):
    """alpha * log(1 + exp(beta * x)); both parameters must be given."""

    X: Value = operand("T")
    alpha: float | None = attribute(attr_types.number, default=None)
    beta: float | None = attribute(attr_types.number, default=None)
    Y: Value = result("T")
    T = FLOATS_1

    def reference(self, X: Value) -> Value:
        inside = core.mul(X, core.splat(_given(self.beta, "beta"), X))
        return core.mul(core.softplus(inside), core.splat(_given(self.alpha, "alpha"), X))


class ScaledTanh(Experimental, name="onnx.onnxruntime.ScaledTanh", since="onnxruntime1"):
    """alpha * tanh(beta * x); both parameters must be given."""

    input: Value = operand("T")
    alpha: float | None = attribute(attr_types.number, default=None)
    beta: float | None = attribute(attr_types.number, default=None)
    output: Value = result("T")
    T = FLOATS_1

    def reference(self, input: Value) -> Value:
        inside = core.mul(input, core.splat(_given(self.beta, "beta"), input))
        return core.mul(core.tanh(inside), core.splat(_given(self.alpha, "alpha"), input))


class ImageScaler(Experimental, name="onnx.onnxruntime.ImageScaler", since="onnxruntime1"):
    """scale * x + bias, with a bias for each channel, which must be given."""

    input: Value = operand("T[n, c, h, w]")
    scale: float = attribute(attr_types.number, default=1.0)
    bias: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    output: Value = result("T[n, c, h, w]")
    T = FLOATS_1

    def reference(self, input: Value) -> Value:
        _, channels, _ = image_sizes(input, "input")
        if self.bias is None or len(self.bias) != channels:
            raise NotationError(
                f"'bias' has {len(self.bias or ())} elements, expected {channels}, one for each channel"
            )
        bias = core.constant(data_of(element_of(input), (len(self.bias), 1, 1), self.bias))
        return core.add(core.mul(input, core.splat(self.scale, input)), bias)


class Crop(Experimental, name="onnx.onnxruntime.Crop", since="onnxruntime1"):
    """Images without some rows and columns: `border` has those to the left, at the top, to the right and at the bottom.
    With `scale`, their height and width, those to the right and at the bottom do not count.
    """

    input: Value = operand("T[n, c, h, w]")
    border: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    scale: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    output: Value = result("T")
    T = FLOATS_1

    def reference(self, input: Value) -> Value:
        if self.border is None or len(self.border) != _BORDERS or min(self.border) < 0:
            raise NotationError("'border' has four numbers of at least 0")
        n, channels, height, width = shape_of(input)
        left, top, right, bottom = self.border
        ends: tuple[Dim, Dim] = height - bottom, width - right
        if self.scale is not None and len(self.scale) == _SIZES:
            ends = top + self.scale[0], left + self.scale[1]
        for end, size in zip(ends, (height, width), strict=True):
            if isinstance(end, int) and isinstance(size, int) and not 0 <= end <= size:
                raise NotationError(f"the image of size {size} would end at {end}")
        return core.slice(input, (0, 0, top, left), (n, channels, *ends), (1, 1, 1, 1))


class DynamicSlice(Experimental, name="onnx.onnxruntime.DynamicSlice", since="onnxruntime1"):
    """Slice of some axes, by default of the first ones."""

    data: Value = operand("T")
    starts: Value = operand("Tind", by_value=True)
    ends: Value = operand("Tind", by_value=True)
    axes: Value | None = operand("Tind", default=None, by_value=True)
    output: Value = result("T")
    T = ANY_1
    Tind = POSITIONS

    def reference(self, data: Value, starts: Value, ends: Value, axes: Value | None) -> Value:
        return sliced(data, starts, ends, axes, None)
