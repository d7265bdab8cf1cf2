"""Pages of drawings: what their data says, and that nothing of a file leaves its place."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import commonir as cir
from commonir import api
from commonir.dialects import core
from commonir.inspection.viewing import View, draw
from commonir.inspection.viewing.details import short_type
from commonir.inspection.viewing.page import page
from commonir.inspection.viewing.styles import FAMILIES, family_of
from commonir.inspection.viewing.weights import WeightReader
from commonir.ir.data import ArrayData
from commonir.ir.types import f32, tensor
from commonir.ods import Dialects

from tests.faults import MODELS, model

EVIL = "</script><script>alert(1)</script><!--\x1b\u202e"


def _document(text: str, name: str) -> Any:
    (found,) = re.findall(rf'<script type="application/json" id="{name}">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> cir.Module:
    """x -> Conv (named /net/conv) -> Relu -> y, with a weight of 0, 1, ... 53 and one NaN."""
    kernel = np.arange(54, dtype=np.float32).reshape(2, 3, 3, 3)
    kernel[0, 0, 0, 1] = np.nan
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["h"], name="/net/conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["h"], ["y"], name="/net/relu"),
    ]
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N", c, 8, 8]) for n, c in (("x", 3), ("y", 2))]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], [numpy_helper.from_array(kernel, "w")])
    path = tmp_path_factory.mktemp("page") / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return cir.load(path)


def test_page_has_operations_with_operands_users_and_weights(network: cir.Module) -> None:
    tables = _document(page(draw(network, "net")), "tables")
    items, values, types = tables["items"], tables["values"], tables["types"]
    conv = next(item for item in items if item.get("op") == "onnx.Conv")
    relu = next(item for item in items if item.get("op") == "onnx.Relu")
    assert (conv["name"], conv["also"]) == ("h", "/net/conv")
    assert ["pads", "[1, 1, 1, 1]"] in conv["attributes"]
    name, type, maker, users = values[conv["out"][0]]
    assert (name, items[maker], [items[user] for user in users]) == ("h", conv, [relu])
    assert types[type] == 'tensor<"N"x2x8x8xf32>'
    assert tables["definitions"]["onnx.Conv"][0] == "layer"
    assert "convolution" in tables["definitions"]["onnx.Conv"][1].lower()
    (weight,) = tables["weights"]
    assert ["W", None, None, 0] in conv["in"]
    assert (weight["name"], weight["type"], weight["count"]) == ("w", "tensor<2x3x3x3xf32>", 54)
    # The mean of 0, 2, 3, ... 53.
    assert (weight["min"], weight["max"], weight["mean"], weight["nan"]) == ("0", "53", "26.9811", 1)
    assert sum(weight["histogram"]) == 53
    assert weight["first"][:4] == ["0", "nan", "2", "3"]


def test_page_has_every_box_and_line_once() -> None:
    program = model("bert_fp16")
    scene = _document(page(draw(program, "bert")), "scene")
    rows = [node for graph in _graphs(scene["graphs"]) for node in graph["nodes"]]
    operations = [op for op in program.main.body.operations if op.constant_data() is None and op.results]
    assert sum(row[0] == "op" for row in rows) == len(operations)
    # Each use of a computed value is a line; groups add one at each border that it crosses.
    lines = [(line[4], graph["nodes"][line[1]]) for graph in _graphs(scene["graphs"]) for line in graph["lines"]]
    ends = {(value, node[5]) for value, node in lines if node[0] in ("op", "output")}
    makers = {result for op in operations for result in op.results} | set(program.main.inputs)
    uses = {(value, op) for op in operations for value in op.operands if value in makers}
    assert len(ends) == len(uses) + len(program.outputs)


def _graphs(graphs: list[Any]) -> list[Any]:
    inner = [graph for g in graphs for node in g["nodes"] if len(node) > 9 for graph in node[9]]
    return [*graphs, *(_graphs(inner) if inner else [])]


def test_names_of_files_stay_data() -> None:
    program = cir.loads(
        "ml_program.func @main(%x: tensor<f32>) -> (tensor<f32>) {\n"
        "  %y = core.exp %x : tensor<f32>\n  ml_program.return %y : tensor<f32>\n}",
        format="mlir",
    )
    program.main.body.first.results[0].name = EVIL  # type: ignore[union-attr]  it has an operation
    text = page(draw(program, EVIL))
    assert "alert(1)</script>" not in text
    assert "<!--" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(re.findall(r"<script", text)) == 3
    exp = next(item for item in _document(text, "tables")["items"] if item.get("op") == "core.exp")
    assert exp["name"] == "</script><script>alert(1)</script><!--\\x1b\\u202e"


def test_an_operator_without_a_definition_is_called_as_in_the_file(tmp_path: Path) -> None:
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("x", "y")]
    node = helper.make_node("Fancy", ["x"], ["y"], domain="com.acme")
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)]
    graph = helper.make_graph([node], "g", ports[:1], ports[1:])
    onnx.save(helper.make_model(graph, opset_imports=opsets), tmp_path / "net.onnx")
    (scene,) = _document(page(draw(cir.load(tmp_path / "net.onnx"), "net")), "scene")["graphs"]
    assert [row[7] for row in scene["nodes"] if row[0] == "op"] == ["com.acme.Fancy"]


def test_notebooks_show_the_page_in_a_frame_without_rights(network: cir.Module, tmp_path: Path) -> None:
    shown = api.view(network, title="net.onnx")
    assert isinstance(shown, View)
    assert repr(shown) == "<View of net.onnx: 2 operations>"
    html = shown._repr_html_()
    assert html.startswith('<iframe sandbox="allow-scripts" style=')
    assert html.count("<") == 2
    assert shown.save(tmp_path / "net.svg").summary == "2 operations"


def test_weights_are_sampled_when_they_are_large() -> None:
    array = np.linspace(-1, 1, 1 << 20, dtype=np.float32)
    array[5] = np.inf
    data = ArrayData(tensor(f32, 1 << 20), array)
    maker = core.constant(data).defining_op
    assert maker is not None
    described = WeightReader().describe(data, maker)
    assert described["note"] == "range, mean and histogram of 262,144 elements"
    assert (described["min"], described["max"], described["inf"]) == ("-1", "1", 1)
    assert abs(float(str(described["mean"]))) < 1e-3


def test_every_dialect_has_families() -> None:
    """Nearly all operations have a family; those of modules without one are listed."""
    families: dict[str, str] = {}
    for dialect in map(Dialects().get, Dialects().names()):
        assert dialect is not None
        families |= {name: family_of(definitions[-1]) for name, definitions in dialect.operations.items()}
    assert set(families.values()) <= set(FAMILIES)
    assert {name: families[name] for name in ("mil.conv", "onnx.Conv", "core.conv", "linalg.conv_2d")} == dict.fromkeys(
        ("mil.conv", "onnx.Conv", "core.conv", "linalg.conv_2d"), "layer"
    )
    assert (families["mil.relu"], families["onnx.Relu"]) == ("activation", "activation")
    assert (families["onnx.LayerNormalization"], families["mil.layer_norm"]) == ("normalization", "normalization")
    assert (families["scf.for"], families["onnx.Reshape"], families["mil.reshape"]) == ("control", "shape", "shape")
    unknown = [name for name, family in families.items() if family == "other"]
    assert len(unknown) < 0.06 * len(families), unknown


def test_compressed_weights_say_how_and_where_they_are_stored() -> None:
    program = model("t5_encoder_palettized4_int8_fp16")
    weights = {weight["name"]: weight for weight in _document(page(draw(program, "t5")), "tables")["weights"]}
    query = weights["model_encoder_block_0_layer_0_SelfAttention_q_weight_to_fp16_palettized"]
    # 576 indices of 4 bits, and a table of 16 bytes with a scale for each: 288 B, 16 B, 2 B.
    assert (query["storage"], query["bytes"]) == ("palettized 4 bits; weight.bin, offset 1,344", "306 B")
    assert len(set(query["first"])) <= 16
    assert sum(query["histogram"]) == query["count"] == 576


def test_types_of_a_classifier_are_short() -> None:
    program = cir.load(MODELS / "kinds/classifier_texts.mlpackage")
    assert [short_type(v) for v in program.main.outputs] == ["string", "map<string, f64>"]
