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
