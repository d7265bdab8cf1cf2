"""Models that are prepared by their path, and run from the cache in another process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.base.codes import EXECUTION_FAILED
from commonir.llvm.code_image import is_loadable
from commonir.llvm.compiled_cache import VARIABLE
from commonir.native.caching import model_cache as caching
from commonir.runtime.engine import Executable

from tests.native.stored_models import W, normal, write_model, write_product

pytestmark = pytest.mark.skipif(not is_loadable(), reason="programs are stored on Linux on x86-64")


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of an empty cache."""
    monkeypatch.setenv("COMMONIR_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(VARIABLE)
    return tmp_path / "cache" / "compiled"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of a product."""
    write_product(tmp_path / "model.onnx")
    return tmp_path / "model.onnx"


def prepared(model: Path, **named: Any) -> Executable:
    """Returns a model that is prepared for the engine `native`."""
    return cir.prepare(model, engine="native", **named)


def is_cached(executable: Executable) -> bool:
    """Returns whether a model runs without having been read."""
    return "_source" not in vars(executable)


def result_of(executable: Executable, **inputs: NDArray[Any]) -> NDArray[Any]:
    """Runs a model of one output."""
    (result,) = executable.run(inputs).values()
    return np.asarray(result)


def check_product(executable: Executable, rows: int) -> None:
    """Runs a product on random inputs, and compares the result."""
    x = normal(rows, 24)
    actual = result_of(executable, x=x)
    np.testing.assert_allclose(actual, np.maximum(x @ W, 0), rtol=1e-5, atol=1e-5)


SCRIPT = """
import sys
import numpy as np
import commonir as cir
x = np.load(sys.argv[2])
y, = cir.prepare(sys.argv[1], engine="native").run({"x": x}).values()
np.save(sys.argv[3], y)
loaded = [m for m in sys.modules if m.startswith(("llvmlite", "commonir.dialects", "commonir.formats", "google"))]
assert not loaded, loaded
"""


@pytest.mark.slow
def test_a_process_that_finds_the_program_loads_neither_definitions_nor_llvm(
    folder: Path, model: Path, tmp_path: Path
) -> None:
    check_product(prepared(model), 5)
    x = normal(5, 24)
    np.save(tmp_path / "x.npy", x)
    files = [str(model), str(tmp_path / "x.npy"), str(tmp_path / "y.npy")]
    subprocess.run([sys.executable, "-c", SCRIPT, *files], check=True)
    np.testing.assert_allclose(np.load(files[2]), np.maximum(x @ W, 0), rtol=1e-5, atol=1e-5)
    assert folder.exists()


@pytest.mark.usefixtures("folder")
def test_shapes_that_have_not_run_yet_take_the_ordinary_way(model: Path) -> None:
    check_product(prepared(model), 5)
    executable = prepared(model)
    check_product(executable, 5)
    assert is_cached(executable)
    check_product(executable, 7)
    assert not is_cached(executable)
    check_product(executable, 5)
    executable = prepared(model)
    check_product(executable, 7)
    check_product(executable, 5)
    assert is_cached(executable)


@pytest.mark.usefixtures("folder")
def test_inputs_that_do_not_fit_are_reported_as_without_a_cache(model: Path) -> None:
    check_product(prepared(model), 5)
    for inputs in ({}, {"y": W}, {"x": normal(5, 23)}, {"x": W, "z": W}):
        with pytest.raises(cir.DiagnosticError) as cached:
            prepared(model).run(inputs)
        with pytest.raises(cir.DiagnosticError) as loaded:
            cir.prepare(cir.load(model), engine="native").run(inputs)
        assert [str(d) for d in cached.value.diagnostics] == [str(d) for d in loaded.value.diagnostics]
    actual = result_of(prepared(model), x=np.ones((5, 24), np.float16))
    np.testing.assert_allclose(actual, np.maximum(np.ones((5, 24)) @ W, 0), rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("folder")
def test_another_file_has_an_entry_of_its_own(model: Path) -> None:
    global_weights = W.copy()
    check_product(prepared(model), 5)
    status = model.stat()
    W[...] = normal(24, 40)
    try:
        write_product(model)
        # Even with the times and the size of the old one.
        os.utime(model, ns=(status.st_atime_ns, status.st_mtime_ns))
        executable = prepared(model)
        assert not is_cached(executable)
        check_product(executable, 5)
    finally:
        W[...] = global_weights


@pytest.mark.usefixtures("folder")
def test_another_processor_and_another_version_have_entries_of_their_own(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_product(prepared(model), 5)
    with monkeypatch.context() as patch:
        patch.setattr(caching, "_processor", lambda: "another")
        assert not is_cached(prepared(model))
    with monkeypatch.context() as patch:
        patch.setattr(caching, "__version__", "another")
        assert not is_cached(prepared(model))
    assert is_cached(prepared(model))


def test_damaged_weights_are_made_again(folder: Path, model: Path) -> None:
    check_product(prepared(model), 5)
    path = max(folder.iterdir(), key=lambda p: p.stat().st_size)
    content = bytearray(path.read_bytes())
    content[-9] ^= 1
    path.write_bytes(content)
    executable = prepared(model)
    assert not is_cached(executable)
    check_product(executable, 5)
    executable = prepared(model)
    assert is_cached(executable)
    check_product(executable, 5)


@pytest.mark.usefixtures("folder")
def test_positions_outside_of_a_tensor_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "gather.onnx"
    write_model(path, "float[4] x, int64[2] i", "float[2] y", "y = Gather(x, i)")
    inputs = {"x": normal(4), "i": np.array([3, 1])}
    prepared(path).run(inputs)
    executable = prepared(path)
    actual = result_of(executable, **inputs)
    np.testing.assert_array_equal(actual, inputs["x"][[3, 1]])
    with pytest.raises(cir.DiagnosticError, match="position 4") as error:
        executable.run({**inputs, "i": np.array([4, 0])})
    assert is_cached(executable)
    assert [d.code for d in error.value.diagnostics] == [EXECUTION_FAILED]


@pytest.mark.usefixtures("folder")
def test_loops_and_branches_are_stored_with_what_is_around_them(tmp_path: Path) -> None:
    path = tmp_path / "loop.onnx"
    step = "(int64 i, bool go, float[4] v) => (bool on, float[4] w) { on = Identity(go) w = Add(v, x) }"
    body = f"t = Constant <value = bool {{1}}> () z = Relu(x) y = Loop <body = g1 {step}> (n, t, z)"
    write_model(path, "float[4] x, int64 n", "float[4] y", body)
    x = normal(4)
    for count in (3, 0, 2):
        actual = result_of(prepared(path), x=x, n=np.array(count))
        np.testing.assert_allclose(actual, np.maximum(x, 0) + count * x, rtol=1e-6)
        assert is_cached(prepared(path))


@pytest.mark.usefixtures("folder")
def test_outputs_do_not_share_memory(tmp_path: Path) -> None:
    path = tmp_path / "outputs.onnx"
    write_model(path, "float[4] x", "float[4] y, float[2] c", "y = Relu(x) c = Constant <value = float[2] {1, 2}> ()")
    for _ in range(2):
        executable = prepared(path)
        first, second = (executable.run({"x": normal(4)}) for _ in range(2))
        for name in ("y", "c"):
            assert first[name].flags.writeable
            first[name][...] = 7
        np.testing.assert_array_equal(second["c"], np.array([1, 2], np.float32))


@pytest.mark.usefixtures("folder")
def test_a_program_that_keeps_state_or_has_limits_is_loaded(model: Path) -> None:
    check_product(prepared(model), 5)
    assert is_cached(prepared(model))
    assert not is_cached(prepared(model, state=cir.State()))
    assert not is_cached(prepared(model, options=cir.engine_options(time_limit_seconds=60)))
    assert not is_cached(cir.prepare(model, engine="numpy"))
    executable = prepared(model)
    assert dict(executable.state) == {}
    check_product(executable, 5)


def test_a_cache_that_cannot_be_written_is_not_an_error(
    model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("COMMONIR_CACHE", str(tmp_path / "file"))
    monkeypatch.delenv(VARIABLE)
    for _ in range(2):
        executable = prepared(model)
        assert not is_cached(executable)
        check_product(executable, 5)


def test_a_missing_model_is_reported(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(cir.DiagnosticError):
        prepared(tmp_path / "missing.onnx")
    assert not folder.exists()
