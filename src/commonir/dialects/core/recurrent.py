"""Core recurrent layers: composites over a scan of the sequence.

Each has a leading axis of directions in its weights, states and outputs: one, or the forward direction and then the
reverse one. Outputs stand at the position of their step whatever the direction. Half precision is computed in single
precision and rounded once, at the end. The last states of a sequence of length 0 are zeros, as for onnxruntime.
Source: ONNX operator reference, RNN, GRU and LSTM, whose layouts and order of gates these are.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import ClassVar, TypeVar

from commonir.dialects.core.activation import clip, elu, hard_sigmoid, leaky_relu, relu, sigmoid, softplus, softsign
from commonir.dialects.core.base import FLOATS, INTEGERS, CoreOp, function_of_several, tensor_type
from commonir.dialects.core.constants import iota, scalar, splat
from commonir.dialects.core.contraction import linear
from commonir.dialects.core.control import nested, scan
from commonir.dialects.core.elementwise import add, cast, greater, less, mul, narrowed, select, sub, tanh, widened
from commonir.dialects.core.shape import split, squeeze, stack, unsqueeze
from commonir.ir.operation import Value
from commonir.ir.types import i64
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, constraint, operand, result, traits
from commonir.ods.attr_types import AttrType
from commonir.symbolic import Dim

A = TypeVar("A")


class Direction(Enum):
    """The order of the steps of a sequence."""

    FORWARD = "forward"
    REVERSE = "reverse"
    BIDIRECTIONAL = "bidirectional"

    @property
    def count(self) -> int:
        """The number of directions."""
        return 2 if self is Direction.BIDIRECTIONAL else 1


class GateFunction(Enum):
    """The activation functions of gates and states. Some have parameters a and b."""

    SIGMOID = "sigmoid"
    TANH = "tanh"
    RELU = "relu"
    LINEAR = "linear"
    HARD_SIGMOID = "hard_sigmoid"
    SOFTSIGN = "softsign"
    SOFTPLUS = "softplus"
    ELU = "elu"
    LEAKY_RELU = "leaky_relu"
    THRESHOLDED_RELU = "thresholded_relu"
    SCALED_TANH = "scaled_tanh"

    @property
    def usual(self) -> tuple[float, ...]:
        """The parameters a and b where none are given: none, a, or both."""
        match self:
            case GateFunction.LINEAR:
                return 1.0, 0.0
            case GateFunction.HARD_SIGMOID:
                return 0.2, 0.5
            case GateFunction.SCALED_TANH:
                return 1.0, 1.0
            case GateFunction.ELU | GateFunction.THRESHOLDED_RELU:
                return (1.0,)
            case GateFunction.LEAKY_RELU:
                return (0.01,)
            case _:
                return ()

    def of(self, x: Value, parameters: tuple[float, ...]) -> Value:
        """The function of a value: a x + b, min(max(a x + b, 0), 1), a tanh(b x), x above a and else 0, and so on."""
        match self, parameters:
            case GateFunction.SIGMOID, ():
                return sigmoid(x)
            case GateFunction.TANH, ():
                return tanh(x)
            case GateFunction.RELU, ():
                return relu(x)
            case GateFunction.SOFTSIGN, ():
                return softsign(x)
            case GateFunction.SOFTPLUS, ():
                return softplus(x)
            case GateFunction.ELU, (a,):
                return elu(x, a)
            case GateFunction.LEAKY_RELU, (a,):
                return leaky_relu(x, a)
            case GateFunction.THRESHOLDED_RELU, (a,):
                return select(greater(x, splat(a, x)), x, splat(0.0, x))
            case GateFunction.HARD_SIGMOID, (a, b):
                return hard_sigmoid(x, a, b)
            case GateFunction.LINEAR, (a, b):
                return x if (a, b) == self.usual else add(mul(x, splat(a, x)), splat(b, x))
            case GateFunction.SCALED_TANH, (a, b):
                return mul(tanh(mul(x, splat(b, x))), splat(a, x))
            case _:
                raise NotationError(f"{self.value} takes {len(self.usual)} parameters, found {len(parameters)}")


FUNCTION = attr_types.enumeration(GateFunction)
DIRECTION = attr_types.enumeration(Direction)

States = tuple[Value, ...]
RecurrentStep = Callable[[States, Value], States]
"""Returns the next states, from the previous ones and the contribution of the input of a step to the gates."""


class Recurrent(CoreOp, traits=(traits.Pure, traits.RunsNested)):
    """Base class of recurrent layers."""

    gates: ClassVar[int]
    x: Value = operand("T[s, b, i]")
    weight: Value = operand("T[d, g, i]")
    recurrent: Value = operand("T[d, g, h]")
    initial_h: Value = operand("T[d, b, h]")
    y: Value = result("T[s, d, b, h]")
    y_h: Value = result("T[d, b, h]")
    T = FLOATS

    def _attributes_of(self, type: AttrType[A]) -> tuple[A, ...]:
        """The attributes of a type, in the order of their declarations."""
        return tuple([self.field_value(f) for f in self.layout.attributes if f.type is type])

    @property
    def order(self) -> Direction:
        """The order of steps."""
        return self._attributes_of(DIRECTION)[0]

    @property
    def functions(self) -> tuple[GateFunction, ...]:
        """The functions of a step, in the order in which `parameters` has their parameters."""
        return self._attributes_of(FUNCTION)

    @property
    def given_parameters(self) -> tuple[float, ...]:
        """The parameters of the functions one after another; none for the usual ones."""
        return self._attributes_of(attr_types.numbers)[0]

    @constraint("C3")
    def functions_have_parameters(self) -> object:
        """There are as many parameters as the functions have, or none for the usual ones."""
        return len(self.given_parameters) in (0, sum(len(f.usual) for f in self.functions))

    def applied(self) -> tuple[Callable[[Value], Value], ...]:
        """The functions of a step with their parameters."""
        arguments = list(self.given_parameters or [p for f in self.functions for p in f.usual])
        out: list[Callable[[Value], Value]] = []
        for f in self.functions:
            count = len(f.usual)
            out.append(partial(f.of, parameters=tuple(arguments[:count])))
            arguments = arguments[count:]
        return tuple(out)

    @constraint("C1")
    def directions_agree(self) -> object:
        """The axis of directions has size 2 when the layer is bidirectional, else 1."""
        shape = tensor_type(self.weight).shape
        return shape is None or not isinstance(shape[0], int) or shape[0] == self.order.count

    @constraint("C2")
    def weights_have_gates(self) -> object:
        """Weights have as many rows for each gate as a state has elements."""
        shape = tensor_type(self.recurrent).shape
        if shape is None:
            return True
        _, rows, size = shape
        return not isinstance(rows, int) or not isinstance(size, int) or rows == self.gates * size

    def hidden_size(self, recurrent: Value) -> Dim:
        """The number of elements of a state."""
        size = (tensor_type(recurrent).shape or (None,))[-1]
        return 0 if size is None else size

    def directed(self, value: Value) -> tuple[Value, ...]:
        """Returns the part of a value for each direction; half precision becomes single."""
        wide, count = widened(value), self.order.count
        parts = (wide,) if count == 1 else split(wide, 0, (1,) * count)
        return tuple([squeeze(p, (0,)) for p in parts])

    def directed_or_none(self, value: Value | None) -> tuple[Value | None, ...]:
        """The same of an operand that may be absent."""
        return (None,) * self.order.count if value is None else self.directed(value)

    def outputs(
        self,
        x: Value,
        weight: Value,
        bias: Value | None,
        initial: States,
        lengths: Value | None,
        steps: tuple[RecurrentStep, ...],
    ) -> tuple[Value, ...]:
        """The outputs of all steps, then the last states, for a step of each direction."""
        reversals = (self.order is Direction.REVERSE, True)
        states = zip(*[self.directed(v) for v in initial], strict=True)
        result: list[tuple[Value, ...]] = []
        for w, b, first, step, is_reverse in zip(
            self.directed(weight), self.directed_or_none(bias), states, steps, reversals, strict=False
        ):
            given = linear(widened(x), w, b)
            result.append(_scanned(given, first, lengths, step, is_reverse))
        joined = [stack(parts, 1 if n == 0 else 0) for n, parts in enumerate(zip(*result, strict=True))]
        return tuple([narrowed(v, x) for v in joined])


def _scanned(
    value: Value, first: States, lengths: Value | None, step: RecurrentStep, is_reverse: bool
) -> tuple[Value, ...]:
    """The outputs of all steps in one direction, then the last states."""
    sequences = [value]
    if lengths is not None:
        sequences.append(iota((_first_size(value),), 0, i64))
    count = len(first)

    def body(*arguments: Value) -> States:
        states = arguments[:count]
        following = step(states, arguments[count])
        if lengths is None:
            return (*following, following[0])
        inside = unsqueeze(less(arguments[-1], cast(lengths, i64)), (1,))
        kept = [select(inside, new, old) for new, old in zip(following, states, strict=True)]
        return (*kept, select(inside, following[0], splat(0.0, following[0])))

    states = [v.type for v in first]
    slices = [tensor_type(v).with_shape((tensor_type(v).shape or ())[1:]) for v in sequences]
    *last, y = scan(first, tuple(sequences), nested([*states, *slices], body), is_reverse)
    if lengths is not None:
        is_empty = unsqueeze(less(cast(lengths, i64), scalar(1, i64)), (1,))
        last = [select(is_empty, splat(0.0, v), v) for v in last]
    return (y, *last)


def _first_size(value: Value) -> Dim:
    size = (tensor_type(value).shape or (None,))[0]
    return 0 if size is None else size


def _added(a: Value, b: Value | None) -> Value:
    return a if b is None else add(a, b)


class Rnn(Recurrent, name="core.rnn"):
    """Recurrent network (RNN): h = f(W x + R h + b) for each step of a sequence; returns all states and the last one.

    Beyond the length of a sequence its state does not change and its output is 0. `clip` clamps the operand of f to
    [-clip, clip].
    """

    gates = 1
    bias: Value | None = operand("T[d, g]", default=None)
    lengths: Value | None = operand("L[b]", default=None)
    direction: Direction = attribute(DIRECTION, default=Direction.FORWARD)
    activation: GateFunction = attribute(FUNCTION, default=GateFunction.TANH)
    clip: float | None = attribute(attr_types.number, default=None)
    parameters: tuple[float, ...] = attribute(attr_types.numbers, default=())
    L = INTEGERS

    def reference(
        self, x: Value, weight: Value, recurrent: Value, initial_h: Value, bias: Value | None, lengths: Value | None
    ) -> tuple[Value, ...]:
        (f,) = self.applied()

        def step_with(r: Value) -> RecurrentStep:
            return lambda states, given: (f(_limited(add(given, linear(states[0], r)), self.clip)),)

        steps = tuple([step_with(r) for r in self.directed(recurrent)])
        return self.outputs(x, weight, bias, (initial_h,), lengths, steps)


class Gru(Recurrent, name="core.gru"):
    """Gated recurrent unit (GRU): h = (1 - z) n + z h for each step of a sequence; returns all states and the last one.

    z and r are f(W x + R h + b) with the rows of their gate, n = g(W x + R (r h) + b), or with `reset_after` n = g(W x
    + b + r (R h + c)). b is bias, and c is recurrent_bias, which is otherwise added to b. The order of gates is z, r,
    n. Beyond the length of a sequence its state does not change and its output is 0. `clip` clamps the operands of f
    and g to [-clip, clip].
    """

    gates = 3
    bias: Value | None = operand("T[d, g]", default=None)
    recurrent_bias: Value | None = operand("T[d, g]", default=None)
    lengths: Value | None = operand("L[b]", default=None)
    direction: Direction = attribute(DIRECTION, default=Direction.FORWARD)
    recurrent_activation: GateFunction = attribute(FUNCTION, default=GateFunction.SIGMOID)
    activation: GateFunction = attribute(FUNCTION, default=GateFunction.TANH)
    reset_after: bool = attribute(attr_types.flag, default=False)
    clip: float | None = attribute(attr_types.number, default=None)
    parameters: tuple[float, ...] = attribute(attr_types.numbers, default=())
    L = INTEGERS

    def reference(
        self,
        x: Value,
        weight: Value,
        recurrent: Value,
        initial_h: Value,
        bias: Value | None,
        recurrent_bias: Value | None,
        lengths: Value | None,
    ) -> tuple[Value, ...]:
        size = self.hidden_size(recurrent)
        pairs = zip(self.directed(recurrent), self.directed_or_none(recurrent_bias), strict=True)
        steps = tuple([self._step(r, c, size) for r, c in pairs])
        return self.outputs(x, weight, bias, (initial_h,), lengths, steps)

    def _step(self, recurrent: Value, bias: Value | None, size: Dim) -> RecurrentStep:
        f, g = self.applied()
        both, last = split(recurrent, 0, (size * 2, size))
        b_both, b_last = (None, None) if bias is None else split(bias, 0, (size * 2, size))

        def step(states: States, value: Value) -> States:
            (h,) = states
            of_gates, of_new = split(value, -1, (size * 2, size))
            opened = f(_limited(add(of_gates, linear(h, both, b_both)), self.clip))
            z, r = split(opened, -1, (size, size))
            within = mul(r, linear(h, last, b_last)) if self.reset_after else linear(mul(r, h), last, b_last)
            n = g(_limited(add(of_new, within), self.clip))
            return (add(mul(sub(splat(1.0, z), z), n), mul(z, h)),)

        return step


def _limited(x: Value, limit: float | None) -> Value:
    return x if limit is None else clip(x, -limit, limit)


class Lstm(Recurrent, name="core.lstm"):
    """Long short-term memory (LSTM): c = f c + i g(z) and h = o k(c) for each step of a sequence; returns all states,
    the last h and the last c.

    i, o, f and z are W x + R h + b with the rows of their gate. For i, o and f, peephole times c is added (for o the
    new c), and the gate function is applied. The order of gates is i, o, f, z, that of peepholes i, o, f. `clip` clamps
    the operands of gate functions, `cell_clip` the new c. With `coupled` the gate f is 1 - i. Beyond the length of a
    sequence its states do not change and its output is 0.
    """

    gates = 4
    initial_c: Value = operand("T[d, b, h]")
    bias: Value | None = operand("T[d, g]", default=None)
    peephole: Value | None = operand("T[d, p]", default=None)
    lengths: Value | None = operand("L[b]", default=None)
    direction: Direction = attribute(DIRECTION, default=Direction.FORWARD)
    recurrent_activation: GateFunction = attribute(FUNCTION, default=GateFunction.SIGMOID)
    cell_activation: GateFunction = attribute(FUNCTION, default=GateFunction.TANH)
    activation: GateFunction = attribute(FUNCTION, default=GateFunction.TANH)
    clip: float | None = attribute(attr_types.number, default=None)
    cell_clip: float | None = attribute(attr_types.number, default=None)
    parameters: tuple[float, ...] = attribute(attr_types.numbers, default=())
    coupled: bool = attribute(attr_types.flag, default=False)
    y_c: Value = result("T[d, b, h]")
    L = INTEGERS

    def reference(
        self,
        x: Value,
        weight: Value,
        recurrent: Value,
        initial_h: Value,
        initial_c: Value,
        bias: Value | None,
        peephole: Value | None,
        lengths: Value | None,
    ) -> tuple[Value, ...]:
        size = self.hidden_size(recurrent)
        pairs = zip(self.directed(recurrent), self.directed_or_none(peephole), strict=True)
        steps = tuple([self._step(r, p, size) for r, p in pairs])
        return self.outputs(x, weight, bias, (initial_h, initial_c), lengths, steps)

    def _step(self, recurrent: Value, peephole: Value | None, size: Dim) -> RecurrentStep:
        f, of_entering, of_cell = self.applied()
        p_i, p_o, p_f = (None, None, None) if peephole is None else split(peephole, 0, (size,) * 3)

        def gate(x: Value, weight: Value | None, c: Value) -> Value:
            return f(_limited(_added(x, None if weight is None else mul(weight, c)), self.clip))

        def step(states: States, value: Value) -> States:
            h, c = states
            i, o, forget, z = split(add(value, linear(h, recurrent)), -1, (size,) * 4)
            enters = gate(i, p_i, c)
            stays = sub(splat(1.0, enters), enters) if self.coupled else gate(forget, p_f, c)
            following = add(mul(stays, c), mul(enters, of_entering(_limited(z, self.clip))))
            following = _limited(following, self.cell_clip)
            return mul(gate(o, p_o, following), of_cell(following)), following

        return step


rnn = function_of_several(Rnn)
gru = function_of_several(Gru)
lstm = function_of_several(Lstm)
