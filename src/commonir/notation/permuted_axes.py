"""Decides whether a kernel computes what another one does, for operands with permuted axes.

A permutation of axes is as for `transpose`: axis n of the permuted tensor is axis `perm[n]` of the tensor, or a new one
of size 1 for -1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.notation.expressions import (
    Access,
    Apply,
    Cast,
    Const,
    Dilated,
    Expr,
    Fold,
    Join,
    Kernel,
    Padded,
    Position,
    Tensor,
    View,
)
from commonir.symbolic import Dim, index, names, plain, substitute_indices

Permutation = tuple[int, ...]
Extents = Mapping[str, Dim]


def is_identity(perm: Permutation) -> bool:
    """Returns whether a permutation leaves all axes at their places."""
    return perm == tuple(range(len(perm)))


class PermutedResult(NamedTuple):
    """The permutation of a result. `is_exact`: there are no sums or products of floats."""

    perm: Permutation
    is_exact: bool


def permuted_result(
    kernel: Kernel,
    extents: Extents,
    other: Kernel,
    other_extents: Extents,
    perms: Mapping[str, Permutation],
    preferred: Permutation,
) -> PermutedResult | None:
    """Returns the permutation of the result of a kernel that leads to the result of another one.

    The other kernel reads operands whose axes are permuted by `perms`. Returns None if its result is not that of the
    kernel with permuted axes. Axes of size 1 may have several places: `preferred` is taken if it is possible.
    """
    matching = _Matching(perms)
    if len(kernel.axes) != len(other.axes) or not matching.agree(kernel.body, other.body):
        return None
    for mine, theirs in matching.names.items():
        if extents.get(mine) != other_extents.get(theirs):
            return None
    if not _match_unread(matching, kernel.axes, extents, other.axes, other_extents, preferred):
        return None
    order = _order(kernel.axes, [matching.original(a) for a in other.axes], preferred)
    return None if order is None else PermutedResult(order, matching.is_exact)


def _match_unread(
    matching: _Matching,
    axes: Sequence[Dim],
    extents: Extents,
    other_axes: Sequence[Dim],
    other_extents: Extents,
    preferred: Permutation,
) -> bool:
    """Matches axes whose indices nothing reads, as those of size 1 in what broadcasts: any two of one size match."""
    unread = {name: n for n, a in enumerate(axes) if (name := plain(a)) is not None and name not in matching.names}
    for n, a in enumerate(other_axes):
        theirs = plain(a)
        if theirs is None or matching.original(a) is not None:
            continue
        fitting = [mine for mine in unread if extents.get(mine) == other_extents.get(theirs)]
        if not fitting:
            return False
        at = preferred[n] if len(preferred) == len(axes) else -1
        mine = min(fitting, key=lambda name: unread[name] != at)
        matching.bind(mine, theirs)
        del unread[mine]
    return not unread


def _order(axes: Sequence[Dim], permuted: Sequence[Dim | None], preferred: Permutation) -> Permutation | None:
    if len(preferred) == len(axes) and all(axes[p] == a for p, a in zip(preferred, permuted, strict=True)):
        return preferred
    remaining = list(range(len(axes)))
    out: list[int] = []
    for a in permuted:
        at = next((n for n in remaining if axes[n] == a), None)
        if at is None:
            return None
        remaining.remove(at)
        out.append(at)
    return tuple(out)


class _Matching:
    """Which indices of two kernels correspond."""

    def __init__(self, perms: Mapping[str, Permutation]) -> None:
        self.perms = perms
        self.names: dict[str, str] = {}
        self.is_exact = True
        self._back: dict[str, str] = {}
        self._agreed: set[tuple[Expr, Expr]] = set()

    def original(self, axis: Dim) -> Dim | None:
        """Returns the axis of the first kernel for one of the second."""
        name = plain(axis)
        if name is None:
            return axis
        return index(self._back[name]) if name in self._back else None

    def agree(self, a: Expr, b: Expr) -> bool:
        """Returns whether two expressions are the same, where indices correspond."""
        if (a, b) in self._agreed:
            return True
        if type(a) is not type(b) or a.dtype is not b.dtype or not self._same(a, b):
            return False
        self._agreed.add((a, b))
        return True

    def _same(self, a: Expr, b: Expr) -> bool:
        match a, b:
            case Const(), Const():
                return a is b
            case Position(at=p), Position(at=q):
                return self._at(p, q)
            case Access(), Access():
                return self._agree_on_access(a, b)
            case Apply(fn=f, args=xs), Apply(fn=g, args=ys):
                return f == g and len(xs) == len(ys) and all(map(self.agree, xs, ys))
            case Cast(body=x), Cast(body=y):
                return self.agree(x, y)
            case Fold(), Fold():
                return self._agree_on_fold(a, b)
            case Join(), Join():
                extents = a.extents == b.extents and len(a.pieces) == len(b.pieces)
                return extents and self.bind(a.along, b.along) and all(map(self.agree, a.pieces, b.pieces))
            case _:
                return False

    def _agree_on_fold(self, a: Fold, b: Fold) -> bool:
        if a.fn != b.fn or len(a.over) != len(b.over) or not self.agree(a.body, b.body):
            return False
        if {self.names.get(n) for n in a.over} != set(b.over):
            return False
        is_rounded = a.fn in ("add", "multiply") and not a.dtype.is_integer
        # Sums of rows that lie elsewhere in memory are formed in another order by some runtimes.
        self.is_exact = self.is_exact and not is_rounded
        return True

    def _agree_on_access(self, a: Access, b: Access) -> bool:
        x, y = a.tensor, b.tensor
        perm = self.perms.get(x.name, tuple(range(x.rank)))
        if x.name != y.name or len(perm) != len(b.at) or not _is_permuted_tensor(x, y, perm):
            return False
        # Plain indices first: others are compared when these are known.
        pairs = [(0 if p < 0 else a.at[p], q) for p, q in zip(perm, b.at, strict=True)]
        pairs.sort(key=lambda pair: isinstance(pair[0], Expr) or plain(pair[0]) is None)
        return all(self._at(p, q) for p, q in pairs)

    def _at(self, p: Dim | Expr, q: Dim | Expr) -> bool:
        if isinstance(p, Expr) or isinstance(q, Expr):
            return isinstance(p, Expr) and isinstance(q, Expr) and self.agree(p, q)
        mine, theirs = plain(p), plain(q)
        if mine is not None and theirs is not None:
            return self.bind(mine, theirs)
        if len(names(p)) == len(names(q)) == 1 and not self.bind(names(p)[0], names(q)[0]):
            return False
        return substitute_indices(q, {t: index(m) for t, m in self._back.items()}) == p

    def bind(self, mine: str, theirs: str) -> bool:
        """Lets two indices correspond; returns whether they can."""
        return self.names.setdefault(mine, theirs) == theirs and self._back.setdefault(theirs, mine) == mine


def _is_permuted_tensor(x: Tensor, y: Tensor, perm: Permutation) -> bool:
    """Returns whether a tensor is another one with permuted axes, seen through the same views."""
    if x.dtype is not y.dtype or len(x.steps) != len(y.steps):
        return False
    for (view, shape), (other, permuted) in zip(x.steps, y.steps, strict=True):
        if (
            len(shape) != len(perm)
            or -1 in perm
            or not _moved(shape, permuted, perm)
            or not _is_permuted_view(view, other, perm)
        ):
            return False
    return x.rank == len([p for p in perm if p >= 0]) and _moved(x.shape, y.shape, perm)


def _moved(values: Sequence[object], permuted: Sequence[object], perm: Permutation) -> bool:
    return tuple([1 if p < 0 else values[p] for p in perm]) == tuple(permuted)


def _is_permuted_view(view: View, other: View, perm: Permutation) -> bool:
    match view, other:
        case Padded(), Padded():
            is_same = view.mode == other.mode and repr(view.fill) == repr(other.fill)
            return is_same and _moved(view.before, other.before, perm) and _moved(view.after, other.after, perm)
        case Dilated(), Dilated():
            return _moved(view.factors, other.factors, perm)
        case _:
            # The position in memory depends on the order of the axes.
            return view is other and is_identity(perm)
