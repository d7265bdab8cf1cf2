"""Tuples, tokens and groups of one process run; what exchanges values with others is refused by name.

Complex functions are compared with numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir

Array = NDArray[Any]


def _run(text: str, *inputs: Array) -> list[Array]:
    module = cir.loads(text, format="mlir")
    assert [d.message for d in cir.verify(module)] == []
    names = [value.name for value in module.main.inputs]
    return list(cir.run(module, dict(zip(names, inputs, strict=True))).values())


_TUPLES = """\
func.func @main(%a: tensor<2xf32>, %b: tensor<i32>) -> (tensor<i32>, tensor<2xf32>) {
  %0 = stablehlo.tuple %a, %b : tuple<tensor<2xf32>, tensor<i32>>
  %1 = stablehlo.tuple %0, %b : tuple<tuple<tensor<2xf32>, tensor<i32>>, tensor<i32>>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<tuple<tensor<2xf32>, tensor<i32>>, tensor<i32>>) -> tuple<tensor<2xf32>, tensor<i32>>
  %3 = stablehlo.get_tuple_element %2[1] : (tuple<tensor<2xf32>, tensor<i32>>) -> tensor<i32>
  %4 = stablehlo.get_tuple_element %2[0] : (tuple<tensor<2xf32>, tensor<i32>>) -> tensor<2xf32>
  %5 = stablehlo.add %4, %4 : tensor<2xf32>
  return %3, %5 : tensor<i32>, tensor<2xf32>
}
"""  # noqa: E501


def test_tuples_are_put_together_and_taken_apart() -> None:
    number, doubled = _run(_TUPLES, np.array([1.5, -2], np.float32), np.array(7, np.int32))
    assert number == 7
    assert doubled.tolist() == [3.0, -4.0]


def test_a_tuple_may_enter_and_leave_the_function() -> None:
    text = """\
func.func @main(%a: tuple<tensor<i32>, tensor<2xf32>>) -> tuple<tensor<2xf32>> {
  %0 = stablehlo.get_tuple_element %a[1] : (tuple<tensor<i32>, tensor<2xf32>>) -> tensor<2xf32>
  %1 = stablehlo.tuple %0 : tuple<tensor<2xf32>>
  return %1 : tuple<tensor<2xf32>>
}
"""
    given: Any = (np.array(7, np.int32), np.array([1, 2], np.float32))
    ((element,),) = _run(text, given)
    assert element.tolist() == [1, 2]


def test_tokens_order_what_is_in_order_anyway() -> None:
    text = """\
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  %u = stablehlo.after_all %t, %t : !stablehlo.token
  %b:2 = stablehlo.optimization_barrier %a, %u : tensor<2xf32>, !stablehlo.token
  return %b#0 : tensor<2xf32>
}
"""
    assert _run(text, np.array([1, 2], np.float32))[0].tolist() == [1, 2]


_SUM = """({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  })"""


def _collectives(groups: str, more: str = "") -> Sequence[str]:
    attributes = f"replica_groups = {groups}{more}"
    types = "(tensor<2x2xf32>) -> tensor<2x2xf32>"
    return [
        f'"stablehlo.all_reduce"(%a) {_SUM} {{{attributes}}} : {types}',
        f'"stablehlo.reduce_scatter"(%a) {_SUM} {{scatter_dimension = 0 : i64, {attributes}}} : {types}',
        f'"stablehlo.all_gather"(%a) {{all_gather_dim = 0 : i64, {attributes}}} : {types}',
    ]


def _of(line: str) -> str:
    kind = "tensor<2x2xf32>"
    return f"func.func @main(%a: {kind}) -> {kind} {{\n  %0 = {line}\n  return %0 : {kind}\n}}\n"


@pytest.mark.parametrize("line", _collectives("dense<0> : tensor<1x1xi64>"))
def test_a_process_that_is_alone_in_its_group_keeps_what_it_has(line: str) -> None:
    x = np.array([[1, 2], [3, 4]], np.float32)
    assert np.array_equal(_run(_of(line), x)[0], x)


_CHANNEL = ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>"


@pytest.mark.parametrize(
    "line",
    [
        _collectives("dense<[[0, 1]]> : tensor<1x2xi64>")[0],
        *_collectives("dense<0> : tensor<1x1xi64>", _CHANNEL),
    ],
)
def test_what_processes_exchange_is_refused_by_name(line: str) -> None:
    name = line.split('"')[1]
    with pytest.raises(cir.DiagnosticError, match=rf"E0601.*{name} exchanges values with other processes"):
        cir.lower(cir.loads(_of(line), format="mlir"))


_COMPLEX: dict[str, Callable[..., Array]] = {
    "log": np.log, "log_plus_one": np.log1p, "exponential": np.exp, "exponential_minus_one": np.expm1, "sqrt": np.sqrt,
    "rsqrt": lambda z: 1 / np.sqrt(z), "sine": np.sin, "cosine": np.cos, "tan": np.tan, "tanh": np.tanh,
    "cbrt": lambda z: z ** (1 / 3), "logistic": lambda z: 1 / (1 + np.exp(-z)), "negate": np.negative, "sign": np.sign,
    "power": np.power, "divide": np.divide, "multiply": np.multiply,
}  # fmt: skip


@pytest.mark.parametrize("name", _COMPLEX)
def test_complex_functions_are_those_of_numpy(name: str) -> None:
    rng = np.random.default_rng(3)
    a, b = (np.asarray(rng.normal(size=64) + 1j * rng.normal(size=64), np.complex128) for _ in range(2))
    inputs = (a, b) if name in ("power", "divide", "multiply") else (a,)
    kind = "tensor<64xcomplex<f64>>"
    arguments = ", ".join([f"%{n}: {kind}" for n, _ in zip("ab", inputs, strict=False)])
    uses = ", ".join([f"%{n}" for n, _ in zip("ab", inputs, strict=False)])
    body = f"  %r = stablehlo.{name} {uses} : {kind}\n  return %r : {kind}\n"
    text = f"func.func @main({arguments}) -> {kind} {{\n{body}}}\n"
    np.testing.assert_allclose(_run(text, *inputs)[0], _COMPLEX[name](*inputs), rtol=1e-12, atol=1e-12)
