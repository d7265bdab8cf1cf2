"""Declared types of tuples, lists and sparse tensors hold when a graph runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError

from tests.specifications.common_ir_files import document


def _graph(output: str, node: str, folder: Path) -> cir.Module:
    graph: dict[str, Any] = {"name": "g", "input": ["x: float32[n]", "z: float32[m]"], "output": [f"y: {output}"]}
    graph |= {"node": [f"y = org.commonir.core.{node}"], "imported_libraries": ["commonir:core"]}
    path = folder / "m.cir.json"
    path.write_text(document(json.dumps({"ModelProto": {"graph": graph}})))
    return cir.load(path)


@pytest.mark.parametrize(
    ("output", "node", "holds"),
    [
        ("tuple<float32[3]>", "tuple_of[1](x)", "n and 3"),
        ("tuple<float32[n], float32[n]>", "tuple_of[2](x, z)", "m and n"),
        ("list<float32[3]>", "list_of[1](x)", "n and 3"),
        ("sparse<float32[3]>", "to_sparse[1](x)", "n and 3"),
    ],
)
def test_dims_of_parts_are_those_that_are_declared(output: str, node: str, holds: str, tmp_path: Path) -> None:
    module = _graph(output, node, tmp_path)
    for engine in ("numpy", "reference"):
        cir.run(module, {"x": np.ones(3, np.float32), "z": np.ones(3, np.float32)}, engine=engine)
        with pytest.raises(DiagnosticError, match=rf"E0716.*{holds} must be equal"):
            cir.run(module, {"x": np.ones(4, np.float32), "z": np.ones(3, np.float32)}, engine=engine)


_WILD = """{"ModelProto": {"graph": {
  "name": "g", "doc_string": "A graph.", "input": ["p: TYPE"], "output": ["n: int64[]"],
  "node": ["n = org.commonir.core.OP[1](p)"], "imported_libraries": ["commonir:core"]
}}}"""


def _file(folder: Path, type: str, op: str) -> Path:
    path = folder / "m.cir.json"
    path.write_text(document(_WILD.replace("TYPE", type).replace("OP", op)))
    return path


@pytest.mark.parametrize(
    ("type", "op", "right", "wrong"),
    [
        ("tuple<float32[n, m*], float32[m*]>", "tuple_length", ((2, 3), (3,)), ((2, 3), (2,))),
        ("tuple<float32[m*], float32[m*]>", "tuple_length", ((), ()), ((1,), ())),
        ("list<float32[*, n]>", "list_length", ((2, 3), (3,)), ((2, 3), (2,))),
    ],
)
def test_wildcards_inside_of_collections_hold_when_a_program_runs(
    type: str, op: str, right: tuple[tuple[int, ...], ...], wrong: tuple[tuple[int, ...], ...], tmp_path: Path
) -> None:
    module = cir.load(_file(tmp_path, type, op))
    as_value = tuple if type.startswith("tuple") else list

    def inputs(shapes: tuple[tuple[int, ...], ...]) -> dict[str, Any]:
        return {"p": as_value([np.zeros(shape, np.float32) for shape in shapes])}

    assert cir.run(module, inputs(right))["n"] == 2
    with pytest.raises(DiagnosticError) as raised:
        cir.run(module, inputs(wrong))
    assert raised.value.diagnostics[0].code.id == "E0716"
    assert cir.run(module, cir.random_inputs(module))["n"] == 2


@pytest.mark.parametrize(
    ("type", "op", "code"),
    [
        ("list<map<int64, list<float32[]>>>", "list_length", "E0709"),
        ("tuple<float32[a*, b*]>", "tuple_length", "E0505"),
    ],
)
def test_random_inputs_of_types_that_are_not_allowed_are_refused(type: str, op: str, code: str, tmp_path: Path) -> None:
    module = cir.load(_file(tmp_path, type, op))
    with pytest.raises(DiagnosticError) as raised:
        cir.random_inputs(module)
    assert raised.value.diagnostics[0].code.id == code
