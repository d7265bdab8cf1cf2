"""Explains the first divergence of a comparison: its likely cause, and how the error grows on the way to an output."""

from __future__ import annotations

from collections import deque

from commonir.base.diagnostics import DiagnosticError
from commonir.comparing.divergence import EXACT, Pair, ValueComparison, precisions
from commonir.comparing.measures import Tolerance
from commonir.inspection.faults.causes import Evidence, likely_cause
from commonir.inspection.faults.isolating import isolated
from commonir.ir.operation import Operation, Value
from commonir.reports import Cause, Comparison


def explained(comparing: ValueComparison, comparison: Comparison) -> Comparison:
    """Returns a comparison whose first divergence has its cause and its path to an output."""
    first = comparison.first_divergence
    if first is None:
        return comparison
    pair = next(p for p in comparing.pairs if p.name == first.name)
    try:
        cause = _cause(comparing, pair, first.constants)
    except DiagnosticError:
        # Operations that cannot be cut out are not looked into.
        cause = None
    result = first.replaced(cause=cause, path=_path(comparing, comparison, pair))
    return comparison.replaced(divergences=(result, *comparison.divergences[1:]))


def _cause(comparing: ValueComparison, pair: Pair, constants: tuple[str, ...]) -> Cause | None:
    first, second = isolated(comparing, pair)
    default = precisions(comparing.a.function).get(pair.a, EXACT)
    default = default.joined(precisions(comparing.b.function).get(pair.b, EXACT))
    # What decides may be narrower than what the types allow, or be no tolerance of elements at all.
    required = comparing.required.of(pair.name, default.rtol)
    tolerance = Tolerance(max(required.rtol, default.rtol), strict=True)
    return likely_cause(Evidence(first, second, tolerance, constants, comparing.options))


def _path(comparing: ValueComparison, comparison: Comparison, pair: Pair) -> tuple[str, ...]:
    """Returns the compared values on a shortest way from one to an output, preferably one that differs."""
    by_value = {p.a: p.name for p in comparing.pairs}
    differing = {value.name for value in comparison.values if not value.is_within}
    outputs = [v for v in comparing.a.function.outputs if v in by_value]
    came_from: dict[Value, Value | None] = {pair.a: None}
    pending = deque([pair.a])
    body = comparing.a.function.body
    while pending:
        value = pending.popleft()
        for user in value.users:
            op = next((o for o in (user, *user.ancestors()) if o.parent is body), None)
            for result in op.results if isinstance(op, Operation) else ():
                if result not in came_from:
                    came_from[result] = value
                    pending.append(result)
    reached = [v for v in outputs if v in came_from]
    end = next((v for v in reached if by_value[v] in differing), reached[0] if reached else pair.a)
    out: list[str] = []
    current: Value | None = end
    while current is not None:
        if current in by_value:
            out.append(by_value[current])
        current = came_from[current]
    return tuple(reversed(out))
