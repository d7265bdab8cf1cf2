"""The limit of time fails a test that is slow each time it runs, and no other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_TESTS = """
import time
import pytest

loaded = []

def compute():
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass

def test_slow_each_time():
    compute()

def test_slow_at_first_use():
    if not loaded:
        loaded.append(compute())

def test_waiting():
    time.sleep(0.3)

@pytest.mark.slow
def test_marked():
    compute()
"""


@pytest.mark.slow
def test_unmarked_test_that_is_slow_each_time_fails_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    (tmp_path / "test_times.py").write_text(_TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "tests.time_limit", "--rootdir", ".", "test_times.py"]
    environment = os.environ | {"TEST_SECONDS": "0.2"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert [line.split(" - ")[0] for line in lines if line.startswith("FAILED")] == [
        "FAILED test_times.py::test_slow_each_time"
    ]
    assert "0.2 s are allowed: make it smaller, or mark it slow" in done.stdout
    assert sum(line.startswith("PASSED") for line in lines) == 3
