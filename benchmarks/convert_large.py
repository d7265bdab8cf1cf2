"""The cost of converting a large package: a gigabyte of weights to ONNX with external data, against copying the file.

Figures: wall time of the whole process over that of a plain copy of the weight file, flushed to disk as our output is;
memory of the process. Targets: 2x and 300 MB.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from benchmarks.harness import measure_process, paired_ratio, report
from tests.zoo.synthetic import synthetic_package

_CONVERT = """
import sys
from commonir.conversions.core_to_onnx import core_to_onnx
from commonir.formats.coreml.read import read
from commonir.formats.format import WriteOptions
from commonir.formats.onnx.write import write
from commonir.ods import Dialects
from commonir.passes.lower import lower

module = core_to_onnx(lower(read(sys.argv[1], Dialects())))
write(module, sys.argv[2], WriteOptions(external_data=True))
"""
_COPY = """
import os, shutil, sys

shutil.copyfile(sys.argv[1], sys.argv[2])
os.fsync(os.open(sys.argv[2], os.O_RDWR))
"""


def main() -> int:
    """Prints the figures; the exit status is 1 when a target is missed."""
    package = synthetic_package()
    (weights,) = package.rglob("weight.bin")
    with tempfile.TemporaryDirectory(dir=os.environ.get("COMMONIR_BENCHMARK_FOLDER")) as name:
        folder = Path(name)
        convert = [sys.executable, "-c", _CONVERT, str(package), str(folder / "model.onnx")]
        copy = [sys.executable, "-c", _COPY, str(weights), str(folder / "copy.bin")]
        _wall_seconds(copy, folder)
        ratio = paired_ratio(lambda: _wall_seconds(convert, folder), lambda: _wall_seconds(copy, folder), pairs=5)
        peak = measure_process(convert).peak_bytes / 1e6
    results = [
        report("convert 1 GB to ONNX with external data / copy of the file", ratio, "x", 2),
        report("convert 1 GB to ONNX with external data, memory", peak, " MB", 300),
    ]
    return 0 if all(results) else 1


def _wall_seconds(command: list[str], folder: Path) -> float:
    """Returns the time of a command that writes a gigabyte into an empty folder.

    The last output is deleted only afterwards, so that its pages are free when the next command begins: a virtual
    machine may take seconds to provide pages that were never used.
    """
    seconds = measure_process(command).wall_seconds
    for written in folder.iterdir():
        written.unlink()
    return seconds


if __name__ == "__main__":
    sys.exit(main())
