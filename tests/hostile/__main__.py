"""Command line of the fuzzer; see the package's description."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path

from tests import hostile
from tests.hostile.cases import Mutant, mutant, mutants, suffix_of, write_mutant
from tests.hostile.seeds import all_seeds
from tests.hostile.stages import CASE_SECONDS, Judge, ended
from tests.pool import judge_all
from tests.wild.__main__ import Results
from tests.wild.outcomes import Outcome, Verdict
from tests.wild.table import failure_lines, stage_lines

FAULTS = (Verdict.CRASH, Verdict.HANG, Verdict.WRONG)
_BATCH = 100


def main() -> int:
    """Judges the cases and prints the tables; returns 1 when there is a fault."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.hostile",
        description=hostile.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--count", type=int, default=1000, metavar="N", help="changed models")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first one")
    parser.add_argument("--seconds", type=float, metavar="S", help="begin no more of them after this time")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="seeds whose name matches")
    parser.add_argument("--number", type=int, metavar="N", help="the case of this number of each of these seeds")
    parser.add_argument("--seeds", nargs="*", type=Path, default=[], metavar="FOLDER", help="with further models")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write the models with faults there")
    parser.add_argument("--results", type=Path, metavar="FILE", help="one line of JSON for each stage of each case")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seeds = all_seeds(Path(folder), arguments.seeds)
        chosen = [seed for seed in seeds if fnmatch(seed.name, arguments.only)]
        if not chosen:
            parser.error("no seed has such a name")
        if arguments.number is None:
            cases = mutants(seeds, chosen, arguments.count, arguments.first)
        else:
            groups = [[other for other in seeds if suffix_of(other.entry) == suffix_of(seed.entry)] for seed in chosen]
            cases = [mutant(seed, arguments.number, group) for seed, group in zip(chosen, groups, strict=True)]
        outcomes = list(_outcomes(cases, arguments))
    faults = [outcome for outcome in outcomes if outcome.verdict in FAULTS]
    print("\n".join([*failure_lines(faults), "", *stage_lines(outcomes), "", *_format_lines(outcomes)]))
    print(f"{len(faults)} faults")
    return int(bool(faults))


def _format_lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yields for each format how many files were changed, and how their stages ended."""
    yield f"{'format':14}{'mutants':>9}" + "".join([f"{v.value:>9}" for v in Verdict])
    by_format: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_format.setdefault(suffix_of(outcome.case.file.path), []).append(outcome)
    for name, group in sorted(by_format.items()):
        counts = Counter([o.verdict for o in group])
        mutants = len({o.case.file.name for o in group})
        yield f"{name:14}{mutants:9}" + "".join([f"{counts[v]:9}" for v in Verdict])


def _outcomes(cases: Sequence[Mutant], arguments: argparse.Namespace) -> Iterator[Outcome]:
    start = time.monotonic()
    by_name = {f"{case.seed.name} --number {case.number}": case for case in cases}
    waiting = iter(cases)
    with Results(arguments.results) as results:
        while batch := list(islice(waiting, _BATCH if arguments.seconds else len(cases))):
            if arguments.seconds and time.monotonic() - start > arguments.seconds:
                return
            for outcomes in judge_all(batch, Judge, ended, processes=arguments.processes, limit_seconds=CASE_SECONDS):
                for outcome in outcomes:
                    results.add(outcome)
                    yield outcome
                    if arguments.keep and outcome.verdict in FAULTS:
                        case = by_name[outcome.case.file.name]
                        write_mutant(case, arguments.keep / outcome.case.file.name.replace("/", "_"))


if __name__ == "__main__":
    sys.exit(main())
