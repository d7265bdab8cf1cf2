"""Core operations that draw random numbers.

A seed of -1 means a new seed in every run; any other gives the same numbers on every machine (see `random_numbers`).
Source: Core ML MIL operation reference, random.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from commonir.dialects.core.base import INTEGERS, CoreOp, function
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, Type, bf16, f16, f32, f64
from commonir.ods import attr_types, attribute, constraint, element_type, known_dims, operand, result, traits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]

ANY_SEED = -1
"""The seed that means a new one in every run."""


class Generator(Enum):
    """Generators of random bits.

    PHILOX: Philox 4x64 with a 64-bit seed. MERSENNE_TWISTER: MT19937 with a 32-bit seed, as in onnx's reference
    evaluator; two words give one number.
    """

    PHILOX = "philox"
    MERSENNE_TWISTER = "mersenne_twister"


class RandomTensor(CoreOp, traits=(traits.Random,)):
    """A tensor of random numbers."""

    shape: Value = operand("I[r]", by_value=True)
    seed: int = attribute(attr_types.integer, default=ANY_SEED)
    element: ElementType = attribute(attr_types.element, default=f32)
    y: Value = result("T[*]")
    I = INTEGERS  # noqa: E741  a type variable
    T = element_type(f16, bf16, f32, f64)

    @constraint("C1")
    def sizes_are_not_negative(self) -> object:
        """No size is negative."""
        return all(not isinstance(d, int) or d >= 0 for d in known_dims(self.shape) or ())

    def infer(self) -> tuple[Type, ...]:
        type = self.shape.type
        rank = type.shape[0] if isinstance(type, TensorType) and type.shape else None
        unknown = (None,) * rank if isinstance(rank, int) else None
        return (TensorType(self.element, known_dims(self.shape) or unknown),)


class RandomUniform(RandomTensor, name="core.random_uniform"):
    """Random numbers of the uniform distribution over [low, high)."""

    low: float = attribute(attr_types.number, default=0.0)
    high: float = attribute(attr_types.number, default=1.0)
    generator: Generator = attribute(attr_types.enumeration(Generator), default=Generator.PHILOX)

    def reference(self, shape: Array) -> Array:
        from commonir.base.arrays import dtype_of  # noqa: PLC0415  loads numpy
        from commonir.dialects.core.random_numbers import uniform  # noqa: PLC0415  loads numpy

        sizes, dtype = tuple(shape.tolist()), dtype_of(self.element.name)
        return uniform(self.seed, sizes, self.low, self.high, dtype, self.generator is Generator.MERSENNE_TWISTER)


class RandomNormal(RandomTensor, name="core.random_normal"):
    """Random numbers of the normal distribution of a mean and a standard deviation."""

    mean: float = attribute(attr_types.number, default=0.0)
    deviation: float = attribute(attr_types.number, default=1.0)

    def reference(self, shape: Array) -> Array:
        from commonir.base.arrays import dtype_of  # noqa: PLC0415  loads numpy
        from commonir.dialects.core.random_numbers import normal  # noqa: PLC0415  loads numpy

        return normal(self.seed, tuple(shape.tolist()), self.mean, self.deviation, dtype_of(self.element.name))


random_uniform = function(RandomUniform)
random_normal = function(RandomNormal)
