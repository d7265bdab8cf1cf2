"""Rules for recurrent layers, which MIL has with another order of gates, and for loops over a sequence.

A sequence that is taken from its end stands in the order of its steps in MIL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from commonir.conversions.core_to_mil.building import cast, computed, const, dimension, plain_data
from commonir.conversions.operands import dims_of, element_of, shape_of
from commonir.dialects import core
from commonir.dialects.mil import elementwise, indexing
from commonir.dialects.mil import recurrent as mil
from commonir.dialects.mil import shape as mil_shape
from commonir.dialects.mil.base import CORE_ML_5, CORE_ML_6
from commonir.dialects.mil.control import WhileLoop
from commonir.dialects.mil.operands import DataType
from commonir.dialects.mil.program import Const, Return
from commonir.dialects.mil.recurrent import side_by_side
from commonir.ir.data import data_of
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import boolean, f16, f32, i32
from commonir.ods import Op
from commonir.passes.convert_elements import converted_data
from commonir.rewrite.legalize import Context, LegalizationRule, Mismatch, Result, rule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# For each gate in MIL, its place in the core.
_LSTM_GATES, _PEEPHOLES, _GRU_GATES = [
    tuple(map(order.index, range(len(order)))) for order in (mil.LSTM_GATES, mil.PEEPHOLES, mil.GRU_GATES)
]

# Of several spellings of one function, the first.
_FUNCTIONS = {f.counterpart: f for f in reversed(mil.GateFunction)}


def _refusal(op: core.Rnn | core.Gru | core.Lstm, lengths: Value | None, *weights: Value | None) -> Mismatch | None:
    """Why MIL has no such layer."""
    name = op.name.replace("core", "mil")
    if op.given_parameters:
        return Mismatch("a recurrent layer of MIL has no functions with parameters")
    if lengths is not None:
        return Mismatch("a recurrent layer of MIL takes all steps of every sequence")
    if op.clip is not None:
        return Mismatch("a recurrent layer of MIL does not limit what goes into its gates")
    if any(w is not None and plain_data(w) is None for w in weights):
        return Mismatch("weights of a recurrent layer of MIL are constant")
    if any(f not in _FUNCTIONS for f in op.functions):
        return Mismatch(f"{name} has no such activation")
    if not isinstance(op, core.Lstm) and op.direction is core.Direction.BIDIRECTIONAL:
        return Mismatch(f"{name} has one direction")
    return None


def _functions(op: core.Recurrent) -> list[mil.GateFunction]:
    return [_FUNCTIONS[f] for f in op.functions]


def _is_too_narrow(context: Context, x: Value) -> bool:
    """Whether the operation set has recurrent layers in single precision only."""
    return element_of(x) is f16 and context.target.version in (CORE_ML_5, CORE_ML_6)


def _gates(weight: Value, direction: int, order: Sequence[int], extra: Value | None = None) -> Value:
    """The weights of one direction with their gates in another order, plus others that are added."""
    data, added = plain_data(weight), plain_data(extra)
    if data is None:
        raise ValueError("the weights are constant")
    shape = data.shape[1:]

    def compute() -> NDArray[np.generic]:
        from commonir.dialects.mil.gate_order import stacked  # noqa: PLC0415  loads numpy

        whole = data.array()[direction]
        if added is not None:
            whole = (whole + added.array()[direction]).astype(whole.dtype)
        return stacked([whole], tuple(order))[0]

    return computed(data.element, shape, compute)


def _apart(value: Value, like: Value) -> Value:
    """A state with the directions side by side as one [directions, batch, size]."""
    count, batch, dim = dims_of(like)
    if count == 1:
        return core.unsqueeze(value, (0,))
    return core.transpose(core.reshape(value, (batch, 2, dim)), (1, 0, 2))


def _steps(y: Value, like: Value, direction: core.Direction) -> Value:
    """All outputs as [steps, directions, batch, size], each at the position of its step."""
    steps, count, batch, dim = dims_of(like)
    if direction is core.Direction.REVERSE:
        y = core.reverse(y, (0,))
    if count == 1:
        return core.unsqueeze(y, (1,))
    return core.transpose(core.reshape(y, (steps, batch, 2, dim)), (0, 2, 1, 3))


def _on_others(op: Op, operands: Sequence[Value | None], **changes: object) -> tuple[Value, ...]:
    """Returns the results of the layer for other operands and changed attributes."""
    declared = {f.name: op.field_value(f) for f in op.layout.attributes}
    return type(op)(*operands, **{**declared, **changes}).results


def _in_single_precision(op: Op, x: Value, *operands: Value | None) -> tuple[Value, ...]:
    """The same layer on single precision, its results rounded once."""
    wide = [None if v is None else _widened(v) for v in (x, *operands)]
    return tuple([core.cast(r, element_of(x)) for r in _on_others(op, wide)])


def _lstm_weights(
    weight: Value, recurrent: Value, bias: Value | None, peephole: Value | None, direction: int
) -> tuple[Value, Value, Value | None, Value | None]:
    """Weights, bias and peephole of one direction."""
    return (
        _gates(weight, direction, _LSTM_GATES),
        _gates(recurrent, direction, _LSTM_GATES),
        None if bias is None else _gates(bias, direction, _LSTM_GATES),
        None if peephole is None else _gates(peephole, direction, _PEEPHOLES),
    )


def _widened(value: Value) -> Value:
    """A value in single precision, which stays a constant if it is one."""
    data = plain_data(value)
    if data is not None and data.element is f16:
        return const(converted_data(data, f32))
    return core.cast(value, f32) if element_of(value) is f16 else value


@rule(core.Lstm)
def lstm(
    op: core.Lstm, context: Context, x: Value, weight: Value, recurrent: Value, initial_h: Value, initial_c: Value,
    *rest: Value | None,
) -> Result:  # fmt: skip
    bias, peephole, lengths = rest
    if op.coupled:
        return Mismatch("the gates of mil.lstm are not coupled")
    refusal = _refusal(op, lengths, weight, recurrent, bias, peephole)
    if refusal is not None:
        return refusal
    if _is_too_narrow(context, x):
        return _in_single_precision(op, x, weight, recurrent, initial_h, initial_c, bias, peephole, lengths)
    ways = [_lstm_weights(weight, recurrent, bias, peephole, d) for d in range(op.direction.count)]
    w, r, b, p = ways[0]
    gate, cell, hidden = _functions(op)
    w_back, r_back, b_back, p_back = ways[1] if len(ways) == 2 else (None,) * 4
    new_op = mil.Lstm(
        x, side_by_side(initial_h), side_by_side(initial_c), w, r, b, p, w_back, r_back, b_back, p_back,
        op.direction, True, gate, cell, hidden, op.cell_clip,
    )  # fmt: skip
    y, h, c = new_op.results
    return _steps(y, op.y, op.direction), _apart(h, op.y_h), _apart(c, op.y_c)


@rule(core.Gru)
def gru(
    op: core.Gru, context: Context, x: Value, weight: Value, recurrent: Value, initial_h: Value, *rest: Value | None
) -> Result:
    bias, recurrent_bias, lengths = rest
    refusal = _refusal(op, lengths, weight, recurrent, bias, recurrent_bias)
    if refusal is not None:
        return refusal
    if _is_too_narrow(context, x):
        return _in_single_precision(op, x, weight, recurrent, initial_h, bias, recurrent_bias, lengths)
    w, r = _gates(weight, 0, _GRU_GATES), _gates(recurrent, 0, _GRU_GATES)
    gate, new = _functions(op)
    if op.reset_after:
        inner = None if recurrent_bias is None else _gates(recurrent_bias, 0, _GRU_GATES)
        outer = None if bias is None else _gates(bias, 0, _GRU_GATES)
        new_op = mil.Gru(x, side_by_side(initial_h), w, r, inner, op.direction, True, gate, new, True, outer)
    else:
        first, second = (recurrent_bias, None) if bias is None else (bias, recurrent_bias)
        whole = None if first is None else _gates(first, 0, _GRU_GATES, second)
        new_op = mil.Gru(x, side_by_side(initial_h), w, r, whole, op.direction, True, gate, new)
    y, h = new_op.results
    return _steps(y, op.y, op.direction), _apart(h, op.y_h)


@rule(core.Rnn)
def rnn(
    op: core.Rnn, context: Context, x: Value, weight: Value, recurrent: Value, initial_h: Value, *rest: Value | None
) -> Result:
    bias, lengths = rest
    refusal = _refusal(op, lengths, weight, recurrent, bias)
    if refusal is not None:
        return refusal
    if _is_too_narrow(context, x):
        return _in_single_precision(op, x, weight, recurrent, initial_h, bias, lengths)
    one = (0,)
    b = None if bias is None else _gates(bias, 0, one)
    w, r = _gates(weight, 0, one), _gates(recurrent, 0, one)
    (activation,) = _functions(op)
    new_op = mil.Rnn(x, side_by_side(initial_h), w, r, b, op.direction, True, activation)
    y, h = new_op.results
    return _steps(y, op.y, op.direction), _apart(h, op.y_h)


def _both_ways(op: core.Gru | core.Rnn, context: Context, x: Value, *operands: Value | None) -> Result:
    """A layer of both directions as two of one."""
    if op.direction is not core.Direction.BIDIRECTIONAL:
        return Mismatch("the layer has one direction")
    *weights, lengths = operands
    built: list[Sequence[Value]] = []
    for n, direction in enumerate((core.Direction.FORWARD, core.Direction.REVERSE)):
        own = [None if v is None else _one_way(v, n) for v in weights]
        built.append(_on_others(op, (x, *own, lengths), direction=direction))
    (y, h), (y_back, h_back) = built
    return core.concat((y, y_back), 1), core.concat((h, h_back), 0)


BOTH_WAYS = (LegalizationRule(core.Gru, _both_ways), LegalizationRule(core.Rnn, _both_ways))


def _one_way(value: Value, n: int) -> Value:
    """Returns the slice of one direction, as a constant if the value is one."""
    data = plain_data(value)
    if data is not None:
        return computed(data.element, (1, *data.shape[1:]), lambda: data.array()[n : n + 1])
    dims = dims_of(value)
    return core.slice(value, (n, *(0,) * (len(dims) - 1)), (n + 1, *dims[1:]), (1,) * len(dims))


# -- loops over a sequence


@rule(core.Scan)
def scan(op: core.Scan, context: Context, initial: tuple[Value, ...], sequences: tuple[Value, ...]) -> Result:
    """A loop that counts: each round takes a slice of every sequence and puts what it gives into its place."""
    (region,) = context.regions
    nested, count = region.block, len(initial)
    last = nested.last
    if not isinstance(last, Return):
        return Mismatch("the body has no end")
    outputs = op.results[count:]
    if any(None in (shape_of(v) or (None,)) for v in outputs):
        return Mismatch("the size of what is stacked is not known")
    total = _length(context, sequences[0])
    buffers = [_zeros(v) for v in outputs]
    start = core.scalar(0, i32)
    variables = (start, total, *initial, *buffers)
    loop = _Loop(context, variables)
    body = loop.body(nested, last, sequences, count, is_reverse=op.reverse)
    result = WhileLoop(variables, loop.condition(), body).outputs[2:]
    return tuple(
        [cast(v, element_of(r)) if element_of(r) is boolean else v for v, r in zip(result, op.results, strict=True)]
    )


def _length(context: Context, sequence: Value) -> Value:
    dim = shape_of(sequence)[0]
    if isinstance(dim, int):
        return Const(data_of(i32, (), (dim,))).output
    if dim is None:
        raise ValueError("the length of a sequence is not known")
    return mil_shape.Squeeze(dimension(context, dim), (0,)).output


def _zeros(like: Value) -> Value:
    """Returns zeros for stacked values to be written into."""
    element = element_of(like)
    return core.fill(core.scalar(0, i32 if element is boolean else element), dims_of(like))


class _Loop:
    """The two blocks of a loop that counts."""

    def __init__(self, context: Context, variables: Sequence[Value]) -> None:
        self.context = context
        self.types = [v.type for v in variables]

    def _put(self, block: Block, op: Op) -> Value:
        result = self.context.legal(op)
        block.append(result)
        return result.results[0]

    def condition(self) -> Region:
        """Whether there is another step."""
        block = Block(self.types)
        more = self._put(block, elementwise.Less(*block.arguments[:2]))
        block.append(Return.build({"values": (more,), "names": ("",)}, ()))
        return Region([block])

    def body(self, nested: Block, last: Return, sequences: Sequence[Value], count: int, *, is_reverse: bool) -> Region:
        """One step: the nested program on slices, its results put into their places."""
        block = Block(self.types)
        number, total, *rest = block.arguments
        one = self._put(block, Const(data_of(i32, (), (1,))))
        at = number
        if is_reverse:
            at = self._put(block, elementwise.Sub(self._put(block, elementwise.Sub(total, one)), number))
        arguments = [*rest[:count], *[self._slice(block, v, at) for v in sequences]]
        for old, new in zip(nested.arguments, arguments, strict=True):
            old.replace_all_uses_with(new)
        for op in list(nested.operations):
            if op is not last:
                op.detach()
                block.append(op)
        values = [dict(zip(nested.arguments, arguments, strict=True)).get(v, v) for v in last.values]
        last.erase()
        place = self._put(block, mil_shape.ExpandDims(at, (0,)))
        stacked = [
            self._written(block, buffer, place, v) for buffer, v in zip(rest[count:], values[count:], strict=True)
        ]
        following = self._put(block, elementwise.Add(number, one))
        returned = (following, total, *values[:count], *stacked)
        block.append(Return.build({"values": returned, "names": ("",) * len(returned)}, ()))
        return Region([block])

    def _slice(self, block: Block, sequence: Value, at: Value) -> Value:
        x = sequence
        if element_of(x) is boolean:
            x = self._put(block, elementwise.Cast(x, DataType.INT32))
        result = self._put(block, indexing.Gather(x, at, 0))
        if element_of(sequence) is boolean:
            result = self._put(block, elementwise.Cast(result, DataType.BOOL))
        return result

    def _written(self, block: Block, buffer: Value, place: Value, value: Value) -> Value:
        if element_of(value) is boolean:
            value = self._put(block, elementwise.Cast(value, DataType.INT32))
        row = self._put(block, mil_shape.ExpandDims(value, (0,)))
        return self._put(block, indexing.Scatter(buffer, place, row, 0, indexing.ScatterMode.UPDATE))
