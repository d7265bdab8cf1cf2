"""Constraints on dimensions that a definition requires, and the error raised when one cannot hold.

Source: `docs/architecture.md`, "Types that cross borders".
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping

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
from commonir.symbolic.errors import NotationError, Relation

_NEGATED: dict[Relation, Relation] = {"!=": "==", "<": ">=", ">": "<="}
_IN_WORDS: dict[Relation, str] = {
    "==": "", "!=": "other than ", "<=": "at most ", "<": "less than ", ">=": "at least ", ">": "more than "
}  # fmt: skip
_OF_NUMBERS: dict[Relation, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
}


class Constraint:
    """A requirement that inference cannot decide: `lhs relation rhs`, for example `N == M`.

    `why` is the reason, `label` is the label of the constraint in the definition of the operation. It need not hold
    when one of the dimensions in `unless_empty` is zero. With `is_broadcast` it is sufficient, not necessary: one of
    the sides may also be 1, and is then broadcast.
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
        """Names of the symbols in it."""
        dims = (self.lhs, self.rhs, *self.unless_empty)
        return tuple(dict.fromkeys(n for d in dims for n in symbols(d)))

    def holds(self, values: Mapping[str, int]) -> bool:
        """Returns whether it holds for these values of its symbols; it does not where it divides by zero.

        Raises: ValueError when a symbol has no value.
        """
        try:
            if any(evaluate(n, values) == 0 for n in self.unless_empty):
                return True
            return bool(decide(evaluate(self.lhs, values), self.relation, evaluate(self.rhs, values)))
        except ZeroDivisionError:
            return False

    def violation(self, values: Mapping[str, int]) -> str:
        """Returns in words why it does not hold for these values of its symbols."""
        lhs, rhs = (_with_value(n, values) for n in (self.lhs, self.rhs))
        return f"{self.why}: {_violation(lhs, self.relation, rhs, self.is_broadcast)}"

    def solution(self, name: str, values: Mapping[str, int]) -> int | None:
        """Returns the positive value of one of its symbols that satisfies an equation, for given values of the others;
        None when there is none, or the symbol does not occur linearly.
        """
        if self.relation != "==":
            return None
        difference = substitute(self.lhs - self.rhs, {n: v for n, v in values.items() if n != name})
        factor = coefficient(difference, name, is_index=False)
        if not factor:
            return None
        dim, rest = divmod(-evaluate(difference, {name: 0}), factor)
        return dim if dim > 0 and not rest else None

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
        """Returns the same constraint with a label."""
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
    """Returns nothing when the relation is proven, a constraint when it is undecided.

    `why` may be a function, called only when the text is needed.
    Raises: NotationError when the relation cannot hold.
    """
    answer = decide(lhs, relation, rhs)
    if answer or any(n == 0 for n in unless_empty):
        return ()
    reason = why if isinstance(why, str) else why()
    empty = tuple(n for n in unless_empty if not at_least(n, 1))
    if answer is False and not empty:
        text = f"{reason}: {_violation(lhs, relation, rhs, is_broadcast)}"
        raise NotationError(text, lhs=lhs, relation=relation, rhs=rhs, why=reason, label=label)
    return (Constraint(lhs, relation, rhs, reason, label, empty, is_broadcast),)


def _violation(lhs: Dim | str, relation: Relation, rhs: Dim | str, is_broadcast: bool = False) -> str:
    """Returns in words that a relation does not hold; the left side is the dim that was found."""
    if is_broadcast:
        return f"{lhs} and {rhs} differ, and neither is 1"
    return f"expected {_IN_WORDS[relation]}{rhs}, found {lhs}"


def _with_value(dim: Dim, values: Mapping[str, int]) -> str:
    """Returns the text of a dim, with its value unless it is a number or divides by zero."""
    try:
        return str(dim) if isinstance(dim, int) else f"{dim} = {evaluate(dim, values)}"
    except ZeroDivisionError:
        return str(dim)


def without_implied(constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """Returns the constraints once each, without those that follow from others.

    Constraints may follow from equations, and those without a label from those with one.
    """
    once = tuple(dict.fromkeys(constraints))
    if not once:
        return ()
    equal = [c for c in once if c.relation == "==" and not c.unless_empty]
    labelled = [c for c in once if c.relation != "==" and c.label is not None and not c.unless_empty]
    if not equal and not labelled:
        return once
    # Those with a label come first; a broadcast is weaker than an equation.
    equal.sort(key=lambda c: (c.label is None, c.is_broadcast))
    result: list[Constraint] = []
    dims: dict[str, Dim] = {}
    for c in equal:
        if c.label is not None or not _follows(c, result, dims):
            result.append(c)
            dims = _with_dim(dims, c)
    declared = [*result, *labelled]
    return tuple([c for c in once if c in result or not _follows(c, declared if c.label is None else result, dims)])


def _with_dim(dims: Mapping[str, Dim], equal: Constraint) -> dict[str, Dim]:
    """Returns values of symbols, with one more if an equation determines it."""
    lhs, rhs = substitute(equal.lhs, dims), substitute(equal.rhs, dims)
    for one, other in ((lhs, rhs), (rhs, lhs)):
        name = plain_symbol(one)
        if name is not None and name not in symbols(other):
            return {n: substitute(dim, {name: other}) for n, dim in dims.items()} | {name: other}
    return dict(dims)


def _follows(c: Constraint, constraints: Iterable[Constraint], dims: Mapping[str, Dim]) -> bool:
    """Returns whether a constraint follows from others, for some values of symbols."""
    if dims and decide(substitute(c.lhs, dims), c.relation, substitute(c.rhs, dims)):
        return True
    difference = c.lhs - c.rhs
    if c.relation in ("==", "!="):
        return any(d.relation == c.relation and d.lhs - d.rhs in (difference, -difference) for d in constraints)
    # There may be many pairs, of expressions with many maxima.
    return any(is_plainly_at_least(own, known) for own in c.slacks for d in constraints for known in d.slacks)
