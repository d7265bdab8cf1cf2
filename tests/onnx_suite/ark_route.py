"""Cases by way of ARK: a model converted, written as a model file with its weights beside it, read back and run.

ARK has no integers of 64 bits, bools or tensors without axes: inputs are given as it has them, and outputs are
taken back to what the ONNX model declares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx

import commonir

from tests.onnx_suite.cases import Array, Value
from tests.onnx_suite.conversion_routes import Converting, reported
from tests.onnx_suite.evaluators import Prepared, runner
from tests.onnx_suite.values import Disagreement

COMPOSED_ERROR = 2e-5
"""Of the largest magnitude of an output: functions that ARK lacks are composed of others."""

_GIVEN = {"int64": np.int32, "bool": np.uint8}


class ThroughArk(Converting):
    """A model converted to ARK."""

    format = "ark"
    suffix = ".ark.json"

    def prepare(self, model: Path, inputs: Mapping[str, Value]) -> Prepared:
        proto, path, fixed = self._converted(model, inputs)
        diagnostics = commonir.check(path)[1]
        if diagnostics:
            raise Disagreement(f"{diagnostics[0].code.id} {diagnostics[0].message}")
        run = runner(commonir.load(path), self._engine)
        outputs = [info.type.tensor_type for info in proto.graph.output]

        def run_as_declared(inputs: Mapping[str, Value]) -> Sequence[Value]:
            values = run({n: _given(np.asarray(v)) for n, v in inputs.items() if n not in fixed})
            return [_declared(np.asarray(v), kind) for v, kind in zip(values, outputs, strict=True)]

        return Prepared(run_as_declared, reported(fixed), COMPOSED_ERROR)


def _given(array: Array) -> Array:
    return np.atleast_1d(array).astype(_GIVEN.get(array.dtype.name, array.dtype))


def _declared(array: Array, declared: onnx.TypeProto.Tensor) -> Array:
    out = array.astype(onnx.helper.tensor_dtype_to_np_dtype(declared.elem_type))
    is_scalar = declared.HasField("shape") and not declared.shape.dim and out.shape == (1,)
    return out.reshape(()) if is_scalar else out
