"""Reading stored results of runs: archives with inputs and sets, JSON, what polygraphy saves, and what is refused."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import numpy as np
import pytest

from commonir import DiagnosticError
from commonir.cli.stored_arrays import is_polygraphy, is_stored, read_stored, single_run


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
    with pytest.raises(DiagnosticError, match="the file has 2 runs, and one is expected here"):
        single_run(path)


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
        ([1], "neither an object of arrays by name nor a file of polygraphy"),
        ({"lst": [["r", [{"runtime": 1}]]]}, "a run of polygraphy has no outputs"),
        ({"lst": [["trt", []], ["ort", []]]}, "results of several runners, also of 'ort'"),
        ([{"x": ndarray("!")}], "'x': "),
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
    assert single_run(path).inputs["x"].shape == (100_000,)
