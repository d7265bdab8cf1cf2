"""Names of ONNX nodes in Core ML packages made from them, and the other way round."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import commonir as cir
from commonir.ir.lookup import find_operations
from commonir.ir.module import Module

# The operations of the package in order, by the name of the operation and of its value. An ONNX Gemm is three of Core
# ML, the last of which computes the value of the node.
_EXPECTED = [
    ("_stem_Conv", "_stem_Conv_output_0"),
    ("_3rd", "flat"),
    ("_Gemm_1", "_Gemm_1"),
    ("_Gemm_2", "_Gemm_2"),
    ("_Gemm", "sum"),
    ("y", "y"),
]


@pytest.fixture(scope="module")
def model() -> Module:
    """A network whose names are those that torch gives, one that begins with a digit, one twice, and one missing."""
    floats = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w"], ["/stem/Conv_output_0"], name="/stem/Conv"),
            helper.make_node("Flatten", ["/stem/Conv_output_0"], ["flat"], name="3rd"),
            helper.make_node("Gemm", ["flat", "v", "c"], ["sum"], name="/Gemm", alpha=0.5),
            helper.make_node("Relu", ["sum"], ["y"]),
        ],
        "net",
        [helper.make_tensor_value_info("x", floats, [1, 2, 3, 3])],
        [helper.make_tensor_value_info("y", floats, [1, 4])],
        [
            numpy_helper.from_array(np.ones((2, 2, 3, 3), np.float32), "w"),
            numpy_helper.from_array(np.ones((2, 4), np.float32), "v"),
            numpy_helper.from_array(np.ones((1, 4), np.float32), "c"),
        ],
    )
    imports = [helper.make_opsetid("", 18)]
    return cir.loads(helper.make_model(graph, opset_imports=imports, ir_version=9).SerializeToString(), format="onnx")


def _names(module: Module) -> list[tuple[str, str]]:
    found = [(op.source_name or op.first_name, op.first_name) for op in module.main.body.operations]
    constants = {op.first_name for op in module.main.body.operations if op.name == "mil.const"}
    return [(name, value) for name, value in found if value and value not in constants]


def test_operations_of_a_package_have_the_names_of_onnx_nodes(model: Module, tmp_path: Path) -> None:
    cir.save(cir.convert(model, "coreml"), tmp_path / "net.mlpackage")
    package = cir.load(tmp_path / "net.mlpackage")
    assert _names(package) == _EXPECTED
    sought = ("/stem/Conv", "3rd", "/Gemm", "/stem/Conv_output_0")
    found = [find_operations(package, name)[0].first_name for name in sought]
    assert found == ["_stem_Conv_output_0", "flat", "sum", "_stem_Conv_output_0"]
    assert cir.extract(package, targets=["/Gemm"]).main.output_names == ("sum",)


@pytest.mark.slow  # coremltools takes seconds to load
def test_coremltools_reads_the_names_of_operations(model: Module, tmp_path: Path) -> None:
    models = pytest.importorskip("coremltools").models
    cir.save(cir.convert(model, "coreml"), tmp_path / "net.mlpackage")
    spec = models.MLModel(str(tmp_path / "net.mlpackage"), skip_model_load=True).get_spec()
    (block,) = spec.mlProgram.functions["main"].block_specializations.values()
    computing = [op for op in block.operations if op.type != "const"]
    names = [op.attributes["name"].immediateValue.tensor.strings.values[0] for op in computing]
    assert list(zip(names, [op.outputs[0].name for op in computing], strict=True)) == _EXPECTED


def test_nodes_of_onnx_have_the_names_of_core_ml_operations(model: Module) -> None:
    """Those of another operation set of Core ML have them too."""
    package = cir.convert(model, "coreml")
    newer = cir.convert(package, "coreml", target="iOS18")
    assert _names(newer) == _EXPECTED
    nodes = [(op.source_name, op.first_name) for op in cir.convert(package, "onnx").main.body.operations]
    assert [pair for pair in nodes if pair in _EXPECTED] == _EXPECTED


def test_of_several_onnx_nodes_of_one_operation_the_last_has_its_name() -> None:
    info = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 3]) for name in "xz"]
    nodes = [helper.make_node("Gelu", ["x"], ["y"], name="act"), helper.make_node("Relu", ["y"], ["z"], name="act_1")]
    graph = helper.make_graph(nodes, "net", info[:1], info[1:])
    newer = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    older = cir.dumps(cir.convert(cir.loads(newer.SerializeToString(), format="onnx"), "onnx", opset=17))
    assert isinstance(older, bytes)
    named = [(node.name, node.output[0]) for node in onnx.load_from_string(older).graph.node if node.name]
    assert len({name for name, _ in named}) == len(named) > 2
    assert named[-2:] == [("act", "y"), ("act_1", "z")]
