"""Turns a program into other dialects by rewrite rules, along the shortest way through what is allowed.

What is legal is said by dialect, by operation, or by a function of the operation. From the rules follows a graph: an
operation can be legalized when it is legal, or when some rule makes nothing but what can be legalized; how many rules
that takes is its distance. Of the rules that match an operation, the one that leads there soonest is applied.
Source: MLIR, dialect conversion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, Diagnostics
from commonir.ir.operation import Operation, Value
from commonir.ods import Op, path_of
from commonir.rewrite.matching import Compiled, operations_in
from commonir.rewrite.replacing import stand_in
from commonir.rewrite.rule_set import RuleSet


class Legality:
    """What a program may consist of.

    What is said of an operation counts more than what is said of its dialect; what nothing is said of is legal when
    `is_partial`, and stays as it is.
    """

    def __init__(
        self,
        *,
        dialects: Iterable[str] = (),
        operations: Iterable[str] = (),
        illegal_dialects: Iterable[str] = (),
        illegal_operations: Iterable[str] = (),
        when: Mapping[str, Callable[[Operation], bool]] | None = None,
        is_partial: bool = False,
    ) -> None:
        self._said = {
            **dict.fromkeys(dialects, True),
            **dict.fromkeys(illegal_dialects, False),
            **dict.fromkeys(operations, True),
            **dict.fromkeys(illegal_operations, False),
        }
        self._when = dict(when or {})
        self._is_partial = is_partial

    def admits_name(self, name: str) -> bool:
        """Whether operations of a name are legal, some of them at least."""
        if name in self._when:
            return True
        return self._said.get(name, self._said.get(name.partition(".")[0], self._is_partial))

    def admits(self, op: Operation) -> bool:
        """Whether an operation is legal."""
        asked = self._when.get(op.name)
        return self.admits_name(op.name) if asked is None else asked(op)


def distances(rules: RuleSet, legality: Legality) -> dict[Compiled, int]:
    """For each rule that leads to legal operations only, how many rules it takes, itself among them."""
    found: dict[Compiled, int] = {}
    of_name: dict[str, int] = {}

    def distance(name: str) -> int | None:
        return 0 if legality.admits_name(name) else of_name.get(name)

    made = {rule: made_by(rule) for rule in rules}
    changed = True
    while changed:
        changed = False
        for rule, names in made.items():
            steps = [distance(n) for n in names]
            known = [s for s in steps if s is not None]
            if len(known) < len(steps):
                continue
            length = 1 + max(known, default=0)
            if length < found.get(rule, length + 1):
                found[rule] = length
                of_name[rule.definition.name] = min(length, of_name.get(rule.definition.name, length))
                changed = True
    return found


def made_by(rule: Compiled) -> frozenset[str]:
    """The names of the operations that a rule makes; what functions of it make is not known."""
    made = (*rule.rewrite.results, *rule.rewrite.supplements)
    return frozenset([term.definition.name for term in operations_in(made)])


def convert_dialects(root: Operation, rules: RuleSet, legality: Legality) -> int:
    """Rewrites everything in an operation until it is legal, in place; how many rules were applied.

    Where it fails, the program is left half-way: give it a copy.
    Raises: DiagnosticError (E0601) with a finding for each operation that cannot be legalized, the reasons as notes.
    """
    return _Conversion(root, rules, legality).run()


class _Conversion:
    """One run."""

    def __init__(self, root: Operation, rules: RuleSet, legality: Legality) -> None:
        self.rules = rules
        self.legality = legality
        self.distances = distances(rules, legality)
        self.ordered: dict[type[Operation], tuple[Compiled, ...]] = {}
        self.pending = [op for op in root.walk() if op is not root]
        self.pending.reverse()
        self.found = Diagnostics()

    def run(self) -> int:
        count = 0
        while self.pending:
            op = self.pending.pop()
            if op.parent is None or self.legality.admits(op):
                continue
            found = self._legalized(op)
            if found is None:
                self._report(op)
                continue
            count += 1
            made, _ = stand_in(op, *found)
            op.erase()
            self.pending += reversed(made)
        self.found.raise_errors()
        return count

    def _candidates(self, op: Operation) -> tuple[Compiled, ...]:
        kind = type(op)
        if kind not in self.ordered:
            leading = [r for r in self.rules.for_operation(op) if r in self.distances]
            # The order among those equally far is kept: the most discriminating first.
            self.ordered[kind] = tuple(sorted(leading, key=self.distances.__getitem__))
        return self.ordered[kind]

    def _legalized(self, op: Operation) -> tuple[Sequence[Value], Sequence[Operation]] | None:
        """Values for the results of an operation, and what was made for them."""
        if not isinstance(op, Op):
            return None
        for rule in self._candidates(op):
            match = rule.match(op)
            values = "" if match is None else rule.build(op, match)
            if match is not None and not isinstance(values, str):
                return values, match.made
        return None

    def _report(self, op: Operation) -> None:
        reasons = self.rules.mismatches(op)
        dead_ends = [repr(r) for r in self.rules.for_operation(op) if r not in self.distances]
        notes = [f"{name}: {reason}" for name, reason in reasons.items()]
        notes += [f"{name}: makes what nothing legalizes" for name in dead_ends if name not in reasons]
        message = f"{op.name} is not legal, and no rule leads from it to what is"
        self.found.extend([Diagnostic(UNSUPPORTED_CONVERSION, message, where=path_of(op), notes=tuple(notes))])


__all__ = ["Legality", "convert_dialects", "distances", "made_by"]
