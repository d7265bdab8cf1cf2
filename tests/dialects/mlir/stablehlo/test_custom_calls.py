"""Custom calls that exporters write: assertions about dims, annotations, functions of other libraries, against numpy."""
# ruff: noqa: E501  an operation stands on one line

from __future__ import annotations

from math import erf
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir

_POLYMORPHIC = """
module @jit_f attributes {jax.uses_shape_polymorphism = true} {
  func.func public @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %four = stablehlo.constant dense<4> : tensor<i32>
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %holds = stablehlo.compare GE, %n, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%holds, %n, %four) {api_version = 2 : i32, error_message = "n is {0}, less than {1}; {2} is text", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %y = func.call @inner(%n, %x) : (tensor<i32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    return %y : tensor<?x3xf32>
  }
  func.func private @inner(%n: tensor<i32> {jax.global_constant = "n"}, %x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %y = stablehlo.add %x, %x : tensor<?x3xf32>
    return %y : tensor<?x3xf32>
  }
}
"""


def _called(call: str, *inputs: str, result: str) -> cir.Module:
    """Returns a program of one custom call; `%0` is its result, or the first one."""
    names = [f"%{'ab'[n]}" for n in range(len(inputs))]
    arguments = ", ".join([f"{name}: {type}" for name, type in zip(names, inputs, strict=True)])
    return cir.loads(f"func.func @main({arguments}) -> {result} {{\n{call}\nreturn %0 : {result}\n}}", format="mlir")


def _output(program: cir.Module, inputs: dict[str, NDArray[Any]], engine: str | None = None) -> NDArray[Any]:
    (y,) = cir.run(program, inputs, engine=engine or "numpy").values()
    return y


@pytest.mark.parametrize("engine", ["reference", "numpy"])
def test_shape_assertion_fails_with_its_message_and_values(engine: str) -> None:
    program = cir.loads(_POLYMORPHIC, format="mlir")
    x = np.ones((5, 3), np.float32)
    y = _output(program, {"x": x}, engine)
    np.testing.assert_array_equal(y, x + x)
    with pytest.raises(cir.DiagnosticError, match=r"n is 3, less than 4; \{2\} is text"):
        cir.run(program, {"x": x[:3]}, engine=engine)


def test_shape_assertion_without_a_condition_is_refused() -> None:
    call = "stablehlo.custom_call @shape_assertion() {has_side_effect = true} : () -> ()\n%0 = stablehlo.add %a, %a : tensor<2xf32>"
    with pytest.raises(cir.DiagnosticError, match="the first operand of a shape assertion is its condition"):
        cir.lower(_called(call, "tensor<2xf32>", result="tensor<2xf32>"))


@pytest.mark.parametrize("target", ["Sharding", "SPMDFullToShardShape", "xla.sdy.FuncResultSharding", "MoveToHost"])
def test_annotations_forward_their_operands_on_one_device(target: str) -> None:
    type = "tensor<2x3xf32>"
    call = f'%0 = stablehlo.custom_call @{target}(%a) {{backend_config = "", mhlo.sharding = "{{replicated}}"}} : ({type}) -> {type}'
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = _output(_called(call, type, result=type), {"a": a})
    np.testing.assert_array_equal(y, a)


def test_sharding_for_several_devices_is_refused() -> None:
    call = "%0 = stablehlo.custom_call @SPMDFullToShardShape(%a) : (tensor<4xf32>) -> tensor<2xf32>"
    with pytest.raises(cir.DiagnosticError, match="'SPMDFullToShardShape' for several devices"):
        cir.lower(_called(call, "tensor<4xf32>", result="tensor<2xf32>"))


def test_functions_of_mhlo_are_those_of_chlo() -> None:
    call = "%0 = stablehlo.custom_call @mhlo.erf(%a) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<3xf32>) -> tensor<3xf32>"
    a = np.array([-1, 0.25, 2], np.float32)
    y = _output(_called(call, "tensor<3xf32>", result="tensor<3xf32>"), {"a": a})
    np.testing.assert_allclose(y, [erf(v) for v in a], rtol=1e-6)


def test_top_k_of_mhlo() -> None:
    call = "%0:2 = stablehlo.custom_call @mhlo.topk(%a) {mhlo.attributes = {k = 2 : i64, largest = true}} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)"
    program = _called(call, "tensor<4xf32>", result="tensor<2xf32>")
    y = _output(program, {"a": np.array([3, 9, 1, 5], np.float32)})
    np.testing.assert_array_equal(y, [9, 5])


@pytest.mark.parametrize("uplo", ["L", "U"])
def test_cholesky_factors_of_lapack(uplo: str) -> None:
    type = "tensor<3x3xf32>"
    call = f"%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {{mhlo.backend_config = {{uplo = {ord(uplo)} : ui8}}}} : ({type}) -> ({type}, tensor<i32>)"
    a = np.array([[4, 1, 0], [1, 3, 1], [0, 1, 5]], np.float32)
    y = _output(_called(call, type, result=type), {"a": a})
    factor = np.linalg.cholesky(a)
    triangle = np.tril(y) if uplo == "L" else np.triu(y).T
    np.testing.assert_allclose(triangle, factor, rtol=1e-5)


def test_matrices_that_are_not_positive_definite_are_reported() -> None:
    call = "%r:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)\n%0 = stablehlo.add %r#1, %r#1 : tensor<i32>"
    program = _called(call, "tensor<2x2xf32>", result="tensor<i32>")
    bad = _output(program, {"a": np.array([[1, 2], [2, 1]], np.float32)})
    good = _output(program, {"a": np.eye(2, dtype=np.float32)})
    assert bad > 0
    assert good == 0


@pytest.mark.parametrize("side", ["L", "R"])
@pytest.mark.parametrize("transposed", ["N", "T"])
def test_triangular_solutions_of_lapack(side: str, transposed: str) -> None:
    type = "tensor<2x2xf64>"
    letters = {"diag": "N", "side": side, "trans_x": transposed, "uplo": "L"}
    config = ", ".join([f"{key} = {ord(letter)} : ui8" for key, letter in letters.items()])
    call = f"%0 = stablehlo.custom_call @lapack_dtrsm_ffi(%a, %b) {{mhlo.backend_config = {{{config}}}}} : ({type}, {type}) -> {type}"
    a, b = np.array([[2.0, 0], [1, 4]]), np.array([[2.0, 6], [3, 8]])
    x = _output(_called(call, type, type, result=type), {"a": a, "b": b})
    matrix = a.T if transposed == "T" else a
    np.testing.assert_allclose(matrix @ x if side == "L" else x @ matrix, b)


def test_unknown_target_is_named_with_its_place() -> None:
    call = "%0 = stablehlo.custom_call @my_target(%a) : (tensor<2xf32>) -> tensor<2xf32>"
    with pytest.raises(cir.DiagnosticError) as caught:
        cir.run(_called(call, "tensor<2xf32>", result="tensor<2xf32>"))
    (found,) = caught.value.diagnostics
    assert (found.code.id, found.where) == ("E0601", "main.operations[0] stablehlo.custom_call")
    assert "'my_target'" in found.message
