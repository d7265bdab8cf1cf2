"""The differences on a terminal: colour, tables that fit, progress; and that pipes get plain text in full."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonir.base import codes
from commonir.base.diagnostics import Diagnostic
from commonir.cli.answer import Answer, write_answer
from commonir.cli.terminal import Terminal
from commonir.reports.columns import Column, table_lines, text_width

from tests import pseudo_terminal
from tests.cli.conftest import FAKED, environment
from tests.command_lines import Cir

pty = pytest.importorskip("pty", reason="needs pseudo-terminals")
fcntl = pytest.importorskip("fcntl", reason="needs pseudo-terminals")
termios = pytest.importorskip("termios", reason="needs pseudo-terminals")

SLOW = (
    "import time; from tests.cli import fake_api as f; load = f.load;"
    "f.load = lambda *a, **k: (time.sleep({seconds}), load(*a, **k))[1];"
)


def on_terminal(*arguments: str, columns: int = 80, before: str = "", **extra: str) -> str:
    """Returns the output of a command to a terminal of this width, both streams together."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = environment(**{"TERM": "xterm-256color", **extra})
    variables.pop("COLUMNS", None)
    process = subprocess.Popen(
        [sys.executable, "-c", before + FAKED, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=variables
    )
    os.close(theirs)
    out = b""
    while True:
        try:
            content = os.read(ours, 65536)
        except OSError:  # Linux says that nobody writes any more in this way
            break
        if not content:
            break
        out += content
    os.close(ours)
    process.wait(timeout=60)
    return out.decode().replace("\r\n", "\n")


def plain_table(columns: list[Column], rows: list[tuple[str, ...]], indent: int = 0, width: int | None = None) -> str:
    titles, lines = table_lines(columns, rows, indent, width)
    return "".join(line + "\n" for line in titles + lines)


def test_plain_table_aligns_numbers_to_the_right_and_leaves_no_space_at_line_ends() -> None:
    columns = [Column("name"), Column("count", is_number=True), Column("")]
    rows = [("a", "1", ""), ("longer", "1000", "note")]
    assert plain_table(columns, rows, indent=2) == "  name    count\n  a           1\n  longer   1000  note\n"


def test_table_without_titles_or_rows() -> None:
    assert plain_table([Column(""), Column("")], [("a", "b")]) == "a  b\n"
    assert plain_table([Column(""), Column("")], []) == ""


NAMED = [Column("value"), Column("type"), Column("time", is_number=True), Column("note")]


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (
            72,  # everything fits
            """\
            value             type                     time  note
            x                 tensor<1x48x12x12xf32>  12 us
            /model/block/Add  tensor<4xf32>            1 us  first and last
            """,
        ),
        (
            60,  # a cell that is too long for its column ends the line
            """\
            value             type                  time  note
            x                 tensor<1x48x12x12xf32>
                                                   12 us
            /model/block/Add  tensor<4xf32>         1 us  first and last
            """,
        ),
        (
            40,  # a row takes two lines
            """\
            value             type
                 time  note
            x                 tensor<1x48x12x12xf32>
                12 us
            /model/block/Add  tensor<4xf32>
                 1 us  first and last
            """,
        ),
        (
            20,  # a type is broken between two of its dims
            """\
            value
                type
                 time
                note
            x
                tensor<1x48x12x
                12xf32>
                12 us
            /model/block/Add
                tensor<4xf32>
                 1 us
                first and last
            """,
        ),
    ],
)
def test_table_that_is_too_wide_for_the_terminal(width: int, shown: str) -> None:
    rows = [
        ("x", "tensor<1x48x12x12xf32>", "12 us", ""),
        ("/model/block/Add", "tensor<4xf32>", "1 us", "first and last"),
    ]
    assert plain_table(NAMED, rows, width=width) == dedent(shown)


@given(
    st.lists(st.tuples(*[st.text("ab/x1<é漢 ", max_size=30)] * 3), max_size=4),
    st.integers(8, 60),
    st.tuples(*[st.booleans()] * 3),
)
def test_tables_lose_nothing_and_stay_within_the_width(
    rows: list[tuple[str, ...]], width: int, numbers: tuple[bool, ...]
) -> None:
    columns = [Column("", is_number=is_number) for is_number in numbers]
    lines = table_lines(columns, rows, 2, width)[1]
    assert all(text_width(line) <= width and line == line.rstrip() for line in lines)
    assert Counter("".join(lines).replace(" ", "")) == Counter("".join(map("".join, rows)).replace(" ", ""))


def test_findings_are_coloured_on_a_terminal(folder: Path) -> None:
    assert "\x1b[31m\x1b[1merror[E0103]\x1b[0m: " in on_terminal("info", "unreadable.mil")


@pytest.mark.slow_cases("info ok.mil-*", "ops mil.conv-*")
@pytest.mark.parametrize("extra", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb"])
@pytest.mark.parametrize(
    "arguments", [("info", "unreadable.mil"), ("info", "ok.mil"), ("ops", "mil.conv")], ids=" ".join
)
def test_colour_can_be_turned_off(folder: Path, arguments: tuple[str, ...], extra: dict[str, str]) -> None:
    out = on_terminal(*arguments, columns=80, before="", **extra)
    assert "\x1b[3" not in out
    assert "\x1b[9" not in out


@pytest.mark.slow_cases("20", "40")
@pytest.mark.parametrize("columns", [20, 40, 80])
def test_table_fits_the_terminal(folder: Path, columns: int) -> None:
    lines = on_terminal("doctor", columns=columns, NO_COLOR="1").splitlines()
    table = lines[lines.index("packages") + 1 : lines.index("engines")]
    assert max(len(line) for line in table) <= columns
    assert "pip" in "".join(table)


def test_markup_in_names_is_text(folder: Path) -> None:
    assert r"conv\x1b[31m\u202e[bold]" in on_terminal("info", "ok.mil", NO_COLOR="1")


def test_reference_page_is_formatted_on_a_terminal_and_markdown_in_a_pipe(folder: Path, cir: Cir) -> None:
    assert cir("ops", "mil.conv").out == "# mil.conv\n\nConvolution.\n"
    assert "# mil.conv" not in on_terminal("ops", "mil.conv")


@pytest.mark.slow
def test_progress_shows_after_half_a_second_and_leaves_no_trace(folder: Path) -> None:
    assert "running ok.mil" not in on_terminal("run", "ok.mil")
    out = on_terminal("run", "ok.mil", before=SLOW.format(seconds=2))
    assert "reading ok.mil" in out
    assert "\x1b[2K" in out  # the line is erased
    assert out.rstrip().splitlines()[-1].startswith("z ")


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("run", "ok.mil"), ("run", "ok.mil", "--json")], ids=" ".join)
def test_progress_is_for_terminals_only(folder: Path, arguments: tuple[str, ...]) -> None:
    before = SLOW.format(seconds=1)
    done = subprocess.run(
        [sys.executable, "-c", before + FAKED, *arguments], capture_output=True, env=environment(), check=True
    )
    assert done.stderr == b""


@pytest.mark.slow
def test_json_on_a_terminal_shows_no_progress(folder: Path) -> None:
    out = on_terminal("run", "ok.mil", "--json", before=SLOW.format(seconds=1))
    assert out.startswith("{\n")
    assert "reading" not in out


@pytest.mark.parametrize(("most", "count", "shown"), [(20, 21, 21), (20, 22, 20), (None, 50, 50)])
def test_findings_beyond_the_limit_are_counted(
    capsys: pytest.CaptureFixture[str], most: int | None, count: int, shown: int
) -> None:
    finding = Diagnostic(codes.MALFORMED_REGION, "a fault")
    err = Terminal(is_error=True)
    err.is_terminal = True
    write_answer(Answer.refused(finding), [finding] * count, "check", Terminal(), err, is_json=False, most=most)
    text = capsys.readouterr().err
    assert text.count("a fault") == shown
    assert ("and 2 findings more" in text) is (shown < count)


@pytest.mark.slow
@pytest.mark.parametrize(("extra", "shown"), [((), 20), (("--all",), 25)], ids=["first", "all"])
def test_a_terminal_shows_the_first_findings(folder: Path, extra: tuple[str, ...], shown: int) -> None:
    function = "func.func @f{}(%x: tensor<2xf32>) -> tensor<3xf32> {{\n  return %x : tensor<2xf32>\n}}\n"
    (folder / "many.mlir").write_text("".join(function.format(n) for n in range(25)))
    status, out = pseudo_terminal.run(["check", *extra, "many.mlir"], folder, 100)
    assert status == 1
    assert out.count("error[E0503]") == shown
    assert ("and 5 findings more: `cir check --all`, or redirect them to a file" in out) is (shown == 20)
    assert out.endswith("checked 1 file: 25 errors\n")
