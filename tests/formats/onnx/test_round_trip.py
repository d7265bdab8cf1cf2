"""A model that is read is written again as it was: messages are equal."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import commonir as cir
from commonir.formats.onnx.read import check, loads, read
from commonir.formats.onnx.write import dumps
from commonir.ods import Dialects

from tests.conversions.running_mlir import check_with_mlir_opt, text_of
from tests.formats.onnx import odd_models
from tests.onnx_suite.cases import KINDS, load_cases, quiet
from tests.oracles import oracle

DIALECTS = Dialects()
ODD = [
    odd_models.texts_everywhere,
    odd_models.ways_of_attributes,
    odd_models.ways_of_tensors,
    odd_models.old_model,
    odd_models.defaults_of_inputs,
    odd_models.kinds_of_types,
    odd_models.nested_graphs,
    odd_models.local_functions,
    odd_models.several_devices,
    odd_models.sparse_constants,
    odd_models.unknown_fields,
    odd_models.names_that_runtimes_look_for,
    odd_models.unusual_metadata,
]


def _again(content: bytes) -> onnx.ModelProto:
    module, _ = loads(content, DIALECTS)
    return onnx.ModelProto.FromString(dumps(module))


@pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)
def test_everything_that_a_file_says_is_written_again(make: Callable[[], onnx.ModelProto]) -> None:
    model = make()
    assert _again(model.SerializeToString()) == model


# Texts spell names of values as identifiers, each once.
NOT_IN_TEXT = (odd_models.ways_of_tensors, odd_models.names_that_runtimes_look_for)


@pytest.mark.parametrize("make", [m for m in ODD if m not in NOT_IN_TEXT], ids=lambda make: make.__name__)
def test_everything_that_a_file_says_goes_through_text(make: Callable[[], onnx.ModelProto], tmp_path: Path) -> None:
    model = make()
    module, _ = loads(model.SerializeToString(), DIALECTS)
    cir.save(module, tmp_path / "m.mlir")
    cir.save(cir.load(tmp_path / "m.mlir"), tmp_path / "again.onnx")
    assert onnx.load(tmp_path / "again.onnx") == model


def test_names_that_runtimes_look_for_stay_when_a_model_becomes_simpler(tmp_path: Path) -> None:
    model = odd_models.names_that_runtimes_look_for()
    onnx.save(model, tmp_path / "m.onnx")
    cir.save(cir.optimize(cir.load(tmp_path / "m.onnx")), tmp_path / "simple.onnx")
    (node,) = onnx.load(tmp_path / "simple.onnx").graph.node
    (graph,) = [a.g for a in node.attribute if a.name == "decoder"]
    assert ([v.name for v in graph.input], [v.name for v in graph.output]) == (["x"], ["y"])


def test_a_name_that_a_graph_sees_is_not_hidden_in_it(tmp_path: Path) -> None:
    """Of two values of one name the inner one is renamed where the outer one is used beside it."""
    inner = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["s"])], "decoder", [odd_models.info("x", 2)], [odd_models.info("s", 2)]
    )
    model = odd_models.names_that_runtimes_look_for()
    model.graph.node[0].attribute[0].g.CopyFrom(inner)
    model.graph.initializer.append(numpy_helper.from_array(np.ones(2, np.float32), "w"))
    module, _ = loads(model.SerializeToString(), DIALECTS)
    (argument,) = [
        a for op in module.nested() for r in op.regions for a in r.block.arguments if r.block.label == "decoder"
    ]
    argument.name = "w"
    written = onnx.ModelProto.FromString(dumps(module)).graph.node[0].attribute[0].g
    assert [v.name for v in written.input] == ["w_1"]
    assert list(written.node[0].input) == ["w_1", "w"]


def test_metadata_of_any_name_are_written_as_mlir_takes_them(tmp_path: Path) -> None:
    node = helper.make_node("Neg", ["x"], ["y"])
    graph = helper.make_graph([node], "g", [odd_models.info("x", 2)], [odd_models.info("y", 2)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    for key in ("", "k", "k"):
        model.metadata_props.add(key=key, value="v")
    onnx.save(model, tmp_path / "m.onnx")
    text = text_of(cir.convert(cir.load(tmp_path / "m.onnx"), "linalg"))
    assert 'user_defined = [{key = "", value = "v"}, {key = "k", value = "v"}, {key = "k", value = "v"}]' in text
    check_with_mlir_opt(text)


@pytest.mark.slow_cases("node")
@pytest.mark.parametrize("kind", KINDS)
def test_models_of_the_backend_suite_are_written_again(kind: str) -> None:
    with quiet():
        cases = load_cases([kind])
    assert [c.name for c in cases if _again(c.model.read_bytes()) != onnx.load(c.model)] == []


def test_external_data_are_the_same_once_they_are_inside(tmp_path: Path) -> None:
    model = odd_models.old_model()
    copied = onnx.ModelProto.FromString(model.SerializeToString())
    onnx.save(copied, tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0)
    module, diagnostics = read(tmp_path / "m.onnx", DIALECTS)
    assert module is not None
    assert diagnostics == []
    assert onnx.ModelProto.FromString(dumps(module)) == model


@pytest.mark.parametrize("is_new", [False, True], ids=["TorchScript exporter", "dynamo exporter"])
def test_models_that_torch_exports_are_written_again(tmp_path: Path, is_new: bool) -> None:
    torch = oracle("torch")
    if is_new:
        oracle("onnxscript")

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = torch.nn.Conv2d(3, 4, 3)
            self.lstm = torch.nn.LSTM(4, 5, bidirectional=True)

        def forward(self, x: Any) -> Any:
            y = torch.relu(self.conv(x)).flatten(2).permute(2, 0, 1)
            return self.lstm(y)[0][-1].softmax(-1)

    path = tmp_path / "m.onnx"
    axes = (
        {"dynamic_shapes": {"x": {0: torch.export.Dim("batch")}}} if is_new else {"dynamic_axes": {"x": {0: "batch"}}}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inputs = (torch.zeros(2, 3, 5, 5),)
        torch.onnx.export(Network().eval(), inputs, path, dynamo=is_new, external_data=False, input_names=["x"], **axes)
    assert [d for d in check(path, DIALECTS)[1] if d.is_error] == []
    assert _again(path.read_bytes()) == onnx.load(path)


_X, _Y = odd_models.info("x", 2), odd_models.info("y", 2)
_C, _K = helper.make_tensor_value_info("c", 9, []), helper.make_tensor_value_info("k", 7, [])


def _branching(name: str, *before: onnx.NodeProto, after: onnx.NodeProto | None = None) -> onnx.GraphProto:
    """A graph with an If, of which a branch gives a name to its result."""
    branch = helper.make_graph([helper.make_node("Neg", ["x"], [name])], "t", [], [odd_models.info(name, 2)])
    other = helper.make_graph([helper.make_node("Abs", ["x"], ["q"])], "e", [], [odd_models.info("q", 2)])
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=other)
    return helper.make_graph([*before, node, *([] if after is None else [after])], "g", [_X, _C], [_Y])


def _looping(carried: str, constant: str) -> onnx.GraphProto:
    """A graph with a Loop and a constant, and names of an input and of a constant of its body."""
    arguments = [helper.make_tensor_value_info(n, t, []) for n, t in (("i", 7), ("d", 9))]
    body = helper.make_graph(
        [helper.make_node("Add", [carried, constant], ["s"]), helper.make_node("Identity", ["d"], ["e"])],
        "body",
        [*arguments, odd_models.info(carried, 2)],
        [helper.make_tensor_value_info("e", 9, []), odd_models.info("s", 2)],
        [numpy_helper.from_array(np.ones(2, np.float32), constant)],
    )
    nodes = [helper.make_node("Loop", ["k", "c", "x"], ["r"], body=body), helper.make_node("Add", ["r", "w"], ["y"])]
    return helper.make_graph(nodes, "g", [_X, _C, _K], [_Y], [numpy_helper.from_array(np.ones(2, np.float32), "w")])


_NEG = helper.make_node("Neg", ["x"], ["t"])


@pytest.mark.parametrize(
    "graph",
    [
        pytest.param(_branching("y"), id="the result of the node"),
        pytest.param(_branching("q"), id="a result of another graph"),
        pytest.param(_branching("t", after=_NEG), id="a later result"),
        pytest.param(_looping("x", "v"), id="an input"),
        pytest.param(_looping("v", "w"), id="a constant"),
    ],
)
def test_names_that_onnx_lets_nested_graphs_reuse_stay(graph: onnx.GraphProto, tmp_path: Path) -> None:
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model)
    assert _again(model.SerializeToString()) == model
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    assert [d.message for d in check(tmp_path / "m.onnx", DIALECTS)[1] if "G5:" in d.message] == []


@pytest.mark.parametrize("graph", [_branching("x"), _branching("t", _NEG)], ids=["an input", "an earlier result"])
def test_a_visible_name_that_a_nested_graph_reuses_is_reported_and_stays(
    graph: onnx.GraphProto, tmp_path: Path
) -> None:
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    with pytest.raises(onnx.checker.ValidationError, match="single static assignment"):
        onnx.checker.check_model(model)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    assert ["G5:" in d.message for d in check(tmp_path / "m.onnx", DIALECTS)[1]] == [True]
    assert _again(model.SerializeToString()) == model


def _with_outputs(*infos: onnx.ValueInfoProto) -> onnx.ModelProto:
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    inputs = [helper.make_tensor_value_info("x", 1, ["N", 3])]
    graph = helper.make_graph(nodes, "g", inputs, list(infos))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _without(*fields: str) -> onnx.ModelProto:
    model = _with_outputs(helper.make_tensor_value_info("y", 1, ["N", 3]))
    for field in fields:
        message: onnx.ModelProto | onnx.GraphProto = model.graph if field == "name" else model
        message.ClearField(field)
    return model


def _with_type_attribute() -> onnx.ModelProto:
    model = _without()
    model.graph.node[0].op_type, model.graph.node[0].domain = "Op", "custom"
    types = [helper.make_tensor_type_proto(1, ["N+1"])]
    model.graph.node[0].attribute.extend([helper.make_attribute("t", types[0]), helper.make_attribute("u", types)])
    return model


def _info(name: str, *shape: int | str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, 1, shape)


def _with_types_inside(*infos: onnx.ValueInfoProto) -> onnx.ModelProto:
    nodes = [helper.make_node("Relu", ["x"], ["h"]), helper.make_node("Relu", ["h"], ["y"])]
    graph = helper.make_graph(nodes, "g", [_info("x", "N", 3)], [_info("y", "N", 3)], value_info=infos)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _with_branches_of_other_types() -> onnx.ModelProto:
    model = _with_outputs(_info("y", 3))
    branch = helper.make_graph([], "b", [], [helper.make_tensor_value_info("x", 7, None)])
    model.graph.input.append(helper.make_tensor_value_info("c", 9, []))
    model.graph.node[0].CopyFrom(helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch))
    return model


def _with_sparse_attribute(op_type: str, attribute: str) -> onnx.ModelProto:
    model = _with_outputs(_info("y", 3))
    values = numpy_helper.from_array(np.array([1.0], np.float32), "values")
    sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(np.array([2]), "places"), [3])
    node = helper.make_node(op_type, [], ["y"])
    node.attribute.append(helper.make_attribute(attribute, sparse))
    model.graph.node[0].CopyFrom(node)
    return model


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(_without("ir_version"), id="no version"),
        pytest.param(_without("name"), id="no name"),
        pytest.param(_with_outputs(helper.make_tensor_value_info("y", 1, ["N+1", 3])), id="spaces"),
        pytest.param(_with_outputs(helper.make_tensor_value_info("y", 1, ["2*(N - 1)", 3])), id="factors"),
        pytest.param(_with_type_attribute(), id="types in attributes"),
        pytest.param(_with_outputs(_info("y", "N", 3), _info("y", "N", 3, 1, 1)), id="an output of two types"),
        pytest.param(_with_types_inside(_info("h", 3), _info("h", "N", 3)), id="a value of two types"),
        pytest.param(_with_branches_of_other_types(), id="branches of other types"),
        pytest.param(_with_sparse_attribute("Constant", "value"), id="a sparse tensor for a dense one"),
        pytest.param(_with_sparse_attribute("Unknown", "any"), id="a sparse tensor of an unknown operator"),
    ],
)
def test_what_a_file_lacks_or_spells_otherwise_stays(model: onnx.ModelProto) -> None:
    assert _again(model.SerializeToString()) == model
