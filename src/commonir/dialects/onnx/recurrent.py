"""ONNX operators that take the steps of a sequence one after another.

Source: ONNX operator reference, default domain, versions 14 to 23.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.dialects import core
from commonir.dialects.onnx.base import FLOATS, FLOATS_1, OnnxOp, shape_of
from commonir.ir.operation import Value
from commonir.ir.types import i32
from commonir.notation import NotationError
from commonir.ods import attribute, element_type, kinds, operand, result

FUNCTIONS = {
    core.GateFunction.SIGMOID: "Sigmoid",
    core.GateFunction.TANH: "Tanh",
    core.GateFunction.RELU: "Relu",
    core.GateFunction.LINEAR: "Affine",
    core.GateFunction.HARD_SIGMOID: "HardSigmoid",
    core.GateFunction.SOFTSIGN: "Softsign",
    core.GateFunction.SOFTPLUS: "Softplus",
}
"""How the functions of the core are called."""

PARAMETERS = {core.GateFunction.LINEAR: (1.0, 0.0), core.GateFunction.HARD_SIGMOID: (0.2, 0.5)}
"""The parameters alpha and beta of those functions that have both."""


class RecurrentOp(OnnxOp):
    """A layer that takes the steps of a sequence one after another."""

    __slots__ = ()

    X: Value = operand("T")
    W: Value = operand("T")
    R: Value = operand("T")
    B: Value | None = operand("T", default=None)
    sequence_lens: Value | None = operand("T1", default=None)
    initial_h: Value | None = operand("T", default=None)
    activations: tuple[str, ...] | None = attribute(kinds.texts, default=None)
    activation_alpha: tuple[float, ...] | None = attribute(kinds.numbers, default=None)
    activation_beta: tuple[float, ...] | None = attribute(kinds.numbers, default=None)
    clip: float | None = attribute(kinds.number, default=None)
    direction: str = attribute(kinds.text, default="forward")
    hidden_size: int | None = attribute(kinds.integer, default=None)
    layout_: int = attribute(kinds.integer, default=0)
    Y: Value | None = result("T", optional=True)
    Y_h: Value | None = result("T", optional=True)
    T = FLOATS_1
    T1 = element_type(i32)


class Layer:
    """What the attributes and operands of a layer are in terms of the core."""

    def __init__(self, op: RecurrentOp, R: Value, X: Value) -> None:
        self.name = op.name
        self.direction = core.Direction(op.direction)
        self.is_batch_first = op.layout_ != 0
        self.hidden_size = shape_of(R)[2]
        self.x = core.transpose(X, (1, 0, 2)) if self.is_batch_first else X

    def state(self, given: Value | None) -> Value:
        """A state before the first step, zeros when none is given."""
        if given is not None:
            return core.transpose(given, (1, 0, 2)) if self.is_batch_first else given
        sizes = (self.direction.count, shape_of(self.x)[1], self.hidden_size)
        return core.fill(core.splat(0.0, self.x), sizes)

    def biases(self, B: Value | None) -> tuple[Value | None, Value | None]:
        """The biases of input and state."""
        if B is None:
            return None, None
        rows = shape_of(B)[1]
        if not isinstance(rows, int):
            raise NotationError("the size of the bias must be fixed")
        of_input, of_state = core.split(B, 1, (rows // 2, rows // 2))
        return of_input, of_state

    def functions(
        self, given: Sequence[str] | None, default: Sequence[core.GateFunction], parameters: Sequence[object]
    ) -> list[core.GateFunction]:
        """The functions of one direction. Raises: NotationError for what the core cannot say."""
        if not given:
            return list(default)
        count = len(default)
        if len({tuple(given[n : n + count]) for n in range(0, len(given), count)}) != 1 or any(parameters):
            raise NotationError(f"{self.name}: functions with parameters, or that differ between the directions")
        known = {name.lower(): function for function, name in FUNCTIONS.items()}
        unknown = [name for name in given if name.lower() not in known or name.lower() == "affine"]
        if unknown:
            raise NotationError(f"{self.name}: the function {unknown[0]} has no meaning in the core")
        return [known[name.lower()] for name in given[:count]]

    def results(self, made: Sequence[Value]) -> tuple[Value, ...]:
        """The results in the layout that is asked for."""
        if not self.is_batch_first:
            return tuple(made)
        y, *states = made
        return (core.transpose(y, (2, 0, 1, 3)), *[core.transpose(s, (1, 0, 2)) for s in states])


class RNN14(RecurrentOp, name="onnx.RNN", since="opset14"):
    """h = f(W x + R h + b) for each step of a sequence."""

    __slots__ = ()

    activations: tuple[str, ...] | None = attribute(kinds.texts, default=("Tanh", "Tanh"))

    def reference(
        self,
        X: Value,
        W: Value,
        R: Value,
        B: Value | None,
        sequence_lens: Value | None,
        initial_h: Value | None,
    ) -> tuple[Value, ...]:
        if self.clip is not None:
            raise NotationError(f"{self.name}: clip has no meaning in the core")
        layer = Layer(self, R, X)
        names = (self.activations or ())[: layer.direction.count]
        (function,) = layer.functions(names, [core.GateFunction.TANH], (self.activation_alpha, self.activation_beta))
        of_input, of_state = layer.biases(B)
        bias = None if of_input is None or of_state is None else core.add(of_input, of_state)
        made = core.rnn(layer.x, W, R, layer.state(initial_h), bias, sequence_lens, layer.direction, function)
        return layer.results(made)


class RNN(RNN14, name="onnx.RNN", since="opset22"):
    """As `RNN14`, for more element types."""

    __slots__ = ()

    T = FLOATS


class GRU14(RecurrentOp, name="onnx.GRU", since="opset14"):
    """h = (1 - z) n + z h for each step of a sequence."""

    __slots__ = ()

    linear_before_reset: int = attribute(kinds.integer, default=0)

    def reference(
        self,
        X: Value,
        W: Value,
        R: Value,
        B: Value | None,
        sequence_lens: Value | None,
        initial_h: Value | None,
    ) -> tuple[Value, ...]:
        layer = Layer(self, R, X)
        gate, new = layer.functions(
            self.activations,
            [core.GateFunction.SIGMOID, core.GateFunction.TANH],
            (self.activation_alpha, self.activation_beta),
        )
        of_input, of_state = layer.biases(B)
        made = core.gru(
            layer.x,
            W,
            R,
            layer.state(initial_h),
            of_input,
            of_state,
            sequence_lens,
            layer.direction,
            recurrent_activation=gate,
            activation=new,
            reset_after=self.linear_before_reset != 0,
            clip=self.clip,
        )
        return layer.results(made)


class GRU(GRU14, name="onnx.GRU", since="opset22"):
    """As `GRU14`, for more element types."""

    __slots__ = ()

    T = FLOATS


class LSTM14(RecurrentOp, name="onnx.LSTM", since="opset14"):
    """c = f c + i z and h = o k(c) for each step of a sequence."""

    __slots__ = ()

    initial_c: Value | None = operand("T", default=None)
    P: Value | None = operand("T", default=None)
    input_forget: int = attribute(kinds.integer, default=0)
    Y_c: Value | None = result("T", optional=True)

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
    ) -> tuple[Value, ...]:
        if self.input_forget:
            raise NotationError(f"{self.name}: input_forget has no meaning in the core")
        layer = Layer(self, R, X)
        gate, cell, hidden = layer.functions(
            self.activations,
            [core.GateFunction.SIGMOID, core.GateFunction.TANH, core.GateFunction.TANH],
            (self.activation_alpha, self.activation_beta),
        )
        of_input, of_state = layer.biases(B)
        made = core.lstm(
            layer.x,
            W,
            R,
            layer.state(initial_h),
            layer.state(initial_c),
            None if of_input is None or of_state is None else core.add(of_input, of_state),
            P,
            sequence_lens,
            layer.direction,
            recurrent_activation=gate,
            cell_activation=cell,
            activation=hidden,
            clip=self.clip,
        )
        return layer.results(made)


class LSTM(LSTM14, name="onnx.LSTM", since="opset22"):
    """As `LSTM14`, for more element types."""

    __slots__ = ()

    T = FLOATS
