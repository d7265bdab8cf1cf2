"""Reports on rewrite rules: how often each was applied, and why not to the remaining operations."""

from __future__ import annotations

from collections.abc import Mapping

from commonir.ir.operation import Operation
from commonir.ods import path_of
from commonir.reports import RuleMismatch, RuleReport
from commonir.rewrite.matching import Compiled
from commonir.rewrite.rule_set import RuleSet

_MAX_LISTED = 8
"""How many reasons are listed of a rule."""


def explained(root: Operation, rules: RuleSet, applied: Mapping[str, int]) -> list[RuleReport]:
    """Returns a report on each rule after an operation was rewritten; `applied` counts applications by name."""
    counts: dict[Compiled, dict[str, list[Operation]]] = {rule: {} for rule in rules}
    by_name: dict[str, list[Compiled]] = {}
    for rule in rules:
        by_name.setdefault(rule.definition.name, []).append(rule)
    for op in root.walk():
        for rule in rules.for_operation(op) or by_name.get(op.name, ()):
            reason = rule.mismatch(op)
            if reason is not None:
                counts[rule].setdefault(reason, []).append(op)
    return [
        report_of(repr(rule), rule.rewrite.position, applied.get(repr(rule), 0), reasons)
        for rule, reasons in counts.items()
    ]


def report_of(name: str, position: str, applied: int, reasons: Mapping[str, list[Operation]]) -> RuleReport:
    """Returns the report on a rewrite rule; `reasons` maps reasons to operations to which it does not apply."""
    ordered = sorted(reasons.items(), key=lambda entry: -len(entry[1]))
    listed = [RuleMismatch(reason, len(ops), path_of(ops[0])) for reason, ops in ordered[:_MAX_LISTED]]
    others = sum(len(ops) for _, ops in ordered[_MAX_LISTED:])
    return RuleReport(name, position, applied, tuple(listed), others)
