"""Errors in the arguments of a constructor are described in terms of Python."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import commonir as cir
from commonir.base.diagnostics import InternalError
from commonir.dialects.mlir import arith, func
from commonir.ir import Block, Region, Value, tensor
from commonir.ir.types import FunctionType, f32, i32
from commonir.ods import Dialect, MlirOp, Op, attr_types, attribute, operand, result
from commonir.ods.terms import Constant, term, variables
from commonir.passes.definition import Pass
from commonir.text.formats import checked_elements

X = Value(tensor(f32, 4), name="x")
UNTYPED: Any = func.Func
TENSOR: Any = tensor
RETURN: Any = func.Return


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: UNTYPED("f", FunctionType((), ()), body=Region([Block()])),
            "func.func: 'body' is not an argument: did you mean 'body_region'?",
        ),
        (lambda: UNTYPED("f", FunctionType((), ()), Region([Block()]), sym_name="g"), "'sym_name' is given twice"),
        (lambda: UNTYPED("f"), "func.func: missing argument 'function_type'"),
        (lambda: UNTYPED(*range(9)), "func.func takes 8 arguments, 9 were given"),
        (lambda: RETURN(X), "func.return: operand 'operands' takes values in a sequence, found <value %x"),
        (lambda: TENSOR("f32", 3), "tensor takes an element type, such as `commonir.ir.types.f32`, found 'f32'"),
        (lambda: TENSOR(f32, (2, 3)), r"tensor takes dims one by one, as in `tensor\(f32, 2, 3\)`, found \(2, 3\)"),
    ],
)
def test_wrong_arguments_are_type_errors(build: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        build()


def test_an_attribute_is_shown_where_one_is_expected() -> None:
    value: Any = 2
    with pytest.raises(cir.DiagnosticError, match=r"expected an attribute, such as IntegerAttr\(2, i32\), found 2"):
        arith.Constant(value)


def test_fields_named_like_keywords_of_python_are_arguments(tmp_path: Path) -> None:
    (tmp_path / "my.td").write_text(
        """
        include "mlir/IR/OpBase.td"
        def My_Dialect : Dialect { let name = "my"; }
        def My_Scale : Op<My_Dialect, "scale"> {
          let arguments = (ins F32Tensor:$at, DefaultValuedAttr<I64Attr, "1">:$in);
          let assemblyFormat = "$at (`in` $in^)? attr-dict `:` type($at)";
        }
        """
    )
    (dialect,) = cir.load_dialects(tmp_path / "my.td")
    scale: Any = dialect.operations["my.scale"][-1]
    assert list(inspect.signature(scale).parameters) == ["at_", "in_"]
    assert "<{in = 3 : i64}>" in str(scale(X, in_=3))
    text = "func.func @f(%x: tensor<4xf32>) { my.scale %x in 3 : tensor<4xf32> return }"
    program = cir.loads(text, format="mlir", dialects=[dialect])
    assert "my.scale %arg0 in 3 : tensor<4xf32>" in cir.show(program)


def test_a_condition_in_the_result_of_a_rule_is_refused() -> None:
    (x,) = variables("x")
    rule = term(arith.AddI, x, x) >> term(arith.MulI, x, Constant("two", lambda v: v == (2,)))
    text = "func.func @f(%x: i32) -> i32 { %0 = arith.addi %x, %x : i32 return %0 : i32 }"
    with pytest.raises(cir.DiagnosticError, match="'constant two' is a condition, which only a source can have"):
        cir.optimize(cir.loads(text, format="mlir"), passes=(), rules=[rule])
    assert arith.AddI(Value(i32), Value(i32)).result.type is i32


class Scale(Op, name="my.scale"):
    """Scales a tensor."""

    x: Value = operand("f32[s*]")
    y: Value = result("f32[s*]")


def test_operations_of_a_dialect_have_its_name() -> None:
    with pytest.raises(ValueError, match=r"operations of dialect 'mine' are called 'mine\.NAME', found 'my\.scale'"):
        Dialect("mine", [Scale])
    definitions: Any = Scale
    with pytest.raises(TypeError, match="Dialect 'my' takes a sequence of definitions, found <class"):
        Dialect("my", definitions)


def test_a_number_of_any_type_cannot_stand_before_a_colon() -> None:
    """`2.0 : tensor<4xf32>` would be a number of that type, which cannot be."""

    class By(MlirOp, name="my.by"):
        """Scales a tensor."""

        x: Value = operand("f32[s*]")
        factor: float = attribute(attr_types.number)

    with pytest.raises(InternalError, match="would go on at the ':' after it"):
        checked_elements(By, "$x `by` $factor `:` type($x) attr-dict")
    elements, _ = checked_elements(By, "`by` $factor `,` $x attr-dict `:` type($x)")
    assert len(elements) == 7


def test_a_pass_that_returns_nothing_is_named() -> None:
    nothing: Any = Pass("nothing", "returns nothing", lambda *_: None)  # pyright: ignore[reportArgumentType]
    program = cir.loads("func.func @f() { return }", format="mlir")
    with pytest.raises(TypeError, match="pass 'nothing' returns a `PassResult`, found None"):
        cir.optimize(program, passes=[nothing])
