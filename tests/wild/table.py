"""The outcomes as text: a line per stage, and for each stage the kinds of failure with an example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tests.wild.outcomes import Outcome, Verdict


def stage_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """How many files ended how in each stage, and the seconds of all and of the slowest."""
    width = max([len(o.case.stage) for o in outcomes], default=5)
    lines = [f"{'stage':{width}}" + "".join([f"{v.value:>9}" for v in Verdict]) + f"{'seconds':>9}{'slowest':>9}"]
    for stage in dict.fromkeys([o.case.stage for o in outcomes]):
        group = [o for o in outcomes if o.case.stage == stage]
        counts = Counter([o.verdict for o in group])
        seconds = [o.seconds for o in group]
        lines.append(
            f"{stage:{width}}"
            + "".join([f"{counts[v]:9}" for v in Verdict])
            + f"{sum(seconds):9.0f}{max(seconds):9.1f}"
        )
    return lines


def failure_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """The kinds of failure by stage, the most frequent first, each with a file that shows it."""
    groups: dict[tuple[str, Verdict, str], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.verdict not in (Verdict.RIGHT, Verdict.OTHERS):
            groups.setdefault((outcome.case.stage, outcome.verdict, outcome.kind_of_reason), []).append(outcome)
    order = sorted(groups.items(), key=lambda item: (item[0][0], -len(item[1])))
    return [
        f"{stage:12} {verdict.value:8} {len(group):5}  {kind}\n{'':28}{group[0].case.file.name}"
        for (stage, verdict, kind), group in order
    ]


def measure_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Geometric means of the ratios that stages measure: names `a/b` in `measures` are ratios already."""
    import numpy as np  # noqa: PLC0415  the table of failures needs none

    ratios: dict[str, list[float]] = {}
    for outcome in outcomes:
        for name, value in outcome.measures.items():
            if "/" in name and value > 0:
                ratios.setdefault(f"{outcome.case.stage}: {name}", []).append(value)
    return [
        f"{name}: geometric mean {np.exp(np.mean(np.log(values))):.3f}, largest {max(values):.2f}, "
        f"over 1.05 in {sum(v > 1.05 for v in values)} of {len(values)}"
        for name, values in sorted(ratios.items())
    ]
