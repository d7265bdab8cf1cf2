"""Broken Common IR files that `cir check --fix` fixes: the result gives what the nodes give in the right order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import commonir as cir
from commonir import api


def _value(name: str, *dims: int) -> dict[str, Any]:
    shape = {"dim": [{"dim_value": d} for d in dims]}
    return {"name": name, "type": {"tensor_type": {"elem_type": "FLOAT", "shape": shape}}}


def test_order_kinds_and_types_are_fixed_at_once(tmp_path: Path) -> None:
    attribute = {"name": "alpha", "type": "INT", "i": 2}
    nodes = [
        {"input": ["m"], "output": ["y"], "name": "second", "op_type": "LeakyRelu", "attribute": [attribute]},
        {"input": ["x"], "output": ["m"], "name": "first", "op_type": "Neg"},
    ]
    graph = {"node": nodes, "name": "g", "doc_string": "Two nodes.", "input": [_value("x", 2)]}
    model = {
        "ir_version": 10,
        "domain": "com.example",
        "model_version": 1,
        "graph": {**graph, "output": [_value("y", 5, 3)]},
        "opset_import": [{"domain": "", "version": 22}],
    }
    path, out = tmp_path / "m.cir.json", tmp_path / "fixed.cir.json"
    path.write_text(json.dumps({"ModelProto": model}))
    fixed = cir.fix(path)
    assert fixed.is_sound, [str(d) for d in fixed.remaining]
    said = {d.fix.text for d in fixed.fixed if d.fix is not None}
    assert {text.split()[0] for text in said} == {"stated", "sorted", "declared"}
    assert fixed.module is not None
    api.save_fixed(path, fixed.module, out)
    assert not cir.fix(out).fixed
    outputs = cir.run(cir.load(out), {"x": np.array([3, -4], np.float32)})
    # LeakyRelu of -x, with a slope of 2.
    np.testing.assert_array_equal(np.asarray(outputs["y"]), np.array([-6, 4], np.float32))
