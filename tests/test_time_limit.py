"""The limit of time fails a test that is slow each time it runs, and no other."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from math import inf
from pathlib import Path

import pytest

from tests import time_limit

_TESTS = """
import time
import pytest

loaded = []

def compute():
    end = time.process_time() + {seconds}
    while time.process_time() < end:
        pass

def test_slow_each_time():
    compute()

def test_slow_at_first_use():
    if not loaded:
        loaded.append(compute())

def test_waiting():
    time.sleep({seconds})

@pytest.mark.slow
def test_marked():
    compute()
"""


class _Outcomes:
    """A plugin that keeps how tests ended, by their names."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.found[report.nodeid.rpartition("::")[2]] = report.outcome


def test_limit_counts_neither_first_uses_nor_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A folder inside: pytest lists the folder above its root, where each test of this session has left one.
    root = tmp_path / "inside"
    root.mkdir()
    (root / "test_times.py").write_text(_TESTS.format(seconds=0.03))
    monkeypatch.setenv("TEST_SECONDS", "0.015")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    outcomes = _Outcomes()
    # Plugins that print, write, or collect the garbage of the whole process are left out.
    without = [f"-pno:{name}" for name in ("terminal", "cacheprovider", "unraisableexception")]
    options = ["-s", *without, "--import-mode=importlib", "-c", os.devnull]
    pytest.main([*options, "--rootdir", str(root), str(root)], plugins=[time_limit, outcomes])
    assert outcomes.found == {
        "test_slow_each_time": "failed",
        "test_slow_at_first_use": "passed",
        "test_waiting": "passed",
        "test_marked": "passed",
    }


@pytest.mark.parametrize(("generation", "is_counted"), [(0, True), (1, True), (2, False)])
def test_full_collection_of_garbage_does_not_count(generation: int, is_counted: bool) -> None:
    stopwatch = time_limit._Stopwatch()
    stopwatch.pause("start", {"generation": generation})
    end = time.process_time() + 0.02
    while time.process_time() < end:
        pass
    stopwatch.pause("stop", {"generation": generation})
    assert (stopwatch.seconds() > 0.015) == is_counted


@pytest.mark.parametrize(
    ("variables", "seconds"), [({}, inf), ({"CI": "true"}, 1.0), ({"CI": "true", "TEST_SECONDS": "2"}, 2.0)]
)
def test_limit_is_what_variables_say(
    variables: dict[str, str], seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CI", "TEST_SECONDS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert time_limit.limit() == seconds


@pytest.mark.slow
def test_unmarked_test_that_is_slow_each_time_fails_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    (tmp_path / "test_times.py").write_text(_TESTS.format(seconds=0.3))
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "tests.time_limit", "--rootdir", ".", "test_times.py"]
    environment = os.environ | {"TEST_SECONDS": "0.2"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert [line.split(" - ")[0] for line in lines if line.startswith("FAILED")] == [
        "FAILED test_times.py::test_slow_each_time"
    ]
    assert "0.2 s are allowed: make it smaller, or mark it slow" in done.stdout
    assert sum(line.startswith("PASSED") for line in lines) == 3
