"""Lines that differ in a number are read, checked and printed as if each were the first of its kind."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence

import pytest

from commonir.base.codes import VIOLATED_CONSTRAINT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.attributes import Attribute, FloatAttr, IntegerAttr
from commonir.ir.open_numbers import NumberAskedError, OpenFloat, OpenInteger
from commonir.ir.operation import Value
from commonir.ir.types import f32, i32, i64
from commonir.ods import Dialect, Dialects, MlirOp, attr_types, attribute, result
from commonir.ods.type_constraints import AnyType
from commonir.ods.verify import verify
from commonir.text.parser import Parser, Task, parse_module
from commonir.text.printer import Naming, print_module
from commonir.text.repeated_lines import RepeatedLines

from benchmarks.mlir_programs import program


class Limited(MlirOp, name="t.limited", assembly="$value attr-dict `:` type($out)"):
    """C1: the number is less than three."""

    __slots__ = ()
    value: Attribute = attribute(attr_types.any_attribute)
    out: Value = result(AnyType)

    def verify(self) -> Iterable[Diagnostic]:
        match self.value:
            case IntegerAttr(value=number) if number >= 3:
                yield Diagnostic(VIOLATED_CONSTRAINT, f"{self.name}: C1: {number} is not less than three")
            case _:
                pass


class Elided(MlirOp, name="t.elided", assembly="attr-dict `:` type($out)"):
    """An operation whose form leaves a number out where it is the usual one."""

    __slots__ = ()
    value: Attribute = attribute(attr_types.any_attribute, default=IntegerAttr(7, i64))
    out: Value = result(AnyType)


DIALECTS = Dialects([Dialect("t", (Limited, Elided))])
_NUMBER = re.compile(r"(?<= )-?\d+(\.\d+)?(?= :)")


def _outcome(source: str) -> object:
    """Everything that is told of a program, before and after its operations are made."""
    try:
        made = parse_module(source, DIALECTS, file="x.mlir")
    except DiagnosticError as error:
        return [str(d) for d in error.diagnostics]
    found = [str(d) for d in verify(made, DIALECTS)]
    shown = [print_module(made, generic=g, elide=None, naming=n) for g in (True, False) for n in Naming]
    located = print_module(made, elide=None, naming=Naming.MLIR, locations=True)
    return found, shown, located, [str(op) for op in made.nested()]


def _assert_like_the_parser(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = _outcome(source)
    with monkeypatch.context() as patch:
        patch.setattr(RepeatedLines, "read", lambda _self, offset, *_: (offset, 0))
        patch.setattr(Parser, "_begin_rows", lambda _self, _block: None)
        assert fast == _outcome(source)


_LITERALS = (
    "0",
    "1",
    "7",
    "-7",
    "300",
    "-2147483649",
    "4294967296",
    "0x10",
    "007",
    "1.5",
    "-0.0",
    "1.e3",
    "1e3",
    "true",
)


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(
    "wording",
    [
        "arith.constant %s : i32",
        "arith.constant %s : i8",
        "arith.constant %s : i1",
        "arith.constant %s : index",
        "arith.constant %s : f32",
        "arith.constant %s : f16",
        "arith.constant %s : si8",
        "arith.constant %s",
        "arith.constant {a.b} %s : i32",
        "arith.constant {a.b = 5} %s : i32",
        "arith.constant %s : i32 // %s",
        "arith.constant %s : i32 // 5",
        "arith.constant dense<%s> : tensor<2xf32>",
        '"arith.constant"() <{value = %s : i32}> : () -> i32',
        '"arith.constant"() <{value = %s : f32}> : () -> f32',
        '"arith.constant"() {value = %s : i64} : () -> i64',
        '"arith.constant"() {value = %s : i64} : () -> i32',
        '"x.y"() {s = "%s : i32"} : () -> i32',
        '"x.y"() {s = %s : i32} : () -> i32',
        "t.limited %s : i32 : i32",
        '"t.limited"() <{value = %s : i32}> : () -> i32',
        "t.elided {value = %s} : i32",
        '"t.elided"() <{value = %s : i64}> : () -> i32',
        '"t.elided"() <{value = [%s : i64]}> : () -> i32',
        "func.func private @f%s()",
    ],
)
def test_numbers_are_read_as_the_parser_reads_them(wording: str, nested: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def source(literals: Sequence[str]) -> str:
        lines = [f"%{n} = {wording.replace('%s', literal)}" for n, literal in enumerate(literals)]
        lines = [line.partition(" = ")[2] if "func" in line else line for line in lines]
        around = ("func.func @f() {", "return\n}") if nested else ('"t.m"() ({', "}) : () -> ()")
        return "\n".join([around[0], *lines, around[1]])

    _assert_like_the_parser(source([str(n) for n in range(30)]), monkeypatch)
    _assert_like_the_parser(source([f"{n}.25" for n in range(30)]), monkeypatch)
    for literal in _LITERALS:
        usual = ["1.5", "2.5"] if "." in literal else ["1", "2"]
        _assert_like_the_parser(source([*usual * 8, literal, "3", "3.5"]), monkeypatch)


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_numbers_of_programs_are_read_as_the_parser_reads_them(
    seed: int, generic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    lines = list(program(1000, generic=generic, seed=seed))
    lines = [*lines[:200], *lines[-3:]]
    for _ in range(3):
        at = rng.randrange(3, len(lines) - 3)
        lines[at] = _NUMBER.sub(rng.choice(_LITERALS), lines[at])
    _assert_like_the_parser("\n".join(lines), monkeypatch)


@pytest.mark.parametrize("literals", [("1", "2", "3"), ("1.5", "2.5", "3.5")])
@pytest.mark.parametrize("form", ["arith.constant %s : {t}", '"arith.constant"() <{{value = %s : {t}}}> : () -> {t}'])
def test_third_number_does_not_reach_the_parser(
    form: str, literals: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[int] = []
    read = Parser.operation

    def counted(self: Parser) -> Task:
        starts.append(self.start)
        return read(self)

    monkeypatch.setattr(Parser, "operation", counted)
    wording = form.format(t="f32" if "." in literals[0] else "i32")
    lines = [f"%{n} = {wording.replace('%s', literal)}" for n, literal in enumerate(literals * 10)]
    parse_module("\n".join(["func.func @f() {", *lines, "return", "}"]), DIALECTS)
    # The function, two numbers and the end.
    assert len(starts) == 4


def test_what_depends_on_a_number_is_told_of_each() -> None:
    lines = [f"%{n} = t.limited {n} : i32 : i32" for n in range(6)]
    module = parse_module("\n".join(["func.func @f() {", *lines, "return", "}"]), DIALECTS)
    found = [d.message for d in verify(module, DIALECTS)]
    assert found == [f"t.limited: C1: {n} is not less than three" for n in range(3, 6)]


@pytest.mark.parametrize("number", [OpenInteger(i32), OpenFloat(f32)])
def test_number_that_is_not_told_stops_whoever_asks(number: OpenInteger | OpenFloat) -> None:
    assert isinstance(number, IntegerAttr | FloatAttr)
    with pytest.raises(NumberAskedError):
        _ = number.value
    with pytest.raises(NumberAskedError):
        _ = number == IntegerAttr(1, i32)
    with pytest.raises(NumberAskedError):
        _ = number in {IntegerAttr(1, i32): 0}
    with pytest.raises(NumberAskedError):
        match number:
            case IntegerAttr(value=1) | FloatAttr(value=1.0):
                pass
            case _:
                pass
