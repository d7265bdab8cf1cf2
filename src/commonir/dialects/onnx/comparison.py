"""ONNX operators that compare elements, combine bools, and choose by them.

Source: ONNX operator reference, default domain, versions 1 to 19.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import ANY_1, ANY_13, BOOLEAN, FLOATS_1, NUMBERS, NUMBERS_1, POSITIONS, STRING, OnnxOp
from commonir.dialects.onnx.broadcasting import BinaryOp
from commonir.ir.operation import Value
from commonir.ods import by_version, operand, result


class Comparison(BinaryOp):
    """A bool of two elements."""

    C: Value = result("i1")


class Logic(Comparison, since="opset1 opset7"):
    """A function of two bools."""

    T = BOOLEAN


class Equal(Comparison, name="onnx.Equal"):
    """Tests elementwise whether both are equal."""

    T = by_version(
        opset1=POSITIONS | BOOLEAN,
        opset7=POSITIONS | BOOLEAN,
        opset11=NUMBERS_1 | BOOLEAN,
        opset13=NUMBERS | BOOLEAN,
        opset19=NUMBERS | BOOLEAN | STRING,
    )
    fn = core.equal


class Less(Comparison, name="onnx.Less"):
    """Tests elementwise whether the first is smaller."""

    T = by_version(opset1=FLOATS_1, opset7=FLOATS_1, opset9=NUMBERS_1, opset13=NUMBERS)
    fn = core.less


class LessOrEqual(Comparison, name="onnx.LessOrEqual"):
    """Tests elementwise whether the first is smaller or equal."""

    T = by_version(opset12=NUMBERS_1, opset16=NUMBERS)
    fn = core.less_equal


class Greater(Comparison, name="onnx.Greater"):
    """Tests elementwise whether the first is larger."""

    T = by_version(opset1=FLOATS_1, opset7=FLOATS_1, opset9=NUMBERS_1, opset13=NUMBERS)
    fn = core.greater


class GreaterOrEqual(Comparison, name="onnx.GreaterOrEqual"):
    """Tests elementwise whether the first is larger or equal."""

    T = by_version(opset12=NUMBERS_1, opset16=NUMBERS)
    fn = core.greater_equal


class And(Logic, name="onnx.And"):
    """Elementwise logical and."""

    fn = core.logical_and


class Or(Logic, name="onnx.Or"):
    """Elementwise logical or."""

    fn = core.logical_or


class Xor(Logic, name="onnx.Xor"):
    """Elementwise logical exclusive or."""

    fn = core.logical_xor


class Where(OnnxOp, name="onnx.Where"):
    """Selects the first value where the condition is true, else the second; all three are broadcast."""

    condition: Value = operand("i1")
    X: Value = operand("T")
    Y: Value = operand("T")
    output: Value = result("T")
    T = by_version(opset9=ANY_1, opset16=ANY_13)

    def reference(self, condition: Value, X: Value, Y: Value) -> Value:
        return core.select(condition, X, Y)
