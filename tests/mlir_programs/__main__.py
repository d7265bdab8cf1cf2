"""Compares what we print with what mlir-opt prints, over many seeds; prints a table by dialect and operation.

python -m tests.mlir_programs --seeds 20

With a folder, the programs of the files in it instead: `python -m tests.mlir_programs --files FOLDER`.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from tests.mlir_programs import comparison, files, oracle, programs
from tests.mlir_programs.comparison import FORMS


def main() -> None:
    """Runs the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--extra", type=int, default=3, help="statements beside the one that a program is made for")
    parser.add_argument("--wrong", type=int, default=20, help="wrong programs of each kind and seed")
    parser.add_argument("--show", type=int, default=5, help="differences to show")
    parser.add_argument("--files", type=Path, help="a folder whose files are compared instead")
    options = parser.parse_args()
    if options.files is not None:
        _compare_files(options.files, options.show)
        return
    count = accepted = wrong = agreed = 0
    uses: Counter[str] = Counter()
    differing: Counter[str] = Counter()
    shown: list[str] = []
    for seed in range(options.first, options.first + options.seeds):
        sources = comparison.generated(seed, extra=options.extra)
        answers = oracle.ask(sources, oracle.GENERIC)
        good = [s for s, a in zip(sources, answers, strict=True) if a.text is not None]
        count, accepted = count + len(sources), accepted + len(good)
        for answer in answers:
            uses.update(programs.reached_in(answer.text or ""))
        for form in FORMS:
            for difference in comparison.differences(good, form):
                differing[form.name] += 1
                shown.append(f"seed {seed}, {form.name}:\n{difference.lines}")
        for verdict in comparison.verdicts(list(comparison.mutated(seed, options.wrong))):
            wrong, agreed = wrong + 1, agreed + (verdict.agree or comparison.is_known(verdict))
            if not verdict.agree and not comparison.is_known(verdict):
                shown.append(f"seed {seed}, {verdict.name}: mlir-opt: {verdict.theirs}; we: {verdict.ours}")
    print(f"{count} programs, {accepted} accepted by mlir-opt; printed differently: {dict(differing) or 'none'}")
    print(f"{wrong} programs made wrong, the same verdict on {agreed}")
    for text in shown[: options.show]:
        print(text)
    for name in programs.NAMES:
        own = {k: n for k, n in sorted(uses.items()) if k.startswith(f"{name}.")}
        all_ = sorted(k for k in programs.KNOWN if k.startswith(f"{name}."))
        print(f"\n{name}: {len(own)} of {len(all_)} operations")
        print("  " + ", ".join([f"{k.partition('.')[2]} {own.get(k, 0)}" for k in all_]))


def _compare_files(folder: Path, show: int) -> None:
    result = files.compared(folder)
    print(f"{folder}: " + ", ".join([f"{n} {kind}" for kind, n in sorted(result.counts.items())]))
    for text in result.differences[:show]:
        print(text)


if __name__ == "__main__":
    main()
