"""Operators whose meaning depends on a size that is open in the model, and known when it runs."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

import commonir

from tests.conversions.running import run_onnx
from tests.dialects.onnx.onnx_programs import Array, program, run_here
from tests.work_counts import calls_of

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
    for arguments in model.graph.input:
        for n, dim in enumerate(arguments.type.tensor_type.shape.dim):
            dim.dim_param = f"{arguments.name}_{n}"
    assert commonir.verify(commonir.loads(model.SerializeToString(), format="onnx")) == []
    (result,) = run_here(model, inputs, engine)
    np.testing.assert_allclose(result, expected, rtol=1e-5)


def _meeting_sizes(layers: int) -> bytes:
    """Sizes of two inputs meet in every layer, and the next one computes with what has come of it."""
    lines = ["batch = Shape <start=0, end=1> (y)"]
    last = "x"
    for n in range(layers):
        lines += [
            f"to{n} = Concat <axis=0> (batch, open, width)",
            f"moved{n} = Reshape ({last}, to{n})",
            f"sum{n} = Add (moved{n}, {last})",
        ]
        last = f"sum{n}"
    body = "\n".join([*lines, f"out = Identity ({last})"])
    return parser.parse_model(
        f'<ir_version: 8, opset_import: ["": 17]> net (float[n{layers},s,4] x, float[m,t,4] y) => (float[a,b,4] out) '
        f"<int64[1] open = {{-1}}, int64[1] width = {{4}}> {{ {body} }}"
    ).SerializeToString()


@pytest.mark.slow
def test_work_grows_with_the_layers_in_which_open_sizes_meet() -> None:
    one, few, many = (commonir.loads(_meeting_sizes(n), format="onnx") for n in (1, 12, 36))
    commonir.lower(one)  # loading does not count
    short = calls_of(lambda: commonir.lower(few))
    # Of the first layers more is said in fewer words.
    assert calls_of(lambda: commonir.lower(many)) < 6 * short


@pytest.mark.parametrize("engine", ["reference", "numpy"])
def test_open_sizes_meet_in_every_layer(engine: str) -> None:
    model = _meeting_sizes(12)
    inputs = {"x": _X, "y": np.zeros((2, 5, 4), np.float32)}
    (result,) = commonir.run(commonir.loads(model, format="onnx"), inputs, engine=engine).values()
    np.testing.assert_array_equal(result, run_onnx(model, inputs)[0])


_DECLARED = [
    ("float[?,?] x", "float[a,b] y", ""),  # two sizes that are open, not one
    ("float[n,m] x", "float[n] y", ""),
    ("float[n,m] x", "float[n,m] y", "float[7,7,7] t"),
    ("float[2,3] x", "float[2,5] y", "float[4,3] t"),
]


@pytest.mark.parametrize("engine", ["reference", "numpy"])
@pytest.mark.parametrize(("arguments", "built", "between"), _DECLARED)
def test_shapes_that_files_declare_are_notes(arguments: str, built: str, between: str, engine: str) -> None:
    body = "t = Neg (x) u = MatMul (t, w) y = Sub (u, t)"
    text = (
        f'<ir_version: 8, opset_import: ["": 17]> g ({arguments.replace("?", "open")}) => ({built}) '
        f"<float[3,3] w = {{1,2,3,4,5,6,7,8,9}}{', ' * bool(between)}{between}> {{ {body} }}"
    )
    model = parser.parse_model(text)
    for dim in model.graph.input[0].type.tensor_type.shape.dim:
        if dim.dim_param == "open":
            dim.dim_param = "?"
    inputs = {"x": _X.reshape(8, 3)[:2]}
    (result,) = commonir.run(commonir.loads(model.SerializeToString(), format="onnx"), inputs, engine=engine).values()
    (expected,) = run_onnx(model.SerializeToString(), inputs)
    np.testing.assert_array_equal(result, expected)
