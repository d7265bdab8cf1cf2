"""Rules for operations that put elements where data says, and for those that order them, as kernels of index notation.

A short axis, or one whose length is data-dependent, is sorted by comparing all pairs of its elements. A long one goes
through a sorting network, in a loop: n log(n)^2 comparisons, each round for all elements at once.
Source: K. E. Batcher, Sorting networks and their applications (1968), with comparisons of one direction.
"""

from __future__ import annotations

from functools import partial

from commonir.conversions.core_to_core.all_pairs import AllPairs, comes_first, traced
from commonir.conversions.core_to_linalg.rounds import COUNTED, computed, cumulated, in_rounds
from commonir.conversions.core_to_linalg.runtime_dims import Loose
from commonir.conversions.operands import dims_of
from commonir.conversions.symbolic_dims import set_dim
from commonir.dialects import core
from commonir.dialects.core.base import accumulator, axis_of, tensor_type
from commonir.ir.operation import Value
from commonir.ir.types import boolean, i64
from commonir.notation import Expr, Scalar, Tensor, call, cast, index, indices, lift, select, total
from commonir.rewrite.legalize import Context, Result, rule
from commonir.symbolic import Dim, element_count, largest, smallest, symbol


@rule(core.ScatterElements)
def scatter_elements(op: core.ScatterElements, context: Context, x: Value, positions: Value, updates: Value) -> Result:
    return pairs(context).scattered_elements(op, x, positions, updates)


@rule(core.ScatterNd)
def scatter_nd(op: core.ScatterNd, context: Context, x: Value, positions: Value, updates: Value) -> Result:
    return pairs(context).scattered_rows(op, x, positions, updates)


def pairs(context: Context) -> AllPairs:
    """Returns the comparison of all pairs, with positions of 64 bits."""
    return AllPairs(partial(computed, context), i64)


def _rounds(length: int) -> list[int]:
    """The rounds of a network that sorts: in each, elements whose positions differ in these bits are compared.

    The smaller one goes to the lower position always, so that positions beyond the length, which would hold the
    largest, need not be there.
    """
    out: list[int] = []
    for bits in range(1, (length - 1).bit_length() + 1):
        out += [(1 << bits) - 1, *[1 << n for n in reversed(range(bits - 1))]]
    return out


def _sorted_by_network(context: Context, x: Value, axis: int, length: int, *, descending: bool) -> Value:
    """The positions of the elements in order along an axis."""
    t = traced("x", x)
    s = indices("s", t.rank)
    extents = dict(zip(s, dims_of(x), strict=True))
    first = computed(context, lift(s[axis], i64).by(*s).where(extents), {})

    def after(order: Value, mask: Value) -> Value:
        o, here = traced("order", order), lift(s[axis], i64)
        there = call("bitwise_xor", here, traced("mask", mask)[()])
        is_there = call("less", there, lift(length, i64))
        mine, other = o[s], o[(*s[:axis], select(is_there, there, here), *s[axis + 1 :])]

        def element(position: Expr) -> Expr:
            return t[(*s[:axis], position, *s[axis + 1 :])]

        is_earlier = call("less", other, mine)
        goes_down = comes_first(element(mine), element(other), is_earlier, descending=descending)
        is_wrong = is_there & ~call("logical_xor", goes_down, call("less", here, there))
        kernel = select(is_wrong, other, mine).by(*s).where(extents)
        return computed(context, kernel, {"order": order, "mask": mask, "x": x})

    return in_rounds(context, first, _rounds(length), after)


def _order(context: Context, x: Value, axis: int, count: Dim, *, descending: bool) -> Value:
    """The positions of the elements that come first along an axis."""
    length = dims_of(x)[axis]
    if isinstance(length, int) and length > COUNTED:
        result = _sorted_by_network(context, x, axis, length, descending=descending)
        if count == length:
            return result
        o = traced("order", result)
        s = indices("s", o.rank)
        return computed(context, o[s].by(*s).where({s[axis]: count}), {"order": result})
    return pairs(context).order(x, axis, count, descending=descending)


@rule(core.ArgSort)
def argsort(op: core.ArgSort, context: Context, x: Value) -> Result:
    shape = dims_of(op.x)
    axis = axis_of(op.axis, len(shape))
    return _order(context, x, axis, shape[axis], descending=op.descending)


@rule(core.TopK)
def top_k(op: core.TopK, context: Context, x: Value) -> Result:
    shape = dims_of(op.x)
    axis = axis_of(op.axis, len(shape))
    order = _order(context, x, axis, op.k, descending=op.largest)
    return pairs(context).taken(x, order, axis), order


def _first_beyond(context: Context, counts: Value, length: int, dim: Dim) -> Value:
    """For each number below a size the first position at which numbers that do not fall are larger, by bisection."""
    k, c = index("k"), traced("counts", counts)

    def after(place: Value, reach: Value) -> Value:
        here = Tensor("place", (dim,), i64)[(k,)]
        there = here + traced("reach", reach)[()]
        is_there = call("less_equal", there, lift(length, i64))
        before = c[(select(is_there, there - lift(1, i64), lift(0, i64)),)]
        goes_on = is_there & call("less_equal", before, lift(k, i64))
        kernel = select(goes_on, there, here).by(k).where({k: dim})
        return computed(context, kernel, {"place": place, "reach": reach, "counts": counts})

    first = computed(context, lift(0, i64).by(k).where({k: dim}), {})
    return in_rounds(context, first, [1 << n for n in reversed(range(length.bit_length()))], after)


@rule(core.NonZero)
def non_zero(op: core.NonZero, context: Context, x: Value) -> Result:
    """Elements that are not zero are numbered; each row of the result looks for its number."""
    shape = dims_of(op.x)
    flat = traced("x", x).flat
    i, j = index("i"), index("j")
    whole = element_count(shape)

    def is_set(at: Dim) -> Expr:
        element = flat[(at,)]
        return element if element.dtype is boolean else call("not_equal", element, lift(0, element.dtype))

    one, zero = lift(1, i64), lift(0, i64)
    rows = (tensor_type(op.y).shape or (None,))[0]
    dim: Dim = symbol(f"rows of {id(op)}", 0) if rows is None else rows
    k, r = index("k"), index("r")
    if isinstance(whole, int) and whole > COUNTED:
        flags = computed(context, select(is_set(i), one, zero).by(i).where({i: whole}), {"x": x})
        counts = cumulated(context, flags, 0, "add")
        last = computed(context, traced("counts", counts)[(whole - 1,)].by(), {"counts": counts})
        set_dim(context, dim, Loose(context).position(last))
        places = _first_beyond(context, counts, whole, dim)
    else:
        count = computed(context, total(i, select(is_set(i), one, zero)).by().where({i: whole}), {"x": x})
        before = is_set(j) & call("less", lift(j, i64), lift(i, i64))
        number = select(is_set(i), total(j, select(before, one, zero)), lift(-1, i64))
        numbers = computed(context, number.by(i).where({i: whole, j: whole}), {"x": x})
        set_dim(context, dim, Loose(context).position(count))
        is_here = call("equal", traced("numbers", numbers)[(i,)], lift(k, i64))
        count_ = total(i, select(is_here, lift(i, i64), zero)).by(k).where({k: dim, i: whole})
        places = computed(context, count_, {"numbers": numbers})
    at = Tensor("places", (dim,), i64)[(k,)]
    place: Expr = zero
    rest: Dim = 1
    for axis in reversed(range(len(shape))):
        own = (at // lift(rest, i64)) % lift(largest(shape[axis], 1), i64)
        place = select(call("equal", lift(r, i64), lift(axis, i64)), own, place)
        rest = rest * largest(shape[axis], 1)
    return computed(context, place.by(k, r).where({k: dim, r: len(shape)}), {"places": places})


@rule(core.Dft)
def dft(op: core.Dft, context: Context, x: Value) -> Result:
    """The sum over all times with cosines and sines, for each frequency."""
    shape, length = dims_of(op.x), op.length
    axis = axis_of(op.axis, len(shape))
    is_real, is_half = shape[-1] == 1, op.onesided and op.inverse
    wide = accumulator(tensor_type(op.x).element)
    t = traced("x", x)
    s, k, part = indices("s", len(shape) - 1), index("k"), index("part")
    bins = length // 2 + 1 if is_half else length
    count = smallest(bins, shape[axis])
    place = (*s[:axis], k, *s[axis + 1 :])
    turns = lift(s[axis] * k % length, wide)
    angle = turns * lift(6.283185307179586, wide) / lift(length, wide)
    cosine, sine = call("cos", angle), call("sin", angle)
    if op.inverse:
        sine = -sine
    real = cast(t[(*place, 0)], wide)
    imaginary = lift(0, wide) if is_real else cast(t[(*place, 1)], wide)
    weight: Expr = lift(1, wide)
    if is_half:
        edge = call("equal", lift(k, i64), lift(0, i64)) | call("equal", lift(k * 2, i64), lift(length, i64))
        weight = select(edge, weight, lift(2, wide))
    terms = [weight * (real * cosine + imaginary * sine), weight * (imaginary * cosine - real * sine)]
    scale = lift(length, wide) if op.inverse else None
    sums = [_scaled(total(k, term), scale) for term in terms]
    extents = {s[a]: (dims_of(op.y)[a] if a == axis else shape[a]) for a in range(len(s))}
    if is_half:
        return computed(context, cast(sums[0], t.dtype).by(*s, 1).where({**extents, k: count}), {"x": x})
    both = select(call("equal", lift(part, i64), lift(0, i64)), sums[0], sums[1])
    kernel = cast(both, t.dtype).by(*s, part).where({**extents, k: count, part: 2})
    return computed(context, kernel, {"x": x})


def _scaled(e: Expr, by: Scalar | None) -> Expr:
    return e if by is None else e / by
