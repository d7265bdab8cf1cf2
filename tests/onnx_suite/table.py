"""The outcomes as text: a line per operator, those that did not pass, totals and times."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from tests.onnx_suite.outcomes import Outcome, Verdict


def by_operator(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """The outcomes of each operator, in order of names."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.case.operator].append(outcome)
    return dict(sorted(groups.items()))


def count(outcomes: Iterable[Outcome], verdict: Verdict) -> int:
    return sum(outcome.verdict is verdict for outcome in outcomes)


def operator_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """A line per operator: how many cases ended how, the largest error, and the first reason of each kind."""
    lines = [f"{'operator':36} {'pass':>5} {'unsup':>5} {'fail':>5} {'error':>8} {'ms':>8}"]
    for operator, group in by_operator(outcomes).items():
        passed, unsupported, failed = (count(group, verdict) for verdict in Verdict)
        errors = [outcome.error for outcome in group if outcome.error is not None]
        error = f"{max(errors):.1e}" if errors else "-"
        milliseconds = 1e3 * sum(outcome.seconds for outcome in group)
        lines.append(f"{operator:36} {passed:5} {unsupported:5} {failed:5} {error:>8} {milliseconds:8.1f}")
    return lines


def reason_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Each case that did not pass."""
    return [
        f"{outcome.verdict.value:11} {outcome.case.operator:24} {outcome.case.name}: {outcome.reason}"
        for outcome in outcomes
        if outcome.verdict is not Verdict.PASS
    ]


def reason_counts(outcomes: Sequence[Outcome]) -> list[str]:
    """The reasons of what did not pass with how often they occur, the most frequent first."""
    reasons = Counter(
        f"{outcome.verdict.value}: {outcome.reason}" for outcome in outcomes if outcome.verdict is not Verdict.PASS
    )
    return [f"{times:5} {reason}" for reason, times in reasons.most_common()]


def total_line(name: str, outcomes: Sequence[Outcome]) -> str:
    """How many passed, were refused and failed, and the time."""
    passed, unsupported, failed = (count(outcomes, verdict) for verdict in Verdict)
    operators = by_operator(outcomes).values()
    complete = sum(count(group, Verdict.PASS) == len(group) for group in operators)
    preparing = sum(outcome.prepare_seconds for outcome in outcomes)
    running = sum(outcome.run_seconds for outcome in outcomes)
    return (
        f"{name}: {passed} of {len(outcomes)} pass, {unsupported} unsupported, {failed} fail; "
        f"{complete} of {len(operators)} operators pass all; "
        f"{preparing + running:.2f} s of processor time ({preparing:.2f} preparing, {running:.2f} running)"
    )


def note_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Returns the changes of models that let them pass, with their counts."""
    notes = Counter(
        outcome.reason.partition(":")[0] for outcome in outcomes if outcome.verdict is Verdict.PASS and outcome.reason
    )
    return [f"of those that pass, {times} with a note '{note}'" for note, times in notes.most_common()]


def slowest_lines(outcomes: Sequence[Outcome], limit: int = 10) -> list[str]:
    """The cases that took longest."""
    slowest = sorted(outcomes, key=lambda outcome: -outcome.seconds)[:limit]
    return [f"{1e3 * o.prepare_seconds:9.1f} + {1e3 * o.run_seconds:9.1f} ms  {o.case.name}" for o in slowest]
