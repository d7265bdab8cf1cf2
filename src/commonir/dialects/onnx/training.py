"""ONNX optimizer steps.

`inputs` has first all trained tensors, then all gradients, then all tensors of one optimizer state, and so on;
`outputs` has the new trained tensors, then the new optimizer states. Source: ONNX operator reference, domain
ai.onnx.preview.training, version 1.
"""

from __future__ import annotations

from collections.abc import Callable

from commonir.dialects import core
from commonir.dialects.onnx.base import OnnxOp, element_of
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, Type, f32, f64, i64
from commonir.notation import NotationError
from commonir.ods import any_type, attr_types, attribute, element_type, one_of, operand, result

LEARNING_RATES = element_type(f32, f64)


def _scaled(x: Value, factor: float) -> Value:
    return core.mul(x, core.splat(factor, x))


def _as(element: ElementType, value: Value) -> Value:
    return value if element_of(value) is element else core.cast(value, element)


class Optimizer(OnnxOp):
    """A step of training with a learning rate R after T steps."""

    R: Value = operand("T1")
    T: Value = operand("i64")
    inputs: tuple[Value, ...] = operand(any_type, variadic=True)
    outputs: tuple[Value, ...] = result(any_type, variadic=True)
    T1 = LEARNING_RATES

    def steps(
        self, inputs: tuple[Value, ...], states: int, step: Callable[..., tuple[Value, ...]]
    ) -> tuple[Value, ...]:
        """Returns the results of a step for each tensor, its gradient and its `states`, in order of their roles.

        Raises: NotationError when the inputs are not as many of each role.
        """
        count, rest = divmod(len(inputs), states + 2)
        if rest or not count:
            raise NotationError(f"{len(inputs)} inputs are not {states + 2} for each tensor that is trained")
        built = [step(*inputs[n::count]) for n in range(count)]
        return tuple([results[kind] for kind in range(states + 1) for results in built])


class Adagrad(Optimizer, name="onnx.preview.training.Adagrad", since="training1"):
    """Adagrad step: x - r g / (sqrt(h) + epsilon), where h is the accumulated sum of squared gradients."""

    norm_coefficient: float = attribute(attr_types.number, default=0.0)
    decay_factor: float = attribute(attr_types.number, default=0.0)
    epsilon: float = attribute(attr_types.number, default=1e-6)

    def reference(self, R: Value, T: Value, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
        def step(x: Value, gradient: Value, squares: Value) -> tuple[Value, ...]:
            element = element_of(x)
            count = core.cast(T, element)
            rate = core.div(_as(element, R), core.add(_scaled(count, self.decay_factor), core.splat(1.0, x)))
            g = core.add(_scaled(x, self.norm_coefficient), gradient)
            h = core.add(squares, core.mul(g, g))
            root = core.add(core.sqrt(h), core.splat(self.epsilon, x))
            return core.sub(x, core.div(core.mul(rate, g), root)), h

        return self.steps(inputs, 1, step)


class Adam(Optimizer, name="onnx.preview.training.Adam", since="training1"):
    """Adam step: x - r v / (sqrt(h) + epsilon), where v and h are running means of gradients and squared gradients.

    After the first step the learning rate corrects the bias of the means, which start at zero.
    """

    epsilon: float = attribute(attr_types.number, default=1e-6)
    norm_coefficient_post: float = attribute(attr_types.number, default=0.0)
    norm_coefficient: float = attribute(attr_types.number, default=0.0)
    beta: float = attribute(attr_types.number, default=0.999)
    alpha: float = attribute(attr_types.number, default=0.9)

    def _rate(self, R: Value, T: Value) -> Value:
        """The learning rate after T steps, in double precision: powers of numbers near 1 are subtracted from 1."""
        count, rate = core.cast(T, f64), core.cast(R, f64)
        one = core.splat(1.0, rate)
        first = core.sub(one, core.pow(core.splat(self.alpha, rate), count))
        second = core.sub(one, core.pow(core.splat(self.beta, rate), count))
        adjusted = core.div(core.mul(rate, core.sqrt(second)), first)
        return core.select(core.greater(T, core.scalar(0, i64)), adjusted, rate)

    def reference(self, R: Value, T: Value, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
        rate = self._rate(R, T)

        def step(x: Value, gradient: Value, momentum: Value, squares: Value) -> tuple[Value, ...]:
            g = core.add(_scaled(x, self.norm_coefficient), gradient)
            v = core.add(_scaled(momentum, self.alpha), _scaled(g, 1 - self.alpha))
            h = core.add(_scaled(squares, self.beta), _scaled(core.mul(g, g), 1 - self.beta))
            root = core.add(core.sqrt(h), core.splat(self.epsilon, x))
            moved = core.sub(x, core.mul(_as(element_of(x), rate), core.div(v, root)))
            return _scaled(moved, 1 - self.norm_coefficient_post), v, h

        return self.steps(inputs, 2, step)


class Momentum(Optimizer, name="onnx.preview.training.Momentum", since="training1"):
    """Momentum step: x - r v, where v is a decaying sum of gradients; `nesterov` uses the gradient one step ahead."""

    norm_coefficient: float = attribute(attr_types.number)
    beta: float = attribute(attr_types.number)
    mode: str = attribute(attr_types.string, check=one_of("standard", "nesterov"))
    alpha: float = attribute(attr_types.number)

    def reference(self, R: Value, T: Value, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
        is_later = core.greater(T, core.scalar(0, i64))

        def step(x: Value, gradient: Value, momentum: Value) -> tuple[Value, ...]:
            g = core.add(_scaled(x, self.norm_coefficient), gradient)
            share = core.select(is_later, core.splat(self.beta, x), core.splat(1.0, x))
            v = core.add(_scaled(momentum, self.alpha), core.mul(share, g))
            way = v if self.mode == "standard" else core.add(g, _scaled(v, self.alpha))
            return core.sub(x, core.mul(_as(element_of(x), R), way)), v

        return self.steps(inputs, 1, step)


class Gradient(OnnxOp, name="onnx.preview.training.Gradient", since="training1"):
    """The partial derivatives of the value named `y` by those named `xs`, for the values given for `xs` and `zs`.

    It depends on the surrounding operators, not only on its operands, so it has no reference: this package does not
    differentiate programs.
    """

    Inputs: tuple[Value, ...] = operand(any_type, variadic=True)
    y: str = attribute(attr_types.string)
    xs: tuple[str, ...] = attribute(attr_types.strings)
    zs: tuple[str, ...] | None = attribute(attr_types.strings, default=None)
    Outputs: tuple[Value, ...] = result(any_type, variadic=True)

    def infer(self) -> tuple[Type, ...]:
        expected = len(self.xs) + len(self.zs or ())
        if len(self.Inputs) != expected:
            raise NotationError(f"{len(self.Inputs)} inputs for {expected} names")
        return tuple([v.type for v in self.Inputs[: len(self.xs)]])
