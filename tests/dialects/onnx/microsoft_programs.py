"""Models of one operator of com.microsoft, and whether engines give for them what onnxruntime gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, helper, numpy_helper

from tests.conversions.running import run_onnx
from tests.dialects.onnx.onnx_programs import assert_same, run_here

Array = NDArray[Any]
ENGINES = ("numpy", "reference")
DOMAIN = "com.microsoft"
Given = Sequence[Array | None]


def node_model(
    op_type: str,
    inputs: Given,
    outputs: int,
    *,
    domain: str = DOMAIN,
    default_opset: int = 17,
    constant: Sequence[int] = (),
    stated: Mapping[int, int] = MappingProxyType({}),
    dropped: Sequence[int] = (),
    **attributes: Any,
) -> ModelProto:
    """A model of one operator with operands x0, x1 and so on, some of them constants, and results y0, y1 and so on.

    `stated` are the element types of results that do not follow, and `dropped` those that are not asked for.
    """
    names = ["" if x is None else f"x{n}" for n, x in enumerate(inputs)]
    arguments = [
        helper.make_tensor_value_info(f"x{n}", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for n, x in enumerate(inputs)
        if x is not None and n not in constant
    ]
    stored = [numpy_helper.from_array(x, f"x{n}") for n in constant if (x := inputs[n]) is not None]
    results = [helper.make_empty_tensor_value_info(f"y{n}") for n in range(outputs)]
    for n, element in stated.items():
        results[n] = helper.make_tensor_value_info(f"y{n}", element, None)
    result = ["" if n in dropped else r.name for n, r in enumerate(results)]
    node = helper.make_node(op_type, names, result, "node", domain=domain)
    node.attribute.extend([helper.make_attribute(name, value) for name, value in attributes.items()])
    graph = helper.make_graph([node], "program", arguments, [r for r in results if r.name in result], stored)
    opsets = [helper.make_opsetid("", default_opset), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def check_model(model: ModelProto, inputs: Mapping[str, Array], rtol: float = 1e-5) -> list[Any]:
    """The outputs of onnxruntime, which those of both engines are."""
    # With several threads the steps of a layer are quantized in parts of the batch.
    expected = run_onnx(model.SerializeToString(), inputs, threads=1)
    for engine in ENGINES:
        assert_same(run_here(model, inputs, engine), expected, rtol)
    return expected


def check(op_type: str, inputs: Given, outputs: int = 1, *, rtol: float = 1e-5, **options: Any) -> list[Any]:
    """Both engines give for an operator what onnxruntime gives, which is returned."""
    model = node_model(op_type, inputs, outputs, **options)
    names = [i.name for i in model.graph.input]
    return check_model(model, {n: x for n in names if (x := inputs[int(n[1:])]) is not None}, rtol)


def scalar(value: float, dtype: Any = np.float32) -> Array:
    """A tensor of one number without axes."""
    return np.array(value, dtype)


class Draws:
    """Random operands, the same in each run."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def floats(self, *shape: int) -> Array:
        """Numbers of single precision around 0."""
        return self.random.normal(size=shape).astype(np.float32)

    def scales(self, *shape: int, least: float = 0.01) -> Array:
        """Positive numbers of single precision."""
        return np.abs(self.floats(*shape)) * np.float32(0.02) + np.float32(least)

    def integers(self, dtype: Any, *shape: int) -> Array:
        """Any numbers of an integer type of few bits."""
        limits = np.iinfo(dtype)
        return self.random.integers(limits.min, limits.max + 1, shape).astype(dtype)


__all__ = ["DOMAIN", "ENGINES", "Array", "Draws", "check", "check_model", "node_model", "scalar"]
