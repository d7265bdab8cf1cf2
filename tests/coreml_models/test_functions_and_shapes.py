"""Several functions, bodies for several operation sets, flexible shapes, and inputs with default values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import commonir as cir

from tests.coreml_models.running import ENGINES, converted, diagnostic, f32, load, run_onnx
from tests.oracles import oracle

engines = pytest.mark.parametrize("engine", ENGINES)

ONES = np.ones(12, np.float16)


# -- functions


@engines
@pytest.mark.parametrize(("function", "factor"), [(None, 2), ("double", 2), ("triple", 3)])
def test_each_function_runs(engine: str, function: str | None, factor: int) -> None:
    result = cir.run(load("functions"), {"x": ONES}, engine=engine, function=function)["y"]
    assert result.tolist() == [factor * n for n in range(1, 13)]


def test_functions_are_listed_with_the_one_that_runs() -> None:
    summary = cir.summarize(load("functions"))
    assert summary.entry == "double"
    assert {f.name: f.opset for f in summary.functions} == {"double": "CoreML8", "triple": "CoreML8"}
    # Both use one weight of twelve numbers; the factors are numbers of their own.
    assert summary.parameter_count == 14


def test_unknown_function_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(cir.DiagnosticError) as error:
        cir.run(load("functions"), {"x": ONES}, function="tripel")
    assert diagnostic(error.value) == "E0706 | the program has no function 'tripel'"
    assert error.value.diagnostics[0].help == "did you mean 'triple'?"


def test_function_that_is_asked_for_is_converted_without_loss(tmp_path: Path) -> None:
    path, result = converted("functions", tmp_path, function="triple")
    assert list(result) == []
    assert run_onnx(path, {"x": ONES})["y"].tolist() == [3 * n for n in range(1, 13)]
    _, result = converted("functions", tmp_path)
    assert [d.code.id for d in result] == ["W0601"]


@engines
def test_only_the_body_for_the_active_operation_set_runs(engine: str) -> None:
    module = load("specializations")
    assert cir.run(module, {"x": f32(1, 2, 3)}, engine=engine)["y"].tolist() == [2, 3, 4]
    assert cir.summarize(module).functions[0].operations == {"mil.add": 1}


# -- shapes


def test_random_inputs_have_the_default_shape() -> None:
    assert cir.random_inputs(load("ranged"))["x"].shape == (1, 5)
    drawn = cir.random_inputs(load("enumerated"))
    assert (drawn["a"].shape, drawn["b"].shape) == ((1, 2), (3, 1))


def test_shapes_that_belong_together_are_drawn_together() -> None:
    drawn = cir.random_inputs(load("enumerated"), dims={"a_1": 4})
    assert (drawn["a"].shape, drawn["b"].shape) == ((1, 4), (5, 1))
    drawn = cir.random_inputs(load("enumerated"), given={"b": np.ones((5, 1), np.float32)})
    assert drawn["a"].shape == (1, 4)


@engines
def test_every_allowed_shape_runs(engine: str) -> None:
    for size in (3, 4, 5, 6):
        x = np.ones((1, size), np.float32)
        assert cir.run(load("ranged"), {"x": x}, engine=engine)["y"].tolist() == [[2] * size]
    for a, b in ((2, 3), (4, 5)):
        inputs = {"a": np.ones((1, a), np.float32), "b": np.ones((b, 1), np.float32)}
        assert cir.run(load("enumerated"), inputs, engine=engine)["y"] == a + b


@engines
def test_shape_outside_of_what_is_allowed_is_refused(engine: str) -> None:
    with pytest.raises(cir.DiagnosticError) as error:
        cir.run(load("ranged"), {"x": np.ones((1, 7), np.float32)}, engine=engine)
    assert diagnostic(error.value) == ("E0707 | input 'x': the shape [1, 7] is not allowed | allowed: [1, 3..6]")
    with pytest.raises(cir.DiagnosticError) as error:
        inputs = {"a": np.ones((1, 3), np.float32), "b": np.ones((3, 1), np.float32)}
        cir.run(load("enumerated"), inputs, engine=engine)
    assert diagnostic(error.value) == ("E0707 | input 'a': the shape [1, 3] is not allowed | allowed: [1, 2], [1, 4]")


@engines
def test_shapes_that_do_not_belong_together_are_refused(engine: str) -> None:
    inputs = {"a": np.ones((1, 2), np.float32), "b": np.ones((5, 1), np.float32)}
    with pytest.raises(cir.DiagnosticError) as error:
        cir.run(load("enumerated"), inputs, engine=engine)
    assert diagnostic(error.value) == (
        "E0707 | shapes of inputs do not belong together: 'a' [1, 2], 'b' [5, 1]"
        " | allowed: [1, 2] with [3, 1] or [1, 4] with [5, 1]"
    )


@pytest.mark.parametrize(
    ("name", "dims", "message"),
    [
        ("ranged", {"x_1": 9}, "E0707 | the dimension 'x_1' cannot be 9 | allowed: 3..6"),
        ("enumerated", {"a_1": 3}, "E0707 | input 'a' has no shape with these sizes | allowed: [1, 2], [1, 4]"),
        ("ranged", {"y_1": 4}, "E0712 | no input has a dimension 'y_1' | dynamic dimensions: x_1"),
    ],
)
def test_size_that_cannot_be_is_refused(name: str, dims: dict[str, int], message: str) -> None:
    with pytest.raises(cir.DiagnosticError) as error:
        cir.random_inputs(load(name), dims=dims)
    assert error.value.diagnostics[0].code.id == message[:5]
    first = error.value.diagnostics[0]
    assert " | ".join([first.code.id, first.message, *first.notes]) == message


def test_size_that_contradicts_a_given_input_is_refused() -> None:
    with pytest.raises(cir.DiagnosticError) as error:
        cir.random_inputs(load("ranged"), dims={"x_1": 4}, given={"x": np.ones((1, 5), np.float32)})
    assert diagnostic(error.value) == "E0707 | the dimension 'x_1' is set to 4, but a given input makes it 5"


def test_dimensions_are_shown_by_the_names_that_are_set() -> None:
    (port,) = cir.summarize(load("ranged")).functions[0].inputs
    assert (port.type, port.note) == ('tensor<1x"x_1"xf32>', "sizes 1 x 3..6")


# -- defaults


@engines
def test_optional_input_has_its_default_value(engine: str) -> None:
    module = load("optional")
    assert cir.run(module, {"x": f32(1, 2, 4)}, engine=engine)["y"].tolist() == [2.5, 5, 10]
    inputs = {"x": f32(1, 2, 4), "scale": f32(1, 1, 3)}
    assert cir.run(module, inputs, engine=engine)["y"].tolist() == [1, 2, 12]
    executable = cir.prepare(module, engine=engine)
    assert executable.run({"x": f32(2, 2, 2)})["y"].tolist() == [5, 5, 5]


def test_default_value_is_that_of_the_input_in_onnx(tmp_path: Path) -> None:
    onnx = oracle("onnx")
    path, result = converted("optional", tmp_path)
    assert list(result) == []
    onnx.checker.check_model(onnx.load(path), full_check=True)
    assert run_onnx(path, {"x": f32(1, 2, 4)})["y"].tolist() == [2.5, 5, 10]
    assert run_onnx(path, {"x": f32(1, 2, 4), "scale": f32(1, 1, 3)})["y"].tolist() == [1, 2, 12]


def test_input_without_default_must_be_given() -> None:
    with pytest.raises(cir.DiagnosticError) as error:
        cir.prepare(load("optional")).run({"scale": f32(1, 1, 1)})
    assert diagnostic(error.value) == "E0701 | input 'x' (tensor<3xf32>) has no value"
