"""Command lines in the documentation print what it says (`tests/console_pages.py`).

The examples of the repository are in the current folder, with a Git LFS pointer named `model.onnx`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from commonir.cli.main import main

from tests import mpiexec
from tests.console_pages import Command, check_commands, commands_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    p
    for p in (*(ROOT / "docs").rglob("*.md"), ROOT / "README.md")
    # With the plugin installed: `tests/plugin`.
    if "```console\n" in p.read_text("utf-8") and p.name != "plugins.md"
)
_LFS_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + 64 * "0" + "\nsize 102400\n"


def fill(folder: Path) -> None:
    """Gives a folder the examples."""
    for example in (ROOT / "examples").iterdir():
        (folder / example.name).symlink_to(example)
    (folder / "model.onnx").write_text(_LFS_POINTER)


@pytest.mark.slow_cases(
    "README.md",
    "docs/tutorials/*",
    "docs/ark.md",
    "docs/compiled_*",
    "docs/onnx.md",
    "docs/performance.md",
    "docs/surgery.md",
)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_of_a_page_print_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    fill(tmp_path)
    check_commands(page, tmp_path, capsys)


@pytest.mark.slow
def test_command_of_several_processes_prints_what_the_tutorial_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fill(tmp_path)
    results: list[Command] = []
    for command in commands_of(ROOT / "docs/tutorials/ark.md", tmp_path):
        match command.words:
            case ["cir", "convert", *_]:
                main(command.words[1:])
            case ["mpiexec", "-n", count, "cir", *arguments]:
                results.append(command)
                ended = mpiexec.run(int(count), ["-m", "commonir", *arguments])
                command.check(ended.status, ended.err + ended.out)
            case _:
                pass
    assert len(results) == 1
