"""Rules for nested programs, for what ends them, and for what cannot be said otherwise."""

from __future__ import annotations

from commonir.conversions.core_to_core.counted_rounds import counted
from commonir.conversions.core_to_core.whole_tensors import of_kernels
from commonir.conversions.core_to_stablehlo.building import scalar
from commonir.dialects import core
from commonir.dialects.mlir import stablehlo as hlo
from commonir.dialects.mlir.stablehlo.base import RngDistribution
from commonir.ir.operation import Operation, Value
from commonir.ir.types import i64
from commonir.rewrite.legalize import Context, Mismatch, Result, rule


@rule(core.Yield)
def yielded(op: core.Yield, context: Context, values: tuple[Value, ...]) -> Operation:
    return hlo.Return(values)


@rule(core.If)
def if_(op: core.If, context: Context, condition: Value) -> Result:
    then, orelse = context.regions
    arguments = {"pred": condition, "true_branch": then, "false_branch": orelse}
    return hlo.If.build(arguments, [y.type for y in op.ys])


@rule(core.While)
def while_(op: core.While, context: Context, initial: tuple[Value, ...]) -> Result:
    condition, body = context.regions
    if len(op.ys) != len(initial):
        return Mismatch("a loop whose number of rounds is data cannot stack values of its rounds")
    arguments = {"operand": initial, "cond": condition, "body": body}
    return hlo.While.build(arguments, [y.type for y in op.ys]).results


@rule(core.Scan)
def scan(op: core.Scan, context: Context, initial: tuple[Value, ...], sequences: tuple[Value, ...]) -> Result:
    return counted(op, context.regions[0], initial, sequences, i64)


@rule(core.RandomUniform)
def random_uniform(op: core.RandomUniform, context: Context, shape: Value) -> Result:
    return _drawn(op, context, shape, (op.low, op.high), RngDistribution.UNIFORM)


@rule(core.RandomNormal)
def random_normal(op: core.RandomNormal, context: Context, shape: Value) -> Result:
    return _drawn(op, context, shape, (op.mean, op.deviation), RngDistribution.NORMAL)


def _drawn(
    op: core.RandomTensor,
    context: Context,
    shape: Value,
    parameters: tuple[float, float],
    distribution: RngDistribution,
) -> Result:
    """Numbers of another generator, with the same distribution."""
    if op.seed != core.ANY_SEED:
        return Mismatch("numbers that follow from a seed")
    a, b = [scalar(context, v, op.element) for v in parameters]
    return hlo.Rng.build({"a": a, "b": b, "shape": shape, "rng_distribution": distribution}, [op.y.type]).results[0]


@rule(core.CoreOp)
def kernel(op: core.CoreOp, context: Context, *operands: Value | tuple[Value, ...] | None) -> Result:
    """A kernel, whatever operation it is of."""
    return of_kernels(op, operands, i64)
