"""Compares what our passes leave of programs with what mlir-opt leaves; sorts differences by operations more or less.

python -m tests.passes --files FOLDER --passes canonicalize,cse,sccp

Without a folder, the random programs of `random_programs.py`: `python -m tests.passes --seeds 1000`.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path

from commonir.base.diagnostics import DiagnosticError

from tests.mlir_programs import files, oracle
from tests.passes.random_programs import program
from tests.passes.test_against_mlir_opt import ours

_AT_ONCE = 200
_OPERATION = re.compile(r"(?<![#!\w.])(\w+\.[a-z][\w.]*)")


def main() -> None:
    """Runs the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=Path, help="a folder whose files are compared")
    parser.add_argument("--seeds", type=int, default=200, help="how many random programs")
    parser.add_argument("--passes", default="canonicalize,cse,sccp,inline,symbol-dce", help="names, with commas")
    parser.add_argument("--show", default="", help="show the programs that differ so")
    options = parser.parse_args()
    if options.files is None:
        sources = [program(seed, 16) for seed in range(options.seeds)]
    else:
        sources = [s for _, good in files.accepted(options.files, Counter()) for s in good]
    for name in options.passes.split(","):
        result = Counter[str]()
        for start in range(0, len(sources), _AT_ONCE):
            part = sources[start : start + _AT_ONCE]
            for source, answer in zip(part, oracle.ask(part, f"--{name}"), strict=True):
                kind = "refused by mlir-opt" if answer.text is None else _difference(name, source, answer.text)
                result[kind] += 1
                if options.show and options.show in kind:
                    print(f"{kind}:\n{source}\n{answer.text}")
        print(f"{name}: " + "; ".join([f"{n} {kind}" for kind, n in result.most_common()]))


def _difference(name: str, source: str, expected: str) -> str:
    """How what our pass leaves differs: by the operations of which there are more or less."""
    try:
        result = ours(name, source)
    except DiagnosticError as error:
        return f"refused ({error.diagnostics[0].code})"
    if result.strip() == expected.strip():
        return "equal"
    have, want = Counter(_OPERATION.findall(result)), Counter(_OPERATION.findall(expected))
    more, less = sorted(have - want), sorted(want - have)
    return " ".join([*[f"+{op}" for op in more], *[f"-{op}" for op in less]]) or "otherwise"


if __name__ == "__main__":
    main()
