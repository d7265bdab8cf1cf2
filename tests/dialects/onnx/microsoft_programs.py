"""Models of one operator of com.microsoft, and whether engines give for them what onnxruntime gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto, helper, numpy_helper

from tests.conversions.running import run_onnx
from tests.dialects.onnx.onnx_programs import assert_same, run_here

Array = NDArray[Any]
ENGINES = ("numpy", "reference")
DOMAIN = "com.microsoft"
Given = Sequence[Array | None]


def node_model(
    op_type: str, inputs: Given, outputs: int, *, domain: str = DOMAIN, constant: Sequence[int] = (), **attributes: Any
) -> ModelProto:
    """A model of one operator with operands x0, x1 and so on, some of them constants, and results y0, y1 and so on."""
    names = ["" if x is None else f"x{n}" for n, x in enumerate(inputs)]
    given = [
        helper.make_tensor_value_info(f"x{n}", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for n, x in enumerate(inputs)
        if x is not None and n not in constant
    ]
    held = [numpy_helper.from_array(x, f"x{n}") for n in constant if (x := inputs[n]) is not None]
    results = [helper.make_empty_tensor_value_info(f"y{n}") for n in range(outputs)]
    node = helper.make_node(op_type, names, [r.name for r in results], "node", domain=domain)
    node.attribute.extend([helper.make_attribute(name, value) for name, value in attributes.items()])
    graph = helper.make_graph([node], "program", given, results, held)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def check_model(model: ModelProto, given: Mapping[str, Array], rtol: float = 1e-5) -> list[Any]:
    """The outputs of onnxruntime, which those of both engines are."""
    # With several threads the steps of a layer are quantized in parts of the batch.
    expected = run_onnx(model.SerializeToString(), given, threads=1)
    for engine in ENGINES:
        assert_same(run_here(model, given, engine), expected, rtol)
    return expected


def check(op_type: str, inputs: Given, outputs: int = 1, *, rtol: float = 1e-5, **options: Any) -> list[Any]:
    """Both engines give for an operator what onnxruntime gives, which is returned."""
    model = node_model(op_type, inputs, outputs, **options)
    names = [i.name for i in model.graph.input]
    return check_model(model, {n: x for n in names if (x := inputs[int(n[1:])]) is not None}, rtol)


def scalar(value: float, dtype: Any = np.float32) -> Array:
    """A tensor of one number without axes."""
    return np.array(value, dtype)


__all__ = ["DOMAIN", "ENGINES", "Array", "check", "check_model", "node_model", "onnx", "scalar"]
