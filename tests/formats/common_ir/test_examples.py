"""The examples of Common IR: each is right, computes what is written here, and is what its script makes."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir import api
from commonir.formats.common_ir.write import dumps

from tests.dialects.core.collections_running import plain
from tests.oracles import oracle, require_package

EXAMPLES = Path(__file__).parents[3] / "examples" / "common_ir"
FILES = sorted(EXAMPLES.glob("*.cir.json"))
LIBRARIES = sorted((EXAMPLES / "libraries").glob("*.cir.json"))

Arrays = dict[str, Any]


def f32(*values: float) -> NDArray[np.float32]:
    return np.array(values, np.float32)


_ROWS = np.array([[1, 2], [-3, 0]], np.float32)
_NUMBERS = np.arange(1024, dtype=np.float32) / 1024

# What each example computes, worked out by hand.
EXPECTED: dict[str, tuple[Arrays, Arrays]] = {
    "metadata": ({"x": f32(-1, 2)}, {"y": f32(0, 2)}),
    "functions": ({"x": f32(1, -2)}, {"y": f32(10, -20)}),
    "variadic_operands": ({"a": f32(1), "b": f32(2, 3), "c": f32(4)}, {"y": f32(1, 2, 3, 4)}),
    "control_inputs": ({"x": f32(1, -2)}, {"y": f32(-1, 2), "z": f32(1, 2)}),
    "overloads": (
        {"x": f32(1.5, -2), "i": np.array([3, -4])},
        {"y": f32(3, -4), "j": np.array([6, -8])},
    ),
    # rows @ w is [[11, 14, 17], [-3, -6, -9]]; a negative sum is an eighth of itself.
    "imports": (
        {"x": _ROWS, "w": np.array([[1, 2, 3], [5, 6, 7]], np.float32), "b": f32(0, 0, -1)},
        {"y": np.array([[11, 14, 16], [-0.375, -0.75, -1.25]], np.float32)},
    ),
    "dimension_variables": (
        {"p": np.array([[1, 2, 3]], np.float32), "q": np.array([[4], [5], [6]], np.float32)},
        {"square": np.array([[32]], np.float32)},
    ),
    "wildcards": (
        {
            "p": np.array([[1, 2, 3], [4, 5, 6]], np.float32),
            "q": np.ones((2, 3), np.float32),
            "r": np.array([[1, 0], [0, 1], [1, 1]], np.float32),
        },
        {
            "same": np.array([[2, 3, 4], [5, 6, 7]], np.float32),
            "fewer": np.array([[2, 30, 400], [5, 60, 700]], np.float32),
            "contracted": np.array([[402, 430], [705, 760]], np.float32),
        },
    ),
    "nested_graphs": ({"c": np.array(True), "x": f32(1, -2)}, {"y": f32(3, -6)}),
    "plain_onnx": ({"x": f32(0)}, {"y": f32(0.5)}),
    "core_operations": ({"x": f32(0, 50)}, {"y": f32(0, 50)}),
    "weights": (
        {"x": np.full(1024, 2, np.float32)},
        {
            "y": 2 * _NUMBERS + np.float32(0.5),
            # bfloat16 keeps eight of the digits: larger numbers are cut, not rounded, when the example is made.
            "h": (_NUMBERS.view(np.uint32) & 0xFFFF0000).view(np.float32),
            "p": np.arange(4096) % 16 - 8,
            "c": np.arange(0, 200, 2) + 1j * np.arange(1, 200, 2),
        },
    ),
}
EXPECTED["collections"] = (
    {
        "prices": {"tea": 2.5, "milk": 1.5},
        "item": np.array("tea", object),
        "owner": np.array(7),
        "given": (np.array("milk", object), np.array(7)),
        "weights": cir.SparseArray(f32(-1, 4, 9), [[0, 0], [0, 2], [1, 1]], (2, 3)),
        "queue": [f32(8).reshape(()), f32(9).reshape(())],
    },
    {
        "price": f32(2.5).reshape(()),
        "rest": {"milk": 1.5},
        "items": ["milk", "tea"],
        "pair": ("tea", 7),
        "is_same": np.array(True),
        "number": np.array(7),
        "remaining": ([4, 9], [[0, 2], [1, 1]], (2, 3)),
        "places": np.array([[0, 2], [1, 1]]),
        "count": np.array(2),
        "shorter": [9, 2.5],
        "length": np.array(2),
    },
)
EXPECTED["bundled"] = EXPECTED["imports"]
_ONLY_DECLARED = {"argument_counts", "attribute_kinds", "data_types"}


def assert_close(result: Arrays, expected: Arrays, rtol: float = 1e-6) -> None:
    assert result.keys() == expected.keys()
    for key, expected_value in expected.items():
        if not isinstance(expected_value, np.ndarray):
            assert plain(result[key]) == expected_value, key
            continue
        assert result[key].dtype == expected_value.dtype, key
        # Complex numbers hold all others here.
        pair = result[key].astype(np.complex128), expected_value.astype(np.complex128)
        np.testing.assert_allclose(*pair, rtol=rtol, err_msg=key)


def name_of(path: Path) -> str:
    return path.name.removesuffix(".cir.json")


def test_every_example_is_run_or_has_no_meaning() -> None:
    assert {name_of(path) for path in FILES} == {*EXPECTED, *_ONLY_DECLARED}


@pytest.mark.parametrize("path", [*FILES, *LIBRARIES], ids=name_of)
def test_the_example_has_no_findings(path: Path) -> None:
    module, diagnostics = api.check(path)
    assert module is not None
    assert [str(d) for d in diagnostics] == []


@pytest.mark.parametrize("engine", ["numpy", "reference"])
@pytest.mark.parametrize("name", EXPECTED)
def test_the_example_computes_what_is_written(name: str, engine: str) -> None:
    inputs, outputs = EXPECTED[name]
    assert_close(cir.run(cir.load(EXAMPLES / f"{name}.cir.json"), inputs, engine=engine), outputs)


@pytest.mark.parametrize("suffix", [".cir", ".cir.json"])
@pytest.mark.parametrize("name", EXPECTED)
def test_the_example_computes_the_same_after_a_round_trip(name: str, suffix: str, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "libraries", tmp_path / "libraries")
    copy = tmp_path / f"copy{suffix}"
    cir.save(cir.load(EXAMPLES / f"{name}.cir.json"), copy)
    inputs, outputs = EXPECTED[name]
    assert_close(cir.run(cir.load(copy), inputs), outputs)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_the_text_of_the_example_says_everything(path: Path, tmp_path: Path) -> None:
    module = cir.load(path)
    cir.save(module, tmp_path / "m.mlir", format="mlir")
    again, diagnostics = api.check(tmp_path / "m.mlir")
    assert again is not None
    assert [str(d) for d in diagnostics] == []
    assert dumps(again, is_json=True) == dumps(module, is_json=True)


def test_the_examples_are_what_the_script_makes(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "make_examples.py", tmp_path)
    runpy.run_path(str(tmp_path / "make_examples.py"), run_name="__main__")
    result = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.*") if path.suffix != ".py")
    preserved = sorted(
        path.relative_to(EXAMPLES) for path in EXAMPLES.rglob("*.*") if path.suffix not in (".py", ".md")
    )
    assert result == preserved
    for path in result:
        assert (tmp_path / path).read_bytes() == (EXAMPLES / path).read_bytes(), path


@pytest.mark.parametrize("name", sorted(EXPECTED.keys() - {"weights", "collections"}))
def test_onnxruntime_computes_the_same_from_the_export(name: str, tmp_path: Path) -> None:
    require_package("onnxruntime")
    path = tmp_path / "model.onnx"
    cir.save(cir.convert(cir.load(EXAMPLES / f"{name}.cir.json"), "onnx"), path)
    inputs, outputs = EXPECTED[name]
    assert_close(api.run_with_onnxruntime(path, inputs), outputs, rtol=1e-5)


@pytest.mark.parametrize("name", sorted(EXPECTED.keys() - {"weights", "collections"}))
def test_the_checker_of_onnx_takes_the_export(name: str, tmp_path: Path) -> None:
    onnx = oracle("onnx")
    path = tmp_path / "model.onnx"
    cir.save(cir.convert(cir.load(EXAMPLES / f"{name}.cir.json"), "onnx"), path)
    onnx.checker.check_model(str(path), full_check=True)


def test_what_onnx_has_no_values_for_is_not_exported() -> None:
    with pytest.raises(cir.DiagnosticError, match=r"(?s)E0601.*core.tuple_of.*pass their elements instead"):
        cir.convert(cir.load(EXAMPLES / "collections.cir.json"), "onnx")
