"""Operations of ARK that compute each element from those at the same position.

Half precision is computed in single precision and rounded once, where it is written; integers wrap around.
Source: ARK model files, operations and numerics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects import core
from commonir.dialects.ark.base import FLOAT, AnyTensor, ArkOp, broadcast, dims_of, element_of, stored, widened
from commonir.dialects.core import GeluForm
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, bf16, f16, f32, f64, i32, u32
from commonir.notation import limits
from commonir.ods import attribute, operand, result

Function1 = Callable[[Value], Value]
Function2 = Callable[[Value, Value], Value]


class _Binary(ArkOp):
    """A function of two tensors, which are broadcast as in numpy.

    C1: all tensors have the same data type. C2: the output has the broadcast shape of the inputs.
    """

    fn: ClassVar[Function2]

    input: Value = operand(AnyTensor)
    other: Value = operand(AnyTensor)
    output: Value = operand(AnyTensor)
    result_: Value = result(AnyTensor)

    @property
    def written_shape(self) -> tuple[int, ...] | None:
        return broadcast(dims_of(self.input), dims_of(self.other))

    def broken_rules(self) -> Iterator[Diagnostic]:
        yield from _one_type(self, self.input, self.other, self.output)
        yield from _fits(self, self.output)

    def reference(self, input: Value, other: Value, output: Value) -> Value:
        return stored(type(self).fn(widened(input), widened(other)), output)


def _one_type(op: ArkOp, *values: Value) -> Iterator[Diagnostic]:
    result = [element_of(v) for v in values]
    if any(e is not result[0] for e in result):
        yield op.broken("C1", f"tensors must have one data type, found {', '.join(map(str, result))}")


def _fits(op: ArkOp, output: Value) -> Iterator[Diagnostic]:
    expected, found = op.written_shape, dims_of(output)
    if expected is None and len(op.read_tensors) == 1:
        yield op.broken("C2", f"shape {_shown(dims_of(op.read_tensors[0]))} cannot be repeated to {_shown(found)}")
    elif expected is None:
        shapes = " and ".join([_shown(dims_of(v)) for v in op.read_tensors])
        yield op.broken("C2", f"shapes {shapes} do not fit together")
    elif expected != found:
        yield op.broken("C2", f"expected to write {_shown(expected)}, found {_shown(found)}")


def _shown(shape: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"


class Add(_Binary, name="ark.Add"):
    """Elementwise sum of two tensors."""

    fn = staticmethod(core.add)


class Sub(_Binary, name="ark.Sub"):
    """Elementwise difference of two tensors."""

    fn = staticmethod(core.sub)


class Mul(_Binary, name="ark.Mul"):
    """Elementwise product of two tensors."""

    fn = staticmethod(core.mul)


class Div(_Binary, name="ark.Div"):
    """Elementwise quotient of two tensors; of integers, rounded toward zero."""

    fn = staticmethod(core.div)


class Rope(_Binary, name="ark.Rope"):
    """Rotary position embedding: multiplies pairs of neighbors along the last axis as complex numbers.

    C3: the size of the last axis is even.
    """

    def broken_rules(self) -> Iterator[Diagnostic]:
        yield from super().broken_rules()
        if dims_of(self.output)[-1] % 2:
            yield self.broken("C3", f"the last axis must have an even size, found {dims_of(self.output)[-1]}")

    def reference(self, input: Value, other: Value, output: Value) -> Value:
        shape = dims_of(output)
        a0, a1 = _halves(widened(input), shape)
        b0, b1 = _halves(widened(other), shape)
        real = core.sub(core.mul(a0, b0), core.mul(a1, b1))
        imaginary = core.add(core.mul(a0, b1), core.mul(a1, b0))
        return stored(core.reshape(core.concat((real, imaginary), -1), shape), output)


def _halves(value: Value, shape: tuple[int, ...]) -> tuple[Value, Value]:
    """The elements at even and at odd positions of the last axis, each with an axis of size 1 at the end."""
    whole = value if dims_of(value) == shape else core.broadcast_to(value, shape)
    pairs = core.reshape(whole, (*shape[:-1], shape[-1] // 2, 2))
    start = (0,) * len(shape)
    stop = (*shape[:-1], shape[-1] // 2)
    even = core.slice(pairs, (*start, 0), (*stop, 1), (1,) * (len(shape) + 1))
    odd = core.slice(pairs, (*start, 1), (*stop, 2), (1,) * (len(shape) + 1))
    return even, odd


class _Unary(ArkOp):
    """A function of one tensor, which is broadcast to the shape of the output as in numpy.

    C1: both tensors have the same data type. C2: the input can be broadcast to the shape of the output.
    """

    fn: ClassVar[Function1]

    input: Value = operand(AnyTensor)
    output: Value = operand(AnyTensor)
    result_: Value = result(AnyTensor)

    @property
    def written_shape(self) -> tuple[int, ...] | None:
        return broadcast(dims_of(self.input), dims_of(self.output))

    def broken_rules(self) -> Iterator[Diagnostic]:
        yield from _one_type(self, self.input, self.output)
        yield from _fits(self, self.output)

    def reference(self, input: Value, output: Value) -> Value:
        return stored(type(self).fn(widened(input)), output)


class _OfFloats(_Unary):
    """A function that is computed in single precision, of integers too."""

    def reference(self, input: Value, output: Value) -> Value:
        wide = input if element_of(input) is f32 else core.cast(input, f32)
        return stored(type(self).fn(wide), output)


class Exp(_OfFloats, name="ark.Exp"):
    """Natural exponential of each element."""

    fn = staticmethod(core.exp)


class Sqrt(_OfFloats, name="ark.Sqrt"):
    """Square root of each element."""

    fn = staticmethod(core.sqrt)


class Rsqrt(_OfFloats, name="ark.Rsqrt"):
    """Reciprocal square root of each element."""

    fn = staticmethod(core.rsqrt)


def _relu(x: Value) -> Value:
    zero = core.splat(0, x)
    return core.select(core.greater(x, zero), x, zero)


def _gelu(x: Value) -> Value:
    return core.gelu(x, GeluForm.TANH)


def _itself(x: Value) -> Value:
    return x


class Relu(_Unary, name="ark.Relu"):
    """Rectified linear unit (ReLU): the element, or zero if it is negative or NaN."""

    fn = staticmethod(_relu)


class Sigmoid(_OfFloats, name="ark.Sigmoid"):
    """Logistic sigmoid: 1 / (1 + exp(-x))."""

    fn = staticmethod(core.sigmoid)


class Gelu(_OfFloats, name="ark.Gelu"):
    """Gaussian error linear unit (GELU), approximated: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))."""

    fn = staticmethod(_gelu)


class Copy(_Unary, name="ark.Copy"):
    """Copies a tensor."""

    fn = staticmethod(_itself)

    def reference(self, input: Value, output: Value) -> Value:
        return stored(input, output)


class Cast(_Unary, name="ark.Cast"):
    """Converts each element to the data type of the output.

    Single precision to integers truncates; FP16 and BF16 to INT32 and UINT32 round to the nearest integer, ties to
    even. Values out of range of an integer type saturate, and NaN becomes zero: both are unspecified in ARK. Integers
    wrap around.
    """

    fn = staticmethod(_itself)

    def broken_rules(self) -> Iterator[Diagnostic]:
        yield from _fits(self, self.output)

    def reference(self, input: Value, output: Value) -> Value:
        source, to = element_of(input), element_of(output)
        if not (source.is_float and to.is_integer):
            return stored(input, output)
        wide = core.cast(input, f64)
        if source in (f16, bf16) and to in (i32, u32):
            wide = core.round(wide)
        low, high = limits(to)
        bounded = core.clip(wide, float(low), float(high))
        known = core.select(core.is_nan(wide), core.scalar(0.0, f64), bounded)
        return stored(known, output)


class _WithFactor(_Unary):
    """A function of a tensor and a number, which is first converted to the data type of the tensor."""

    by: ClassVar[Function2]

    Factor: float = attribute(FLOAT, doc="the number")

    def reference(self, input: Value, output: Value) -> Value:
        factor = core.scalar(*_converted(self.Factor, element_of(input)))
        return stored(type(self).by(widened(input), widened(factor)), output)


def _converted(number: float, element: ElementType) -> tuple[float, ElementType]:
    """A number as a constant of a type: of an integer type without its fraction, within range."""
    if not element.is_integer:
        return number, element
    low, high = limits(element)
    return min(max(int(number), int(low)), int(high)), element


class ScalarAdd(_WithFactor, name="ark.ScalarAdd"):
    """Adds a number to each element."""

    fn = staticmethod(_itself)
    by = staticmethod(core.add)


class ScalarMul(_WithFactor, name="ark.ScalarMul"):
    """Multiplies each element by a number."""

    fn = staticmethod(_itself)
    by = staticmethod(core.mul)


class ScalarAssign(ArkOp, name="ark.ScalarAssign"):
    """A tensor filled with one number."""

    output: Value = operand(AnyTensor)
    Value_: float = attribute(FLOAT, doc="the number")
    result_: Value = result(AnyTensor)

    def reference(self, output: Value) -> Value:
        return stored(core.scalar(*_converted(self.Value_, element_of(output))), output)
