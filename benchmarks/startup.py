"""CPU time until `cir --help` has answered: `python -m benchmarks.startup`, with the package installed.

The figure is in milliseconds, the target that of an answer that feels immediate on a slow machine. The ratio to a bare
Python start carries over between machines.
"""

from __future__ import annotations

import sys

from benchmarks.harness import measure_process, median_of, report

TARGET_MS = 100
TARGET_RATIO = 8
_PYTHON = (sys.executable, "-c", "pass")
_HELP = (sys.executable, "-m", "commonir", "--help")


def _cpu_ms(command: tuple[str, ...]) -> float:
    return median_of(lambda: measure_process(command).cpu_seconds * 1000, repeats=21)


def main() -> int:
    """Prints the figure and the ratio."""
    ours, python = _cpu_ms(_HELP), _cpu_ms(_PYTHON)
    checks = [
        report("start-up: CPU of `cir --help`", ours, " ms", TARGET_MS),
        report("start-up: `cir --help` to bare Python", ours / python, " times", TARGET_RATIO),
    ]
    return 0 if all(checks) else 1


if __name__ == "__main__":
    sys.exit(main())
