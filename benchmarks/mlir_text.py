"""MLIR text read, verified and printed, against mlir-opt and xDSL: `python -m benchmarks.mlir_text`.

Each figure is the CPU time of one whole process over that of mlir-opt on the same file, taken in turn, with wall time
and peak memory beside it: functions of 1,000 small operations of arith, tosa and tensor in the generic form and in
custom forms; 64 MiB of constants in hexadecimal digits; a million decimal numbers. What we print is what mlir-opt
prints, letter by letter. xDSL, where it is installed, does the smallest. `--sizes 10000,100000` for fewer operations.
Below each row stand the stages alone, without the start of the process: their CPU time for the first file of a process
over what mlir-opt takes more for the file than for an empty one; ours for that file, for it again and for another one;
those of mlir-opt as it times them, in wall time; its parser verifies, too. And the whole command `cir show`, which
loads what the command line needs.
Targets: 1.0 for the generic form, 2.0 for the others.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from shutil import which

from benchmarks.harness import Usage, measure_process, report
from benchmarks.mlir_programs import decimal_global, hexadecimal_globals, program

_PAIRS = 3
_MOST_FOR_XDSL = 10_000
_SIZES = (10_000, 100_000, 1_000_000)
_MOST_FOR_STAGES = 100_000
_LARGE_BYTES = 64 << 20
_NUMBERS = 1_000_000
_OURS = """
import sys
from commonir.base.collecting import end_without_search, search_rarely
search_rarely()
end_without_search()
source, target, form = sys.argv[1:]
with open(target, "w") as out:
    from commonir.formats.mlir.format import FORMAT
    from commonir.ods import Dialects
    from commonir.text.printer import Naming, print_lines
    dialects = Dialects()
    module, found = FORMAT.check(source, dialects)
    assert module is not None and not found, found
    for line in print_lines(module, generic=form == "generic", elide=None, naming=Naming.MLIR, dialects=dialects):
        out.write(line)
        out.write("\\n")
"""
_STAGES = """
import json, sys, time
from commonir.base.collecting import search_rarely
search_rarely()
from commonir.formats.mlir.format import content_of
from commonir.ods import Dialects, verify
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_lines
form, *sources = sys.argv[1:]
out, dialects = [], Dialects()
for source in sources:
    times = [time.process_time()]
    module = parse_module(content_of(source), dialects)
    times.append(time.process_time())
    assert not verify(module, dialects)
    times.append(time.process_time())
    for line in print_lines(module, generic=form == "generic", elide=None, naming=Naming.MLIR, dialects=dialects):
        pass
    times.append(time.process_time())
    out.append([b - a for a, b in zip(times, times[1:])])
print(json.dumps(out))
"""
_XDSL = "import sys; from xdsl.xdsl_opt_main import xDSLOptMain; xDSLOptMain(args=[*sys.argv[1:]]).run()"


def main() -> int:
    """Prints the figures; the exit status is 1 when a target is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default=",".join(map(str, _SIZES)))
    sizes = [int(size) for size in parser.parse_args().sizes.split(",")]
    mlir_opt = which("mlir-opt-22") or which("mlir-opt")
    if mlir_opt is None:
        print("mlir-opt is not installed")
        return 1
    results: list[bool] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in sizes:
            for form, target in (("generic", 1.0), ("custom", 2.0)):
                source = _written(folder / f"{form}.mlir", program(size, generic=form == "generic"))
                results.append(_compare(f"{size:,} operations, {form}", source, form, mlir_opt, target))
                if size <= _MOST_FOR_STAGES:
                    other = _written(folder / "other.mlir", program(size, generic=form == "generic", seed=1))
                    empty = _written(folder / "empty.mlir", program(0, generic=False))
                    _show_stages(source, other, empty, form, mlir_opt)
                    _show_command(source, form, mlir_opt)
                if size <= _MOST_FOR_XDSL and form == "generic" and importlib.util.find_spec("xdsl") is not None:
                    _show_xdsl(source)
        large = _written(folder / "large.mlir", hexadecimal_globals(_LARGE_BYTES))
        results.append(_compare("64 MiB of hexadecimal digits", large, "custom", mlir_opt, 2.0))
        numbers = _written(folder / "numbers.mlir", decimal_global(_NUMBERS))
        results.append(_compare("a million decimal numbers", numbers, "custom", mlir_opt, 2.0))
    return 0 if all(results) else 1


def _written(path: Path, lines: Iterable[str]) -> Path:
    with path.open("w") as out:
        out.writelines(f"{line}\n" for line in lines)
    return path


def _compare(what: str, source: Path, form: str, mlir_opt: str, target: float) -> bool:
    options = ["--mlir-print-op-generic"] if form == "generic" else []
    theirs, ours = source.with_suffix(".theirs"), source.with_suffix(".ours")
    commands = (
        [sys.executable, "-c", _OURS, str(source), str(ours), form],
        [mlir_opt, *options, str(source), "-o", str(theirs)],
    )
    subprocess.run(commands[0], check=True)  # what was not compiled yet is now
    pairs = [(measure_process(commands[0]), measure_process(commands[1])) for _ in range(_PAIRS)]
    if ours.read_bytes() != theirs.read_bytes():
        raise RuntimeError(f"{what}: the texts differ")
    ratio = statistics.median(a.cpu_seconds / b.cpu_seconds for a, b in pairs)
    wall = statistics.median(a.wall_seconds / b.wall_seconds for a, b in pairs)
    is_within = report(f"{what} / mlir-opt", ratio, "x of CPU", target)
    print(f"    {wall:.2f}x of wall time; {_shown([a for a, _ in pairs])} against {_shown([b for _, b in pairs])}")
    return is_within


def _show_stages(source: Path, other: Path, empty: Path, form: str, mlir_opt: str) -> None:
    command = [sys.executable, "-c", _STAGES, form, str(source), str(source), str(other)]
    theirs = [mlir_opt, *(["--mlir-print-op-generic"] if form == "generic" else [])]
    runs: list[list[list[float]]] = []
    usages: list[list[Usage]] = []
    for _ in range(_PAIRS):
        runs.append(json.loads(_output(command).stdout))
        usages.append([measure_process([*theirs, str(file)]) for file in (source, empty)])
    full, start = [statistics.median(u.cpu_seconds for u in same) for same in zip(*usages, strict=True)]
    ratio = statistics.median(sum(run[0]) for run in runs) / (full - start)
    print(f"    the stages alone: {ratio:.2f}x of CPU; mlir-opt takes {(full - start) * 1e3:.1f} ms")
    for n, what in enumerate(("first file", "again", "another")):
        read, check, written = [min(run[n][stage] for run in runs) * 1e3 for stage in range(3)]
        print(f"    ours, {what}: parse {read:.1f} ms, verify {check:.1f} ms, print {written:.1f} ms")
    command = [*theirs, "--mlir-timing", "--mlir-output-format=json", str(source), "-o", os.devnull]
    timed = [{t["name"]: t["wall"]["duration"] * 1e3 for t in json.loads(_output(command).stderr)} for _ in runs]
    read, written = [min(run[stage] for run in timed) for stage in ("Parser", "Output")]
    print(f"    mlir-opt: parse and verify {read:.1f} ms, print {written:.1f} ms")


def _show_command(source: Path, form: str, mlir_opt: str) -> None:
    ours = [sys.executable, "-m", "commonir", "show", "--no-elide", *(["--generic"] if form == "generic" else [])]
    theirs = [mlir_opt, *(["--mlir-print-op-generic"] if form == "generic" else [])]
    pairs = [(measure_process([*ours, str(source)]), measure_process([*theirs, str(source)])) for _ in range(_PAIRS)]
    ratio = statistics.median(a.cpu_seconds / b.cpu_seconds for a, b in pairs)
    print(f"    the command `cir show`: {ratio:.2f}x of CPU; {_shown([a for a, _ in pairs])}")


def _output(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True)


def _shown(usages: Sequence[Usage]) -> str:
    seconds = statistics.median(u.cpu_seconds for u in usages)
    return f"{seconds:.2f} s, {usages[0].peak_bytes / 2**20:.0f} MiB"


def _show_xdsl(source: Path) -> None:
    # It does not know all of the operations, and so no custom form of them.
    options = [
        "--allow-unregistered-dialect",
        "--print-op-generic",
        str(source),
        "-o",
        str(source.with_suffix(".xdsl")),
    ]
    usage = measure_process([sys.executable, "-c", _XDSL, *options])
    print(f"    xDSL: {_shown([usage])}")


if __name__ == "__main__":
    sys.exit(main())
