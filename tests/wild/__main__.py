"""Command line of the driver; see the package's description."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Self

from tests import wild
from tests.pool import judge_all
from tests.wild.alone import ended_by
from tests.wild.files import cases_in
from tests.wild.outcomes import Outcome
from tests.wild.stages import MEMORY_BYTES, STAGES, Judge
from tests.wild.table import failure_lines, measure_lines, stage_lines


def main() -> None:
    """Judges all files and prints the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.wild", description=wild.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="where model files lie, at any depth")
    parser.add_argument("--stages", default="", help=f"of {', '.join(STAGES)}, with commas; all by default")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="files whose path below the folder matches")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth case only")
    parser.add_argument("--limit", type=float, default=30.0, metavar="SECONDS", help="time for one stage of one file")
    parser.add_argument("--memory", type=int, default=MEMORY_BYTES, metavar="BYTES", help="of each process")
    parser.add_argument("--processes", type=int, default=2, help="0 judges all in this process")
    parser.add_argument("--results", type=Path, metavar="FILE", help="one line of JSON for each case, as they come")
    arguments = parser.parse_args()
    stages = [s for s in arguments.stages.split(",") if s]
    if unknown := [s for s in stages if s not in STAGES]:
        parser.error(f"no stage {unknown[0]}")
    cases = cases_in(arguments.folders, stages, arguments.only)[:: arguments.every]
    outcomes: list[Outcome] = []
    with Results(arguments.results) as results:
        for outcome in judge_all(
            cases,
            partial(Judge, arguments.memory if arguments.processes else 0),
            partial(ended_by, limit_seconds=arguments.limit),
            processes=arguments.processes,
            limit_seconds=arguments.limit,
        ):
            outcomes.append(outcome)
            results.add(outcome)
            if sys.stderr.isatty():
                print(f"\r{len(outcomes)} of {len(cases)}", end="", file=sys.stderr, flush=True)
    print("\n".join(lines_of(outcomes)))


def lines_of(outcomes: Sequence[Outcome]) -> list[str]:
    """The whole report."""
    return [*failure_lines(outcomes), "", *measure_lines(outcomes), "", *stage_lines(outcomes)]


class Results:
    """A file of outcomes, one in a line; nothing when there is none."""

    def __init__(self, path: Path | None) -> None:
        self._file = path.open("w", encoding="utf-8") if path else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            self._file.close()

    def add(self, outcome: Outcome) -> None:
        if self._file:
            case, verdict, reason, seconds, measures = outcome
            line = {
                "file": case.file.name,
                "stage": case.stage,
                "verdict": verdict.value,
                "reason": reason,
                "seconds": round(seconds, 3),
                "measures": measures,
            }
            print(json.dumps(line), file=self._file, flush=True)


if __name__ == "__main__":
    main()
