"""Tests that passed are left out of a second run, and no others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import pytest

from tests.passed_tests import PassedTests

_TESTS = """
import os
import pytest
from hypothesis import given, strategies

def test_passes():
    pass

@pytest.mark.parametrize("text", ["a\\nb", "c"])
def test_passes_with_text(text):
    pass

def test_fails():
    assert "PASSED_IN" in os.environ

def test_is_skipped():
    pytest.skip("here")

@given(strategies.booleans())
def test_property(value):
    pass
"""


class _Reports:
    """A plugin that keeps how tests ended, by their names."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.found[report.nodeid.rpartition("::")[2]] = report.outcome


class _Both:
    """A plugin that makes the one under test, which needs the settings of its run."""

    def pytest_configure(self, config: pytest.Config) -> None:
        config.pluginmanager.register(PassedTests(config))


def _run(folder: Path) -> dict[str, str]:
    reports = _Reports()
    without = [f"-pno:{name}" for name in ("terminal", "cacheprovider", "unraisableexception")]
    options = ["-s", *without, "--import-mode=importlib", "-c", os.devnull, "--rootdir", str(folder), str(folder)]
    pytest.main(options, plugins=[_Both(), reports])
    return reports.found


def test_names_of_passed_tests_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    monkeypatch.setenv("PASSED_TO", str(tmp_path / "passed"))
    monkeypatch.delenv("PASSED_IN", raising=False)
    monkeypatch.delattr(pytestconfig, "workerinput", raising=False)
    plugin = PassedTests(pytestconfig)
    plugin.pytest_runtest_logreport(_report("a.py::x", "setup", "passed"))
    plugin.pytest_runtest_logreport(_report("a.py::x", "call", "passed"))
    plugin.pytest_runtest_logreport(_report("a.py::y", "call", "failed"))
    plugin.pytest_runtest_logreport(_report("a.py::z[b c]", "call", "passed"))
    plugin.pytest_sessionfinish()
    assert (tmp_path / "passed").read_text("utf-8").split("\n") == ["a.py::x", "a.py::z[b c]"]


def _report(name: str, when: Literal["setup", "call"], outcome: Literal["passed", "failed"]) -> pytest.TestReport:
    return pytest.TestReport(name, ("", None, ""), {}, outcome, None, when)


@pytest.mark.slow
def test_passed_tests_are_left_out_but_for_properties(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / "test_them.py").write_text(_TESTS)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PASSED_TO", str(tmp_path / "passed"))
    monkeypatch.delenv("PASSED_IN", raising=False)
    passing = ["test_passes", "test_passes_with_text[a\\nb]", "test_passes_with_text[c]", "test_property"]
    expected = {**dict.fromkeys(passing, "passed"), "test_fails": "failed", "test_is_skipped": "skipped"}
    assert _run(folder) == expected
    monkeypatch.delenv("PASSED_TO")
    monkeypatch.setenv("PASSED_IN", str(tmp_path / "passed"))
    assert _run(folder) == {"test_fails": "passed", "test_is_skipped": "skipped", "test_property": "passed"}
