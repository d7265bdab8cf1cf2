"""Operations read by a pattern mean what they mean token by token, wrong ones too."""

from __future__ import annotations

import random
import re

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.ods import Dialects
from commonir.text import directives, line_patterns, parser
from commonir.text.printer import Naming, print_module

from benchmarks.mlir_varied import varied

DIALECTS = Dialects()

PROGRAMS = {
    "signatures, branches and types of dialects": """
        func.func private @d(f32, !shape.shape) -> ()
        func.func @e(%a : f32 , %b: !shape.witness) -> ((i1) -> i2) { return }
        func.func @g(%a: tensor<2xi32> {x.y}, %b: i1 loc("b")) -> (f32 {x.y}) { return }
        func.func @"h"() { return }
        func.func @f(%a: tensor<?xf32>, // first
                     %c: i1) -> (tensor<?xf32>, i1) attributes {x.y} {
          %s = shape.shape_of %a : tensor<?xf32> -> !shape.shape
          cf.cond_br %c, ^b(%a : tensor<?xf32>), ^e
        ^b(%0: tensor<?xf32>):
          cf.br ^b(%0 : tensor<?xf32>) {x.z}
        ^e:
          cf.cond_br %c weights([1, 2]), ^e, ^b(%c : i1)
        ^g:
          return %a, %c : tensor<?xf32>, i1
        }""",
    "a comment between operands": """
        func.func @f(%a: f32, %b: f32) -> (f32, f32) {
          return %a // %b
            , %b : f32, f32
        }""",
    "a comment that would be an operand": """
        func.func @f(%a: f32, %b: f32) -> (f32, f32, f32) {
          return %a // %b
            , %b : f32, f32, f32
        }""",
    "comments between arguments and between integers": """
        func.func @f(%a: tensor<4x4xf32>, // %c: i32
                     %b: f32) {
          "x.y"() ({
          ^b(%0: f32, // %1: i32
             %2: f32):
            "x.z"() : () -> ()
          }) : () -> ()
          %3 = tensor.extract_slice %a[0 // 1
            , 0] [2, // 3, 4
            2] [1, 1] : tensor<4x4xf32> to tensor<2x2xf32>
          return
        }""",
    "an input without a name": "func.func private @f(%a: f32, !shape.shape)",
    "a type that a dialect does not have": "func.func @f(%a: !shape.none) { return }",
    "a type that is not there": "func.func @f(%a: f33) { return }",
    "blocks that are not there": """
        func.func @f(%a: f32) {
          cf.br ^a
        ^b(%0: f32):
          cf.br ^b(%0 : f64)
        }""",
    "followed by a dictionary on the next line": """
        func.func @f(%a: f32, %b: f32, %c: f32) {
          %0 = arith.addf %a, %b : f32
          %1 = arith.addf %a, %b
            {note = 1 : i32} : f32
          %2 = math.exp %a : f32
          %3 = math.exp %b // first
            fastmath<fast> : f32
          return
        }""",
    "results in another order than their line": """
        func.func @f(%a: tensor<2x3xf32>, %n: index, %m: index) {
          %0 = tensor.extract %a[%n, %m] : tensor<2x3xf32>
          %1 = tensor.extract %a[%m, %n] : tensor<2x3xf32>
          %2 = tensor.extract %a[%n, %n] : tensor<2x3xf32>
          return
        }""",
    "the same line on values of other types": """
        func.func @f(%a: i32) {
          %0 = "foo.bar"(%a) : (i32) -> i64
          %1 = "arith.addi"(%a, %a) : (i32, i32) -> i32
          %2 = "arith.addi"(%0, %0) : (i32, i32) -> i32
          return
        }""",
    "text that looks like a value and a location": """
        func.func @f() {
          %0 = "arith.constant"() {value = 1 : i32, note = "%a loc("} : () -> i32
          %1 = "arith.constant"() {value = 1 : i32, note = "%b loc("} : () -> i32
          %2 = arith.constant {note = "%c"} 2 : i32
          %3 = arith.constant {note = "%d"} 2 : i32
          return
        }""",
    "aliases and several results": """
        #map = affine_map<(d0) -> (d0)>
        !t = tensor<?xf32>
        func.func @f(%a: !t, %c: i1) {
          %0:2 = scf.if %c -> (!t, !t) { scf.yield %a, %a : !t, !t } else { scf.yield %a, %a : !t, !t }
          %1 = arith.addf %0#0, %0#1 : !t
          %2 = arith.addf %0#1, %0#0 : !t
          %3 = arith.addf %0 #1, %0#0 : tensor<?xf32>
          return
        }""",
    "a name that is defined twice, and one that is not": """
        func.func @f(%a: f32) {
          %0 = arith.negf %a : f32
          %0 = arith.negf %a : f32
          %1 = arith.negf %b : f32
          %2 = arith.negf %a : f64
          return
        }""",
    "operands and types that are not there": """
        func.func @f(%a: !shape.shape) -> !shape.shape {
          %0 = shape.cstr_eq  :
          %1 = shape.cstr_eq %a, %a : !shape.shape, !shape.shape
          %2 = shape.cstr_eq  :
          return %a : !shape.shape
        }""",
    "constants of many forms": """
        func.func @f() {
          %0 = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
          %1 = arith.constant dense<-1.5> : vector<4xf16>
          %2 = arith.constant 0x7FC00000 : f32
          %3 = arith.constant dense<300> : tensor<2xi8>
          %4 = arith.constant true
          %5 = arith.constant -1 : index
          return
        }""",
}


def meaning(text: str) -> str | list[tuple[str, int | None, int | None]]:
    """Returns a program in the generic form with locations, or what is wrong with it."""
    try:
        module = parser.parse_module(text, DIALECTS)
    except DiagnosticError as error:
        return [(d.message, d.line, d.column) for d in error.diagnostics]
    return print_module(module, generic=True, elide=None, locations=True, naming=Naming.MLIR, dialects=DIALECTS)


def meanings(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[object, object]:
    """Returns what a text means read at once where that can be, and token by token."""
    monkeypatch.setattr(line_patterns, "FIRST_USES", 1)
    at_once = meaning(text)
    with monkeypatch.context() as patched:
        patched.setattr(parser._Parser, "_matched", lambda _: None)
        patched.setattr(directives, "_read_plain_signature", lambda *_: False)
        return at_once, meaning(text)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_means_the_same_token_by_token(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Twice, as the pattern of a definition is compiled after the first use.
    functions = PROGRAMS[name], PROGRAMS[name].replace("@f", "@g").replace("#map", "#map2").replace("!t", "!u")
    at_once, by_token = meanings("\n".join(functions), monkeypatch)
    assert at_once == by_token


def wrong(text: str, choice: random.Random) -> str:
    """Returns a program with one fault: a character lost, a token twice, or a type or name exchanged."""
    match choice.randrange(4):
        case 0:
            at = choice.randrange(len(text))
            return text[:at] + text[at + 1 :]
        case 1:
            token = choice.choice([*re.finditer(r"[\w.%]+|[^\w\s]", text)])
            return f"{text[: token.end()]} {token[0]} {text[token.end() :]}"
        case 2:
            token = choice.choice([*re.finditer(r"[fi]32|index|f16", text)])
            return f"{text[: token.start()]}{choice.choice(['f64', 'i1', 'none'])}{text[token.end() :]}"
        case _:
            token = choice.choice([*re.finditer(r"%\w+", text)])
            return f"{text[: token.start()]}%{choice.randrange(40)}{text[token.end() :]}"


def compare_wrong(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    choice = random.Random(seed)
    text = wrong("\n".join(varied(40, seed)), choice)
    at_once, by_token = meanings(text, monkeypatch)
    assert at_once == by_token, text


@pytest.mark.parametrize("seed", range(3))
def test_a_wrong_program_has_the_same_findings(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compare_wrong(seed, monkeypatch)


@pytest.mark.slow
def test_many_wrong_programs_have_the_same_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(100, 400):
        compare_wrong(seed, monkeypatch)
