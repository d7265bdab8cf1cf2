"""Reading stored results of runs: archives with inputs and sets, JSON, what polygraphy saves, and what is refused."""

from __future__ import annotations

import base64
import io
import json
import math
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

from commonir import DiagnosticError
from commonir.base.arrays import dtype_of
from commonir.cli.stored_arrays import (
    has_sets,
    is_polygraphy,
    is_stored,
    numbered,
    read_stored,
    save_inputs_json,
    save_outputs_json,
    side_by_side,
)

from tests.oracles import oracle


def npy(array: object, *, allow_pickle: bool = False) -> str:
    """An array as polygraphy writes it: numpy's format in base64."""
    stream = io.BytesIO()
    np.save(stream, np.asarray(array), allow_pickle=allow_pickle)
    return base64.b64encode(stream.getvalue()).decode()


def ndarray(text: str) -> dict[str, object]:
    return {"array": text, "polygraphy_class": "ndarray"}


def write(path: Path, value: object) -> str:
    path.write_text(json.dumps(value))
    return str(path)


def test_names_in_archives_select_inputs_and_sets(tmp_path: Path) -> None:
    path = str(tmp_path / "a.npz")
    arrays = {"set1/inputs/x": 1, "set1/y": 2, "set0/inputs/x": 3, "set0/outputs/y": 4}
    np.savez(path, **{name: np.array(v) for name, v in arrays.items()})  # pyright: ignore[reportArgumentType]  names are free
    runs = [
        ({n: int(a) for n, a in r.inputs.items()}, {n: int(a) for n, a in r.values.items()}) for r in read_stored(path)
    ]
    assert runs == [({"x": 3}, {"y": 4}), ({"x": 1}, {"y": 2})]
    assert has_sets(path)
    with pytest.raises(DiagnosticError, match=r"different numbers of runs: a\.npz has 2, b\.npz has 1"):
        side_by_side([read_stored(path), read_stored(path)[:1]], ["a.npz", "b.npz"])


def test_nested_lists_of_json_are_arrays(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.json", {"a": [[1, 2], [3, 4]], "b": [1.5, "nan", "-inf"], "c": ["x", "y"], "d": True, "e": []}
    )
    (run,) = read_stored(path)
    assert is_stored(path)
    assert run.values["a"].tolist() == [[1, 2], [3, 4]]
    assert run.values["a"].dtype == np.int64
    np.testing.assert_array_equal(run.values["b"], [1.5, np.nan, -np.inf])
    assert run.values["c"].tolist() == ["x", "y"]
    assert (run.values["d"].dtype, run.values["e"].shape) == (np.bool_, (0,))


def test_inputs_of_polygraphy_are_sets(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.json",
        [{"x": ndarray(npy(np.array([1], np.float16)))}, {"x": ndarray(npy(np.array([2], np.float16)))}],
    )
    assert is_stored(path)
    assert [(r.inputs["x"].dtype, r.inputs["x"].tolist(), dict(r.values)) for r in read_stored(path)] == [
        (np.float16, [1.0], {}),
        (np.float16, [2.0], {}),
    ]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"a": [[1], [2, 3]]}, "'a' is not an array"),
        ({"a": [None]}, "'a' is not an array"),
        ({"a": reduce(lambda inner, _: [inner], range(900), math.nan)}, "'a' is not an array"),
        ([1], "neither an object of arrays by name nor a file of polygraphy"),
        ({"lst": [["r", [{"runtime": 1}]]]}, "a run of polygraphy has no outputs"),
        ({"lst": [["trt", []], ["ort", []]]}, "results of several runners, also of 'ort'"),
        ([{"x": ndarray("!")}], "'x': "),
        ([{"x": ndarray(base64.b64encode(b"\x93NUMPY\x01\0\x03\0{{{").decode())}], "'x': "),
        ([{"x": ndarray(base64.b64encode(b"PK").decode())}], "'x' is not an array of numpy"),
        ([{"x": ndarray(npy([object()], allow_pickle=True))}], "Python objects, which run code"),
        ([{"x": {"array": "", "polygraphy_class": "Tensor"}}], "polygraphy's class Tensor"),
    ],
)
def test_other_values_than_arrays_are_refused(value: object, reason: str, tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError, match=reason):
        read_stored(write(tmp_path / "a.json", value))


def test_empty_archives_and_models_are_not_results(tmp_path: Path) -> None:
    np.savez(tmp_path / "empty.npz")
    with pytest.raises(DiagnosticError, match="it has none"):
        read_stored(str(tmp_path / "empty.npz"))
    with pytest.raises(DiagnosticError, match="stored results are"):
        read_stored(str(tmp_path / "model.onnx"))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.npz", "", True),
        ("a.safetensors", "", True),
        ("a.onnx", "", False),
        ("a.json", '{"y": [1, 2]}', True),
        ("a.ark.json", '{"version": 3, "nodes": [{"id": 0}]}', False),
        ("missing.json", None, False),
    ],
)
def test_models_are_distinguished_from_stored_values(
    name: str, text: str | None, expected: bool, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    assert is_stored(str(tmp_path / name)) is expected


def test_files_of_polygraphy_are_known_whatever_the_length_of_their_arrays(tmp_path: Path) -> None:
    # polygraphy names the class after the array.
    path = write(tmp_path / "a.json", [{"x": ndarray(npy(np.zeros(100_000, np.float32)))}])
    assert is_polygraphy(path)
    assert is_stored(path)
    assert read_stored(path)[0].inputs["x"].shape == (100_000,)


# `polygraphy.json.to_json` of polygraphy 0.53.6, with other spaces.
_HALVES = (
    "k05VTVBZAQB2AHsnZGVzY3InOiAnPGYyJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDEsKSwgfSAgICAgICAg"
    "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAPA=="
)
_FLOATS = (
    "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsKSwgfSAgICAgICAg"
    "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAIA/AAAAQA=="
)


def test_files_are_those_of_polygraphy(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    halves, floats = np.array([1], np.float16), np.array([1, 2], np.float32)
    assert save_inputs_json(str(path), [{"x": halves}, {"x": halves}]) == ()
    assert json.loads(path.read_text()) == [{"x": ndarray(_HALVES)}] * 2
    assert save_outputs_json(str(path), [{"y": floats}], "r") == ()
    run = {
        "outputs": {"y": {"values": ndarray(_FLOATS), "polygraphy_class": "LazyArray"}},
        "runtime": 0.0,
        "runner_name": "r",
        "polygraphy_class": "IterationResult",
    }
    assert json.loads(path.read_text()) == {"lst": [["r", [run]]], "polygraphy_class": "RunResults"}


@pytest.mark.slow  # `test_files_are_those_of_polygraphy` is the fast one
def test_polygraphy_reads_what_is_written(tmp_path: Path) -> None:
    oracle("polygraphy")
    results, load_json = oracle("polygraphy.comparator").RunResults, oracle("polygraphy.json").load_json
    arrays = [{"x": np.arange(n, 6, dtype=np.float32).reshape(-1, 2), "ids": np.array(n)} for n in (0, 2)]
    save_inputs_json(str(tmp_path / "inputs.json"), arrays)
    save_outputs_json(str(tmp_path / "outputs.json"), arrays, "commonir-numpy")
    loaded = results.load(str(tmp_path / "outputs.json"))
    for found in (load_json(str(tmp_path / "inputs.json")), loaded["commonir-numpy"]):
        for part, expected in zip(found, arrays, strict=True):
            assert list(part) == list(expected)
            for name in part:
                np.testing.assert_array_equal(part[name], expected[name], strict=True)


def test_narrow_floats_and_texts_are_widened_for_polygraphy(tmp_path: Path) -> None:
    path = str(tmp_path / "a.json")
    arrays = {"x": np.array([1.5], dtype_of("bf16")), "names": np.array(["a", "bc"], object)}
    assert save_inputs_json(path, [arrays, arrays]) == ("x",)
    for run in read_stored(path):
        assert (run.inputs["x"].dtype, run.inputs["x"].tolist()) == (np.float32, [1.5])
        assert run.inputs["names"].tolist() == ["a", "bc"]


def test_values_of_several_sets_have_their_number() -> None:
    assert numbered([{"y": 1}]) == {"y": 1}
    assert numbered([{"y": 1}, {"y": 2, "z": 3}]) == {"set0/y": 1, "set1/y": 2, "set1/z": 3}
