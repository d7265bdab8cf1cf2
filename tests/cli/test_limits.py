"""Limits of a command end it inside of a single call of a library, too."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.cli.limits import limited_memory, limited_time


def _report(finding: Diagnostic) -> int:
    raise AssertionError(finding)


def test_a_block_is_interrupted_after_its_time() -> None:
    began = time.monotonic()
    with pytest.raises(DiagnosticError, match="the time limit of the run has passed"), limited_time(0.01, _report):
        while True:
            time.sleep(0.02)
    assert time.monotonic() - began < 1


def test_a_block_that_ends_in_time_is_not_interrupted() -> None:
    with limited_time(5, _report) as left:
        assert left.seconds is not None
        assert 0 < left.seconds <= 5


def test_a_block_that_waits_for_a_process_is_interrupted_after_its_time() -> None:
    began = time.monotonic()
    with (
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"]) as process,
        pytest.raises(DiagnosticError, match="the time limit of the run has passed"),
        limited_time(0.1, _report),
    ):
        try:
            process.wait()
        finally:
            process.kill()
    assert time.monotonic() - began < 1.1


def test_notes_of_what_was_interrupted_are_those_of_the_error() -> None:
    def work() -> None:
        try:
            time.sleep(30)
        except KeyboardInterrupt as stop:
            stop.add_note("half is done")
            raise

    with pytest.raises(DiagnosticError) as refused, limited_time(0.01, _report):
        work()
    assert refused.value.diagnostics[0].notes == ("half is done",)


def test_memory_beyond_the_limit_is_refused() -> None:
    with pytest.raises(DiagnosticError, match="needs more memory than the limit of 1,000 bytes"), limited_memory(1000):
        np.zeros(1 << 28, np.uint8)
    assert np.zeros(1 << 28, np.uint8).size == 1 << 28
