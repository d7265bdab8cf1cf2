"""Leaves out tests that passed just before, so that `.ci/run` runs each once.

The variable `PASSED_TO` names a file that receives the names of tests that pass, and `PASSED_IN` one with the names of
tests that are left out. Properties run again: with the slow tests they have more examples.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest


class PassedTests:
    """The plugin; it writes in the process that receives the reports of all workers."""

    def __init__(self, config: pytest.Config) -> None:
        self._target = "" if hasattr(config, "workerinput") else os.environ.get("PASSED_TO", "")
        self._source = os.environ.get("PASSED_IN", "")
        self._passed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keeps the name of a test that passes."""
        if report.when == "call" and report.passed:
            self._passed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Writes the names."""
        if self._target:
            Path(self._target).write_text("\n".join(self._passed), "utf-8")

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leaves out the tests that have passed."""
        if not self._source:
            return
        passed = set(Path(self._source).read_text("utf-8").split("\n"))
        left_out = [item for item in items if item.nodeid in passed and not _is_property(item)]
        config.hook.pytest_deselected(items=left_out)
        kept = set(items).difference(left_out)
        items[:] = [item for item in items if item in kept]


def _is_property(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and hasattr(item.obj, "hypothesis")
