"""Rules for products of matrices: of the last two axes, at most two others, which are broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from commonir.base.tuples import NamedTuple
from commonir.conversions.core_to_ark.building import BufferPlace
from commonir.conversions.core_to_ark.context import ArkContext, Built, rule, shape_of
from commonir.conversions.core_to_ark.places import MOST_AXES, BufferLayout, View, dense_steps, view_of
from commonir.conversions.operands import refused
from commonir.dialects import ark, core
from commonir.ir.operation import Value


@rule(core.MatMul)
def matmul(op: core.MatMul, context: ArkContext, a: Value, b: Value) -> Built:
    left = _matrix(context.place(a), is_row=True, is_turned=op.transpose_a)
    right = _matrix(context.place(b), is_row=False, is_turned=op.transpose_b)
    result = product(left, right, context)
    return context.reshaped(result, shape_of(op.y))


def _matrix(x: BufferPlace, *, is_row: bool, is_turned: bool) -> BufferPlace:
    """A factor with two axes at least, not transposed."""
    layout = x.layout
    if len(layout.dims) == 1:
        (n,), (step,) = layout.dims, layout.steps
        return BufferPlace(
            x.buffer, BufferLayout(layout.start, (1, n) if is_row else (n, 1), (0, step) if is_row else (step, 0))
        )
    rank = len(layout.dims)
    order = (*range(rank - 2), rank - 1, rank - 2) if is_turned else tuple(range(rank))
    return BufferPlace(x.buffer, layout.permuted(order))


class _Factor(NamedTuple):
    view: View
    is_turned: bool


class _Stack(NamedTuple):
    """The axes of which each position has matrices of its own: sizes, and for both factors sizes and steps."""

    dims: tuple[int, ...]
    axes: tuple[tuple[tuple[int, int], tuple[int, int]], ...]


def product(left: BufferPlace, right: BufferPlace, context: ArkContext) -> BufferPlace:
    """The product of stacks of matrices."""
    result = _product(left, right, context)
    for first, second in ((True, False), (False, True), (True, True)):
        if result is None:
            sides = [_dense_matrices(p, context) if dense else p for p, dense in ((left, first), (right, second))]
            result = _product(sides[0], sides[1], context)
    if result is None:
        rank = max(len(left.dims), len(right.dims)) - 2
        stack = tuple([max(n, m) for n, m in zip(_sizes(left, rank), _sizes(right, rank), strict=True)])
        built = _product(_whole(left, stack, context), _whole(right, stack, context), context)
        result = None if built is None else context.reshaped(built, (*stack, *built.dims[-2:]))
    if result is not None:
        return result
    shapes = f"{list(left.dims)} and {list(right.dims)}"
    raise refused(f"ARK multiplies stacks along at most {MOST_AXES - 2} axes, and {shapes} have more")


def _dense_matrices(x: BufferPlace, context: ArkContext) -> BufferPlace:
    """Each matrix in a row, those that are repeated written once."""
    layout = x.layout
    rank = len(layout.dims)
    stack = layout.compact().dims[: rank - 2]
    once = BufferLayout(layout.start, (*stack, *layout.dims[-2:]), layout.steps)
    result = context.dense(BufferPlace(x.buffer, once))
    return BufferPlace(result.buffer, result.layout.spread(x.dims))


def _whole(x: BufferPlace, stack: tuple[int, ...], context: ArkContext) -> BufferPlace:
    """All matrices, for each position of the stack, in one row."""
    result = context.dense(BufferPlace(x.buffer, x.layout.spread((*stack, *x.dims[-2:]))))
    return context.reshaped(result, (prod(stack), *x.dims[-2:]))


def _product(left: BufferPlace, right: BufferPlace, context: ArkContext) -> BufferPlace | None:
    m, n = left.dims[-2], right.dims[-1]
    rank = max(len(left.dims), len(right.dims)) - 2
    stack = _stack(left, right, rank)
    for form in (stack, _joined(stack)):
        if len(form.dims) > MOST_AXES - 2:
            continue
        factors = [_factor(p, [axis[which] for axis in form.axes]) for which, p in enumerate((left, right))]
        first, second = factors
        if first is None or second is None:
            continue
        ranks = [len(f.view.shape) for f in (first, second)]
        shape = (*form.dims, m, n)[-max(ranks) :]
        built = context.fresh(left.element, shape)
        output = context.builder.write(built.buffer, View(shape, shape, (0,) * len(shape)))
        reads = {
            "input": context.builder.read(left.buffer, first.view),
            "other": context.builder.read(right.buffer, second.view),
        }
        context.builder.op(ark.Matmul, reads, output, TransposeInput=first.is_turned, TransposeOther=second.is_turned)
        steps = dense_steps((*stack.dims, m, n))
        expected = [max(p, q) for p, q in zip(_sizes(left, rank), _sizes(right, rank), strict=True)]
        laid = [0 if got < dim else s for got, dim, s in zip(stack.dims, expected, steps[:rank], strict=True)]
        return BufferPlace(built.buffer, BufferLayout(0, (*expected, m, n), (*laid, *steps[rank:])))
    return None


def _sizes(x: BufferPlace, rank: int) -> tuple[int, ...]:
    return (1,) * (rank - len(x.dims) + 2) + x.dims[:-2]


def _stack(left: BufferPlace, right: BufferPlace, rank: int) -> _Stack:
    """The axes of both, where those along which both repeat have size 1."""
    stored: list[list[tuple[int, int]]] = []
    for p in (left, right):
        compact = p.layout.compact()
        own = list(zip(compact.dims[:-2], compact.steps[:-2], strict=True))
        stored.append([(1, 0)] * (rank - len(own)) + own)
    pairs = tuple(zip(*stored, strict=True))
    return _Stack(tuple([max(a[0], b[0]) for a, b in pairs]), pairs)


def _joined(stack: _Stack) -> _Stack:
    dims: list[int] = []
    stored: list[tuple[tuple[int, int], tuple[int, int]]] = []
    for dim, pair in zip(stack.dims, stack.axes, strict=True):
        if dim == 1:
            continue
        if stored:
            merged = [_merge(outer, inner) for outer, inner in zip(stored[-1], pair, strict=True)]
            first, second = merged
            if first is not None and second is not None:
                dims[-1] *= dim
                stored[-1] = (first, second)
                continue
        dims.append(dim)
        stored.append(pair)
    return _Stack(tuple(dims), tuple(stored))


def _merge(outer: tuple[int, int], inner: tuple[int, int]) -> tuple[int, int] | None:
    if outer[0] == 1 and inner[0] == 1:
        return (1, 0)
    if outer[0] > 1 and inner[0] > 1 and outer[1] == inner[0] * inner[1]:
        return (outer[0] * inner[0], inner[1])
    return None


def _factor(x: BufferPlace, stack: Sequence[tuple[int, int]]) -> _Factor | None:
    """A factor as ARK states it, as it is or transposed."""
    layout = x.layout
    while stack and stack[0][0] == 1:
        stack = stack[1:]
    for is_turned in (False, True):
        last = (-1, -2) if is_turned else (-2, -1)
        if any(layout.steps[a] == 0 and layout.dims[a] > 1 for a in last):
            return None
        dims = (*[n for n, _ in stack], *[layout.dims[a] for a in last])
        steps = (*[s for _, s in stack], *[layout.steps[a] for a in last])
        view = view_of(BufferLayout(layout.start, dims, steps), x.buffer.count)
        if view is not None:
            return _Factor(view, is_turned)
    return None


@rule(core.Linear)
def linear(op: core.Linear, context: ArkContext, x: Value, weight: Value, bias: Value | None) -> Built:
    is_matrix = len(shape_of(x)) > 1
    y = core.matmul(x, weight, False, True) if is_matrix else core.matmul(x, core.transpose(weight, (1, 0)))
    return y if bias is None else core.add(y, bias)
