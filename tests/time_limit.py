"""Fails a test that takes long and is not marked slow, where `TEST_SECONDS` or `CI` asks for it.

Without them nothing fails: a test that passes must pass on a slow machine too.
The time is the shorter of the time on the clock and the time of the processors, with that of finished child processes:
a busy machine makes mostly the former longer, threads only the latter. What happens once in a process (importing a
package, loading definitions) is not the test's own: a test that took too long runs again, and fails if it takes too
long `RUNS` times. Neither are full searches for garbage: they look at what all tests before it left in memory.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Generator
from math import inf
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

SECONDS_ON_CI = 1.0
"""Machines of CI are slow, and differ from each other."""

RUNS = 3
"""How often a test runs that takes too long."""

_taken = pytest.StashKey[float]()


def limit() -> float:
    """Returns how many seconds an unmarked test may take."""
    return float(os.environ.get("TEST_SECONDS") or (SECONDS_ON_CI if os.environ.get("CI") else inf))


class _Stopwatch:
    """Measures time from when it is made, without full collections of garbage."""

    def __init__(self) -> None:
        self._start = self._collecting = _now()

    def pause(self, phase: str, info: dict[str, int]) -> None:
        """Leaves out a full collection; called by the collector before and after each collection."""
        if info["generation"] == 2 and phase == "start":
            self._collecting = _now()
        elif info["generation"] == 2:
            clock, processors = _passed_since(self._collecting)
            self._start = self._start[0] + clock, self._start[1] + processors

    def seconds(self) -> float:
        """Returns the time so far."""
        return min(_passed_since(self._start))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Measures a test without its fixtures."""
    stopwatch = _Stopwatch()
    gc.callbacks.append(stopwatch.pause)
    try:
        return (yield)
    finally:
        item.stash[_taken] = stopwatch.seconds()
        gc.callbacks.remove(stopwatch.pause)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Runs a test, again while a run took too long, and reports the last run."""
    if item.get_closest_marker("slow") is not None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for _ in range(RUNS - 1):
        if _takes_long(item, reports):
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if _takes_long(item, reports):
        report = next(r for r in reports if r.when == "call")
        report.outcome = "failed"
        report.longrepr = (
            f"takes {item.stash[_taken]:.2f} s, {limit()} s are allowed: make it smaller, or mark it slow "
            "(docs/testing.md) and leave a fast test of the same"
        )
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _takes_long(item: pytest.Item, reports: list[pytest.TestReport]) -> bool:
    """Checks whether a test passed and took more than the limit."""
    return len(reports) == 3 and all(report.passed for report in reports) and item.stash[_taken] > limit()


def _now() -> tuple[float, float]:
    """Returns the time on the clock and the time of the processors."""
    children = os.times()
    return time.perf_counter(), time.process_time() + children.children_user + children.children_system


def _passed_since(start: tuple[float, float]) -> tuple[float, float]:
    clock, processors = _now()
    return clock - start[0], processors - start[1]
