"""Definitions say by `fn` of which core operation they are the counterpart."""

from __future__ import annotations

from commonir.conversions.core_to_ark import elementwise as to_ark
from commonir.conversions.core_to_mil import elementwise as to_mil
from commonir.conversions.core_to_onnx import elementwise as to_onnx
from commonir.conversions.core_to_stablehlo import elementwise as to_stablehlo
from commonir.conversions.core_to_tosa import elementwise as to_tosa
from commonir.conversions.core_to_tosa import layout
from commonir.dialects import core
from commonir.dialects.mil import elementwise as mil
from commonir.rewrite.legalize import counterparts_in

MIL = (
    "Abs Acos Asin Atan Atanh Ceil Cos Cosh Erf Exp Exp2 Floor LogicalNot Round Sigmoid Sign Silu Sin Sinh Softplus "
    "Softsign Sqrt Tan Tanh Add FloorDiv Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr LogicalXor Maximum "
    "Minimum Mod Sub"
)
ONNX = (
    "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Cos Cosh Erf Exp Floor HardSwish IsInf Log Mish Neg "
    "Reciprocal Relu Round Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh Add BitwiseAnd BitwiseOr BitwiseXor "
    "Div Equal Greater Less Mul Pow Sub"
)
STABLEHLO = {
    **{n: f"stablehlo.{n.lower()}" for n in ["Abs", "Ceil", "Floor", "Log", "Rsqrt", "Sign", "Sqrt", "Tan", "Tanh"]},
    **{n: f"chlo.{n.lower()}" for n in ["Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cosh", "Erf", "Sinh"]},
    "BitwiseNot": "stablehlo.not",
    "Cos": "stablehlo.cosine",
    "Exp": "stablehlo.exponential",
    "Imaginary": "stablehlo.imag",
    "IsInf": "chlo.is_inf",
    "LogicalNot": "stablehlo.not",
    "Neg": "stablehlo.negate",
    "Real": "stablehlo.real",
    "Round": "stablehlo.round_nearest_even",
    "Sigmoid": "stablehlo.logistic",
    "Sin": "stablehlo.sine",
}
TOSA = (
    "abs add bitwise_and bitwise_not bitwise_or bitwise_xor ceil cos equal erf exp floor greater greater_equal log "
    "logical_and logical_not logical_or logical_xor maximum minimum pow reciprocal rsqrt sigmoid sin sub tanh"
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
    assert {source.__name__: built.__name__ for source, built in to_mil.SAME.items()} == {n: n for n in MIL.split()}


def test_counterparts_in_onnx_are_those_of_the_standard() -> None:
    assert {source.__name__: getattr(built, "__name__", "") for source, built in to_onnx.SAME.items()} == {
        **{name: name for name in ONNX.split()},
        **RENAMED,
    }


def test_counterparts_in_stablehlo_are_those_of_its_specification() -> None:
    result = {source.__name__: definition for source, definition in to_stablehlo.UNARY.items()}
    assert {name: getattr(definition, "name", "") for name, definition in result.items()} == STABLEHLO


def test_counterparts_in_tosa_have_the_names_of_the_core_operations() -> None:
    result = {source.name: definition.name for source, definition in to_tosa.SAME.items()}
    expected = {f"core.{name}": f"tosa.{name}" for name in TOSA.split()}
    assert result == {**expected, "core.shift_left": "tosa.logical_left_shift"}


def test_counterparts_in_ark_have_the_names_of_the_core_operations() -> None:
    expected = ["Add", "Div", "Exp", "Mul", "Relu", "Rsqrt", "Sigmoid", "Sqrt", "Sub"]
    assert {source.__name__: definition.name for source, definition in to_ark.SAME.items()} == {
        name: f"ark.{name}" for name in expected
    }


def test_reductions_of_tosa_are_derived() -> None:
    result = {rule.definition.__name__ for rule in layout.REDUCTIONS}
    assert result == {"ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum"}


def test_definition_without_fn_is_not_a_direct_counterpart() -> None:
    result = counterparts_in(mil)
    assert result[core.Add] is mil.Add
    assert core.Div not in result
