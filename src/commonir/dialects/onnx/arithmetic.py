"""ONNX operators that combine elements of several tensors by arithmetic, and that limit them to a range.

Operands are broadcast as in numpy. Source: ONNX operator reference, default domain, versions 6 to 28.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import isnan

from commonir.dialects import core
from commonir.dialects.onnx.base import (
    FLOATS,
    FLOATS_1,
    INTEGERS,
    NUMBERS,
    NUMBERS_1,
    POSITIONS,
    UNSIGNED_INTEGERS,
    WIDE_NUMBERS,
    WIDE_NUMBERS_1,
    OnnxOp,
    element_of,
)
from commonir.dialects.onnx.broadcasting import BinaryOp, aligned
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f64
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, by_version, known_data, one_of, operand, result, same_as

LARGEST_SINGLE = 3.4028234663852886e38


def combined(combine: Callable[[Value, Value], Value], values: tuple[Value, ...]) -> Value:
    """All values combined, from the first on. Raises: NotationError when there is none."""
    if not values:
        raise NotationError("there is no operand")
    return functools.reduce(combine, values)


class Arithmetic(BinaryOp):
    """A function of two numbers."""

    T = by_version(opset6=WIDE_NUMBERS_1, opset7=WIDE_NUMBERS_1, opset13=WIDE_NUMBERS, opset14=NUMBERS)


class Add(Arithmetic, name="onnx.Add"):
    """Elementwise sum of two tensors, with broadcasting."""

    fn = core.add


class Sub(Arithmetic, name="onnx.Sub"):
    """Elementwise difference of two tensors, with broadcasting."""

    fn = core.sub


class Mul(Arithmetic, name="onnx.Mul"):
    """Elementwise product of two tensors, with broadcasting."""

    fn = core.mul


class Div(Arithmetic, name="onnx.Div"):
    """Elementwise quotient with broadcasting; of integers, rounded toward zero."""

    fn = core.div


class Mod(Arithmetic, name="onnx.Mod", since="opset10 opset13 opset28"):
    """Elementwise remainder, with the sign of the divisor, or with `fmod` that of the dividend."""

    fmod: bool = attribute(attr_types.flag, default=False)
    T = by_version(opset10=NUMBERS_1, opset13=NUMBERS)

    def reference(self, A: Value, B: Value) -> Value:
        return core.remainder(A, B) if self.fmod else core.mod(A, B)


class Pow(OnnxOp, name="onnx.Pow"):
    """Elementwise power: the first to the power of the second, in the type of the first."""

    X: Value = operand("T")
    Y: Value = operand("T1")
    axis: int | None = attribute(attr_types.integer, default=None, until="opset7")
    broadcast: bool = attribute(attr_types.flag, default=False, until="opset7")
    Z: Value = result("T")
    T = by_version(opset1=FLOATS_1, opset7=FLOATS_1, opset12=FLOATS_1 | POSITIONS, opset13=FLOATS | POSITIONS)
    T1 = by_version(opset1=same_as("T"), opset7=same_as("T"), opset12=NUMBERS_1, opset15=NUMBERS)

    def reference(self, X: Value, Y: Value) -> Value:
        base, exponent = element_of(X), element_of(Y)
        if base is exponent:
            return core.pow(X, aligned(X, Y, self.axis) if self.broadcast else Y)
        if base.is_integer and exponent.is_float and not _are_whole(Y):
            return core.cast(core.pow(core.cast(X, f64), core.cast(Y, f64)), base)
        if exponent.is_float and base.is_float and exponent.bits > base.bits:
            return core.cast(core.pow(core.cast(X, exponent), Y), base)
        return core.pow(X, core.cast(Y, base))


def _are_whole(exponents: Value) -> bool:
    """Returns whether floats are known to be integers from 0 on, so that powers of integers are exact."""
    data = known_data(exponents)
    if data is None or data.count > _FEW_EXPONENTS:
        return False
    return all(isinstance(v, float) and v >= 0 and v.is_integer() and v < _MOST_BITS for v in data.values())


_FEW_EXPONENTS, _MOST_BITS = 64, 64


class BitShift(OnnxOp, name="onnx.BitShift"):
    """Shifts the bits of the first operand by the second, left or right.

    A right shift inserts copies of the sign bit, for unsigned types zeros. A shift by a negative number, or by the bit
    width or more, leaves only inserted bits.
    """

    X: Value = operand("T")
    Y: Value = operand("T")
    direction: str = attribute(attr_types.string, check=one_of("LEFT", "RIGHT"))
    Z: Value = result("T")
    T = by_version(opset11=UNSIGNED_INTEGERS, opset28=INTEGERS)

    def reference(self, X: Value, Y: Value) -> Value:
        return core.shift_left(X, Y) if self.direction == "LEFT" else core.shift_right(X, Y)


class BitwiseAnd(Arithmetic, name="onnx.BitwiseAnd", since="opset18"):
    """Elementwise bitwise and."""

    T = INTEGERS
    fn = core.bitwise_and


class BitwiseOr(Arithmetic, name="onnx.BitwiseOr", since="opset18"):
    """Elementwise bitwise or."""

    T = INTEGERS
    fn = core.bitwise_or


class BitwiseXor(Arithmetic, name="onnx.BitwiseXor", since="opset18"):
    """Elementwise bitwise exclusive or."""

    T = INTEGERS
    fn = core.bitwise_xor


class Max(OnnxOp, name="onnx.Max"):
    """Elementwise maximum of any number of tensors, with broadcasting; NaN when any is NaN."""

    data: tuple[Value, ...] = operand("T", variadic=True)
    max: Value = result("T")
    T = by_version(opset6=FLOATS_1, opset8=FLOATS_1, opset12=NUMBERS_1, opset13=NUMBERS)

    def reference(self, data: tuple[Value, ...]) -> Value:
        return combined(core.maximum, data)


class Min(OnnxOp, name="onnx.Min"):
    """Elementwise minimum of any number of tensors, with broadcasting; NaN when any is NaN."""

    data: tuple[Value, ...] = operand("T", variadic=True)
    min: Value = result("T")
    T = by_version(opset6=FLOATS_1, opset8=FLOATS_1, opset12=NUMBERS_1, opset13=NUMBERS)

    def reference(self, data: tuple[Value, ...]) -> Value:
        return combined(core.minimum, data)


class Sum(OnnxOp, name="onnx.Sum"):
    """Elementwise sum of any number of tensors, with broadcasting."""

    data: tuple[Value, ...] = operand("T", variadic=True)
    sum: Value = result("T")
    T = by_version(opset6=FLOATS_1, opset8=FLOATS_1, opset13=FLOATS)

    def reference(self, data: tuple[Value, ...]) -> Value:
        return combined(core.add, data)


class Mean(OnnxOp, name="onnx.Mean"):
    """Elementwise mean of any number of tensors, with broadcasting."""

    data: tuple[Value, ...] = operand("T", variadic=True)
    mean: Value = result("T")
    T = by_version(opset6=FLOATS_1, opset8=FLOATS_1, opset13=FLOATS)

    def reference(self, data: tuple[Value, ...]) -> Value:
        total = combined(core.add, data)
        return core.div(total, core.splat(float(len(data)), total))


class Clip(OnnxOp, name="onnx.Clip"):
    """Clamps each element to a range; either bound may be absent.

    Bounds are scalars. Runtimes take vectors of one element too, which some exporters write.
    """

    input: Value = operand("T")
    min: Value | None = operand(
        "T", default=None, by_value=True, since="opset11",
        before=attribute(attr_types.number, default=-LARGEST_SINGLE),
    )  # fmt: skip
    max: Value | None = operand(
        "T", default=None, by_value=True, since="opset11",
        before=attribute(attr_types.number, default=LARGEST_SINGLE),
    )  # fmt: skip
    output: Value = result("T")
    T = by_version(opset6=FLOATS_1, opset11=FLOATS_1, opset12=NUMBERS_1, opset13=NUMBERS)

    def reference(self, input: Value, min: Value | None, max: Value | None) -> Value:
        bounds = _known_bound(min), _known_bound(max)
        if bounds[0] is not None and bounds[1] is not None:
            return core.clip(input, bounds[0], bounds[1])
        low = input if min is None else core.maximum(input, _as_scalar(min))
        return low if max is None else core.minimum(low, _as_scalar(max))


def _as_scalar(value: Value) -> Value:
    return core.reshape(value, ()) if isinstance(value.type, TensorType) and value.type.shape else value


def _known_bound(bound: Value | None) -> float | None:
    """A bound of floating-point numbers that is a number and known before running."""
    data = None if bound is None or not element_of(bound).is_float else known_data(bound)
    value = None if data is None or data.count != 1 else data.values()[0]
    return value if isinstance(value, float) and not isnan(value) else None
