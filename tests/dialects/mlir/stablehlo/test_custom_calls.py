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


def _lapack(name: str, config: str, operands: int, shape: str, results: str) -> str:
    types = ", ".join([f"tensor<{t}>" for t in shape.split()])
    names = ", ".join(["%a", "%b"][:operands])
    count = len(results.split())
    returned = ", ".join([f"tensor<{t}>" for t in results.split()])
    inner = f"({returned})" if count > 1 else returned
    arguments = ", ".join([f"%{n}: tensor<{t}>" for n, t in zip("ab", shape.split(), strict=False)])
    parts = ", ".join([f"%0#{n}" for n in range(count)]) if count > 1 else "%0"
    left = f"%0:{count}" if count > 1 else "%0"
    return f"func.func @main({arguments}) -> ({returned}) {{\n{left} = stablehlo.custom_call @lapack_{name}_ffi({names}) {{mhlo.backend_config = {{{config}}}}} : ({types}) -> {inner}\nreturn {parts} : {returned}\n}}"


def _outputs(text: str, **inputs: NDArray[Any]) -> list[NDArray[Any]]:
    return list(cir.run(cir.loads(text, format="mlir"), inputs).values())


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 3), (3, 5)])
def test_lu_factors_with_pivots(shape: tuple[int, ...]) -> None:
    type = "x".join(map(str, shape))
    *batch, m, n = shape
    k = min(m, n)
    sizes = "x".join(map(str, batch))
    pivots = "x".join(map(str, (*batch, k)))
    a = np.random.default_rng(2).standard_normal(shape)
    lu, ipiv, info = _outputs(
        _lapack("dgetrf", "", 1, f"{type}xf64", f"{type}xf64 {pivots}xi32 {sizes + 'x' if sizes else ''}i32"), a=a
    )
    assert (info == 0).all()
    for x, factors, rows in zip(a.reshape(-1, m, n), lu.reshape(-1, m, n), ipiv.reshape(-1, k), strict=True):
        moved = x.copy()
        for row, other in enumerate(rows - 1):
            moved[[row, other]] = moved[[other, row]]
        lower = np.tril(factors[:, :k], -1) + np.eye(m, k)
        np.testing.assert_allclose(lower @ np.triu(factors[:k]), moved, atol=1e-12)
        assert (np.abs(lower) <= 1).all()  # each pivot is the largest of its column


def test_the_first_pivot_that_is_zero_is_reported() -> None:
    text = _lapack("sgetrf", "", 1, "3x3xf32", "3x3xf32 3xi32 i32")
    a = np.array([[1, 2, 3], [2, 4, 6], [1, 2, 7]], np.float32)
    assert int(_outputs(text, a=a)[2]) == 2
    assert int(_outputs(text, a=np.zeros((3, 3), np.float32))[2]) == 1


@pytest.mark.parametrize("shape", [(4, 3), (3, 5), (2, 3, 3)])
def test_qr_factors_are_those_of_numpy(shape: tuple[int, ...]) -> None:
    # numpy calls geqrf and orgqr of LAPACK, so that signs agree.
    *batch, m, n = shape
    k = min(m, n)
    names = ["x".join(map(str, (*batch, *sizes))) for sizes in ((m, n), (k,), (m, k))]
    a = np.random.default_rng(3).standard_normal(shape)
    r, tau = _outputs(_lapack("dgeqrf", "", 1, f"{names[0]}xf64", f"{names[0]}xf64 {names[1]}xf64"), a=a)
    (q,) = _outputs(_lapack("dorgqr", "", 2, f"{names[2]}xf64 {names[1]}xf64", f"{names[2]}xf64"), a=r[..., :k], b=tau)
    expected = np.linalg.qr(a)
    np.testing.assert_allclose(q, expected.Q, atol=1e-12)
    np.testing.assert_allclose(np.triu(r)[..., :k, :], expected.R, atol=1e-12)


def test_eigenvalues_and_singular_values_of_lapack() -> None:
    a = np.random.default_rng(4).standard_normal((3, 3))
    symmetric = a + a.T
    v, w, info = _outputs(
        _lapack("dsyevd", "mode = 86 : ui8, uplo = 76 : ui8", 1, "3x3xf64", "3x3xf64 3xf64 i32"), a=symmetric
    )
    np.testing.assert_allclose(symmetric @ v, v * w, atol=1e-12)
    assert int(info) == 0
    text = _lapack("dgesdd", "mode = 83 : ui8", 1, "4x3xf64", "4x3xf64 3xf64 4x3xf64 3x3xf64 i32")
    b = np.random.default_rng(5).standard_normal((4, 3))
    _, s, u, vh, info = _outputs(text, a=b)
    np.testing.assert_allclose(u * s @ vh, b, atol=1e-12)
    np.testing.assert_allclose(s, np.linalg.svd(b, compute_uv=False), atol=1e-12)
    assert int(info) == 0


_APPROXIMATE = """
func.func @first(%a: tensor<f32>, %b: tensor<f32>, %m: tensor<i32>, %n: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare COMPARISON, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func public @main(%x: tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<2x5xi32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %d = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %c, %d) {called_computations = [@first], mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.95 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 3 : i64}} : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
}
"""


@pytest.mark.parametrize(("comparison", "sign"), [("GT", -1), ("LT", 1)])
def test_approximate_top_k_is_exact(comparison: str, sign: int) -> None:
    x = np.array([[3, 9, 1, 5, 7], [2, 8, 6, 4, 0]], np.float32)
    values, positions = _outputs(_APPROXIMATE.replace("COMPARISON", comparison), x=x)
    expected = np.argsort(sign * x, axis=1)[:, :3]
    np.testing.assert_array_equal(positions, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(x, expected, 1))


def test_a_call_of_a_function_that_is_missing_is_refused() -> None:
    text = _APPROXIMATE.replace("COMPARISON", "GT").replace(
        "called_computations = [@first]", "called_computations = [@last]"
    )
    with pytest.raises(cir.DiagnosticError, match="takes a function of the program, and there is none called 'last'"):
        cir.run(cir.loads(text, format="mlir"))


_WINDOWS = """
func.func private @combine(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.COMBINE %a, %b : tensor<f32>
  return %0 : tensor<f32>
}
func.func public @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %init = stablehlo.constant dense<INIT> : tensor<f32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %zeros = stablehlo.constant dense<0> : tensor<1x2xi32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %window = stablehlo.concatenate %n1, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %before = stablehlo.subtract %n1, %one : tensor<1xi32>
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %pair = stablehlo.concatenate FIRST, SECOND, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %row = stablehlo.reshape %pair : (tensor<2xi32>) -> tensor<1x2xi32>
  %padding = stablehlo.concatenate %row, %zeros, dim = 0 : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %init, %window, %ones, %ones, %ones, %padding) {called_computations = [@combine]} : (tensor<?x2xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
"""


@pytest.mark.parametrize(("combine", "init"), [("add", 0.0), ("multiply", 1.0), ("maximum", -100.0), ("add", 2.0)])
@pytest.mark.parametrize("is_reverse", [False, True])
def test_windows_of_symbolic_size(combine: str, init: float, is_reverse: bool) -> None:
    places = ("%zero", "%before") if is_reverse else ("%before", "%zero")
    text = _WINDOWS.replace("COMBINE", combine).replace("INIT", str(init)).replace("FIRST", places[0])
    program = cir.loads(text.replace("SECOND", places[1]), format="mlir")
    x = np.random.default_rng(6).standard_normal((4, 2)).astype(np.float32)
    y = _output(program, {"x": x})
    fn: np.ufunc = getattr(np, combine)
    # What is outside has the initial value, and each window begins with it.
    rows = [x[n:] if is_reverse else x[: n + 1] for n in range(4)]
    outside = [np.full((4 - len(r), 2), init, np.float32) for r in rows]
    expected = [
        fn.reduce(np.concatenate([np.full((1, 2), init, np.float32), o, r])) for o, r in zip(outside, rows, strict=True)
    ]
    np.testing.assert_allclose(y, expected, rtol=1e-5)
    assert [str(v.type) for v in cir.lower(program).outputs] == ['tensor<"x_0"x2xf32>']


def test_unknown_target_is_named_with_its_place() -> None:
    call = "%0 = stablehlo.custom_call @my_target(%a) : (tensor<2xf32>) -> tensor<2xf32>"
    with pytest.raises(cir.DiagnosticError) as caught:
        cir.run(_called(call, "tensor<2xf32>", result="tensor<2xf32>"))
    (found,) = caught.value.diagnostics
    assert (found.code.id, found.where) == ("E0601", "main.operations[0] stablehlo.custom_call")
    assert "'my_target'" in found.message
