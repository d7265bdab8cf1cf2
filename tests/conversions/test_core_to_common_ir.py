"""From the core to Common IR and back: the same numbers, valid names, and the findings that users see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx as onnx_package
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.conversions.common_ir_graphs import NAME_KEY
from commonir.conversions.core_to_common_ir import core_to_common_ir
from commonir.dialects import common_ir, onnx
from commonir.dialects.common_ir.naming import is_identifier
from commonir.ir.attributes import DictionaryAttr, StringAttr
from commonir.ir.module import Module
from commonir.ods import Dialects, verify
from commonir.text.parser import parse_module

from tests.arrays import read_arrays
from tests.specifications.common_ir_files import document

MODELS = Path(__file__).parents[1] / "models"


def _lowered(text: str) -> Module:
    return cir.lower(parse_module(text, Dialects()))


@pytest.mark.fast_every(4)
@pytest.mark.parametrize("name", ["lstm_fp32", "control_iOS18", "gpt2_fp32", "minilm_fp32"])
@pytest.mark.parametrize("suffix", [".cir", ".cir.json"])
def test_programs_compute_the_same_as_common_ir_files(name: str, suffix: str, tmp_path: Path) -> None:
    module = cir.load(MODELS / name / "model.mlpackage")
    inputs = read_arrays(MODELS / name / "inputs.npz")
    path = tmp_path / f"model{suffix}"
    cir.save(cir.convert(module, "common_ir"), path)
    again = cir.load(path)
    assert [str(d) for d in cir.verify(again)] == []
    expected: dict[str, Any] = dict(cir.run(module, inputs))
    outputs: dict[str, Any] = dict(cir.run(again, inputs))
    for output, actual in outputs.items():
        # Kernels may be put together otherwise, which changes the last bits.
        np.testing.assert_allclose(actual, expected[output], rtol=1e-4, atol=1e-5, err_msg=output)


PROGRAM = """
module {
  ml_program.func @main(%0: tensor<2xf32> {ml_program.name = "x/y:0"}) -> tensor<2xf32> {
    %1 = "core.neg"(%0) : (tensor<2xf32>) -> tensor<2xf32>
    ml_program.return %1 : tensor<2xf32>
  }
}
"""


def _with_names(names: tuple[str, str]) -> Module:
    module = _lowered(PROGRAM)
    function = module.main
    function.body.arguments[0].name = names[0]
    for op in function.body.operations:
        for r in op.results:
            r.name = names[1]
    return module


def test_names_become_c_identifiers_and_that_is_reported() -> None:
    reported = Diagnostics()
    result = core_to_common_ir(_with_names(("/layer/x:0", "7th")), reported)
    graph = result.main
    assert [v.name for v in graph.inputs] == ["_layer_x_0"]
    assert all(is_identifier(name) for name in graph.output_names)
    assert "'/layer/x:0' is called '_layer_x_0': names in Common IR are C identifiers" in [d.message for d in reported]
    preserved = result.extra[onnx.METADATA]
    assert isinstance(preserved, DictionaryAttr)
    assert (f"{NAME_KEY}_layer_x_0", StringAttr("/layer/x:0")) in preserved.entries


def test_equal_names_are_distinguished() -> None:
    result = core_to_common_ir(_with_names(("x", "x")))
    names = [v.name for v in (*result.main.inputs, *result.main.outputs)]
    assert len(set(names)) == len(names)
    assert [str(d) for d in verify(result, Dialects()) if d.is_error] == []


def test_an_input_that_is_returned_goes_through_an_identity() -> None:
    module = _lowered(
        """
module {
  ml_program.func @main(%0: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    ml_program.return %0, %0 : tensor<2xf32>, tensor<2xf32>
  }
}
"""
    )
    result = core_to_common_ir(module)
    assert [str(d) for d in verify(result, Dialects()) if d.is_error] == []
    assert [op.name for op in result.main.body.operations] == ["onnx.Identity", "onnx.Identity", "onnx.return"]
    x = np.array([1, 2], np.float32)
    assert [v.tolist() for v in cir.run(result, {result.inputs[0].name: x}).values()] == [[1, 2], [1, 2]]


def test_what_a_program_keeps_between_runs_becomes_inputs_and_outputs() -> None:
    reported = Diagnostics()
    result = core_to_common_ir(cir.lower(cir.load(MODELS / "llama_stateful_fp16" / "model.mlpackage")), reported)
    assert "state 'key_cache' becomes the input 'key_cache' and the output 'key_cache_out'" in [
        d.message for d in reported
    ]
    assert {"key_cache", "key_cache_out"} <= {v.name for v in (*result.inputs, *result.outputs)}


def test_required_metadata_are_there() -> None:
    result = core_to_common_ir(_lowered(PROGRAM))
    assert {onnx.DOMAIN, onnx.IR_VERSION, onnx.MODEL_VERSION, onnx.DOC_STRING} <= set(result.extra)
    assert [op.uri for op in result.body.operations if isinstance(op, common_ir.Import)] == ["commonir:core"]


def test_choices_that_common_ir_has_no_place_for_are_refused() -> None:
    with pytest.raises(DiagnosticError, match="has no place for an opset"):
        cir.convert(_lowered(PROGRAM), "common_ir", opset=18)


_GRAPH = """{"ModelProto": {"model_author": "A", "model_license": "MIT", "graph": {
  "name": "g", "doc_string": "Scales.", "input": ["x: float32[n]"], "output": ["y: float32"],
  "node": ["NODE"], "imported_libraries": ["commonir:core"]
}}}"""


def test_an_output_without_a_shape_has_the_one_that_follows_in_onnx(tmp_path: Path) -> None:
    path = tmp_path / "m.cir.json"
    node = r"y = Concat(x, x) {\"axis\": {\"i\": 0, \"type\": \"INT\"}}"
    path.write_text(document(_GRAPH.replace("NODE", node)))
    cir.save(cir.convert(cir.load(path), "onnx"), tmp_path / "m.onnx")
    model = onnx_package.load(tmp_path / "m.onnx")
    onnx_package.checker.check_model(model, full_check=True)
    assert [d.dim_param for d in model.graph.output[0].type.tensor_type.shape.dim] == ["2*n"]


def test_documentation_author_and_license_of_a_graph_go_through_the_core(tmp_path: Path) -> None:
    path = tmp_path / "m.cir.json"
    path.write_text(document(_GRAPH.replace("NODE", "y = org.commonir.core.neg[1](x)")))
    converted = cir.convert(cir.load(path), "onnx")
    cir.save(converted, tmp_path / "m.onnx")
    assert onnx_package.load(tmp_path / "m.onnx").doc_string == "Scales."
    cir.save(cir.convert(converted, "common_ir"), tmp_path / "b.cir.json")
    model = json.loads((tmp_path / "b.cir.json").read_text())["ModelProto"]
    assert [model[key] for key in ("doc_string", "model_author", "model_license")] == ["Scales.", "A", "MIT"]


def test_domain_version_and_producer_of_a_graph_go_through_the_core(tmp_path: Path) -> None:
    path = tmp_path / "m.cir.json"
    graph = document(_GRAPH.replace("NODE", "y = org.commonir.core.neg[1](x)"))
    message = json.loads(graph)
    message["ModelProto"] |= {"model_version": 7, "producer_name": "tool", "producer_version": "3"}
    path.write_text(json.dumps(message))
    for opset, ir_version in ((None, 10), (17, 8)):
        cir.save(cir.convert(cir.load(path), "onnx", opset=opset), tmp_path / "m.onnx")
        model = onnx_package.load(tmp_path / "m.onnx")
        stated = model.domain, model.model_version, model.producer_name, model.producer_version, model.ir_version
        assert stated == ("com.example", 7, "tool", "3", ir_version)
