"""Recurrent layers of com.microsoft with quantized weights.

Source: onnxruntime, contrib operator reference, version 1.
"""

from __future__ import annotations

from collections.abc import Callable

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.onnx.base import BYTES, OnnxOp, shape_of, sizes_of_rank
from commonir.dialects.onnx.indexing import with_reversed_time
from commonir.dialects.onnx.microsoft.quantized import SINGLE
from commonir.dialects.onnx.quantization import WHOLE, dynamically_quantized
from commonir.dialects.onnx.quantized_products import shifted
from commonir.dialects.onnx.recurrent import LSTM, functions_of, of_direction
from commonir.ir.operation import Value
from commonir.ir.types import f32, i32, i64
from commonir.ods import attr_types, attribute, one_of, operand, result
from commonir.symbolic import Dim

Function = Callable[[Value], Value]
States = tuple[Value, Value]


class _Weight(NamedTuple):
    """The 8-bit matrix of one direction minus its zero points, and its scale or per-column scales."""

    matrix: Value
    scale: Value

    def product(self, x: Value) -> Value:
        """The product of a tensor, quantized by its range, with the matrix."""
        quanta, scale, zero_point = dynamically_quantized(x)
        summed = core.matmul(shifted(quanta, zero_point, i32), self.matrix)
        return core.mul(core.cast(summed, f32), core.mul(scale, self.scale))


class DynamicQuantizeLSTM(OnnxOp, name="onnx.microsoft.DynamicQuantizeLSTM", since="microsoft1"):
    """Long short-term memory (LSTM) with quantized weights: c = f c + i z and h = o k(c) for each step of a sequence.

    The gates are columns of the weights. The whole sequence is dynamically quantized to 8 bits before the product, and
    so is h of all batches in each step.
    """

    X: Value = operand("T")
    W: Value = operand("T2")
    R: Value = operand("T2")
    B: Value | None = operand("T", optional=True)
    sequence_lens: Value | None = operand("T1", optional=True)
    initial_h: Value | None = operand("T", optional=True)
    initial_c: Value | None = operand("T", optional=True)
    P: Value | None = operand("T", optional=True)
    W_scale: Value = operand("T")
    W_zero_point: Value = operand("T2")
    R_scale: Value = operand("T")
    R_zero_point: Value = operand("T2")
    activations: tuple[str, ...] | None = attribute(attr_types.strings, default=None)
    activation_alpha: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    activation_beta: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    clip: float | None = attribute(attr_types.number, default=None)
    direction: str = attribute(
        attr_types.string, default="forward", check=one_of("forward", "reverse", "bidirectional")
    )
    hidden_size: int | None = attribute(attr_types.integer, default=None)
    input_forget: int = attribute(attr_types.integer, default=0)
    Y: Value | None = result("T", optional=True)
    Y_h: Value | None = result("T", optional=True)
    Y_c: Value | None = result("T", optional=True)
    T = SINGLE
    T1 = WHOLE
    T2 = BYTES

    def reference(
        self,
        X: Value,
        W: Value,
        R: Value,
        B: Value | None,
        sequence_lens: Value | None,
        initial_h: Value | None,
        initial_c: Value | None,
        P: Value | None,
        W_scale: Value,
        W_zero_point: Value,
        R_scale: Value,
        R_zero_point: Value,
    ) -> tuple[Value, ...]:
        _, batch, _ = sizes_of_rank(X, "X", 3)
        size = sizes_of_rank(R, "R", 3)[1]
        way = core.Direction(self.direction)
        found: list[tuple[Value, ...]] = []
        for n, (functions, parameters) in enumerate(functions_of(self, way, LSTM.usual.values())):
            of_input = _Weight(_matrix(W, W_zero_point, n), _of(W_scale, n))
            given = of_input.product(X if sequence_lens is None else _to_the_longest(X, sequence_lens))
            if B is not None:
                both = core.split(_of(B, n), 0, (size * 4, size * 4))
                given = core.add(given, core.add(*both))
            first = _state(initial_h, n, (batch, size), X), _state(initial_c, n, (batch, size), X)
            of_state = _Weight(_matrix(R, R_zero_point, n), _of(R_scale, n))
            step = self._step(of_state, None if P is None else _of(P, n), size, _applied(functions, parameters))
            is_reverse = n == 1 or way is core.Direction.REVERSE
            if sequence_lens is None:
                found.append(_scanned(given, first, step, is_reverse=is_reverse))
            else:
                found.append(_scanned_to(sequence_lens, given, first, step, is_reverse=is_reverse))
        return tuple([core.stack(parts, 1 if n == 0 else 0) for n, parts in enumerate(zip(*found, strict=True))])

    def _step(
        self, weight: _Weight, peephole: Value | None, size: Dim, functions: tuple[Function, ...]
    ) -> Callable[[States, Value], States]:
        gate, cell, hidden = functions
        peepholes = (None,) * 3 if peephole is None else core.split(peephole, 0, (size,) * 3)

        def opened(x: Value, c: Value, p: Value | None) -> Value:
            return gate(self._limited(x if p is None else core.add(x, core.mul(p, c))))

        def step(states: States, value: Value) -> States:
            h, c = states
            i, o, f, z = core.split(core.add(value, weight.product(h)), -1, (size,) * 4)
            open_i = opened(i, c, peepholes[0])
            open_f = core.sub(core.splat(1.0, open_i), open_i) if self.input_forget else opened(f, c, peepholes[2])
            new = core.add(core.mul(open_f, c), core.mul(open_i, cell(self._limited(z))))
            return core.mul(opened(o, new, peepholes[1]), hidden(new)), new

        return step

    def _limited(self, x: Value) -> Value:
        return x if self.clip is None else core.clip(x, -self.clip, self.clip)


def _of(values: Value, n: int) -> Value:
    """Returns the part of values for one direction, without the axis of directions."""
    return core.squeeze(of_direction(values, n), (0,))


def _matrix(weight: Value, zero_point: Value, n: int) -> Value:
    return shifted(_of(weight, n), _of(zero_point, n), i32)


def _state(given: Value | None, n: int, sizes: tuple[Dim, Dim], like: Value) -> Value:
    """A state before the first step, zeros when none is given."""
    return core.fill(core.splat(0.0, like), sizes) if given is None else _of(given, n)


def _applied(functions: tuple[core.GateFunction, ...], parameters: tuple[float, ...]) -> tuple[Function, ...]:
    """Functions with their parameters, which stand one after another."""
    rest = list(parameters)
    out: list[Function] = []
    for f in functions:
        mine, rest = tuple(rest[: len(f.usual)]), rest[len(f.usual) :]
        out.append(lambda x, f=f, mine=mine: f.of(x, mine))
    return tuple(out)


def _to_the_longest(x: Value, lengths: Value) -> Value:
    """Zeros, which change no range, after the last step of the longest sequence."""
    steps = core.iota((shape_of(x)[0], 1, 1), 0, i64)
    return core.select(core.less(steps, core.reduce_max(core.cast(lengths, i64))), x, core.splat(0.0, x))


def _scanned(
    value: Value, first: States, step: Callable[[States, Value], States], *, is_reverse: bool = False
) -> tuple[Value, ...]:
    """The outputs of all steps in one direction, then the last states."""

    def body(h: Value, c: Value, now: Value) -> tuple[Value, ...]:
        new = step((h, c), now)
        return (*new, new[0])

    type = core.tensor_type(value)
    graph = core.nested([*[v.type for v in first], type.with_shape(shape_of(value)[1:])], body)
    *last, y = core.scan(first, (value,), graph, is_reverse)
    return (y, *last)


def _scanned_to(
    lengths: Value, value: Value, first: States, step: Callable[[States, Value], States], *, is_reverse: bool
) -> tuple[Value, ...]:
    """The same of sequences that end after some steps: states stay from then on, and outputs are 0.

    In reverse each begins with its own last step. The last state takes part in the range of one step more.
    """
    counts = core.cast(lengths, i64)
    ordered = with_reversed_time(value, counts) if is_reverse else value
    places = core.iota(shape_of(value)[:1], 0, i64)

    def body(h: Value, c: Value, now: Value, at: Value) -> tuple[Value, ...]:
        inside = core.unsqueeze(core.less(at, counts), (1,))
        is_running = core.unsqueeze(core.less_equal(at, counts), (1,))
        zero = core.splat(0.0, h)
        new = step((core.select(is_running, h, zero), c), now)
        kept = [core.select(inside, v, old) for v, old in zip(new, (h, c), strict=True)]
        return (*kept, core.select(inside, new[0], zero))

    slices = [core.tensor_type(v).with_shape(shape_of(v)[1:]) for v in (ordered, places)]
    graph = core.nested([*[v.type for v in first], *slices], body)
    *last, y = core.scan(first, (ordered, places), graph)
    return (with_reversed_time(y, counts) if is_reverse else y, *last)
