"""Recurrent layers against torch, against loops written out here, and against onnxruntime after conversion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.codes import VIOLATED_CONSTRAINT, WRONG_ATTRIBUTE
from commonir.base.diagnostics import DiagnosticError
from commonir.conversions.core_to_onnx import core_to_onnx

from tests.conversions.running import converted, run_onnx
from tests.dialects.mil.single_operations import ENGINES, Given, Program, definition_of, f32
from tests.oracles import oracle

Array = NDArray[Any]

STEPS, BATCH, INPUT, HIDDEN = 5, 2, 3, 4
DIRECTIONS = ("forward", "reverse", "bidirectional")
ENGINE = pytest.mark.parametrize("engine", ENGINES)
FLEXIBLE = pytest.mark.parametrize("flexible", [False, True], ids=["fixed", "flexible"])


def drawn(seed: int, *shape: int) -> Array:
    """Numbers that neither vanish in nor saturate the functions of gates."""
    return np.random.default_rng([seed, *shape]).uniform(-1, 1, shape).astype(np.float32)


def weights(gates: int, seed: int, suffix: str = "") -> dict[str, Given]:
    """The parameters of one direction."""
    rows = gates * HIDDEN
    return {
        f"weight_ih{suffix}": drawn(seed, rows, INPUT),
        f"weight_hh{suffix}": drawn(seed + 1, rows, HIDDEN),
        f"bias{suffix}": drawn(seed + 2, rows),
    }


def layer(kind: str, direction: str, **more: Given) -> dict[str, Given]:
    """Parameters of a layer."""
    gates = {"rnn": 1, "gru": 3, "lstm": 4}[kind]
    count = 2 if direction == "bidirectional" else 1
    inputs: dict[str, Given] = {
        "x": drawn(1, STEPS, BATCH, INPUT),
        "initial_h": drawn(2, BATCH, count * HIDDEN),
        **weights(gates, 3),
        "direction": direction,
        "output_sequence": True,
    }
    if kind == "lstm":
        inputs["initial_c"] = drawn(8, BATCH, count * HIDDEN)
    if count == 2:
        inputs |= weights(gates, 9, "_back")
    return {**inputs, **more}


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


FUNCTIONS = {
    "sigmoid": sigmoid,
    "tanh": np.tanh,
    "scaled_tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "linear": lambda x: x,
    "hard_sigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "sigmoid_hard": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
}


def one_way(kind: str, inputs: dict[str, Given], suffix: str, h: Array, c: Array, *, backwards: bool) -> list[Array]:
    """The outputs in order of steps and the last states, step by step in double precision."""
    g = {k: np.asarray(v, np.float64) for k, v in inputs.items() if isinstance(v, np.ndarray)}
    w, r = g[f"weight_ih{suffix}"], g[f"weight_hh{suffix}"]
    b = g.get(f"bias{suffix}", np.zeros(len(w)))
    gate = FUNCTIONS[str(inputs.get("recurrent_activation", "sigmoid"))]
    out = FUNCTIONS[str(inputs.get("activation", "tanh"))]
    outputs: list[Array] = []
    for x in g["x"][::-1] if backwards else g["x"]:
        if kind == "rnn":
            h = out(x @ w.T + h @ r.T + b)
        elif kind == "gru":
            h = gru_step(inputs, x @ w.T, h, r, b, gate, out)
        else:
            p = np.split(g.get(f"peephole{suffix}", np.zeros(3 * HIDDEN)), 3)
            i, f, o, z = np.split(x @ w.T + h @ r.T + b, 4, -1)
            cell = FUNCTIONS[str(inputs.get("cell_activation", "tanh"))]
            c = gate(f + p[1] * c) * c + gate(i + p[0] * c) * cell(z)
            if "clip" in inputs:
                c = np.clip(c, -float(g["clip"]), float(g["clip"]))
            h = gate(o + p[2] * c) * out(c)
        outputs.append(h)
    return [np.stack(outputs), h, c]


def gru_step(inputs: dict[str, Given], wx: Array, h: Array, r: Array, b: Array, gate: Any, out: Any) -> Array:
    """The gates are those of reset, output and update."""
    i = np.asarray(inputs.get("input_bias", np.zeros(3 * HIDDEN)), np.float64)
    r_r, r_o, r_z = np.split(r, 3)
    b_r, b_o, b_z = np.split(b, 3)
    x_r, x_o, x_z = np.split(wx + i, 3, -1)
    reset, update = gate(x_r + h @ r_r.T + b_r), gate(x_z + h @ r_z.T + b_z)
    if inputs.get("reset_after"):
        new = out(x_o + reset * (h @ r_o.T + b_o))
    else:
        new = out(x_o + (reset * h) @ r_o.T + b_o)
    return (1 - update) * new + update * h


def expected(kind: str, inputs: dict[str, Given]) -> list[Array]:
    """Returns the outputs of a layer, from the loops above."""
    direction = inputs["direction"]
    h, c = (np.asarray(inputs.get(k, np.zeros((BATCH, 2 * HIDDEN))), np.float64) for k in ("initial_h", "initial_c"))
    if direction != "bidirectional":
        y, h, c = one_way(kind, inputs, "", h, c, backwards=direction == "reverse")
    else:
        parts = [np.split(s, 2, -1) for s in (h, c)]
        there = one_way(kind, inputs, "", parts[0][0], parts[1][0], backwards=False)
        back = one_way(kind, inputs, "_back", parts[0][1], parts[1][1], backwards=True)
        back[0] = back[0][::-1]
        y, h, c = (np.concatenate(pair, -1) for pair in zip(there, back, strict=True))
    if not inputs["output_sequence"]:
        y = h[None]
    return [y, h, c] if kind == "lstm" else [y, h]


def check(actual: list[Array], expected: list[Array], tolerance: float = 1e-5) -> None:
    assert len(actual) == len(expected)
    for mine, theirs in zip(actual, expected, strict=True):
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance)


CASES: dict[str, tuple[str, str, dict[str, Given]]] = {
    **{f"lstm {d}": ("lstm", "CoreML5", layer("lstm", d)) for d in DIRECTIONS},
    **{f"{k} {d}": (k, "CoreML5", layer(k, d)) for k in ("gru", "rnn") for d in DIRECTIONS[:2]},
    **{f"last of lstm {d}": ("lstm", "CoreML7", layer("lstm", d, output_sequence=False)) for d in DIRECTIONS},
    "last of gru": ("gru", "CoreML7", layer("gru", "reverse", output_sequence=False)),
    "last of rnn": ("rnn", "CoreML7", layer("rnn", "reverse", output_sequence=False)),
    "peephole": ("lstm", "CoreML5", layer("lstm", "reverse", peephole=drawn(20, 3 * HIDDEN))),
    "one peephole of two": ("lstm", "CoreML5", layer("lstm", "bidirectional", peephole_back=drawn(20, 3 * HIDDEN))),
    "clip": ("lstm", "CoreML5", layer("lstm", "forward", clip=f32(0.3))),
    "functions of lstm": (
        "lstm",
        "CoreML5",
        layer(
            "lstm", "bidirectional", recurrent_activation="hard_sigmoid", cell_activation="relu", activation="linear"
        ),
    ),
    "functions of gru": (
        "gru", "CoreML5", layer("gru", "forward", recurrent_activation="hard_sigmoid", activation="scaled_tanh"),
    ),
    **{f"rnn of {f}": ("rnn", "CoreML5", layer("rnn", "forward", activation=f)) for f in ("relu", "sigmoid_hard")},
    "reset after": (
        "gru", "CoreML8", layer("gru", "forward", reset_after=True, input_bias=drawn(21, 3 * HIDDEN)),
    ),
    "reset before with input bias": ("gru", "CoreML8", layer("gru", "forward", input_bias=drawn(21, 3 * HIDDEN))),
}  # fmt: skip
for name in ("rnn forward", "gru forward", "lstm bidirectional"):
    kind_, version_, parameters = CASES[name]
    without = {k: v for k, v in parameters.items() if not k.startswith("bias")}
    CASES[f"{name} without bias"] = kind_, version_, without


@pytest.mark.fast_every(3)
@ENGINE
@FLEXIBLE
@pytest.mark.parametrize("case", CASES)
def test_layer_gives_what_its_steps_give(case: str, flexible: bool, engine: str) -> None:
    kind, version, inputs = CASES[case]
    check(Program(definition_of(kind, version), inputs, flexible=flexible).results(engine), expected(kind, inputs))


@pytest.mark.parametrize("opset", [18, 22])
@pytest.mark.parametrize("case", CASES)
def test_converted_layer_gives_what_its_steps_give(case: str, opset: int) -> None:
    kind, version, inputs = CASES[case]
    program = Program(definition_of(kind, version), inputs)
    check(run_onnx(converted(program.lowered(), opset), program.inputs), expected(kind, inputs), 1e-4)


def test_layers_become_operators_of_onnx_unless_the_cell_is_limited() -> None:
    for case, operator in (("lstm reverse", "LSTM"), ("gru forward", "GRU"), ("rnn reverse", "RNN"), ("clip", "Scan")):
        kind, version, inputs = CASES[case]
        result = core_to_onnx(Program(definition_of(kind, version), inputs).lowered(), 18)
        names = {op.name for op in result.walk()}
        assert f"onnx.{operator}" in names
        assert ("onnx.LSTM" in names) == (operator == "LSTM")


@ENGINE
def test_half_precision_is_rounded_once(engine: str) -> None:
    inputs = {k: v.astype(np.float16) if isinstance(v, np.ndarray) else v for k, v in layer("lstm", "forward").items()}
    result = Program(definition_of("lstm", "CoreML7"), inputs).results(engine)
    assert {y.dtype for y in result} == {np.dtype(np.float16)}
    check(result, expected("lstm", inputs), 1e-3)


def test_lstm_and_gru_agree_with_torch() -> None:
    torch = oracle("torch")
    for kind, order in (("lstm", (0, 1, 3, 2)), ("gru", (0, 2, 1))):
        reset: dict[str, Given] = {"reset_after": True, "input_bias": np.zeros(3 * HIDDEN, np.float32)}
        inputs = layer(kind, "forward", **(reset if kind == "gru" else {}))
        module = getattr(torch.nn, kind.upper())(INPUT, HIDDEN)

        def ordered(value: Given, order: tuple[int, ...] = order) -> Any:
            parts = np.split(np.asarray(value), len(order))
            return torch.tensor(np.concatenate([parts[n] for n in order]))

        with torch.no_grad():
            module.weight_ih_l0.copy_(ordered(inputs["weight_ih"]))
            module.weight_hh_l0.copy_(ordered(inputs["weight_hh"]))
            module.bias_hh_l0.copy_(ordered(inputs["bias"]))
            module.bias_ih_l0.zero_()
            states = [torch.tensor(np.asarray(inputs[k])[None]) for k in ("initial_h", "initial_c") if k in inputs]
            y, last = module(torch.tensor(inputs["x"]), tuple(states) if kind == "lstm" else states[0])
        expected = [y, *(last if kind == "lstm" else (last,))]
        result = Program(definition_of(kind, "CoreML8"), inputs).results("numpy")
        check(result, [expected[0].numpy(), *[s.numpy()[0] for s in expected[1:]]])


@ENGINE
def test_sequence_without_steps_gives_the_initial_states(engine: str) -> None:
    inputs = layer("lstm", "forward", x=np.zeros((0, BATCH, INPUT), np.float32))
    y, h, c = Program(definition_of("lstm", "CoreML5"), inputs).results(engine)
    assert y.shape == (0, BATCH, HIDDEN)
    np.testing.assert_array_equal(h, inputs["initial_h"])
    np.testing.assert_array_equal(c, inputs["initial_c"])


@pytest.mark.parametrize(
    ("kind", "more", "code"),
    [
        ("gru", {"direction": "bidirectional"}, WRONG_ATTRIBUTE),
        ("rnn", {"activation": "softmax"}, WRONG_ATTRIBUTE),
        ("lstm", {"direction": "bidirectional"}, VIOLATED_CONSTRAINT),
    ],
)
def test_what_a_layer_does_not_have_is_refused(kind: str, more: dict[str, Given], code: object) -> None:
    with pytest.raises(DiagnosticError) as caught:
        Program(definition_of(kind, "CoreML5"), {**layer(kind, "forward"), **more})
    assert caught.value.diagnostics[0].code is code
