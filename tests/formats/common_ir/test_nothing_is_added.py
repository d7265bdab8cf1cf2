"""Reading a file and writing it, also by way of text and of the binary form, adds nothing and loses nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import commonir as cir

from tests.specifications.common_ir_files import document

Message = dict[str, Any]

X, Y = "x: float32[1, 1, 4, 4]", "y: float32[1, 1, 4, 4]"
MAX_POOL = '= MaxPool(x) {"kernel_shape": {"ints": [1, 1], "type": "INTS"}}'
UNNAMED = {"tensor_type": {"elem_type": "FLOAT", "shape": {"dim": [{}, {"dim_param": "n"}, {}, {"dim_param": "*"}]}}}
PASS = {"name": "F", "input_params": ["x: float32[*]"], "output_params": ["y: float32[*]", "z: float32[*]"]}
FUNCTION = {**PASS, "node": ["y = Relu(x)", "z = Abs(x)"]}
OPTIONAL = {
    "input_params": ["x: float32[*]"],
    "output_params": ["y: float32[*]", {"name": "z", "type": UNNAMED, "multiplicity": 1}],
}
GRAPHS: dict[str, Message] = {
    "no output": {"node": [{"input": ["x"], "op_type": "Relu"}, "y = Abs(x)"]},
    "an output without a name": {"node": [{"input": ["x"], "output": [""], "op_type": "Relu"}, "y = Abs(x)"]},
    "the first of two outputs without a name": {"node": [f", i {MAX_POOL}", "y = Abs(x)"]},
    "the second of two outputs without a name": {"node": [f"y,  {MAX_POOL}"]},
    "fewer outputs than there are": {"node": [f"y {MAX_POOL}"]},
    "a node of a dialect": {
        "node": [
            {"input": ["x"], "output": [""], "op_type": "org.commonir.core.relu", "input_arg_count": [1]},
            "y = Abs(x)",
        ],
        "imported_libraries": ["commonir:core"],
    },
    "the first output of a call": {"node": [", y = F[1](x)"], "function": [FUNCTION]},
    "the last output of a call": {"node": ["y,  = F[1](x)"], "function": [FUNCTION]},
    "an optional output of an operator": {
        "node": ["y,  = O[1](x)"],
        "operator": [{"name": "O", "signature": [OPTIONAL]}],
    },
    "unknown dims of parameters": {
        "node": ["y = F[1](x)"],
        "function": [
            {
                "name": "F",
                "input_params": [{"name": "x", "type": UNNAMED}],
                "output_params": [{"name": "y", "type": UNNAMED}],
                "node": ["y,  = Dropout(x)"],
            }
        ],
    },
    "unknown dims of an operator": {
        "node": ["y = O[1](x)"],
        "operator": [
            {
                "name": "O",
                "signature": [{"input_params": [{"name": "x", "type": UNNAMED}], "output_params": ["y: float32[*]"]}],
            }
        ],
    },
    "unknown dims of an input": {"node": ["y = Relu(x)"], "input": [{"name": "x", "type": UNNAMED}]},
    "a function without attributes": {
        "node": ["y = G[1](x)"],
        "function": [
            {"name": "G", "input_params": [X], "output_params": ["y: float32[1, 1, 4, 4]"], "node": ["y = Abs(x)"]}
        ],
    },
}


def _without_empty(content: Any) -> Any:
    """Returns a message without lists that are empty, which files do not have, and the version of extensions."""
    if isinstance(content, dict):
        entries = [(k, _without_empty(v)) for k, v in content.items() if v != [] and k != "common_ir_version"]
        return dict(entries)
    return [_without_empty(v) for v in content] if isinstance(content, list) else content


@pytest.mark.slow_cases("*.cir")
@pytest.mark.parametrize("suffix", [".cir.json", ".mlir", ".cir"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_a_file_is_written_as_it_was_read(graph: str, suffix: str, tmp_path: Path) -> None:
    about = {"name": "g", "doc_string": "A graph.", "input": [X], "output": [Y]}
    file = json.loads(document(json.dumps({"ModelProto": {"graph": about | GRAPHS[graph]}})))
    first, between, last = tmp_path / "a.cir.json", tmp_path / f"b{suffix}", tmp_path / "c.cir.json"
    first.write_text(json.dumps(file))
    cir.save(cir.load(first), between)
    cir.save(cir.load(between), last)
    assert _without_empty(json.loads(last.read_text())) == _without_empty(file)
