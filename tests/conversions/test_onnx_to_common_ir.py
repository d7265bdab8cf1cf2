"""From ONNX to Common IR and back without the core: the same nodes and numbers, and the findings that users see."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import Diagnostics
from commonir.conversions.common_ir_graphs import DEFAULT_DOMAIN, NAME_KEY
from commonir.conversions.onnx_to_common_ir import onnx_to_common_ir
from commonir.dialects import common_ir, onnx
from commonir.ir.attributes import DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.module import Module

from tests.oracles import oracle
from tests.specifications.common_ir_files import document

theirs = oracle("onnx")
runtime = oracle("onnxruntime")

from tests.onnx_suite.cases import data_sets_of, load_cases, selected  # noqa: E402  needs onnx

Array: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.generic]]"

CASES = ("relu", "gemm_default_vector_bias", "if", "loop11", "dropout_default", "rnn_seq_length")
NEG = '<ir_version: 10, opset_import: ["" : 18]> g (float[2] x) => (float[2] y) { y = Neg (x) }'


def _operators(graph: object) -> list[str]:
    """The operators of the nodes of a graph and of those inside of it, in order."""
    out: list[str] = []
    for node in graph.node:  # pyright: ignore[reportAttributeAccessIssue]  onnx has no types
        out.append(node.op_type)
        out += [name for a in node.attribute if a.HasField("g") for name in _operators(a.g)]
    return out


def _there_and_back(path: Path, folder: Path) -> tuple[Module, Path]:
    """The Common IR model of an ONNX file, and the file made of it again."""
    diagnostics = Diagnostics()
    result = onnx_to_common_ir(cir.load(path), diagnostics)
    assert result is not None
    cir.save(result, folder / "model.cir.json")
    again = cir.load(folder / "model.cir.json")
    assert [str(d) for d in cir.verify(again)] == []
    cir.save(cir.convert(again, "onnx"), folder / "back.onnx")
    theirs.checker.check_model(theirs.load(folder / "back.onnx"))
    return again, folder / "back.onnx"


def _run(path: Path, inputs: Mapping[str, Array]) -> list[Array]:
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    return session.run(None, dict(zip(names, inputs.values(), strict=True)))


def _assert_same(path: Path, folder: Path, inputs: Mapping[str, Array]) -> Module:
    """The nodes are the same after the way there and back, and onnxruntime computes the same with them."""
    result, back = _there_and_back(path, folder)
    assert _operators(theirs.load(back).graph) == _operators(theirs.load(path).graph)
    for actual, expected in zip(_run(back, inputs), _run(path, inputs), strict=True):
        np.testing.assert_array_equal(actual, expected)
    return result


@pytest.mark.parametrize("name", CASES)
def test_models_of_the_suite_keep_their_nodes_and_results(name: str, tmp_path: Path) -> None:
    case = selected(load_cases(("node",)), [name])[0]
    data = next(data_sets_of(case))
    inputs = {n: v for n, v in data.inputs.items() if isinstance(v, np.ndarray)}
    _assert_same(case.model, tmp_path, inputs)


@pytest.mark.parametrize("dynamo", [False, True])
def test_a_model_exported_by_torch_keeps_its_nodes_and_results(dynamo: bool, tmp_path: Path) -> None:
    torch = oracle("torch")
    oracle("onnxscript")
    network = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(48, 5))
    path = tmp_path / "model.onnx"
    x = torch.arange(72, dtype=torch.float32).reshape(1, 2, 6, 6) / 72
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(network.eval(), (x,), path, dynamo=dynamo, input_names=["x.1"], output_names=["y"])
    result = _assert_same(path, tmp_path, {"x.1": x.numpy()})
    assert [v.name for v in result.main.inputs] == ["x_1"]
    assert not any(isinstance(op, common_ir.Import) for op in result.body.operations)


FUNCTIONS = """
<ir_version: 10, opset_import: ["" : 18, "{domain}" : 1]>
model (float[2, 3] x, float[4] v) => (float[2, 3] y, float[4] w) {{
  y = {domain}.twice_scaled <factor = 2.0> (x)
  w = {domain}.twice_scaled <factor = 3.0> (v)
}}
<domain: "{domain}", opset_import: ["" : 18, "{domain}" : 1]>
scaled <factor> (a) => (b) {{
  f = Constant <value_float: float = @factor> ()
  b = Mul (a, f)
}}
<domain: "{domain}", opset_import: ["" : 18, "{domain}" : 1]>
twice_scaled <factor> (a) => (b) {{
  c = {domain}.scaled <factor: float = @factor> (a)
  b = {domain}.scaled <factor: float = @factor> (c)
}}
"""
XS = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "v": np.arange(4, dtype=np.float32)}


@pytest.mark.parametrize("domain", ["com.example.layers", "layers"])
def test_local_functions_become_functions_and_come_back(domain: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    theirs.save(theirs.parser.parse_model(FUNCTIONS.format(domain=domain)), path)
    built = _assert_same(path, tmp_path, XS)
    holders = [op for op in built.body.operations if isinstance(op, common_ir.Library)]
    assert [h.sym_name for h in holders] == ([domain] if "." in domain else [])
    result = [op for top in built.body.operations for op in top.walk() if isinstance(op, common_ir.FunctionDefinition)]
    assert [f.sym_name for f in result] == ["twice_scaled", "scaled"]
    # Calls with values of one and of two dimensions.
    assert dict(result[0].declared.entries) == {"a": StringAttr("f32[*]"), "b": StringAttr("f32[*]")}
    results = list(cir.run(built, XS).values())
    np.testing.assert_array_equal(results[0], XS["x"] * 4)
    np.testing.assert_array_equal(results[1], XS["v"] * 9)


def _model(text: str, tmp_path: Path) -> tuple[Module, list[str]]:
    path = tmp_path / "model.onnx"
    theirs.save(theirs.parser.parse_model(text), path)
    reported = Diagnostics()
    result = onnx_to_common_ir(cir.load(path), reported)
    assert result is not None
    return result, [d.message for d in reported]


def test_outputs_of_a_function_of_any_shape_promise_no_shape(tmp_path: Path) -> None:
    text = """
<ir_version: 10, opset_import: ["" : 18, "layers" : 1]>
model (float[2, 3] x, float[3] v) => (float[3] y, float[3] w, int64[1] n) {
  y, m = layers.sums (x)
  w, n = layers.sums (v)
}
<domain: "layers", opset_import: ["" : 18]>
sums (a) => (b, c) {
  s = Constant <value_ints = [-1, 3]> ()
  r = Reshape (a, s)
  zero = Constant <value_ints = [0]> ()
  b = ReduceSum <keepdims = 0> (r, zero)
  t = Shape <start = -1> (a)
  c = Identity (t)
}
"""
    result, _ = _model(text, tmp_path)
    (function,) = (op for op in result.walk() if isinstance(op, common_ir.FunctionDefinition))
    assert {name: str(t) for name, t in function.declared.entries} == {
        "a": '"f32[*]"', "b": '"f32[*]"', "c": '"i64[*]"',
    }  # fmt: skip
    assert cir.verify(result) == []


def test_required_metadata_that_are_missing_get_defaults_that_are_reported(tmp_path: Path) -> None:
    result, reported = _model(
        '<ir_version: 10, opset_import: ["" : 18]> g (float[2] x) => (float[2] y) { y = Neg (x) }', tmp_path
    )
    assert result.extra[onnx.DOMAIN] == StringAttr(DEFAULT_DOMAIN)
    assert result.extra[onnx.MODEL_VERSION] == IntegerAttr(1)
    assert f"the domain of the model is '{DEFAULT_DOMAIN}': none is stated" in reported
    assert "the version of the model is 1: none is stated" in reported
    assert [str(d) for d in cir.verify(result)] == []


STATED = """
<ir_version: 10, opset_import: ["" : 18], domain: "com.example", model_version: 7, doc_string: "A model.",
 metadata_props: ["model_author" : "Ada", "license" : "MIT"]>
g (float[2] x) => (float[2] y) { y = Neg (x) }
"""


def test_metadata_that_are_stated_stay_and_authors_are_found(tmp_path: Path) -> None:
    result, reported = _model(STATED, tmp_path)
    assert reported == []
    assert result.extra[onnx.DOMAIN] == StringAttr("com.example")
    assert result.extra[onnx.MODEL_VERSION] == IntegerAttr(7)
    assert result.extra[common_ir.MODEL_AUTHOR] == StringAttr("Ada")
    assert result.extra[common_ir.MODEL_LICENSE] == StringAttr("MIT")


def test_names_become_identifiers_and_the_interface_keeps_the_old_ones(tmp_path: Path) -> None:
    model = theirs.parser.parse_model(NEG)
    model.graph.input[0].name = model.graph.node[0].input[0] = "x:0"
    model.graph.node[0].name = "y"
    theirs.save(model, tmp_path / "model.onnx")
    reported = Diagnostics()
    result = onnx_to_common_ir(cir.load(tmp_path / "model.onnx"), reported)
    assert result is not None
    assert [v.name for v in result.main.inputs] == ["x_0"]
    assert "'x:0' is called 'x_0': names in Common IR are C identifiers" in [d.message for d in reported]
    preserved = result.extra[onnx.METADATA]
    assert isinstance(preserved, DictionaryAttr)
    assert preserved.entries == ((f"{NAME_KEY}x_0", StringAttr("x:0")),)
    # The node had the name of its output, which keeps it.
    assert [op.location.name for op in result.main.body.operations if op.location is not None] == ["y_1"]


def test_an_operator_that_nothing_declares_goes_through_the_core(tmp_path: Path) -> None:
    text = """
    <ir_version: 10, opset_import: ["" : 18, "com.other" : 1]>
    g (float[2] x) => (float[2] y) { y = com.other.Unknown (x) }
    """
    theirs.save(theirs.parser.parse_model(text), tmp_path / "model.onnx")
    assert onnx_to_common_ir(cir.load(tmp_path / "model.onnx"), Diagnostics()) is None


def test_documentation_with_markup_stands_in_code_blocks(tmp_path: Path) -> None:
    doc = "Adds <b>twice</b>, as ```here```."
    model = theirs.parser.parse_model(NEG)
    model.graph.node[0].doc_string = doc
    path = tmp_path / "m.onnx"
    theirs.save(model, path)
    reported = Diagnostics()
    converted = cir.convert(cir.load(path), "common_ir", findings=reported)
    assert "1 documentation string with HTML or other markup, now in code blocks" in [d.message for d in reported]
    (stored,) = [op.extra[onnx.DOC_STRING] for op in converted.walk() if isinstance(op, onnx.Neg)]
    assert stored == StringAttr(f"````\n{doc}\n````")
    assert [d.message for d in cir.verify(converted) if "CIR10" in d.message] == []


@pytest.mark.parametrize(
    ("graph", "types"),
    [
        ("(float[n, m] a) => (float[m, n] y) { y = Identity(a) }", ['tensor<"n"x"m"xf32>']),
        ("(float[3] a) => (float[3, 1] y) { y = Neg(a) }", ["tensor<3xf32>"]),
        ("(float[n] a) => (float[7] y, float[7] z) { y = Neg(a) z = Abs(y) }", ['tensor<"n"xf32>', 'tensor<"n"xf32>']),
        ("(float[n] a) => (float[n] y) { y = Concat<axis = 0>(a, a) }", ["tensor<?xf32>"]),
        # What is not known to be wrong stays.
        ("(float[n] a, float[m] b) => (float[n] y) { y = Add(a, b) }", ['tensor<"n"xf32>']),
        ("(float[n] a) => (int64[1, n] y) { y = NonZero(a) }", ['tensor<1x"n"xi64>']),
        ("(float[n] a) => (float[k] y) { y = Neg(a) }", ['tensor<"k"xf32>']),
    ],
)
def test_declared_shapes_that_do_not_hold_are_corrected(graph: str, types: list[str], tmp_path: Path) -> None:
    text = f'<ir_version: 10, opset_import: ["": 22], domain: "com.example", model_version: 1> g {graph}'
    module, notes = _model(text, tmp_path)
    assert [str(v.type) for v in module.main.outputs] == types
    is_changed = "7" in graph or "3, 1" in graph or "Identity" in graph or "Concat" in graph
    assert any("which does not hold" in note for note in notes) is is_changed
    cir.save(module, tmp_path / "m.cir.json")
    assert [d for d in cir.check(tmp_path / "m.cir.json")[1] if d.is_error] == []


def test_nested_graphs_get_the_names_and_types_that_common_ir_demands(tmp_path: Path) -> None:
    text = """
<ir_version: 10, opset_import: ["" : 22]>
g (float[n] x, bool c) => (float[n] y) {
  y = If <then_branch = t () => (float[n] a) { a = Neg (x) }, else_branch = e () => (float[n] b) { b = Abs (x) }> (c)
}
"""
    model = theirs.parser.parse_model(text)
    then_branch, else_branch = (a.g for a in model.graph.node[0].attribute)
    then_branch.name = "then.b"
    for branch in (then_branch, else_branch):
        branch.node[0].name = "layer/0"
    then_branch.output[0].ClearField("type")
    else_branch.ClearField("name")
    theirs.save(model, tmp_path / "m.onnx")
    cir.save(cir.convert(cir.load(tmp_path / "m.onnx"), "common_ir"), tmp_path / "m.cir.json")
    assert cir.check(tmp_path / "m.cir.json")[1] == []
    node = json.loads((tmp_path / "m.cir.json").read_text())["ModelProto"]["graph"]["node"][0]
    assert {a["name"]: a["g"]["name"] for a in node["attribute"]} == {
        "then_branch": "then_b", "else_branch": "else_branch",
    }  # fmt: skip
    assert [a["g"]["output"][0]["type"] for a in node["attribute"]] == [
        {"tensor_type": {"elem_type": "FLOAT", "shape": {"dim": [{"dim_param": "n"}]}}}
    ] * 2


_VERSIONS = """{"ModelProto": {"graph": {
  "name": "g", "doc_string": "A graph.", "input": ["x: float32[2, 2, 2]"], "output": ["y: float32[2, 2, 2]"],
  "node": ["y = F[1](x)"],
  "function": [{"name": "F", "doc_string": "A function.", "input_params": ["p: float32[i, j, k]"],
    "output_params": ["q: float32[i, j, k]"], "node": ["q = NODE(p)"],
    "opset_import": [{"domain": "", "version": OPSET}]}]
}}}"""


@pytest.mark.parametrize(
    ("node", "opset", "stays"), [("Relu", 14, True), ("Softmax", 11, False), ("Gelu", 23, False)], ids=str
)
def test_a_function_of_another_operator_set_version_means_the_same_in_onnx(
    node: str, opset: int, stays: bool, tmp_path: Path
) -> None:
    (tmp_path / "m.cir.json").write_text(document(_VERSIONS.replace("NODE", node).replace("OPSET", str(opset))))
    module = cir.load(tmp_path / "m.cir.json")
    cir.save(cir.convert(module, "onnx"), tmp_path / "m.onnx")
    theirs.checker.check_model(str(tmp_path / "m.onnx"), full_check=True)
    assert [f.name for f in theirs.load(tmp_path / "m.onnx").functions] == (["F"] if stays else [])
    x = np.arange(8, dtype=np.float32).reshape(2, 2, 2) - 3
    (expected,) = [np.asarray(y, np.float32) for y in _run(tmp_path / "m.onnx", {"x": x})]
    np.testing.assert_allclose(np.asarray(cir.run(module, {"x": x})["y"], np.float32), expected, rtol=1e-5, atol=1e-6)
    if node == "Softmax":  # over both last axes, in the versions before 13
        rows = np.exp(x.reshape(2, 4))
        np.testing.assert_allclose(expected, (rows / rows.sum(1, keepdims=True)).reshape(x.shape), rtol=1e-5)
