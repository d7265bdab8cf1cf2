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

SIZE = 800


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lists the memory of mappings so")
@pytest.mark.parametrize("prefix", range(4))
def test_constants_that_are_not_aligned_are_not_in_memory_twice(prefix: int, tmp_path: Path) -> None:
    w = np.random.default_rng(0).standard_normal((SIZE, SIZE)).astype(np.float32)
    ports = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, SIZE])] for name in "xy"]
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = helper.make_graph([node], "g" + "g" * prefix, *ports, [numpy_helper.from_array(w, "w")])
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    x = np.random.default_rng(1).standard_normal((2, SIZE)).astype(np.float32)
    program = cir.load(path)
    executable = cir.prepare(program, engine="numpy")
    outputs = executable.run({"x": x})
    np.testing.assert_allclose(outputs["y"], x @ w, rtol=1e-4, atol=1e-4)
    is_aligned = path.read_bytes().index(w.tobytes()) % w.itemsize == 0
    assert is_aligned or resident_kilobytes(path) <= w.nbytes >> 13
