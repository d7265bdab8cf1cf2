"""Documentation strings: wherever a message has one, it is written as it was read, and has no HTML (CIR10)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import commonir as cir
from commonir.base.diagnostics import Diagnostics

from tests.specifications.common_ir_files import document

Place = tuple[str | int, ...]
DOC = {"doc_string": "Text."}
X, Y = (
    {"name": n, "type": {"tensor_type": {"elem_type": "FLOAT", "shape": {"dim": [{"dim_param": "n"}]}}}} for n in "xy"
)
ALPHA = {"name": "alpha", "type": "FLOAT"}


def _operator(name: str) -> dict[str, Any]:
    attribute = {"name": "alpha", "type": {"tensor_type": {"elem_type": "FLOAT", "shape": {}}}, **DOC}
    signature = {
        "input_params": [{**X, **DOC}],
        "output_params": [{**Y, **DOC}],
        "input_attributes": [attribute],
        **DOC,
    }
    return {"name": name, "signature": [signature], **DOC}


def _function(name: str) -> dict[str, Any]:
    node: dict[str, Any] = {"input": ["x"], "output": ["y"], "name": "leaky", "op_type": "LeakyRelu", **DOC}
    node["attribute"] = [{"name": "alpha", "type": "FLOAT", "ref_attr_name": "alpha", **DOC}]
    parts = {"input_params": [{**X, **DOC}], "output_params": [{**Y, **DOC}], "node": [node]}
    return {"name": name, **parts, "attr": [{**ALPHA, **DOC}], **DOC}


def _model() -> dict[str, Any]:
    """A model with a documentation string in every message that has one."""
    calls = ["com.example.nn.O", "com.example.nn.F", "F", "org.commonir.core.leaky_relu", "LeakyRelu"]
    nodes: list[dict[str, Any]] = []
    for n, op_type in enumerate(calls):
        attribute = [{**ALPHA, "f": 0.5, **DOC}]
        node = {"input": ["abcde"[n - 1] if n else "x"], "output": ["abcde"[n]], "name": f"n{n}", "op_type": op_type}
        counts = {} if op_type == "LeakyRelu" else {"input_arg_count": [1]}
        nodes.append({**node, "attribute": attribute, **DOC, **counts})
    nodes.append({"input": ["e", "w"], "output": ["y"], "name": "last", "op_type": "Add", **DOC})
    about = {"ir_version": 10, "model_version": 1, "name": "nn", "domain": "com.example", "common_ir_version": 1}
    declared = {"operator": [_operator("O")], "function": [_function("F")]}
    library = {**about, **declared, "opset_import": [{"domain": "", "version": 22}], **DOC}
    graph = {
        "name": "g",
        "node": nodes,
        "input": [{**X, **DOC}],
        "output": [{**Y, **DOC}],
        "value_info": [{**X, "name": "a", **DOC}],
        "initializer": [{"name": "w", "dims": [1], "data_type": "FLOAT", "float_data": [1.0], **DOC}],
        "operator": [_operator("P")],
        "function": [_function("F")],
        "imported_libraries": ["commonir:core"],
        "library": [library],
        **DOC,
    }
    return json.loads(document(json.dumps({"ModelProto": {"graph": graph, **DOC}})))


def _places(content: Any, place: Place = ()) -> Iterator[Place]:
    """Yields where the documentation strings of a message stand."""
    if isinstance(content, dict):
        parts: list[tuple[str | int, Any]] = sorted(content.items())
    else:
        parts = list(enumerate(content)) if isinstance(content, list) else []
    for key, value in parts:
        if key == "doc_string":
            yield place
        else:
            yield from _places(value, (*place, key))


def test_documentation_strings_are_written_as_they_were_read(tmp_path: Path) -> None:
    path, again = tmp_path / "m.cir.json", tmp_path / "again.cir.json"
    path.write_text(json.dumps(_model()))
    module, diagnostics = cir.check(path)
    assert module is not None
    assert list(diagnostics) == []
    cir.save(module, again)
    assert list(_places(json.loads(again.read_text()))) == list(_places(_model()))


@pytest.mark.parametrize("place", list(_places(_model())), ids=lambda place: ".".join(map(str, place)))
def test_html_in_any_documentation_string_is_reported_once(place: Place, tmp_path: Path) -> None:
    file = _model()
    holder: Any = file
    for key in place:
        holder = holder[key]
    holder["doc_string"] = "A <b>text</b>."
    path = tmp_path / "m.cir.json"
    path.write_text(json.dumps(file))
    (found,) = cir.check(path)[1]
    assert found.message == "CIR10: the documentation string has markup that is not Markdown: '<b>'"


def test_a_conversion_to_onnx_reports_documentation_that_is_lost(tmp_path: Path) -> None:
    file = _model()
    graph = file["ModelProto"]["graph"]
    graph["node"] = [{"input": ["x"], "output": ["y"], "op_type": "F", "input_arg_count": [1]}]
    graph["node"][0]["attribute"] = [{**ALPHA, "f": 0.5}]
    path = tmp_path / "m.cir.json"
    path.write_text(json.dumps(file))
    diagnostics = Diagnostics()
    cir.convert(cir.load(path), "onnx", findings=diagnostics)
    assert "the documentation of parameters and attributes of functions" in [d.message for d in diagnostics]
