"""Forms out of records against mlir-opt, which has the operations of `forms.td` in its dialect `test`."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest

from commonir.base.codes import UNKNOWN_OPERATION
from commonir.base.diagnostics import DiagnosticError
from commonir.ods import Dialects, verify
from commonir.text.loaded_definitions import load_dialects
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from tests.oracles import mlir_opt
from tests.tablegen.oracle import mlir_include

_ARGUMENT = '%0 = "x"() : () -> i64 '
_NESTED = '%0 = "x"() : () -> !test.cmpnd_nested_outer<i <42 <1, i32, [5, 6]>>> '
_GROUPS = "test.format_variadic_of_variadic_operand "
ACCEPTED = (
    "test.oilist_with_keywords_only",
    "test.oilist_with_keywords_only otherKeyword keyword {a = 1}",
    "test.oilist_with_keywords_only {keyword, x = 2}",
    "test.oilist_with_keywords_only_properties thirdKeyword keyword {q}",
    "test.format_optional_unit_attribute is_optional",
    "test.format_optional_unit_attribute",
    "test.format_optional_unit_attribute_no_elide unit",
    "test.format_optional_unit_attribute_no_elide",
    "test.format_optional_unit_property is_optional {a}",
    "test.format_opt_symbol_ref_attr_op @a::@b {x = @y}",
    "test.format_opt_symbol_ref_attr_op",
    _ARGUMENT + "test.format_optional_operand_result_a_op( : ) : i64",
    _ARGUMENT + "test.format_optional_operand_result_a_op(%0 : i64) : [%0, %0]",
    "%0:3 = test.format_optional_result_c_op : (i64) -> (i64, i64)",
    "test.format_optional_result_c_op",
    "test.format_compound_attr <1, i32, []>",
    "test.format_compound_attr #test.cmpnd_a<1,i32,[5,-6]> attributes {x}",
    _NESTED + "test.format_cpmd_nested_type %0 nested <i <42 <1, i32, [5, 6]>>>",
    _NESTED + "test.format_cpmd_nested_type %0 nested !test.cmpnd_nested_outer<i <42 <1, i32, [5, 6]>>>",
    _NESTED + "test.format_qual_cpmd_nested_type %0 nested !test.cmpnd_nested_outer<i <42 <1, i32, [5, 6]>>>",
    _ARGUMENT + _GROUPS + "(%0, %0), (), (%0) : (i64, i64), (), (i64) {x = 1}",
    _ARGUMENT + _GROUPS + "(%0, %0), : (i64), (i64)",
    _GROUPS + "() : ()",
    _GROUPS + ":",
    _ARGUMENT
    + '"test.format_variadic_of_variadic_operand"(%0, %0) {operand_segments = array<i32: 0, 2>} : (i64, i64) -> ()',
)
REFUSED = (
    "test.oilist_with_keywords_only keyword keyword",
    "test.format_optional_unit_property otherwise",
    '"test.format_compound_attr"() <{compound = 1}> : () -> ()',
    '"x"() ({ "test.format_opt_symbol_ref_attr_op"()[^a] : () -> () ^a: "y"() : () -> () }) : () -> ()',
    _NESTED + "test.format_cpmd_nested_type %0 nested <i <43 <1, i32, [5, 6]>>>",
    _ARGUMENT + "test.format_cpmd_nested_type %0 nested i64",
    _ARGUMENT + _GROUPS + "(%0, %0) : (i64), (i64, i64)",
    _ARGUMENT + _GROUPS + "(%0, %0) : i64, i64",
    _ARGUMENT + _GROUPS + "%0 : (i64)",
    _ARGUMENT + _GROUPS + "(%0,) : (i64)",
    _ARGUMENT + '"test.format_variadic_of_variadic_operand"(%0) {operand_segments = array<i32: 2>} : (i64) -> ()',
    _ARGUMENT + '"test.format_variadic_of_variadic_operand"(%0) {operand_segments = array<i32: 2, -1>} : (i64) -> ()',
    _ARGUMENT + '"test.format_variadic_of_variadic_operand"(%0) : (i64) -> ()',
)


@cache
def _dialects() -> Dialects:
    return Dialects(dialects=load_dialects([Path(__file__).parent / "forms.td"], [str(mlir_include())]))


def _judged(text: str, *options: str) -> str | None:
    """Returns the output of mlir-opt; None when it fails."""
    command = [mlir_opt(), "--allow-unregistered-dialect", *options]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return None if run.returncode else run.stdout.rstrip()


@pytest.mark.parametrize("text", ACCEPTED)
def test_forms_are_read_and_printed_as_mlir_opt_does(text: str) -> None:
    module = parse_module(text, _dialects())
    assert print_module(module, naming=Naming.MLIR).rstrip() == _judged(text)
    generic = print_module(module, naming=Naming.MLIR, generic=True).rstrip()
    assert generic == _judged(text, "--mlir-print-op-generic")


@pytest.mark.parametrize("text", REFUSED)
def test_what_mlir_opt_refuses_is_refused(text: str) -> None:
    assert _judged(text) is None
    with pytest.raises(DiagnosticError):
        _check(text)


def _check(text: str) -> None:
    """Raises: DiagnosticError for anything that is wrong but that operations are of no known dialect."""
    result = verify(parse_module(text, _dialects()), _dialects())
    wrong = [d for d in result if d.code != UNKNOWN_OPERATION]
    if wrong:
        raise DiagnosticError(*wrong)
