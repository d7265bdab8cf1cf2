"""ONNX recurrent layers.

Source: ONNX operator reference, default domain, RNN, GRU and LSTM.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Protocol

from commonir.dialects import core
from commonir.dialects.onnx.base import FLOATS, FLOATS_1, OnnxOp, shape_of, sizes_of_rank
from commonir.ir.operation import Value
from commonir.ir.types import i32
from commonir.notation import NotationError, NotKnownError
from commonir.ods import attr_types, attribute, by_version, element_type, one_of, operand, result

FUNCTIONS = {
    core.GateFunction.SIGMOID: "Sigmoid",
    core.GateFunction.TANH: "Tanh",
    core.GateFunction.RELU: "Relu",
    core.GateFunction.LINEAR: "Affine",
    core.GateFunction.HARD_SIGMOID: "HardSigmoid",
    core.GateFunction.SOFTSIGN: "Softsign",
    core.GateFunction.SOFTPLUS: "Softplus",
    core.GateFunction.ELU: "Elu",
    core.GateFunction.LEAKY_RELU: "LeakyRelu",
    core.GateFunction.THRESHOLDED_RELU: "ThresholdedRelu",
    core.GateFunction.SCALED_TANH: "ScaledTanh",
}
"""The names of the functions of the core."""

_BY_NAME = {name.lower(): function for function, name in FUNCTIONS.items()}

Functions = tuple[tuple[core.GateFunction, ...], tuple[float, ...]]
"""The functions of one direction, and their parameters."""
Given = Sequence[Value | None]


class RecurrentOp(OnnxOp):
    """Base class of recurrent layers."""

    usual: ClassVar[Mapping[str, core.GateFunction]]
    """The default functions of a step, by their attributes in the core."""

    X: Value = operand("T")
    W: Value = operand("T")
    R: Value = operand("T")
    B: Value | None = operand("T", default=None)
    sequence_lens: Value | None = operand("T1", default=None)
    initial_h: Value | None = operand("T", default=None)
    activations: tuple[str, ...] | None = attribute(attr_types.strings, default=None)
    activation_alpha: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    activation_beta: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    clip: float | None = attribute(attr_types.number, default=None)
    direction: str = attribute(
        attr_types.string, default="forward", check=one_of("forward", "reverse", "bidirectional")
    )
    hidden_size: int | None = attribute(attr_types.integer, default=None)
    layout_: int = attribute(attr_types.integer, default=0, since="opset14")
    Y: Value | None = result("T", optional=True)
    Y_h: Value | None = result("T", optional=True)
    T = by_version(opset7=FLOATS_1, opset14=FLOATS_1, opset22=FLOATS)
    T1 = element_type(i32)


class WithActivations(Protocol):
    """Attributes of operators that name the functions of their steps."""

    @property
    def name(self) -> str: ...
    @property
    def activations(self) -> tuple[str, ...] | None: ...
    @property
    def activation_alpha(self) -> tuple[float, ...] | None: ...
    @property
    def activation_beta(self) -> tuple[float, ...] | None: ...


def functions_of(
    op: WithActivations, direction: core.Direction, usual: Collection[core.GateFunction]
) -> list[Functions]:
    """The functions of each direction; parameters are consumed in order by those that have them.

    Raises: NotationError for functions that are not known, or too few.
    """
    count = len(usual)
    alpha, beta = list(op.activation_alpha or ()), list(op.activation_beta or ())
    names = op.activations or [FUNCTIONS[f] for f in usual] * direction.count
    # The default of onnx.RNN names functions for two directions, whatever their number is.
    if len(names) < count * direction.count:
        raise NotationError(f"{len(names)} functions for {direction.count} directions of {count} each")
    out: list[Functions] = []
    for first in range(0, count * direction.count, count):
        found, parameters = list[core.GateFunction](), list[float]()
        for name in names[first : first + count]:
            function = function_of(op.name, name)
            found.append(function)
            for given, default in zip((alpha, beta), function.usual, strict=False):
                parameters.append(given.pop(0) if given else default)
        out.append((tuple(found), tuple(parameters)))
    return out


def function_of(op_name: str, name: str) -> core.GateFunction:
    """The function of a name. Raises: NotationError when there is none."""
    result = _BY_NAME.get(name.lower())
    if result is None:
        raise NotationError(f"{op_name} has no function '{name}'")
    return result


class Layer:
    """The attributes and operands of a layer in terms of the core."""

    def __init__(self, op: RecurrentOp, X: Value, R: Value) -> None:
        self.op = op
        self.direction = core.Direction(op.direction)
        self.is_batch_first = op.layout_ != 0
        sizes_of_rank(X, "X", 3)
        self.hidden_size = sizes_of_rank(R, "R", 3)[2]
        self.x = core.transpose(X, (1, 0, 2)) if self.is_batch_first else X
        self.functions = functions_of(op, self.direction, op.usual.values())

    def state(self, given: Value | None) -> Value:
        """A state before the first step, zeros when none is given."""
        if given is not None:
            sizes_of_rank(given, "initial state", 3)
            return core.transpose(given, (1, 0, 2)) if self.is_batch_first else given
        sizes = (self.direction.count, shape_of(self.x)[1], self.hidden_size)
        return core.fill(core.splat(0.0, self.x), sizes)

    def biases(self, B: Value | None) -> tuple[Value | None, Value | None]:
        """The biases of input and state."""
        if B is None:
            return None, None
        rows = sizes_of_rank(B, "B", 2)[1]
        if not isinstance(rows, int):
            raise NotKnownError("the size of the bias must be fixed")
        of_input, of_state = core.split(B, 1, (rows // 2, rows // 2))
        return of_input, of_state

    def bias(self, B: Value | None) -> Value | None:
        """The sum of both biases."""
        of_input, of_state = self.biases(B)
        return None if of_input is None or of_state is None else core.add(of_input, of_state)

    def run(
        self, compute: Callable[..., tuple[Value, ...]], operands: Given, lengths: Value | None, **own: object
    ) -> tuple[Value, ...]:
        """The results of a layer of the core on operands that have an axis of directions; `own` are its own attributes.

        Directions with functions of their own are layers of their own.
        """

        def results(way: core.Direction, functions: Functions, operands: Given) -> tuple[Value, ...]:
            found, parameters = functions
            is_usual = parameters == tuple([p for f in found for p in f.usual])
            activations = dict(zip(self.op.usual, found, strict=True))
            return compute(
                self.x, *operands, lengths, direction=way, clip=self.op.clip,
                parameters=() if is_usual else parameters, **activations, **own,
            )  # fmt: skip

        if len(set(self.functions)) == 1:
            result = results(self.direction, self.functions[0], operands)
        else:
            ways = (core.Direction.FORWARD, core.Direction.REVERSE)
            parts = [
                results(way, functions, [None if v is None else of_direction(v, n) for v in operands])
                for n, (way, functions) in enumerate(zip(ways, self.functions, strict=True))
            ]
            result = tuple([core.concat(pair, 1 if n == 0 else 0) for n, pair in enumerate(zip(*parts, strict=True))])
        if not self.is_batch_first:
            return result
        y, *states = result
        return (core.transpose(y, (2, 0, 1, 3)), *[core.transpose(s, (1, 0, 2)) for s in states])


def of_direction(value: Value, n: int) -> Value:
    """Returns the part of a value for one direction."""
    sizes = shape_of(value)
    return core.slice(value, (n, *(0,) * (len(sizes) - 1)), (n + 1, *sizes[1:]), (1,) * len(sizes))


class RNN(RecurrentOp, name="onnx.RNN"):
    """Recurrent network (RNN): h = f(W x + R h + b) for each step of a sequence."""

    usual = MappingProxyType({"activation": core.GateFunction.TANH})
    activations: tuple[str, ...] | None = attribute(attr_types.strings, default=("Tanh", "Tanh"))

    def reference(
        self, X: Value, W: Value, R: Value, B: Value | None, sequence_lens: Value | None, initial_h: Value | None
    ) -> tuple[Value, ...]:
        layer = Layer(self, X, R)
        return layer.run(core.rnn, (W, R, layer.state(initial_h), layer.bias(B)), sequence_lens)


class GRU(RecurrentOp, name="onnx.GRU"):
    """Gated recurrent unit (GRU): h = (1 - z) n + z h for each step of a sequence."""

    usual = MappingProxyType({"recurrent_activation": core.GateFunction.SIGMOID, "activation": core.GateFunction.TANH})
    linear_before_reset: int = attribute(attr_types.integer, default=0)

    def reference(
        self, X: Value, W: Value, R: Value, B: Value | None, sequence_lens: Value | None, initial_h: Value | None
    ) -> tuple[Value, ...]:
        layer, reset_after = Layer(self, X, R), self.linear_before_reset != 0
        operands = (W, R, layer.state(initial_h), *layer.biases(B))
        return layer.run(core.gru, operands, sequence_lens, reset_after=reset_after)


class LSTM(RecurrentOp, name="onnx.LSTM"):
    """Long short-term memory (LSTM): c = f c + i z and h = o k(c) for each step of a sequence."""

    usual = MappingProxyType(
        {
            "recurrent_activation": core.GateFunction.SIGMOID,
            "cell_activation": core.GateFunction.TANH,
            "activation": core.GateFunction.TANH,
        }
    )
    initial_c: Value | None = operand("T", default=None)
    P: Value | None = operand("T", default=None)
    input_forget: int = attribute(attr_types.integer, default=0)
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
        layer = Layer(self, X, R)
        operands = (W, R, layer.state(initial_h), layer.state(initial_c), layer.bias(B), P)
        return layer.run(core.lstm, operands, sequence_lens, coupled=self.input_forget != 0)
