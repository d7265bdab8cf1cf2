"""ONNX models of a few nodes, and what onnxruntime computes for them without optimization."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import commonir as cir


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    """Returns a node whose inputs and outputs are names in a row."""
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def ints(*values: int) -> Any:
    """Returns a constant of integers."""
    return np.array(values, np.int64)


class Case(NamedTuple):
    """A model from 'x', what remains of it by operator, and its outputs."""

    nodes: Sequence[onnx.NodeProto]
    constants: Mapping[str, Any]
    shape: Sequence[int | str]
    left: Mapping[str, int]
    outputs: str = "y"
    element: int = TensorProto.FLOAT
    opset: int = 17


def save(path: Path, case: Case) -> None:
    """Writes the model of a case."""
    x = helper.make_tensor_value_info("x", case.element, case.shape)
    outputs = [helper.make_tensor_value_info(name, case.element, None) for name in case.outputs.split()]
    stored = [numpy_helper.from_array(np.asarray(value), name) for name, value in case.constants.items()]
    graph = helper.make_graph(case.nodes, "g", [x], outputs, stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=8)
    # The outputs get their shapes, for the checker.
    onnx.save(onnx.shape_inference.infer_shapes(model) if len(case.nodes) < 50 else model, path)


def outputs_of(path: Path, case: Case, x: Any = None) -> Sequence[Any]:
    """Returns the outputs of onnxruntime, by default for random numbers with zeros of both signs among them."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if x is not None:
        return onnxruntime.InferenceSession(str(path), options).run(None, {"x": x})
    x = 3 * np.random.default_rng(0).standard_normal([2 if isinstance(n, str) else n for n in case.shape])
    x.reshape(-1)[:2] = 0.0, -0.0
    x = x.astype(helper.tensor_dtype_to_np_dtype(case.element))
    return onnxruntime.InferenceSession(str(path), options).run(None, {"x": x})


def check(case: Case, folder: Path, **options: Any) -> None:
    """Checks what remains of a model, and that onnxruntime computes the same bits for it."""
    before, after = folder / "before.onnx", folder / "after.onnx"
    save(before, case)
    cir.save(cir.optimize(cir.load(before), **options), after)
    onnx.checker.check_model(onnx.load(after), full_check=True)
    assert Counter(each.op_type for each in onnx.load(after).graph.node) == case.left
    # Parameters of operators need some bytes, which weigh in a model without weights.
    assert after.stat().st_size <= before.stat().st_size * 1.01 + 100
    for expected, result in zip(outputs_of(before, case), outputs_of(after, case), strict=True):
        assert expected.dtype == result.dtype
        assert expected.shape == result.shape
        assert expected.tobytes() == result.tobytes()
