"""Programs of ONNX in its text form, and what others make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, helper, parser
from onnx.reference import ReferenceEvaluator

import commonir
from commonir.formats.onnx.read import loads
from commonir.ods import Dialects

from tests.conversions.running import run_onnx

Array = NDArray[Any]


def program(
    opset: int, body: str, inputs: Mapping[str, Array], outputs: Sequence[str], ir_version: int = 8
) -> ModelProto:
    """A model of a body of nodes, whose inputs have the types of arrays and whose outputs have none."""
    arguments = ", ".join(f"{_spelled(x)} {name}" for name, x in inputs.items())
    results = ", ".join(f"float {name}" for name in outputs)
    model = parser.parse_model(
        f'<ir_version: {ir_version}, opset_import: ["" : {opset}]> program ({arguments}) => ({results}) {{ {body} }}'
    )
    for output in model.graph.output:
        output.ClearField("type")
    return model


def _spelled(x: Array) -> str:
    dtype = (
        "string" if x.dtype.kind in "OU" else helper.tensor_dtype_to_string(helper.np_dtype_to_tensor_dtype(x.dtype))
    )
    sizes = ",".join(map(str, x.shape))
    return f"{dtype.rpartition('.')[2].lower()}{f'[{sizes}]' if x.shape else ''}"


def run_here(model: ModelProto, inputs: Mapping[str, Array], engine: str) -> list[Any]:
    """The outputs of an engine."""
    module, diagnostics = loads(model.SerializeToString(), Dialects())
    assert not diagnostics, diagnostics
    return list(commonir.run(module, dict(inputs), engine=engine).values())


def run_with_onnxruntime(model: ModelProto, inputs: Mapping[str, Array]) -> list[Any]:
    """The outputs of onnxruntime."""
    return run_onnx(model.SerializeToString(), inputs)


def run_with_evaluator(model: ModelProto, inputs: Mapping[str, Array]) -> list[Any]:
    """The outputs of the evaluator of the onnx package."""
    return list(ReferenceEvaluator(model).run(None, dict(inputs)))


def assert_same(actual: Sequence[Any], expected: Sequence[Any], rtol: float = 1e-6) -> None:
    """Outputs have the same element types, shapes and elements; lists element by element."""
    assert len(actual) == len(expected)
    for f, e in zip(actual, expected, strict=True):
        if isinstance(e, list):
            assert isinstance(f, list)
            assert_same(f, e, rtol)
            continue
        ours, theirs = np.asarray(f), np.asarray(e)
        assert ours.shape == theirs.shape
        if theirs.dtype.kind in "OU":
            assert [str(v) for v in ours.reshape(-1)] == [str(v) for v in theirs.reshape(-1)]
            continue
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol)
