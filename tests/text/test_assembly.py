"""Assembly formats that definitions state: every directive, printed and read back."""

from __future__ import annotations

import pytest

from commonir.base.diagnostics import DiagnosticError, InternalError
from commonir.ir import Block, Module, Operation, Region, UnregisteredOperation, Value, tensor
from commonir.ir.equality import first_difference
from commonir.ir.types import Type, f32, i32
from commonir.ods import (
    DeclaredResults,
    Dialect,
    Dialects,
    Op,
    any_type,
    attr_types,
    attribute,
    operand,
    region,
    result,
)
from commonir.text.formats import format_of
from commonir.text.parser import parse_module
from commonir.text.printer import print_module


class Binary(Op, name="a.binary", assembly="$lhs `,` $rhs attr-dict `:` type($result)"):
    """Types of operands follow from where they come from."""

    lhs: Value = operand("any")
    rhs: Value = operand("any")
    result_: Value = result("any")

    def infer(self) -> tuple[Type, ...]:
        return (self.lhs.type,)


class Inferred(Op, name="a.inferred", assembly="$x attr-dict"):
    """Types of results follow from the definition."""

    x: Value = operand("any")
    size: int = attribute(attr_types.integer)
    y: Value = result("any")

    def infer(self) -> tuple[Type, ...]:
        return (tensor(f32, self.size),)


class Call(
    DeclaredResults,
    name="a.call",
    assembly="$callee `(` $arguments `)` (`once` $once^)? attr-dict `:` functional-type($arguments, results)",
):
    """A symbol, punctuation, a unit attribute in an optional group, a function type."""

    callee: str = attribute(attr_types.symbol)
    arguments: tuple[Value, ...] = operand(any_type, variadic=True)
    once: bool = attribute(attr_types.unit, default=False)
    outcome: tuple[Value, ...] = result(any_type, variadic=True)


class Loop(
    DeclaredResults,
    name="a.loop",
    assembly="(`from` $start^ `:` type($start)) : (`forever`)? `step` $step attr-dict-with-keyword `do` $body"
    " (`->` type($outcome)^)?",
):
    """An alternative, a number on its own, a region between keywords, types of results only when there are any."""

    body: Region = region()
    start: Value | None = operand(any_type, default=None)
    step: int = attribute(attr_types.integer, default=1)
    outcome: tuple[Value, ...] = result(any_type, variadic=True)


class Everything(
    DeclaredResults, name="a.everything", assembly="operands attr-dict `:` type(operands) `->` type(results) regions"
):
    """Whole groups."""

    a: Value = operand(any_type)
    rest: tuple[Value, ...] = operand(any_type, variadic=True)
    out: tuple[Value, ...] = result(any_type, variadic=True)
    parts: tuple[Region, ...] = region(variadic=True)


class Choice(DeclaredResults, name="a.choice", assembly="$chosen `else` $others attr-dict"):
    """Some regions after one."""

    chosen: Region = region()
    others: tuple[Region, ...] = region(variadic=True)


DIALECTS = Dialects([Dialect("a", (Binary, Inferred, Call, Loop, Everything, Choice))])

SOURCE = '%x, %y = "x.source"() : () -> (tensor<2xf32>, i32)\n'


@pytest.mark.parametrize(
    "text",
    [
        "%0 = a.binary %x, %x {note} : tensor<2xf32>",
        "%0 = a.inferred %x {size = 7}",
        "a.call @f() : () -> ()",
        "%0, %1 = a.call @f(%x, %y) once {note = 1 : i64} : (tensor<2xf32>, i32) -> (i32, f32)",
        "a.loop forever step 1 do {\n^bb0:\n}",
        "%0 = a.loop from %y : i32 step 3 attributes {note} do {\n^bb0(%1: i32):\n} -> i32",
        "a.choice {\n^bb0:\n} else {\n^bb0:\n}, {\n} {note}",
        "a.choice {\n} else",
        "%0 = a.everything %x, %y : tensor<2xf32>, i32 -> i32 {\n^bb0:\n}, {\n}",
    ],
)
def test_form_reads_back_as_it_was(text: str) -> None:
    program = parse_module(SOURCE + text, DIALECTS)
    op = program.body.last
    assert op is not None
    assert _alone(op) == text
    generic = parse_module(print_module(program, generic=True), DIALECTS)
    assert first_difference(generic, program, names=True) is None


def _alone(op: Operation) -> str:
    """The text of the last operation, its operands named as in the whole program."""
    module = op.parent_op
    assert isinstance(module, Module)
    lines = print_module(module).splitlines()[2:-1]
    return "\n".join(line.removeprefix("  ") for line in lines)


def test_results_that_are_not_those_inferred_are_printed_in_the_generic_form() -> None:
    op = Inferred.build({"x": Value(tensor(f32), name="x"), "size": 7}, [tensor(f32, 8)])
    assert print_module(op) == '%0 = "a.inferred"(%x) <{size = 7 : i64}> : (tensor<f32>) -> tensor<8xf32>\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%0 = a.binary %x : tensor<2xf32>", "expected ',', found ':'"),
        ("%0 = a.binary %x, %x", "expected ':', found the end of the text"),
        ("%0 = a.inferred %x", "a.inferred: attribute 'size' is missing"),
        ("a.call f() : () -> ()", "expected a symbol '@name', found 'f'"),
        ("a.call @f(%x) : () -> ()", "a.call: 1 operands have 0 types"),
        ("a.loop step 1 do {}", "expected 'forever', found 'step'"),
        ("%0 = a.everything %x : i32 -> i32", "value '%x' has type tensor<2xf32>, but is used as i32"),
    ],
)
def test_text_that_breaks_the_form_is_refused(text: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse_module(SOURCE + text, DIALECTS)
    assert message in "\n".join(d.message for d in caught.value.diagnostics)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("$nothing", "no field is called 'nothing'"),
        ("$x attr-dict `:` type($x", r"expected '\)'"),
        ("$x whatever", "'whatever' has no meaning"),
        ("($x)? attr-dict", r"an optional group needs an anchor"),
        ("$x^ attr-dict", "unexpected"),
        ("$x & attr-dict", "unexpected character"),
        ("$x `=>` attr-dict", "'=>' is neither a word nor punctuation"),
        ("(" * 21 + "$x attr-dict", "parentheses are more than 20 deep"),
    ],
)
def test_format_with_a_fault_is_a_fault_of_the_definition(source: str, message: str) -> None:
    class Faulty(Op, name="a.faulty", assembly=source):
        x: Value = operand("any")

    with pytest.raises(InternalError, match=message):
        format_of(Faulty)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("attr-dict", "operand 'x' is missing"),
        ("$x", "'attr-dict' is missing"),
        ("$x $x attr-dict", "'x' occurs twice"),
        ("$x attr-dict $body", "operand 'rest' is missing"),
        ("$x $rest attr-dict", "region 'body' is missing"),
        ("$x $rest attr-dict $body", "'attr-dict' before a region is ambiguous"),
        ("$rest ($x^)? $body attr-dict", "operand 'x' in an optional group is neither variadic nor optional"),
    ],
)
def test_format_that_lacks_a_part_of_its_operation_is_a_fault_of_the_definition(source: str, message: str) -> None:
    class Faulty(Op, name="a.faulty", assembly=source):
        x: Value = operand("any")
        rest: tuple[Value, ...] = operand("any", variadic=True)
        body: Region = region()

    with pytest.raises(InternalError, match=message):
        format_of(Faulty)


class Grouped(
    DeclaredResults, name="a.grouped", assembly="(`of` $a^ `,` $b)? (`as` $c^ `=` $d) : (`no` $e)? attr-dict"
):
    """Groups with more than what selects them."""

    a: Value | None = operand(any_type, default=None)
    b: Value | None = operand(any_type, default=None)
    c: int | None = attribute(attr_types.integer, default=None)
    d: int | None = attribute(attr_types.integer, default=None)
    e: int | None = attribute(attr_types.integer, default=None)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"e": 7}, "a.grouped no 7"),
        ({"a": "x", "b": "x", "c": 1, "d": 2}, "a.grouped of %x, %x as 1 = 2"),
        ({"b": "x", "e": 7}, '"a.grouped"(%x)'),
        ({"c": 1, "d": 2, "e": 3}, '"a.grouped"() <{c = 1 : i64, d = 2 : i64, e = 3 : i64, '),
        ({"d": 2, "e": 3}, '"a.grouped"() <{d = 2 : i64, e = 3 : i64, '),
    ],
)
def test_content_of_a_group_that_is_not_written_is_never_lost(fields: dict[str, object], text: str) -> None:
    x = Value(i32, name="x")
    op = Grouped.build({k: x if v == "x" else v for k, v in fields.items()}, [])
    assert print_module(op).startswith(text)


def test_operation_within_a_region_of_an_unknown_one_has_its_form() -> None:
    block = Block([tensor(f32)], ["x"])
    block.append(Binary(block.arguments[0], block.arguments[0]))
    text = print_module(UnregisteredOperation("x.f", regions=[Region([block])]))
    assert "%0 = a.binary %x, %x : tensor<f32>" in text


def test_definition_of_an_older_version_reads_back_as_that() -> None:
    class Old(Op, name="v.op", since="one", assembly="$x attr-dict `:` type($x)"):
        x: Value = operand("any")

        def infer(self) -> tuple[Type, ...]:
            return ()

    class New(Old, name="v.op", since="two", assembly="`new` $x attr-dict `:` type($x)"):
        __slots__ = ()

    dialects = Dialects([Dialect("v", (New, Old), versions=("one", "two"))])
    module = Module()
    x = module.body.append(UnregisteredOperation("x.source", result_types=[i32])).result
    module.body.append(Old(x))
    module.body.append(New(x))
    for generic in (False, True):
        again = parse_module(print_module(module, generic=generic, dialects=dialects), dialects)
        assert [type(op) for op in again.body.operations] == [UnregisteredOperation, Old, New]
    module.body.last.erase()  # pyright: ignore[reportOptionalMemberAccess]
    text = print_module(module, dialects=dialects)
    assert text.splitlines()[0] == 'module attributes {commonir.versions = {v = "one"}} {'
    assert [type(op) for op in parse_module(text, dialects).body.operations] == [UnregisteredOperation, Old]
