"""Tensors read by affine maps over an iteration space, as programs of the core."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.dialects.lazy_core import core
from commonir.ir.affine import AffineBinary, AffineConstant, AffineDim, AffineExpr, AffineMap
from commonir.ir.operation import Value
from commonir.ir.types import i64
from commonir.symbolic import Dim
from commonir.symbolic.errors import NotationError


def dims_in(expr: AffineExpr) -> tuple[int, ...]:
    """The dimensions that an expression mentions, each once, in order."""
    result: dict[int, None] = {}
    pending = [expr]
    while pending:
        match pending.pop():
            case AffineDim(position=d):
                result[d] = None
            case AffineBinary(lhs=lhs, rhs=rhs):
                pending += (rhs, lhs)
            case _:
                pass
    return tuple(result)


class Term(NamedTuple):
    """A sum of dimensions with constant factors, and a constant."""

    factors: Mapping[int, int]
    constant: int


def linear_form(expr: AffineExpr) -> Term | None:
    """An expression as a sum of dimensions times constants; None when it divides or has symbols."""
    match expr:
        case AffineDim(position=d):
            return Term({d: 1}, 0)
        case AffineConstant(value=c):
            return Term({}, c)
        case AffineBinary(operator="+", lhs=lhs, rhs=rhs):
            a, b = linear_form(lhs), linear_form(rhs)
            if a is None or b is None:
                return None
            sums = {d: a.factors.get(d, 0) + b.factors.get(d, 0) for d in (*a.factors, *b.factors)}
            return Term({d: f for d, f in sums.items() if f}, a.constant + b.constant)
        case AffineBinary(operator="*", lhs=lhs, rhs=AffineConstant(value=c)):
            a = linear_form(lhs)
            return None if a is None else Term({d: f * c for d, f in a.factors.items() if f * c}, a.constant * c)
        case _:
            return None


def plain_dim(expr: AffineExpr) -> int | None:
    """The dimension that an expression is; None when it is more than that."""
    return expr.position if isinstance(expr, AffineDim) else None


def _ceil_div(a: Value, b: Value) -> Value:
    return core.neg(core.floor_div(core.neg(a), b))


_OPERATORS: Mapping[str, Callable[[Value, Value], Value]] = {
    "+": core.add,
    "*": core.mul,
    "floordiv": core.floor_div,
    "ceildiv": _ceil_div,
    "mod": core.mod,
}


def position(expr: AffineExpr, index: Callable[[int], Value]) -> Value:
    """The value of an expression, from those of the dimensions."""
    match expr:
        case AffineDim(position=d):
            return index(d)
        case AffineConstant(value=c):
            return core.scalar(c, i64)
        case AffineBinary(operator=operator, lhs=lhs, rhs=rhs):
            return _OPERATORS[operator](position(lhs, index), position(rhs, index))
        case _:
            raise NotationError("a map with symbols has no meaning here")


def along(size: Dim, axis: int, rank: int) -> Value:
    """The positions along one of several axes: of size 1 along the others."""
    others = tuple([a for a in range(rank) if a != axis])
    counted = core.iota((size,))
    return core.unsqueeze(counted, others) if others else counted


def read(x: Value, map: AffineMap, axes: Sequence[int], sizes: Mapping[int, Dim]) -> Value:
    """A tensor with an axis for each of some dimensions: at each point the element that a map selects.

    It has size 1 along dimensions that the map does not mention.
    """
    used = [dims_in(e) for e in map.results]
    flat = [d for dims in used for d in dims]
    if len(set(flat)) != len(flat):
        return _read_points(x, map, axes, sizes)
    for axis in reversed(range(len(map.results))):
        expr, dims = map.results[axis], used[axis]
        if plain_dim(expr) is None:
            where = position(expr, lambda d, dims=dims: along(sizes[d], dims.index(d), len(dims)))
            if dims:
                where = core.broadcast_to(where, tuple([sizes[d] for d in dims]))
            x = core.gather(x, where, axis)
    return ordered(x, flat, axes)


def ordered(x: Value, values: Sequence[int], axes: Sequence[int]) -> Value:
    """A tensor whose axes are some dimensions, with axes in another order; of size 1 for those it lacks."""
    present = [d for d in axes if d in values]
    perm = tuple([values.index(d) for d in present])
    if perm != tuple(range(len(perm))):
        x = core.transpose(x, perm)
    missing = tuple([n for n, d in enumerate(axes) if d not in values])
    return core.unsqueeze(x, missing) if missing else x


def _read_points(x: Value, map: AffineMap, axes: Sequence[int], sizes: Mapping[int, Dim]) -> Value:
    """As `read`, element by element: for maps that mention a dimension more than once."""
    mentioned = {d for e in map.results for d in dims_in(e)}
    dims = [d for d in axes if d in mentioned]
    shape = tuple([sizes[d] for d in dims])
    rows = [
        core.unsqueeze(
            core.broadcast_to(position(e, lambda d: along(sizes[d], dims.index(d), len(dims))), shape), (-1,)
        )
        for e in map.results
    ]
    return ordered(core.gather_nd(x, core.concat(tuple(rows), -1)), dims, axes)
