"""Rewrite rules as data: what they match, which one wins, what is refused, and what the driver makes of a program."""

from __future__ import annotations

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import Type, f32, i32, tensor
from commonir.ir.unregistered import UnregisteredOperation
from commonir.ods import MlirOp, attr_types, attribute, operand, result
from commonir.ods.fields import positive
from commonir.ods.terms import Computed, Rewrite, Variable, computed, term, variables
from commonir.ods.traits import Pure, Terminator
from commonir.ods.type_constraints import AnyTensor, AnyType, F32Tensor, I32Tensor
from commonir.ods.type_rules import SameOperandsAndResultType
from commonir.rewrite.greedy import rewrite
from commonir.rewrite.rule_set import RuleSet, specificity


class Add(MlirOp, name="t.add", traits=(Pure, SameOperandsAndResultType)):
    """Sum."""

    lhs: Value = operand(AnyTensor)
    rhs: Value = operand(AnyTensor)
    sum: Value = result(AnyTensor)


class Relu(MlirOp, name="t.relu", traits=(Pure, SameOperandsAndResultType)):
    """Rectifier."""

    x: Value = operand(AnyTensor)
    y: Value = result(AnyTensor)


class Scale(MlirOp, name="t.scale", traits=(Pure, SameOperandsAndResultType)):
    """Product with a number."""

    x: Value = operand(AnyTensor)
    factor: float = attribute(attr_types.number)
    y: Value = result(AnyTensor)


class Fused(MlirOp, name="t.fused", traits=(Pure, SameOperandsAndResultType)):
    """Sum with an activation."""

    lhs: Value = operand(AnyTensor)
    rhs: Value = operand(AnyTensor)
    activation: str = attribute(attr_types.string)
    y: Value = result(AnyTensor)


class Concat(MlirOp, name="t.concat", traits=(Pure,)):
    """One after the other."""

    parts: tuple[Value, ...] = operand(AnyTensor, variadic=True)
    y: Value = result(AnyTensor)

    def infer_results(self) -> tuple[Type, ...]:
        return (self.parts[0].type,)


class Halves(MlirOp, name="t.halves", traits=(Pure,)):
    """Two halves."""

    x: Value = operand(AnyTensor)
    low: Value = result(AnyTensor)
    high: Value = result(AnyTensor)

    def infer_results(self) -> tuple[Type, ...]:
        return (self.x.type, self.x.type)


class End(MlirOp, name="t.end", traits=(Terminator,)):
    """The returned value."""

    values: tuple[Value, ...] = operand(AnyType, variadic=True)


F = tensor(f32, 4)
x, y, z, k, m = variables("x y z k m")


def _program(*arguments: Type) -> tuple[Block, tuple[Value, ...]]:
    block = Block(arguments)
    return block, block.arguments


def _whole(block: Block) -> Operation:
    return UnregisteredOperation("t.program", regions=[Region([block])])


def _names(block: Block) -> list[str]:
    return [op.name for op in block.operations]


def _codes(*rewrites: object) -> list[str]:
    with pytest.raises(DiagnosticError) as caught:
        RuleSet(rewrites)  # pyright: ignore[reportArgumentType]
    return [d.code.id for d in caught.value.diagnostics]


def test_source_of_two_operations_becomes_one() -> None:
    block, (a, b) = _program(F, F)
    added = block.append(Add(a, b))
    last = block.append(Relu(added.sum))
    end = block.append(End((last.y,)))
    done = rewrite(_whole(block), RuleSet([term(Relu, term(Add, x, y)) >> term(Fused, x, y, "relu")]))
    assert _names(block) == ["t.fused", "t.end"]
    result = end.values[0].owner
    assert isinstance(result, Fused)
    assert (result.lhs, result.rhs, result.activation) == (a, b, "relu")
    assert done.total() == 1


def test_same_variable_twice_is_the_same_value() -> None:
    rules = RuleSet([term(Add, x, x) >> term(Scale, x, 2.0)])
    block, (a, b) = _program(F, F)
    same, other = block.append(Add(a, a)), block.append(Add(a, b))
    block.append(End((same.sum, other.sum)))
    rewrite(_whole(block), rules)
    assert _names(block) == ["t.scale", "t.add", "t.end"]
    assert rules.mismatches(other) == {
        "t.add(lhs=$x, rhs=$x) >> t.scale(x=$x, factor=2.0)": "'rhs' of t.add is not the same value as $x elsewhere"
    }


def test_type_constraint_of_an_operand_restricts_a_rule() -> None:
    rules = RuleSet(
        [term(Add, Variable("l", F32Tensor), Variable("r")) >> term(Fused, Variable("l"), Variable("r"), "")]
    )
    block, (a, b) = _program(F, tensor(i32, 4))
    one, two = block.append(Add(a, a)), block.append(Add(b, b))
    block.append(End((one.sum, two.sum)))
    rewrite(_whole(block), rules)
    assert _names(block) == ["t.fused", "t.add", "t.end"]
    assert list(rules.mismatches(two).values()) == [
        "'lhs' of t.add must be tensor of 32-bit float values, found tensor<4xi32>"
    ]


def test_attributes_are_matched_bound_checked_and_computed() -> None:
    product = computed(lambda a, b: a * b, k, m)
    rules = RuleSet(
        [
            (term(Scale, x, 1.0) >> x).named("one"),
            (term(Scale, term(Scale, x, k), m) >> term(Scale, x, product)).named("twice"),
        ]
    )
    block, (a,) = _program(F)
    one = block.append(Scale(a, 1.0))
    first = block.append(Scale(one.y, 3.0))
    second = block.append(Scale(first.y, 5.0))
    alone = block.append(Scale(a, 1.0))
    end = block.append(End((second.y, alone.y)))
    done = rewrite(_whole(block), rules)
    # The more discriminating rule takes the first operation, too.
    assert dict(done) == {"one": 1, "twice": 2}
    assert end.values[1] is a
    assert _names(block) == ["t.scale", "t.end"]
    result = end.values[0].owner
    assert isinstance(result, Scale)
    assert result.factor == 15.0


def test_check_of_an_attribute_restricts_a_rule() -> None:
    rules = RuleSet([term(Scale, x, Variable("k", positive)) >> x])
    block, (a,) = _program(F)
    up, down = block.append(Scale(a, 2.0)), block.append(Scale(a, -2.0))
    block.append(End((up.y, down.y)))
    rewrite(_whole(block), rules)
    assert _names(block) == ["t.scale", "t.end"]
    assert list(rules.mismatches(down).values()) == ["'factor' of t.scale must be positive, found -2.0"]


def test_condition_on_several_variables_restricts_a_rule() -> None:
    rule = (term(Scale, term(Scale, x, k), m) >> x).where("the factors cancel", lambda a, b: a * b == 1.0, k, m)
    block, (a,) = _program(F)
    half = block.append(Scale(block.append(Scale(a, 2.0)).y, 0.5))
    third = block.append(Scale(block.append(Scale(a, 3.0)).y, 0.5))
    end = block.append(End((half.y, third.y)))
    rewrite(_whole(block), RuleSet([rule]))
    assert end.values[0] is a
    assert _names(block) == ["t.scale", "t.scale", "t.end"]


def test_most_discriminating_rule_wins_whatever_the_order() -> None:
    general = (term(Relu, x) >> term(Scale, x, 1.0)).named("general")
    special = (term(Relu, term(Add, x, y)) >> term(Fused, x, y, "relu")).named("special")
    assert specificity(general.source and special) > specificity(general)
    for rules in ((general, special), (special, general)):
        block, (a,) = _program(F)
        block.append(End((block.append(Relu(block.append(Add(a, a)).sum)).y,)))
        assert dict(rewrite(_whole(block), RuleSet(rules))) == {"special": 1}


def test_constraint_that_implies_another_wins() -> None:
    wide = (term(Relu, Variable("x", AnyTensor)) >> x).named("wide")
    narrow = (term(Relu, Variable("x", F32Tensor)) >> term(Scale, x, 1.0)).named("narrow")
    block, (a, b) = _program(F, tensor(i32, 4))
    block.append(End((block.append(Relu(a)).y, block.append(Relu(b)).y)))
    assert dict(rewrite(_whole(block), RuleSet([wide, narrow]))) == {"narrow": 1, "wide": 1}


def test_equally_discriminating_rules_are_refused_by_name() -> None:
    one, two = (term(Add, x, y) >> x).named("left"), (term(Add, x, z) >> z).named("right")
    with pytest.raises(DiagnosticError) as caught:
        RuleSet([one, two])
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code.id == "E0606"
    assert diagnostic.message == "rules left and right match the same operations and are equally discriminating"
    assert len(list(RuleSet([one, two.preferred(1)]))) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (term(Scale, x, 1.0) >> x, term(Scale, x, 2.0) >> term(Add, x, x)),
        (term(Relu, x.of(F32Tensor)) >> x, term(Relu, x.of(I32Tensor)) >> x),
        (term(Relu, term(Add, x, y)) >> x, term(Relu, term(Scale, x, k)) >> x),
        (term(Concat, (x,)) >> x, term(Concat, (x, y)) >> term(Add, x, y)),
    ],
)
def test_rules_that_never_match_the_same_are_not_faults(first: object, second: object) -> None:
    RuleSet([first, second])  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (term(Concat, (x, y)) >> x, term(Concat, (y, x)) >> x),
        (term(Add, term(Relu, x), y).either_way() >> x, term(Add, x, term(Relu, y)) >> y),
    ],
)
def test_rules_that_may_match_the_same_are_refused(first: Rewrite, second: Rewrite) -> None:
    assert _codes(first, second) == ["E0606"]


def test_value_that_fulfils_a_condition_is_tried_before_it() -> None:
    value, condition = term(Scale, x, 1.0) >> x, term(Scale, x, Variable("k", positive)) >> term(Add, x, x)
    assert [repr(r) for r in RuleSet([condition, value]).for_definition(Scale)] == [repr(value), repr(condition)]


def test_incomplete_result_is_refused() -> None:
    assert _codes(term(Add, x, y) >> term(Fused, x, y)) == ["E0605"]
    assert _codes(term(Add, x, y) >> term(Scale, factor=1.0)) == ["E0605"]


def test_result_that_mentions_what_is_not_bound_is_refused() -> None:
    assert _codes(term(Add, x, y) >> term(Relu, z)) == ["E0604"]
    assert _codes((term(Add, x, y) >> x).where("something", lambda _: True, k)) == ["E0604"]


def test_operands_of_a_group_are_matched_one_by_one_or_as_a_whole() -> None:
    block, (a, b) = _program(F, F)
    single, pair = block.append(Concat((a,))), block.append(Concat((a, b)))
    end = block.append(End((single.y, pair.y)))
    rewrite(_whole(block), RuleSet([term(Concat, (x,)) >> x]))
    assert end.values[0] is a
    assert end.values[1] is pair.y


def test_all_operands_of_a_group_are_one_variable() -> None:
    block, (a, b) = _program(F, F)
    outer = block.append(Concat((block.append(Concat((a, b))).y,)))
    end = block.append(End((outer.y,)))
    rewrite(_whole(block), RuleSet([term(Concat, (term(Concat, x),)) >> term(Concat, x)]))
    result = end.values[0].owner
    assert isinstance(result, Concat)
    assert result.parts == (a, b)
    assert _names(block) == ["t.concat", "t.end"]


def test_operands_in_either_order() -> None:
    rules = RuleSet([term(Add, term(Relu, x), y).either_way() >> term(Fused, x, y, "left")])
    block, (a, b) = _program(F, F)
    block.append(End((block.append(Add(b, block.append(Relu(a)).y)).sum,)))
    rewrite(_whole(block), rules)
    result = next(op for op in block.operations if isinstance(op, Fused))
    assert (result.lhs, result.rhs) == (a, b)


def test_results_of_a_named_operation_are_used_and_several_results_are_replaced() -> None:
    rule = term(Halves, term(Relu, x)) >> (term(Relu, term(Halves, x).named("h")), term(Relu, Variable("h__1")))
    block, (a,) = _program(F)
    halves = block.append(Halves(block.append(Relu(a)).y))
    end = block.append(End((halves.low, halves.high)))
    rewrite(_whole(block), RuleSet([rule]))
    owners = [v.owner for v in end.values]
    assert [isinstance(o, Relu) for o in owners] == [True, True]
    assert [o.operands[0].index for o in owners if isinstance(o, Relu)] == [0, 1]
    assert _names(block).count("t.halves") == 1


def test_function_that_gives_nothing_leaves_the_operation() -> None:
    result = Computed("nothing", lambda value: None if value else value, (x,))
    block, (a,) = _program(F)
    relu = block.append(Relu(a))
    block.append(End((relu.y,)))
    rules = RuleSet([term(Relu, x) >> result])
    assert not rewrite(_whole(block), rules)
    assert list(rules.mismatches(relu).values()) == ["nothing gives nothing for it"]


@pytest.mark.parametrize(
    "rule",
    [
        term(Scale, x, k) >> term(Scale, x, computed(lambda v: v.missing, k)),
        (term(Scale, x, k) >> x).where("something", lambda v: v.missing, k),
    ],
)
def test_function_that_fails_is_reported(rule: Rewrite) -> None:
    block, (a,) = _program(F)
    block.append(End((block.append(Scale(a, 1.0)).y,)))
    with pytest.raises(DiagnosticError, match="E0609") as caught:
        rewrite(_whole(block), RuleSet([rule]))
    assert isinstance(caught.value.__cause__, AttributeError)


def test_rules_in_a_cycle_are_reported() -> None:
    rules = RuleSet([term(Add, x, y) >> term(Fused, x, y, ""), term(Fused, x, y) >> term(Add, x, y)])
    block, (a, b) = _program(F, F)
    block.append(End((block.append(Add(a, b)).sum,)))
    with pytest.raises(DiagnosticError, match="E0607"):
        rewrite(_whole(block), rules)


def test_result_of_another_type_leaves_the_operation() -> None:
    rules = RuleSet([term(Concat, (x, y)) >> term(Add, x, y)])
    block, (a, b) = _program(F, tensor(f32, 5))
    concat = block.append(Concat((a, b)))
    block.append(End((concat.y,)))
    assert not rewrite(_whole(block), rules)
    assert "requires the same type" in next(iter(rules.mismatches(concat).values()))
