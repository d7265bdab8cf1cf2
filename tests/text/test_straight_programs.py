"""Blocks of many similar operations: how they end, and where each operation comes from."""

from __future__ import annotations

import pytest

from commonir.ods import Dialects, verify
from commonir.text.parser import parse_module

from benchmarks.mlir_programs import program
from tests.mlir_programs import oracle

DIALECTS = Dialects()


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        ("return %3 : f32\nreturn %2 : f32", "a terminator must be the last operation of its block"),
        ("return", "has 0 operands, but enclosing function (@f) returns 1"),
        ("%x = arith.addf %3, %3 : f32", "block with no terminator, has arith.addf"),
    ],
)
def test_wrong_ending_is_found(ending: str, message: str) -> None:
    lines = [f"%{n + 1} = arith.addf %{n}, %{n} : f32" for n in range(30)]
    source = "\n".join(["func.func @f(%0: f32) -> f32 {", *lines, ending, "}"])
    (diagnostic,) = verify(parse_module(source, DIALECTS), DIALECTS)
    assert message in str(diagnostic)


@pytest.mark.parametrize("generic", [False, True])
def test_equal_operations_are_printed_with_their_own_locations(generic: bool) -> None:
    source = "\n".join([*program(1000, generic=generic), ""])
    (answer,) = oracle.ask([source], oracle.LOCATIONS, *([oracle.GENERIC] if generic else []))
    assert oracle.ours(source, generic=generic, locations=True) == answer.text
