"""ONNX operators that enlarge images by factors.

Source: ONNX operator reference, default domain, Upsample 7 to 10, which Resize has taken the place of.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import ANY_1, OnnxOp
from commonir.dialects.onnx.resize import Resizing, resized, resized_type
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import Type, f32
from commonir.ods import attribute, kinds, one_of, operand, result


class Upsample(OnnxOp, name="onnx.Upsample", since="opset9 opset10"):
    """The tensor with each axis times a factor of at least 1; positions are counted from the first element.

    The nearest element is the one before a position.
    """

    __slots__ = ()

    X: Value = operand("T")
    scales: Value = operand("f32", by_value=True)
    mode: str = attribute(kinds.text, default="nearest", check=one_of("nearest", "linear"))
    Y: Value = result("T")
    T = ANY_1

    def infer(self) -> tuple[Type, ...]:
        return (resized_type(upsampling(self.mode), self.X, self.scales, None),)

    def reference(self, X: Value, scales: Value) -> Value:
        return resized(upsampling(self.mode), X, None, scales, None)


class Upsample7(OnnxOp, name="onnx.Upsample", since="opset7"):
    """The tensor with each axis times a factor of at least 1; positions are counted from the first element.

    The nearest element is the one before a position.
    """

    __slots__ = ()

    X: Value = operand("T")
    scales: tuple[float, ...] = attribute(kinds.numbers)
    mode: str = attribute(kinds.text, default="nearest", check=one_of("nearest", "linear"))
    Y: Value = result("T")
    T = ANY_1

    def reference(self, X: Value) -> Value:
        scales = core.constant(data_of(f32, (len(self.scales),), self.scales))
        return resized(upsampling(self.mode), X, None, scales, None)


def upsampling(mode: str) -> Resizing:
    """How `Upsample` resamples."""
    return Resizing(mode, "asymmetric", "floor", 0.0, False, False, 0.0)
