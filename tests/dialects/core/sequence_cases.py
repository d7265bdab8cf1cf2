"""Operations on sequences and compressed tensors: oracles are numpy and onnxruntime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from commonir.dialects import core
from commonir.ir.types import i8, u8

from tests.dialects.core.drawing import Array, Case, Draw, precision
from tests.dialects.core.single_models import onnx_results

Maker = Callable[[Draw], Case]

_FUNCTIONS = {
    core.GateFunction.SIGMOID: "Sigmoid",
    core.GateFunction.TANH: "Tanh",
    core.GateFunction.RELU: "Relu",
    core.GateFunction.SOFTSIGN: "Softsign",
    core.GateFunction.HARD_SIGMOID: "HardSigmoid",
}


class _Layer:
    """Operands of a recurrent layer; the widths of states leave no doubt which axis is which."""

    def __init__(self, draw: Draw, gates: int) -> None:
        self.draw = draw
        self.direction = draw.among(*core.Direction)
        self.count = self.direction.count
        self.element = draw.among("f32", "f32", "f16")
        self.steps, self.batch, self.input, self.hidden = draw.integers(4, 1, 4)
        rows = gates * self.hidden
        self.x = self.array(self.steps, self.batch, self.input)
        self.weight = self.array(self.count, rows, self.input)
        self.recurrent = self.array(self.count, rows, self.hidden)
        self.bias = self.maybe(self.array(self.count, rows))
        self.state = self.array(self.count, self.batch, self.hidden)
        self.lengths = self.maybe(np.array(draw.integers(self.batch, 1, self.steps), np.int32))

    def array(self, *shape: int) -> Array:
        return self.draw.array(shape, self.element, -1, 1)

    def maybe(self, array: Array) -> Array | None:
        return array if self.draw.flag() else None

    def expected(
        self, name: str, of_state: Array | None, states: list[Array | None], functions: list[Any], **attributes: Any
    ) -> tuple[Array, ...]:
        """Computed in single precision and rounded."""
        arguments = self.bias if self.bias is not None else of_state
        bias = None
        if arguments is not None:
            bias = np.concatenate([arguments * 0 if v is None else v for v in (self.bias, of_state)], 1)
        floats = [self.x, self.weight, self.recurrent, bias]
        inputs = [*map(_wide, floats), self.lengths, *map(_wide, [self.state, *states])]
        names = [_FUNCTIONS[f] for f in functions] * self.count
        result = onnx_results(
            name,
            inputs,
            3 if name == "LSTM" else 2,
            hidden_size=self.hidden,
            direction=self.direction.value,
            activations=names,
            **attributes,
        )
        return tuple([y.astype(self.x.dtype) for y in result])

    def case(self, operands: tuple[Array | None, ...], attributes: dict[str, Any], expected: tuple[Array, ...]) -> Case:
        return Case(operands, {"direction": self.direction, **attributes}, expected, precision(self.x, 8))


def _wide(array: Array | None) -> Array | None:
    return None if array is None else array.astype(np.float32)


def _function(draw: Draw) -> core.GateFunction:
    return draw.among(*_FUNCTIONS)


def _rnn(draw: Draw) -> Case:
    layer, function = _Layer(draw, 1), _function(draw)
    expected = layer.expected("RNN", None, [], [function])
    operands = (layer.x, layer.weight, layer.recurrent, layer.state, layer.bias, layer.lengths)
    return layer.case(operands, {"activation": function}, expected)


def _gru(draw: Draw) -> Case:
    layer, functions = _Layer(draw, 3), [_function(draw), _function(draw)]
    of_state = layer.maybe(layer.array(layer.count, 3 * layer.hidden))
    after = draw.flag()
    expected = layer.expected("GRU", of_state, [], functions, linear_before_reset=int(after))
    operands = (layer.x, layer.weight, layer.recurrent, layer.state, layer.bias, of_state, layer.lengths)
    attributes = {"recurrent_activation": functions[0], "activation": functions[1], "reset_after": after}
    return layer.case(operands, attributes, expected)


def _lstm(draw: Draw) -> Case:
    layer, functions = _Layer(draw, 4), [_function(draw) for _ in range(3)]
    cell, peephole = layer.array(*layer.state.shape), layer.maybe(layer.array(layer.count, 3 * layer.hidden))
    expected = layer.expected("LSTM", None, [cell, peephole], functions)
    operands = (layer.x, layer.weight, layer.recurrent, layer.state, cell, layer.bias, peephole, layer.lengths)
    names = ("recurrent_activation", "cell_activation", "activation")
    return layer.case(operands, dict(zip(names, functions, strict=True)), expected)


def _counts(draw: Draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    """One value, or one for each element, along each axis."""
    return tuple([n if draw.flag() else 1 for n in shape])


def _dequantize(draw: Draw) -> Case:
    element = draw.among("i8", "ui8", "i16")
    x = draw.array(draw.maybe_empty(), element, -100, 100)
    counts = _counts(draw, x.shape)
    scale = draw.array(counts, draw.among("f32", "f16"), 0.1, 2)
    zero = draw.array(counts, draw.among(element, "f32"), -5, 5) if draw.flag() else None
    steps = x.astype(np.float32) if zero is None else x.astype(np.float32) - zero.astype(np.float32)
    expected = (steps * scale.astype(np.float32)).astype(scale.dtype)
    return Case((x, scale, zero), {}, (expected,), precision(scale))


def _quantize(draw: Draw) -> Case:
    name = draw.among("i8", "ui8")
    x = draw.array(draw.maybe_empty(), "f32", -100, 100)
    counts = _counts(draw, x.shape)
    scale = draw.array(counts, "f32", 0.1, 2)
    zero = draw.array(counts, name, -5, 5) if draw.flag() else None
    steps = np.round(x / scale) + (0 if zero is None else zero.astype(np.float32))
    low, high = (-128, 127) if name == "i8" else (0, 255)
    expected = np.clip(steps, low, high).astype(np.int8 if name == "i8" else np.uint8)
    return Case((x, scale, zero), {"element": i8 if name == "i8" else u8}, (expected,))


def _table_lookup(draw: Draw) -> Case:
    positions = draw.array(draw.maybe_empty(), draw.among("ui8", "i32"), 0, 7)
    tables = draw.array((*(1,) * positions.ndim, 8, 1), draw.among("f32", "i8", "f16"))
    return Case((positions, tables), {}, (tables.reshape(-1)[positions.astype(np.int64)],))


def _sparse_to_dense(draw: Draw) -> Case:
    mask = draw.array(draw.maybe_empty(), "i1")
    values = draw.array((int(mask.sum()),), draw.among("f32", "i8", "f16"))
    expected = np.zeros(mask.shape, values.dtype)
    expected[mask] = values
    return Case((mask, values), {}, (expected,))


def _sparse_table_lookup(draw: Draw) -> Case:
    mask = draw.array(draw.shape(1), "i1")
    positions = draw.array((int(mask.sum()),), "ui8", 0, 3)
    axis = draw.axis(mask.ndim)
    size = draw.integer(1, 3)
    tables = draw.array((*(1,) * mask.ndim, 4, size), "f32")
    entries = np.zeros((*mask.shape, size), np.float32)
    entries[mask] = tables.reshape(4, size)[positions.astype(np.int64)]
    at = axis % mask.ndim
    dense, wide = (
        np.moveaxis(v, -1, at + 1).reshape([n * size if a == at else n for a, n in enumerate(mask.shape)])
        for v in (entries, np.broadcast_to(mask[..., None], (*mask.shape, size)))
    )
    return Case((mask, positions, tables), {"vector_axis": axis}, (dense[wide != 0],))


def _sparse_dequantize(draw: Draw) -> Case:
    mask = draw.array(draw.shape(1), "i1")
    values = draw.array((int(mask.sum()),), "i8", -100, 100)
    scale = draw.array(_counts(draw, mask.shape), "f32", 0.1, 2)
    factors = np.broadcast_to(scale, mask.shape)[mask.astype(np.bool_)]
    return Case((mask, values, scale, None), {}, (factors * values.astype(np.float32),), precision(scale))


def _repeat_mask(draw: Draw) -> Case:
    mask = draw.array(draw.maybe_empty(1), "i1")
    count, axis = draw.integer(1, 3), draw.axis(mask.ndim)
    return Case((mask,), {"count": count, "axis": axis}, (np.repeat(mask, count, axis),))


SEQUENCES: dict[str, Maker] = {
    "core.rnn": _rnn,
    "core.gru": _gru,
    "core.lstm": _lstm,
    "core.dequantize": _dequantize,
    "core.quantize": _quantize,
    "core.table_lookup": _table_lookup,
    "core.sparse_to_dense": _sparse_to_dense,
    "core.sparse_table_lookup": _sparse_table_lookup,
    "core.sparse_dequantize": _sparse_dequantize,
    "core.repeat_mask": _repeat_mask,
}
