"""Special functions, ragged products and scans of chlo. Expected values were computed by mpmath 1.3 with 40 digits."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

import commonir as cir

_UNARY = {
    "lgamma": (
        [0.1, 0.5, 2.5, 10.0, 100000.0, -0.5, -2.3, 0.0, -1.0, inf, nan],
        [
            2.252712651734206,
            0.5723649429247001,
            0.2846828704729192,
            12.801827480081469,
            1051287.7089736569,
            1.2655121234846454,
            0.36956666345500805,
            inf,
            inf,
            inf,
            nan,
        ],
    ),
    "digamma": (
        [0.1, 0.5, 2.5, 10.0, 100000.0, -0.5, -2.3, 0.0, -1.0, inf],
        [
            -10.423754940411076,
            -1.9635100260214235,
            0.7031566406452432,
            2.251752589066721,
            11.512920464961896,
            0.03648997397857652,
            3.3173231575618227,
            nan,
            nan,
            inf,
        ],
    ),
    "erf_inv": (
        [0.0, 1e-10, 0.1, 0.5, 0.9, 0.999999, -0.3, 1.0, -1.0, 1.5],
        [
            0.0,
            8.862269254527581e-11,
            0.08885599049425769,
            0.4769362762044699,
            1.1630871536766743,
            3.458910737275499,
            -0.2724627147267543,
            inf,
            -inf,
            nan,
        ],
    ),
    "bessel_i1e": (
        [0.0, 0.1, 1.0, 10.0, 19.9, 20.1, 10000.0, -2.0, inf],
        [
            0.0,
            0.045298446808809324,
            0.20791041534970844,
            0.12126268138445552,
            0.0877171021317061,
            0.08729685184320159,
            0.003989273195983662,
            -0.21526928924893765,
            0.0,
        ],
    ),
}
_BINARY = {
    "zeta": (
        [2.0, 3.0, 4.5, 1.5, 10.0, 1.0, 0.5, 2.0, 3.0],
        [1.0, 2.5, 0.3, 7.0, 1.0, 2.0, 2.0, -1.0, -1.0],
        [
            1.6449340668482264,
            0.1181020258208637,
            225.73807390399494,
            0.7838877675183705,
            1.000994575127818,
            inf,
            nan,
            inf,
            nan,
        ],
    ),
    "polygamma": (
        [0.0, 1.0, 2.0, 3.0, 5.0, -1.0, 0.5],
        [1.5, 1.0, 2.5, 0.5, 3.0, 2.0, 2.0],
        [
            0.03648997397857652,
            1.6449340668482264,
            -0.2362040516417274,
            97.40909103400244,
            0.20616743813389676,
            nan,
            nan,
        ],
    ),
}


def _run(op: str, dtype: str, *arguments: list[float]) -> np.ndarray:
    type = f"tensor<{len(arguments[0])}x{dtype}>"
    given = ", ".join([f"%x{n}: {type}" for n in range(len(arguments))])
    used = ", ".join([f"%x{n}" for n in range(len(arguments))])
    types = ", ".join([type] * len(arguments))
    source = f"func.func @main({given}) -> {type} {{\n%0 = chlo.{op} {used} : {types} -> {type}\nreturn %0 : {type}\n}}"
    number = {"f32": np.float32, "f64": np.float64}[dtype]
    inputs = {f"x{n}": np.array(v, number) for n, v in enumerate(arguments)}
    (result,) = cir.run(cir.loads(source, format="mlir"), inputs).values()
    return np.asarray(result)


@pytest.mark.parametrize("op", _UNARY)
def test_special_function_of_one_number(op: str) -> None:
    x, expected = _UNARY[op]
    np.testing.assert_allclose(_run(op, "f64", x), expected, rtol=1e-13)


@pytest.mark.parametrize("op", _UNARY)
def test_special_function_is_rounded_once_to_single_precision(op: str) -> None:
    single = [float(np.float32(v)) for v in _UNARY[op][0]]
    np.testing.assert_array_equal(_run(op, "f32", single), _run(op, "f64", single).astype(np.float32))


@pytest.mark.parametrize("op", _BINARY)
def test_special_function_of_two_numbers(op: str) -> None:
    *arguments, expected = _BINARY[op]
    np.testing.assert_allclose(_run(op, "f64", *arguments), expected, rtol=1e-13)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_next_number_is_that_of_numpy(dtype: str) -> None:
    x = [1.0, 0.0, -0.0, 1.0, -1.0, 3.0, inf, 1.0, 0.0]
    y = [2.0, 1.0, -1.0, -inf, 0.0, 3.0, 0.0, nan, 0.0]
    number = {"f32": np.float32, "f64": np.float64}[dtype]
    np.testing.assert_array_equal(
        _run("next_after", dtype, x, y), np.nextafter(np.array(x, number), np.array(y, number))
    )


@pytest.mark.parametrize(
    ("dtype", "bits"), [("i8", 8), ("ui8", 8), ("i32", 32), ("ui32", 32), ("i64", 64), ("ui64", 64)]
)
def test_upper_half_of_a_product_is_that_of_python(dtype: str, bits: int) -> None:
    low, high = (0, 2**bits - 1) if dtype[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    a, b = [low, high, high, 3, high // 3], [high, high, low, 5, high // 7]
    type = f"tensor<5x{dtype}>"
    source = f"""
    func.func @main(%a: {type}, %b: {type}) -> {type} {{
      %0 = chlo.mulhi %a, %b : {type}, {type} -> {type}
      return %0 : {type}
    }}
    """
    number = np.dtype(f"{'uint' if dtype[0] == 'u' else 'int'}{bits}")
    inputs = {"a": np.array(a, number), "b": np.array(b, number)}
    (result,) = cir.run(cir.loads(source, format="mlir"), inputs).values()
    assert [int(v) for v in result] == [(x * y) >> bits for x, y in zip(a, b, strict=True)]


_RAGGED = """
func.func @main(%a: tensor<{a}xf64>, %b: tensor<{b}xf64>, %g: tensor<{g}xi64>) -> tensor<{c}xf64> {{
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{{ragged_dot_dimension_numbers = #chlo.ragged_dot<{dims}>}}>
    : (tensor<{a}xf64>, tensor<{b}xf64>, tensor<{g}xi64>) -> tensor<{c}xf64>
  return %0 : tensor<{c}xf64>
}}
"""


def _ragged(a: np.ndarray, b: np.ndarray, groups: list[int], c: tuple[int, ...], dims: str) -> np.ndarray:
    def shown(shape: tuple[int, ...]) -> str:
        return "x".join(map(str, shape))

    source = _RAGGED.format(a=shown(a.shape), b=shown(b.shape), g=len(groups), c=shown(c), dims=dims)
    inputs = {"a": a, "b": b, "g": np.array(groups)}
    (result,) = cir.run(cir.loads(source, format="mlir"), inputs).values()
    return np.asarray(result)


def test_groups_of_rows_have_their_own_matrices() -> None:
    random = np.random.default_rng(0)
    a, b = random.standard_normal((2, 7, 3)), random.standard_normal((3, 2, 3, 4))
    dims = (
        "lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], "
        "rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]"
    )
    result = _ragged(a, b, [2, 0, 4], (2, 7, 4), dims)
    rows = [a[:, :2] @ b[0], a[:, 2:6] @ b[2], np.zeros((2, 1, 4))]
    np.testing.assert_allclose(result, np.concatenate(rows, 1), rtol=1e-12)


def test_a_row_of_one_group_is_not_spoilt_by_infinities_of_another() -> None:
    a, b = np.ones((2, 1)), np.array([[[1.0]], [[inf]]])
    dims = (
        "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], "
        "rhs_group_dimensions = [0]"
    )
    assert _ragged(a * [[1.0], [0.5]], b, [1, 1], (2, 1), dims).tolist() == [[1.0], [inf]]


def test_groups_of_what_is_summed_have_their_own_results() -> None:
    random = np.random.default_rng(0)
    a, b = random.standard_normal((5, 2)), random.standard_normal((5, 3))
    dims = "lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]"
    result = _ragged(a, b, [2, 3], (2, 2, 3), dims)
    np.testing.assert_allclose(result, [a[:2].T @ b[:2], a[2:].T @ b[2:]], rtol=1e-12)


@pytest.mark.parametrize(("reverse", "sums"), [(False, [[1, 3, 6], [4, 9, 15]]), (True, [[6, 5, 3], [15, 11, 6]])])
def test_scan_along_the_last_axis_carries_a_sum(reverse: bool, sums: list[list[int]]) -> None:
    attributes = " attributes {is_reverse = true}" if reverse else ""
    source = f"""
    func.func @main(%x: tensor<2x3xi32>, %i: tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>) {{
      %0:2 = chlo.scan(%x) inits(%i) dimension=1{attributes} {{
      ^bb0(%a: tensor<2xi32>, %c: tensor<2xi32>):
        %1 = stablehlo.add %a, %c : tensor<2xi32>
        stablehlo.return %1, %1 : tensor<2xi32>, tensor<2xi32>
      }} : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
      return %0#0, %0#1 : tensor<2x3xi32>, tensor<2xi32>
    }}
    """
    inputs = {"x": np.array([[1, 2, 3], [4, 5, 6]], np.int32), "i": np.zeros(2, np.int32)}
    outputs, carried = cir.run(cir.loads(source, format="mlir"), inputs).values()
    assert np.asarray(outputs).tolist() == sums
    assert np.asarray(carried).tolist() == [6, 15]


def test_scan_is_printed_with_its_attributes_and_region() -> None:
    text = """module {
  func.func @f(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
    %0:2 = chlo.scan(%arg0) inits (%arg1) dimension=0  attributes {is_reverse = true} {
    ^bb0(%input: tensor<3xf32>, %carry: tensor<3xf32>):
      %1 = stablehlo.add %input, %carry : tensor<3xf32>
      stablehlo.return %1, %1 : tensor<3xf32>, tensor<3xf32>
    } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
    return
  }
}
"""
    assert str(cir.dumps(cir.loads(text, format="mlir")), "utf-8").strip() == text.strip()
