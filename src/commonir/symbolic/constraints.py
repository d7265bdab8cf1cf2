"""Facts about dimensions that a definition needs, and the error raised when one cannot hold.

Source: `docs/architecture.md`, "Types that cross borders".
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from commonir.symbolic.analysis import (
    at_least,
    coefficient,
    compare,
    evaluate,
    is_plainly_at_least,
    plain_symbol,
    substitute,
    symbols,
)
from commonir.symbolic.dims import Dim

Relation = Literal["==", "!=", "<=", "<", ">=", ">"]

_NEGATED: dict[Relation, Relation] = {"!=": "==", "<": ">=", ">": "<="}
_OF_NUMBERS: dict[Relation, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
}


class NotationError(ValueError):
    """A kernel that has no meaning: shapes that do not fit, element types that do not agree, an index without range.

    `lhs`, `relation`, `rhs`, `why` and `label` describe the violated fact, when it is one about dimensions.
    """

    def __init__(
        self,
        message: str,
        *,
        lhs: Dim | None = None,
        relation: Relation | None = None,
        rhs: Dim | None = None,
        why: str = "",
        label: str | None = None,
    ) -> None:
        super().__init__(message)
        self.lhs = lhs
        self.relation: Relation | None = relation
        self.rhs = rhs
        self.why = why
        self.label = label


class NotKnownError(NotationError):
    """A rank, dim or element that a definition needs is known only when the program runs.

    Nothing is wrong with the program: engines state the meaning of such an operation when they reach it.
    """


class Constraint:
    """A fact that inference needs and cannot decide: `lhs relation rhs`, for example `N == M`.

    `why` names what needs it, `label` is the label of the rule in the operation's definition. The fact is not needed
    when one of the dimensions in `unless_empty` is zero. `is_broadcast` says that it is sufficient, not necessary: one
    of the sides may also be 1, and then the other stands for both.
    """

    __slots__ = ("is_broadcast", "label", "lhs", "relation", "rhs", "unless_empty", "why")

    def __init__(
        self,
        lhs: Dim,
        relation: Relation,
        rhs: Dim,
        why: str,
        label: str | None = None,
        unless_empty: tuple[Dim, ...] = (),
        is_broadcast: bool = False,
    ) -> None:
        self.is_broadcast = is_broadcast
        self.lhs = lhs
        self.relation: Relation = relation
        self.rhs = rhs
        self.why = why
        self.label = label
        self.unless_empty = unless_empty

    @property
    def _key(self) -> tuple[object, ...]:
        return self.lhs, self.relation, self.rhs, self.why, self.label, self.unless_empty, self.is_broadcast

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constraint) and other._key == self._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def slacks(self) -> tuple[Dim, ...]:
        """Returns the expressions that are at least 0 where it holds: one for an inequality, two for an equation."""
        match self.relation:
            case "==":
                return self.lhs - self.rhs, self.rhs - self.lhs
            case "<=":
                return (self.rhs - self.lhs,)
            case "<":
                return (self.rhs - self.lhs - 1,)
            case ">=":
                return (self.lhs - self.rhs,)
            case ">":
                return (self.lhs - self.rhs - 1,)
            case "!=":
                return ()

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols it speaks of."""
        dims = (self.lhs, self.rhs, *self.unless_empty)
        return tuple(dict.fromkeys(n for d in dims for n in symbols(d)))

    def holds(self, values: Mapping[str, int]) -> bool:
        """Returns whether it is true for these values of its symbols; it is not where they make it divide by zero.

        Raises: ValueError when a symbol has no value.
        """
        try:
            if any(evaluate(n, values) == 0 for n in self.unless_empty):
                return True
            return bool(decide(evaluate(self.lhs, values), self.relation, evaluate(self.rhs, values)))
        except ZeroDivisionError:
            return False

    def solution(self, name: str, values: Mapping[str, int]) -> int | None:
        """Returns the size of one of its symbols that makes an equation true, the others being as they are; None when
        there is none above 0, or the symbol does not occur linearly.
        """
        if self.relation != "==":
            return None
        difference = substitute(self.lhs - self.rhs, {n: v for n, v in values.items() if n != name})
        factor = coefficient(difference, name)
        if not factor:
            return None
        size, rest = divmod(-evaluate(difference, {name: 0}), factor)
        return size if size > 0 and not rest else None

    def bound(self, values: Mapping[str, Dim]) -> tuple[Constraint, ...]:
        """Returns the constraints that remain under these values; () when it is proven. Raises: NotationError when it
        cannot hold.
        """
        empty = tuple(substitute(n, values) for n in self.unless_empty)
        return require(
            substitute(self.lhs, values),
            self.relation,
            substitute(self.rhs, values),
            self.why,
            label=self.label,
            unless_empty=empty,
            is_broadcast=self.is_broadcast,
        )

    def labelled(self, label: str) -> Constraint:
        """Returns the same fact under the label of a rule."""
        return Constraint(self.lhs, self.relation, self.rhs, self.why, label, self.unless_empty, self.is_broadcast)

    def __str__(self) -> str:
        empty = "".join(f", unless {n} is 0" for n in self.unless_empty)
        return f"{self.lhs} {self.relation} {self.rhs} ({self.why}{empty})"

    def __repr__(self) -> str:
        return f"Constraint({self})"


def decide(lhs: Dim, relation: Relation, rhs: Dim) -> bool | None:
    """Returns whether the relation holds: True (for every value of the symbols), False (for none) or None (it
    depends).
    """
    if type(lhs) is int and type(rhs) is int:
        return _OF_NUMBERS[relation](lhs, rhs)
    match relation:
        case "==":
            return compare(lhs, rhs)
        case "<=":
            return True if at_least(rhs, lhs) else False if at_least(lhs, rhs + 1) else None
        case ">=":
            return True if at_least(lhs, rhs) else False if at_least(rhs, lhs + 1) else None
        case _:
            answer = decide(lhs, _NEGATED[relation], rhs)
            return None if answer is None else not answer


def require(
    lhs: Dim,
    relation: Relation,
    rhs: Dim,
    why: str | Callable[[], str],
    *,
    label: str | None = None,
    unless_empty: tuple[Dim, ...] = (),
    is_broadcast: bool = False,
) -> tuple[Constraint, ...]:
    """Nothing when the relation is proven, a constraint when it is undecided.

    `why` may be a function, called only when the text is needed.
    Raises: NotationError when the relation cannot hold.
    """
    answer = decide(lhs, relation, rhs)
    if answer or any(n == 0 for n in unless_empty):
        return ()
    reason = why if isinstance(why, str) else why()
    empty = tuple(n for n in unless_empty if not at_least(n, 1))
    if answer is False and not empty:
        raise NotationError(
            f"{reason}: expected {lhs} {relation} {rhs}", lhs=lhs, relation=relation, rhs=rhs, why=reason, label=label
        )
    return (Constraint(lhs, relation, rhs, reason, label, empty, is_broadcast),)


def without_implied(constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """Returns the constraints once each, without those that follow from others.

    Anything may follow from sizes being equal, and what has no label from what has one.
    """
    once = tuple(dict.fromkeys(constraints))
    if not once:
        return ()
    equal = [c for c in once if c.relation == "==" and not c.unless_empty]
    labelled = [c for c in once if c.relation != "==" and c.label is not None and not c.unless_empty]
    if not equal and not labelled:
        return once
    # What has a label says most; a broadcast asks for less than that sizes are equal.
    equal.sort(key=lambda c: (c.label is None, c.is_broadcast))
    result: list[Constraint] = []
    sizes: dict[str, Dim] = {}
    for c in equal:
        if c.label is not None or not _follows(c, result, sizes):
            result.append(c)
            sizes = _with_size(sizes, c)
    declared = [*result, *labelled]
    return tuple([c for c in once if c in result or not _follows(c, declared if c.label is None else result, sizes)])


def _with_size(sizes: Mapping[str, Dim], equal: Constraint) -> dict[str, Dim]:
    """Returns the sizes of symbols that satisfy an equation for some sizes: one more if the equation determines it."""
    lhs, rhs = substitute(equal.lhs, sizes), substitute(equal.rhs, sizes)
    for one, other in ((lhs, rhs), (rhs, lhs)):
        name = plain_symbol(one)
        if name is not None and name not in symbols(other):
            return {n: substitute(size, {name: other}) for n, size in sizes.items()} | {name: other}
    return dict(sizes)


def _follows(c: Constraint, constraints: Iterable[Constraint], sizes: Mapping[str, Dim]) -> bool:
    """Returns whether a constraint holds where others do, which say that symbols have some sizes."""
    if sizes and decide(substitute(c.lhs, sizes), c.relation, substitute(c.rhs, sizes)):
        return True
    difference = c.lhs - c.rhs
    if c.relation in ("==", "!="):
        return any(d.relation == c.relation and d.lhs - d.rhs in (difference, -difference) for d in constraints)
    # There may be many pairs, of sizes with many maxima in them.
    return any(is_plainly_at_least(own, known) for own in c.slacks for d in constraints for known in d.slacks)
