"""Fails a test that takes long and is not marked slow, in the selection without slow tests.

The time is the shorter of the time on the clock and the time of the processors, with that of finished child processes:
a busy machine makes only the former longer, threads only the latter. What happens once in a process (importing a
package, loading definitions) is not the test's own: a test that took too long runs again, and only that run counts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

SECONDS = 0.5
SECONDS_ON_CI = 1.0
"""Machines of CI are slower, and differ from each other."""

_taken = pytest.StashKey[float]()


def limit() -> float:
    """Returns how many seconds an unmarked test may take; `TEST_SECONDS` says otherwise."""
    return float(os.environ.get("TEST_SECONDS") or (SECONDS_ON_CI if os.environ.get("CI") else SECONDS))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Measures a test without its fixtures."""
    clock, processors = time.perf_counter(), _processor_seconds()
    try:
        return (yield)
    finally:
        item.stash[_taken] = min(time.perf_counter() - clock, _processor_seconds() - processors)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Runs a test, again where the first run took too long, and reports the last run."""
    if item.get_closest_marker("slow") is not None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if _passed(reports) and item.stash[_taken] > limit():
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if _passed(reports) and item.stash[_taken] > limit():
            report = next(r for r in reports if r.when == "call")
            report.outcome = "failed"
            report.longrepr = (
                f"takes {item.stash[_taken]:.2f} s, {limit()} s are allowed: make it smaller, or mark it slow "
                "(docs/testing.md) and leave a fast test of the same; on a slow machine TEST_SECONDS=3 allows more"
            )
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _passed(reports: list[pytest.TestReport]) -> bool:
    return len(reports) == 3 and all(report.passed for report in reports)


def _processor_seconds() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system
