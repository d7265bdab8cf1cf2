"""Definitions say by `fn` of which core operation they are the counterpart."""

from __future__ import annotations

from commonir.conversions.core_to_mil import elementwise as to_mil
from commonir.conversions.core_to_onnx import elementwise as to_onnx
from commonir.dialects import core
from commonir.dialects.mil import elementwise as mil
from commonir.rewrite.legalize import counterparts_in

MIL = (
    "Abs Acos Asin Atan Atanh Ceil Cos Cosh Erf Exp Exp2 Floor LogicalNot Round Sigmoid Sign Silu Sin Sinh Softplus "
    "Softsign Sqrt Tan Tanh Add FloorDiv Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr LogicalXor Maximum "
    "Minimum Mod Sub"
)
ONNX = (
    "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Cos Cosh Erf Exp Floor HardSwish IsInf Log Neg Reciprocal "
    "Relu Round Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh Add BitwiseAnd BitwiseOr BitwiseXor Div Equal "
    "Greater Less Mul Pow Sub"
)
RENAMED = {
    "IsNan": "IsNaN",
    "LogicalNot": "Not",
    "GreaterEqual": "GreaterOrEqual",
    "LessEqual": "LessOrEqual",
    "LogicalAnd": "And",
    "LogicalOr": "Or",
    "LogicalXor": "Xor",
    "Select": "Where",
}


def test_counterparts_in_mil_have_the_names_of_the_core_operations() -> None:
    assert {source.__name__: made.__name__ for source, made in to_mil.SAME.items()} == {n: n for n in MIL.split()}


def test_counterparts_in_onnx_are_those_of_the_standard() -> None:
    assert {source.__name__: getattr(made, "__name__", "") for source, made in to_onnx.SAME.items()} == {
        **{name: name for name in ONNX.split()},
        **RENAMED,
    }


def test_definition_without_fn_is_not_a_direct_counterpart() -> None:
    found = counterparts_in(mil)
    assert found[core.Add] is mil.Add
    assert core.Div not in found
