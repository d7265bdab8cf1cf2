"""Runs command lines in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from commonir.cli.main import main


class Done(NamedTuple):
    """How a command line ended."""

    status: int
    out: str
    err: str


Cir = Callable[..., Done]


def command_lines(capsys: pytest.CaptureFixture[str]) -> Cir:
    """Returns a function that runs a command line and returns what this alone has written."""

    def run(*arguments: str) -> Done:
        capsys.readouterr()
        status = main(arguments)
        captured = capsys.readouterr()
        return Done(status, captured.out, captured.err)

    return run
