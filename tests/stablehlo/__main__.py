"""`python -m tests.stablehlo --testdata DIR`: runs StableHLO's own test programs and prints a table per operation.

DIR is `stablehlo/testdata` of the repository openxla/stablehlo, of which nothing is kept here.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from multiprocessing import Pool
from pathlib import Path

from tests.stablehlo.testdata import Outcome, operation_of, programs, run


def _one(path: Path) -> tuple[Path, Outcome]:
    try:
        return path, run(path.read_text())
    except Exception as error:  # noqa: BLE001  a crash is a line of the table
        return path, Outcome("crash", f"{type(error).__name__}: {error}")


def main() -> int:
    """Runs all programs of a folder; 1 when one differs."""
    options = argparse.ArgumentParser(prog="python -m tests.stablehlo", description=__doc__)
    options.add_argument("--testdata", type=Path, required=True, help="the folder with the programs")
    options.add_argument("--only", default="", help="programs whose names begin so")
    options.add_argument("--show", type=int, default=2, help="how many failures of an operation are shown")
    options.add_argument("--jobs", type=int, default=1, help="how many run at the same time")
    arguments = options.parse_args()
    table: dict[str, Counter[str]] = defaultdict(Counter)
    failures: dict[str, list[str]] = defaultdict(list)
    paths = [p for p in programs(arguments.testdata) if p.name.startswith(arguments.only)]
    with Pool(arguments.jobs) as pool:
        for path, outcome in pool.imap(_one, paths, chunksize=4):
            name = operation_of(path)
            table[name][outcome.step] += 1
            if outcome.step not in ("equal", "nothing checked"):
                failures[name].append(f"{path.name}: {outcome.step}: {outcome.detail}")
    total: Counter[str] = Counter()
    for name, counts in sorted(table.items()):
        total.update(counts)
        print(f"{name:44} {'  '.join([f'{step} {n}' for step, n in sorted(counts.items())])}")
        for line in failures[name][: arguments.show]:
            print(f"    {line[:300]}")
    print(f"{'all':44} {'  '.join([f'{step} {n}' for step, n in sorted(total.items())])}")
    return int(any(failures.values()))


if __name__ == "__main__":
    raise SystemExit(main())
