"""Findings in TableGen files: codes and places, includes, and the limits that hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonir import tablegen
from commonir.base import file_codes
from commonir.base.diagnostics import Code, Diagnostic, DiagnosticError
from commonir.tablegen import lexer, parser
from commonir.tablegen.errors import EvaluationError
from commonir.tablegen.regular_expressions import RegularExpression

from tests.work_counts import lines_of


def _refusal(tmp_path: Path, text: str, **files: str) -> Diagnostic:
    for name, content in files.items():
        (tmp_path / f"{name}.td").write_text(content)
    path = tmp_path / "main.td"
    path.write_text(text)
    with pytest.raises(DiagnosticError) as caught:
        tablegen.load(path)
    return caught.value.diagnostics[0]


def test_finding_shows_file_line_column_and_caret(tmp_path: Path) -> None:
    result = _refusal(tmp_path, "class A;\ndef x : A {\n  int y = zz;\n}\n")
    assert (result.code, result.line, result.column) == (file_codes.TABLEGEN_RULE, 3, 11)
    assert result.file == str(tmp_path / "main.td")
    assert result.notes == ("  int y = zz;", "          ^")


def test_finding_in_an_included_file_names_that_file(tmp_path: Path) -> None:
    result = _refusal(tmp_path, 'include "inner.td"\n', inner="def x {\n  int = 1;\n}\n")
    assert (result.code, result.line, result.file) == (file_codes.MALFORMED_TABLEGEN, 2, str(tmp_path / "inner.td"))


def test_unknown_class_suggests_the_nearest(tmp_path: Path) -> None:
    result = _refusal(tmp_path, "class Operation; def x : Operatoin;")
    assert result.help == "did you mean 'Operation'?"


def test_all_fields_that_stay_open_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "main.td"
    path.write_text("class A { int a = ?; int b = !add(a, 1); int c = !add(a, 2); } def x : A;")
    with pytest.raises(DiagnosticError) as caught:
        tablegen.load(path)
    assert [result.code for result in caught.value.diagnostics] == [file_codes.TABLEGEN_RULE] * 2


def test_false_assertion_reports_its_message_and_the_record(tmp_path: Path) -> None:
    result = _refusal(tmp_path, 'class A<int n> { assert !gt(n, 0), "n is " # n; }\ndef x : A<0>;\n')
    assert (result.code, result.message, result.line) == (file_codes.TABLEGEN_ASSERTION, "assertion failed: n is 0", 1)
    assert result.help == "it holds for no such record as 'x'"


@pytest.mark.parametrize(
    ("include", "code"),
    [
        ("missing.td", file_codes.TABLEGEN_INCLUDE),
        ("/etc/passwd", file_codes.INCLUDE_OUTSIDE),
        ("../outside.td", file_codes.INCLUDE_OUTSIDE),
        ("link.td", file_codes.INCLUDE_OUTSIDE),
    ],
)
def test_only_files_of_the_own_and_the_given_folders_are_included(tmp_path: Path, include: str, code: Code) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "outside.td").write_text("def secret;")
    (inner / "link.td").symlink_to(tmp_path / "outside.td")
    assert _refusal(inner, f'include "{include}"').code is code


def test_include_from_a_given_folder_and_from_a_folder_inside_of_the_own(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "own" / "deeper").mkdir(parents=True)
    (tmp_path / "given" / "a.td").write_text("def a;")
    (tmp_path / "own" / "deeper" / "b.td").write_text('include "c.td"\ndef b;')
    (tmp_path / "own" / "deeper" / "c.td").write_text("def c;")
    main = tmp_path / "own" / "main.td"
    main.write_text('include "a.td"\ninclude "deeper/b.td"')
    assert sorted(tablegen.load(main, [str(tmp_path / "given")]).defs) == ["a", "b", "c"]


def test_macros_are_given_from_outside(tmp_path: Path) -> None:
    main = tmp_path / "main.td"
    main.write_text("#ifdef EXTRA\ndef extra;\n#endif\ndef always;\n")
    assert sorted(tablegen.load(main).defs) == ["always"]
    assert sorted(tablegen.load(main, defines=["EXTRA"]).defs) == ["always", "extra"]


def test_shared_sources_read_a_file_again_when_it_changed(tmp_path: Path) -> None:
    main = tmp_path / "main.td"
    sources = tablegen.Sources()
    main.write_text("def a;")
    assert sorted(tablegen.load(main, sources=sources).defs) == ["a"]
    main.write_text("def a; def b;")
    assert sorted(tablegen.load(main, sources=sources).defs) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("def x { int y = " + "!add(1, " * 5000 + "1" + ")" * 5000 + "; }", file_codes.NESTING_TOO_DEEP),
        ("defvar y = " + "[" * 5000, file_codes.NESTING_TOO_DEEP),
        ("def x { dag y = " + "(x " * 5000, file_codes.NESTING_TOO_DEEP),
        ("def x { " + "list<" * 5000, file_codes.NESTING_TOO_DEEP),
        ("foreach i = [1] in " * 5000 + "def x;", file_codes.NESTING_TOO_DEEP),
        ("def x { string y = zz" + ' # "a"' * 10_000 + "; }", file_codes.TABLEGEN_RULE),
        ('include "main.td"\ndef x;', file_codes.NESTING_TOO_DEEP),
        ("class A<int n> { int v = A<!add(n, 1)>.v; } def x { int y = A<0>.v; }", file_codes.NESTING_TOO_DEEP),
        ("foreach i = 0...9999999999 in def x#i;", file_codes.TABLEGEN_RULE),
        ("def x { list<int> y = !range(0, 9999999999); }", file_codes.TABLEGEN_RULE),
        ("def x { list<int> y = !listsplat(1, 9999999999); }", file_codes.TABLEGEN_RULE),
        ("def x { bits<9999999999> y; }", file_codes.TABLEGEN_RULE),
        ("def x { int y = {1, 0}{9999999999}; }", file_codes.TABLEGEN_RULE),
        (
            'defvar s0 = "aaaaaaaaaaaaaaaa";\n'
            + "".join(f"defvar s{i + 1} = !strconcat(s{i}, s{i});\n" for i in range(40)),
            file_codes.TABLEGEN_RULE,
        ),
        (
            "defvar l0 = [1, 2];\n" + "".join(f"defvar l{i + 1} = !listconcat(l{i}, l{i});\n" for i in range(40)),
            file_codes.TABLEGEN_RULE,
        ),
        (
            "def op; defvar d0 = (op 1);\n" + "".join(f"defvar d{i + 1} = (op d{i}, d{i});\n" for i in range(40)),
            file_codes.TABLEGEN_RULE,
        ),
        ('def x { bit y = !match("' + "a" * 40 + '", "(a*)*b("); }', file_codes.TABLEGEN_RULE),
    ],
)
def test_files_made_to_exhaust_the_reader_are_refused(tmp_path: Path, text: str, code: Code) -> None:
    assert _refusal(tmp_path, text).code is code


def test_multiclasses_that_double_at_each_step_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "MAX_MULTICLASS_RECORDS", 1_000)
    steps = [f"multiclass M{n} {{ defm a : M{n - 1}; defm b : M{n - 1}; }}" for n in range(1, 40)]
    result = _refusal(tmp_path, "\n".join(['multiclass M0 { def "" {} }', *steps, "defm X : M39;"]))
    assert (result.code, result.message) == (file_codes.TABLEGEN_RULE, "'M10' holds more than 1,000 records")


def test_names_in_nested_multiclasses_take_one_step_for_each_record(tmp_path: Path) -> None:
    """A text is added to the names at each of them: joined to the texts before, not resolved with them."""

    def work(depth: int) -> int:
        steps = [f'multiclass M{n} {{ defm a : M{n - 1}; def "" {{}} }}' for n in range(1, depth)]
        path = tmp_path / "main.td"
        path.write_text("\n".join(['multiclass M0 { def "" {} }', *steps, f"defm X : M{depth - 1};"]))
        return lines_of(lambda: tablegen.load(path))

    work(4)
    # The records are as many as the square of the depth.
    assert work(40) < 4.6 * work(20)


def test_dags_that_double_are_written_once_and_refused_where_too_large(tmp_path: Path) -> None:
    def text(depth: int) -> str:
        dags = [f"defvar d{n + 1} = (op d{n}, d{n});" for n in range(depth)]
        return "\n".join(["def op; defvar d0 = (op 1);", *dags, f"def x {{ dag y = d{depth}; }}"])

    def work(depth: int) -> int:
        (tmp_path / "main.td").write_text(text(depth))
        return lines_of(lambda: tablegen.records_json(tablegen.load(tmp_path / "main.td")))

    work(2)
    assert work(14) < 2.3 * work(7)
    (tmp_path / "main.td").write_text(text(18))
    with pytest.raises(DiagnosticError, match="'y' would have more than 16,777,216 characters as JSON"):
        tablegen.records_json(tablegen.load(tmp_path / "main.td"))


def test_loops_that_would_make_too_many_records_are_refused_before_they_do(tmp_path: Path) -> None:
    text = "foreach a = 0...9999 in foreach b = 0...9999 in def X#a#_#b;"
    result = _refusal(tmp_path, text)
    assert (result.code, result.message) == (file_codes.TABLEGEN_RULE, "more than 100000 records are made")


@pytest.mark.parametrize("value", ["!range(A, B)", "[1, 2][A...B]", "!range(0, 3000000)"])
def test_ranges_of_too_many_numbers_are_refused_before_they_are_listed(tmp_path: Path, value: str) -> None:
    text = value.replace("A", str(-(2**63))).replace("B", str(2**63 - 1))
    result = _refusal(tmp_path, f"def x {{ list<int> l = {text}; }}\n")
    assert (result.code, result.message) == (file_codes.TABLEGEN_RULE, "a value has more than 1,000,000 parts")


def test_includes_that_double_at_each_step_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexer, "MOST_INCLUDES", 100)
    files = {f"f{n}": f'include "f{n + 1}.td"\n' * 2 for n in range(30)}
    result = _refusal(tmp_path, 'include "f0.td"\n', **files, f30="class A;\n")
    assert (result.code, result.message.partition(" of ")[0]) == (file_codes.LIMIT_EXCEEDED, "more than 100 files")


def test_broken_text_never_fails_with_anything_but_a_finding(tmp_path: Path) -> None:
    text = (Path(__file__).parent / "accepted.td").read_text().partition("//----")[2][:4000]
    path = tmp_path / "main.td"
    for end in range(0, len(text), 37):
        path.write_text(text[:end] + text[end + 5 :])
        try:
            tablegen.load(path)
        except DiagnosticError:
            continue


@pytest.mark.parametrize(
    ("pattern", "text", "is_found"),
    [
        ("b", "abc", True),
        ("^b", "abc", False),
        ("^a(b|x)*c$", "abxbc", True),
        ("^[^a-c]+$", "xyz", True),
        ("^[[:digit:]]{2,3}$", "1234", False),
        ("^[]a]$", "]", True),
        (r"a\.b", "axb", False),
        ("a?b+$", "bb", True),
        ("(a*)*b", "a" * 5000, False),
    ],
)
def test_expressions_are_extended_regular_expressions(pattern: str, text: str, is_found: bool) -> None:
    assert RegularExpression(pattern).is_found_in(text) is is_found


@pytest.mark.parametrize(
    "pattern", ["(", ")", "[a", "*", "(a)\\1", "a{3,2}", "a{999}", "((((a{200}){200}){200}){200})", "(" * 100]
)
def test_malformed_and_huge_expressions_are_refused(pattern: str) -> None:
    with pytest.raises(EvaluationError):
        RegularExpression(pattern)
