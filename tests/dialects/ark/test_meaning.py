"""Results of ARK operations, against numpy and numbers written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.dialects.ark import DIALECT
from commonir.ods import Form

from tests.dialects.programs import run

Array = NDArray[Any]

TYPES = {"f2": "f16", "f4": "f32", "i4": "i32", "u4": "ui32", "i1": "i8", "u1": "ui8"}
NO_MEANING = {
    "ark.tensor", "ark.Tensor", "ark.Placeholder", "ark.rank", "ark.Noop", "ark.Send", "ark.SendDone", "ark.Recv",
    "ark.SendPacket", "ark.RecvPacket", "ark.RecvReduceSend", "ark.RecvReduceSendPacket", "ark.DeviceSync",
}  # fmt: skip
"""Operations that compute nothing, and those that a transport executes."""


def _type(array: Array) -> str:
    element = "bf16" if array.dtype == ml_dtypes.bfloat16 else TYPES[array.dtype.str[1:]]
    return f"tensor<{''.join(f'{n}x' for n in array.shape)}{element}>"


def _run(name: str, inputs: list[Array], output: Array, attributes: str = "") -> Array:
    """Returns the tensors that an operation writes; `output` is what is there before."""
    input_values = [*inputs, output]
    types = ", ".join(map(_type, input_values))
    names = ", ".join(f"%a{n}" for n in range(len(input_values)))
    properties = ", ".join(filter(None, [attributes, 'node = 0 : i64, op_name = "", result_id = 1 : i64']))
    arguments = ", ".join(f"%a{n}: {_type(a)}" for n, a in enumerate(input_values))
    result = _type(output)
    actual = run(
        f"""ml_program.func @main({arguments}) -> {result} {{
          %r = "ark.{name}"({names}) <{{{properties}}}> : ({types}) -> {result}
          ml_program.return %r : {result}
        }}""",
        *input_values,
    )
    assert actual[0].shape == output.shape
    assert actual[0].dtype == output.dtype
    return actual[0]


def _normal(*shape: int, dtype: Any = "f4") -> Array:
    return np.random.default_rng(7).normal(size=shape).astype(np.dtype(dtype))


def test_every_operation_that_computes_has_a_meaning() -> None:
    without = {n for n, (d, *_) in DIALECT.operations.items() if d.form is Form.STRUCTURAL}
    assert without == NO_MEANING


@pytest.mark.parametrize(
    ("name", "function"), [("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide)]
)
@pytest.mark.parametrize("dtype", ["f4", "f2", ml_dtypes.bfloat16])
def test_arithmetic_rounds_once(name: str, function: Callable[..., Array], dtype: Any) -> None:
    a, b = _normal(2, 3, 4, dtype=dtype), _normal(3, 1, dtype=dtype) + np.ones((), dtype)
    expected = function(a.astype("f4"), b.astype("f4")).astype(a.dtype)
    np.testing.assert_array_equal(_run(name, [a, b], np.zeros_like(expected)), expected)


def test_integers_wrap_around_and_division_drops_the_fraction() -> None:
    a, b = np.array([127, -7, -128], "i1"), np.array([2, 2, -3], "i1")
    y = np.zeros(3, "i1")
    np.testing.assert_array_equal(_run("Add", [a, b], y), np.array([-127, -5, 125], "i1"))
    np.testing.assert_array_equal(_run("Mul", [a, b], y), np.array([-2, -14, -128], "i1"))
    np.testing.assert_array_equal(_run("Div", [a, b], y), np.array([63, -3, 42], "i1"))


def test_rope_multiplies_neighbours_as_complex_numbers() -> None:
    a, b = _normal(2, 3, 6), _normal(3, 6)
    product = (a[..., 0::2] + 1j * a[..., 1::2]) * (b[..., 0::2] + 1j * b[..., 1::2])
    expected = np.stack([np.real(product), np.imag(product)], -1).reshape(2, 3, 6)
    np.testing.assert_allclose(_run("Rope", [a, b], np.zeros((2, 3, 6), "f4")), expected, rtol=1e-5, atol=1e-6)


UNARY: dict[str, Callable[[Array], Array]] = {
    "Exp": np.exp,
    "Sqrt": np.sqrt,
    "Rsqrt": lambda x: 1 / np.sqrt(x),
    "Relu": lambda x: np.maximum(x, 0),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Gelu": lambda x: 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3))),
    "Copy": lambda x: x,
}


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize(("dtype", "tolerance"), [("f4", 1e-6), ("f2", 1e-3), (ml_dtypes.bfloat16, 8e-3)])
def test_functions_repeat_what_is_smaller(name: str, dtype: Any, tolerance: float) -> None:
    x = _normal(1, 5, dtype=dtype)
    x = abs(x) if "qrt" in name else x
    expected = np.broadcast_to(UNARY[name](x.astype("f8")), (3, 2, 5))
    result = _run(name, [x], np.zeros((3, 2, 5), x.dtype))
    np.testing.assert_allclose(result.astype("f8"), expected, rtol=tolerance, atol=tolerance)


def test_relu_and_maximum_pass_over_what_is_not_a_number() -> None:
    x = np.array([[np.nan, -2.0, -1.0], [3.0, np.nan, np.inf]], "f4")
    np.testing.assert_array_equal(_run("Relu", [x], np.zeros((2, 3), "f4")), [[0, 0, 0], [3, 0, np.inf]])
    result = _run("ReduceMax", [x], np.zeros(2, "f4"), "Axis = 1 : i32, KeepDim = false")
    np.testing.assert_array_equal(result, [-1, np.inf])


def _cast(values: list[float], source: Any, to: Any) -> list[float]:
    x = np.array(values, source)
    return _run("Cast", [x], np.zeros(len(values), to)).tolist()


def test_casts_from_single_precision_drop_the_fraction_and_stay_in_range() -> None:
    inputs = [1.9, -1.9, 2.5, 3e9, -3e9, np.nan, np.inf]
    assert _cast(inputs, "f4", "i4") == [1, -1, 2, 2147483647, -2147483648, 0, 2147483647]
    assert _cast(inputs, "f4", "u4") == [1, 0, 2, 3000000000, 0, 0, 4294967295]
    assert _cast(inputs, "f4", "i1") == [1, -1, 2, 127, -128, 0, 127]


@pytest.mark.parametrize("source", ["f2", ml_dtypes.bfloat16])
def test_casts_from_half_precision_round_to_the_nearest_integer(source: Any) -> None:
    assert _cast([1.9, -1.9, 2.5, 3.5], source, "i4") == [2, -2, 2, 4]
    assert _cast([1.9, -1.9, 2.5, 3.5], source, "u1") == [1, 0, 2, 3]


def test_casts_of_integers_keep_the_bits_that_fit() -> None:
    assert _cast([300, -1, 128], "i4", "i1") == [44, -1, -128]
    assert _cast([-1, 5], "i4", "u4") == [4294967295, 5]
    assert _cast([16777217], "i4", "f4") == [16777216]


def test_numbers_are_converted_before_they_are_used() -> None:
    x = np.array([1, 2, 3], "f2")
    factor = float(np.float32(0.7))
    expected = (x.astype("f4") * np.float32(np.float16(factor))).astype("f2")
    np.testing.assert_array_equal(_run("ScalarMul", [x], np.zeros(3, "f2"), f"Factor = {factor!r} : f64"), expected)
    whole = np.array([5, -6], "i4")
    np.testing.assert_array_equal(_run("ScalarAdd", [whole], np.zeros(2, "i4"), "Factor = -2.9 : f64"), [3, -8])
    np.testing.assert_array_equal(
        _run("ScalarMul", [whole], np.zeros((2, 2), "i4"), "Factor = 2.9 : f64"), [[10, -12]] * 2
    )


def test_assignment_fills_what_is_there() -> None:
    np.testing.assert_array_equal(
        _run("ScalarAssign", [], np.ones((2, 3), "f2"), "Value = 1.0e-1 : f64"), np.full((2, 3), 0.1, "f2")
    )
    np.testing.assert_array_equal(_run("ScalarAssign", [], np.ones(2, "u1"), "Value = 7.5 : f64"), [7, 7])


REDUCE: dict[str, Callable[..., Array]] = {"ReduceSum": np.sum, "ReduceMax": np.max, "ReduceMean": np.mean}


@pytest.mark.parametrize("name", REDUCE)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("keep", [True, False])
def test_reductions_form_sums_in_single_precision(name: str, axis: int, keep: bool) -> None:
    x = _normal(3, 4, 500, dtype="f2")
    expected = REDUCE[name](x.astype("f4"), axis=axis, keepdims=keep)
    result = _run(name, [x], np.zeros(expected.shape, "f2"), f"Axis = {axis} : i32, KeepDim = {str(keep).lower()}")
    np.testing.assert_allclose(result.astype("f4"), expected.astype("f2").astype("f4"), rtol=1e-3, atol=1e-3)


def test_reductions_of_integers_and_of_vectors() -> None:
    x = np.array([7, -2, 4], "i4")
    args = "Axis = 0 : i32, KeepDim = false"
    assert _run("ReduceSum", [x], np.zeros(1, "i4"), args).tolist() == [9]
    assert _run("ReduceMax", [x], np.zeros(1, "i4"), args).tolist() == [7]
    assert _run("ReduceMean", [np.array([7, -2, 3], "i4")], np.zeros(1, "i4"), args).tolist() == [2]


@pytest.mark.parametrize(
    ("a", "b", "flags", "shape"),
    [
        ((2, 3), (3, 4), (False, False), (2, 4)),
        ((3, 2), (4, 3), (True, True), (2, 4)),
        ((2, 1, 2, 3), (5, 3, 4), (False, False), (2, 5, 2, 4)),
        ((3,), (3, 4), (False, False), (1, 4)),
        ((2, 3), (3,), (False, False), (2, 1)),
        ((3,), (4, 3), (False, True), (1, 4)),
    ],
)
@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_products_of_matrices(
    a: tuple[int, ...], b: tuple[int, ...], flags: tuple[bool, bool], shape: tuple[int, ...], dtype: str
) -> None:
    left, right = _normal(*a, dtype=dtype), _normal(*b, dtype=dtype)
    rows, columns = np.atleast_2d(left.astype("f8")), right.astype("f8")
    columns = columns[:, None] if columns.ndim == 1 else columns
    rows = np.swapaxes(rows, -1, -2) if flags[0] else rows
    columns = np.swapaxes(columns, -1, -2) if flags[1] else columns
    words = [str(f).lower() for f in flags]
    result = _run(
        "Matmul", [left, right], np.zeros(shape, dtype), f"TransposeInput = {words[0]}, TransposeOther = {words[1]}"
    )
    np.testing.assert_allclose(result.astype("f8"), rows @ columns, rtol=1e-3 if dtype == "f2" else 1e-5, atol=1e-3)


def test_permutation_is_that_of_numpy() -> None:
    x = _normal(2, 3, 4, 5)
    expected = x.transpose(0, 2, 3, 1)
    result = _run("Transpose", [x], np.zeros(expected.shape, "f4"), "Permutation = array<i64: 0, 2, 3, 1>")
    np.testing.assert_array_equal(result, expected)


def test_inverse_permutation_is_taken_where_only_that_fits() -> None:
    x = _normal(2, 3, 4, 5)
    expected = x.transpose(0, 3, 1, 2)
    result = _run("Transpose", [x], np.zeros(expected.shape, "f4"), "Permutation = array<i64: 0, 2, 3, 1>")
    np.testing.assert_array_equal(result, expected)


def test_rows_are_looked_up_by_number() -> None:
    rows, numbers = _normal(6, 4, dtype="f2"), np.array([[0, 5, -1], [-6, 2, 2]], "i4")
    expected = rows[numbers].reshape(1, 2, 3, 4)
    np.testing.assert_array_equal(_run("Embedding", [numbers, rows], np.zeros((1, 2, 3, 4), "f2")), expected)
