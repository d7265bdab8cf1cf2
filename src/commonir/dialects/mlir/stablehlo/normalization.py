"""Normalization in the stablehlo dialect: numbers of each feature scaled to mean 0 and variance 1.

Source: StableHLO specification, batch_norm_grad, batch_norm_inference, batch_norm_training.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.stablehlo.base import (
    CompatibleElements,
    HloOp,
    NormInput,
    NormVector,
    axis,
    kind_of,
    like,
    non_negative,
    rank_of,
    stated_shape,
)
from commonir.ir.operation import Value
from commonir.ir.types import Type, f32
from commonir.ods import attribute, operand, result, traits
from commonir.ods.mlir_attr_types import typed_float
from commonir.ods.operand_shapes import known_dims_of
from commonir.ods.type_rules import are_compatible_shapes
from commonir.symbolic import element_count


class _Norm(HloOp, traits=(traits.Pure, CompatibleElements)):
    """Base class of normalizations. C1: the axis is one of the operand. C2: there is a number for each feature."""

    assembly = ""

    feature_index: int

    def verify(self) -> Iterator[Diagnostic]:
        shape = stated_shape(self.operands[0]) or ()
        if self.feature_index >= len(shape):
            yield self.violated(
                f"C1: expects feature_index to be smaller than the rank of operand type; got {len(shape)}"
            )
            return
        expected = like(self.operands[0].type, (shape[self.feature_index],))
        for v in self.operands[1:]:
            if rank_of(v) == 1 and not are_compatible_shapes(v.type, expected):
                yield self.violated(f"C2: expects the size of feature dimension to be that of {v.type}")

    def infer_results(self) -> tuple[Type, ...] | None:
        """Numbers like the operand, and two for each feature."""
        operand = self.operands[0]
        shape = stated_shape(operand)
        if shape is None or self.feature_index >= len(shape):
            return None
        each = like(operand.type, (shape[self.feature_index],))
        return (operand.type, each, each)

    def spread(self, values: Value, x: Value) -> Value:
        """Numbers of features along the axis of features."""
        sizes = known_dims_of(x)
        shape = [1] * len(sizes)
        return core.reshape(values, (*shape[: self.feature_index], -1, *shape[self.feature_index + 1 :]))

    def others(self, x: Value) -> tuple[int, ...]:
        """All axes but that of features."""
        return tuple([n for n in range(len(known_dims_of(x))) if n != self.feature_index])

    def statistics(self, x: Value) -> tuple[Value, Value]:
        """The mean and the variance of each feature."""
        mean = core.reduce_mean(x, self.others(x))
        apart = core.sub(x, self.spread(mean, x))
        return mean, core.reduce_mean(core.mul(apart, apart), self.others(x))

    def normalized(self, values: tuple[Value, Value, Value, Value, Value], epsilon: float) -> Value:
        """Numbers less their mean, divided by the deviation, times a scale, plus an offset."""
        x, scale, offset, mean, variance = values
        deviation = core.sqrt(core.add(variance, core.splat(epsilon, variance)))
        apart = core.div(core.sub(x, self.spread(mean, x)), self.spread(deviation, x))
        return core.add(core.mul(apart, self.spread(scale, x)), self.spread(offset, x))


class BatchNormInference(_Norm, name="stablehlo.batch_norm_inference"):
    """Batch normalization with given mean and variance. C1: the feature index is an axis of the operand. C2: the other
    operands have one element for each feature.
    """

    operand_: Value = operand(NormInput)
    scale: Value = operand(NormVector)
    offset: Value = operand(NormVector)
    mean: Value = operand(NormVector)
    variance: Value = operand(NormVector)
    epsilon: float = attribute(typed_float(f32))
    feature_index: int = attribute(axis, check=non_negative)
    result_: Value = result(NormInput)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.operand_.type,)

    def reference(self, operand: Value, scale: Value, offset: Value, mean: Value, variance: Value) -> Value:
        if self.feature_index == 1:
            return core.batch_norm(operand, mean, variance, scale, offset, self.epsilon)
        return self.normalized((operand, scale, offset, mean, variance), self.epsilon)


class BatchNormTraining(_Norm, name="stablehlo.batch_norm_training"):
    """Batch normalization with the mean and variance of the batch, which it also returns. C1: the feature index is an
    axis of the operand. C2: the other operands have one element for each feature.
    """

    operand_: Value = operand(NormInput)
    scale: Value = operand(NormVector)
    offset: Value = operand(NormVector)
    epsilon: float = attribute(typed_float(f32))
    feature_index: int = attribute(axis, check=non_negative)
    output: Value = result(NormInput)
    batch_mean: Value = result(NormVector)
    batch_var: Value = result(NormVector)

    def reference(self, operand: Value, scale: Value, offset: Value) -> tuple[Value, Value, Value]:
        mean, variance = self.statistics(operand)
        return self.normalized((operand, scale, offset, mean, variance), self.epsilon), mean, variance


class BatchNormGrad(_Norm, name="stablehlo.batch_norm_grad"):
    """Gradients of batch normalization with respect to its operand, scale and offset. C1: the feature index is an axis
    of the operand. C2: the other operands have one element for each feature.
    """

    operand_: Value = operand(NormInput)
    scale: Value = operand(NormVector)
    mean: Value = operand(NormVector)
    variance: Value = operand(NormVector)
    grad_output: Value = operand(NormInput)
    epsilon: float = attribute(typed_float(f32))
    feature_index: int = attribute(axis, check=non_negative)
    grad_operand: Value = result(NormInput)
    grad_scale: Value = result(NormVector)
    grad_offset: Value = result(NormVector)

    def verify(self) -> Iterator[Diagnostic]:
        yield from super().verify()
        if not are_compatible_shapes(self.operand_.type, self.grad_output.type):
            yield self.violated("C2: expects multi-dimensional operands to have compatible shapes")

    def reference(
        self, operand: Value, scale: Value, mean: Value, variance: Value, grad_output: Value
    ) -> tuple[Value, Value, Value]:
        sizes, others = known_dims_of(operand), self.others(operand)
        count = core.cast(core.dims((element_count([sizes[n] for n in others]),), scalar=True), kind_of(operand))
        apart = core.sub(operand, self.spread(mean, operand))
        wide = core.add(variance, core.splat(self.epsilon, variance))
        deviation = self.spread(core.sqrt(wide), operand)
        products = core.reduce_sum(core.mul(grad_output, apart), others)
        total = core.reduce_sum(grad_output, others)
        inner = core.sub(core.mul(grad_output, count), self.spread(total, operand))
        pulled = core.div(core.mul(apart, self.spread(products, operand)), self.spread(wide, operand))
        factor = core.div(core.div(self.spread(scale, operand), deviation), count)
        return core.mul(factor, core.sub(inner, pulled)), core.div(products, core.sqrt(wide)), total
