"""Programs that combine single numbers, applied to whole tensors of them: what reductions, scatters and sorts run.

They are given as regions that are lowered already. A program that combines two numbers is associative, as StableHLO
asks of reductions, so that partial results may be combined in any order that keeps the numbers in theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from commonir.base.tuples import NamedTuple
from commonir.dialects.lazy_core import core, lifting
from commonir.dialects.mlir.stablehlo.base import kind_of
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import boolean, i32, i64
from commonir.notation import NotationError
from commonir.ods.operand_shapes import known_dims_of
from commonir.symbolic import Dim

Values = tuple[Value, ...]


def applied(body: Region, arguments: Sequence[Value], shape: Sequence[Dim]) -> Values:
    """Returns the values that a scalar program yields for each element of tensors of a shape.

    Raises: NotationError for a program that cannot be applied to many at once.
    """

    def no_position(dim: int) -> Value:
        raise lifting.NotLiftable(f"position {dim}")

    lifter = lifting.Lifting(tuple(shape), no_position)
    try:
        result = lifter.values(body.block, dict(zip(body.block.arguments, arguments, strict=True)))
    except lifting.NotLiftable as error:
        raise NotationError(f"a nested program has {error}, which is not known to work on many at once") from None
    return tuple([core.broadcast_to(v, tuple(shape)) for v in result])


class Combination(NamedTuple):
    """The combination of two numbers by a well-known program, and its reduction over axes."""

    name: str
    combine: Callable[[Value, Value], Value]
    reduce: Callable[[Value, tuple[int, ...]], Value]


def _all(x: Value, axes: tuple[int, ...]) -> Value:
    return core.cast(core.reduce_min(core.cast(x, i32), axes), boolean)


def _some(x: Value, axes: tuple[int, ...]) -> Value:
    return core.cast(core.reduce_max(core.cast(x, i32), axes), boolean)


def every(x: Value) -> Value:
    """Returns whether all elements of a tensor of bools are true, as a scalar."""
    axes = tuple(range(len(known_dims_of(x))))
    return _all(x, axes) if axes else x


@cache
def _known() -> Mapping[type[Operation], Combination]:
    """The programs of two numbers that are well known, by the operation that they are."""
    return {
        core.Add: Combination("add", core.add, core.reduce_sum),
        core.Mul: Combination("mul", core.mul, core.reduce_prod),
        core.Maximum: Combination("max", core.maximum, core.reduce_max),
        core.Minimum: Combination("min", core.minimum, core.reduce_min),
        core.LogicalAnd: Combination("and", core.logical_and, _all),
        core.LogicalOr: Combination("or", core.logical_or, _some),
    }


def combination_of(body: Region) -> Combination | None:
    """The function that a program of two numbers applies to them; None when there is more to it."""
    block = body.block
    result = lifting.yielded(block)
    if len(result) != 1 or len(block.arguments) != 2:
        return None
    owner = result[0].owner
    known = _known().get(type(owner)) if isinstance(owner, Operation) else None
    if known is None or not isinstance(owner, Operation) or owner.parent is not block:
        return None
    return known if set(owner.operands) == set(block.arguments) and len(set(owner.operands)) == 2 else None


def gives_second(body: Region) -> bool:
    """Returns whether a program of two numbers gives the second."""
    block = body.block
    return len(block.arguments) == 2 and lifting.yielded(block) == (block.arguments[1],)


# -- folding along an axis


def part(x: Value, axis: int, start: Dim, stop: Dim, step: int = 1) -> Value:
    """The elements of a tensor between two positions of an axis."""
    sizes = known_dims_of(x)
    starts = tuple([start if n == axis else 0 for n in range(len(sizes))])
    stops = tuple([stop if n == axis else d for n, d in enumerate(sizes)])
    return core.slice(x, starts, stops, tuple([step if n == axis else 1 for n in range(len(sizes))]))


def combined(body: Region, first: Sequence[Value], second: Sequence[Value]) -> Values:
    """Returns the values that a program yields for pairs of tensors."""
    return applied(body, [*first, *second], known_dims_of(first[0]))


def folded(body: Region, xs: Values) -> Values:
    """Tensors combined along their first axis, of which each has at least one element: halves with halves."""
    size = known_dims_of(xs[0])[0]
    if not isinstance(size, int):
        return _folded_in_order(body, xs)
    while size > 1:
        half = size // 2
        # Neighbours are combined first, so that the order is kept: even with odd positions.
        first = [part(x, 0, 0, 2 * half, 2) for x in xs]
        second = [part(x, 0, 1, 2 * half, 2) for x in xs]
        built = combined(body, first, second)
        if size % 2:
            built = tuple([core.concat((m, part(x, 0, size - 1, size)), 0) for m, x in zip(built, xs, strict=True)])
        xs, size = built, half + size % 2
    return tuple([core.squeeze(x, (0,)) for x in xs])


def _folded_in_order(body: Region, xs: Values) -> Values:
    initial = [core.squeeze(part(x, 0, 0, 1), (0,)) for x in xs]
    rest = [part(x, 0, 1, known_dims_of(x)[0]) for x in xs]
    shape = known_dims_of(initial[0])

    def step(*given: Value) -> Sequence[Value]:
        return applied(body, given, shape)

    types = [v.type for v in initial]
    return core.scan(tuple(initial), tuple(rest), core.nested([*types, *types], step))


def windows_folded(body: Region, xs: Values, axis: int, window: Dim, dilation: int) -> Values:
    """Each element combined with those that follow it in a window along an axis.

    Windows of twice the length are made of two that stand one after the other; the result has the size of what fits.
    A window of symbolic length is combined one element after the other.
    """
    if not isinstance(window, int):
        return _windows_folded_in_order(body, xs, axis, window, dilation)
    sizes = known_dims_of(xs[0])
    count = sizes[axis] - (window - 1) * dilation
    known, length = xs, 1
    done: Values | None = None
    at = 0
    left = window
    while left:
        if left & 1:
            # `done` covers the first `at` elements of the window, and `known` as many as `length` from there on.
            moved = [part(x, axis, at * dilation, at * dilation + count) for x in known]
            done = tuple(moved) if done is None else combined(body, done, moved)
            at += length
        left >>= 1
        if left:
            span = known_dims_of(known[0])[axis] - length * dilation
            first = [part(x, axis, 0, span) for x in known]
            second = [part(x, axis, length * dilation, length * dilation + span) for x in known]
            known = combined(body, first, second)
            length *= 2
    assert done is not None
    return done


def _windows_folded_in_order(body: Region, xs: Values, axis: int, window: Dim, dilation: int) -> Values:
    count = known_dims_of(xs[0])[axis] - (window - 1) * dilation
    initial = [part(x, axis, 0, count) for x in xs]
    rows = core.iota((count,))
    offsets = core.mul(core.add(core.iota((window - 1,)), core.scalar(1, i64)), core.scalar(dilation, i64))

    def step(*given: Value) -> Sequence[Value]:
        at = core.add(rows, given[-1])
        return combined(body, given[:-1], [core.gather(x, at, axis) for x in xs])

    types = [*[v.type for v in initial], core.tensor_type(offsets).with_shape(())]
    return core.scan(tuple(initial), (offsets,), core.nested(types, step))


# -- keys of comparisons


def key_of(block: Block) -> tuple[Value, int, bool] | None:
    """Returns the value that a comparator of pairs compares, which depends on the first of a pair only, and whether in
    descending order; None for other comparators.

    The block receives pairs, the first and the second number of each. It must compare a value that is computed from
    the first numbers with the same value of the second ones; gives the former, and the number of the pair it is of.
    """
    result = lifting.yielded(block)
    if len(result) != 1:
        return None
    owner = result[0].owner
    if not isinstance(owner, core.Less | core.Greater):
        return None
    first, second = owner.operands
    same = _same_of_pairs(first, second, block)
    if same is not None:
        return (first, same, isinstance(owner, core.Greater)) if same >= 0 else None
    swapped = _same_of_pairs(second, first, block)
    return None if swapped is None or swapped < 0 else (second, swapped, isinstance(owner, core.Less))


def _same_of_pairs(first: Value, second: Value, block: Block) -> int | None:
    """The pair of which two values are the same function, of its first and of its second number; None without one."""
    places = {a: n for n, a in enumerate(block.arguments)}
    pending = [(first, second)]
    seen: set[tuple[Value, Value]] = set()
    pair: int | None = None
    while pending:
        a, b = pending.pop()
        if (a, b) in seen:
            continue
        seen.add((a, b))
        if a in places or b in places:
            n, m = places.get(a, -1), places.get(b, -1)
            if n % 2 or m != n + 1 or pair not in (None, n // 2):
                return None
            pair = n // 2
            continue
        if a is b:
            continue
        left, right = a.owner, b.owner
        if not isinstance(left, Operation) or not isinstance(right, Operation) or not _are_equal(left, right):
            return None
        pending += zip(left.operands, right.operands, strict=True)
    return pair


def _are_equal(a: Operation, b: Operation) -> bool:
    return (
        type(a) is type(b)
        and len(a.operands) == len(b.operands)
        and not a.regions
        and len(a.results) == len(b.results) == 1
        and a.attribute_dictionary == b.attribute_dictionary
    )


def computed_key(comparator: Region, value: Value, x: Value, pair: int, sizes: Sequence[Dim]) -> Value:
    """Returns the sort key of each element."""
    lifter = lifting.Lifting(tuple(sizes), lambda _: x)
    block = comparator.block
    needed = {value}
    expected: list[Operation] = []
    for op in reversed(list(lifting.operations_of(block))):
        if any(r in needed for r in op.results):
            expected.append(op)
            needed.update(op.operands)
    lifter.run(reversed(expected), {block.arguments[2 * pair]: x})
    return core.broadcast_to(lifter.value(value), tuple(sizes))


def is_number(x: Value) -> bool:
    """Returns whether the core can order elements."""
    return kind_of(x).kind in ("int", "uint", "float")


# -- scattering


@cache
def _reductions() -> Mapping[str, core.Reduction]:
    """Returns the core reductions of the programs that it can scatter with."""
    return {"add": core.Reduction.ADD, "mul": core.Reduction.MUL, "max": core.Reduction.MAX, "min": core.Reduction.MIN}


def scattered(inputs: Sequence[Value], rows: Value, updates: Sequence[Value], body: Region) -> tuple[Value, ...]:
    """Rows of tensors combined with updates at positions, [n, 1]; a position of -1 is outside."""
    size = known_dims_of(inputs[0])[0]
    # What lies outside is put into a row after the last one, which is left out in the end.
    outside = core.less(rows, core.scalar(0, i64))
    at = core.select(outside, core.dims((size,), i64, True), rows)
    longer = [core.concat((x, _empty_row(x)), 0) for x in inputs]
    known = combination_of(body) if len(inputs) == 1 else None
    if len(inputs) == 1 and gives_second(body):
        built = [core.scatter_nd(longer[0], at, updates[0])]
    elif known is not None and known.name in _reductions() and is_number(inputs[0]):
        built = [core.scatter_nd(longer[0], at, updates[0], _reductions()[known.name])]
    else:
        built = _one_by_one(longer, at, updates, body)
    return tuple([part(v, 0, 0, size) for v in built])


def _empty_row(x: Value) -> Value:
    zero = core.splat(False, x) if str(core.tensor_type(x).element) == "i1" else core.splat(0, x)
    return core.broadcast_to(zero, (1, *known_dims_of(x)[1:]))


def _one_by_one(inputs: Sequence[Value], rows: Value, updates: Sequence[Value], body: Region) -> list[Value]:
    count = len(inputs)
    shape = (1, *known_dims_of(inputs[0])[1:])

    def step(*given: Value) -> Sequence[Value]:
        states, values, row = given[:count], given[count:-1], given[-1]
        old = [core.gather(s, row, 0) for s in states]
        new = [core.unsqueeze(v, (0,)) for v in values]
        result = applied(body, [*old, *new], shape)
        return [core.scatter_nd(s, core.unsqueeze(row, (0,)), v) for s, v in zip(states, result, strict=True)]

    slices = [core.tensor_type(v).with_shape(known_dims_of(v)[1:]) for v in (*updates, rows)]
    body_ = core.nested([*[v.type for v in inputs], *slices], step)
    return list(core.scan(tuple(inputs), (*updates, rows), body_))
