"""The cost of the cases of onnx's backend suite: small models of every operator, against its evaluator and onnxruntime.

Figures: CPU time over that of ReferenceEvaluator for everything up to the first outputs, and for a run of what has run
often, sums over all cases that both run. Cases of which one run takes ReferenceEvaluator very long, poolings in
loops of Python, are listed separately and in no sum. Printed besides: the sums of each evaluator for loading and
preparing, the first run, one of the runs 2 to 10, and one that has settled; the same for the cases that onnxruntime
runs; and the cases whose settled run is slowest over that of ReferenceEvaluator.

The evaluators take turns case by case, in one process with one thread. Whether outputs are right is checked by
`python -m tests.onnx_suite`.
"""

from __future__ import annotations

import gc
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

# Before numpy is loaded: threads of BLAS would be counted, too.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

from benchmarks.harness import report
from tests.onnx_suite.cases import Case, DataSet, data_sets_of, load_cases
from tests.onnx_suite.evaluators import CommonIr, Evaluator, OnnxReference, OnnxRuntime, Unsupported

_OURS, _REFERENCE, _ONNXRUNTIME = "commonir", "ReferenceEvaluator", "onnxruntime"
_EVALUATORS: dict[str, Callable[[], Evaluator]] = {
    _OURS: CommonIr,
    _REFERENCE: OnnxReference,
    _ONNXRUNTIME: OnnxRuntime,
}
_EARLY_RUNS = 9
_RUNS_BEFORE_SETTLED = {_OURS: 30}
"""Runs until nothing more is prepared; the others prepare everything before the first."""
_SETTLED_RUNS = 3
_SLOW_SECONDS = 0.25
"""Cases of which one run takes ReferenceEvaluator longer are listed separately: poolings, in loops of Python."""
_COLLECTED = 100
"""Cases after which garbage is collected, which otherwise would belong to some cases and not to others."""
_TARGET = 0.2
_SLOWEST = 20


class Cost(NamedTuple):
    """CPU seconds of one case."""

    ready: float
    first: float
    early: float
    """One of the runs 2 to 10, on average."""
    settled: float
    """The least of several runs after many."""


def main() -> int:
    """Prints the figures; the exit status is 1 when a target is missed."""
    warnings.simplefilter("ignore")
    costs: dict[str, dict[str, Cost]] = {name: {} for name in _EVALUATORS}
    slow: list[str] = []
    cases = load_cases()
    gc.disable()
    # What an evaluator loads for its first case belongs to no case.
    for number, case in enumerate((cases[0], *cases)):
        if number % _COLLECTED == 0:
            gc.collect()
        sets = list(data_sets_of(case))
        for name, make in _EVALUATORS.items():
            cost = None if case.name in slow else _cost(make(), case, sets, _RUNS_BEFORE_SETTLED.get(name, 1))
            if cost is not None:
                costs[name][case.name] = cost
        theirs = costs[_REFERENCE].get(case.name)
        if theirs is not None and theirs.first > _SLOW_SECONDS:
            slow.append(case.name)
    both = [n for n in costs[_OURS] if n in costs[_REFERENCE] and n not in slow]
    for what, names in (("", both), (f" that {_ONNXRUNTIME} runs", [n for n in both if n in costs[_ONNXRUNTIME]])):
        _print_sums(f"{len(names)} cases{what}", costs, names)
    print(f"not run: {', '.join(f'{name} {len(cases) - len(of_cases)}' for name, of_cases in costs.items())}")
    print(f"apart: {', '.join(slow)}")
    _print_slowest(costs, both)
    print()
    ours, theirs = (_sums(costs[name], both) for name in (_OURS, _REFERENCE))
    until_first = (ours.ready + ours.first) / (theirs.ready + theirs.first)
    results = [
        report(f"the first outputs / {_REFERENCE}", until_first, "x", _TARGET),
        report(f"a settled run / {_REFERENCE}", ours.settled / theirs.settled, "x", _TARGET),
    ]
    return 0 if all(results) else 1


def _cost(evaluator: Evaluator, case: Case, sets: Sequence[DataSet], runs: int) -> Cost | None:
    """Returns the cost of a case; None when the evaluator does not run it."""
    try:
        start = time.process_time()
        run = evaluator.prepare(case.model, sets[0].inputs if sets else {}).run
        ready = time.process_time() - start
        if run is None:
            return None

        def seconds() -> float:
            begin = time.process_time()
            for data in sets:
                run(data.inputs)
            return time.process_time() - begin

        first = seconds()
        if first > _SLOW_SECONDS:
            return Cost(ready, first, first, first)
        early = [seconds() for _ in range(_EARLY_RUNS)]
        for _ in range(runs - _EARLY_RUNS):
            seconds()
        return Cost(ready, first, sum(early) / len(early), min(seconds() for _ in range(_SETTLED_RUNS)))
    except Unsupported:
        return None
    except Exception:  # whatever the others raise for what they do not run
        if isinstance(evaluator, CommonIr):
            raise
        return None


def _sums(costs: dict[str, Cost], names: Sequence[str]) -> Cost:
    """Returns the cost of some cases together."""
    return Cost(*[sum(parts) for parts in zip(*[costs[n] for n in names], strict=True)])


def _print_sums(title: str, costs: dict[str, dict[str, Cost]], names: Sequence[str]) -> None:
    """A line for each evaluator that runs all of some cases."""
    print(f"{title}: CPU milliseconds for all, and over {_REFERENCE}'s")
    print(f"{'':20}" + "".join(f"{field:>19}" for field in Cost._fields))
    base = _sums(costs[_REFERENCE], names)
    for name, of_cases in costs.items():
        if all(n in of_cases for n in names):
            pairs = zip(_sums(of_cases, names), base, strict=True)
            print(f"{name:20}" + "".join(f"{1e3 * x:10.0f} {x / y:7.3f}x" for x, y in pairs))
    print()


def _print_slowest(costs: dict[str, dict[str, Cost]], names: Sequence[str]) -> None:
    ratios = {n: costs[_OURS][n].settled / costs[_REFERENCE][n].settled for n in names}
    print(f"settled runs that take longer than {_REFERENCE}'s: {sum(r > 1 for r in ratios.values())} cases, ", end="")
    print(f"more than twice as long: {sum(r > 2 for r in ratios.values())}; the slowest, microseconds:")
    for name in sorted(ratios, key=lambda n: -ratios[n])[:_SLOWEST]:
        ours, theirs = (1e6 * costs[evaluator][name].settled for evaluator in (_OURS, _REFERENCE))
        print(f"  {name:70} {ours:8.0f} {theirs:8.0f} {ratios[name]:6.1f}x")


if __name__ == "__main__":
    sys.exit(main())
