"""Aliases of aliases, which stand for twice as much at each level: what they stand for is bounded, sharing is not."""

from __future__ import annotations

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.base.limits import Limits
from commonir.ods import Dialects
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from tests.mlir_programs import oracle

DIALECTS = Dialects()

_DOUBLING = {
    "lists": ("#a", "[1, 1]", "[{0}, {0}]", "module attributes {{x.y = {0}}} {{}}"),
    "dictionaries": ("#a", "{a = 1}", "{{a = {0}, b = {0}}}", "module attributes {{x.y = {0}}} {{}}"),
    "tuples": ("!a", "tuple<i32, i32>", "tuple<{0}, {0}>", "func.func private @f({0})"),
    "functions": ("!a", "(i32) -> i32", "({0}) -> {0}", "func.func private @f({0})"),
    "encodings": ("#a", "[1, 1]", "[{0}, {0}]", "func.func private @f(tensor<4xf32, {0}>)"),
    "metadata": ("#a", "[1, 1]", "[{0}, {0}]", 'func.func private @f() loc(fused<{0}>["a"])'),
}


def _doubled(kind: str, levels: int) -> str:
    sign, first, more, use = _DOUBLING[kind]
    lines = [f"{sign}0 = {first}", *[f"{sign}{n + 1} = {more.format(f'{sign}{n}')}" for n in range(levels)]]
    return "\n".join([*lines, use.format(f"{sign}{levels}")])


def _call_sites(levels: int) -> str:
    lines = ['#l0 = loc("a":1:1)', *[f"#l{n + 1} = loc(callsite(#l{n} at #l{n}))" for n in range(levels)]]
    return "\n".join([*lines, f"func.func private @f() loc(#l{levels})"])


def _codes(source: str, limits: Limits | None = None) -> set[str]:
    with pytest.raises(DiagnosticError) as caught:
        parse_module(source, DIALECTS, limits=limits or Limits())
    return {d.code.id for d in caught.value.diagnostics}


@pytest.mark.parametrize("kind", _DOUBLING)
def test_an_alias_of_aliases_that_stands_for_too_much_is_refused(kind: str) -> None:
    assert _codes(_doubled(kind, 40)) == {"E0303"}


def test_many_uses_of_a_large_alias_are_refused_together() -> None:
    uses = '"x.y"() {z = #a9} : () -> ()\n' * 20
    source = _doubled("lists", 9).rpartition("\n")[0] + "\n" + uses
    assert _codes(source, Limits(max_alias_parts=19 * 2**10)) == {"E0303"}
    parse_module(source, DIALECTS, limits=Limits(max_alias_parts=40 * 2**10))


def test_a_type_with_a_large_alias_is_counted_each_time() -> None:
    arguments = ", ".join(["tensor<4xf32, #a9>"] * 20)
    source = _doubled("lists", 9).rpartition("\n")[0] + f"\nfunc.func private @f({arguments})"
    assert _codes(source, Limits(max_alias_parts=19 * 2**10)) == {"E0303"}


def test_an_alias_that_is_not_used_may_stand_for_anything() -> None:
    source = _doubled("lists", 45).rpartition("\n")[0]
    assert parse_module(source + "\nmodule {}", DIALECTS).body.last is None


@pytest.mark.parametrize("kind", ["lists", "dictionaries", "tuples", "functions", "encodings"])
def test_aliases_of_aliases_are_printed_as_by_mlir_opt(kind: str) -> None:
    source = _doubled(kind, 8)
    (answer,) = oracle.ask([source])
    assert oracle.ours(source) == answer.text


def test_aliases_nest_no_deeper_than_what_they_stand_for_may() -> None:
    lines = ["!a0 = tuple<i32>", *[f"!a{n + 1} = tuple<!a{n}>" for n in range(3000)]]
    assert _codes("\n".join([*lines, "func.func private @f(!a3000)"])) == {"E0302"}


@pytest.mark.parametrize("levels", [40, 3000])
def test_shared_locations_are_read_and_printed_with_their_aliases(levels: int) -> None:
    source = _call_sites(levels)
    (answer,) = oracle.ask([source], "--mlir-print-debuginfo")
    assert oracle.ours(source, locations=True) == answer.text


@pytest.mark.parametrize("levels", [40, 3000])
def test_shared_locations_are_not_printed_without_aliases(levels: int) -> None:
    module = parse_module(_call_sites(levels), DIALECTS)
    with pytest.raises(DiagnosticError, match="a location is too long or too deep"):
        print_module(module, locations=True, naming=Naming.OWN)


def test_a_fault_at_a_shared_location_has_a_place() -> None:
    module = parse_module(_call_sites(40), DIALECTS)
    function = module.body.last
    assert function is not None
    result = function.location
    assert result is not None
    assert (result.file, result.line, result.column) == ("a", 1, 1)


@pytest.mark.parametrize("source", ["!t = i32\n!t = i32\nmodule {}", "#a = 1\nmodule {}\n#a = 2\nmodule {}"])
def test_an_alias_is_defined_once(source: str) -> None:
    assert _codes(source) == {"E0402"}
    (answer,) = oracle.ask([source])
    assert answer.message.startswith("redefinition of ")


def test_what_a_tensor_type_holds_counts_in_each_definition_after_its_first_use() -> None:
    lines = ["#a0 = [1, 1]"]
    for n in range(18):
        lines += [f'"x.y"() {{z = tensor<2xf32, #a{n}>}} : () -> ()' if n < 4 else ""]
        lines += [f"#a{n + 1} = [tensor<2xf32, #a{n}>, tensor<2xf32, #a{n}>]"]
    assert _codes("\n".join([*lines, '"x.y"() {z = #a18} : () -> ()']), Limits(max_alias_parts=2**16)) == {"E0303"}
