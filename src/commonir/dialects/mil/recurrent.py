"""Recurrent layers of the mil dialect.

They are those of the core with another order of gates, and with outputs of reversed sequences in the order of steps.
Source: MIL operation reference, recurrent.
"""

from __future__ import annotations

from enum import Enum

from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_8, MilOp
from commonir.dialects.mil.operands import FLOATS, STRING, Condition
from commonir.ir.data import ArrayData, Data, DeferredData
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f32
from commonir.ods import (
    attr_types,
    by_version,
    constraint,
    element_type,
    known_data,
    one_of,
    operand,
    parameter,
    result,
    traits,
)
from commonir.ods.operand_shapes import known_dims_of, ranked_shape
from commonir.symbolic import Dim

SINGLE_OR_HALF = by_version(CoreML5=element_type(f32), CoreML7=FLOATS)
"""Until iOS 16 only single precision."""


class GateFunction(Enum):
    """The functions of gates and states as string parameters spell them. scaled_tanh is tanh."""

    TANH = "tanh"
    SCALED_TANH = "scaled_tanh"
    SIGMOID = "sigmoid"
    HARD_SIGMOID = "hard_sigmoid"
    SIGMOID_HARD = "sigmoid_hard"
    RELU = "relu"
    LINEAR = "linear"

    @property
    def counterpart(self) -> core.GateFunction:
        """The function of the core."""
        match self:
            case GateFunction.SCALED_TANH:
                return core.GateFunction.TANH
            case GateFunction.SIGMOID_HARD:
                return core.GateFunction.HARD_SIGMOID
            case _:
                return core.GateFunction(self.value)


FUNCTION = attr_types.enumeration(GateFunction)
DIRECTION = attr_types.enumeration(core.Direction)
ONE_WAY = one_of(core.Direction.FORWARD, core.Direction.REVERSE)

# The index here of each gate of the core.
LSTM_GATES = (0, 2, 1, 3)
PEEPHOLES = (0, 2, 1)
GRU_GATES = (2, 0, 1)


def _stacked(parts: tuple[Value, ...], order: tuple[int, ...] = (0,)) -> Value:
    """The weights of each direction as one tensor with a leading axis, gates in the order of the core."""
    known = [known_data(p) for p in parts]
    contents = [d for d in known if d is not None]
    if len(contents) == len(parts):
        return core.constant(_stacked_data(contents, order))
    return core.stack(tuple([_ordered(p, order) for p in parts]), 0)


def _stacked_data(contents: list[Data], order: tuple[int, ...]) -> Data:
    type = TensorType(contents[0].element, (len(contents), *contents[0].shape))

    def compute() -> Data:
        from commonir.dialects.mil.gate_order import stacked  # noqa: PLC0415  loads numpy

        return ArrayData(type, stacked([d.array() for d in contents], order))

    return DeferredData(type, compute)


def _ordered(weight: Value, order: tuple[int, ...]) -> Value:
    if len(order) == 1:
        return weight
    rows = _rows(weight, len(order))
    gates = core.split(weight, 0, (rows,) * len(order))
    return core.concat(tuple([gates[g] for g in order]), 0)


def _rows(weight: Value, gates: int) -> Dim:
    """The rows of one gate."""
    rows = known_dims_of(weight)[0]
    return rows // gates if isinstance(rows, int) else rows


def _has_gates(weight: Value, recurrent: Value, gates: int) -> Condition:
    """Returns the condition that matrices have as many rows for each gate as a state has elements."""
    rows, size = ranked_shape(recurrent)
    known = [r for r in (rows, ranked_shape(weight)[0]) if isinstance(r, int)]
    return not isinstance(size, int) or all(r == gates * size for r in known)


def _outputs(y: Value, last: Value, direction: core.Direction, all_steps: bool) -> Value:
    """The outputs of all steps or of the last one, directions side by side."""
    count, batch, size = known_dims_of(last)
    if not all_steps:
        return core.unsqueeze(side_by_side(last), (0,))
    if direction is core.Direction.REVERSE:
        y = core.reverse(y, (0,))
    if count == 1:
        return core.squeeze(y, (1,))
    return core.reshape(core.transpose(y, (0, 2, 1, 3)), (known_dims_of(y)[0], batch, size * 2))


def side_by_side(state: Value) -> Value:
    """Returns a state [directions, batch, size] with the directions side by side in its last axis."""
    count, batch, size = known_dims_of(state)
    if count == 1:
        return core.squeeze(state, (0,))
    return core.reshape(core.transpose(state, (1, 0, 2)), (batch, size * 2))


def _apart(state: Value, recurrent: Value, count: int = 1) -> Value:
    """A state with a leading axis of directions."""
    if count == 1:
        return core.unsqueeze(state, (0,))
    return core.transpose(core.reshape(state, (known_dims_of(state)[0], count, known_dims_of(recurrent)[1])), (1, 0, 2))


class Rnn(MilOp, name="mil.rnn", traits=(traits.Pure,)):
    """Recurrent network (RNN): h = activation(W x + R h + b) for each step of a sequence; returns the outputs of all
    steps, or of the last one, and the last state.

    With the direction reverse, steps run from the end of x, and outputs are in the order of steps.
    """

    x: Value = operand("T[s, b, i]")
    initial_h: Value = operand("T[b, h]")
    weight_ih: Value = operand("T[h, i]", constant=True)
    weight_hh: Value = operand("T[g, h]", constant=True)
    bias: Value | None = operand("T[g]", default=None, constant=True)
    direction: core.Direction = parameter(DIRECTION, spec=STRING, default=core.Direction.FORWARD, check=ONE_WAY)
    output_sequence: bool = parameter(attr_types.flag, spec="i1[]", default=False)
    activation: GateFunction = parameter(FUNCTION, spec=STRING, default=GateFunction.TANH)
    output: Value = result("T[*]")
    output_h: Value = result("T[b, h]")
    T = SINGLE_OR_HALF

    @constraint("C1")
    def _is_square(self) -> Condition:
        """weight_hh is a square matrix."""
        return _has_gates(self.weight_ih, self.weight_hh, 1)

    def reference(
        self, x: Value, initial_h: Value, weight_ih: Value, weight_hh: Value, bias: Value | None
    ) -> tuple[Value, ...]:
        y, h = core.rnn(
            x,
            _stacked((weight_ih,)),
            _stacked((weight_hh,)),
            _apart(initial_h, weight_hh),
            None if bias is None else _stacked((bias,)),
            direction=self.direction,
            activation=self.activation.counterpart,
        )
        return _outputs(y, h, self.direction, self.output_sequence), side_by_side(h)


class Gru(MilOp, name="mil.gru", traits=(traits.Pure,)):
    """Gated recurrent unit (GRU): h = (1 - z) o + z h for each step of a sequence; returns the outputs of all steps, or
    of the last one, and the last state.

    r and z are recurrent_activation(W x + R h + b), and o is activation(W x + R (r h) + b); with reset_after it is
    activation(W x + input_bias + r (R h + bias)). The order of gates is r, o, z. With the direction reverse, steps run
    from the end of x, and outputs are in the order of steps.

    Source: MIL operation reference, gru (iOS 15); r is applied as in its tests, not as in its formula.
    """

    x: Value = operand("T[s, b, i]")
    initial_h: Value = operand("T[b, h]")
    weight_ih: Value = operand("T[g, i]", constant=True)
    weight_hh: Value = operand("T[g, h]", constant=True)
    bias: Value | None = operand("T[g]", default=None, constant=True)
    direction: core.Direction = parameter(DIRECTION, spec=STRING, default=core.Direction.FORWARD, check=ONE_WAY)
    output_sequence: bool = parameter(attr_types.flag, spec="i1[]", default=False)
    recurrent_activation: GateFunction = parameter(FUNCTION, spec=STRING, default=GateFunction.SIGMOID)
    activation: GateFunction = parameter(FUNCTION, spec=STRING, default=GateFunction.TANH)
    reset_after: bool | None = parameter(attr_types.flag, spec="i1[]", default=None, since=CORE_ML_8)
    input_bias: Value | None = operand("T[g]", default=None, constant=True, since=CORE_ML_8)
    output: Value = result("T[*]")
    output_h: Value = result("T[b, h]")
    T = SINGLE_OR_HALF

    @constraint("C1")
    def _has_gates(self) -> Condition:
        """weights have three times as many rows as the hidden size."""
        return _has_gates(self.weight_ih, self.weight_hh, 3)

    def reference(
        self,
        x: Value,
        initial_h: Value,
        weight_ih: Value,
        weight_hh: Value,
        bias: Value | None,
        input_bias: Value | None,
    ) -> tuple[Value, ...]:
        y, h = core.gru(
            x,
            _stacked((weight_ih,), GRU_GATES),
            _stacked((weight_hh,), GRU_GATES),
            _apart(initial_h, weight_hh),
            None if input_bias is None else _stacked((input_bias,), GRU_GATES),
            None if bias is None else _stacked((bias,), GRU_GATES),
            direction=self.direction,
            recurrent_activation=self.recurrent_activation.counterpart,
            activation=self.activation.counterpart,
            reset_after=bool(self.reset_after),
        )
        return _outputs(y, h, self.direction, self.output_sequence), side_by_side(h)


class Lstm(MilOp, name="mil.lstm", traits=(traits.Pure,)):
    """Long short-term memory (LSTM): c = f c + i z and h = o activation(c) for each step of a sequence; returns the
    outputs of all steps, or of the last one, the last h and the last c.

    i, f and o are recurrent_activation(W x + R h + b + peephole c), for o with the new c, and z is cell_activation(W x
    + R h + b). The order of gates is i, f, o, z, that of peepholes i, f, o. `clip` limits the new c to [-clip, clip].
    With the direction reverse, steps run from the end of x, and outputs are in the order of steps; with bidirectional,
    the states of both directions are concatenated, and outputs are in the order of x.
    """

    x: Value = operand("T[s, b, i]")
    initial_h: Value = operand("T[b, w]")
    initial_c: Value = operand("T[b, w]")
    weight_ih: Value = operand("T[g, i]", constant=True)
    weight_hh: Value = operand("T[g, h]", constant=True)
    bias: Value | None = operand("T[g]", default=None, constant=True)
    peephole: Value | None = operand("T[p]", default=None, constant=True)
    weight_ih_back: Value | None = operand("T[g, i]", default=None, constant=True)
    weight_hh_back: Value | None = operand("T[g, h]", default=None, constant=True)
    bias_back: Value | None = operand("T[g]", default=None, constant=True)
    peephole_back: Value | None = operand("T[p]", default=None, constant=True)
    direction: core.Direction = parameter(DIRECTION, spec=STRING, default=core.Direction.FORWARD)
    output_sequence: bool = parameter(attr_types.flag, spec="i1[]", default=False)
    recurrent_activation: GateFunction = parameter(FUNCTION, spec=STRING, default=GateFunction.SIGMOID)
    cell_activation: GateFunction = parameter(FUNCTION, spec=STRING, default=GateFunction.TANH)
    activation: GateFunction = parameter(FUNCTION, spec=STRING, default=GateFunction.TANH)
    clip: float | None = parameter(attr_types.number, spec="T[]", default=None)
    output: Value = result("T[*]")
    output_h: Value = result("T[b, w]")
    output_c: Value = result("T[b, w]")
    T = SINGLE_OR_HALF

    @constraint("C1")
    def _has_gates(self) -> Condition:
        """weights have four times as many rows as the hidden size of a direction."""
        return _has_gates(self.weight_ih, self.weight_hh, 4)

    @constraint("C2")
    def _has_ways(self) -> Condition:
        """a bidirectional layer has weight_ih_back and weight_hh_back, and states of twice the size; others have no
        operands of the reverse direction.
        """
        needed, free = (self.weight_ih_back, self.weight_hh_back), (self.bias_back, self.peephole_back)
        count = self.direction.count
        if count == 1 and any(v is not None for v in (*needed, *free)):
            return False
        if count == 2 and any(v is None for v in needed):
            return False
        size, width = ranked_shape(self.weight_hh)[1], ranked_shape(self.initial_h)[1]
        return not isinstance(size, int) or not isinstance(width, int) or width == count * size

    @constraint("C3")
    def _has_limit(self) -> bool:
        """clip is not negative."""
        return self.clip is None or self.clip >= 0

    def reference(
        self,
        x: Value,
        initial_h: Value,
        initial_c: Value,
        weight_ih: Value,
        weight_hh: Value,
        bias: Value | None,
        peephole: Value | None,
        weight_ih_back: Value | None,
        weight_hh_back: Value | None,
        bias_back: Value | None,
        peephole_back: Value | None,
    ) -> tuple[Value, ...]:
        count = self.direction.count
        y, h, c = core.lstm(
            x,
            _both(weight_ih, weight_ih_back, LSTM_GATES),
            _both(weight_hh, weight_hh_back, LSTM_GATES),
            _apart(initial_h, weight_hh, count),
            _apart(initial_c, weight_hh, count),
            self._or_zero(bias, bias_back, weight_ih, 4, LSTM_GATES),
            self._or_zero(peephole, peephole_back, weight_ih, 3, PEEPHOLES),
            direction=self.direction,
            recurrent_activation=self.recurrent_activation.counterpart,
            cell_activation=self.cell_activation.counterpart,
            activation=self.activation.counterpart,
            cell_clip=self.clip,
        )
        return _outputs(y, h, self.direction, self.output_sequence), side_by_side(h), side_by_side(c)

    def _or_zero(
        self, there: Value | None, back: Value | None, weight: Value, gates: int, order: tuple[int, ...]
    ) -> Value | None:
        """A vector for each direction, zeros for one that is absent; None when all are."""
        if there is None and back is None:
            return None
        if self.direction.count == 1:
            return None if there is None else _stacked((there,), order)
        zeros = core.fill(core.splat(0.0, weight), (_rows(weight, 4) * gates,))
        return _stacked((zeros if there is None else there, zeros if back is None else back), order)


def _both(there: Value, back: Value | None, order: tuple[int, ...]) -> Value:
    return _stacked((there,) if back is None else (there, back), order)
