"""The built-in operators Cond and While of historic files; expected values are computed by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError

Message = dict[str, Any]


def _type(element: str, *shape: str | int) -> Message:
    dims = [{"dim_param": d} if isinstance(d, str) else {"dim_value": d} for d in shape]
    return {"tensor_type": {"elem_type": element, "shape": {"dim": dims}}}


def _named(name: str, type: Message) -> Message:
    return {"name": name, "type": type}


def _node(op_type: str, inputs: list[str], outputs: list[str], **texts: str) -> Message:
    attributes = [{"name": n, "s": t, "type": "STRING"} for n, t in texts.items()]
    return {"input": inputs, "output": outputs, "op_type": op_type, "attribute": attributes}


def _function(name: str, inputs: list[Message], outputs: list[Message], *nodes: Message) -> Message:
    return {"name": name, "input_params": inputs, "output_params": outputs, "node": list(nodes)}


def _load(
    folder: Path, nodes: list[Message], inputs: list[Message], outputs: list[Message], functions: list[Message]
) -> Any:
    graph = {
        "name": "main",
        "doc_string": "A test.",
        "node": nodes,
        "input": inputs,
        "output": outputs,
        "function": functions,
    }
    opset = [{"domain": "", "version": 22}]
    model = {"ir_version": 10, "domain": "com.example", "model_version": 1, "graph": graph, "opset_import": opset}
    path = folder / "model.cir.json"
    path.write_text(json.dumps({"ModelProto": {**model, "common_ir_version": 1}}))
    return cir.load(path)


VECTOR = _type("FLOAT", "n")
BRANCHES = [
    _function("Twice", [_named("x", VECTOR)], [_named("y", VECTOR)], _node("Add", ["x", "x"], ["y"])),
    _function("Negated", [_named("x", VECTOR)], [_named("y", VECTOR)], _node("Neg", ["x"], ["y"])),
]


def _cond(**texts: str) -> Message:
    return {**_node("Cond", ["p", "a", "b"], ["c"], **texts), "input_arg_count": [1, 1, 1]}


INPUTS = [_named("p", _type("BOOL")), _named("a", VECTOR), _named("b", VECTOR)]


def test_cond_runs_one_of_two_functions_on_its_inputs(tmp_path: Path) -> None:
    module = _load(tmp_path, [_cond(on_true="Twice", on_false="Negated")], INPUTS, [_named("c", VECTOR)], BRANCHES)
    assert [str(d) for d in cir.verify(module) if d.is_error] == []
    inputs = {"a": np.array([1, 2], np.float32), "b": np.array([3, 4], np.float32)}
    assert cir.run(module, {"p": np.array(True), **inputs})["c"].tolist() == [2, 4]
    assert cir.run(module, {"p": np.array(False), **inputs})["c"].tolist() == [-3, -4]


def test_while_runs_a_function_on_variables_and_constants_as_long_as_another_says(tmp_path: Path) -> None:
    """The variable doubles while its sum is below the constant: 1, 2, 4, 8."""
    scalar = _type("FLOAT")
    parameters = [_named("v", scalar), _named("limit", scalar)]
    functions = [
        _function("Below", parameters, [_named("go", _type("BOOL"))], _node("Less", ["v", "limit"], ["go"])),
        _function("Doubled", parameters, [_named("w", scalar)], _node("Add", ["v", "v"], ["w"])),
    ]
    loop = {**_node("While", ["x", "most"], ["y"], condition="Below", body="Doubled"), "input_arg_count": [1, 1]}
    inputs = [_named("x", scalar), _named("most", scalar)]
    module = _load(tmp_path, [loop], inputs, [_named("y", scalar)], functions)
    assert [str(d) for d in cir.verify(module) if d.is_error] == []
    arguments = {"x": np.array(1, np.float32), "most": np.array(7, np.float32)}
    assert cir.run(module, arguments)["y"].tolist() == 8
    assert cir.run(module, {**arguments, "x": np.array(9, np.float32)})["y"].tolist() == 9


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (_cond(on_true="Twice"), "'Cond' must name two functions by string attributes"),
        (_cond(on_true="Twice", on_false="Halved"), "'Cond' must name two functions by string attributes"),
        ({**_cond(t="Twice", f="Negated"), "input_arg_count": [1, 2]}, "'Cond' has 3 parameters"),
        ({**_cond(t="Twice", f="Negated"), "input_arg_count": [2, 1, 0]}, "'Cond' takes one predicate, found 2"),
        ({**_cond(t="Twice", f="Negated"), "input_arg_count": [1, 2, 0]}, "function 'Twice' takes 1 input, found 2"),
    ],
)
def test_control_flow_that_does_not_fit_its_functions_is_refused(tmp_path: Path, node: Message, message: str) -> None:
    with pytest.raises(DiagnosticError) as error:
        _load(tmp_path, [node], INPUTS, [_named("c", VECTOR)], BRANCHES)
    assert message in str(error.value)
