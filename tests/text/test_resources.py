"""The sections of resources of a text, wherever they stand, against mlir-opt."""

from __future__ import annotations

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.ods import Dialects
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from tests.mlir_programs.oracle import GENERIC, ask

DIALECTS = Dialects()

PROGRAM = """\
func.func @f() -> tensor<2xi32> {
  %2 = arith.constant dense_resource<z3> : tensor<1xi32>
  %0 = arith.constant dense_resource<"b lob"> : tensor<2xi32>
  %1 = arith.constant dense_resource<nothing> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
{-#
  external_resources: {
    mine: { z: true, b: "x\\0Ay", c: "0x04000000aabb" }, another: {}, third: {q: false}
  },
  dialect_resources: {
    builtin: {
      unused: "0x04000000010000ffFFFFFFff",
      "b lob": "0x040000000100000000000000",
      z3: "0x0800000001000000"
    }
  }
#-}
"""


SECTION = '{-# dialect_resources: {builtin: {z3: "0x0800000001000000"}} #-}'
FUNCTION = """\
func.func @g() -> tensor<1xi32> {
  %0 = arith.constant dense_resource<z3> : tensor<1xi32>
  return %0 : tensor<1xi32>
}
"""
NOTHING = """\
func.func @f() -> tensor<0xi32> {
  %0 = arith.constant dense_resource<n> : tensor<0xi32>
  return %0 : tensor<0xi32>
}
{-# dialect_resources: {builtin: {n: "0x08000000"}}, external_resources: {t: {n: "0x04000000"}} #-}
"""
PLACES = (
    PROGRAM,
    NOTHING,
    f"{SECTION}\n{FUNCTION}",
    f"{FUNCTION}{SECTION} func.func private @h()\n",
    f'{FUNCTION}{SECTION}\n// {{-# "\n',
    f'// "{{-#\n{FUNCTION}{SECTION}',
    f'{FUNCTION}{SECTION}{{-# external_resources: {{t: {{a: "{{-#"}}}} #-}}\nfunc.func private @"{{-#"()',
)


@pytest.mark.parametrize("options", [(), (GENERIC,)])
@pytest.mark.parametrize("source", PLACES)
def test_resources_are_printed_as_mlir_opt_prints_them(source: str, options: tuple[str, ...]) -> None:
    program = parse_module(source, DIALECTS)
    text = print_module(program, elide=None, naming=Naming.MLIR, generic=bool(options))
    (expected,) = ask([source], *options)
    assert text == expected.text


BLOB = '"0x0400000001000000"'
MALFORMED = (
    f"dialect_resources: {{ other: {{ r: {BLOB} }} }}",
    "dialect_resources: { arith: { } }",
    f'dialect_resources: {{ "builtin": {{ r: {BLOB} }} }}',
    "dialect_resources: { builtin: { r: true } }",
    "dialect_resources: { builtin: { r: 3 } }",
    'dialect_resources: { builtin: { r: "0x0300000001000000" } }',
    f"dialect_resources: {{ builtin: {{ r: {BLOB}, }} }}",
    f"dialect_resources: {{ builtin: {{ r: {BLOB} s: {BLOB} }} }}",
    "dialect_resources: {},",
    "dialect_resources: {} external_resources: {}",
    f"other_resources: {{ builtin: {{ r: {BLOB} }} }}",
    'external_resources: { t: { r: "0x0300000001000000" } }',
    "external_resources: { t: { n: 3 } }",
    "external_resources: { t: { n: word } }",
)
RIGHT = (
    "",
    f"dialect_resources: {{ builtin: {{ r: {BLOB} }}, builtin: {{ s: {BLOB} }} }}",
    f"dialect_resources: {{ builtin: {{ }} }}, dialect_resources: {{ builtin: {{ r: {BLOB} }} }}",
    'external_resources: { t: { r: "0x0400000001000000", s: "text", b: false } }',
    'dialect_resources: { builtin: { r: "0x00000000" } }',
)


@pytest.mark.parametrize("section", MALFORMED)
def test_malformed_sections_are_refused(section: str) -> None:
    with pytest.raises(DiagnosticError, match="E0240"):
        parse_module(f"{{-# {section} #-}}", DIALECTS)


@pytest.mark.parametrize("section", RIGHT)
def test_sections_like_them_are_read(section: str) -> None:
    parse_module(f"{{-# {section} #-}}", DIALECTS)


def test_mlir_opt_refuses_the_malformed_sections_only() -> None:
    answers = ask([f"{{-# {section} #-}}" for section in (*MALFORMED, *RIGHT)])
    assert [a.text is not None for a in answers] == [False] * len(MALFORMED) + [True] * len(RIGHT)


@pytest.mark.parametrize("source", PLACES)
def test_whole_programs_keep_their_resources_under_other_names_of_values(source: str) -> None:
    # What mlir-opt prints of them is compared above.
    program = parse_module(source, DIALECTS)
    own = print_module(program, elide=None, naming=Naming.OWN)
    upstream = print_module(program, elide=None, naming=Naming.MLIR)
    assert own[own.rindex("\n{-#") :].strip() == upstream[upstream.rindex("\n{-#") :].strip()
    assert print_module(parse_module(own, DIALECTS), elide=None, naming=Naming.MLIR) == upstream


def test_text_that_is_not_read_again_shows_small_resources_in_their_place() -> None:
    text = print_module(parse_module(f"{FUNCTION}{SECTION}", DIALECTS), naming=Naming.OWN)
    assert "dense<1>" in text or "dense<[1]>" in text
    assert "resource" not in text
