from __future__ import annotations

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import Type, f16, f32, tensor
from commonir.ods import Dialect, Dialects, Op, attr_types, attribute, element_type, operand, region, result, traits
from commonir.rewrite.legalize import Context, Mismatch, Result, Rules, Target, legalize, rule

from tests.conversions.programs import Build, core_module


class Unary(Op, traits=(traits.Pure,)):
    __slots__ = ()

    x: Value = operand("T[s*]")
    y: Value = result("T[s*]")
    T = element_type(f32)


class Negate(Unary, name="t.negate", since="v1"):
    """The negative."""


class Power1(Unary, name="t.power", since="v1"):
    """e to the power of the element."""


class Power(Power1, name="t.power", since="v2"):
    """Some base to the power of the element."""

    base: float = attribute(attr_types.number, default=2.5)
    T = element_type(f32, f16)


class New(Unary, name="t.new", since="v2"):
    """Something new."""


class Holder(Op, name="t.holder"):
    """A function."""

    label: str = attribute(attr_types.string)
    content: Region = region()

    def infer(self) -> tuple[Type, ...]:
        return ()


class End(Op, name="t.end", traits=(traits.Terminator,)):
    """The end."""

    values: tuple[Value, ...] = operand("any", variadic=True)

    def infer(self) -> tuple[Type, ...]:
        return ()


_DIALECT = Dialect("t", (Negate, Power1, Power, New, Holder, End), versions=("v1", "v2"))


@rule(ml_program.Func)
def function(op: ml_program.Func, context: Context) -> Operation:
    return Holder(op.sym_name, context.regions[0])


@rule(ml_program.Return)
def returned(op: ml_program.Return, context: Context, values: tuple[Value, ...]) -> Operation:
    return End(values)


@rule(core.Neg)
def neg(op: core.Neg, context: Context, x: Value) -> Value:
    return Negate(x).y


_STRUCTURE = (function, returned)


def _operations(module: Module) -> list[Operation]:
    return [op for op in module.nested() if op.name not in ("t.end", "t.holder")]


def _legalized(build: Build, *rules: object, version: str = "v2", element: object = f32) -> Module:
    module = core_module(build, {"x": tensor(element, 2)})  # pyright: ignore[reportArgumentType]
    result = Rules.members({str(n): r for n, r in enumerate((*_STRUCTURE, *rules))})
    return legalize(module, Rules(result), Dialects([_DIALECT]), Target("t", version))


def test_rule_of_the_most_specific_definition_comes_first() -> None:
    @rule(core.Unary)
    def general(op: core.Unary, context: Context, x: Value) -> Value:
        return Power(x, base=3.0).y

    result = _legalized(lambda x: core.neg(core.exp(x)), general, neg)
    assert [op.name for op in _operations(result)] == ["t.power", "t.negate"]


def test_rules_are_tried_in_order_until_one_applies() -> None:
    @rule(core.Exp)
    def never(op: core.Exp, context: Context, x: Value) -> Result:
        return Mismatch("it never does")

    @rule(core.Exp)
    def always(op: core.Exp, context: Context, x: Value) -> Value:
        return New(x).y

    assert [op.name for op in _operations(_legalized(core.exp, never, always))] == ["t.new"]


def test_operation_that_the_version_lacks_passes_to_the_next_rule() -> None:
    @rule(core.Exp)
    def newest(op: core.Exp, context: Context, x: Value) -> Value:
        return New(x).y

    @rule(core.Exp)
    def oldest(op: core.Exp, context: Context, x: Value) -> Value:
        return Negate(x).y

    assert [op.name for op in _operations(_legalized(core.exp, newest, oldest, version="v1"))] == ["t.negate"]
    assert [op.name for op in _operations(_legalized(core.exp, newest, oldest, version="v2"))] == ["t.new"]


def test_operation_is_rebuilt_by_the_definition_of_the_version() -> None:
    @rule(core.Exp)
    def power(op: core.Exp, context: Context, x: Value) -> Value:
        return Power(x).y

    (old,) = _operations(_legalized(core.exp, power, version="v1"))
    (new,) = _operations(_legalized(core.exp, power, version="v2"))
    assert (type(old), type(new)) == (Power1, Power)


@pytest.mark.parametrize(
    ("base", "element", "note"),
    [
        (3.0, f32, "'base' of t.power needs v2, the target is t v1"),
        (2.5, f16, "t.power: operand 'x': expected element type f32, found f16 in t v1"),
    ],
)
def test_what_the_version_cannot_say_is_the_reason(base: float, element: object, note: str) -> None:
    @rule(core.Exp)
    def power(op: core.Exp, context: Context, x: Value) -> Value:
        return Power(x, base=base).y

    with pytest.raises(DiagnosticError) as caught:
        _legalized(core.exp, power, version="v1", element=element)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.notes == (note,)


def test_operation_without_rule_is_expanded_by_its_reference() -> None:
    @rule(core.Mul)
    def mul(op: core.Mul, context: Context, a: Value, b: Value) -> Value:
        return New(a).y

    @rule(core.Sigmoid)
    def sigmoid(op: core.Sigmoid, context: Context, x: Value) -> Value:
        return Negate(x).y

    result = _legalized(core.silu, mul, sigmoid)
    assert [op.name for op in _operations(result)] == ["t.negate", "t.new"]


def test_rule_may_give_operations_that_are_legalized_in_turn() -> None:
    @rule(core.Exp)
    def exp(op: core.Exp, context: Context, x: Value) -> Value:
        return Power(core.neg(New(x).y)).y

    result = _legalized(core.exp, exp, neg)
    assert [op.name for op in _operations(result)] == ["t.new", "t.negate", "t.power"]
    first, second, third = _operations(result)
    assert second.operands == first.results
    assert third.operands == second.results


def test_names_and_places_of_origin_are_kept() -> None:
    def build(x: Value) -> Value:
        y = core.neg(x)
        y.name = "hidden"
        return core.neg(y)

    first, _ = _operations(_legalized(build, neg))
    assert first.results[0].name == "hidden"
    assert first.location is not None
    assert first.location.name == "hidden"


def test_everything_that_cannot_be_expressed_is_reported_with_all_reasons() -> None:
    @rule(core.Exp)
    def picky(op: core.Exp, context: Context, x: Value) -> Result:
        return Mismatch("the base is wrong")

    def build(x: Value) -> Value:
        return core.log(core.neg(core.exp(x)))

    with pytest.raises(DiagnosticError) as caught:
        _legalized(build, neg, picky)
    assert [(d.code.id, d.where, d.message, d.notes) for d in caught.value.diagnostics] == [
        ("E0601", "main.operations[0] core.exp", "core.exp cannot be expressed in t v2", ("the base is wrong",)),
        (
            "E0601",
            "main.operations[2] core.log",
            "core.log cannot be expressed in t v2",
            ("no rule takes core.log, and it cannot be expanded",),
        ),
    ]


def test_fault_in_an_expansion_names_the_operation_of_the_program() -> None:
    with pytest.raises(DiagnosticError) as caught:
        _legalized(core.silu)
    messages = [d.message for d in caught.value.diagnostics]
    assert messages[-1] == "core.mul (part of core.silu) cannot be expressed in t v2"
    assert {d.where for d in caught.value.diagnostics} == {"main.operations[0] core.silu"}


def test_source_is_not_changed() -> None:
    module = core_module(lambda x: core.neg(core.neg(x)), {"x": tensor(f32, 2)})
    before = [(op, op.operands) for op in module.walk()]
    rules = Rules([*_STRUCTURE, neg])
    legalize(module, rules, Dialects([_DIALECT]), Target("t", "v2"))
    assert [(op, op.operands) for op in module.walk()] == before
    assert all(user in dict(before) for op, _ in before for r in op.results for user in r.users)


def test_hoisted_operation_stands_before_what_uses_it_and_is_shared() -> None:
    @rule(core.Neg)
    def shared(op: core.Neg, context: Context, x: Value) -> Value:
        if "key" not in context.memo:
            context.memo["key"] = context.hoist(New(context.prologue.arguments[0]))
        return Negate(context.memo["key"]).y

    result = _legalized(lambda x: core.neg(core.neg(x)), shared)
    assert [op.name for op in _operations(result)] == ["t.new", "t.negate", "t.negate"]


def test_rules_in_a_cycle_are_a_fault_of_the_rules() -> None:
    @rule(core.Exp)
    def cycle(op: core.Exp, context: Context, x: Value) -> Value:
        return core.neg(core.exp(x))

    with pytest.raises(DiagnosticError, match=r"E0607.*the rules for core.exp lead back to it"):
        _legalized(core.exp, cycle, neg)


def test_nesting_costs_no_stack() -> None:
    @rule(core.If)
    def if_(op: core.If, context: Context, condition: Value) -> tuple[Value, ...]:
        return (Negate(context.memo["x"]).y,)

    @rule(core.Yield)
    def yielded(op: core.Yield, context: Context, values: tuple[Value, ...]) -> Operation:
        context.memo.setdefault("x", context.prologue.arguments[0])
        return End(values)

    def build(x: Value) -> Value:
        condition = core.equal(core.scalar(1.0, f32), core.scalar(1.0, f32))
        value = x
        for _ in range(2000):
            regions: list[Region] = []
            for v in (value, x):
                block = Block()
                owner = v.owner
                if isinstance(owner, Operation) and owner.parent is None:
                    block.append(owner)
                block.append(core.Yield((v,)))
                regions.append(Region([block]))
            (value,) = core.if_(condition, *regions)
        return value

    @rule(core.Equal)
    def equal(op: core.Equal, context: Context, a: Value, b: Value) -> Value:
        return a

    @rule(core.Constant)
    def constant(op: core.Constant, context: Context) -> Value:
        return context.prologue.arguments[0]

    result = _legalized(build, if_, yielded, equal, constant)
    assert [op.name for op in _operations(result)] == ["t.negate"]
