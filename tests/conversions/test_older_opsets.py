"""What operators of newer opsets become in older ones gives the same in onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import commonir

from tests.onnx_operators import moves, sums
from tests.onnx_operators.drawing import Draw
from tests.onnx_operators.verdicts import Drawn, difference, modelled, run_with_onnxruntime

SEEDS = range(8)


def _in_opset(it: Drawn, opset: int) -> onnx.ModelProto:
    module = commonir.loads(it.model.SerializeToString(), format="onnx")
    return onnx.load_from_string(commonir.dumps(commonir.convert(module, "onnx", opset=opset)))


@pytest.mark.parametrize("opset", [12, 15])
@pytest.mark.parametrize("seed", SEEDS)
def test_images_are_read_at_positions_without_an_operator_for_that(seed: int, opset: int) -> None:
    d = Draw(seed)
    it = modelled(d, sums.grid_sample(d), unknown_rank=0, symbols=0.5)
    expected = run_with_onnxruntime(it.model, it.inputs)
    found = run_with_onnxruntime(_in_opset(it, opset), it.inputs)
    assert difference(found, expected, 1e-3) is None, it


def test_empty_names_that_an_older_operator_has_no_place_for_are_left_out() -> None:
    d = Draw(0)
    it = modelled(d, moves.pad(d)._replace(opset=19, attributes={"mode": "constant"}), unknown_rank=0, symbols=0)
    it.model.graph.node[0].input[2:] = ["", ""]
    assert len(_in_opset(it, 11).graph.node[-1].input) <= 3


@pytest.mark.parametrize("opset", [11, 13, 17])
@pytest.mark.parametrize("count", [2, 3])
def test_an_axis_of_open_size_is_split_in_an_older_opset(count: int, opset: int) -> None:
    names = [f"y{n}" for n in range(count)]
    node = onnx.helper.make_node("Split", ["x"], names, num_outputs=count)
    infos = [onnx.helper.make_tensor_value_info("x", 1, ["n", 2])]
    graph = onnx.helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name=n) for n in names])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8)
    module = commonir.loads(model.SerializeToString(), format="onnx")
    made = onnx.load_from_string(commonir.dumps(commonir.convert(module, "onnx", opset=opset)))
    for size in (3, 5, 8):
        given = {"x": np.arange(2 * size, dtype=np.float32).reshape(size, 2)}
        assert difference(run_with_onnxruntime(made, given), run_with_onnxruntime(model, given), 0) is None
