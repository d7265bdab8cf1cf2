"""Names made harmless, quantities made readable, near names found."""

from __future__ import annotations

import doctest
import unicodedata
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonir.base import suggestions, text
from commonir.base.codes import WRONG_USAGE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean, nearest
from commonir.base.text import escape, escape_lines, format_bytes, format_count


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("conv_1/größe 日本", "conv_1/größe 日本"),
        ("\x1b[2J\x1b]0;title\x07", r"\x1b[2J\x1b]0;title\x07"),
        ("a\nb\tc\rd", r"a\nb\tc\rd"),
        ("\x9b31m", r"\x9b31m"),
        ("user\u202egnp.exe", r"user\u202egnp.exe"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("line\u2028end", r"line\u2028end"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
        ("[red]markup[/red]", "[red]markup[/red]"),
        ("\x7f\x00", r"\x7f\x00"),
    ],
)
def test_escape_shows_what_is_not_printable(raw: str, shown: str) -> None:
    assert escape(raw) == shown


@given(st.text())
def test_escaped_text_is_printable_and_printable_text_is_kept(raw: str) -> None:
    shown = escape(raw)
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in shown)
    assert escape(shown) == shown
    assert not raw.isprintable() or shown == raw


def test_findings_and_errors_escape_what_files_name() -> None:
    name = "\x1b[2Jconv\u202e 日本"
    finding = Diagnostic(WRONG_USAGE, f"no '{name}'", where=name, file=name, notes=[name], help=f"use\n  {name}")
    shown = r"\x1b[2Jconv\u202e 日本"
    lines = [f"error[E0901]: no '{shown}'", f"  --> {shown}: {shown}", f"   = {shown}", f"   = help: use {shown}"]
    assert str(finding) == str(DiagnosticError(finding)) == "\n".join(lines)


def test_findings_leave_out_the_middle_of_long_names() -> None:
    finding = Diagnostic(WRONG_USAGE, f"'{'n' * 10**6}' is wrong", where="a" * 10**6, notes=["b" * 10**6])
    lines = str(finding).splitlines()
    assert max(map(len, lines)) < 2200
    assert "characters left out" in lines[0]
    assert lines[0].endswith("n' is wrong")


def test_lines_are_kept_where_they_are_wanted() -> None:
    assert escape_lines("a\n\tb\x1b[0m\r\n") == "a\n\tb\\x1b[0m\\r\n"


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.00 k"),
        (999_499, "999 k"),
        (999_500, "1.00 M"),
        (9_994, "9.99 k"),
        (9_996, "10.0 k"),
        (7 * 10**20, "700000 P"),
    ],
)
def test_counts_have_three_digits(count: int, shown: str) -> None:
    assert format_count(count) == shown


def test_bytes_have_decimal_units() -> None:
    assert [format_bytes(size) for size in (0, 64, 4096, 2_200_000_000)] == ["0 B", "64 B", "4.10 kB", "2.20 GB"]


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("covn", ["conv", "add"], ("conv",)),
        ("CONV", ["add", "conv"], ("conv",)),
        ("batch-norm", ["batch_norm", "layer_norm"], ("batch_norm",)),
        ("conv", ["mil.conv", "core.conv", "mil.add"], ("mil.conv", "core.conv")),
        ("xyzzy", ["conv", "add"], ()),
        ("", ["conv"], ()),
        ("a" * 1000, ["a" * 999], ()),
        ("conv", ["conv", "conv"], ("conv",)),
    ],
)
def test_nearest_names(name: str, candidates: list[str], expected: tuple[str, ...]) -> None:
    assert nearest(name, candidates) == expected


def test_suggestion_reads_as_a_question() -> None:
    assert did_you_mean("cnv", ["conv", "inv"]) == "did you mean 'conv' or 'inv'?"
    assert did_you_mean("ab", ["abc", "abd", "abe"]) == "did you mean 'abe', 'abd' or 'abc'?"
    assert did_you_mean("qqq", ["conv"]) is None


@pytest.mark.parametrize("module", [text, suggestions])
def test_examples_of_the_docstrings_hold(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0
