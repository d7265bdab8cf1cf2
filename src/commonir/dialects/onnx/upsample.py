"""ONNX operators that enlarge images by factors.

Source: ONNX operator reference, default domain, Upsample 7 to 10, which Resize has taken the place of.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import ANY_1, OnnxOp
from commonir.dialects.onnx.resize import ResizingByFactors, by_factors, resized
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import f32
from commonir.ods import attr_types, attribute, one_of, operand, result


class Upsample(ResizingByFactors, name="onnx.Upsample", since="opset9 opset10"):
    """The tensor with each axis times a factor of at least 1; positions are counted from the first element.

    The nearest element is the one before a position. From opset 10 on, `Resize`.
    """

    deprecated_since = "opset10"
    successor = "Resize"


class Upsample7(OnnxOp, name="onnx.Upsample", since="opset7"):
    """The tensor with each axis times a factor of at least 1; positions are counted from the first element.

    The nearest element is the one before a position.
    """

    X: Value = operand("T")
    scales: tuple[float, ...] = attribute(attr_types.numbers)
    mode: str = attribute(attr_types.string, default="nearest", check=one_of("nearest", "linear"))
    Y: Value = result("T")
    T = ANY_1

    def reference(self, X: Value) -> Value:
        scales = core.constant(data_of(f32, (len(self.scales),), self.scales))
        return resized(by_factors(self.mode), X, None, scales, None)
