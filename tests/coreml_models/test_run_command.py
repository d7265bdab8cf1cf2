"""`cir run` on the kinds of programs, as a user types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.coreml_models.running import KINDS
from tests.oracles import oracle

SOURCES = Path(__file__).parents[2] / "src"


def cir(folder: Path, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Runs the command in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), "NO_COLOR": "1"}
    command = [sys.executable, "-m", "commonir", *arguments]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=folder, env=environment, timeout=120
    )
    assert done.returncode == status, done.stderr
    return done


def ran(folder: Path, *arguments: str) -> dict[str, Any]:
    """The result of `cir run --json`."""
    return json.loads(cir(folder, "run", *arguments, "--json").stdout)["result"]


def package(name: str) -> str:
    return str(KINDS / f"{name}.mlpackage")


@pytest.mark.slow
def test_steps_go_on_from_a_saved_state(tmp_path: Path) -> None:
    rows = np.array([[[1, 2]], [[10, 20]]], np.float16)
    np.savez(tmp_path / "in.npz", x=rows, at=np.array([[0], [1]], np.int32))
    first = ("@in.npz", "--steps", "2", "--save-state", "state.npz", "--save", "out.npz")
    output = cir(tmp_path, "run", package("cache"), *first).stdout
    assert "states saved to state.npz" in output
    with np.load(tmp_path / "out.npz") as out:
        assert out["y"].tolist() == [[1, 2], [11, 22]]
        assert out["n"].tolist() == [[1], [2]]
    with np.load(tmp_path / "state.npz") as state:
        assert state["rows"].tolist() == [[1, 2], [10, 20], [0, 0], [0, 0]]
    result = ran(tmp_path, package("cache"), "x=f16[1,2]:100", "at=i32[1]:2", "--state", "state.npz")
    actual = {o["name"]: o["first"] for o in result["outputs"]}
    assert actual == {"y": [111, 122], "n": [3]}
    assert {s["name"] for s in result["states"]} == {"rows", "count"}


@pytest.mark.slow
def test_wrong_number_of_steps_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", x=np.zeros((2, 1, 2), np.float16))
    output = cir(tmp_path, "run", package("cache"), "@in.npz", "--steps", "3", status=2).stderr
    assert "input 'x' has size 2 along its first axis for 3 steps" in output


@pytest.mark.slow
def test_image_goes_in_and_comes_out(tmp_path: Path) -> None:
    image = oracle("PIL.Image")
    pixels = (np.arange(24, dtype=np.uint8) * 10).reshape(2, 4, 3)
    image.fromarray(pixels).save(tmp_path / "in.png")
    for name in ("image_rgb", "image_bgr"):
        cir(tmp_path, "run", package(name), "picture=@in.png", "--save", "out.png")
        assert np.asarray(image.open(tmp_path / "out.png")).tolist() == (255 - pixels).tolist()
    image.fromarray(np.full((9, 9, 3), 55, np.uint8)).save(tmp_path / "other.png")
    output = cir(tmp_path, "run", package("image_rgb"), "picture=@other.png", status=2).stderr
    assert "an image of 9x9 pixels is not allowed" in output
    resized = ("picture=@other.png", "--resize", "--save", "negative=out.png")
    cir(tmp_path, "run", package("image_rgb"), *resized)
    assert np.asarray(image.open(tmp_path / "out.png")).tolist() == np.full((2, 4, 3), 200).tolist()


@pytest.mark.slow
def test_output_that_is_not_an_image_is_not_saved_as_one(tmp_path: Path) -> None:
    output = cir(tmp_path, "run", package("ranged"), "--save", "out.png", status=2).stderr
    assert "image outputs: none" in output
    assert not (tmp_path / "out.png").exists()


@pytest.mark.slow
def test_probabilities_are_reported_by_label(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.log(np.array([[0.2, 0.5, 0.3]], np.float32)))
    result = ran(tmp_path, package("classifier_texts"), "x=@x.npy")
    assert result["probabilities"]["classLabel_probs"] == {
        "cat": pytest.approx(0.2, 1e-5),
        "dog": pytest.approx(0.5, 1e-5),
        "fox": pytest.approx(0.3, 1e-5),
    }
    lines = cir(tmp_path, "run", package("classifier_numbers"), "x=@x.npy").stdout.splitlines()
    start = lines.index("classLabel_probs, top 3 of 3 classes")
    assert [line.split() for line in lines[start + 1 : start + 4]] == [
        ["20", "0.5000"],
        ["30", "0.3000"],
        ["10", "0.2000"],
    ]


def test_safetensors_go_in_and_come_out(tmp_path: Path) -> None:
    numpy_files = oracle("safetensors.numpy")
    numpy_files.save_file({"x": np.array([[1, 2, 3]], np.float32), "other": np.zeros(2)}, tmp_path / "in.safetensors")
    cir(tmp_path, "run", package("ranged"), "x=@in.safetensors:x", "--save", "out.safetensors")
    assert numpy_files.load_file(tmp_path / "out.safetensors")["y"].tolist() == [[2, 4, 6]]
    output = cir(tmp_path, "run", package("ranged"), "@in.safetensors", status=2).stderr
    assert "the function has no input 'other'" in output


@pytest.mark.slow
def test_functions_run_and_convert_by_name(tmp_path: Path) -> None:
    result = ran(tmp_path, package("functions"), "x=f16[12]:1", "--function", "triple")
    assert result["outputs"][0]["first"] == [3, 6, 9, 12, 15, 18]


@pytest.mark.slow
def test_limits_are_kept(tmp_path: Path) -> None:
    output = cir(tmp_path, "run", package("functions"), "--mem-limit", "8", status=5).stderr
    assert "error[E0711]: input 'x' of shape [12] does not fit in the memory limit" in output
    output = cir(tmp_path, "run", package("functions"), "--mem-limit", "30", status=5).stderr
    assert "error[E0711]: the run needs" in output
    assert "the limit is 30" in output
    output = cir(tmp_path, "run", package("functions"), "--mem-limit", "many", status=2).stderr
    assert "'many' is not a size: give bytes, or a unit as in 512M or 2G" in output
    output = cir(tmp_path, "run", package("functions"), "--time-limit", "1e-9", status=5).stderr
    assert "the time limit of the run has passed" in output


@pytest.mark.slow
def test_conversion_is_checked_with_its_states_and_by_function(tmp_path: Path) -> None:
    output = cir(tmp_path, "convert", package("cache"), "-o", "m.onnx", "--check=3", "--json").stdout
    checked = json.loads(output)["result"]["check"]
    assert [[error["name"] for error in run] for run in checked] == [["y", "n", "rows", "count"]] * 3
    assert all(error["is_within"] for run in checked for error in run)
    cir(tmp_path, "convert", package("functions"), "-o", "m.onnx", "--function", "triple", "--check", "--strict")
    output = cir(tmp_path, "convert", package("functions"), "-o", "m.onnx", "--strict", status=1).stderr
    assert "the function 'triple' is left out" in output
