"""`python -m tests.ods.from_records [DIALECT ...]`: definitions loaded from MLIR's TableGen files against mlir-opt.

Prints a table of the operations of each dialect that read and print mlir-opt's text, and the first differences.
"""

from __future__ import annotations

import argparse
import sys

from commonir import tablegen

from tests.ods.from_records.conformance import FILES, compare, table


def main() -> int:
    """Returns 1 when a program is read or printed in another way than by mlir-opt."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dialects", nargs="*", metavar="DIALECT", help=f"of {', '.join(FILES)}; all without")
    parser.add_argument("--count", type=int, default=60, help="programs drawn for each operation")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    sources = tablegen.Sources()
    results = [compare(name, sources, count=asked.count, seed=asked.seed) for name in asked.dialects or FILES]
    for result in results:
        for each in result.differences:
            print(f"{each.operation or result.dialect}: {each.detail}")
    print(table(results))
    return int(any(result.differences for result in results))


if __name__ == "__main__":
    sys.exit(main())
