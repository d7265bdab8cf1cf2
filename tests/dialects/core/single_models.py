"""One ONNX operator, run by onnxruntime on given arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.oracles import oracle

onnx = oracle("onnx")
onnxruntime = oracle("onnxruntime")

Array = NDArray[Any]
OPSET = 22


def onnx_results(
    op: str, inputs: Sequence[Array | None], count: int = 1, opset: int = OPSET, **attributes: Any
) -> tuple[Array, ...]:
    """The outputs of an operator. An input of None is left out."""
    helper = onnx.helper
    names = ["" if x is None else f"x{n}" for n, x in enumerate(inputs)]
    arguments = {n: x for n, x in zip(names, inputs, strict=True) if x is not None}
    outputs = [f"y{n}" for n in range(count)]
    typed = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for n, x in arguments.items()
    ]
    untyped = [onnx.ValueInfoProto(name=n) for n in outputs]
    node = helper.make_node(op, names, outputs, **{k: v for k, v in attributes.items() if v is not None})
    graph = helper.make_graph([node], "single", typed, untyped)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return tuple(session.run(outputs, arguments))


def onnx_result(op: str, inputs: Sequence[Array | None], opset: int = OPSET, **attributes: Any) -> Array:
    """The only output of an operator."""
    return onnx_results(op, inputs, 1, opset, **attributes)[0]


def in_single_precision(
    op: str, inputs: Sequence[Array | None], like: Array, opset: int = OPSET, **attributes: Any
) -> Array:
    """The only output, computed in f32 and rounded to the element type of another array."""
    wide = [None if x is None else x.astype(np.float32) if x.dtype == like.dtype else x for x in inputs]
    return onnx_result(op, wide, opset, **attributes).astype(like.dtype)
