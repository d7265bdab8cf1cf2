"""ONNX operators that draw random numbers.

Source: ONNX operator reference, default domain, versions 1 and 22.
"""

from __future__ import annotations

import struct

from commonir.dialects import core
from commonir.dialects.onnx.base import ANY_1, ANY_13, FLOATS, FLOATS_1, OnnxOp, element_of
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, f32
from commonir.notation import NotationError
from commonir.ods import attribute, kinds, operand, result, traits


def _seed(seed: float | None) -> int:
    """A whole number for a seed in single precision: its bits."""
    return core.ANY_SEED if seed is None else struct.unpack("<I", struct.pack("<f", seed))[0]


def _element(dtype: ElementType | None, like: Value) -> ElementType:
    element = dtype or element_of(like)
    if not element.is_float:
        raise NotationError(f"random numbers of type {element}")
    return element


class RandomUniform1(OnnxOp, name="onnx.RandomUniform", traits=(traits.Random,), since="opset1"):
    """A tensor of a shape with numbers evenly distributed over [low, high)."""

    __slots__ = ()

    shape: tuple[int, ...] = attribute(kinds.integers)
    dtype: ElementType = attribute(kinds.element, default=f32)
    high: float = attribute(kinds.number, default=1.0)
    low: float = attribute(kinds.number, default=0.0)
    seed: float | None = attribute(kinds.number, default=None)
    output: Value = result("T")
    T = FLOATS_1

    def reference(self) -> Value:
        shape = core.vector(self.shape)
        return core.random_uniform(shape, _seed(self.seed), self.dtype, low=self.low, high=self.high)


class RandomUniform(RandomUniform1, name="onnx.RandomUniform", since="opset22"):
    """As `RandomUniform1`, for more element types."""

    __slots__ = ()

    T = FLOATS


class RandomNormal1(OnnxOp, name="onnx.RandomNormal", traits=(traits.Random,), since="opset1"):
    """A tensor of a shape with numbers of the normal distribution of a mean and a standard deviation."""

    __slots__ = ()

    shape: tuple[int, ...] = attribute(kinds.integers)
    dtype: ElementType = attribute(kinds.element, default=f32)
    mean: float = attribute(kinds.number, default=0.0)
    scale: float = attribute(kinds.number, default=1.0)
    seed: float | None = attribute(kinds.number, default=None)
    output: Value = result("T")
    T = FLOATS_1

    def reference(self) -> Value:
        shape = core.vector(self.shape)
        return core.random_normal(shape, _seed(self.seed), self.dtype, mean=self.mean, deviation=self.scale)


class RandomNormal(RandomNormal1, name="onnx.RandomNormal", since="opset22"):
    """As `RandomNormal1`, for more element types."""

    __slots__ = ()

    T = FLOATS


class RandomUniformLike1(OnnxOp, name="onnx.RandomUniformLike", traits=(traits.Random,), since="opset1"):
    """A tensor of the shape of another with numbers evenly distributed over [low, high)."""

    __slots__ = ()

    input: Value = operand("T1")
    dtype: ElementType | None = attribute(kinds.element, default=None)
    high: float = attribute(kinds.number, default=1.0)
    low: float = attribute(kinds.number, default=0.0)
    seed: float | None = attribute(kinds.number, default=None)
    output: Value = result("T2")
    T1 = ANY_1
    T2 = FLOATS_1

    def reference(self, input: Value) -> Value:
        element = _element(self.dtype, input)
        return core.random_uniform(core.shape_of(input), _seed(self.seed), element, low=self.low, high=self.high)


class RandomUniformLike(RandomUniformLike1, name="onnx.RandomUniformLike", since="opset22"):
    """As `RandomUniformLike1`, for more element types."""

    __slots__ = ()

    T1 = ANY_13
    T2 = FLOATS


class RandomNormalLike1(OnnxOp, name="onnx.RandomNormalLike", traits=(traits.Random,), since="opset1"):
    """A tensor of the shape of another with numbers of the normal distribution of a mean and a standard deviation."""

    __slots__ = ()

    input: Value = operand("T1")
    dtype: ElementType | None = attribute(kinds.element, default=None)
    mean: float = attribute(kinds.number, default=0.0)
    scale: float = attribute(kinds.number, default=1.0)
    seed: float | None = attribute(kinds.number, default=None)
    output: Value = result("T2")
    T1 = ANY_1
    T2 = FLOATS_1

    def reference(self, input: Value) -> Value:
        element = _element(self.dtype, input)
        shape = core.shape_of(input)
        return core.random_normal(shape, _seed(self.seed), element, mean=self.mean, deviation=self.scale)


class RandomNormalLike(RandomNormalLike1, name="onnx.RandomNormalLike", since="opset22"):
    """As `RandomNormalLike1`, for more element types."""

    __slots__ = ()

    T1 = ANY_13
    T2 = FLOATS
