"""The range rule, which is the shape rule; broadcasting; and positions of views in the underlying tensor.

Range rule: an index that reads an axis directly (`x[i]`) ranges over it, and every other axis that it reads directly
must be equally long. Any other index has the largest range `0 <= i < n` for which the first access that mentions
it stays inside its tensor; accesses whose indices all have ranges are checked. An explicit range (`where`) is
checked to stay inside the tensor, not to cover it. Conditions that cannot be decided for symbolic dimensions become a
`Constraint`. A negative extent is refused; zero is an empty range, over which nothing is read. Positions that are read
from data are not checked. The rule proves that reads stay inside, not that everything is read: that needs a constraint
of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from math import prod
from typing import Literal

from commonir.notation.expressions import (
    Access,
    Dilated,
    Expr,
    Flat,
    Fold,
    Join,
    Kernel,
    Kernels,
    Padded,
    Tensor,
    Update,
    name_of,
)
from commonir.notation.functions import Number
from commonir.notation.traversal import children, free, put, walk
from commonir.symbolic import (
    Dim,
    Floor,
    Max,
    at_least,
    atom_dim,
    bounds,
    ceil_div,
    compare,
    evaluate,
    extreme,
    floor_div,
    index,
    is_plainly_at_least,
    is_tight,
    largest,
    linear_in,
    names,
    plain,
    regrouped,
    smallest,
    symbols,
    terms_of,
    total,
)
from commonir.symbolic.constraints import Constraint, require, without_implied
from commonir.symbolic.errors import NotationError, NotKnownError, Relation

MAX_POINTS = 1 << 16
"""The most positions that are evaluated where bounds are not enough to accept a read."""

_Read = tuple[Tensor, int, Dim]
"""An axis of a tensor, and the index expression it is read at."""


class _Ranges:
    """Collects the extents of the indices of one body."""

    def __init__(self, extents: Mapping[str, Dim], declared: Mapping[str, Dim]) -> None:
        self.known: dict[str, Dim] = {**extents, **declared}
        self.explicit = frozenset(declared)
        self.constraints: list[Constraint] = []
        self.piece_extents: list[Dim] = []
        self.unsettled: tuple[_Read, ...] = ()

    def require(self, lhs: Dim, relation: Relation, rhs: Dim, read: _Read, empty: tuple[Dim, ...] = ()) -> None:
        """Adds a constraint of a read, unless it is proven."""
        tensor, axis, at = read
        why = lambda: f"axis {axis} of {tensor.name} read at {at}"  # noqa: E731
        self.constraints += require(lhs, relation, rhs, why, unless_empty=empty)

    def visit(self, bodies: Sequence[Expr]) -> None:
        """Infers the range of every index in the bodies."""
        accesses: dict[Access, None] = {}
        inner: list[Join] = []
        for b in bodies:
            _collect(b, accesses, inner)
        pending: list[_Read] = []
        for a in accesses:
            self.views(a.tensor)
            for axis, at in enumerate(a.at):
                if not isinstance(at, Expr):
                    self.plain_read((a.tensor, axis, at), pending)
        joins = [j for j in inner if not self.join(j)]
        rest = self.solve_all(pending)
        later = [j for j in joins if not self.join(j)]
        rest = self.solve_all(rest)
        self.unsettled = (*rest, *(read for j in later for read in self.pieces(j).unsettled))

    def views(self, tensor: Tensor) -> None:
        """Adds the constraints of views: padding that repeats elements needs elements."""
        for view, shape in tensor.steps:
            if not isinstance(view, Padded) or view.mode == "constant":
                continue
            for axis, (n, before, after) in enumerate(zip(shape, view.before, view.after, strict=True)):
                longest = largest(before, after, 0)
                if longest == 0:
                    continue
                why = f"axis {axis} of {tensor.name} padded by {longest} (mode {view.mode})"
                lhs, relation, rhs = (longest, "<", n) if view.mode == "reflect" else (n, ">", 0)
                self.constraints += require(lhs, relation, rhs, why)

    def plain_read(self, read: _Read, pending: list[_Read]) -> None:
        """Infers the range of an index that reads an axis directly; other reads are added to `pending`."""
        tensor, axis, at = read
        n = tensor.shape[axis]
        i = plain(at)
        if i is None:
            pending.append(read)
        elif i not in self.known:
            self.known[i] = n
        elif self.known[i] != n:
            relation: Relation = "<=" if i in self.explicit else "=="
            why = lambda: f"index {i} over axis {axis} of {tensor.name}"  # noqa: E731
            self.constraints += require(self.known[i], relation, n, why)
            if relation == "==" and isinstance(n, int):
                self.known[i] = n  # engines know how constants lie in memory, so numbers are better than symbols

    def join(self, e: Join) -> bool:
        """Infers the range of the index of a join, the sum of those of its pieces; returns whether all reads are
        solved.
        """
        inner = self.pieces(e)
        if inner.unsettled:
            return False
        self.constraints += inner.constraints
        self.known |= {n: v for n, v in inner.known.items() if n not in self.known}
        extent = total(inner.piece_extents)
        if e.along not in self.known:
            self.known[e.along] = extent
        elif self.known[e.along] != extent:
            relation: Relation = "<=" if e.along in self.explicit else "=="
            why = f"index {e.along} over the pieces of a join"
            self.constraints += require(self.known[e.along], relation, extent, why)
        return True

    def pieces(self, e: Join) -> _Ranges:
        """Returns the ranges inside the pieces of a join, with the extent of its index in each (`piece_extents`)."""
        out = _Ranges({n: v for n, v in self.known.items() if n != e.along}, {})
        for k, piece in enumerate(e.pieces):
            declared = {n: v for n, v in out.known.items() if n in self.explicit}
            inner = _Ranges(out.known, declared if e.extents is None else {**declared, e.along: e.extents[k]})
            inner.visit((piece,))
            extent = inner.known.pop(e.along, None)
            if extent is not None:
                out.piece_extents.append(extent)
            elif not inner.unsettled:
                raise NotationError(
                    f"no access bounds index {e.along} in piece {k} of a join; state the extents of its pieces"
                )
            out.known |= inner.known
            out.constraints += inner.constraints
            out.unsettled += inner.unsettled
        return out

    def solve_all(self, pending: Sequence[_Read]) -> Sequence[_Read]:
        """Solves reads with one unknown index and checks those with none, until nothing changes; returns the rest."""
        while pending:
            rest = [read for read in pending if not self.solve_one(read)]
            if len(rest) == len(pending):
                return rest
            pending = rest
        return pending

    def solve_one(self, read: _Read) -> bool:
        """Solves or checks a read; returns whether that was possible."""
        tensor, axis, at = read
        dim = tensor.shape[axis]
        if isinstance(at, int) and isinstance(dim, int) and 0 <= at < dim:
            return True  # the common case of broadcasting
        used = names(at)
        unknown = [i for i in used if i not in self.known]
        if len(unknown) > 1:
            return False
        extents = {i: 1 if n == 0 else n for i, n in self.known.items()} if used else self.known
        empty = tuple(self.known[i] for i in used if i in self.known and not at_least(self.known[i], 1))
        side: bool | None = None
        if unknown:
            solved = solve(at, 0, dim, extents, unknown[0])
            if solved is None:
                return False
            extent, side = solved
            self.known[unknown[0]] = extent
            if extent != 0:
                extents = {**extents, unknown[0]: extent}
            if not at_least(extent, 1):
                empty = (*empty, extent)
        if any(n == 0 for n in empty):
            return True
        if not unknown and is_plainly_at_least(at, 0, dim - 1) and is_plainly_at_least(dim - 1, at):
            self.require(dim, ">=", 1, read, empty)  # a clamped position needs one element
            return True
        if side is not True:
            self.require(self.reached(at, extents, True, dim - 1), "<", dim, read, empty)
        if side is not False:
            self.require(self.reached(at, extents, False, 0), ">=", 0, read, empty)
        return True

    def reached(self, at: Dim, extents: Mapping[str, Dim], upper: bool, limit: Dim) -> Dim:
        """Returns a bound of a position over its indices; the exact one if the coarse one would refuse the read."""
        bound = extreme(at, extents, upper)
        if (at_least(limit, bound) if upper else at_least(bound, limit)) or is_tight(at) or symbols(at):
            return bound
        counts = [n for n in (extents[i] for i in names(at)) if isinstance(n, int)]
        if len(counts) < len(names(at)) or prod(counts) > MAX_POINTS:
            return bound
        points = itertools.product(*map(range, counts))
        values = [evaluate(at, dict(zip(names(at), p, strict=True))) for p in points]
        return max(values) if upper else min(values)


def _collect(e: Expr, accesses: dict[Access, None], joins: list[Join]) -> None:
    """Adds every access outside the pieces of joins, and every join that is not inside another one."""
    seen: set[Expr] = {e}
    stack = [e]
    while stack:
        here = stack.pop()
        if isinstance(here, Join):
            joins.append(here)
            continue
        if isinstance(here, Access):
            accesses[here] = None
        for c in reversed(children(here)):
            if c not in seen:
                seen.add(c)
                stack.append(c)


def solve(at: Dim, low: Dim, high: Dim, known: Mapping[str, Dim], i: str) -> tuple[Dim, bool] | None:
    """Returns the largest `n` such that `at` stays on one side of `low <= at < high` while `i < n`.

    The other indices range over `known`. The second result is the side: True when `n` follows from
    `high` (`at` grows with `i`), False when it follows from `low`. None when `at` is neither linear in `i` nor linear
    in one floor of it.
    """
    factor, rest = linear_in(at, i)
    if factor is not None:
        if bounds(factor)[0] >= 1:
            return floor_div(high - 1 - extreme(rest, known, True), factor) + 1, True
        if bounds(factor)[1] <= -1:
            return floor_div(extreme(rest, known, False) - low, -factor) + 1, False
        return None
    for m, c in regrouped(terms_of(at)).items():
        inner = m[0] if len(m) == 1 else None
        if isinstance(inner, Floor) and i in names(inner.num) and i not in names(inner.den):
            rest = at - atom_dim(inner) * c
            if i in names(rest):
                return None
            least, most = extreme(rest, known, False), extreme(rest, known, True)
            if c > 0:
                bottom, top = ceil_div(low - least, c), floor_div(high - 1 - most, c)
            else:
                bottom, top = ceil_div(most - high + 1, -c), floor_div(least - low, -c)
            solved = solve(inner.num, bottom * inner.den, top * inner.den + inner.den, known, i)
            return None if solved is None else (solved[0], solved[1] == (c > 0))
    return None


def ranges(
    kernel: Kernel | Kernels, extents: Mapping[str, Dim] | None = None
) -> tuple[dict[str, Dim], tuple[Constraint, ...]]:
    """Returns the extent of every index of a kernel (or of several that share indices), and undecided constraints.

    `extents` are extents known from elsewhere, such as the dimensions that an operation's definition names.
    Raises: NotationError when a range is missing or a read cannot stay inside.
    """
    kernels = (kernel,) if isinstance(kernel, Kernel) else kernel
    finder = _Ranges(extents or {}, {n: v for k in kernels for n, v in k.extents})
    finder.constraints += [c for k in kernels for c in k.constraints]
    for i, n in (declared for k in kernels for declared in k.extents):
        if n != finder.known[i]:
            finder.constraints += require(n, "==", finder.known[i], f"two explicit extents of index {i}")
    finder.visit(tuple(k.body for k in kernels))
    for tensor, axis, at in finder.unsettled:
        unknown = next((i for i in names(at) if i not in finder.known), names(at)[0])
        where = f"axis {axis} of {tensor.name} is read at {at}"
        raise NotationError(
            f"no access bounds index {unknown}; state its extent with where(), in text with `for` ({where})"
        )
    for k in kernels:
        _check_indices(k, finder)
    return finder.known, without_implied(finder.constraints)


def _check_indices(k: Kernel, finder: _Ranges) -> None:
    """Checks that every index has a range that is not negative, and is an axis or folded."""
    axes = [n for a in k.axes for n in names(a)]
    for i in free(k.body):
        if i not in axes:
            raise NotationError(f"index {i} is neither a result axis nor folded")
    folded = dict.fromkeys([n for e in walk(k.body) if isinstance(e, Fold | Update) for n in e.over])
    for i in (*axes, *folded):
        extent = finder.known.get(i)
        if extent is None:
            raise NotationError(f"no access bounds index {i}; state its extent with where(), in text with `for`")
        if not isinstance(extent, int) or extent < 0:
            finder.constraints += require(extent, ">=", 0, f"extent of index {i}")


def shape_of(kernel: Kernel, extents: Mapping[str, Dim]) -> tuple[Dim, ...]:
    """Returns the shape of the result of a kernel."""
    return tuple([1 if isinstance(a, int) else extents[name_of(a)] for a in kernel.axes])


def piece_extents(e: Join, extents: Mapping[str, Dim]) -> tuple[Dim, ...]:
    """Returns the extent of the index of a join in each of its pieces, from the extents that `ranges` returns."""
    return e.extents if e.extents is not None else tuple(_Ranges(extents, {}).pieces(e).piece_extents)


def pieces_by_position(e: Join, extents: Mapping[str, Dim]) -> Iterator[tuple[Dim, Expr]]:
    """Yields the start of each non-empty piece of a join, and the piece for all positions of the index: outside of
    its range, where another piece has the value, it is read at the nearest position inside, and at 0 where a size of 0
    is not known.
    """
    along = index(e.along)
    start: Dim = 0
    counts = piece_extents(e, {i: n for i, n in extents.items() if i != e.along})
    for piece, count in zip(e.pieces, counts, strict=True):
        if count != 0:
            yield start, put(piece, {e.along: largest(smallest(along - start, count - 1), 0)})
        start = start + count


def names_of_axes(kernel: Kernel, extents: Mapping[str, Dim]) -> tuple[list[str], dict[str, Dim]]:
    """Returns an index for each axis of the result of a kernel, also for those of size 1, and the extents of all
    indices.
    """
    axes = [plain(a) or f"one{n}" for n, a in enumerate(kernel.axes)]
    return axes, {**extents, **{name: 1 for name, a in zip(axes, kernel.axes, strict=True) if plain(a) is None}}


def broadcast_shape(
    *shapes: Sequence[Dim], names: Sequence[str] = ()
) -> tuple[tuple[Dim, ...], tuple[Constraint, ...]]:
    """Returns the shape of operands under numpy's broadcasting rule.

    Two symbolic dimensions that may differ result in the constraint that they are equal, which is sufficient, not
    necessary: either may be 1. Raises: NotationError when shapes do not broadcast, with the names of the operands;
    NotKnownError where one of two dims must be 1, and only their values decide which.
    """
    rank = max(map(len, shapes), default=0)
    names = names or [f"operand {n}" for n in range(len(shapes))]
    out: list[Dim] = []
    shape: list[Constraint] = []
    for axis in range(-rank, 0):
        dims = [s[axis] for s in shapes if len(s) >= -axis and s[axis] != 1] or [1]
        fixed = next((n for n in dims if isinstance(n, int)), None)
        first = dims[0] if fixed is None else fixed
        for n in dims:
            if n is not first:
                ones = [d for d in (n, first) if compare(d, 1) is not False]
                if compare(n, first) is not False:
                    shape += require(n, "==", first, f"broadcast axis {axis}", is_broadcast=True)
                elif len(ones) == 1:
                    shape += require(ones[0], "==", 1, f"broadcast axis {axis}")
                elif ones:
                    raise NotKnownError(f"axis {axis}: which of {n} and {first} is 1 is not known before running")
                else:
                    owners: dict[Dim, str] = {}
                    for s, name in zip(shapes, names, strict=True):
                        owners.setdefault(s[axis] if len(s) >= -axis else 1, name)
                    where = " and ".join(f"{d} in {name}" for d, name in owners.items() if d in (n, first))
                    raise NotationError(f"axis {axis} is {where}, which do not broadcast")
        out.append(_broadcast_dim(dims) if fixed is None else fixed)
    return tuple(out), tuple(dict.fromkeys(shape))


def _broadcast_dim(dims: Sequence[Dim]) -> Dim:
    """Returns the dim of a broadcast of dims that are equal or 1: the larger one, but 0 if one of them is 0."""
    distinct = tuple(dict.fromkeys([each for dim in dims for each in _broadcast_of(dim)]))
    larger, smaller = reduce(largest, distinct), smallest(*distinct, 1)
    # A dim times 1, or 0 if it is 0, is the dim.
    return larger if smaller == smallest(larger, 1) else larger * smaller


def _broadcast_of(dim: Dim) -> tuple[Dim, ...]:
    """Returns the dims whose broadcast a dim is, `max(a, b) * min(1, a, b)`; of any other dim the dim itself.

    Without it, the dims of a loop grow with each round in which they meet the same one.
    """
    terms = terms_of(dim)
    for monomial, coefficient in terms.items() if len(terms) == 1 else ():
        for larger, smaller in (monomial, monomial[::-1]) if coefficient == -1 and len(monomial) == 2 else ():
            if isinstance(larger, Max) and isinstance(smaller, Max):
                least = {-each for each in smaller.args}
                others = [each for each in larger.args if each not in least]
                if least <= {1, *larger.args} and all(at_least(each, 1) for each in others):
                    return larger.args
    return (dim,)


def broadcast(tensor: Tensor, at: Sequence[Dim]) -> Access:
    """Returns the tensor read at the trailing indices, and at 0 along axes of size 1."""
    if tensor.rank > len(at):
        raise NotationError(f"{tensor.name} has rank {tensor.rank}, more than the {len(at)} axes it is broadcast to")
    trailing = at[len(at) - tensor.rank :]
    return tensor[tuple(0 if n == 1 else i for n, i in zip(tensor.shape, trailing, strict=True))]


class Guard:
    """A condition for an element of a view to come from the underlying tensor; elsewhere the element is `fill`.

    `inside`: `0 <= position < bound`. `divides`: `position mod bound == 0`.
    """

    __slots__ = ("bound", "fill", "kind", "position")
    __match_args__ = ("kind", "position", "bound", "fill")

    def __init__(self, kind: Literal["inside", "divides"], position: Dim, bound: Dim, fill: Number) -> None:
        self.kind: Literal["inside", "divides"] = kind
        self.position = position
        self.bound = bound
        self.fill = fill


def resolve(tensor: Tensor, at: Sequence[Dim]) -> tuple[tuple[Dim, ...], tuple[Guard, ...]]:
    """Returns the position in the tensor behind the views, and the guards in the order of evaluation.

    The element is the `fill` of the first guard that does not hold, and the element at the position when all of them
    hold.
    """
    guards: list[Guard] = []
    here = tuple(at)
    for view, shape in reversed(tensor.steps):
        match view:
            case Flat():
                here = _unflattened(here[0], shape)
            case Dilated(factors=factors):
                guards += [Guard("divides", p, f, 0) for p, f in zip(here, factors, strict=True) if f > 1]
                here = tuple(floor_div(p, f) for p, f in zip(here, factors, strict=True))
            case Padded(before=before, mode=mode, fill=fill):
                here = tuple(p - b for p, b in zip(here, before, strict=True))
                if mode == "constant":
                    moved = zip(here, shape, before, view.after, strict=True)
                    guards += [Guard("inside", p, n, fill) for p, n, b, a in moved if (b, a) != (0, 0)]
                else:
                    pads = zip(here, shape, before, view.after, strict=True)
                    here = tuple(p if (b, a) == (0, 0) else _repeated(p, n, mode) for p, n, b, a in pads)
    return here, tuple(guards)


def _unflattened(at: Dim, shape: Sequence[Dim]) -> tuple[Dim, ...]:
    out: list[Dim] = []
    for n in reversed(shape[1:]):
        out.append(at % n)
        at = at // n
    return (at, *reversed(out)) if shape else ()


def _repeated(p: Dim, n: Dim, mode: str) -> Dim:
    """Returns the position inside an axis of size `n` that a position outside of it repeats."""
    if mode == "wrap":
        return p % n
    if mode == "edge":
        return smallest(largest(p, 0), n - 1)
    from_end = (n - 1) - largest(p, -p)
    return (n - 1) - largest(from_end, -from_end)
