"""ONNX operators that draw random numbers.

Source: ONNX operator reference, default domain, versions 1 to 22.
"""

from __future__ import annotations

import struct

from commonir.dialects import core
from commonir.dialects.onnx.base import (
    ANY_1,
    ANY_13,
    BOOLEAN,
    FLOATS,
    FLOATS_1,
    FLOATS_1_22,
    FLOATS_8,
    NUMBERS,
    POSITIONS,
    OnnxOp,
    element_of,
    shape_of,
)
from commonir.ir.data import rounded
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, boolean, f32, f64, i32, i64
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, by_version, known_data, operand, positive, result, same_as, traits
from commonir.ods.patterns import version_number

_BOOLEAN_MASK = 10
"""The first version in which the mask of Dropout is of bools."""


def _seed(seed: float | None) -> int:
    """An integer for a seed in single precision: its bits."""
    return core.ANY_SEED if seed is None else struct.unpack("<I", struct.pack("<f", rounded(seed, f32)))[0]


def _element(dtype: ElementType | None, like: Value) -> ElementType:
    element = dtype or element_of(like)
    if not element.is_float:
        raise NotationError(f"random numbers of type {element}")
    return element


class RandomUniform(OnnxOp, name="onnx.RandomUniform", traits=(traits.Random,)):
    """A tensor of a given shape with random numbers of the uniform distribution over [low, high)."""

    shape: tuple[int, ...] = attribute(attr_types.integers)
    dtype: ElementType = attribute(attr_types.element, default=f32)
    high: float = attribute(attr_types.number, default=1.0)
    low: float = attribute(attr_types.number, default=0.0)
    seed: float | None = attribute(attr_types.number, default=None)
    output: Value = result("T")
    T = FLOATS_1_22

    def reference(self) -> Value:
        shape = core.vector(self.shape)
        return core.random_uniform(shape, _seed(self.seed), self.dtype, low=self.low, high=self.high)


class RandomNormal(OnnxOp, name="onnx.RandomNormal", traits=(traits.Random,)):
    """A tensor of a given shape with normally distributed random numbers of a mean and standard deviation."""

    shape: tuple[int, ...] = attribute(attr_types.integers)
    dtype: ElementType = attribute(attr_types.element, default=f32)
    mean: float = attribute(attr_types.number, default=0.0)
    scale: float = attribute(attr_types.number, default=1.0)
    seed: float | None = attribute(attr_types.number, default=None)
    output: Value = result("T")
    T = FLOATS_1_22

    def reference(self) -> Value:
        shape = core.vector(self.shape)
        return core.random_normal(shape, _seed(self.seed), self.dtype, mean=self.mean, deviation=self.scale)


class RandomUniformLike(OnnxOp, name="onnx.RandomUniformLike", traits=(traits.Random,)):
    """A tensor of the shape of another with random numbers of the uniform distribution over [low, high)."""

    input: Value = operand("T1")
    dtype: ElementType | None = attribute(attr_types.element, default=None)
    high: float = attribute(attr_types.number, default=1.0)
    low: float = attribute(attr_types.number, default=0.0)
    seed: float | None = attribute(attr_types.number, default=None)
    output: Value = result("T2")
    T1 = by_version(opset1=ANY_1, opset22=ANY_13)
    T2 = FLOATS_1_22

    def reference(self, input: Value) -> Value:
        element = _element(self.dtype, input)
        return core.random_uniform(core.shape_of(input), _seed(self.seed), element, low=self.low, high=self.high)


class RandomNormalLike(OnnxOp, name="onnx.RandomNormalLike", traits=(traits.Random,)):
    """A tensor of the shape of another, with normally distributed random numbers of a mean and standard deviation."""

    input: Value = operand("T1")
    dtype: ElementType | None = attribute(attr_types.element, default=None)
    mean: float = attribute(attr_types.number, default=0.0)
    scale: float = attribute(attr_types.number, default=1.0)
    seed: float | None = attribute(attr_types.number, default=None)
    output: Value = result("T2")
    T1 = by_version(opset1=ANY_1, opset22=ANY_13)
    T2 = FLOATS_1_22

    def reference(self, input: Value) -> Value:
        element = _element(self.dtype, input)
        shape = core.shape_of(input)
        return core.random_normal(shape, _seed(self.seed), element, mean=self.mean, deviation=self.scale)


class Bernoulli(OnnxOp, name="onnx.Bernoulli", traits=(traits.Random,)):
    """Random numbers of the Bernoulli distribution: 1 with the probability given by the element, else 0."""

    input: Value = operand("T1")
    dtype: ElementType | None = attribute(attr_types.element, default=None)
    seed: float | None = attribute(attr_types.number, default=None)
    output: Value = result("T2")
    T1 = by_version(opset15=FLOATS_1, opset22=FLOATS)
    T2 = NUMBERS | BOOLEAN

    def reference(self, input: Value) -> Value:
        wide = core.widened(input)
        drawn = core.random_uniform(core.shape_of(input), _seed(self.seed), element_of(wide))
        hit = core.less(drawn, wide)
        element = self.dtype or element_of(input)
        return hit if element is boolean else core.cast(hit, element)


class Multinomial(OnnxOp, name="onnx.Multinomial", traits=(traits.Random,)):
    """Random class indices for each sample, drawn with unnormalized log-probabilities."""

    input: Value = operand("T1[batch, classes]")
    dtype: ElementType = attribute(attr_types.element, default=i32)
    seed: float | None = attribute(attr_types.number, default=None)
    sample_size: int = attribute(attr_types.integer, default=1, check=positive)
    output: Value = result("T2[batch, samples]")
    T1 = by_version(opset7=FLOATS_1, opset22=FLOATS)
    T2 = POSITIONS

    def reference(self, input: Value) -> Value:
        wide = core.widened(input)
        element = element_of(wide)
        batch, classes = shape_of(input)
        share = core.softmax(wide, 1)
        # A class is drawn where the number lies between the sums without and with its share. The last one takes what
        # rounding leaves.
        ends = core.slice(core.cumsum(share, 1), (0, 0), (batch, classes - 1), (1, 1))
        shape = core.dims((batch, self.sample_size, 1), i64)
        drawn = core.random_uniform(shape, _seed(self.seed), element)
        passed = core.greater_equal(drawn, core.unsqueeze(ends, (1,)))
        return core.reduce_sum(core.cast(passed, self.dtype), (2,))


def _all_kept(data: Value, element: ElementType) -> Value:
    """A mask that keeps everything."""
    return core.broadcast_to(core.scalar(True if element is boolean else 1.0, element), shape_of(data))


def _dropped(data: Value, share: Value, seed: int) -> tuple[Value, Value]:
    """The tensor with a share of elements zero and the others larger by as much, and where they are."""
    drawn = core.random_uniform(core.shape_of(data), seed, f64, generator=core.Generator.MERSENNE_TWISTER)
    kept = core.greater_equal(drawn, share)
    wide, one = core.widened(data), core.scalar(1.0, f64)
    grown = core.mul(wide, core.cast(core.div(one, core.sub(one, share)), element_of(wide)))
    return core.narrowed(core.select(kept, grown, core.splat(0.0, wide)), data), kept


class Dropout(OnnxOp, name="onnx.Dropout", traits=(traits.Random,)):
    """Dropout: when training, sets elements to zero with the probability `ratio` and scales the others up.

    `mask` is true for elements that are kept. With a seed the random numbers are those of onnx's reference evaluator.
    """

    data: Value = operand("T")
    ratio: Value | None = operand(
        "T1", default=None, by_value=True, since="opset12", before=attribute(attr_types.number, default=0.5)
    )
    training_mode: Value | None = operand("T2", default=None, by_value=True, since="opset12")
    seed: int | None = attribute(attr_types.integer, default=None, since="opset12")
    output: Value = result("T")
    mask: Value | None = result("T2", optional=True)
    T = by_version(opset7=FLOATS_1, opset10=FLOATS_1, opset12=FLOATS_1, opset13=FLOATS, opset22=FLOATS | FLOATS_8)
    T1 = by_version(opset7=FLOATS_1, opset13=FLOATS_1, opset22=FLOATS | FLOATS_8)
    T2 = by_version(opset7=same_as("T"), opset10=BOOLEAN)

    def reference(self, data: Value, ratio: Value | None, training_mode: Value | None) -> tuple[Value, ...]:
        mode = None if training_mode is None else known_data(training_mode)
        if training_mode is None or (mode is not None and not any(mode.values())):
            has_own_type = version_number(self.since) < _BOOLEAN_MASK
            return (data, _all_kept(data, element_of(data) if has_own_type else boolean))
        share = core.scalar(0.5, f64) if ratio is None else core.cast(ratio, f64)
        dropped, kept = _dropped(data, share, core.ANY_SEED if self.seed is None else self.seed)
        if mode is not None:
            return (dropped, kept)
        trains = core.reshape(training_mode, ())
        return (core.select(trains, dropped, data), core.logical_or(kept, core.logical_not(trains)))


class Dropout6(OnnxOp, name="onnx.Dropout", traits=(traits.Random,), since="opset6"):
    """Unless `is_test` is set, sets elements to zero with the probability `ratio` and scales the others up."""

    data: Value = operand("T")
    is_test: int = attribute(attr_types.integer, default=0)
    ratio: float = attribute(attr_types.number, default=0.5)
    output: Value = result("T")
    mask: Value | None = result("T", optional=True)
    T = FLOATS_1

    def reference(self, data: Value) -> tuple[Value, ...]:
        if self.is_test:
            return (data, _all_kept(data, element_of(data)))
        dropped, kept = _dropped(data, core.scalar(self.ratio, f64), core.ANY_SEED)
        return (dropped, core.cast(kept, element_of(data)))
