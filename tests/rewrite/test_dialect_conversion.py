"""Dialect conversion: what is legal, which way through the rules is taken, and what is told when there is none."""

from __future__ import annotations

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import f32, tensor
from commonir.ir.unregistered import UnregisteredOperation
from commonir.ods import MlirOp, attr_types, attribute, operand, result
from commonir.ods.fields import positive
from commonir.ods.terms import Rewrite, Variable, variables
from commonir.ods.traits import Pure
from commonir.ods.type_constraints import AnyTensor
from commonir.ods.type_rules import SameOperandsAndResultType
from commonir.rewrite.dialect_conversion import Legality, convert_dialects, distances
from commonir.rewrite.rule_set import RuleSet


class _Unary(MlirOp, traits=(Pure, SameOperandsAndResultType)):
    __slots__ = ()
    x: Value = operand(AnyTensor)
    level: int = attribute(attr_types.integer, default=0)
    y: Value = result(AnyTensor)


class High(_Unary, name="high.op"):
    """Of the source."""

    __slots__ = ()


class Middle(_Unary, name="middle.op"):
    """On the way."""

    __slots__ = ()


class Low(_Unary, name="low.op"):
    """Of the target."""

    __slots__ = ()


class Stray(_Unary, name="stray.op"):
    """Of no use."""

    __slots__ = ()


x, k = variables("x k")
TO_MIDDLE = (High.like(x, Variable("k", positive)) >> Middle.like(Middle.like(x), k)).named("to middle")
TO_LOW = (Middle.like(x, k) >> Low.like(x, k)).named("to low")
TO_STRAY = (High.like(x) >> Stray.like(x)).named("to stray")
DIRECT = (High.like(x, 3) >> Low.like(x, 3)).named("direct")


def _program(*levels: int) -> tuple[Operation, Block]:
    block = Block([tensor(f32, 2)])
    value = block.arguments[0]
    for level in levels:
        value = block.append(High(value, level)).y
    block.append(UnregisteredOperation("test.end", [value]))
    return UnregisteredOperation("test.program", regions=[Region([block])]), block


def _converted(rules: list[Rewrite], legality: Legality, *levels: int) -> list[str]:
    root, block = _program(*levels)
    convert_dialects(root, RuleSet(rules), legality)
    return [op.name for op in block.operations]


def test_way_through_several_rules_is_found() -> None:
    names = _converted([TO_MIDDLE, TO_LOW, TO_STRAY], Legality(dialects=["low", "test"]), 1)
    assert names == ["low.op", "low.op", "test.end"]


def test_shorter_way_is_taken() -> None:
    legality = Legality(dialects=["low", "test"])
    assert _converted([TO_MIDDLE, TO_LOW, DIRECT], legality, 3) == ["low.op", "test.end"]
    ways = {repr(rule): n for rule, n in distances(RuleSet([TO_MIDDLE, TO_LOW, DIRECT]), legality).items()}
    assert ways == {"to middle": 2, "to low": 1, "direct": 1}


def test_rule_that_leads_nowhere_is_not_taken() -> None:
    with pytest.raises(DiagnosticError) as caught:
        _converted([TO_MIDDLE, TO_LOW, TO_STRAY], Legality(dialects=["low", "test"]), 1, -1)
    (found,) = caught.value.diagnostics
    assert found.code.id == "E0601"
    assert found.message == "high.op is not legal, and no rule leads from it to what is"
    assert found.notes == (
        "to middle: 'level' of high.op must be positive, found -1",
        "to stray: makes what nothing legalizes",
    )


def test_operation_counts_more_than_its_dialect_and_a_function_more_than_both() -> None:
    assert _converted([TO_LOW], Legality(dialects=["high", "test"]), 1) == ["high.op", "test.end"]
    legality = Legality(dialects=["high", "middle", "low", "test"], illegal_operations=["middle.op", "high.op"])
    assert _converted([TO_MIDDLE, TO_LOW], legality, 2) == ["low.op", "low.op", "test.end"]
    some = Legality(dialects=["low", "middle", "test"], when={"high.op": lambda op: "level" not in op.properties})
    assert _converted([TO_MIDDLE], some, 2) == ["middle.op", "middle.op", "test.end"]


def test_partial_conversion_leaves_what_nothing_is_said_of() -> None:
    legality = Legality(dialects=["low"], illegal_dialects=["middle"], is_partial=True)
    assert _converted([TO_MIDDLE, TO_LOW], legality, 1) == ["high.op", "test.end"]
