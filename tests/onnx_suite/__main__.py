"""Command line of the suite; see the package's description."""

from __future__ import annotations

import argparse
import cProfile
import pstats
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

from tests import onnx_suite
from tests.onnx_suite.cases import KINDS, Case, load_cases, selected
from tests.onnx_suite.outcomes import Outcome, Verdict, ended
from tests.onnx_suite.remaining import remember
from tests.onnx_suite.routes import ENGINES, PEERS, ROUTES, judging
from tests.onnx_suite.table import note_lines, operator_lines, reason_counts, reason_lines, slowest_lines, total_line
from tests.pool import judge_all

SLOW_POOLING_SECONDS = 1.0
"""Cases that take the peer longer are left out of the second ratio: five poolings, in loops of Python."""


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.onnx_suite",
        description=onnx_suite.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAMES", help="cases or operators; all when none is given")
    parser.add_argument("--kind", choices=[*KINDS, "all"], default="all")
    parser.add_argument("--engine", choices=ENGINES, default=ENGINES[0])
    parser.add_argument(
        "--to",
        choices=[route for route in ROUTES if route],
        help="convert first, and run the result; messages: write again",
    )
    parser.add_argument(
        "--reference-evaluator", action="store_true", help="the same with onnx's evaluator, with ratios"
    )
    parser.add_argument("--peer", choices=PEERS, help="run this evaluator of others instead of ours")
    parser.add_argument("--processes", type=int, default=2, help="0 runs all cases in this process")
    parser.add_argument("--limit", type=float, default=60.0, metavar="SECONDS", help="time for one case")
    parser.add_argument("--reasons", action="store_true", help="count the reasons instead of listing the cases")
    parser.add_argument("--remember", action="store_true", help="write which cases do not pass into remaining.toml")
    parser.add_argument("--profile", action="store_true", help="run in this process, and print where the time goes")
    return parser.parse_args()


def run_all(
    cases: Sequence[Case], make: Callable[[], Callable[[Case], Outcome]], arguments: argparse.Namespace
) -> list[Outcome]:
    """The outcomes in order of the cases; a line of progress on a terminal."""
    outcomes: dict[str, Outcome] = {}
    processes = 0 if arguments.profile else arguments.processes
    for outcome in judge_all(cases, make, ended, processes=processes, limit_seconds=arguments.limit):
        outcomes[outcome.case.name] = outcome
        if sys.stderr.isatty():
            print(f"\r{len(outcomes)} of {len(cases)}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)
    return [outcomes[case.name] for case in cases]


def report(name: str, outcomes: Sequence[Outcome], *, counts_reasons: bool) -> None:
    """Prints the table of an evaluator, what did not pass, and the total."""
    lines = [f"== {name}", *operator_lines(outcomes), ""]
    lines += reason_counts(outcomes) if counts_reasons else reason_lines(outcomes)
    print("\n".join([*lines, total_line(name, outcomes), *note_lines(outcomes)]), flush=True)


def ratio_lines(ours: Sequence[Outcome], theirs: Sequence[Outcome]) -> list[str]:
    """Our time over the peer's, for all cases and without those that are slow there."""
    pairs = list(zip(ours, theirs, strict=True))
    quick = [pair for pair in pairs if pair[1].seconds < SLOW_POOLING_SECONDS]
    return [
        f"time {what}: {sum(a.seconds for a, _ in actual):.2f} s to {sum(b.seconds for _, b in actual):.2f} s, "
        f"ratio {sum(a.seconds for a, _ in actual) / sum(b.seconds for _, b in actual):.2f}"
        for what, actual in (("of all cases", pairs), ("without the peer's slow ones", quick))
    ]


def main() -> int:
    """Print the tables; return 1 when a case fails, refusals not counted."""
    arguments = parse_arguments()
    start = time.perf_counter()
    try:
        cases = selected(load_cases(KINDS if arguments.kind == "all" else (arguments.kind,)), arguments.names)
    except KeyError as error:
        sys.exit(f"no case or operator is called {error}")
    make = partial(judging, arguments.engine, arguments.to or "", arguments.peer)
    name = arguments.peer or " ".join(
        ["commonir", arguments.engine, *(("through", arguments.to) if arguments.to else ())]
    )
    profile = cProfile.Profile()
    if arguments.profile:
        profile.enable()
    outcomes = run_all(cases, make, arguments)
    profile.disable()
    report(name, outcomes, counts_reasons=arguments.reasons)
    if arguments.remember:
        remember(arguments.to or "", outcomes)
    if arguments.profile:
        print("\n".join(["slowest cases:", *slowest_lines(outcomes)]))
        pstats.Stats(profile).sort_stats("cumulative").print_stats(60)
    if arguments.reference_evaluator:
        theirs = run_all(cases, partial(judging, "", "", "reference-evaluator"), arguments)
        report("onnx ReferenceEvaluator", theirs, counts_reasons=arguments.reasons)
        print("\n".join(ratio_lines(outcomes, theirs)))
    print(f"{time.perf_counter() - start:.1f} s")
    return 1 if any(outcome.verdict is Verdict.FAIL for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
