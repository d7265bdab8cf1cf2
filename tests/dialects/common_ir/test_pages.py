"""Reference pages of what files declare, as `cir ops NAME --library FILE` shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

import commonir as cir
from commonir import api
from commonir.base.diagnostics import DiagnosticError

EXAMPLES = Path(__file__).parents[3] / "examples" / "common_ir"


def test_operators_and_functions_are_listed_by_the_names_that_nodes_call_them_by() -> None:
    module = cir.load(EXAMPLES / "overloads.cir.json")
    assert [entry.name for entry in api.declared_operations(module)] == [
        "com.example.operators.Twice",
        "com.example.float_twice.Twice",
        "com.example.integer_twice.Twice",
    ]


def test_a_page_has_a_section_for_each_signature() -> None:
    page = api.declared_page(cir.load(EXAMPLES / "overloads.cir.json"), "com.example.operators.Twice")
    assert page.startswith("# `com.example.operators.Twice`\n\n2 signatures: the types of the operands choose.\n")
    assert "## Signature 1\n\n`(x: f32[m*]) -> (y: f32[m*])`" in page
    assert "## Signature 2\n\n`(x: i64[m*]) -> (y: i64[m*])`" in page
    assert "| `x` | `i64[m*]` |" in page


def test_a_name_that_nothing_declares_is_refused() -> None:
    with pytest.raises(DiagnosticError, match=r"is called .com\.example\.operators\.Twise."):
        api.declared_page(cir.load(EXAMPLES / "overloads.cir.json"), "com.example.operators.Twise")


def test_the_page_of_a_library_lists_what_it_declares_with_all_signatures() -> None:
    module = cir.load(EXAMPLES / "overloads.cir.json")
    assert api.declared_page(module, "com.example.operators") == (
        "# Library `com.example.operators`\n"
        "\n"
        "Operators that other libraries give a meaning.\n"
        "\n"
        "## Operators\n"
        "\n"
        "| name | signature | meaning |\n"
        "|---|---|---|\n"
        "| `Twice` | `(x: f32[m*]) -> (y: f32[m*])`<br>`(x: i64[m*]) -> (y: i64[m*])` | Twice the input. |\n"
    )


def test_a_signature_gives_the_types_that_its_variables_stand_for() -> None:
    declared = {entry.name: entry for entry in api.summarize(api.library("core")).declarations}
    text = "(a: T[*], b: T[*]) -> (y: T[*]) where T: i16, i2, i32, i4, i64, i8, ui1, ui16, ui2, ui3, ui32, ui4, ui6, "
    assert declared["bitwise_and"].signatures == (text + "ui64, ui8",)
