"""Passes take as much work for each operation of a long program as of a short one: lines of ours are counted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from commonir.api import optimize
from commonir.ods import Dialects
from commonir.passes.lower import Deferral, lower
from commonir.runtime.engine import EngineOptions, Engines
from commonir.text.parser import parse_module

from tests.work_counts import lines_of

_CALL = "func.call @g(%x) : (i32) -> ()"


def _function(lines: list[str]) -> str:
    return "\n".join(
        ["func.func private @g(i32)", "func.func private @h() -> i1", "func.func @f(%c: i1, %x: i32) {", *lines, "}"]
    )


def _conditions_of_one_value_in_a_row(count: int) -> str:
    return _function([*["scf.if %c { " + _CALL + " }"] * count, "return"])


def _regions_of_blocks_in_a_row(count: int) -> str:
    one = [
        "scf.execute_region {",
        "  cf.cond_br %c, ^a, ^b",
        "^a:",
        "  " + _CALL,
        "  scf.yield",
        "^b:",
        "  scf.yield",
        "}",
        _CALL,
    ]
    return _function([*one * count, "return"])


def _two_ways_again_and_again(count: int) -> str:
    lines = ["cf.br ^b0"]
    for n in range(count):
        lines += [f"^b{n}:", f"%s{n} = func.call @h() : () -> i1", f"cf.cond_br %s{n}, ^l{n}, ^r{n}"]
        lines += [f"^l{n}:", _CALL, f"cf.br ^b{n + 1}", f"^r{n}:", _CALL, _CALL, f"cf.br ^b{n + 1}"]
    return _function([*lines, f"^b{count}:", "return"])


def _one_way_out_of_many_blocks(count: int) -> str:
    lines = ["cf.br ^b0"]
    for n in range(count):
        lines += [f"^b{n}:", _CALL, f"cf.cond_br %c, ^b{n + 1}, ^out"]
    return _function([*lines, f"^b{count}:", "return", "^out:", _CALL, "return"])


def _cases_that_lead_to_one_block(count: int) -> str:
    cases = ", ".join([f"{n}: ^b{n}" for n in range(count)])
    lines = [f"cf.switch %x : i32, [ default: ^d, {cases} ]", "^d:", _CALL, "return"]
    for n in range(count):
        lines += [f"^b{n}:", "cf.br ^out"]
    return _function([*lines, "^out:", "return"])


def _functions_that_are_called(count: int) -> str:
    called = [
        f"func.func private @f{n}(%x: i32) -> i32 {{ %y = arith.addi %x, %x : i32\n return %y : i32 }}"
        for n in range(count)
    ]
    calls = [f"%r{n} = func.call @f{n}(%x) : (i32) -> i32" for n in range(count)]
    return "\n".join([*called, _function([*calls, "return"])])


def _calls_deep_inside(depth: int) -> str:
    return _function([*["scf.if %c {", _CALL] * depth, *["}"] * depth, "return"])


def _modules_inside_of_each_other(depth: int) -> str:
    """Each holds a symbol, and refers to one of the outermost and to one that each of them has."""
    symbols = [f"func.func private @s{n}()" for n in range(depth)]
    lines = [
        f"module @m{n} {{ func.func private @own()\n"
        f"func.func @f() {{ call @s{n}() : () -> () call @own() : () -> () return }}"
        for n in range(depth)
    ]
    return "\n".join(["module {", *symbols, *lines, *["}"] * depth, "}"])


def _work(program: Callable[[int], str], name: str, count: int) -> int:
    module = parse_module(program(count), Dialects())
    return lines_of(lambda: optimize(module, passes=[name]))


@pytest.mark.slow_cases("canonicalize-_regions_of_blocks_in_a_row", "canonicalize-_two_ways_again_and_again")
@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("canonicalize", _conditions_of_one_value_in_a_row),
        ("canonicalize", _regions_of_blocks_in_a_row),
        ("canonicalize", _two_ways_again_and_again),
        ("canonicalize", _one_way_out_of_many_blocks),
        ("canonicalize", _cases_that_lead_to_one_block),
        ("cse", _one_way_out_of_many_blocks),
        ("symbol-dce", _calls_deep_inside),
        ("symbol-dce", _modules_inside_of_each_other),
    ],
)
def test_work_grows_as_the_program_does(name: str, program: Callable[[int], str]) -> None:
    _work(program, name, 2)  # loading does not count
    short, middle, long = [_work(program, name, count) for count in (40, 80, 160)]
    # Twice as much is added for twice as many; with a part that is quadratic, up to four times.
    assert long - middle < 2.3 * (middle - short)


def test_rules_are_prepared_once_for_all_functions() -> None:
    _work(_functions_that_are_called, "inline", 2)
    few, many = [_work(_functions_that_are_called, "inline", count) for count in (2, 12)]
    assert many < 2 * few


@pytest.mark.parametrize("engine", ["numpy", "reference"])
def test_preparing_a_function_does_not_look_into_those_that_it_does_not_call(engine: str) -> None:
    def work(count: int) -> int:
        kind = "tensor<4xf32>"
        lines = [f"%{n + 1} = tosa.exp %{n} : ({kind}) -> {kind}" for n in range(count)]
        functions = [
            "\n".join([f"func.func @{name}(%0: {kind}) -> {kind} {{", *body, f"return %{len(body)} : {kind}", "}"])
            for name, body in (("f", lines[:1]), ("g", lines))
        ]
        module = lower(parse_module("\n".join(functions), Dialects()), Deferral.OPEN)
        chosen, options = Engines().get(engine), EngineOptions(seed=1)
        return lines_of(lambda: chosen.prepare(module, "f", options))

    work(2)  # loading does not count
    # Expressions that are still in memory are not made again; one line for each operation would be 220.
    assert work(240) - work(20) < 150
