"""`python -m tests.ods.from_records`: definitions loaded from MLIR's TableGen files against mlir-opt.

Prints a table of the operations of each dialect whose text is read and printed as mlir-opt does, and what differs.
"""

from __future__ import annotations

import argparse
import sys

from tests.ods.from_records.conformance import compare_all, table


def main() -> int:
    """Returns 1 when a program is read or printed in another way than by mlir-opt."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2, help="programs made for each operation")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    results = compare_all(asked.count, asked.seed)
    for each in results.differences:
        print(each.detail)
    for each in results.judged:
        print(f"refused here only: {each.detail}")
    print(f"{results.compared} programs that mlir-opt accepts")
    print(table(results))
    return int(bool(results.differences))


if __name__ == "__main__":
    sys.exit(main())
