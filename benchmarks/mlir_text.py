"""MLIR text read, verified and printed, against mlir-opt and an older tree: `python -m benchmarks.mlir_text`.

Ten exported networks as linalg, stablehlo and tosa without weights, programs of all operations that MLIR's dialects
have as mlir-opt prints them, a generator of 30,000 varied operations, and for growth one synthetic program in two
sizes. Each figure is the CPU time of parse, verify and print in one process, the best of some passes; `--against
FOLDER` runs the same with another tree of this project, in turn with this one, and prints old over new. mlir-opt, which
knows no stablehlo, is measured as it takes more for a file than for an empty one. `--texts FOLDER` keeps the texts of
the networks, which take minutes to make.
Targets over commit 64cd17f1: 1.5 for the networks, 2.0 for the varied operations.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from shutil import which

from commonir.base.diagnostics import DiagnosticError
from commonir.ods import Dialects, verify
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from benchmarks.harness import measure_process
from benchmarks.mlir_networks import write_networks
from benchmarks.mlir_programs import program
from benchmarks.mlir_varied import varied
from tests.mlir_programs.comparison import generated

_ROOT = Path(__file__).resolve().parent.parent
_ROUNDS = 3
_OPERATIONS = 30_000
_SEEDS = 5
_GROWTH = (10_000, 40_000)
_STAGES = """
import gc, json, sys, time
from commonir.base.collecting import search_rarely
search_rarely()
from commonir.ods import Dialects, verify
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_lines
out, dialects = {}, Dialects()
for source in sys.argv[1:]:
    text, runs = open(source).read(), []
    for _ in range(2):
        module = None
        gc.collect()  # a pass is not charged for what earlier ones leave
        times = [time.process_time()]
        module = parse_module(text, dialects)
        times.append(time.process_time())
        assert not [d for d in verify(module, dialects) if d.is_error]
        times.append(time.process_time())
        for line in print_lines(module, elide=None, naming=Naming.MLIR, dialects=dialects):
            pass
        times.append(time.process_time())
        runs.append([b - a for a, b in zip(times, times[1:])])
    out[source] = min(runs, key=sum)
print(json.dumps(out))
"""


def main() -> int:
    """Prints the figures; the exit status is 1 when a target is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--against", type=Path, help="an older tree of this project")
    parser.add_argument("--texts", type=Path, help="where the texts of networks are, or are written")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        networks = write_networks(options.texts or folder / "networks")
        upstream = _written(folder / "upstream.mlir", _upstream_like())
        large = _written(folder / "varied.mlir", varied(_OPERATIONS))
        growth = [_written(folder / f"synthetic{n}.mlir", program(n, generic=False)) for n in _GROWTH]
        trees = [_ROOT, *([options.against.resolve()] if options.against else [])]
        times = _times(trees, [*networks, upstream, large, *growth])
        of_mlir_opt = _mlir_opt_times([p for p in networks if "stablehlo" not in p.name] + [large], folder)
    results = [
        _show("networks", networks, times, 1.5),
        _show("upstream-like programs", [upstream], times, 1.5),
        _show("varied operations", [large], times, 2.0),
    ]
    if of_mlir_opt:
        ours = sum(times[0][p] for p in of_mlir_opt)
        print(f"linalg, tosa and varied / mlir-opt: {ours / sum(of_mlir_opt.values()):.1f}x of CPU")
    small, big = (times[0][p] for p in growth)
    print(f"growth: {_GROWTH[1] / _GROWTH[0]:.0f} times the operations take {big / small:.1f} times as long")
    return 0 if all(results) else 1


def _upstream_like() -> Iterator[str]:
    """Yields programs of every operation, each as a module, in the form that mlir-opt prints."""
    dialects = Dialects()
    for seed in range(_SEEDS):
        for source in generated(seed):
            text = print_module(parse_module(source, dialects), elide=None, naming=Naming.MLIR, dialects=dialects)
            if _stands_alone(text, dialects):
                yield f"module {{\n{text}}}"


def _stands_alone(text: str, dialects: Dialects) -> bool:
    """Returns whether a text may stand among others: mlir-opt prints names that it does not read, and aliases."""
    try:
        return text.startswith("module") and "{-#" not in text and not verify(parse_module(text, dialects), dialects)
    except DiagnosticError:
        return False


def _written(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def _times(trees: Sequence[Path], sources: Sequence[Path]) -> list[dict[Path, float]]:
    """Returns for each tree the least CPU seconds of each file; the trees take turns."""
    results: list[dict[Path, list[float]]] = [{} for _ in trees]
    for _ in range(_ROUNDS):
        for tree, of_tree in zip(trees, results, strict=True):
            environment = {**os.environ, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}"}
            command = [sys.executable, "-c", _STAGES, *map(str, sources)]
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, cwd=tree)
            for source, stages in json.loads(done.stdout).items():
                best = of_tree.setdefault(Path(source), stages)
                of_tree[Path(source)] = min(best, stages, key=sum)
    return [{source: sum(stages) for source, stages in of_tree.items()} for of_tree in results]


def _mlir_opt_times(sources: Sequence[Path], folder: Path) -> dict[Path, float]:
    """Returns the CPU seconds of mlir-opt for each file beyond those for an empty one; nothing without mlir-opt."""
    mlir_opt = which("mlir-opt-22") or which("mlir-opt")
    if mlir_opt is None:
        print("mlir-opt is not installed")
        return {}
    empty = _written(folder / "empty.mlir", ["module {", "}"])

    def seconds(source: Path) -> float:
        command = [mlir_opt, str(source), "-o", os.devnull]
        return statistics.median(measure_process(command).cpu_seconds for _ in range(_ROUNDS))

    start = seconds(empty)
    return {source: max(seconds(source) - start, 1e-4) for source in sources}


def _show(what: str, sources: Sequence[Path], times: Sequence[dict[Path, float]], target: float) -> bool:
    """Prints the seconds of some files and, where there is an older tree, how many times as long that takes."""
    for source in sources:
        before = f", before {times[1][source] * 1e3:.1f} ms" if len(times) > 1 else ""
        print(f"    {source.name}: {times[0][source] * 1e3:.1f} ms{before}")
    if len(times) == 1:
        return True
    ratio = statistics.geometric_mean([times[1][s] / times[0][s] for s in sources])
    print(f"{what}: {ratio:.2f} times as fast as before (target {target})")
    return ratio >= target


if __name__ == "__main__":
    sys.exit(main())
