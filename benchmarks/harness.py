"""Shared by benchmarks: CPU time and memory of a process, ratios of two things measured in turn, one line of result.

A benchmark prints one figure or ratio with its target, measured in one run on one machine: absolute times do not carry
over from machine to machine, ratios do. POSIX only, because of the resource usage of children.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

# `ru_maxrss` is in bytes on macOS and in kilobytes elsewhere.
_RSS_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024
_BLOCK_BYTES = 512


# Installing compiles modules; a setting that forbids it would time the compiler.
_COMPILED = {"PYTHONDONTWRITEBYTECODE": ""}


class Usage(NamedTuple):
    """Time and memory of one run of a process, and what it wrote to disk, as far as the system counts that."""

    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int
    written_bytes: int


def measure_process(command: Sequence[str], *, environment: dict[str, str] | None = None) -> Usage:
    """Runs a command, its output thrown away, and returns what it took.

    The peak is that of the process itself, not of processes it starts.
    Raises: RuntimeError when the command fails.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | _COMPILED | (environment or {}),
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall_seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit status {process.returncode}")
    memory, written = usage.ru_maxrss * _RSS_UNIT_BYTES, usage.ru_oublock * _BLOCK_BYTES
    return Usage(usage.ru_utime + usage.ru_stime, wall_seconds, memory, written)


def run_script(script: str) -> str:
    """Returns the output of a script in a process of its own."""
    command = [sys.executable, "-c", script]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | _COMPILED).stdout


def measure_call(action: Callable[[], object], *, repeats: int = 5) -> float:
    """Returns the least wall time of several calls, in seconds, after one call to warm up."""
    action()
    return min(_timed(action) for _ in range(repeats))


def paired_ratio(ours: Callable[[], float], baseline: Callable[[], float], *, pairs: int = 7) -> float:
    """Returns the median of ratios of two measurements taken in turn, so that a machine that slows down slows both."""
    return statistics.median(ours() / baseline() for _ in range(pairs))


def median_of(measure: Callable[[], float], *, repeats: int = 11) -> float:
    """Returns the median of several measurements, after one to warm up."""
    measure()
    return statistics.median(measure() for _ in range(repeats))


def report(name: str, value: float, unit: str, target: float) -> bool:
    """Prints the line of a benchmark and returns whether the value is within its target; less is better."""
    is_within = value <= target
    print(f"{name}: {value:.3g}{unit} (target: at most {target:g}{unit}) {'ok' if is_within else 'MISSED'}")
    return is_within


def _timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
