"""Rules for nested programs, for what ends them, and for what cannot be said otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.conversions.core_to_stablehlo.building import held, scalar
from commonir.conversions.core_to_stablehlo.kernels import kernel_value
from commonir.conversions.operands import named_operands, sizes_of
from commonir.dialects import core
from commonir.dialects import stablehlo as hlo
from commonir.dialects.core.base import tensor_type
from commonir.dialects.stablehlo.base import RngDistribution
from commonir.ir.operation import Operation, Region, Value
from commonir.ir.types import i64
from commonir.ods import Form, infer
from commonir.rewrite.legalize import Context, Mismatch, Result, rule


@rule(core.Yield)
def yielded(op: core.Yield, context: Context, values: tuple[Value, ...]) -> Operation:
    return hlo.Return(values)


@rule(core.If)
def if_(op: core.If, context: Context, condition: Value) -> Result:
    then, orelse = context.regions
    arguments = {"pred": condition, "true_branch": then, "false_branch": orelse}
    return hlo.If.build(arguments, [y.type for y in op.ys]).results


@rule(core.While)
def while_(op: core.While, context: Context, initial: tuple[Value, ...]) -> Result:
    condition, body = context.regions
    if len(op.ys) != len(initial):
        return Mismatch("a loop whose number of rounds is data cannot stack values of its rounds")
    arguments = {"operand": initial, "cond": condition, "body": body}
    return hlo.While.build(arguments, [y.type for y in op.ys]).results


@rule(core.Scan)
def scan(op: core.Scan, context: Context, initial: tuple[Value, ...], sequences: tuple[Value, ...]) -> Result:
    """A loop with a counter: slices are read at it, and values put into stacks."""
    (body,) = context.regions
    count = len(initial)
    length = (tensor_type(op.sequences[0]).shape or (None,))[0]
    if length is None:
        return Mismatch("the number of rounds is not known")
    stacks = [core.broadcast_to(core.splat(_nothing(y), y), sizes_of(y)) for y in op.ys[count:]]
    start = core.scalar(0, i64)
    states = [*[v.type for v in initial], *[s.type for s in stacks]]
    limit = core.dims((length,), i64, True)

    def condition(*given: Value) -> list[Value]:
        return [core.less(given[0], limit)]

    def step(*given: Value) -> list[Value]:
        at, values, piles = given[0], given[1 : 1 + count], given[1 + count :]
        place = core.sub(core.sub(limit, core.scalar(1, i64)), at) if op.reverse else at
        slices = [core.gather(s, place, 0) for s in sequences]
        found = _inlined(body, (*values, *slices))
        row = core.reshape(place, (1, 1))
        grown = [core.scatter_nd(p, row, core.unsqueeze(v, (0,))) for p, v in zip(piles, found[count:], strict=True)]
        return [core.add(at, core.scalar(1, i64)), *found[:count], *grown]

    types = [start.type, *states]
    made = core.while_((start, *initial, *stacks), core.nested(types, condition), core.nested(types, step))
    return tuple(made[1:])


def _inlined(region: Region, values: Sequence[Value]) -> tuple[Value, ...]:
    """What a nested program returns for some values: its operations, in no block then, work on them."""
    block = region.block
    last = block.last
    assert isinstance(last, hlo.Return)
    for argument, value in zip(block.arguments, values, strict=True):
        argument.replace_all_uses_with(value)
    found = last.operands
    last.erase()
    for op in list(block.operations):
        op.detach()
    return found


def _nothing(y: Value) -> float | bool:
    kind = tensor_type(y).element
    return False if kind.kind == "bool" else 0.0 if kind.is_float else 0


@rule(core.Decoded)
def decoded(op: core.Decoded, context: Context, *operands: Value | None) -> Result:
    """Constants are written decoded."""
    data = op.constant_data()
    return Mismatch("what is compressed is not constant") if data is None else held(context, data)


@rule(core.RandomUniform)
def random_uniform(op: core.RandomUniform, context: Context, shape: Value) -> Result:
    """Numbers of another generator, distributed alike."""
    if op.seed != core.ANY_SEED:
        return Mismatch("numbers that follow from a seed")
    low, high = [scalar(context, v, op.element) for v in (op.low, op.high)]
    arguments = {"a": low, "b": high, "shape": shape, "rng_distribution": RngDistribution.UNIFORM}
    return hlo.Rng.build(arguments, [op.y.type]).results[0]


@rule(core.RandomNormal)
def random_normal(op: core.RandomNormal, context: Context, shape: Value) -> Result:
    """Numbers of another generator, distributed alike."""
    if op.seed != core.ANY_SEED:
        return Mismatch("numbers that follow from a seed")
    mean, deviation = [scalar(context, v, op.element) for v in (op.mean, op.deviation)]
    arguments = {"a": mean, "b": deviation, "shape": shape, "rng_distribution": RngDistribution.NORMAL}
    return hlo.Rng.build(arguments, [op.y.type]).results[0]


ELEMENTARY = (
    core.Unary,
    core.Binary,
    core.Comparison,
    core.Predicate,
    core.Movement,
    core.Reduce,
    core.Select,
    core.Cast,
    core.Concat,
    core.GatherNd,
    core.Iota,
)
"""What kernels become: of these a kernel says no more."""


@rule(core.CoreOp)
def kernel(op: core.CoreOp, context: Context, *operands: Value | tuple[Value, ...] | None) -> Result:
    """A kernel, whatever operation it is of."""
    if op.form is not Form.KERNEL or isinstance(op, ELEMENTARY):
        return Mismatch(f"{op.name} is not stated in index notation")
    given = named_operands(op, operands)
    derived = infer(op)
    if not derived.kernels:
        return Mismatch(f"{op.name} on operands of which the ranks are not known")
    kernels = zip(derived.kernels, derived.extents, strict=True)
    return tuple([kernel_value(k, extents, given) for k, extents in kernels])
