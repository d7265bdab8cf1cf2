"""Inputs of a run: what is refused, and with which message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.base.codes import (
    EXECUTION_FAILED,
    MISSING_INPUT,
    UNKNOWN_ENGINE,
    UNKNOWN_FUNCTION,
    UNKNOWN_INPUT,
    WRONG_DIMENSIONS,
    WRONG_INPUT,
)
from commonir.base.diagnostics import Code, Diagnostic, DiagnosticError
from commonir.dialects import core
from commonir.inputs.random_inputs import noting_chosen_sizes, random_inputs
from commonir.ir.data import data_of
from commonir.ir.types import ElementType, TensorType, bf16, boolean, f16, f32, i32, i64, tensor
from commonir.runtime.binding.inputs import bind
from commonir.runtime.engine import Engines
from commonir.symbolic import symbol

from tests.runtime.programs import program


def findings(types: dict[str, TensorType], inputs: Mapping[str, object]) -> list[tuple[object, str]]:
    function = program(lambda *vs: vs, types).main
    with pytest.raises(DiagnosticError) as error:
        bind(function, inputs)
    return [(d.code, str(d)) for d in error.value.diagnostics]


def test_misspelt_input_is_reported_with_the_nearest_name_and_the_missing_one() -> None:
    diagnostics = findings({"image": tensor(f32, 1)}, {"imge": np.zeros(1, np.float32)})
    assert [code for code, _ in diagnostics] == [UNKNOWN_INPUT, MISSING_INPUT]
    assert "did you mean 'image'?" in diagnostics[0][1]


def test_value_that_does_not_fit_is_reported_with_its_place() -> None:
    ((code, text),) = findings({"x": tensor(f32, 2)}, {"x": np.array([1, 1e300])})
    assert code is WRONG_INPUT
    assert "expected element type f32, found f64; 1e+300 at [1] does not fit" in text
    assert "f32 has magnitudes up to 3.403e+38" in text


@pytest.mark.parametrize(
    ("element", "dtype"), [(i64, np.int32), (f32, np.float16), (f32, np.int16), (i32, np.uint8), (i32, np.bool_)]
)
def test_conversion_that_preserves_every_value_of_the_type_is_made(element: ElementType, dtype: type) -> None:
    function = program(lambda x: x, {"x": tensor(element, 2)}).main
    (array,) = bind(function, {"x": np.ones(2, dtype)}).arrays
    assert array.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("element", "array", "expected"),
    [
        (f32, np.array([0.1, -np.inf]), np.array([0.1, -np.inf], np.float32)),  # rounded
        (f16, np.array([0.1, 65504], np.float32), np.array([0.1, 65504], np.float16)),
        (bf16, np.array([1.5, 3], np.float16), np.array([1.5, 3], ml_dtypes.bfloat16)),
        (i32, np.array([7, -(2**31)]), np.array([7, -(2**31)], np.int32)),
        (f32, np.array([2**24, -3]), np.array([2**24, -3], np.float32)),
        (i64, np.array([1.0, 2.0]), np.array([1, 2])),
        (boolean, np.array([0, 1]), np.array([False, True])),
    ],
    ids=str,
)
def test_arrays_are_converted_where_their_values_fit(
    element: ElementType, array: NDArray[Any], expected: NDArray[Any]
) -> None:
    function = program(lambda x: x, {"x": tensor(element, 2)}).main
    (bound,) = bind(function, {"x": array}).arrays
    assert bound.dtype == expected.dtype
    assert bound.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("element", "array"),
    [
        (i32, np.array([2**31])),
        (f32, np.array([2**24 + 1])),
        (f16, np.array([65520], np.float32)),
        (i64, np.array([1.5])),
        (i64, np.array([np.nan])),
        (i64, np.array([2.0**63])),
        (boolean, np.array([2])),
        (f32, np.array([1 + 0j])),
        (f32, np.array(["1"])),
    ],
    ids=str,
)
def test_conversion_that_loses_a_value_is_refused(element: ElementType, array: NDArray[Any]) -> None:
    ((code, _),) = findings({"x": tensor(element, 1)}, {"x": array})
    assert code is WRONG_INPUT


def test_python_numbers_are_taken_when_they_fit() -> None:
    function = program(lambda *vs: vs, {"x": tensor(i32, 3), "y": tensor(f32)}).main
    x, y = bind(function, {"x": [1, 2, 3], "y": 0.5}).arrays
    assert (x.tolist(), y.tolist()) == ([1, 2, 3], 0.5)


def test_rank_and_size_are_reported_with_input_and_axis() -> None:
    ((_, rank),) = findings({"x": tensor(f32, 2, 3)}, {"x": np.zeros(6, np.float32)})
    assert "expected rank 2 (tensor<2x3xf32>), found rank 1" in rank
    ((_, size),) = findings({"x": tensor(f32, 2, 3)}, {"x": np.zeros((2, 4), np.float32)})
    assert "axis 1 of input 'x': expected 3, found 4" in size


@pytest.mark.parametrize(
    ("expected", "shape", "text"),
    [
        ((1, 3, 12, 12), (3, 12, 12), "array[numpy.newaxis]"),
        ((1, 3, 12, 12), (12, 12, 3), "array.transpose(2, 0, 1)[numpy.newaxis]"),
        ((1, 12, 12, 3), (3, 12, 12), "array.transpose(1, 2, 0)[numpy.newaxis]"),
        ((2, 3, 12, 10), (2, 12, 10, 3), "array.transpose(0, 3, 1, 2)"),
        ((2, 12, 10, 3), (2, 3, 12, 10), "array.transpose(0, 2, 3, 1)"),
        ((1, 8), (8,), "array[numpy.newaxis]"),
        ((1, 8), (8, 1), None),
        ((2, 3, 12, 12), (3, 12, 12), None),
    ],
)
def test_array_in_another_layout_is_refused_with_what_numpy_makes_of_it(
    expected: tuple[int, ...], shape: tuple[int, ...], text: str | None
) -> None:
    array = np.zeros(shape, np.float32)
    found = findings({"x": tensor(f32, *expected)}, {"x": array})
    assert [f"help: `{text}` has the shape {list(expected)}" in d for _, d in found] == [text is not None] * len(found)
    if text is not None:
        assert eval(text, {"array": array, "numpy": np}).shape == expected


def test_symbol_bound_to_two_sizes_is_reported_with_both_places() -> None:
    n = symbol("n")
    inputs = {"x": np.zeros(2, np.float32), "y": np.zeros(3, np.float32)}
    ((code, text),) = findings({"x": tensor(f32, n), "y": tensor(f32, n)}, inputs)
    assert code is WRONG_DIMENSIONS
    assert "axis 0 of input 'y': 'n' is 2 (axis 0 of input 'x'), found 3" in text


def test_symbol_below_its_least_value_and_expression_that_does_not_fit_are_reported() -> None:
    n = symbol("n", 2)
    ((_, least),) = findings({"x": tensor(f32, n)}, {"x": np.zeros(1, np.float32)})
    assert "'n' is at least 2, found 1" in least
    inputs = {"x": np.zeros(2, np.float32), "y": np.zeros(5, np.float32)}
    ((_, expression),) = findings({"x": tensor(f32, n), "y": tensor(f32, n * 2)}, inputs)
    assert "expected 2*n = 4, found 5" in expression


def test_unknown_engine_and_function_are_reported_with_the_nearest_name() -> None:
    with pytest.raises(DiagnosticError, match="did you mean 'numpy'") as error:
        Engines().get("nunpy")
    assert error.value.diagnostics[0].code is UNKNOWN_ENGINE
    with pytest.raises(DiagnosticError, match="did you mean 'main'") as error:
        program(lambda x: x, {"x": tensor(f32)}).function("mian")
    assert error.value.diagnostics[0].code is UNKNOWN_FUNCTION


def test_random_inputs_are_the_same_for_a_seed_and_differ_by_name_and_seed() -> None:
    module = program(lambda *vs: vs, {"x": tensor(f32, 8), "y": tensor(f32, 8)})
    first, second, other = (random_inputs(module, seed=s) for s in (0, 0, 1))
    assert first["x"].tolist() == second["x"].tolist()
    assert first["x"].tolist() != first["y"].tolist()
    assert first["x"].tolist() != other["x"].tolist()


def test_random_positions_stay_inside_of_what_they_select_from() -> None:
    types = {"table": tensor(f32, 3, 4), "ids": tensor(i64, 100)}
    module = program(lambda t, p: core.gather(t, core.cast(p, i32)), types)
    ids = random_inputs(module)["ids"]
    assert set(ids.tolist()) == {0, 1, 2}


def test_random_sizes_follow_given_sizes_and_arrays_and_break_no_constraint() -> None:
    n, m, k = symbol("n"), symbol("m"), symbol("k")
    types = {"a": tensor(f32, n, m), "b": tensor(f32, k, 32)}
    module = program(lambda a, b: core.matmul(core.matmul(a, b), b, transpose_b=True), types)
    drawn = random_inputs(module, dims={"n": 7}, given={"b": np.zeros((5, 32), np.float32)})
    assert (drawn["a"].shape[0], drawn["b"].shape) == (7, (5, 32))
    split = program(lambda x: core.reshape(x, (-1, 32)), {"x": tensor(f32, n)})
    assert random_inputs(split)["x"].shape[0] % 32 == 0


def test_random_sizes_are_large_along_those_axes_alone_that_need_it() -> None:
    image = tensor(f32, symbol("batch"), 1, symbol("height"), symbol("width"))
    filters = core.constant(data_of(f32, (1, 1, 33, 1), [1.0] * 33))
    module = program(lambda x: core.conv(x, filters), {"x": image})
    assert random_inputs(module)["x"].shape == (4, 1, 64, 4)


def test_size_of_an_unknown_dimension_is_reported_with_those_there_are() -> None:
    module = program(lambda x: x, {"x": tensor(f32, symbol("batch"), 2)})
    assert random_inputs(module, dims={"batch": 3})["x"].shape == (3, 2)
    with pytest.raises(DiagnosticError) as error:
        random_inputs(module, dims={"bacth": 3})
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.code.id, diagnostic.message) == ("E0712", "no input has a dimension 'bacth'")
    assert (diagnostic.notes, diagnostic.help) == (("dynamic dimensions: batch",), "did you mean 'batch'?")


@pytest.mark.parametrize("shape", [(2**62, 2**62), (2**40,)])
def test_input_that_is_too_large_is_not_drawn(shape: tuple[int, ...]) -> None:
    with pytest.raises(DiagnosticError) as error:
        random_inputs(program(lambda x: x, {"x": tensor(f32, *shape)}))
    assert error.value.diagnostics[0].code.id == "E0711"


def test_sizes_satisfy_constraints_of_one_dim_after_the_other() -> None:
    # One size for both dims satisfies neither constraint: b is 8, and c is a.
    a, b, c = symbol("a"), symbol("b"), symbol("c")
    weight = core.constant(data_of(f32, (8, 2), [1.0] * 16))
    types = {"x": tensor(f32, a, b), "y": tensor(f32, 5, c)}
    module = program(lambda x, y: core.matmul(y, core.matmul(x, weight)), types)
    inputs = random_inputs(module, dims={"a": 3})
    assert [inputs[name].shape for name in "xy"] == [(3, 8), (5, 3)]


def test_error_about_shapes_says_which_sizes_were_chosen() -> None:
    n, m, k = symbol("n"), symbol("m"), symbol("k")
    types = {"x": tensor(f32, n), "y": tensor(f32, m, k), "z": tensor(f32, n)}
    module = program(lambda *values: values, types)
    given = {"x": np.zeros(2, np.float32)}
    inputs = random_inputs(module, given=given, dims={"k": 7})

    def notes(code: Code) -> list[str]:
        with pytest.raises(DiagnosticError) as error, noting_chosen_sizes(module.main, inputs, given, {"k": 7}):
            raise DiagnosticError(Diagnostic(code, "wrong"))
        return [f"{d.message}; {d.help}" for d in error.value.diagnostics[1:]]

    chosen = "sizes of random inputs were chosen: m = 4; set them with `--set m=N`, or give 'y'"
    assert notes(EXECUTION_FAILED) == [chosen]
    assert notes(UNKNOWN_ENGINE) == []


def test_random_inputs_that_memory_does_not_hold_are_a_diagnostic(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError("unable to allocate")

    monkeypatch.setattr(np.random, "PCG64", fail)
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Abs (x) }'
    module = cir.loads(text, format="onnxtxt")
    with pytest.raises(DiagnosticError, match="E0711"):
        cir.random_inputs(module)
