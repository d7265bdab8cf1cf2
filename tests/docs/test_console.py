"""Command lines in the documentation print what it says.

A block of the kind `console` has commands after `$ ` and their output, standard output and findings in the order in
which a reader looks for them, and `[exit status N]` unless it is 0; `...` stands for anything. A block of the kind
`mlir file=NAME` or `tablegen file=NAME` is a file that the commands after it find. The examples of the repository are
in the current folder, with a Git LFS pointer named `model.onnx`.
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

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(
    r"^```(?P<kind>console|(?:mlir|tablegen) file=(?P<file>\S+))\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_STATUS = re.compile(r"\[exit status (\d+)\]\n?$")
PAGES = sorted(
    p for p in (*(ROOT / "docs").rglob("*.md"), ROOT / "README.md") if "```console\n" in p.read_text("utf-8")
)
_LFS_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + 64 * "0" + "\nsize 102400\n"


class Command(NamedTuple):
    """A command line of a page, what it prints and how it ends; or a file that it finds."""

    words: list[str]
    printed: str
    status: int


def commands(text: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, printed = part.partition("\n")
        found = _STATUS.search(printed)
        yield Command(shlex.split(line), _STATUS.sub("", printed), int(found.group(1)) if found else 0)


@pytest.mark.slow_cases(
    "README.md",
    "docs/tutorials/*",
    "docs/ark.md",
    "docs/onnx.md",
    "docs/performance.md",
    "docs/surgery.md",
)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_of_a_page_print_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for example in (ROOT / "examples").iterdir():
        (tmp_path / example.name).symlink_to(example)
    (tmp_path / "model.onnx").write_text(_LFS_POINTER)
    monkeypatch.chdir(tmp_path)
    checker = doctest.OutputChecker()
    for block in _BLOCK.finditer(page.read_text("utf-8")):
        if block["file"]:
            (tmp_path / block["file"]).write_text(block["text"])
            continue
        for command in commands(block["text"]):
            assert command.words[0] == "cir"
            capsys.readouterr()
            status = main(command.words[1:])
            out, err = capsys.readouterr()
            # A page shows the answer, the findings where there is no answer, or both as a terminal does.
            shown = (out or err, err + out)
            matches = [checker.check_output(command.printed, got, doctest.ELLIPSIS) for got in shown]
            assert any(matches), f"{command.words}\n{out}\n{err}"
            assert status == command.status
