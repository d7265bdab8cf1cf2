"""Random uses of core operations on sequences, compressed tensors and random numbers; see `drawing.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from commonir.dialects import core
from commonir.ir.data import ArrayData
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f32, i8, u1, u8

from tests.dialects.core.single_models import onnx_results
from tests.runtime.drawing import Array, Case, Draw, Random, collects, floats, sizes

CASES: dict[str, Draw] = {}
case = collects(CASES)
_NAMES = {core.GateFunction.LINEAR: "Affine", core.GateFunction.HARD_SIGMOID: "HardSigmoid"}


class Layer:
    """The operands of a recurrent layer, and onnxruntime's operator of it."""

    def __init__(self, r: Random, gates: int) -> None:
        self.direction = list(core.Direction)[int(r.integers(0, 3))]
        self.count = self.direction.count
        steps, self.batch, self.input, self.hidden = (int(n) for n in r.integers(1, 5, 4))
        rows = gates * self.hidden
        self.x = floats(r, steps, self.batch, self.input)
        self.weight = floats(r, self.count, rows, self.input)
        self.recurrent = floats(r, self.count, rows, self.hidden)
        self.bias = floats(r, self.count, rows)
        self.state = floats(r, self.count, self.batch, self.hidden)
        self.lengths = r.integers(1, steps + 1, self.batch).astype(np.int32)
        self.clip = float(r.uniform(0.2, 1)) if r.integers(0, 2) else None
        self.functions: tuple[core.GateFunction, ...] = ()
        self.parameters: tuple[float, ...] = ()
        self.random = r
        if self.clip is None:  # states of functions without bounds must not run away
            self.recurrent *= np.float32(0.3)

    def draw_functions(self, usual: Sequence[core.GateFunction]) -> tuple[core.GateFunction, ...]:
        """Functions of the layer: the usual ones, or any with parameters of their own."""
        every, r = list(core.GateFunction), self.random
        chosen = [every[int(n)] for n in r.integers(0, len(every), len(usual))] if r.integers(0, 2) else list(usual)
        self.functions = tuple(chosen)
        if r.integers(0, 2):
            self.parameters = tuple([float(v) for v in r.uniform(0.1, 0.9, sum(len(f.usual) for f in chosen))])
        return self.functions

    def attributes(self) -> dict[str, Any]:
        """The attributes of an ONNX layer for the functions."""
        inputs = list(self.parameters or [p for f in self.functions for p in f.usual])
        alpha, beta = list[float](), list[float]()
        for f in self.functions:
            own, inputs = inputs[: len(f.usual)], inputs[len(f.usual) :]
            alpha, beta = alpha + own[:1], beta + own[1:]
        names = [_NAMES.get(f, f.value.title().replace("_", "")) for f in self.functions]
        each = self.count
        out = {"activations": names * each, "activation_alpha": alpha * each, "activation_beta": beta * each}
        return {n: v for n, v in {**out, "clip": self.clip}.items() if v not in ([], None)}

    def arrays(self, **more: Array) -> dict[str, Array]:
        inputs = {"x": self.x, "w": self.weight, "r": self.recurrent, "h": self.state, "b": self.bias}
        return {**inputs, **more, "n": self.lengths}

    def expected(self, name: str, of_state: Array, *states: Array | None, **attributes: Any) -> Sequence[Array]:
        bias = np.concatenate([self.bias, of_state], 1)
        inputs = [self.x, self.weight, self.recurrent, bias, self.lengths, self.state, *states]
        count = 3 if name == "LSTM" else 2
        direction = self.direction.value
        return onnx_results(name, inputs, count, hidden_size=self.hidden, direction=direction, **attributes)


@case
def rnn(r: Random) -> Case:
    layer = Layer(r, 1)

    def build(x: Value, w: Value, r: Value, h: Value, b: Value, n: Value) -> Sequence[Value]:
        return core.rnn(x, w, r, h, b, n, layer.direction, layer.functions[0], layer.clip, layer.parameters)

    layer.draw_functions([core.GateFunction.TANH])
    return Case(build, layer.arrays(), lambda: layer.expected("RNN", layer.bias * 0, **layer.attributes()))


@case
def gru(r: Random) -> Case:
    layer = Layer(r, 3)
    of_state = floats(r, *layer.bias.shape)
    after = bool(r.integers(0, 2))

    def build(x: Value, w: Value, r: Value, h: Value, b: Value, c: Value, n: Value) -> Sequence[Value]:
        return core.gru(x, w, r, h, b, c, n, layer.direction, gate, new, after, layer.clip, layer.parameters)

    gate, new = layer.draw_functions([core.GateFunction.SIGMOID, core.GateFunction.TANH])
    expected = lambda: layer.expected("GRU", of_state, linear_before_reset=int(after), **layer.attributes())  # noqa: E731
    return Case(build, layer.arrays(c=of_state), expected)


@case
def lstm(r: Random) -> Case:
    layer = Layer(r, 4)
    cell, peephole = floats(r, *layer.state.shape), floats(r, layer.count, 3 * layer.hidden)
    inputs = layer.arrays(p=peephole)
    arrays = {
        "x": inputs.pop("x"),
        "w": inputs.pop("w"),
        "r": inputs.pop("r"),
        "h": inputs.pop("h"),
        "c": cell,
        **inputs,
    }

    def build(x: Value, w: Value, r: Value, h: Value, c: Value, b: Value, p: Value, n: Value) -> Sequence[Value]:
        return core.lstm(
            x, w, r, h, c, b, p, n, layer.direction, gate, cell_, out, layer.clip, None, layer.parameters, coupled
        )

    coupled = bool(r.integers(0, 2))
    usual = [core.GateFunction.SIGMOID, core.GateFunction.TANH, core.GateFunction.TANH]
    gate, cell_, out = layer.draw_functions(usual)
    attributes = {"input_forget": int(coupled), **layer.attributes()}
    return Case(build, arrays, lambda: layer.expected("LSTM", layer.bias * 0, cell, peephole, **attributes))


@case
def scan(r: Random) -> Case:
    x, start = floats(r, *sizes(r, 2, 4)), np.float32(1.5)
    is_reverse = bool(r.integers(0, 2))

    def build(v: Value, s: Value) -> Sequence[Value]:
        row = TensorType(f32, x.shape[1:])
        first = core.broadcast_to(s, x.shape[1:])
        body = core.nested([row, row], lambda state, inputs: (core.add(state, inputs), core.mul(state, inputs)))
        return core.scan((first,), (v,), body, is_reverse)

    def expected() -> Sequence[Array]:
        turned = x[::-1] if is_reverse else x
        states = np.cumsum(np.concatenate([np.full_like(turned[:1], start), turned]), 0, dtype=np.float32)
        products = states[:-1] * turned
        return states[-1], products[::-1] if is_reverse else products

    return Case(build, {"x": x, "s": np.asarray(start)}, expected)


def scales(r: Random, shape: Sequence[int]) -> list[int]:
    """One scale, or one for each element along an axis."""
    axis = int(r.integers(-1, len(shape)))
    return [n if a == axis else 1 for a, n in enumerate(shape)]


@case
def dequantize(r: Random) -> Case:
    shape = sizes(r)
    x, counts = r.integers(-128, 128, shape).astype(np.int8), scales(r, shape)
    scale, zero = np.abs(floats(r, *counts)) + np.float32(0.1), r.integers(-9, 9, counts).astype(np.int8)
    arrays = {"x": x, "scale": scale, "zero": zero}
    return Case(core.dequantize, arrays, lambda: scale * (x.astype(np.float32) - zero))


@case
def quantize(r: Random) -> Case:
    shape = sizes(r)
    x, counts = floats(r, *shape) * 20, scales(r, shape)
    scale, zero = np.abs(floats(r, *counts)) + np.float32(0.1), r.integers(-9, 9, counts).astype(np.int8)
    arrays = {"x": x, "scale": scale, "zero": zero}
    expected = lambda: np.clip(np.round(x / scale) + zero, -128, 127).astype(np.int8)  # noqa: E731
    return Case(lambda v, s, z: core.quantize(v, s, i8, z), arrays, expected)


@case
def table_lookup(r: Random) -> Case:
    shape = sizes(r)
    positions = r.integers(0, 16, shape).astype(np.uint8)
    tables = floats(r, *(1,) * len(shape), 16, 1)
    return Case(core.table_lookup, {"p": positions, "t": tables}, lambda: tables.reshape(-1)[positions])


def masked(r: Random) -> tuple[Value, Array, int]:
    """A constant mask."""
    mask = r.integers(0, 2, sizes(r)).astype(np.uint8)
    mask.reshape(-1)[0] = 1
    return core.constant(ArrayData(TensorType(u1, mask.shape), mask)), mask, int(mask.sum())


@case
def sparse_to_dense(r: Random) -> Case:
    mask = r.random(sizes(r)) < 0.6
    mask.reshape(-1)[-1] = True
    values = floats(r, int(mask.sum()))
    expected = np.zeros(mask.shape, np.float32)
    expected[mask] = values
    return Case(core.sparse_to_dense, {"mask": mask, "values": values}, lambda: expected)


@case
def repeat_mask(r: Random) -> Case:
    mask = r.random(sizes(r)) < 0.5
    count, axis = int(r.integers(1, 4)), int(r.integers(0, mask.ndim))
    return Case(lambda m: core.repeat_mask(m, count, axis), {"mask": mask}, lambda: np.repeat(mask, count, axis))


@case
def sparse_table_lookup(r: Random) -> Case:
    mask, bits, count = masked(r)
    positions = r.integers(0, 4, count).astype(np.uint8)
    table = floats(r, *(1,) * bits.ndim, 4, 1)
    where = core.constant(ArrayData(TensorType(u8, positions.shape), positions))
    tables = core.constant(ArrayData(TensorType(f32, table.shape), table))
    return Case(lambda: core.sparse_table_lookup(mask, where, tables), {}, lambda: table.reshape(-1)[positions])


@case
def sparse_dequantize(r: Random) -> Case:
    mask, bits, count = masked(r)
    values, counts = r.integers(-128, 128, count).astype(np.int8), scales(r, bits.shape)
    scale = np.abs(floats(r, *counts)) + np.float32(0.1)
    inputs = core.constant(ArrayData(TensorType(i8, values.shape), values))
    factors = core.constant(ArrayData(TensorType(f32, scale.shape), scale))
    wide = np.broadcast_to(scale, bits.shape)[bits != 0]
    return Case(lambda: core.sparse_dequantize(mask, inputs, factors), {}, lambda: wide * values.astype(np.float32))


@case
def random_uniform(r: Random) -> Case:
    shape = core.vector(tuple(sizes(r)))
    return Case(lambda: core.random_uniform(shape, 7, low=-1.0, high=2.0), {})


@case
def random_normal(r: Random) -> Case:
    shape = core.vector(tuple(sizes(r)))
    return Case(lambda: core.random_normal(shape, 7, mean=-1.0, deviation=2.0), {})
