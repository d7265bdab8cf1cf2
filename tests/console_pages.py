"""Command lines in Markdown pages, and what they print.

A block of the kind `console` has commands after `$ ` and their output as a terminal shows it, findings before the
answer, and `[exit status N]` unless it is 0; `...` stands for anything. A block of the kind `console columns=N` runs in
a pseudo-terminal of that width. A block of the kind `mlir file=NAME`, `tablegen file=NAME`, `json file=NAME` or
`text file=NAME` is a file that the commands after it find.
"""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from commonir.cli.main import main

from tests import pseudo_terminal

_BLOCK = re.compile(
    r"^```(?P<kind>console(?: columns=(?P<columns>\d+))?|(?:mlir|tablegen|json|text) file=(?P<file>\S+))\n"
    r"(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_STATUS = re.compile(r"\[exit status (\d+)\]\n?$")


class Command(NamedTuple):
    """A command line of a page, what it prints and how it ends; `columns` is the width of its terminal, if any."""

    words: list[str]
    printed: str
    status: int
    columns: int | None = None

    def check(self, status: int, printed: str) -> None:
        """Asserts that the command ended and printed as the page says."""
        matches = doctest.OutputChecker().check_output(self.printed, printed, doctest.ELLIPSIS)
        assert matches, f"{shlex.join(self.words)}\n{printed}"
        assert status == self.status, printed


def commands_of(page: Path, folder: Path) -> Iterator[Command]:
    """Yields the commands of a page in order; files that stand before one are written to the folder."""
    for block in _BLOCK.finditer(page.read_text("utf-8")):
        if block["file"]:
            (folder / block["file"]).write_text(block["text"], encoding="utf-8")
        else:
            yield from _commands(block["text"], int(block["columns"]) if block["columns"] else None)


def _commands(text: str, columns: int | None) -> Iterator[Command]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, printed = part.partition("\n")
        result = _STATUS.search(printed)
        yield Command(
            shlex.split(line), _STATUS.sub("", printed), int(result.group(1)) if result else 0, columns=columns
        )


def check_commands(page: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs the commands of a page in this process, but for those under `mpiexec` and in pseudo-terminals."""
    for command in commands_of(page, folder):
        if command.words[0] == "mpiexec":
            continue
        assert command.words[0] == "cir"
        if command.columns is not None:
            if pseudo_terminal.is_available():
                command.check(*pseudo_terminal.run(command.words[1:], folder, command.columns))
            continue
        capsys.readouterr()
        status = main(command.words[1:])
        out, err = capsys.readouterr()
        command.check(status, err + out)
