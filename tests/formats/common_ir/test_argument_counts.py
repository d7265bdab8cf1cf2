"""Argument counts: several values for a list, inputs of ONNX operators without empty names, counts that contradict.

Results are written out by hand and compared with onnxruntime, which runs the same program converted to ONNX.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir

from tests.oracles import require_package
from tests.specifications.common_ir_files import document

Message = dict[str, Any]

LISTS = ["xs: list<float32[*]>", "s: float32[]", "ys: list<float32[*]>"]
FUNCTION = {
    "name": "F",
    "input_params": LISTS,
    "output_params": ["y: float32[*]"],
    "node": [
        'c = ConcatFromSequence(xs) {"axis": {"i": 0, "type": "INT"}}',
        'd = ConcatFromSequence(ys) {"axis": {"i": 0, "type": "INT"}}',
        "e = Mul(d, s)",
        'y = Concat(c, e) {"axis": {"i": 0, "type": "INT"}}',
    ],
}
OPERATOR = {"name": "F", "signature": [{"input_params": LISTS, "output_params": ["y: float32[*]"]}]}
VALUES = {
    "a": np.array([1, 2], np.float32),
    "b": np.array([3], np.float32),
    "s": np.array(10, np.float32),
    "c": np.array([4, 5, 6], np.float32),
}


def _library(name: str, **declared: Message) -> str:
    about = {"name": name, "domain": "com.example", "doc_string": "A library."}
    return document(json.dumps({"LibraryProto": {**about, **{kind: [d] for kind, d in declared.items()}}}))


def _model(folder: Path, node: str, **more: object) -> Path:
    (folder / "declared.cir.json").write_text(_library("declared", operator=OPERATOR))
    (folder / "meaning.cir.json").write_text(_library("meaning", function=FUNCTION))
    graph = {
        "name": "g",
        "doc_string": "A graph.",
        "input": ["a: float32[2]", "b: float32[1]", "s: float32[]", "c: float32[3]"],
        "output": ["y: float32[k]"],
        "node": [node],
        **more,
    }
    path = folder / "m.cir.json"
    path.write_text(document(json.dumps({"ModelProto": {"graph": graph}})))
    return path


def _errors(path: Path) -> list[str]:
    return [f"{d.code.id}: {d.message}" for d in cir.check(path)[1] if d.is_error]


def _node(path: Path) -> Message:
    return json.loads(path.read_text())["ModelProto"]["graph"]["node"][0]


CALLS = {
    "a function": ("F", {"function": [FUNCTION]}),
    "an operator": ("com.example.declared.F", {"imported_libraries": ["declared.cir.json", "meaning.cir.json"]}),
}


@pytest.mark.parametrize("called", CALLS)
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("[2, 1, 1](a, b, s, c)", [1, 2, 3, 40, 50, 60]),
        ("[1, 1, 2](a, s, b, c)", [1, 2, 30, 40, 50, 60]),
        ("[3, 1, 1](a, a, b, s, c)", [1, 2, 1, 2, 3, 40, 50, 60]),
        ("[1, 1, 1](a, s, c)", [1, 2, 40, 50, 60]),
    ],
)
def test_a_list_takes_several_values(called: str, arguments: str, expected: list[int], tmp_path: Path) -> None:
    name, more = CALLS[called]
    path = _model(tmp_path, f"y = {name}{arguments}", **more)
    assert _errors(path) == []
    module = cir.load(path)
    assert cir.run(module, VALUES)["y"].tolist() == expected
    assert cir.run(cir.convert(module, "onnx"), VALUES)["y"].tolist() == expected
    cir.save(module, tmp_path / "again.cir.json")
    assert _node(tmp_path / "again.cir.json") == _node(path)


@pytest.mark.parametrize(
    ("called", "arguments", "message"),
    [
        ("a function", "[2, 2, 0](a, b, s, c)", "E0502: parameter 's' of function 'F' takes one value, found 2"),
        ("a function", "[2, 0, 1](a, b, c)", "E0502: parameter 's' of function 'F' takes one value, found 0"),
        ("a function", "[2, 1, 1](a, s, c)", "E0502: the argument counts [2, 1, 1] do not divide 3 inputs"),
        ("a function", "[2, 1](a, b, s)", "E0255: CIR23: 'F' has 3 parameters, found 2 counts"),
        ("a function", "[2, 1, 1](a, b, b, c)", "E0503: parameter 's' of function 'F': expected rank 0"),
        ("an operator", "[2, 2, 0](a, b, s, c)", "E0502: common_ir.op.com.example.declared.F: parameter 's' takes one"),
        ("an operator", "[2, 1](a, b, s)", "E0255: CIR23: com.example.declared.F has 3 parameters, found 2 counts"),
    ],
)
def test_counts_that_do_not_fit_parameters_are_refused(
    called: str, arguments: str, message: str, tmp_path: Path
) -> None:
    name, more = CALLS[called]
    (error,) = _errors(_model(tmp_path, f"y = {name}{arguments}", **more))
    assert error.startswith(message)


CLIPS = {
    "[1, 0, 1](c, s)": [4, 5, 6],
    "[1, 1, 0](c, s)": [10, 10, 10],
    "[1, 0, 0](c)": [4, 5, 6],
    "[1, 1, 1](c, , s)": [4, 5, 6],
    "[1, 1, 1](c, s, s)": [10, 10, 10],
}


@pytest.mark.parametrize("arguments", CLIPS)
def test_an_input_of_an_onnx_operator_with_the_count_0_needs_no_empty_name(arguments: str, tmp_path: Path) -> None:
    path = _model(tmp_path, f"y = Clip{arguments}")
    assert _errors(path) == []
    module = cir.load(path)
    assert cir.run(module, VALUES)["y"].tolist() == CLIPS[arguments]
    cir.save(module, tmp_path / "again.cir.json")
    assert _node(tmp_path / "again.cir.json") == _node(path)


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ("Clip[1, 0, 1](c, , s)", "E0502: onnx.Clip: the argument counts [1, 0, 1] do not divide 3 inputs"),
        ("Clip[1, 1, 1](c)", "E0502: onnx.Clip: the argument counts [1, 1, 1] do not divide 1 input"),
        ("Clip[2, 0, 0](c, s)", "E0502: onnx.Clip: parameter 'input' takes one value, found 2"),
        ("Clip[1, -1, 2](c, s)", "E0502: onnx.Clip: the argument counts [1, -1, 2] do not divide 2 inputs"),
        ("Clip[1](c)", "E0255: CIR23: 'onnx.Clip' has 3 parameters, found 1 count"),
        ('Concat[3](a, b) {"axis": {"i": 0, "type": "INT"}}', "E0502: onnx.Concat: the argument counts [3] do not"),
        ('Concat[1, 1](a, b) {"axis": {"i": 0, "type": "INT"}}', "E0255: CIR23: 'onnx.Concat' has 1 parameter"),
    ],
)
def test_counts_that_contradict_an_onnx_operator_are_refused(node: str, message: str, tmp_path: Path) -> None:
    (error,) = _errors(_model(tmp_path, f"y = {node}"))
    assert error.startswith(message)


@pytest.mark.parametrize("node", ["F[2, 1, 1](a, b, s, c)", "F[3, 1, 1](a, a, b, s, c)", *[f"Clip{c}" for c in CLIPS]])
def test_onnxruntime_gives_the_same(node: str, tmp_path: Path) -> None:
    require_package("onnxruntime")
    module = cir.load(_model(tmp_path, f"y = {node}", **({"function": [FUNCTION]} if node.startswith("F") else {})))
    expected = cir.run(module, VALUES)["y"].tolist()
    assert cir.run(cir.convert(module, "onnx"), VALUES, engine="onnxruntime")["y"].tolist() == expected
