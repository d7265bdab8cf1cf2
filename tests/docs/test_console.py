"""Command lines in the documentation print what it says.

A block of the kind `console` has commands after `$ ` and their output as a terminal shows it, findings before the
answer, and `[exit status N]` unless it is 0; `...` stands for anything. A block of the kind
`mlir file=NAME`, `tablegen file=NAME` or `text file=NAME` is a file that the commands after it find. The examples of
the repository are in the current folder, with a Git LFS pointer named `model.onnx`.
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

from tests import mpiexec

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(
    r"^```(?P<kind>console|(?:mlir|tablegen|text) file=(?P<file>\S+))\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_STATUS = re.compile(r"\[exit status (\d+)\]\n?$")
PAGES = sorted(
    p
    for p in (*(ROOT / "docs").rglob("*.md"), ROOT / "README.md")
    # With the plugin installed: `tests/plugin`.
    if "```console\n" in p.read_text("utf-8") and p.name != "plugins.md"
)
_LFS_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + 64 * "0" + "\nsize 102400\n"


class Command(NamedTuple):
    """A command line of a page, what it prints and how it ends."""

    words: list[str]
    printed: str
    status: int


def commands(text: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, printed = part.partition("\n")
        result = _STATUS.search(printed)
        yield Command(shlex.split(line), _STATUS.sub("", printed), int(result.group(1)) if result else 0)


class Page:
    """A page whose blocks are gone through in a folder with the examples."""

    def __init__(self, path: Path, folder: Path) -> None:
        self._text = path.read_text("utf-8")
        self._folder = folder
        for example in (ROOT / "examples").iterdir():
            (folder / example.name).symlink_to(example)
        (folder / "model.onnx").write_text(_LFS_POINTER)

    def commands(self) -> Iterator[Command]:
        """Yields the commands in order; files that stand before one are written."""
        for block in _BLOCK.finditer(self._text):
            if block["file"]:
                (self._folder / block["file"]).write_text(block["text"])
            else:
                yield from commands(block["text"])


def _check(command: Command, status: int, printed: str) -> None:
    matches = doctest.OutputChecker().check_output(command.printed, printed, doctest.ELLIPSIS)
    assert matches, f"{command.words}\n{printed}"
    assert status == command.status


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
    monkeypatch.chdir(tmp_path)
    check_commands(page, tmp_path, capsys)


def check_commands(page: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs the commands of a page in this process, but for those under `mpiexec`."""
    for command in Page(page, folder).commands():
        if command.words[0] == "mpiexec":
            continue
        assert command.words[0] == "cir"
        capsys.readouterr()
        status = main(command.words[1:])
        out, err = capsys.readouterr()
        _check(command, status, err + out)


@pytest.mark.slow
def test_command_of_several_processes_prints_what_the_tutorial_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results: list[Command] = []
    for command in Page(ROOT / "docs/tutorials/ark.md", tmp_path).commands():
        match command.words:
            case ["cir", "convert", *_]:
                main(command.words[1:])
            case ["mpiexec", "-n", count, "cir", *arguments]:
                results.append(command)
                ended = mpiexec.run(int(count), ["-m", "commonir", *arguments])
                _check(command, ended.status, ended.err + ended.out)
            case _:
                pass
    assert len(results) == 1
