"""Core operations on texts: what they give, with results written out, and patterns against Python's own."""

from __future__ import annotations

import re
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects.core.patterns import PatternError, compiled
from commonir.ir.types import bf16, boolean, f32, f64, i8, i64

from tests.dialects.core.running import evaluated, operation

Array = NDArray[Any]


def _texts(*values: str) -> Array:
    return np.asarray(values, object)


def _run(name: str, *operands: Array, **attributes: Any) -> list[Any]:
    return [y.tolist() for y in evaluated(operation(f"core.{name}", operands, attributes), operands)]


def test_texts_are_joined_with_broadcasting() -> None:
    assert _run("string_concat", _texts("a", "").reshape(2, 1), _texts("x", "é")) == [[["ax", "aé"], ["x", "é"]]]


def test_parts_of_texts_fill_up_with_empty_ones() -> None:
    parts, counts = _run("string_split", _texts("a,b,,c", "", "d"), delimiter=",")
    assert parts == [["a", "b", "", "c"], ["", "", "", ""], ["d", "", "", ""]]
    assert counts == [4, 1, 1]


def test_without_a_delimiter_white_space_divides() -> None:
    parts, counts = _run("string_split", _texts("  a \t b\n", "   "))
    assert (parts, counts) == ([["a", "b"], ["", ""]], [2, 0])


def test_no_more_splits_than_the_limit() -> None:
    assert _run("string_split", _texts("a-b-c"), delimiter="-", limit=1) == [[["a", "b-c"]], [2]]


def test_stop_words_go_with_and_without_regard_to_case() -> None:
    x = _texts("an", "Ox", "AN")
    assert _run("string_normalize", x, stopwords=("an",), case="upper") == [["OX"]]
    assert _run("string_normalize", x, stopwords=("an",), is_case_sensitive=True, case="lower") == [["ox", "an"]]


def test_when_no_text_is_left_an_empty_one_is() -> None:
    assert _run("string_normalize", _texts("a", "a").reshape(1, 2), stopwords=("a",)) == [[[""]]]


def test_ngrams_are_counted_over_tokens_left_out() -> None:
    tokens = np.asarray([[1, 1, 3, 3, 3, 7], [8, 6, 7, 5, 6, 8]], np.int64)
    pool = {"numbers": (2, 3, 5, 4, 5, 6, 7, 8, 6, 7), "starts": (0, 4), "columns": (0, 1, 2, 3, 4, 5, 6)}
    (y,) = _run("ngram_counts", tokens, **pool, least=1, most=2, skips=5)
    assert y == [[0, 3, 0, 0, 0, 0, 0], [0, 0, 1, 0, 1, 1, 1]]


def test_ngrams_of_texts() -> None:
    (y,) = _run(
        "ngram_counts", _texts("a", "b", "a", "b"), texts=("a", "a", "b"), starts=(0, 1), columns=(1, 0), most=2
    )
    assert y == [2, 2]


@pytest.mark.parametrize(
    ("text", "element", "number"),
    [("1.5", f32, 1.5), (" -INF ", f32, -np.inf), ("1e-3", f64, 1e-3), ("300", i8, 44), ("1e2", i64, 100),
     ("9007199254740993", i64, 9007199254740993), ("False", boolean, False), ("2", boolean, True)],
)  # fmt: skip
def test_numbers_are_read_from_texts(text: str, element: Any, number: float) -> None:
    assert _run("parse_numbers", _texts(text), to=element) == [[number]]


def test_a_text_that_is_not_a_number_is_an_error_when_running() -> None:
    with pytest.raises(DiagnosticError, match="could not convert"):
        _run("parse_numbers", _texts("Hello"), to=f32)


def test_numbers_are_written_so_that_they_can_be_read_back() -> None:
    assert _run("format_numbers", np.asarray([0.1, 1e20, -3], np.float32)) == [["0.1", "1e+20", "-3.0"]]
    assert _run("format_numbers", np.asarray([0.1], np.float16)) == [["0.1"]]
    assert _run("format_numbers", np.asarray([2**63], np.uint64)) == [["9223372036854775808"]]
    assert bf16.bits == 16


_ATOMS = ["a", "b", ".", "[ab]", "[^a]", r"\d", r"\w", "(?:ab)", "(a|b)", r"\b", "^", "$", "(?i:A)", "[]a]", "x"]
_PATTERNS = st.lists(
    st.tuples(st.sampled_from(_ATOMS), st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,3}", "*?"])), max_size=5
)


@pytest.mark.slow
@settings(max_examples=3 * settings().max_examples, deadline=None)
@given(_PATTERNS, _PATTERNS, st.lists(st.text("abA1 x]\n", max_size=6), max_size=4))
def test_patterns_match_what_those_of_python_match(
    first: list[tuple[str, str]], second: list[tuple[str, str]], texts: list[str]
) -> None:
    sides = ["".join(a + (q if a not in (r"\b", "^", "$") else "") for a, q in side) for side in (first, second)]
    pattern = f"({sides[0]}|{sides[1]})"
    theirs = re.compile(pattern.replace("$", r"\Z"), re.ASCII)
    ours = compiled(pattern)
    for text in texts:
        assert ours.matches(text) == (theirs.fullmatch(text) is not None), (pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("(?i)hello[^a]", "HeLLoB"), (r"\p{Lu}+\pL", "ÄBc"), ("[[:alpha:]]+[[:^punct:]]", "abc1"), (r"\Qa.b\E+", "a.bb"),
     (r"(?:\Q|)\E|\Q\Eb)+\Q*", "b|)b*"),
     (r"\x41\x{1F600}\101", "A\U0001f600A"), ("a{,2}", "a{,2}"), ("(?s).", "\n"), ("(?m)a$\nb", "a\nb"),
     ("(?P<name>a)(?<other>b)", "ab"), ("[]-a]+", "]a_"), (r"[\d\-x]+", "1-x")],
)  # fmt: skip
def test_the_syntax_of_re2_is_understood(pattern: str, text: str) -> None:
    assert compiled(pattern).matches(text)
    assert not compiled(pattern).matches(text + "~")


@pytest.mark.slow_cases("(((a{100}){100}){100})")
@pytest.mark.parametrize(
    "pattern",
    ["(", ")", "a**", r"\1", "(?=a)", "(?<!a)", "[b", "a{2000}", "a{3,2}", "[z-a]", r"\pQ", r"\p{Greek}", "(?P=n)",
     "\\", "*", "[[:foo:]]", r"\x{zz}", "(?", "(?i", r"\y", "(" * 200, "(((a{100}){100}){100})"],
)  # fmt: skip
def test_what_is_not_a_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        compiled(pattern)


def test_no_pattern_takes_time_that_grows_without_measure() -> None:
    start = time.process_time()
    assert not compiled("(a*)*(a|aa)+b").matches("a" * 2000)
    assert time.process_time() - start < 2
