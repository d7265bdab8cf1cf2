"""Constants that the engine `numpy` copies out of a model's file."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import commonir as cir

from tests.base.test_released_pages import resident_kilobytes

SIZE = 2100


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lists the memory of mappings so")
@pytest.mark.parametrize("name", ["g", "gg"])
def test_constants_that_are_not_aligned_are_not_in_memory_twice(name: str, tmp_path: Path) -> None:
    w = np.random.default_rng(0).standard_normal((SIZE, SIZE)).astype(np.float32)
    inputs, outputs = [[helper.make_tensor_value_info(port, TensorProto.FLOAT, [2, SIZE])] for port in "xy"]
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = helper.make_graph([node], name, inputs, outputs, [numpy_helper.from_array(w, "w")])
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    x = np.random.default_rng(1).standard_normal((2, SIZE)).astype(np.float32)
    program = cir.load(path)
    executable = cir.prepare(program, engine="numpy")
    actual = np.asarray(executable.run({"x": x})["y"], np.float32)
    np.testing.assert_allclose(actual, x @ w, rtol=1e-3, atol=1e-3)
    is_aligned = path.read_bytes().index(w.tobytes()) % w.itemsize == 0
    assert is_aligned or resident_kilobytes(path) <= w.nbytes >> 13
