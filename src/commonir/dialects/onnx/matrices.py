"""ONNX operators on matrices as such.

Source: ONNX operator reference, default domain, versions 11 and 22.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import FLOATS, FLOATS_1, OnnxOp
from commonir.ir.operation import Value
from commonir.ods import by_version, operand, result


class Det(OnnxOp, name="onnx.Det"):
    """The determinant of the square matrices of the last two axes."""

    X: Value = operand("T")
    Y: Value = result("T")
    T = by_version(opset11=FLOATS_1, opset22=FLOATS)

    def reference(self, X: Value) -> Value:
        return core.det(X)
