"""The lowering of structured operations to the core: indexing maps, iterator types, and a scalar program.

The scalar program is applied to the whole iteration space at once. Of reductions, those that combine what is there with
something else by a sum, a product, a maximum, a minimum or a conjunction become reductions of the core, and sums of
products become contractions. What else is reduced is computed step by step along the reduced dimensions, all others at
once; what not even that can express, point by point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.dialects.lazy_core import core, lifting
from commonir.dialects.mlir.linalg.access import along, ordered, plain_dim, position, read
from commonir.dialects.mlir.linalg.contraction import contraction
from commonir.dialects.mlir.linalg.structured import Structured
from commonir.ir.affine import AffineMap
from commonir.ir.operation import Value
from commonir.ir.types import i32, i64
from commonir.symbolic import Dim, element_count

Combine = Callable[[Value, Value], Value]


def meaning(op: Structured) -> tuple[Value, ...]:
    """The values that replace what is there before."""
    sizes = op.sizes()
    try:
        if not any(op.is_reduced) and _writes_once(op):
            return _everywhere(op, sizes)
        if any(op.is_reduced) and _writes_once(op):
            return _reduced(op, sizes)
    except lifting.NotLiftable:
        pass
    return _point_by_point(op, sizes)


def _kept(op: Structured) -> list[int]:
    return [d for d in range(op.rank) if not op.is_reduced[d]]


def _writes_once(op: Structured) -> bool:
    """Returns whether each point of the dimensions that are not reduced has an element of each output to itself."""
    kept = _kept(op)
    for n in range(len(op.outputs)):
        if sorted([-1 if (d := plain_dim(e)) is None else d for e in op.output_map(n).results]) != kept:
            return False
    return True


def _arguments(op: Structured, axes: Sequence[int], sizes: Mapping[int, Dim]) -> dict[Value, Value]:
    """The arguments of the scalar program that it uses, read at all points of some dimensions."""
    return {
        a: read(v, m, axes, sizes)
        for a, v, m in zip(op.body.arguments, op.operands, op.maps, strict=True)
        if a.is_used or a in lifting.yielded(op.body)
    }


def _written(op: Structured, number: int, value: Value, axes: Sequence[int], sizes: Mapping[int, Dim]) -> Value:
    """A value at all points of some dimensions in the order of the axes of an output."""
    whole = core.broadcast_to(value, tuple([sizes[d] for d in axes]))
    result = [plain_dim(e) for e in op.output_map(number).results]
    return ordered(whole, list(axes), [d for d in result if d is not None])


def _everywhere(op: Structured, sizes: Mapping[int, Dim]) -> tuple[Value, ...]:
    axes = list(range(op.rank))
    lifter = lifting.Lifting([sizes[d] for d in axes], lambda d: along(sizes[d], d, op.rank))
    result = lifter.values(op.body, _arguments(op, axes, sizes))
    return tuple([_written(op, n, v, axes, sizes) for n, v in enumerate(result)])


# -- reductions


class Reduction(NamedTuple):
    """The combination of the initial value with a term that does not depend on it."""

    combine: Combine
    reduce: Callable[[Value, tuple[int, ...]], Value]
    value: Value
    is_sum: bool = False


def _all(x: Value, axes: tuple[int, ...]) -> Value:
    return core.cast(core.reduce_min(core.cast(x, i32), axes), core.tensor_type(x).element)


def _some(x: Value, axes: tuple[int, ...]) -> Value:
    return core.cast(core.reduce_max(core.cast(x, i32), axes), core.tensor_type(x).element)


def reduction_of(op: Structured, number: int) -> Reduction | None:
    """The reduction that a result is; None when it is none that is known."""
    before, after = op.body.arguments[len(op.inputs) + number], lifting.yielded(op.body)[number]
    if before.use_count != 1 or before in lifting.yielded(op.body):
        return None
    owner = after.owner
    if after.use_count != 1:
        return None
    match owner:
        case core.Sub(a=a, b=b) if a is before:
            return Reduction(core.sub, core.reduce_sum, b, is_sum=True)
        case core.Add(a=a, b=b) | core.Mul(a=a, b=b) | core.Maximum(a=a, b=b) | core.Minimum(a=a, b=b):
            pass
        case core.LogicalAnd(a=a, b=b) | core.LogicalOr(a=a, b=b):
            pass
        case _:
            return None
    if before not in (a, b):
        return None
    other = b if a is before else a
    match owner:
        case core.Add():
            return Reduction(core.add, core.reduce_sum, other, is_sum=True)
        case core.Mul():
            return Reduction(core.mul, core.reduce_prod, other)
        case core.Maximum():
            return Reduction(core.maximum, core.reduce_max, other)
        case core.Minimum():
            return Reduction(core.minimum, core.reduce_min, other)
        case core.LogicalAnd():
            return Reduction(core.logical_and, _all, other)
        case _:
            return Reduction(core.logical_or, _some, other)


def _reduced(op: Structured, sizes: Mapping[int, Dim]) -> tuple[Value, ...]:
    known = [r for n in range(len(op.outputs)) if (r := reduction_of(op, n)) is not None]
    if len(known) != len(op.outputs):
        return _step_by_step(op, sizes)
    axes, kept = list(range(op.rank)), _kept(op)
    over = tuple([d for d in axes if op.is_reduced[d]])
    if len(known) == 1 and known[0].is_sum:
        summed = contraction(op, known[0].value, kept, sizes)
        if summed is not None:
            return (known[0].combine(op.outputs[0], _written(op, 0, summed, kept, sizes)),)
    lifter = lifting.Lifting([sizes[d] for d in axes], lambda d: along(sizes[d], d, op.rank))
    lifter.lifted.update(_arguments(op, axes, sizes))
    lifter.values(op.body, {})
    out: list[Value] = []
    for n, r in enumerate(known):
        whole = core.broadcast_to(lifter.value(r.value), tuple([sizes[d] for d in axes]))
        folded = _written(op, n, r.reduce(whole, over), kept, sizes)
        out.append(r.combine(op.outputs[n], folded))
    return tuple(out)


def _step_by_step(op: Structured, sizes: Mapping[int, Dim]) -> tuple[Value, ...]:
    """A loop along the reduced dimensions in row-major order, the others at once."""
    kept, over = _kept(op), [d for d in range(op.rank) if op.is_reduced[d]]
    axes = [*over, *kept]
    arguments = _arguments(op, axes, sizes)
    shape = tuple([sizes[d] for d in kept])
    count = element_count([sizes[d] for d in over])
    before = op.body.arguments[len(op.inputs) :]
    initial = [_state(op, n, kept, sizes) for n in range(len(op.outputs))]
    varying = {a: v for a, v in arguments.items() if a not in before}
    # Each step reads one slice of what varies, and where it is.
    sequences = [_flattened(v, len(over), [sizes[d] for d in over], count) for v in varying.values()]
    sequences.append(core.iota((count,)))

    def step(*given: Value) -> Sequence[Value]:
        states, slices, at = given[: len(before)], given[len(before) : -1], given[-1]
        places = _unravelled(at, [sizes[d] for d in over])

        def index(d: int) -> Value:
            if d in over:
                return core.reshape(places[over.index(d)], (1,) * len(kept))
            return along(sizes[d], kept.index(d), len(kept))

        lifter = lifting.Lifting(shape, index)
        result = lifter.values(
            op.body, {**dict(zip(varying, slices, strict=True)), **dict(zip(before, states, strict=True))}
        )
        return [core.broadcast_to(v, shape) for v in result]

    types = [v.type for v in initial]
    slice_types = [core.tensor_type(s).with_shape((core.tensor_type(s).shape or ())[1:]) for s in sequences]
    body = core.nested([*types, *slice_types], step)
    last = core.scan(tuple(initial), tuple(sequences), body)
    return tuple([_written(op, n, v, kept, sizes) for n, v in enumerate(last)])


def _state(op: Structured, number: int, kept: Sequence[int], sizes: Mapping[int, Dim]) -> Value:
    before = read(op.outputs[number], op.output_map(number), kept, sizes)
    return core.broadcast_to(before, tuple([sizes[d] for d in kept]))


def _flattened(value: Value, leading: int, sizes: Sequence[Dim], count: Dim) -> Value:
    """A value with its leading axes made one, of full size."""
    shape = core.tensor_type(value).shape or ()
    rest = tuple([d for d in shape[leading:] if d is not None])
    return core.reshape(core.broadcast_to(value, (*sizes, *rest)), (count, *rest))


def _unravelled(at: Value, sizes: Sequence[Dim]) -> list[Value]:
    """The places along some dimensions of a place in their row-major order."""
    out: list[Value] = []
    for n in reversed(sizes):
        size = core.dims((n,), i64, True)
        out.append(core.mod(at, size))
        at = core.floor_div(at, size)
    return out[::-1]


# -- anything


def _point_by_point(op: Structured, sizes: Mapping[int, Dim]) -> tuple[Value, ...]:
    """A loop over the whole iteration space that reads and writes single elements."""
    shape = [sizes[d] for d in range(op.rank)]
    if not shape:
        return _at_one_point(op, lambda _: core.scalar(0, i64), op.outputs)
    count = element_count(shape)

    def step(*given: Value) -> Sequence[Value]:
        places = _unravelled(given[-1], shape)
        return _at_one_point(op, lambda d: places[d], given[:-1])

    body = core.nested([*(v.type for v in op.outputs), core.tensor_type(core.scalar(0, i64))], step)
    return core.scan(op.outputs, (core.iota((count,)),), body)


def _at_one_point(op: Structured, index: Callable[[int], Value], states: Sequence[Value]) -> tuple[Value, ...]:
    current = (*op.inputs, *states)
    rows = [_row(m, index) for m in op.maps]
    arguments = {a: core.gather_nd(v, row) for a, v, row in zip(op.body.arguments, current, rows, strict=True)}
    result = lifting.replayed(op.body, arguments, index)
    first = len(op.inputs)
    return tuple(
        [
            core.scatter_nd(s, core.unsqueeze(row, (0,)), core.unsqueeze(v, (0,)))
            for s, row, v in zip(states, rows[first:], result, strict=True)
        ]
    )


def _row(map: AffineMap, index: Callable[[int], Value]) -> Value:
    if not map.results:
        return core.vector((), i64)
    return core.concat(tuple([core.unsqueeze(position(e, index), (0,)) for e in map.results]), 0)
