"""Random numbers in the mil dialect.

A seed of -1 gives other numbers in every run. The generators of Core ML are not documented: numbers are those of the
core's. Source: MIL operation reference, random.
"""

from __future__ import annotations

from enum import Enum

from commonir.dialects import core
from commonir.dialects.mil.base import MilOp
from commonir.dialects.mil.operands import FLOATS, STRING, Condition, converted, element_of, rank_of
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, f32, i32
from commonir.ods import attr_types, constraint, known_data, known_dims, operand, parameter, positive, result, traits
from commonir.ods.operand_shapes import known_dims_of


class CategoricalMode(Enum):
    """The form of the parameters of a categorical distribution."""

    LOGITS = "logits"
    PROBS = "probs"


MODE = attr_types.enumeration(CategoricalMode)


def _number(value: Value | None, default: float) -> float:
    """The number that a scalar holds."""
    data: Data | None = None if value is None else known_data(value)
    return default if data is None else float(data.values()[0])


def _element(*given: Value | None) -> ElementType:
    """The element type of the first that is there, single precision without any."""
    return next((element_of(v) for v in given if v is not None), f32)


class RandomDistribution(MilOp, traits=(traits.Random,)):
    """A tensor of a shape with random numbers."""

    shape: Value = operand("i32[r]", by_value=True)
    seed: int = parameter(attr_types.integer, spec="i32[]", default=-1)
    output: Value = result("any")
    T = FLOATS

    @constraint("C1")
    def _are_sizes(self) -> Condition:
        """no size is negative."""
        return all(not isinstance(d, int) or d >= 0 for d in known_dims(self.shape) or ())


class RandomBernoulli(RandomDistribution, name="mil.random_bernoulli"):
    """Random numbers of the Bernoulli distribution: 1 with the probability prob, else 0, in the type of prob."""

    prob: Value | None = operand("T[]", default=None, constant=True)

    def trace_key(self) -> object:
        return _number(self.prob, 0.5)

    def reference(self, shape: Value, prob: Value | None) -> Value:
        drawn = core.random_uniform(shape, self.seed)
        return core.cast(core.less(drawn, core.splat(_number(prob, 0.5), drawn)), _element(prob))


class RandomNormal(RandomDistribution, name="mil.random_normal"):
    """Random numbers of the normal distribution of a mean and a standard deviation, in the type of mean."""

    mean: Value | None = operand("T[]", default=None, constant=True)
    stddev: Value | None = operand("T[]", default=None, constant=True)

    @constraint("C2")
    def _share_type(self) -> bool:
        """mean and stddev have one type; one that is absent is fp32."""
        return _element(self.mean) is _element(self.stddev)

    def trace_key(self) -> object:
        return _number(self.mean, 0.0), _number(self.stddev, 1.0)

    def reference(self, shape: Value, mean: Value | None, stddev: Value | None) -> Value:
        element = _element(mean, stddev)
        return core.random_normal(shape, self.seed, element, mean=_number(mean, 0.0), deviation=_number(stddev, 1.0))


class RandomUniform(RandomDistribution, name="mil.random_uniform"):
    """Random numbers of the uniform distribution over [low, high), in the type of low."""

    low: Value | None = operand("T[]", default=None, constant=True)
    high: Value | None = operand("T[]", default=None, constant=True)

    @constraint("C2")
    def _share_type(self) -> bool:
        """low and high have one type; one that is absent is fp32."""
        return _element(self.low) is _element(self.high)

    def trace_key(self) -> object:
        return _number(self.low, 0.0), _number(self.high, 1.0)

    def reference(self, shape: Value, low: Value | None, high: Value | None) -> Value:
        element = _element(low, high)
        return core.random_uniform(shape, self.seed, element, low=_number(low, 0.0), high=_number(high, 1.0))


class RandomCategorical(MilOp, name="mil.random_categorical", traits=(traits.Random,)):
    """Indices along the last axis, drawn with replacement from the categorical distribution there, in the type of x.

    The probabilities are the softmax of x, or x itself divided by its sum with the mode probs.
    """

    x: Value = operand("T[*]")
    mode: CategoricalMode = parameter(MODE, spec=STRING, default=CategoricalMode.LOGITS)
    size: int = parameter(attr_types.integer, spec="i32[]", default=1, check=positive)
    seed: int = parameter(attr_types.integer, spec="i32[]", default=-1)
    output: Value = result("T[*]")
    T = FLOATS

    @constraint("C1")
    def _has_axis(self) -> bool:
        """x has rank 1 or more."""
        return rank_of(self.x) > 0

    def reference(self, x: Value) -> Value:
        wide = converted(x, f32)
        weights = core.softmax(wide, -1) if self.mode is CategoricalMode.LOGITS else wide
        # Position k is drawn when the number lies between the sums of the weights before it and with it.
        sums = core.cumsum(weights, -1)
        count = known_dims_of(x)[-1]
        rank = rank_of(x)
        shape = (*known_dims_of(x)[:-1], self.size)
        total = core.slice(sums, (*(0,) * (rank - 1), count - 1), (*known_dims_of(x)[:-1], count), (1,) * rank)
        drawn = core.mul(core.random_uniform(core.dims(shape), self.seed), total)
        passed = core.less_equal(core.unsqueeze(sums, (-2,)), core.unsqueeze(drawn, (-1,)))
        position = core.reduce_sum(core.cast(passed, i32), (-1,), False)
        last = core.cast(core.dim(x, -1, i32), i32)
        return core.cast(core.minimum(position, core.sub(last, core.splat(1, last))), element_of(x))
