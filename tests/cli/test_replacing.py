"""Which files a command line may replace: an older output, and what it reads only by a new version of that."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
import numpy as np
import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.cli.options import OutputPath
from commonir.cli.replacing import Replacing
from commonir.cli.table import VERBS
from commonir.cli.table import cir as verbs

from tests.command_lines import Cir

_FORCED = "choose another name, or replace it with --force"

# Command lines that would lose what they read; `kept.npz` and `ok.mil` are there.
LOSSES = [
    "convert ok.mil -o ok.mil",
    "convert ok.mil -o ./ok.mil",
    "check ok.mil --fix -o ok.mil",
    "run ok.mil @kept.npz --save kept.npz",
    "run ok.mil x=@kept.npz:x --save-inputs kept.npz",
    "run ok.mil x=kept.npz --save-all kept.npz",
    "run ok.mil --expect kept.npz --save kept.npz",
    "run ok.mil --extern kept.npz --save-state kept.npz",
    "run ok.mil --state kept.npz --save kept.npz",
    "run ok.mil image=@photo.png --save y=photo.png",
    "profile ok.mil -o ok.mil",
    "profile ok.mil --trace ok.mil",
    "view ok.mil --to html -o ok.mil",
    "reduce ok.mil --fails 'grep {}' -o ok.mil",
    "reduce reduced.mil --fails 'grep {}'",
    "reduce ok.mil @small_inputs.npz --fails 'grep {}' -o small.mil",
    "opt ok.mil --rules rules.td -o rules.td",
    "tblgen rules.td -o rules.td",
    "compare ok.mil folder --repro folder",
]
IN_PLACE = [
    "edit ok.mil --meta a=b -o ok.mil",
    "opt ok.mil -o ok.mil",
    "extract ok.mil --to y -o ok.mil",
    "bundle ok.mil -o ok.mil",
    "convert ok.mil --to onnx -o ok.mil --force",
    "run ok.mil --state kept.npz --save-state kept.npz",
    "run ok.mil --save kept.npz",
    "run ok.mil @kept.npz --save new.npz",
]
_WRITES = ("Where to write", "Write", "Save", "Draw", "The part", "write")


@pytest.fixture
def files(folder: Path) -> Path:
    """The current folder with models, arrays and sources that command lines read."""
    np.savez(folder / "kept.npz", x=np.zeros(2, np.float32))
    np.savez(folder / "small_inputs.npz", x=np.zeros(2, np.float32))
    for name in ("photo.png", "rules.td", "reduced.mil"):
        (folder / name).write_text("ok")
    (folder / "folder").mkdir()
    return folder


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("line", LOSSES)
def test_an_output_does_not_replace_what_the_command_reads(files: Path, cir: Cir, line: str) -> None:
    before = _contents(files)
    done = cir(*shlex.split(line))
    assert (done.status, "error[E0808]: the output is the input" in done.err) == (2, True), done
    assert (_FORCED in done.err) == line.startswith(("convert", "check"))
    assert _contents(files) == before


@pytest.mark.parametrize("line", IN_PLACE)
def test_a_new_version_replaces_the_old_one(files: Path, cir: Cir, line: str) -> None:
    done = cir(*line.split())
    assert (done.status, "E0808" in done.err) == (0, False), done


def test_a_terminal_asks_where_force_answers(files: Path) -> None:
    asked: list[str] = []

    def confirm(output: str) -> bool:
        asked.append(output)
        return True

    def replacing(verb: str, *words: str) -> Replacing:
        command = verbs.get_command(click.Context(verbs), verb)
        assert command is not None
        return Replacing(command.make_context(verb, list(words)))

    replacing("convert", "ok.mil", "-o", "ok.mil").check_outputs(confirm)
    replacing("convert", "ok.mil", "-o", "reduced.mil").check_outputs(confirm)
    replacing("convert", "ok.mil", "-o", "ok.mil", "--force").check_outputs(confirm)
    assert asked == ["ok.mil"]
    with pytest.raises(DiagnosticError, match="E0808"):
        replacing("view", "ok.mil", "-o", "ok.mil").check_outputs(confirm)
    assert asked == ["ok.mil"]


def test_all_options_that_write_are_outputs() -> None:
    found: set[str] = set()
    for verb in VERBS:
        command = verbs.get_command(click.Context(verbs), verb)
        assert command is not None
        for option in command.params:
            if isinstance(option, click.Option) and isinstance(option.type, click.Path):
                writes = (option.help or "").removeprefix("With --fix: ").startswith(_WRITES)
                assert writes == isinstance(option.type, OutputPath), (verb, option.opts)
                found |= {f"{verb} {option.opts[-1]}"} if writes else set()
    assert found >= {"convert --output", "run --save", "run --save-state", "compare --repro", "reduce --output"}
