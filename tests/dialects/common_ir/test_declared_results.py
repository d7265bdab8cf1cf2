"""Declared types of results: in every kind of type, decided by `check` or when the program runs, on every engine.

`check` refuses what cannot hold for all sizes that the declaration allows. The verdicts are written out from the
document: a name is one dimension within a declaration, a wildcard any number of them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError

from tests.specifications.common_ir_files import document

OPERATOR = """{"ModelProto": {"graph": {
  "name": "g", "doc_string": "A graph.", "input": ["a: %s"], "output": ["y: %s"], "node": ["y = Op[1](a)"],
  "operator": [{"name": "Op", "doc_string": "An operator.",
    "signature": [{"input_params": ["x: %s"], "output_params": ["r: %s"]}]}]
}}}"""
FUNCTION = """{"ModelProto": {"graph": {
  "name": "g", "doc_string": "A graph.", "input": ["a: %s"], "output": ["y: %s"], "node": ["y = F[1](a)"],
  "function": [{"name": "F", "doc_string": "A function.", "input_params": ["x: %s"], "output_params": ["r: %s"],
    "node": ["r = Identity(x)"]}]
}}}"""

# Types of the input and output of a graph, and of a parameter and a result, and whether what is declared can hold.
TYPES = [
    ("[3]", "[3]", "[k]", "[k]", ""),
    ("[3]", "[k]", "[k]", "[k]", ""),
    ("[n]", "[m]", "[k]", "[k]", ""),
    ("[n, m]", "[n, m]", "[k, j]", "[k, j]", ""),
    ("[m*]", "[m*]", "[m*]", "[m*]", ""),
    ("[n, m*]", "[n, m*]", "[m*]", "[m*]", ""),
    ("[n, *]", "[n, *]", "[m*]", "[m*]", ""),
    ("[*, n]", "[*, n]", "[m*]", "[m*]", ""),
    ("[*]", "[*]", "[m*]", "[m*]", ""),
    ("[2, 3]", "[2, 3]", "[n, *]", "[n, *]", ""),
    ("[3]", "[4]", "[k]", "[k]", "E0506"),
    ("[3]", "[3, 1]", "[k]", "[k]", "E0506"),
    ("[3]", "[]", "[k]", "[k]", "E0506"),
    ("[n]", "[7]", "[k]", "[k]", "CIR41"),
    ("[n, m]", "[m, n]", "[k, j]", "[k, j]", "CIR41"),
    ("[n, m]", "[n, n]", "[k, j]", "[k, j]", "CIR41"),
    ("[n, m*]", "[m*]", "[m*]", "[m*]", "CIR41"),
    ("[m*]", "[n, m*]", "[m*]", "[m*]", "CIR41"),
    ("[n, *]", "[n]", "[2, 3]", "[2, 3]", "E0506"),
]
# Types with a shape, of which the first %s is an element type and the second one the shape.
FORMS = ["%s%s", "list<%s%s>", "optional<%s%s>", "sparse<%s%s>", "tuple<string[], %s%s>", "list<list<%s%s>>"]


def findings(text: str, folder: Path) -> list[str]:
    path = folder / "m.cir.json"
    path.write_text(document(text))
    return [f"{d.code.id}: {d.message}" for d in cir.check(path)[1]]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("given", "returned", "parameter", "result", "expected"), TYPES)
def test_shapes_of_results_in_every_kind_of_type(
    form: str, given: str, returned: str, parameter: str, result: str, expected: str, tmp_path: Path
) -> None:
    types = tuple([form % ("float32", shape) for shape in (given, returned, parameter, result)])
    found = findings(OPERATOR % types, tmp_path)
    assert bool(found) is bool(expected), found
    assert all(expected in f for f in found)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", [OPERATOR, FUNCTION])
def test_element_types_of_results_in_every_kind_of_type(form: str, text: str, tmp_path: Path) -> None:
    float32, int64 = form % ("float32", "[k]"), form % ("int64", "[k]")
    found = findings(text % (float32, int64, float32, float32), tmp_path)
    assert any("E0506" in f and "result 'y' is declared" in f for f in found), found


@pytest.mark.parametrize(
    ("given", "returned", "expected"),
    [
        ("map<int64, float32[]>", "map<int64, float32[]>", ""),
        ("map<int64, float32[]>", "map<int64, float64[]>", "E0506"),
        ("map<int64, float32[]>", "map<string, float32[]>", "E0506"),
        ("map<int64, float32[]>", "list<float32[]>", "E0506"),
        ("handle", "handle", ""),
        ("handle", "int64[]", "E0506"),
        ("tuple<int64[], float32[n]>", "tuple<int64[]>", "E0506"),
        ("tuple<int64[], float32[n]>", "tuple<float32[n], int64[]>", "E0506"),
        ("sparse<float32[n]>", "float32[n]", "E0506"),
        ("optional<float32[n]>", "float32[n]", "E0506"),
        ("list<float32[n]>", "float32[n]", "E0506"),
    ],
)
def test_results_of_another_kind_are_refused(given: str, returned: str, expected: str, tmp_path: Path) -> None:
    found = findings(OPERATOR % (given, returned, given, given), tmp_path)
    assert [f.partition(":")[0] for f in found] == ([expected] if expected else [])


# Types of an input, a parameter, a result and an output, and the shape that a run has.
RUNS = [
    ("[n, m]", "[k, j]", "[j, k]", "[r, s]", (2, 3), "F.r: "),
    ("[n, m]", "[k, j]", "[k, j]", "[m, n]", (2, 3), "y: "),
    ("[*]", "[m*]", "[m*]", "[3]", (4,), "'y' is declared f32[3], and is tensor<4xf32>"),
    ("[*]", "[n, m*]", "[m*]", "[*]", (4, 5), "'F.r' is declared f32[m*], and is tensor<4x5xf32>"),
    ("[*]", "[n, *]", "[*, n]", "[*]", (4, 5), "'F.r' is declared f32[*, n], and is tensor<4x5xf32>"),
]


@pytest.mark.parametrize("engine", ["numpy", "reference"])
@pytest.mark.parametrize(("given", "parameter", "result", "returned", "shape", "message"), RUNS)
def test_a_run_that_contradicts_the_declaration_ends_with_an_error(
    engine: str,
    given: str,
    parameter: str,
    result: str,
    returned: str,
    shape: tuple[int, ...],
    message: str,
    tmp_path: Path,
) -> None:
    path = tmp_path / "m.cir.json"
    path.write_text(document(FUNCTION % tuple([f"float32{t}" for t in (given, returned, parameter, result)])))
    module = cir.load(path)
    with pytest.raises(DiagnosticError) as error:
        cir.run(module, {"a": np.zeros(shape, np.float32)}, engine=engine)
    assert message in str(error.value)
    square = np.zeros((3,) * len(shape), np.float32)
    if not given.startswith("[*") or returned == "[3]":
        assert cir.run(module, {"a": square}, engine=engine)["y"].shape == square.shape


def test_types_with_names_of_their_own_declare_nothing(tmp_path: Path) -> None:
    text = FUNCTION % ("float32[n, m]", "float32[r, s]", "float32[k, j]", "float32[u, v]")
    assert findings(text, tmp_path) == []
    path = tmp_path / "m.cir.json"
    assert cir.run(cir.load(path), {"a": np.zeros((2, 3), np.float32)})["y"].shape == (2, 3)


THROUGH = """{"ModelProto": {"graph": {
  "name": "g", "doc_string": "A graph.", "input": ["a: float32[n]"], "output": ["y: float32[n]"],
  "node": ["y = G[1](a) {\\"t\\": {\\"i\\": %s}}"],
  "function": [
    {"name": "G", "doc_string": "A function.", "input_params": ["p: float32[k]"], "output_params": ["q: float32[k]"],
     "attr": [{"name": "t", "type": "INT"}], "node": [{"op_type": "F", "input": ["p"], "output": ["q"],
       "input_arg_count": [1], "attribute": [{"name": "s", "ref_attr_name": "t", "type": "INT"}]}]},
    {"name": "F", "doc_string": "A function.", "input_params": ["p: float32[k]"], "output_params": ["q: float32[k]"],
     "attr": [{"name": "s", "type": "INT"}], "node": [{"op_type": "Cast", "input": ["p"], "output": ["c"],
       "attribute": [{"name": "to", "ref_attr_name": "s", "type": "INT"}]}, "q = NODE"]}]
}}}"""


@pytest.mark.parametrize(
    ("node", "to", "expected"),
    [
        ("Identity(c)", 1, ""),
        ("Identity(c)", 7, "E0506: onnx.Identity: result 'q' is declared"),
        ('Cast(c) {\\"to\\": {\\"i\\": 1}}', 7, ""),
        ("Abs(c)", 9, "E0503: onnx.Abs: operand 'X'"),
    ],
)
def test_attributes_that_a_call_passes_on_decide_what_functions_give(
    node: str, to: int, expected: str, tmp_path: Path
) -> None:
    found = findings((THROUGH % to).replace("NODE", node), tmp_path)
    assert len(found) == (1 if expected else 0), found
    assert not expected or expected in found[0]


CONTROL = {
    "Cond": """{"ModelProto": {"graph": {
  "name": "g", "doc_string": "A graph.", "input": ["c: bool[]", "a: float32[n]"], "output": ["y: OUT"],
  "node": [{"input": ["c", "a", "a"], "output": ["y"], "op_type": "Cond", "input_arg_count": [1, 1, 1], "attribute": [
    {"name": "then", "type": "STRING", "s": "F"}, {"name": "else", "type": "STRING", "s": "G"}]}],
  "function": [
    {"name": "F", "doc_string": "A function.", "input_params": ["p: float32[k]"], "output_params": ["q: RESULT"],
     "node": ["q = Neg(p)"]},
    {"name": "G", "doc_string": "A function.", "input_params": ["p: float32[k]"], "output_params": ["q: float32[k]"],
     "node": ["q = Abs(p)"]}]
}}}""",
    "While": """{"ModelProto": {"graph": {
  "name": "g", "doc_string": "A graph.", "input": ["a: float32[n]"], "output": ["y: OUT"],
  "node": [{"input": ["a"], "output": ["y"], "op_type": "While", "input_arg_count": [1, 0], "attribute": [
    {"name": "cond", "type": "STRING", "s": "F"}, {"name": "body", "type": "STRING", "s": "G"}]}],
  "function": [
    {"name": "F", "doc_string": "A function.", "input_params": ["p: float32[k]"], "output_params": ["q: bool[]"],
     "node": ["s = ReduceMax(p) {\\"keepdims\\": {\\"i\\": 0}}", "b = Cast(s) {\\"to\\": {\\"i\\": 9}}", "q = Not(b)"]},
    {"name": "G", "doc_string": "A function.", "input_params": ["p: float32[k]"], "output_params": ["q: RESULT"],
     "node": ["q = Exp(p)"]}]
}}}""",
}


@pytest.mark.parametrize("name", CONTROL)
@pytest.mark.parametrize(
    ("output", "result", "expected"),
    [
        ("float32[n]", "float32[k]", ""),
        ("float32[m]", "float32[k]", ""),
        ("int64[n]", "float32[k]", "result 'y' is declared"),
        ("float32[n, 1]", "float32[k]", "result 'y' is declared"),
        ("float32[7]", "float32[k]", "CIR41: 'y' is declared"),
        ("float32[n]", "float32[7]", "CIR41: 'q' is declared"),
        ("float32[n]", "int64[k]", "result 'q' is declared"),
    ],
)
def test_results_of_control_flow_are_compared(
    name: str, output: str, result: str, expected: str, tmp_path: Path
) -> None:
    found = findings(CONTROL[name].replace("OUT", output).replace("RESULT", result), tmp_path)
    assert bool(found) is bool(expected), found
    assert not expected or any(expected in f for f in found), found


LIST = """{"ModelProto": {"graph": {
  "name": "g", "doc_string": "A graph.", "input": ["a: float32[n]", "b: float32[m]"], "output": ["y: list<float32%s>"],
  "node": ["y = SequenceConstruct(a, b)"]
}}}"""


@pytest.mark.parametrize("engine", ["numpy", "reference"])
@pytest.mark.parametrize(("declared", "is_right"), [("[n]", False), ("[k]", False), ("[2]", False), ("[*]", True)])
def test_tensors_in_a_list_have_the_declared_shape(declared: str, is_right: bool, engine: str, tmp_path: Path) -> None:
    assert findings(LIST % declared, tmp_path) == []
    module = cir.load(tmp_path / "m.cir.json")
    arrays = {"a": np.zeros(2, np.float32), "b": np.zeros(2, np.float32)}
    assert len(cir.run(module, arrays, engine=engine)["y"]) == 2
    arrays["b"] = np.zeros(3, np.float32)
    if is_right:
        assert [v.shape for v in cir.run(module, arrays, engine=engine)["y"]] == [(2,), (3,)]
    else:
        with pytest.raises(DiagnosticError, match="the declared types do not hold: 'y' has a tensor"):
            cir.run(module, arrays, engine=engine)


INTERMEDIATE = """{"ModelProto": {"graph": {
  "name": "g", "doc_string": "A graph.", "input": ["a: float32[n]"], "output": ["y: float32[n]"],
  "value_info": ["b: %s"], "node": ["b = Neg(a)", "y = Abs(b)"]
}}}"""


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("float32[n]", ""),
        ("float32[k]", ""),
        ("float32[*]", ""),
        ("float32[7]", "CIR41: 'b' is declared tensor<7xf32>"),
        ("float32[n, 1]", "E0506: onnx.Neg: result 'b' is declared"),
        ("int64[n]", "E0506: onnx.Neg: result 'b' is declared"),
    ],
)
def test_declared_types_of_values_inside_of_a_graph(declared: str, expected: str, tmp_path: Path) -> None:
    found = findings(INTERMEDIATE % declared, tmp_path)
    assert bool(found) is bool(expected), found
    assert not expected or expected in found[0]


LOOP = """{"ModelProto": {"graph": {
  "name": "g", "doc_string": "A graph.", "input": ["t: int64[]", "c: bool[]", "a: float32[n]"],
  "output": ["y: float32[n]"],
  "node": [{"input": ["t", "c", "a"], "output": ["y"], "op_type": "Loop", "attribute": [
    {"name": "body", "type": "GRAPH", "g": {
      "name": "b", "input": ["i: int64[]", "d: bool[]", "v: %s"], "output": ["e: bool[]", "w: %s"],
      "node": ["e = Identity(d)", "w = Neg(v)"]}}]}]
}}}"""


@pytest.mark.parametrize(
    ("given", "returned", "expected"),
    [
        ("float32[n]", "float32[n]", ""),
        ("float32[k]", "float32[k]", ""),
        ("float32[n]", "float32[7]", "CIR41: 'w' is declared tensor<7xf32>"),
        ("float32[7]", "float32[7]", "the input 'v' of the graph is declared tensor<7xf32>, but receives"),
        ("int64[n]", "int64[n]", "the input 'v' of the graph is declared"),
    ],
)
def test_inputs_of_nested_graphs_are_compared(given: str, returned: str, expected: str, tmp_path: Path) -> None:
    found = findings(LOOP % (given, returned), tmp_path)
    assert bool(found) is bool(expected), found
    assert not expected or any(expected in f for f in found), found
    if "7" in given:
        arrays = {"t": np.array(2), "c": np.array(True), "a": np.zeros(2, np.float32)}
        with pytest.raises(DiagnosticError, match="but receives"):
            cir.run(cir.load(tmp_path / "m.cir.json"), arrays)
