"""Compares models of single operators with two other evaluators, and reports where not all agree.

python -m tests.onnx_operators --first 0 --count 3000
"""

from __future__ import annotations

import argparse
from collections import Counter

from tests.onnx_operators.verdicts import drawn, judge


def main() -> None:
    """Runs the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=1000, help="how many seeds")
    parser.add_argument("--all", action="store_true", help="show too what one of the others gives as we do")
    options = parser.parse_args()
    kinds: Counter[str] = Counter()
    for seed in range(options.first, options.first + options.count):
        it = drawn(seed)
        v = judge(it)
        others = [isinstance(o, list) for o in (v.reference, v.runtime)]
        if isinstance(v.ours, str):
            kind = "refused" if any(others) else "refused by all"
            kind = kind if v.ours.startswith("refused") else "CRASH"
        elif v.findings:
            kind = "findings"
        elif not any(others):
            kind = "ours alone"
        elif len(v.differing) == sum(others):
            kind = "FAULT"
        else:
            kind = f"as one: {v.differing[0].partition(':')[0]} differs" if v.differing else "same"
        kinds[kind] += 1
        if kind in ("FAULT", "refused", "CRASH", "findings") or (
            options.all and kind not in ("same", "refused by all")
        ):
            why = v.ours if isinstance(v.ours, str) else v.differing or v.findings
            theirs = [o[:150] if isinstance(o, str) else "ran" for o in (v.reference, v.runtime)]
            print(f"{seed} {kind}: {it}\n    {why}\n    reference, onnxruntime: {theirs}", flush=True)
    print(dict(kinds.most_common()))


if __name__ == "__main__":
    main()
