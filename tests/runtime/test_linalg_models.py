"""Models as exporters write them in linalg run here, in LLVM's tools and in IREE."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir.cli.main import main

from tests.arrays import read_arrays
from tests.iree import Compiled
from tests.mlir_runner import Array, Call, results_of_calls
from tests.runtime.linalg_models import softmax_program, transformer_program

PROGRAMS = {
    "softmax": (softmax_program(["3", "5", "7"]), "softmax", (3, 5, 7)),
    "softmax_dynamic": (softmax_program(["?", "9"]), "softmax", (4, 9)),
    "transformer": (transformer_program("2"), "block", (2, 6, 8)),
    "transformer_dynamic": (transformer_program("?"), "block", (3, 6, 8)),
}

STATEFUL = """\
ml_program.global private mutable @total(dense<0> : tensor<2x2xi32>) : tensor<2x2xi32>
ml_program.global private @step(dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>) : tensor<2x2xi32>
func.func @main(%x: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %total = ml_program.global_load @total : tensor<2x2xi32>
  %step = ml_program.global_load_const @step : tensor<2x2xi32>
  %a = tosa.add %total, %step : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  %b = tosa.maximum %a, %x : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  ml_program.global_store @total = %b : tensor<2x2xi32>
  return %b : tensor<2x2xi32>
}
"""


def _input(shape: tuple[int, ...]) -> Array:
    return np.random.default_rng(3).standard_normal(shape).astype("f4")


def _found(source: str, x: Array, engine: str = "numpy") -> Array:
    (result,) = cir.run(cir.loads(source, format="mlir"), {"x": x}, engine=engine).values()
    return np.asarray(result)


@pytest.mark.slow_cases("transformer*")
@pytest.mark.parametrize("name", PROGRAMS)
def test_models_give_what_llvm_makes_of_them(name: str) -> None:
    source, function, shape = PROGRAMS[name]
    x = _input(shape)
    ((expected,),) = results_of_calls(source, [Call(function, [x])])
    assert np.allclose(_found(source, x), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_reference_engine_gives_the_same() -> None:
    source, _, shape = PROGRAMS["transformer"]
    x = _input(shape)
    assert np.allclose(_found(source, x, "reference"), _found(source, x), rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_models_give_what_iree_makes_of_them(name: str) -> None:
    source, function, shape = PROGRAMS[name]
    x = _input(shape)
    (expected,) = Compiled(source).run(function, [x])
    assert np.allclose(_found(source, x), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_globals_go_on_from_call_to_call_as_with_iree() -> None:
    program, compiled, state = cir.loads(STATEFUL, format="mlir"), Compiled(STATEFUL), cir.State()
    for x in (np.array([[9, 0], [0, 0]], "i4"), np.array([[0, 0], [50, 0]], "i4"), np.zeros((2, 2), "i4")):
        (result,) = cir.run(program, {"x": x}, state=state).values()
        (expected,) = compiled.run("main", [x])
        assert np.asarray(result).tolist() == expected.tolist()


@pytest.mark.slow
def test_command_runs_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, values, results = tmp_path / "block.mlir", tmp_path / "x.npy", tmp_path / "y.npz"
    source, function, shape = PROGRAMS["transformer"]
    model.write_text(source)
    x = _input(shape)
    np.save(values, x)
    assert main(["run", str(model), f"x=@{values}", "--save", str(results)]) == 0
    capsys.readouterr()
    ((expected,),) = results_of_calls(source, [Call(function, [x])])
    (result,) = read_arrays(results).values()
    assert np.allclose(result, expected, rtol=1e-5, atol=1e-5)
