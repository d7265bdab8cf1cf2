"""Rules for reductions: ARK reduces one axis at a time. Neighbouring axes are one where memory allows it.

What takes several steps in half precision is computed in single precision and rounded once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from commonir.conversions.core_to_ark.building import BufferPlace
from commonir.conversions.core_to_ark.context import ArkContext, Built, rule, shape_of
from commonir.conversions.core_to_ark.places import MOST_AXES, BufferLayout, View, dense_steps, view_of
from commonir.conversions.operands import axes_from_start, element_of, refused, require_computable
from commonir.dialects import ark, core
from commonir.ir.data import computed_data
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, bf16, f16, f32
from commonir.rewrite.legalize import LegalizationRule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_REDUCTIONS: Mapping[type[core.Reduce], type[ark.ArkOp]] = {
    core.ReduceSum: ark.ReduceSum,
    core.ReduceMax: ark.ReduceMax,
    core.ReduceMean: ark.ReduceMean,
}


def _axes_of(op: core.Reduce) -> tuple[int, ...]:
    rank = len(shape_of(op.x))
    return axes_from_start(op.axes or range(rank), rank)


def _reduction(source: type[core.Reduce]) -> LegalizationRule:
    built = _REDUCTIONS[source]

    def build(op: core.Reduce, context: ArkContext, x: Value) -> Built:
        place, shape = context.place(x), shape_of(op.y)
        axes = [a for a in _axes_of(op) if place.dims[a] > 1]
        if not axes:
            return context.reshaped(place, shape)
        if place.element in (f16, bf16) and len(_runs(axes)) > 1:
            result = reduced(built, context.cast(place, f32), axes, context)
            return context.reshaped(context.cast(result, place.element), shape)
        return context.reshaped(reduced(built, place, axes, context), shape)

    return rule(source)(build)


REDUCTIONS = list(map(_reduction, _REDUCTIONS))


@rule(core.ReduceMin)
def reduce_min(op: core.ReduceMin, context: ArkContext, x: Value) -> Built:
    """The negative of the largest negative; of integers the one less, which all have."""
    place = context.place(x)
    axes = [a for a in _axes_of(op) if place.dims[a] > 1]
    result = context.turned(reduced(ark.ReduceMax, context.turned(place), axes, context)) if axes else place
    return context.reshaped(result, shape_of(op.y))


@rule(core.ReduceProd)
def reduce_prod(op: core.ReduceProd, context: ArkContext, x: Value) -> Built:
    """Halves are multiplied with each other until one element is left."""
    place, axes = context.place(x), _axes_of(op)
    element = place.element
    place = context.cast(place, f32) if element in (f16, bf16) else place
    for axis in axes:
        place = _product(place, axis, context)
    return context.reshaped(context.cast(place, element), shape_of(op.y))


def _product(x: BufferPlace, axis: int, context: ArkContext) -> BufferPlace:
    while (count := x.dims[axis]) > 1:
        half = count // 2
        parts = [BufferPlace(x.buffer, x.layout.part(axis, at, half)) for at in (0, half)]
        result = context.elementwise(ark.Mul, parts, parts[0].dims)
        if count % 2:
            first = BufferPlace(result.buffer, result.layout.part(axis, 0, 1))
            last = BufferPlace(x.buffer, x.layout.part(axis, count - 1, 1))
            head = context.elementwise(ark.Mul, [first, last], first.dims)
            if half == 1:
                return head
            joined = context.fresh(x.element, result.dims)
            context.copy_into(head, BufferPlace(joined.buffer, joined.layout.part(axis, 0, 1)))
            rest = BufferPlace(result.buffer, result.layout.part(axis, 1, half - 1))
            context.copy_into(rest, BufferPlace(joined.buffer, joined.layout.part(axis, 1, half - 1)))
            result = joined
        x = result
    return x


def _runs(axes: Sequence[int]) -> list[tuple[int, ...]]:
    """Axes, neighbours together."""
    runs: list[tuple[int, ...]] = []
    for a in axes:
        if runs and runs[-1][-1] == a - 1:
            runs[-1] = (*runs[-1], a)
        else:
            runs.append((a,))
    return runs


def reduced(definition: type[ark.ArkOp], x: BufferPlace, axes: Sequence[int], context: ArkContext) -> BufferPlace:
    """A reduction along some axes, each left with size 1."""
    if any(x.layout.steps[a] == 0 for a in axes):
        x = context.dense(x)
    remaining = tuple([1 if a in axes else n for a, n in enumerate(x.dims)])
    result = _natural(definition, x, axes, context) if len(axes) == 1 else None
    if result is None:
        result = _joined(definition, x, axes, context)
    if result is None:
        result = _joined(definition, context.dense(x), axes, context)
    if result is None:
        raise refused(f"ARK has at most {MOST_AXES} axes, and a tensor of {list(x.dims)} has more to be kept apart")
    return BufferPlace(result.buffer, BufferLayout(0, remaining, result.layout.steps))


def _natural(
    definition: type[ark.ArkOp], x: BufferPlace, axes: Sequence[int], context: ArkContext
) -> BufferPlace | None:
    """One axis of a tensor as it is."""
    compact = x.layout.compact()
    view = view_of(compact, x.buffer.count)
    if view is None:
        return None
    (axis,) = axes
    shape = tuple([1 if a == axis else n for a, n in enumerate(compact.dims)])
    built = _reduce(definition, x, view, axis, shape, context)
    steps = [0 if n == 1 else s for n, s in zip(shape, dense_steps(shape), strict=True)]
    return BufferPlace(built.buffer, BufferLayout(0, shape, tuple(steps)))


def _reduce(
    definition: type[ark.ArkOp], x: BufferPlace, view: View, axis: int, shape: tuple[int, ...], context: ArkContext
) -> BufferPlace:
    result = context.fresh(x.element, shape)
    output = context.builder.write(result.buffer, View(shape, shape, (0,) * len(shape)))
    context.builder.op(definition, {"input": context.builder.read(x.buffer, view)}, output, Axis=axis, KeepDim=True)
    return result


def _joined(
    definition: type[ark.ArkOp], x: BufferPlace, axes: Sequence[int], context: ArkContext
) -> BufferPlace | None:
    """Axes joined as far as memory allows, and reduced from the last one on."""
    compact = x.layout.compact()
    groups: list[tuple[int, int, bool]] = []
    for a, (n, step) in enumerate(zip(compact.dims, compact.steps, strict=True)):
        is_reduced = a in axes
        if n == 1:
            continue
        if groups and groups[-1][2] is is_reduced and groups[-1][1] == n * step:
            groups[-1] = (groups[-1][0] * n, step, is_reduced)
        else:
            groups.append((n, step, is_reduced))
    dims = tuple([n for n, _, _ in groups])
    for tail in (False, True):
        end, zero = ((1,), (0,)) if tail else ((), ())
        layout = BufferLayout(compact.start, (*dims, *end), (*[s for _, s, _ in groups], *zero))
        view = view_of(layout, x.buffer.count)
        if view is None:
            continue
        for axis in reversed([k for k, group in enumerate(groups) if group[2]]):
            shape = tuple([1 if k == axis else n for k, n in enumerate(view.shape)])
            x = _reduce(definition, x, view, axis, shape, context)
            view = View(shape, shape, (0,) * len(shape))
        left = [n for a, n in enumerate(compact.dims) if a not in axes]
        steps = iter(dense_steps(left))
        laid = [0 if a in axes else next(steps) for a in range(len(compact.dims))]
        laid = [0 if n == 1 else s for n, s in zip(compact.dims, laid, strict=True)]
        return BufferPlace(x.buffer, BufferLayout(0, compact.dims, tuple(laid)))
    return None


@rule(core.CumSum)
def cumsum(op: core.CumSum, context: ArkContext, x: Value) -> Built:
    """A product with a matrix of ones on one side of the diagonal; integers are those of single precision."""
    shape = shape_of(x)
    axis = op.axis % len(shape)
    count = shape[axis]
    require_computable(count * count)

    def ones() -> NDArray[np.generic]:
        import numpy as np  # noqa: PLC0415  only where contents are asked for

        after = np.tri(count, k=-1 if op.exclusive else 0, dtype=np.float32)
        return after if op.reverse else after.T

    matrix = core.constant(computed_data(TensorType(f32, (count, count)), ones))
    order = (*[a for a in range(len(shape)) if a != axis], axis)
    back = tuple([order.index(a) for a in range(len(shape))])
    single = core.cast(x, f32)
    built = core.transpose(core.matmul(core.transpose(single, order), matrix), back)
    return core.cast(built, element_of(x))
