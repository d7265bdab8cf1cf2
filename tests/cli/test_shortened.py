"""A model that becomes shorter while a command reads it ends the command with a diagnostic, not by a signal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from commonir.base.file_contents import LARGEST_COPY_BYTES
from commonir.cli.shortened import shortened
from commonir.ir.data import MappedFile

from tests.cli.conftest import environment
from tests.oracles import oracle

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows does not shorten mapped files")

_SCRIPT = """
import os, sys
from commonir.cli.main import main
from commonir.ir.data import MappedFile
view = MappedFile.view
def shortening(self, *range):
    result = view(self, *range)
    os.truncate(self.path, 1)
    return result
MappedFile.view = shortening
sys.exit(main(sys.argv[1:]))
"""


def _model(folder: Path, count: int) -> Path:
    """Writes a model that adds an input to a weight of ones, which is in a data file, and returns its path."""
    onnx = oracle("onnx")
    helper = onnx.helper
    weight = helper.make_tensor("w", 1, [count], np.ones(count, np.float32).tobytes(), raw=True)
    infos = [helper.make_tensor_value_info(name, 1, shape) for name, shape in (("x", [1]), ("y", [count]))]
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", infos[:1], infos[1:], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = folder / "model.onnx"
    onnx.save_model(model, str(path), save_as_external_data=True, location="weights.bin", size_threshold=0)
    return path


def _run(model: Path, *options: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, "run", str(model), *options],
        capture_output=True,
        env=environment(),
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


_LARGE = LARGEST_COPY_BYTES // 4 + 1
"""The elements of a weight that is mapped."""


@pytest.mark.slow
def test_a_weight_that_becomes_shorter_while_it_is_read_ends_the_run(tmp_path: Path) -> None:
    status, output, errors = _run(_model(tmp_path, _LARGE), "x=f32[1]:1")
    assert (status, output) == (3, "")
    assert errors == (
        "error[E0102]: the file became shorter while it was read\n"
        f"  --> {tmp_path}/weights.bin\n"
        "   = help: run the command again; to replace a model that is in use, write a new file and rename it\n"
    )


@pytest.mark.slow
def test_the_answer_of_an_ended_run_is_json(tmp_path: Path) -> None:
    _, output, errors = _run(_model(tmp_path, _LARGE), "x=f32[1]:1", "--json")
    assert [finding["code"] for finding in json.loads(output)["diagnostics"]] == ["E0102"]
    assert errors == ""


@pytest.mark.slow
def test_small_files_are_read_as_a_whole(tmp_path: Path) -> None:
    model = _model(tmp_path, 1000)
    status, _, errors = _run(model, "x=f32[1]:1", "--save", str(tmp_path / "out.npz"))
    assert (status, errors) == (0, "")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npz")["y"], np.full(1000, 2, np.float32))


def test_a_shortened_file_is_found_by_its_mapping(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"a" * (LARGEST_COPY_BYTES + 1))
    file = MappedFile(str(path), LARGEST_COPY_BYTES + 1)
    view = file.view(0, LARGEST_COPY_BYTES)
    assert str(path) not in shortened()
    os.truncate(path, 1)
    assert (str(path) in shortened()) == Path("/proc/self/maps").exists()
    assert view.nbytes == LARGEST_COPY_BYTES


def test_contents_of_a_small_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "small"
    path.write_bytes(b"abc")
    view = MappedFile(str(path), 3).view(0, 3)
    os.truncate(path, 0)
    assert bytes(view) == b"abc"
