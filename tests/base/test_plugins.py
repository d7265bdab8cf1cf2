"""Things that other packages add, and what happens when they are broken."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from commonir.base.codes import BROKEN_PLUGIN
from commonir.base.diagnostics import DiagnosticError
from commonir.base.plugins import Plugins, PluginWarning

ENTRY_POINTS = """[commonir.dialects]
fails = broken_plugin:DIALECT
[commonir.formats]
missing = broken_plugin_that_is_not_there:FORMAT
[commonir.engines]
wrong = json:dumps
"""


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A folder with an installed package whose entry points fail in three ways."""
    about = tmp_path / "broken_plugin-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    (tmp_path / "broken_plugin.py").write_text("raise RuntimeError('no such device')\n")
    return tmp_path


def cir(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), *(p for p in sys.path if p)])
    environment = {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"}
    command = [sys.executable, "-m", "commonir", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=120)


@pytest.mark.slow
def test_doctor_reports_which_plugins_fail_and_why(broken: Path) -> None:
    output = cir(broken, "doctor", "--json")
    assert output.returncode == 0, output.stderr
    report = json.loads(output.stdout)["result"]
    result = {(p["kind"], p["name"]): (p["package"], p["is_available"]) for p in report["plugins"]}
    mine = {key: value for key, value in result.items() if value[0] == "broken-plugin"}
    assert mine == {
        ("dialect", "fails"): ("broken-plugin", False),
        ("engine", "wrong"): ("broken-plugin", False),
        ("format", "missing"): ("broken-plugin", False),
    }
    notes = " ".join(p["note"] for p in report["plugins"])
    assert "RuntimeError: no such device" in notes
    assert "No module named 'broken_plugin_that_is_not_there'" in notes
    assert {"coreml", "onnx"} <= {f["name"] for f in report["formats"]}
    assert {"numpy", "reference"} <= {e["name"] for e in report["engines"] if e["is_available"]}


@pytest.mark.slow
def test_operations_are_listed_without_those_of_a_broken_dialect(broken: Path) -> None:
    output = cir(broken, "ops", "--json")
    assert output.returncode == 0, output.stderr
    assert any(entry["name"] == "mil.conv" for entry in json.loads(output.stdout)["result"])
    assert cir(broken, "ops", "fails.something").returncode == 4


@pytest.mark.slow
def test_a_broken_engine_is_refused_by_name_only(broken: Path, tmp_path: Path) -> None:
    missing = cir(broken, "run", str(tmp_path / "no.mlpackage"), "--engine", "wrong")
    assert missing.returncode == 3


class _Thing:
    name = "thing"


def test_what_cannot_be_imported_is_a_finding() -> None:
    plugins = Plugins(_Thing, "demo.things", {"gone": "no_such_module_at_all:THING", "odd": "json:dumps"})
    for name, reason in (("gone", "No module named 'no_such_module_at_all'"), ("odd", "it is not a _Thing")):
        with pytest.raises(DiagnosticError) as error:
            plugins.get(name)
        (diagnostic,) = error.value.diagnostics
        assert diagnostic.code is BROKEN_PLUGIN
        assert reason in diagnostic.message
    with pytest.warns(PluginWarning, match="cannot be loaded") as warned:
        assert list(plugins) == []
    assert len(warned) == 2


@pytest.mark.parametrize("error", ["raise SystemExit(1)", "class E(BaseException): pass\nraise E('broken')"])
def test_a_plugin_that_ends_its_import_in_any_way_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: str
) -> None:
    name = f"ends_{hashlib.md5(error.encode()).hexdigest()}"
    (tmp_path / f"{name}.py").write_text(error)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(DiagnosticError, match="cannot be loaded"):
        Plugins(_Thing, "demo.things", {"thing": f"{name}:THING"}).get("thing")


def _entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "demo.things")


def test_a_name_that_is_taken_ends_in_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [_entry("json", "json:tool"), _entry("new", "json:dumps"), _entry("new", "json:loads")]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries)
    plugins = Plugins(_Thing, "demo.things", {"json": "commonir:x"})
    with pytest.warns(PluginWarning, match="is not used, as its name is taken") as warned:
        assert plugins.names() == ("json", "new")
    assert [str(w.message).rpartition(": ")[2] for w in warned] == ["json:tool", "json:loads"]


def test_damaged_metadata_of_an_installed_package_end_in_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(group: str) -> list[EntryPoint]:
        raise ValueError(group)

    monkeypatch.setattr("importlib.metadata.entry_points", damaged)
    with pytest.warns(PluginWarning, match="cannot be searched: ValueError"):
        assert Plugins(_Thing, "demo.things", {}).names() == ()
