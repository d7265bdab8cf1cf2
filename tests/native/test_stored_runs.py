"""`cir run` of models that are compiled already."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir import api
from commonir.llvm.code_image import is_loadable
from commonir.llvm.compiled_cache import VARIABLE

from tests.command_lines import Cir, Done, command_lines
from tests.native.stored_models import W, normal, write_model, write_product

pytestmark = pytest.mark.skipif(not is_loadable(), reason="programs are stored on Linux on x86-64")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Cir:
    """Runs a command line."""
    return command_lines(capsys)


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of an empty cache."""
    monkeypatch.setenv("COMMONIR_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(VARIABLE)
    return tmp_path / "cache" / "compiled"


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A model of a product."""
    write_product(tmp_path / "model.onnx")
    return str(tmp_path / "model.onnx")


class Reads:
    """Counts how often a model is read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        load = api.load

        def counted(*args: object, **named: object) -> cir.Module:
            self.count += 1
            return load(*args, **named)  # pyright: ignore[reportArgumentType]  passed on

        monkeypatch.setattr(api, "load", counted)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    """Counts how often a model is read."""
    return Reads(monkeypatch)


def result_of(done: Done) -> Any:
    """Returns the result of a command as JSON."""
    return json.loads(done.out)["result"]


def nearly(value: Any) -> Any:
    """Returns a value of JSON that equals others whose numbers differ in their last digits."""
    match value:
        case dict():
            return {name: nearly(part) for name, part in value.items()}
        case list():
            return [nearly(part) for part in value]
        case float():
            return pytest.approx(value, rel=1e-5, abs=1e-6)
        case _:
            return value


def test_a_run_takes_what_a_run_of_the_compiling_engine_stored(model: str, run: Cir, reads: Reads) -> None:
    first = run("run", model, "--engine", "native", "--seed", "3", "--json")
    assert (first.status, reads.count) == (0, 1)
    for options in ((), ("--engine", "native")):
        again = run("run", model, *options, "--seed", "3", "--json")
        assert result_of(again) == nearly(result_of(first))
    assert run("run", model).out.startswith("random inputs (seed 0): x f32[4,24]")
    assert reads.count == 1
    assert run("run", model, "--engine", "numpy").status == 0
    assert reads.count == 2


def test_random_inputs_are_those_of_a_run_that_reads_the_model(tmp_path: Path, run: Cir, reads: Reads) -> None:
    path = str(tmp_path / "gather.onnx")
    write_model(
        Path(path), "float[9] x, int64[50] i, bool[3] b", "float[50] y, bool[3] c", "y = Gather(x, i) c = Not(b)"
    )
    run("run", path, "--engine", "native", "--seed", "1")
    read = run("run", path, "--engine", "numpy", "--seed", "5", "--json")
    assert reads.count == 2
    stored = run("run", path, "--seed", "5", "--json")
    assert reads.count == 2
    # Elements are only moved, so the results are equal if the inputs are.
    assert result_of(stored) == result_of(read)


def test_inputs_from_files_are_taken_and_outputs_saved(model: str, tmp_path: Path, run: Cir, reads: Reads) -> None:
    x, saved = normal(5, 24), tmp_path / "y.npz"
    np.save(tmp_path / "x.npy", x)
    for _ in range(2):
        done = run("run", model, f"x=@{tmp_path}/x.npy", "--save", str(saved), "--engine", "native")
        assert done.status == 0
        assert "random" not in done.out
        np.testing.assert_allclose(np.load(saved)["y"], np.maximum(x @ W, 0), rtol=1e-5, atol=1e-5)
        saved.unlink()
    assert reads.count == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("x=f32[7,24]:ones",),
        ("x=f64[4,24]:ones",),
        ("x=[1,2]",),
        ("z=f32[4,24]:ones",),
        ("--set", "N=2"),
        ("--steps", "2"),
        ("--fast-math", "none"),
        ("--time-limit", "60"),
        ("--save-inputs", "x.npz"),
    ],
    ids=str,
)
def test_other_runs_read_the_model(
    arguments: tuple[str, ...], model: str, tmp_path: Path, run: Cir, reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("run", model, "--engine", "native")
    cached = run("run", model, *arguments)
    assert reads.count == 2
    monkeypatch.setenv(VARIABLE, "0")
    alone = run("run", model, *arguments)
    assert (cached.status, cached.err) == (alone.status, alone.err)


def test_a_run_that_does_not_compile_stores_nothing(model: str, run: Cir, folder: Path) -> None:
    assert run("run", model).status == 0
    assert not folder.exists()


def test_what_other_options_compile_is_not_stored_for_the_default_ones(model: str, run: Cir, reads: Reads) -> None:
    run("run", model, "--engine", "native", "--fast-math", "none")
    run("run", model)
    assert reads.count == 2


def test_a_model_that_is_prepared_by_its_path_runs_on_given_inputs(model: str, run: Cir, reads: Reads) -> None:
    cir.prepare(model, engine="native").run({"x": normal(4, 24)})
    assert run("run", model, "x=f32[4,24]:ones").status == 0
    assert reads.count == 0
    assert run("run", model).status == 0
    assert reads.count == 1


def test_warnings_about_shapes_are_not_lost(tmp_path: Path, run: Cir) -> None:
    path = str(tmp_path / "wrong.onnx")
    write_model(Path(path), "float[N] x", "float[3] y", "y = Relu(x)")
    for options in (("--engine", "native"), ()):
        done = run("run", path, "x=f32[5]:ones", *options)
        assert "declared" in done.err


def test_a_damaged_program_is_stored_anew(model: str, run: Cir, reads: Reads, folder: Path) -> None:
    first = run("run", model, "--engine", "native", "--json")
    path = max(folder.iterdir(), key=lambda p: p.stat().st_size)
    content = bytearray(path.read_bytes())
    content[-9] ^= 1
    path.write_bytes(content)
    for count in (2, 2):
        again = run("run", model, "--engine", "native", "--json")
        assert result_of(again) == nearly(result_of(first))
        assert reads.count == count


SCRIPT = """
import sys
from commonir.cli.main import main
assert main(sys.argv[1:]) == 0
unneeded = ("llvmlite", "ml_dtypes", "commonir.dialects", "commonir.formats", "commonir.base.safetensors", "google")
loaded = [m for m in sys.modules if m.startswith(unneeded)]
assert not loaded, loaded
"""


@pytest.mark.slow
def test_a_stored_run_loads_neither_definitions_nor_llvm(model: str, tmp_path: Path, run: Cir) -> None:
    run("run", model, "--engine", "native")
    np.save(tmp_path / "x.npy", normal(4, 24))
    for inputs in ((), (f"x=@{tmp_path}/x.npy",)):
        subprocess.run([sys.executable, "-c", SCRIPT, "run", model, *inputs], check=True)
