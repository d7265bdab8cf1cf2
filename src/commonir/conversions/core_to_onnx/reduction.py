"""Rules for core operations that combine the elements of axes, find the extreme ones, and order them."""

from __future__ import annotations

from collections.abc import Callable

from commonir.conversions.core_to_onnx.building import cast, constant, dimension, integers
from commonir.conversions.operands import axes_from_start, dims_of, element_of, rank_of
from commonir.dialects import core, onnx
from commonir.dialects.core.base import Function2
from commonir.ir.operation import Value
from commonir.ir.types import i32, i64
from commonir.ods import Op
from commonir.rewrite.legalize import Context, LegalizationRule, Mismatch, Result, rule

_REDUCTIONS = {
    core.ReduceMax: onnx.ReduceMax,
    core.ReduceMean: onnx.ReduceMean,
    core.ReduceMin: onnx.ReduceMin,
    core.ReduceProd: onnx.ReduceProd,
    core.ReduceSum: onnx.ReduceSum,
}


@rule(core.ReduceMean)
def global_average(op: core.ReduceMean, context: Context, x: Value) -> Result:
    """The mean over the spatial axes of images, for which runtimes have a better layout."""
    rank = rank_of(x)
    spatial = tuple(range(2, rank))
    if rank not in (4, 5) or axes_from_start(op.axes, rank) != spatial or not element_of(x).is_float:
        return Mismatch("the axes are not the spatial axes of images")
    mean = onnx.GlobalAveragePool(x).Y
    return mean if op.keep_dims else onnx.Squeeze(mean, integers(context, spatial)).squeezed


def _reduction(definition: Callable[..., Op]) -> Callable[..., Result]:
    def reduced(op: core.Reduce, context: Context, x: Value) -> Value:
        axes = integers(context, op.axes) if op.axes else None
        return definition(x, axes, keepdims=op.keep_dims).result

    return reduced


REDUCTIONS = tuple(LegalizationRule(source, _reduction(counterpart)) for source, counterpart in _REDUCTIONS.items())


def _in_wider_integers(op: core.Reduce, context: Context, x: Value) -> Result:
    """For integers under 32 bits that the direct counterpart does not take: bits that do not fit are dropped."""
    element = element_of(x)
    if not element.is_integer or element.bits >= i32.bits:
        return Mismatch(f"{op.name} has no direct counterpart for {element}")
    return cast(type(op)(cast(x, i32), op.axes, op.keep_dims).result, element)


IN_WIDER_INTEGERS = tuple(
    LegalizationRule(source, _in_wider_integers)
    for source in (core.ReduceMax, core.ReduceMin, core.ReduceProd, core.ReduceSum)
)


@rule(core.CumSum)
def cumsum(op: core.CumSum, context: Context, x: Value) -> Value:
    axis = integers(context, axes_from_start((op.axis,), rank_of(x)))
    return onnx.CumSum(x, axis, exclusive=op.exclusive, reverse=op.reverse).y


@rule(core.CumProd)
def cumprod(op: core.CumProd, context: Context, x: Value) -> Value:
    axis = constant(context, i64, (), (op.axis,))
    return onnx.CumProd(x, axis, exclusive=op.exclusive, reverse=op.reverse).y


def _by_doubling(combine: Function2, neutral: float) -> Callable[..., Result]:
    """Returns the rule for versions without the operator: what lies 1, 2, 4 ... places before is combined in turn."""

    def running(op: core.CumProd | core.CumSum, context: Context, x: Value) -> Result:
        shape = core.tensor_type(x).shape or ()
        axis = core.axis_of(op.axis, len(shape))
        length = shape[axis]
        if not isinstance(length, int):
            return Mismatch(f"{op.name} along an axis of size {length} needs an operator of a later version")
        y = core.reverse(x, (axis,)) if op.reverse else x
        if op.exclusive:
            y = _moved(y, axis, 1, neutral)
        step = 1
        while step < length:
            y = combine(y, _moved(y, axis, step, neutral))
            step *= 2
        return core.reverse(y, (axis,)) if op.reverse else y

    return running


def _moved(x: Value, axis: int, places: int, fill: float) -> Value:
    """The elements moved to the end of an axis; what comes in is `fill`."""
    shape = [n if n is not None else 0 for n in core.tensor_type(x).shape or ()]
    starts, stops = [0] * len(shape), [*shape]
    stops[axis] = shape[axis] - places
    remaining = core.slice(x, tuple(starts), tuple(stops), (1,) * len(shape))
    before = [places if n == axis else 0 for n in range(len(shape))]
    return core.pad(remaining, tuple(before), (0,) * len(shape), core.PadMode.CONSTANT, fill)


CUMULATIVE: tuple[LegalizationRule, ...] = (
    LegalizationRule(core.CumProd, _by_doubling(core.mul, 1.0)),
    LegalizationRule(core.CumSum, _by_doubling(core.add, 0.0)),
)


@rule(core.ArgMax)
def arg_max(op: core.ArgMax, context: Context, x: Value) -> Value:
    return cast(onnx.ArgMax(x, axis=op.axis, keepdims=op.keep_dims).reduced, op.element)


@rule(core.ArgMin)
def arg_min(op: core.ArgMin, context: Context, x: Value) -> Value:
    return cast(onnx.ArgMin(x, axis=op.axis, keepdims=op.keep_dims).reduced, op.element)


@rule(core.TopK)
def top_k(op: core.TopK, context: Context, x: Value) -> tuple[Value, ...]:
    return onnx.TopK(x, dimension(context, op.k), axis=op.axis, largest=op.largest).results


@rule(core.ArgSort)
def argsort(op: core.ArgSort, context: Context, x: Value) -> Result:
    dim = dims_of(x)[op.axis]
    return onnx.TopK(x, dimension(context, dim), axis=op.axis, largest=op.descending).Indices
