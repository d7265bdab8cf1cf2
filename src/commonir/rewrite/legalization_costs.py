"""The cost of legalizing operations of a definition: the number of rules in the shortest chain to legal operations.

Products of rules as data are known; a rule that is a function is assumed to give legal operations at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from commonir.ods import Op
from commonir.rewrite.legality import Target

UNREACHABLE = 1 << 20
"""The cost of what no chain of rules makes legal."""


class CostedRule(Protocol):
    """A rule as far as costs depend on it."""

    @property
    def produces(self) -> tuple[type[Op], ...] | None:
        """The definitions of the operations that it gives; None if they are not known before it is applied."""


class Costs:
    """The costs of definitions for the rules of each, computed once. `elsewhere` is the cost of another way."""

    def __init__(
        self,
        target: Target,
        rules_for: Callable[[type[Op]], Iterable[CostedRule]],
        elsewhere: Callable[[type[Op]], int | None],
    ) -> None:
        self._target = target
        self._rules_for = rules_for
        self._elsewhere = elsewhere
        self._costs: dict[type[Op], int] = {}

    def of(self, definition: type[Op]) -> int:
        """Returns the cost of operations of a definition; UNREACHABLE if no chain is known."""
        if definition not in self._costs:
            self._compute(definition)
        return self._costs[definition]

    def of_rule(self, rule: CostedRule) -> int:
        """Returns the cost of an operation that a rule replaces."""
        if rule.produces is None:
            return 1
        return min(UNREACHABLE, 1 + max([self.of(p) for p in rule.produces], default=0))

    def _compute(self, first: type[Op]) -> None:
        """Finds the costs of all definitions that rules lead to, by relaxation, because rules may form cycles."""
        found: dict[type[Op], None] = {first: None}
        pending = [first]
        while pending:
            for rule in self._rules_for(pending.pop()):
                for product in rule.produces or ():
                    if product not in found and product not in self._costs:
                        found[product] = None
                        pending.append(product)
        for definition in found:
            elsewhere = self._elsewhere(definition)
            is_legal = self._target.may_hold(definition.name)
            self._costs[definition] = 0 if is_legal else UNREACHABLE if elsewhere is None else elsewhere
        has_changed = True
        while has_changed:
            has_changed = False
            for definition in found:
                for rule in self._rules_for(definition):
                    products = rule.produces
                    last = 0 if products is None else max([self._costs[p] for p in products], default=0)
                    if last + 1 < self._costs[definition]:
                        self._costs[definition] = last + 1
                        has_changed = True
