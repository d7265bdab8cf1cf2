"""Texts of builtin and ml_program programs against mlir-opt; Debian has it as mlir-19-tools."""

from __future__ import annotations

import re
import subprocess
from functools import cache

import pytest

from commonir.ir.equality import first_difference
from commonir.ods import Dialects
from commonir.text.parser import parse_module
from commonir.text.printer import print_module

from tests.ods.sample import DIALECT
from tests.oracles import find_program
from tests.text.test_ml_program import PROGRAM

DIALECTS = Dialects([DIALECT])

ATTRIBUTES = """\
"x.attributes"() {
  array = [1, 2.5, "a\\22b", true, unit, @s::@t, i32, (i32) -> f32], dense = array<i64: 1, -2>, none = array<f32>,
  flags = array<i1: true, false>, nested = {a, "b c" = 1 : i32}, hex = 0xFF : i8, nan = 0x7FC00000 : f32,
  tensor = dense<[[1.5, 2.0], [3.0, 1.0e-05]]> : tensor<2x2xf32>, splat = dense<3> : tensor<7xui8>,
  small = dense<[1, -2, 3]> : tensor<3xi4>, bits = dense<[true, false, true]> : tensor<3xi1>,
  complex = dense<[(1.0, -2.0)]> : tensor<1xcomplex<f32>>, opaque = #x.y<1, [2]>, type = !x.t<a>
} : () -> ()
"""


@cache
def _mlir_opt() -> str:
    names = ("mlir-opt", *(f"mlir-opt-{n}" for n in range(25, 15, -1)))
    return find_program("mlir-opt", names)


def _through(text: str, *options: str) -> str:
    command = [_mlir_opt(), "--allow-unregistered-dialect", *options]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _samples() -> dict[str, str]:
    return {"program": PROGRAM, "attributes": ATTRIBUTES}


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("name", _samples())
def test_our_text_means_the_same_to_mlir_opt(name: str, generic: bool) -> None:
    """Each form goes to mlir-opt, which prints it again; both readings are one program."""
    program = parse_module(_samples()[name], DIALECTS)
    text = print_module(program, generic=generic, elide=None)
    for options in ([], ["--mlir-print-op-generic"]):
        returned = parse_module(_through(text, *options), DIALECTS)
        assert first_difference(returned, program) is None


def test_custom_form_of_ml_program_is_that_of_mlir_opt_letter_by_letter() -> None:
    """Left out are what we write otherwise on purpose: names of values, aliases, and the digits of numbers."""
    lines = [line for line in PROGRAM.splitlines() if "dense<1.0>" not in line and "extern :" not in line]
    ours = print_module(parse_module("\n".join(lines), DIALECTS), elide=None)
    theirs = _through(ours)
    assert _without_names(theirs).strip() == _without_names(ours).strip()


def _without_names(text: str) -> str:
    return re.sub(r"%\w+", "%", text)


def test_large_constants_have_the_bytes_of_mlir_opt() -> None:
    elements = ", ".join(str(n) for n in range(150))
    text = f'"x.a"() {{v = dense<[{elements}]> : tensor<150xi16>}} : () -> ()\n'
    ours = print_module(parse_module(text, DIALECTS), elide=None)
    theirs = _through(text)
    assert ours.partition("dense<")[2].partition(">")[0] == theirs.partition("dense<")[2].partition(">")[0]


def test_operations_of_other_dialects_are_accepted_in_the_generic_form() -> None:
    text = """\
%x = t.literal {value = dense<1.0> : tensor<2x8xf32>} : tensor<2x8xf32>
%y = t.scale %x {factor = 3.0, mode = exact} : tensor<2x8xf32>
%c = "x.c"() : () -> tensor<i1>
%z = t.choose %c : (tensor<i1>) -> tensor<2x8xf32> then {
  t.yield %x : (tensor<2x8xf32>) -> ()
} otherwise {
  t.yield %y : (tensor<2x8xf32>) -> ()
}
"""
    program = parse_module(text, DIALECTS)
    returned = parse_module(_through(print_module(program, generic=True, elide=None)), DIALECTS)
    assert first_difference(returned, program) is None


_UNKNOWN = """\
module {
  "x.a"() <{}> : () -> ()
  "x.b"() <{}> {c} : () -> ()
  "x.d"() {} : () -> ()
  "x.e"() <{}> ({
    "x.f"() <{a = 1 : i64}> : () -> ()
    "x.g"() <{}> : () -> ()
  }) : () -> ()
}
"""


@pytest.mark.parametrize("options", [(), ("--mlir-print-op-generic",)])
def test_an_unknown_operation_that_states_no_properties_says_so_again(options: tuple[str, ...]) -> None:
    ours = print_module(parse_module(_UNKNOWN, DIALECTS), generic=bool(options))
    assert ours.strip() == _through(_UNKNOWN, *options).strip()
    assert ours.count("<{}>") == 4
