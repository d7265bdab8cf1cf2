"""Properties and groups of results out of records, as mlir-opt reads and prints them.

`probe_custom.mlir` and `probe_generic.mlir` are what mlir-opt 22 printed of the same programs with the dialect of
`probe.td` as a plugin (`probe.cpp`).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.ods import Dialects, verify
from commonir.text.loaded_definitions import load_dialects
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from tests.mlir_programs.oracle import SEPARATOR
from tests.tablegen.oracle import mlir_include

_HERE = Path(__file__).parent
_NOT_READ_AGAIN = (
    # A word after flags that commas separate is read as one more, and no flags as none.
    "probe.enums red, b red, c a, b, paint<green>",
    "probe.enums red, b green, c b, paint<green>",
    "probe.flags x paint<> []",
)
"""Texts that mlir-opt prints and refuses to read, as we do."""


@cache
def _dialects() -> Dialects:
    return Dialects(dialects=load_dialects([_HERE / "probe.td"], [str(mlir_include())]))


def _texts(name: str) -> list[str]:
    return [each.strip() for each in (_HERE / name).read_text().split(SEPARATOR)]


def _printed(source: str, *, generic: bool) -> str:
    module = parse_module(source, _dialects())
    assert verify(module, _dialects()) == []
    return print_module(module, generic=generic, naming=Naming.MLIR, dialects=_dialects()).strip()


_PAIRS = list(zip(_texts("probe_custom.mlir"), _texts("probe_generic.mlir"), strict=True))


@pytest.mark.parametrize(("custom", "generic"), _PAIRS)
def test_both_forms_are_those_of_mlir_opt(custom: str, generic: str) -> None:
    assert _printed(generic, generic=True) == generic
    assert _printed(generic, generic=False) == custom
    if not any(each in custom for each in _NOT_READ_AGAIN):
        assert _printed(custom, generic=True) == generic
        assert _printed(custom, generic=False) == custom


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('"probe.confined"() <{a = -1}> : () -> ()', "attribute 'a' must be non-negative int64_t, found -1"),
        ('"probe.confined"() <{a = 1, b = [-4]}> : () -> ()', "'b' must be optional non-negative int64_t"),
        ('"probe.ints"() <{a = 1, b = 3 : i32, c = [1, 2]}> : () -> ()', "expected an array of at most one value"),
        ('"probe.ints"() <{a = 1, b = 3 : i32, c = 4}> : () -> ()', "expected an array of at most one value"),
        ('"probe.enums"() <{a = 1 : i32, d = 0 : i32}> : () -> ()', "1 is the number of no case of red, green"),
        ('probe.bare 4, "", false, unit', "expected 'some', found 'unit'"),
        ('probe.bare 4, "", maybe, none', "expected true or false, found 'maybe'"),
        ("probe.enums red, paint<blue>", "expected one of red, green, found 'blue'"),
        ("probe.dict <{b = [4]}>", "requires attribute 'a'"),
        ('"probe.split"() <{resultSegmentSizes = array<i32: 1, 1>}> : () -> ()', "does not divide 0 results"),
        ("%0 = probe.split : two i32", "must be 1-bit signless integer, found i32"),
        *[(each, "expected") for each in _NOT_READ_AGAIN],
    ],
)
def test_what_mlir_opt_refuses_is_refused(source: str, message: str) -> None:
    try:
        result = [d.message for d in verify(parse_module(source, _dialects()), _dialects())]
    except DiagnosticError as error:
        result = [d.message for d in error.diagnostics]
    assert any(message in each for each in result), result


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('"probe.ints"() <{a = 1 : i64}> : () -> ()', "requires attribute 'b'"),
        ('"probe.ints"() <{a = 1, b = 4294967296}> : () -> ()', "expected an integer of 32 bits, found 4294967296"),
        ('probe.more {a = 1 : i64, c = "s", d = true}', "'a' is a property, which attributes do not give"),
    ],
)
def test_what_mlir_opt_loses_in_silence_is_refused(source: str, message: str) -> None:
    with pytest.raises(DiagnosticError, match=message):
        parse_module(source, _dialects())


def test_properties_that_a_format_does_not_say_leave_the_generic_form() -> None:
    # mlir-opt prints `probe.more`, which it reads as other properties.
    source = '"probe.more"() <{a = 1 : i64, b = [4], c = "s", d = false, e = false, f = "x", g = []}> : () -> ()'
    assert source in _printed(source, generic=False)
