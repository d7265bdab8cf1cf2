"""The cost of looking into a large package: `cir info` on a program with a gigabyte of weights.

Figures: seconds of CPU and megabytes of memory of the whole process. Targets: 0.3 s and 150 MB. For comparison:
coremltools takes 4.4 s to be imported and 62 s for its summary of weights.
"""

from __future__ import annotations

import sys

from benchmarks.harness import measure_process, median_of, report
from tests.zoo.synthetic import synthetic_package


def main() -> int:
    """Prints the figures; the exit status is 1 when a target is missed."""
    package = synthetic_package()
    command = [sys.executable, "-m", "commonir", "info", str(package)]
    cpu = median_of(lambda: measure_process(command).cpu_seconds)
    peak = measure_process(command).peak_bytes / 1e6
    results = [
        report("cir info on 1 GB of weights", cpu, " s of CPU", 0.3),
        report("cir info on 1 GB of weights, memory", peak, " MB", 150),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
