"""`python -m tests.tablegen [NAMES]`: all TableGen files that come with MLIR against llvm-tblgen.

Prints the first difference of each file that differs, how many agree, and the time both took. A file that finds what
it includes in its own folder is accepted here only: llvm-tblgen looks in the folders of `-I` alone.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.tablegen.conformance import Outcome, compare_all
from tests.tablegen.oracle import mlir_include


def main() -> int:
    """Returns 1 when llvm-tblgen accepts a file whose records are others here, or that is refused here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="files, relative to the include folder")
    counts: Counter[Outcome] = Counter()
    ours = theirs = 0.0
    for result in compare_all(mlir_include(), parser.parse_args().names):
        counts[result.outcome] += 1
        ours += result.seconds
        theirs += result.oracle_seconds
        if result.outcome not in (Outcome.EQUAL, Outcome.BOTH_REFUSE):
            print(f"{result.name}: {result.outcome.value}\n  {result.detail}")
    accepted = counts[Outcome.EQUAL] + counts[Outcome.DIFFERENT] + counts[Outcome.REFUSED]
    print(f"{counts[Outcome.EQUAL]} of the {accepted} files that llvm-tblgen accepts have equal records")
    print(", ".join(f"{outcome.value}: {count}" for outcome, count in counts.items()))
    print(f"{ours:.1f} s here, {theirs:.1f} s llvm-tblgen (each in a process of its own): {ours / theirs:.1f} x")
    return int(counts[Outcome.EQUAL] < accepted)


if __name__ == "__main__":
    sys.exit(main())
