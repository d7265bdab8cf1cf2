"""The cost of renaming an input of a large package: a gigabyte of weights, against copying the file.

Figures: wall time of `cir edit` beyond that of a plain copy of the weight file, flushed to disk as our output is;
memory of the process; the same for the calls alone, in a process that has loaded everything. Targets: half a second
beyond the copy, and 200 MB.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.harness import Usage, measure_process, report, run_script
from tests.zoo.synthetic import synthetic_package

_PAIRS = 5
_COPY = """
import os, shutil, sys

shutil.copyfile(sys.argv[1], sys.argv[2])
os.fsync(os.open(sys.argv[2], os.O_RDWR))
"""
_CALLS = """
import sys, time
import commonir as cir

small = cir.load("examples/mobilenet.mlpackage")
cir.edit(small, rename={small.inputs[0].name: "warm"})
start = time.perf_counter()
program = cir.load(PACKAGE)
cir.edit(program, rename={program.inputs[0].name: "renamed"})
print(time.perf_counter() - start)
"""


def main() -> int:
    """Prints the figures; the exit status is 1 when a target is missed."""
    package = synthetic_package()
    (weights,) = package.rglob("weight.bin")
    with tempfile.TemporaryDirectory(dir=os.environ.get("COMMONIR_BENCHMARK_FOLDER")) as name:
        folder = Path(name)
        edit = [sys.executable, "-m", "commonir", "edit", str(package), "-o", str(folder / "m.mlpackage")]
        edit += ["--rename", "x=renamed"]
        copy = [sys.executable, "-c", _COPY, str(weights), str(folder / "copy.bin")]
        _measured(copy, folder)
        pairs = [(_measured(edit, folder), _measured(copy, folder)) for _ in range(_PAIRS)]
    beyond = statistics.median(ours.wall_seconds - theirs.wall_seconds for ours, theirs in pairs)
    copied = statistics.median(theirs.wall_seconds for _, theirs in pairs)
    peak = max(ours.peak_bytes for ours, _ in pairs) / 1e6
    calls = float(run_script(_CALLS.replace("PACKAGE", repr(str(package)))))
    results = [
        report(f"rename an input of 1 GB, beyond a copy of the file ({copied:.2f} s)", beyond, " s", 0.5),
        report("rename an input of 1 GB, memory", peak, " MB", 200),
        report("load and edit of 1 GB, without writing", calls, " s", 0.5),
    ]
    return 0 if all(results) else 1


def _measured(command: list[str], folder: Path) -> Usage:
    """Returns a command that writes a gigabyte into an empty folder."""
    usage = measure_process(command)
    for written in sorted(folder.rglob("*"), reverse=True):
        if written.is_dir():
            written.rmdir()
        else:
            written.unlink()
    return usage


if __name__ == "__main__":
    sys.exit(main())
