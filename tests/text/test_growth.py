"""The cost of a text grows with its size: twice the program takes twice the calls, and depth takes no recursion."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from commonir.formats.mlir.checking import check_piece
from commonir.ods import Dialects
from commonir.ods.verify import verify
from commonir.text.line_patterns import FIRST_USES
from commonir.text.parser import parse_module
from commonir.text.pieces import Piece
from commonir.text.printer import Naming, print_module

from tests.work_counts import calls_of

DIALECTS = Dialects()
_SMALL, _LARGE = 80, 160


def _in_graph(lines: list[str]) -> str:
    return "\n".join(['"t.m"() ({', *lines, "}) : () -> ()"])


def _lines(count: int) -> str:
    body = [f"%{n + 1} = arith.addf %{n}, %0 : f32" for n in range(count)]
    return "\n".join(["func.func @f(%0: f32) {", *body, "return }"])


def _one_line(count: int) -> str:
    return _lines(count).replace("\n", " ")


def _distinct_constants(count: int) -> str:
    return "\n".join(["func.func @f() {", *[f"%c{n} = arith.constant {n}.5 : f32" for n in range(count)], "return }"])


def _used_before_definition(count: int) -> str:
    body = [f'%{n} = "x.y"(%{n + 1}) : (f32) -> f32' for n in range(count)]
    return _in_graph([*body, f'%{count} = "x.y"() : () -> f32'])


def _one_value_used_before_definition(count: int) -> str:
    return _in_graph([*[f'%{n} = "x.y"(%z) : (f32) -> f32' for n in range(count)], '%z = "x.y"() : () -> f32'])


def _blocks(count: int) -> str:
    body = [f"^b{n}:\ncf.cond_br %c, ^b{n + 1}, ^b{count}" for n in range(count)]
    return "\n".join(["func.func @f(%c: i1) {", "cf.br ^b0", *body, f"^b{count}:", "return }"])


def _deep(count: int) -> str:
    return "\n".join(["func.func @f(%c: i1) {", *["scf.if %c {"] * count, *["}"] * count, "return }"])


def _regions_in_a_graph(count: int) -> str:
    return _in_graph([f'%{n} = "x.y"() ({{\n"x.z"() : () -> ()\n}}) : () -> f32' for n in range(count // 2)])


def _regions_in_a_subgraph(count: int) -> str:
    body = [f"%{n} = arith.constant {n} : i32\nscf.execute_region {{\nscf.yield\n}}" for n in range(count // 2)]
    return "\n".join(["ml_program.subgraph @s() {", *body, "ml_program.output }"])


def _many_results(count: int) -> str:
    types = ", ".join(["f32"] * count)
    return "\n".join(
        [f'%r:{count} = "x.y"() : () -> ({types})', *[f'"x.u"(%r#{n}) : (f32) -> ()' for n in range(count)]]
    )


def _many_uses_by_one(count: int) -> str:
    types, values = ", ".join(["f32"] * count), ", ".join(["%0"] * count)
    return f'%0 = "x.y"() : () -> f32\n"x.u"({values}) : ({types}) -> ()'


def _functions(count: int) -> str:
    return "\n".join([f"func.func @f{n}() {{\nreturn\n}}" for n in range(count // 2)])


def _aliases(count: int) -> str:
    defined = [f"#m{n} = affine_map<(d0) -> (d0 + {n})>" for n in range(count)]
    return "\n".join([*defined, *[f'"x.y"() {{m = #m{n}}} : () -> ()' for n in range(count)]])


def _costs(source: str) -> list[int]:
    module = parse_module(source, DIALECTS)
    return [
        calls_of(lambda: parse_module(source, DIALECTS)),
        calls_of(lambda: verify(module, DIALECTS)),
        calls_of(lambda: print_module(module, elide=None, naming=Naming.MLIR)),
        calls_of(lambda: print_module(module, elide=None, generic=True)),
    ]


@pytest.mark.parametrize(
    "make",
    [
        _lines,
        _one_line,
        _distinct_constants,
        _used_before_definition,
        _one_value_used_before_definition,
        _blocks,
        _deep,
        _regions_in_a_graph,
        _regions_in_a_subgraph,
        _many_results,
        _many_uses_by_one,
        _functions,
        _aliases,
    ],
)
def test_twice_the_program_takes_twice_the_calls(make: Callable[[int], str]) -> None:
    for _ in range(FIRST_USES):  # compiles patterns, which is done once
        parse_module(make(1), DIALECTS)
    for small, large in zip(_costs(make(_SMALL)), _costs(make(_LARGE)), strict=True):
        assert large <= 2.2 * small + 500


def _wrong_types(count: int) -> str:
    body = [f'%{n} = "arith.addf"(%a, %a) : (i32, i32) -> i32' for n in range(count)]
    return "\n".join(["func.func @f(%a: i32) {", *body, "return }"])


@pytest.mark.parametrize("make", [_wrong_types])
def test_a_finding_at_each_operation_takes_linear_time(make: Callable[[int], str]) -> None:
    pieces = [Piece(make(count), 0) for count in (1, _SMALL, _LARGE)]
    _, small, large = [calls_of(partial(check_piece, piece, "x.mlir", DIALECTS)) for piece in pieces]
    assert large <= 2.2 * small + 500
    assert len(check_piece(pieces[1], "x.mlir", DIALECTS)[1]) >= _SMALL


@pytest.mark.slow
def test_regions_thousands_deep_are_read_verified_and_printed() -> None:
    module = parse_module(_deep(5000), DIALECTS)
    assert verify(module, DIALECTS) == []
    assert print_module(module, naming=Naming.MLIR).count("scf.if") == 5000
    assert print_module(module, generic=True).count("scf.if") == 5000
