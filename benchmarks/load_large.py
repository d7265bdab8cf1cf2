"""The cost of loading a Core ML package as a program and of saving it: against coremltools, and against copying.

Figures: CPU time of coremltools' full loader over ours, without the time that importing takes, for a gigabyte of
weights and for 50,000 small operations; memory of our process; saving a gigabyte, over a copy of the weight file
flushed to disk as our output is; saving it over the package that was read. Targets: 1/20 for weights, 1/4 for
operations, 200 MB, 1.3x, half a second.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.harness import measure_process, paired_ratio, report, run_script
from tests.zoo.synthetic import Stack, synthetic_package

# As the models of which coremltools' times are known.
_WEIGHTS = Stack(layers=128, width=2048, dtype="float16")
_OPERATIONS = 50_000
_PAIRS = 5

_OURS = """
import sys, time
import commonir as cir
cir.load("examples/mobilenet.mlpackage")
start = time.process_time()
module = cir.load(PACKAGE)
print(time.process_time() - start)
"""
_BASELINE = """
import sys, time
import coremltools
from coremltools.converters.mil.frontend.milproto.load import load
start = time.process_time()
spec = coremltools.utils.load_spec(PACKAGE)
load(spec, spec.specificationVersion, PACKAGE + "/Data/com.apple.CoreML/weights")
print(time.process_time() - start)
"""
_LOAD = "import sys; import commonir as cir; module = cir.load(sys.argv[1])"
_SAVE = "import sys; import commonir as cir; cir.save(cir.load(sys.argv[1]), sys.argv[2])"
# Without the time that importing and loading take, which other figures are about.
_TIMED_SAVE = """
import time
import commonir as cir
module = cir.load(SOURCE)
start = time.perf_counter()
cir.save(module, TARGET)
print(time.perf_counter() - start)
"""
_TIMED_COPY = """
import os, shutil, time
start = time.perf_counter()
shutil.copyfile(SOURCE, TARGET)
os.fsync(os.open(TARGET, os.O_RDWR))
print(time.perf_counter() - start)
"""


def main() -> int:
    """Prints the figures; the exit status is 1 when a target is missed."""
    package = synthetic_package(_WEIGHTS)
    (weights,) = package.rglob("weight.bin")
    with tempfile.TemporaryDirectory(dir=os.environ.get("COMMONIR_BENCHMARK_FOLDER")) as name:
        folder = Path(name)
        # In a process of its own: the memory of a process counts for those that it starts.
        run_script(f"from benchmarks.load_large import make_many; make_many({name!r})")
        small = folder / "model.mlpackage"
        results = [
            report("load 1 GB / coremltools", _load_ratio(package), "x of CPU", 1 / 20),
            report("load 50,000 operations / coremltools", _load_ratio(small), "x of CPU", 1 / 4),
        ]
        peak = max(measure_process([sys.executable, "-c", _LOAD, str(p)]).peak_bytes for p in (package, small)) / 1e6
        save = [sys.executable, "-c", _SAVE, str(package), str(folder / "out.mlpackage")]
        ratio = paired_ratio(
            lambda: _timed(_TIMED_SAVE, package, folder / "timed.mlpackage"),
            lambda: _timed(_TIMED_COPY, weights, folder / "copy.bin"),
            pairs=_PAIRS,
        )
        measure_process(save)
        again = [sys.executable, "-c", _SAVE, str(folder / "out.mlpackage"), str(folder / "out.mlpackage")]
        in_place = statistics.median(measure_process(again).wall_seconds for _ in range(_PAIRS))
    results += [
        report("load, memory", peak, " MB", 200),
        report("save 1 GB / copy of the file", ratio, "x", 1.3),
        report("save 1 GB over itself", in_place, " s", 0.5),
    ]
    return 0 if all(results) else 1


def make_many(folder: str) -> None:
    """Writes a package with a chain of additions of constants below a folder."""
    # The tests' own way of making packages, which the process that measures need not have loaded.
    from tests.formats.coreml import building as b  # noqa: PLC0415

    kind, scalar = b.tensor(b.FLOAT32, 2, 3), b.tensor(b.FLOAT32)
    operations: list[b.Message] = []
    source = "x"
    for n in range(_OPERATIONS // 2):
        operations.append(b.const(f"c{n}", b.immediate(scalar, "floats", [float(n)])))
        operations.append(b.op("add", {"x": source, "y": f"c{n}"}, [(f"y{n}", kind)]))
        source = f"y{n}"
    b.save(Path(folder), b.model(b.program({"main": b.function([("x", kind)], b.block(operations, [source]))})), None)


def _load_ratio(package: Path) -> float:
    """CPU time of loading over that of coremltools, each in a process of its own."""
    ours, baseline = (script.replace("PACKAGE", repr(os.fspath(package))) for script in (_OURS, _BASELINE))
    return paired_ratio(lambda: float(run_script(ours)), lambda: float(run_script(baseline)), pairs=3)


def _timed(script: str, source: Path, target: Path) -> float:
    """Returns the measurement of a script; its output is removed, so that its pages are free for the next."""
    paths = {"SOURCE": source, "TARGET": target}
    for name, path in paths.items():
        script = script.replace(name, repr(os.fspath(path)))
    seconds = float(run_script(script))
    if target.is_dir():
        shutil.rmtree(target)
    else:
        target.unlink()
    return seconds


if __name__ == "__main__":
    sys.exit(main())
