"""Text cases: programs whose comments announce the expected diagnostics, one program after each `// -----`.

The first line of a case file says how it is checked. mlir-opt agrees with each verdict, unless a comment
`// mlir-opt accepts` says why not. A new case is a new program in a file of `cases/`; nothing else.
"""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from tests.command_lines import Cir, command_lines
from tests.oracles import mlir_opt

FILES = sorted((Path(__file__).parent / "cases").glob("*.mlir"))
RUN = "// RUN: "
SEPARATOR = "// -----\n"


def programs() -> list[tuple[str, str]]:
    """Returns the programs of all case files, each with an id."""
    pieces = [(path.stem, piece) for path in FILES for piece in path.read_text(encoding="utf-8").split(SEPARATOR)]
    return [(f"{stem}-{piece.partition('@')[2].partition('(')[0]}", piece) for stem, piece in pieces]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_findings_are_those_that_comments_announce(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = path.read_text(encoding="utf-8").partition("\n")[0]
    assert run.startswith(RUN + "cir ")
    cir: Cir = command_lines(capsys)
    words = [str(path) if word == "%s" else word for word in shlex.split(run.removeprefix(RUN))[1:]]
    done = cir(*words)
    assert done.status == 0, done.err


def test_a_finding_without_a_comment_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "case.mlir"
    path.write_text("func.func @undefined() -> i32 {\n  return %y : i32\n}\n", encoding="utf-8")
    assert command_lines(capsys)("check", "--verify-diagnostics", str(path)).status == 1


@pytest.mark.slow
@pytest.mark.parametrize("program", [text for _, text in programs()], ids=[name for name, _ in programs()])
def test_mlir_opt_agrees_with_the_verdict(program: str) -> None:
    done = subprocess.run([mlir_opt(), "-"], input=program, capture_output=True, text=True, check=False)
    is_refused = "expected-error" in program and "// mlir-opt accepts" not in program
    assert (done.returncode != 0) == is_refused, done.stderr
