"""The transformer of `examples/`, which needs no torch here, on the command line: its outputs are torch's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import commonir as api
from commonir.cli.main import main

from tests.passes.shard.programs import Array

_EXAMPLES = Path(__file__).parents[3] / "examples"
MODEL, GIVEN = str(_EXAMPLES / "transformer.onnx"), f"@{_EXAMPLES / 'transformer_inputs.npz'}"

Cir = Callable[..., dict[str, Any]]


@pytest.fixture
def cir(capsys: pytest.CaptureFixture[str]) -> Cir:
    """Runs a command line that succeeds or not, and gives its answer as JSON."""

    def run(*arguments: str) -> dict[str, Any]:
        main([*arguments, "--json"])
        return json.loads(capsys.readouterr().out)

    return run


def _is_right(path: Path) -> None:
    with np.load(path) as stored, np.load(_EXAMPLES / "transformer_outputs.npz") as expected:
        assert set(stored) == {"logits"}
        assert_allclose(stored["logits"], expected["logits"], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("parallel", ["tensor", "data"])
@pytest.mark.parametrize("ranks", ["1", "2", pytest.param("4", marks=pytest.mark.slow)])
def test_run_takes_and_gives_whole_arrays(cir: Cir, tmp_path: Path, ranks: str, parallel: str) -> None:
    saved = tmp_path / "out.npz"
    answer = cir("run", MODEL, GIVEN, "--ranks", ranks, "--parallel", parallel, "--save", str(saved))
    assert answer["ok"]
    assert [d["code"] for d in answer["diagnostics"]] == ([] if ranks == "1" else ["N0603"])
    _is_right(saved)


@pytest.mark.slow
@pytest.mark.parametrize("parallel", ["tensor", "data"])
@pytest.mark.parametrize(("output", "count"), [("net.ark.json", 8), ("net.mlir", 1)])
def test_convert_divides_and_checks(cir: Cir, tmp_path: Path, output: str, count: int, parallel: str) -> None:
    path = str(tmp_path / output)
    answer = cir("convert", MODEL, "-o", path, "--ranks", "4", "--parallel", parallel, "--check=2")
    assert answer["ok"], answer
    assert len(answer["result"]["files"]) == count
    for (error,) in answer["result"]["check"]:
        assert error["name"] == "logits"
        assert error["is_within"]


@pytest.mark.slow
def test_files_of_ranks_are_run_together(cir: Cir, tmp_path: Path) -> None:
    saved = tmp_path / "out.npz"
    assert cir("convert", MODEL, "-o", str(tmp_path / "net.ark.json"), "--ranks", "4")["ok"]
    with np.load(_EXAMPLES / "transformer_inputs.npz") as inputs:
        np.savez(tmp_path / "given.npz", allow_pickle=False, input_ids=inputs["input_ids"].astype(np.int32))
    assert cir("run", str(tmp_path / "net.rank0.ark.json"), f"@{tmp_path / 'given.npz'}", "--save", str(saved))["ok"]
    with np.load(saved) as stored, np.load(_EXAMPLES / "transformer_outputs.npz") as expected:
        assert set(stored) == {f"rank{n}.logits" for n in range(4)}
        for logits in stored.values():
            assert_allclose(logits, expected["logits"], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["run", MODEL, "--parallel", "data"], "E0901"),
        (["run", MODEL, "--ranks", "3", "--parallel", "data"], "E0610"),
        (["convert", MODEL, "-o", "net.onnx", "--ranks", "2"], "E0601"),
    ],
)
def test_what_cannot_be_divided_is_reported(
    cir: Cir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: str
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = cir(*arguments)
    assert not answer["ok"]
    assert code in [d["code"] for d in answer["diagnostics"]]
    assert list(tmp_path.iterdir()) == []


def test_sizes_known_only_when_running_stay_open() -> None:
    program = api.load(_EXAMPLES.parent / "tests" / "models" / "kinds" / "detector.mlpackage")
    inputs = api.random_inputs(program, seed=3)
    expected, result = api.run(program, inputs), api.run(program, inputs, ranks=2)
    assert result.keys() == expected.keys()
    for name in expected:
        arguments: Array = result[name]
        expected_value: Array = expected[name]
        assert_allclose(arguments, expected_value, rtol=1e-4, atol=1e-4)


def test_nothing_to_divide_is_a_warning(cir: Cir, tmp_path: Path) -> None:
    answer = cir("convert", MODEL, "-o", str(tmp_path / "net.mlir"), "--ranks", "5")
    assert answer["ok"]
    (result,) = answer["diagnostics"]
    assert (result["code"], result["severity"]) == ("W0602", "warning")
