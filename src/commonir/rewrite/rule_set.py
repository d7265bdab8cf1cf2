"""Rewrite rules in the order in which they are tried: the most discriminating first.

Of two rules that match the same operation, the one with more operations in its source is tried first (a benefit counts
as operations), then the one with more constrained operands and attributes, then the one whose type constraints imply
those of the other. Two rules that are equal in all of these and can match the same operation are an error when they are
loaded. Rules whose precedence is their order come after others of the same benefit, in the given order, and are not
checked.

Source: MLIR operation definitions, op DAG pattern rewrites.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import chain, combinations, islice, product

from commonir.base.codes import AMBIGUOUS_RULES
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.ir.attributes import Attribute
from commonir.ir.operation import Operation
from commonir.ods import Op
from commonir.ods.fields import Check, Field
from commonir.ods.patterns import TypeConstraint
from commonir.ods.terms import Anything, OperationTerm, Precedence, Rewrite, StorageCheck, Term, Variable
from commonir.rewrite.matching import Compiled
from commonir.rewrite.sample_types import sampled
from commonir.rewrite.subterms import items_of, operations_in


class RuleSet:
    """A set of compiled rules. Raises: DiagnosticError with all errors (E0604 to E0606)."""

    __slots__ = ("_by_definition", "_cache", "rules")

    def __init__(self, rewrites: Iterable[Rewrite]) -> None:
        diagnostics = Diagnostics()
        self.rules: list[Compiled] = []
        for rewrite in rewrites:
            try:
                self.rules.append(Compiled(rewrite))
            except DiagnosticError as error:
                diagnostics.extend(error.diagnostics)
        self._by_definition: dict[type[Op], list[Compiled]] = {}
        for rule in self.rules:
            self._by_definition.setdefault(rule.definition, []).append(rule)
        diagnostics.extend(_ambiguities(self._by_definition))
        diagnostics.raise_errors()
        self._cache: dict[type[Operation], tuple[Compiled, ...]] = {}

    def for_operation(self, op: Operation) -> tuple[Compiled, ...]:
        """Returns the rules whose root is the definition of an operation, in the order in which they are tried."""
        return self.for_definition(type(op))

    def for_definition(self, op_class: type[Operation]) -> tuple[Compiled, ...]:
        """Returns the rules whose root is a definition, in the order in which they are tried."""
        result = self._cache.get(op_class)
        if result is None:
            rules = [r for base in op_class.__mro__ for r in self._by_definition.get(base, ()) if r.takes(op_class)]
            result = self._cache[op_class] = tuple(_in_order(rules))
        return result

    def prefers_users(self) -> bool:
        """Returns whether users should be visited before their operands.

        That is so if the source of a rule contains operations that are the root of another: the more discriminating
        rule must be tried first.
        """
        reported = [r.rewrite for r in self.rules if r.rewrite.precedence is Precedence.DISCRIMINATION]
        roots = Counter([rule.source.definition for rule in reported])
        return any(
            roots[term.definition] > (term.definition is rule.source.definition)
            for rule in reported
            for term in islice(operations_in(rule.source), 1, None)
        )

    def mismatches(self, op: Operation) -> dict[str, str]:
        """Returns why each rule for the definition of an operation does not apply to it, by the names of the rules."""
        reasons = {repr(r): r.mismatch(op) for r in self.for_operation(op)}
        return {name: reason for name, reason in reasons.items() if reason is not None}

    def __iter__(self) -> Iterator[Compiled]:
        return iter(self.rules)


def specificity(rewrite: Rewrite) -> tuple[int, int]:
    """Returns how discriminating a rule is: operations of its source with its benefit, then constrained terms."""
    operations = constrained = 0
    names: set[str] = set()
    pending: list[tuple[object, Field | None]] = [(rewrite.source, None)]
    while pending:
        term, field = pending.pop()
        match term:
            case OperationTerm():
                operations += 1
                fields = term.definition.layout.by_name
                pending += [(t, fields[name]) for name, t in term.fields.items()]
                pending += [(t, None) for t in term.extra.values()]
            case Variable():
                constrained += _restricts(term, field) + (term.name in names)
                names.add(term.name)
            case Anything():
                pass
            case _:
                constrained += 1
                pending += [(t, field) for t in items_of(term) or ()]
    return operations + rewrite.benefit, constrained + len(rewrite.restrictions)


def _restricts(variable: Variable, field: Field | None) -> bool:
    """Returns whether a variable requires more than the definition of its field."""
    constraint = variable.constraint
    if constraint is None or field is None:
        return constraint is not None
    if isinstance(constraint, TypeConstraint) and isinstance(field.pattern, TypeConstraint):
        return not sampled(field.pattern) <= sampled(constraint)
    return constraint is not field.check


def _in_order(rules: Iterable[Compiled]) -> Iterator[Compiled]:
    """Yields rules in the order in which they are tried."""
    groups: dict[tuple[int, bool, int], list[Compiled]] = {}
    for rule in rules:
        benefit, constrained = specificity(rule.rewrite)
        by_order = rule.rewrite.precedence is Precedence.ORDER
        groups.setdefault((-benefit, by_order, 0 if by_order else -constrained), []).append(rule)
    for key in sorted(groups):
        yield from groups[key] if key[1] else _by_implication(groups[key])


def _by_implication(rules: list[Compiled]) -> Iterator[Compiled]:
    """Yields rules in the given order, except that rules with stronger constraints come first."""
    later: dict[Compiled, list[int]] = {rule: [] for rule in rules}
    number = {rule: n for n, rule in enumerate(rules)}
    waits_for = [0] * len(rules)
    for a, b in _meeting(rules):
        implied = _implied(a.rewrite.source, b.rewrite.source)
        if implied:
            before, after = (a, b) if implied > 0 else (b, a)
            later[before].append(number[after])
            waits_for[number[after]] += 1
    ready = [n for n, count in enumerate(waits_for) if not count]
    while ready:
        rule = rules[heappop(ready)]
        yield rule
        for n in later[rule]:
            waits_for[n] -= 1
            if not waits_for[n]:
                heappush(ready, n)


def _meeting(rules: Sequence[Compiled]) -> Iterator[tuple[Compiled, Compiled]]:
    """Yields pairs of rules, except those that require different literals of one field, the one most often required."""
    sources = [(r, r.rewrite.source) for r in rules]
    demanded = Counter([name for _, s in sources for name in s.fields if _key(s, name) is not None])
    name = next((name for name, _ in demanded.most_common(1)), "")
    free: list[Compiled] = []
    by_literal: dict[object, list[Compiled]] = {}
    for rule, source in sources:
        key = _key(source, name)
        (free if key is None else by_literal.setdefault(key, [])).append(rule)
    for same in by_literal.values():
        yield from combinations(same, 2)
        yield from product(same, free)
    yield from combinations(free, 2)


def _key(source: OperationTerm, name: str) -> object:
    """Returns the literal that a source requires of a field; None if there is none, or if the operands commute."""
    term = source.fields.get(name, _FREE)
    is_one = isinstance(term, Hashable) and _is_literal(term) and items_of(term) is None
    return term if is_one and not source.swaps else None


def _ambiguities(by_definition: Mapping[type[Op], Sequence[Compiled]]) -> Iterator[Diagnostic]:
    """Yields a diagnostic for each two rules that match the same operations and are equally discriminating."""
    for definition, own in by_definition.items():
        inherited = [r for base in definition.__mro__[1:] for r in by_definition.get(base, ())]
        groups: dict[tuple[int, int], list[Compiled]] = {}
        for rule in (*own, *inherited):
            if rule.rewrite.precedence is not Precedence.ORDER:
                groups.setdefault(specificity(rule.rewrite), []).append(rule)
        for a, b in chain.from_iterable(map(_meeting, groups.values())):
            # Two inherited rules are reported where they are defined.
            if definition in (a.definition, b.definition) and _are_ambiguous(a.rewrite.source, b.rewrite.source):
                message = f"rules {a!r} and {b!r} match the same operations and are equally discriminating"
                where = ", ".join([r.rewrite.position for r in (a, b) if r.rewrite.position])
                yield Diagnostic(AMBIGUOUS_RULES, message, where=where)


def _are_ambiguous(a: OperationTerm, b: OperationTerm) -> bool:
    """Returns whether two equally specific sources can match the same operation, and neither implies the other."""
    return _implied(a, b) == 0 and _may_both_match(a, b)


def _pairs(first: OperationTerm, second: OperationTerm) -> Iterator[tuple[object, object]]:
    """Yields the pairs of terms that two patterns have for the same fields, nested operations included."""
    pending = [(first, second)]
    while pending:
        a, b = pending.pop()
        fields = a.definition.layout.by_name
        for name in {**a.fields, **b.fields}:
            first_term, second_term = a.fields.get(name, _FREE), b.fields.get(name, _FREE)
            if isinstance(first_term, OperationTerm) and isinstance(second_term, OperationTerm):
                definitions = first_term.definition, second_term.definition
                if issubclass(*definitions) or issubclass(definitions[1], definitions[0]):
                    pending.append((first_term, second_term))
                    continue
            field, first_items, second_items = fields.get(name), items_of(first_term), items_of(second_term)
            if first_items is not None and second_items is not None and len(first_items) == len(second_items):
                yield from (
                    (_effective(x, field), _effective(y, field)) for x, y in zip(first_items, second_items, strict=True)
                )
            else:
                yield _effective(first_term, field), _effective(second_term, field)
        for name in {**a.extra, **b.extra}:
            yield a.extra.get(name, _FREE), b.extra.get(name, _FREE)


def _effective(term: object, field: Field | None) -> object:
    """Returns the term of a field; a free one if it requires no more than the definition."""
    return _FREE if isinstance(term, Variable) and not _restricts(term, field) else term


_FREE = Anything()


def _may_both_match(first: OperationTerm, second: OperationTerm) -> bool:
    return any(
        all(_may_agree(a, b) for a, b in _pairs(one, other))
        for one, other in product(_orders(first), list(_orders(second)))
    )


def _orders(term: OperationTerm) -> Iterator[OperationTerm]:
    """Yields a source with each order of its commutative operands."""
    if not any(t.swaps for t in operations_in(term)):
        yield term
        return
    nested = {n: list(_orders(t)) if isinstance(t, OperationTerm) else [t] for n, t in term.fields.items()}
    for chosen in product(*nested.values()):
        fields = dict(zip(nested, chosen, strict=True))
        for swapped in product((False, True), repeat=len(term.swaps)):
            order = dict(fields)
            for (a, b), is_on in zip(term.swaps, swapped, strict=True):
                if is_on:
                    order[a], order[b] = order.get(b, _FREE), order.get(a, _FREE)
            yield OperationTerm(term.definition, order, extra=term.extra)


def _may_agree(a: object, b: object) -> bool:
    """Returns whether one value or attribute can match two terms."""
    if isinstance(a, OperationTerm) and isinstance(b, OperationTerm):
        return False  # of different definitions
    if items_of(a) is not None and items_of(b) is not None:
        return False  # of different lengths
    constraints = _constraint_of(a), _constraint_of(b)
    if isinstance(constraints[0], TypeConstraint) and isinstance(constraints[1], TypeConstraint):
        return bool(sampled(constraints[0]) & sampled(constraints[1]))
    if isinstance(constraints[0], Check) and _is_literal(b):
        return _may_hold(constraints[0], b)
    if isinstance(constraints[1], Check) and _is_literal(a):
        return _may_hold(constraints[1], a)
    return not (_is_literal(a) and _is_literal(b)) or a == b


def _constraint_of(term: object) -> TypeConstraint | Check | None:
    return term.constraint if isinstance(term, Variable) else None


def _may_hold(check: Check, literal: object) -> bool:
    """Returns whether a literal may satisfy a condition; True when they are about different forms of an attribute."""
    return isinstance(check, StorageCheck) != isinstance(literal, Attribute) or check.holds(literal)


def _is_literal(term: object) -> bool:
    return not isinstance(term, Term)


def _implied(first: OperationTerm, second: OperationTerm) -> int:
    """Returns 1 when the first rule is stricter than the second, -1 when the second is stricter, else 0."""
    pairs = list(_pairs(first, second))
    forward = all(_implies(a, b) for a, b in pairs)
    backward = all(_implies(b, a) for a, b in pairs)
    return forward - backward


def _implies(a: object, b: object) -> bool:
    """Returns whether everything that one term matches is matched by another."""
    if isinstance(b, Anything) or (isinstance(b, Variable) and b.constraint is None):
        return True
    one, two = _constraint_of(a), _constraint_of(b)
    if isinstance(one, TypeConstraint) and isinstance(two, TypeConstraint):
        return sampled(one) <= sampled(two)
    if isinstance(two, Check):
        return one is two or (_is_literal(a) and _may_hold(two, a))
    return _is_literal(a) and _is_literal(b) and a == b
