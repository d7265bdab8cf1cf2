"""Converted programs checked by the onnx package and run by onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from commonir.conversions.core_to_onnx import core_to_onnx
from commonir.formats.onnx.write import dumps
from commonir.ir.module import Module

from tests.oracles import oracle

Array = np.ndarray[Any, Any]


def converted(module: Module, opset: int = 18) -> bytes:
    """The bytes of a lowered module in ONNX, which pass full check and strict shape inference."""
    onnx = oracle("onnx")
    content = dumps(core_to_onnx(module, opset))
    model = onnx.load_from_string(content)
    onnx.checker.check_model(model, full_check=True)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    return content


def run_onnx(content: bytes, inputs: Mapping[str, Array], threads: int = 0) -> list[Array]:
    """Returns what onnxruntime gives for a model; maps it takes as they are. 0 threads are as many as it likes."""
    ort = oracle("onnxruntime")
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = ort.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return list(session.run(None, {n: a if isinstance(a, dict) else np.asarray(a) for n, a in inputs.items()}))
