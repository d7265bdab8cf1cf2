"""Rewrite rules as rules of legalizations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from commonir.ir.operation import Value
from commonir.ods import Op
from commonir.ods.terms import Computed, Rewrite
from commonir.rewrite.build_results import Refused, ResultBuilder, op_class
from commonir.rewrite.legality import Mismatch
from commonir.rewrite.legalize import Context, LegalizationRule, Replacement
from commonir.rewrite.matching import Compiled
from commonir.rewrite.rule_set import RuleSet
from commonir.rewrite.subterms import operations_in, subterms


def pattern_rules(rewrites: Iterable[Rewrite]) -> Iterator[LegalizationRule]:
    """Yields a rule of a legalization for each rewrite rule, in the order in which rewriting tries them.

    It matches operations of the source, and may change types. Raises: DiagnosticError (E0604 to E0606).
    """
    rules = RuleSet(rewrites)
    definitions = dict.fromkeys([rule.definition for rule in rules])
    for definition in definitions:
        yield from [_rule_of(c) for c in rules.for_definition(definition) if c.definition is definition]


def _rule_of(compiled: Compiled) -> LegalizationRule:
    rewrite = compiled.rewrite

    def build(op: Op, context: Context, *operands: object) -> Replacement | Mismatch:
        del context, operands
        match = compiled.match(op)
        if match is None:
            return Mismatch(compiled.mismatch(op) or "it does not match")
        builder = ResultBuilder(op, match.bound, may_change_types=True)
        try:
            values: tuple[Value, ...] = builder.build(rewrite.results, rewrite.supplements)
        except Refused as refused:
            return Mismatch(str(refused))
        return Replacement(values, tuple([built for built in builder.built if built.parent is None]))

    return LegalizationRule(
        compiled.definition,
        build,
        name=repr(compiled),
        produces=_produced(rewrite),
        reads_source=True,
    )


def _produced(rewrite: Rewrite) -> tuple[type[Op], ...] | None:
    """Returns the definitions in the result of a rule; None if functions build operations."""
    terms = (*rewrite.results, *rewrite.supplements)
    values = [t for t in subterms(terms) if isinstance(t, Computed)]
    if any(t in terms for t in values):
        return None
    return tuple(dict.fromkeys([op_class(t) for t in operations_in(terms)]))
