"""Operators whose meaning depends on a size that is open in the model, and known when it runs."""

from __future__ import annotations

import numpy as np
import pytest

import commonir

from tests.dialects.onnx.onnx_programs import Array, program, run_here

_X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
_Q, _K = np.sin(np.arange(48, dtype=np.float32)).reshape(2, 2, 3, 4), np.cos(np.arange(48.0, dtype=np.float32))
_WEIGHTS = np.exp(_Q @ _K.reshape(2, 2, 3, 4).swapaxes(2, 3) / 2)

_CASES: dict[str, tuple[int, str, dict[str, Array], Array]] = {
    "GatherND": (13, "y = GatherND(x, at)", {"x": _X, "at": np.array([[0, 2], [1, 0]])}, _X[[0, 1], [2, 0]]),
    "ScatterND": (
        18,
        "y = ScatterND(x, at, new)",
        {"x": _X, "at": np.array([[1, 2]]), "new": np.array([[9, 8, 7, 6]], np.float32)},
        np.concatenate([_X[:1], np.concatenate([_X[1:, :2], np.array([[[9, 8, 7, 6]]], np.float32)], 1)]),
    ),
    "Attention": (
        23,
        "y = Attention(q, k, v)",
        {"q": _Q, "k": _K.reshape(2, 2, 3, 4), "v": _Q},
        _WEIGHTS / _WEIGHTS.sum(-1, keepdims=True) @ _Q,
    ),
}


@pytest.mark.parametrize("engine", ["reference", "numpy"])
@pytest.mark.parametrize("name", _CASES)
def test_operator_runs_on_inputs_of_which_every_size_is_open(name: str, engine: str) -> None:
    opset, body, inputs, expected = _CASES[name]
    model = program(opset, body, inputs, ["y"], ir_version=10)
    for given in model.graph.input:
        for n, dim in enumerate(given.type.tensor_type.shape.dim):
            dim.dim_param = f"{given.name}_{n}"
    assert commonir.verify(commonir.loads(model.SerializeToString(), format="onnx")) == []
    (found,) = run_here(model, inputs, engine)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
