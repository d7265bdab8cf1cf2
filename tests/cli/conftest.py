"""Runs command lines in this process or in another, over the surface of `fake_api`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import commonir

from tests.cli import fake_api
from tests.command_lines import Cir, command_lines

ROOT = Path(__file__).parents[2]

# What a subprocess runs instead of `cir`.
FAKED = (
    "import sys, commonir; from tests.cli import fake_api;"
    "sys.modules['commonir.api'] = commonir.api = fake_api;"
    "from commonir.cli.main import main; sys.exit(main())"
)


def environment(**extra: str) -> dict[str, str]:
    """The variables of a subprocess: this tree, and nothing that changes how output looks."""
    preserved = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM", "COMMONIR_DEBUG")
    }
    return preserved | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])} | extra


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a "model" `MOOD.mil` for each mood of the fake surface."""
    for mood in ("ok", "wrong", "lossy", "differs", "unreadable", "crash", "interrupt", "memory"):
        (tmp_path / f"{mood}.mil").write_text(mood)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cir(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cir:
    """Runs a command line in this process."""
    monkeypatch.setitem(sys.modules, "commonir.api", fake_api)
    monkeypatch.setattr(commonir, "api", fake_api, raising=False)
    monkeypatch.delenv("COMMONIR_DEBUG", raising=False)
    return command_lines(capsys)


@pytest.fixture
def cir_process(folder: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs a command line in a process of its own."""

    def run(*arguments: str, input: bytes = b"", **extra: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-c", FAKED, *arguments]
        return subprocess.run(command, input=input, capture_output=True, env=environment(**extra), check=False)

    return run
