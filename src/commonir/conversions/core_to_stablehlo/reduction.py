"""Rules for reductions along axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from commonir.conversions.core_to_stablehlo.building import (
    combining,
    compared,
    converted,
    iota,
    like,
    reshaped,
    scalar,
    zero,
)
from commonir.conversions.core_to_stablehlo.contraction import extreme_and_place, windows
from commonir.conversions.operands import dims_of, element_of, rank_of
from commonir.dialects import core
from commonir.dialects.core.base import accumulator, axis_of
from commonir.dialects.mlir import stablehlo as hlo
from commonir.dialects.mlir.stablehlo.base import ComparisonDirection
from commonir.ir.operation import Region, Value
from commonir.ir.types import ElementType, TensorType, i64
from commonir.notation import limits
from commonir.ods import Op
from commonir.rewrite.legalize import Context, LegalizationRule, Mismatch, Result, rule
from commonir.symbolic import element_count


def reduced(
    xs: tuple[Value, ...], starts: tuple[Value, ...], axes: tuple[int, ...], reducer: Region
) -> tuple[Value, ...]:
    """Tensors combined along axes."""
    remaining = tuple([d for n, d in enumerate(dims_of(xs[0])) if n not in axes])
    arguments = {"inputs": xs, "init_values": starts, "dimensions": axes, "body": reducer}
    return hlo.Reduce.build(arguments, [TensorType(element_of(x), remaining) for x in xs]).results


def _axes(op: core.Reduce) -> tuple[int, ...]:
    rank = rank_of(op.x)
    return tuple(sorted({axis_of(a, rank) for a in op.axes})) or tuple(range(rank))


def _start(context: Context, name: str, element: ElementType) -> Value:
    match name:
        case "max":
            return scalar(context, limits(element)[0], element)
        case "min":
            return scalar(context, limits(element)[1], element)
        case "prod":
            return scalar(context, 1.0 if element.is_float else 1, element)
        case _:
            return zero(context, element)


_KINDS: Mapping[type[core.Reduce], tuple[str, Callable[[Value, Value], Op]]] = {
    core.ReduceSum: ("sum", hlo.Add),
    core.ReduceProd: ("prod", hlo.Mul),
    core.ReduceMax: ("max", hlo.Max),
    core.ReduceMin: ("min", hlo.Min),
}


def _reduction(name: str, definition: Callable[[Value, Value], Op]) -> Callable[..., Result]:
    def along(op: core.Reduce, context: Context, x: Value) -> Value:
        wide = accumulator(element_of(x)) if name in ("sum", "prod") else element_of(x)
        start = _start(context, name, wide)
        (result,) = reduced((converted(x, wide),), (start,), _axes(op), combining(wide, definition))
        return reshaped(context, converted(result, element_of(op.y)), dims_of(op.y))

    return along


REDUCTIONS = tuple(LegalizationRule(source, _reduction(*kind)) for source, kind in _KINDS.items())


@rule(core.ReduceMean)
def reduce_mean(op: core.ReduceMean, context: Context, x: Value) -> Result:
    element_type = element_of(x)
    if not element_type.is_float:
        return Mismatch("the mean of integers is rounded in another way")
    wide = accumulator(element_type)
    total = core.reduce_sum(core.cast(x, wide) if wide is not element_type else x, op.axes, op.keep_dims)
    count = element_count([dims_of(x)[a] for a in _axes(op)])
    if isinstance(count, int):
        mean = core.div(total, core.splat(float(count), total))
    else:
        mean = core.div(total, core.cast(core.dims((count,), i64, True), wide))
    return core.cast(mean, element_type) if wide is not element_type else mean


def _place(direction: ComparisonDirection, name: str) -> Callable[..., Result]:
    def along(op: core.ArgReduce, context: Context, x: Value) -> Result:
        axis, element_type = axis_of(op.axis, rank_of(x)), element_of(x)
        start = _start(context, name, element_type), scalar(context, (1 << 62), i64)
        places = iota(context, dims_of(x), axis)

        def reduce(xs: Sequence[Value], starts: Sequence[Value], reducer: Region) -> tuple[Value, ...]:
            return reduced(tuple(xs), tuple(starts), (axis,), reducer)

        if element_type.is_float:
            x = _without_nan(context, x, places, name)
        result = extreme_and_place((x, places), reduce, start, direction)[1]
        return converted(reshaped(context, result, dims_of(op.y)), element_of(op.y))

    return along


def _without_nan(context: Context, x: Value, places: Value, name: str) -> Value:
    """A tensor with the other extreme in the place of NaN, which is extreme only if it is first."""
    least, largest = limits(element_of(x))
    other, extreme = (least, largest) if name == "max" else (largest, least)
    is_first = compared(places, like(context, 0, places), ComparisonDirection.EQ)
    of_nan = hlo.Select(is_first, like(context, extreme, x), like(context, other, x)).result_
    return hlo.Select(compared(x, x, ComparisonDirection.NE), of_nan, x).result_


PLACES = (
    LegalizationRule(core.ArgMax, _place(ComparisonDirection.GT, "max")),
    LegalizationRule(core.ArgMin, _place(ComparisonDirection.LT, "min")),
)


def _cumulative(name: str, definition: Callable[[Value, Value], Op]) -> Callable[..., Result]:
    def along(op: core.Cumulative, context: Context, x: Value) -> Result:
        shape, element_type = dims_of(x), element_of(x)
        axis, wide = axis_of(op.axis, len(shape)), accumulator(element_of(x))
        dim = shape[axis]
        if not isinstance(dim, int):
            return Mismatch("an axis whose size is an expression")
        if dim == 0:
            return x
        # The last window, or the first, reaches over all elements.
        before = (dim, -1) if op.exclusive else (dim - 1, 0)
        pads = [(0, 0)] * len(shape)
        pads[axis] = (before[1], before[0]) if op.reverse else before
        ones = (1,) * len(shape)
        window = tuple([dim if n == axis else 1 for n in range(len(shape))])
        (result,) = windows(
            context,
            [converted(x, wide)],
            [_start(context, name, wide)],
            (window, ones, ones, pads),
            shape,
            combining(wide, definition),
        )
        return converted(result, element_type)

    return along


CUMULATIVE = (
    LegalizationRule(core.CumSum, _cumulative("sum", hlo.Add)),
    LegalizationRule(core.CumProd, _cumulative("prod", hlo.Mul)),
)
