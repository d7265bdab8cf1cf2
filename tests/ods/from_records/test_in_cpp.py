"""C++ in records is reported, unless it is understood: then it is checked."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from commonir.api import optimize
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.ods import Dialect, Dialects, verify
from commonir.ods.documentation import operation_page
from commonir.text.loaded_definitions import load_dialects, not_evaluable
from commonir.text.parser import parse_module
from commonir.text.printer import print_module

from tests.tablegen.oracle import mlir_include

_HERE = Path(__file__).parent


@cache
def _dialect() -> Dialect:
    return load_dialects([_HERE / "in_cpp.td"], [str(mlir_include())])[0]


def _findings(line: str) -> list[str]:
    dialects = Dialects(dialects=[_dialect()])
    source = (
        '%i, %f, %b = "x.y"() : () -> (i32, f32, vector<2xi1>)\n'
        '%t, %v, %o = "x.y"() : () -> (tensor<2xi32>, tensor<2x3xf32>, tensor<1x?xf32>)\n'
        f"{line}"
    )
    try:
        module = parse_module(source, dialects)
    except DiagnosticError as error:
        return [d.message for d in error.diagnostics]
    found = [*verify(module, dialects), *not_evaluable(module)]
    return [d.message for d in found if "unknown operation" not in d.message]


@pytest.mark.parametrize(
    ("line", "unknown"),
    [
        ('"c.verified"() : () -> ()', "its verifier (hasVerifier); its verifier of regions (hasRegionVerifier)"),
        (
            '"c.formed"() : () -> ()',
            "its custom form (hasCustomAssemblyFormat), so that there is the generic form only",
        ),
        ('%0 = "c.inferred"(%i) : (i32) -> f32', "the types of its results (InferTypeOpInterface)"),
        ('"c.trait"() : () -> ()', "trait OwnTrait"),
        ('"c.unnamed_trait"() : () -> ()', "trait Odd"),
        ('"c.unknown"() : () -> ()', "it is odd"),
    ],
)
def test_what_is_accepted_because_cpp_is_unknown_is_reported(line: str, unknown: str) -> None:
    name = line.split('"')[1]
    assert _findings(line) == [f"{name}: not checked: {unknown}"]
    assert f"Not checked, because it is stated in C++: {unknown}." in operation_page(_dialect(), name)


def test_a_type_without_its_optional_parameters_is_printed_by_name() -> None:
    dialects = Dialects(dialects=[_dialect()])
    for stated in ("!c.sized", "!c.sized<4>"):
        module = parse_module(f'func.func @f() {{\n  %0 = "c.sized"() : () -> {stated}\n  return\n}}', dialects)
        text = print_module(module, generic=False)
        assert f"c.sized : {'<4>' if '4' in stated else '!c.sized'}\n" in text
        assert print_module(parse_module(text, dialects), generic=False) == text
    # mlir-opt reads the type without a name too, so that nothing is left of it.
    module = parse_module("func.func @f() {\n  %0 = c.sized :\n  return\n}", dialects)
    assert "c.sized : !c.sized\n" in print_module(module)


def test_groups_of_operands_whose_type_is_known_are_in_parentheses() -> None:
    dialects = Dialects(dialects=[_dialect()])
    text = 'func.func @f(%i: i32) {\n  "c.groups"(%i, %i) <{sizes = array<i32: 2, 0>}> : (i32, i32) -> ()\n  return\n}'
    printed = print_module(parse_module(text, dialects))
    assert "c.groups (%i, %i), ()\n" in printed
    assert print_module(parse_module(printed, dialects)) == printed


def test_what_needs_no_cpp_has_no_note() -> None:
    assert _findings('"c.plain"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> ()') == []


def test_folders_in_cpp_are_reported_where_folders_are_applied() -> None:
    assert _findings('%0 = "c.folded"() : () -> i32') == []
    module = parse_module(
        'func.func @f() -> i32 {\n  %0 = "c.folded"() : () -> i32\n  return %0 : i32\n}',
        Dialects(dialects=[_dialect()]),
    )
    found = Diagnostics()
    optimize(module, passes="canonicalize", findings=found)
    message = "c.folded: not folded or canonicalized: hasFolder, hasCanonicalizer, hasCanonicalizeMethod"
    assert [(d.code.id, d.message) for d in found] == [("N0265", message)]
    found = Diagnostics()
    optimize(module, passes="cse", findings=found)
    assert list(found) == []
    assert "Not applied, because it is C++: hasFolder, hasCanon" in operation_page(_dialect(), "c.folded")


def test_types_that_only_cpp_infers_are_printed() -> None:
    dialects = Dialects(dialects=[_dialect()])
    module = parse_module('%0 = "x.y"() : () -> i32\n%1 = "c.inferred"(%0) : (i32) -> f32', dialects)
    assert '%1 = "c.inferred"(%0) : (i32) -> f32' in print_module(module)


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ('"c.same"(%i) : (i32) -> tensor<i32>', '"c.same"(%i) : (i32) -> f32', "element types match"),
        ('"c.equal"(%i, %f) : (i32, f32) -> f32', '"c.equal"(%i, %f) : (i32, f32) -> i64', "types match"),
        ('"c.rank"(%t) : (tensor<2xi32>) -> tensor<4xf32>', '"c.rank"(%t) : (tensor<2xi32>) -> tensor<f32>', "ranks"),
        ("c.elements %i, %i : tensor<2xi32>", "c.elements %i : tensor<2xi32>", "found 1 values for tensor<2xi32>"),
        ('"c.mapped"(%t) : (tensor<2xi32>) -> tensor<2xf32>', '"c.mapped"(%t) : (tensor<2xi32>) -> i32', "non-scalar"),
        ('"c.real"() : () -> tensor<2xf32>', '"c.real"() : () -> i32', "requires a float type, found i32"),
        ('"c.whole"(%b) : (vector<2xi1>) -> ()', '"c.whole"(%f) : (f32) -> ()', "requires an integer or index type"),
        (
            '"c.broadcast"(%v, %v) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>',
            '"c.broadcast"(%v, %t) : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>',
            "do not broadcast",
        ),
        (
            '"c.broadcast"(%v, %o) : (tensor<2x3xf32>, tensor<1x?xf32>) -> tensor<2x3xf32>',
            '"c.broadcast"(%v, %o) : (tensor<2x3xf32>, tensor<1x?xf32>) -> tensor<2x1xf32>',
            "not the shape that its operands broadcast to",
        ),
        (
            '"c.broadcast"(%o, %o) : (tensor<1x?xf32>, tensor<1x?xf32>) -> tensor<1x5xf32>',
            '"c.broadcast"(%o, %o) : (tensor<1x?xf32>, tensor<1x?xf32>) -> tensor<5x?xf32>',
            "not the shape that its operands broadcast to",
        ),
    ],
)
def test_conditions_with_a_known_meaning_are_checked(right: str, wrong: str, message: str) -> None:
    assert _findings(right if right.endswith("()") else f"%r = {right}") == []
    found = _findings(wrong if wrong.endswith("()") else f"%r = {wrong}")
    assert len(found) == 1
    assert message in found[0]


def test_conditions_on_operands_and_regions_are_checked() -> None:
    assert _findings('"c.shaped"(%t) : (tensor<2xi32>) -> ()') == []
    assert "x holds i32" in _findings('"c.shaped"(%i) : (i32) -> ()')[0]
    assert _findings('"c.bare"() ({\n^bb0:\n}) : () -> ()') == []
    assert "should have no arguments" in _findings('"c.bare"() ({\n^bb0(%x: i32):\n}) : () -> ()')[0]
