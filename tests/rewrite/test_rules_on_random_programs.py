"""Rules on random programs: what a program computes stays, uses are counted right, and the order of rules is one."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import commonir as cir
from commonir.dialects.mlir import arith
from commonir.ir.operation import Operation, Value
from commonir.ods.terms import Constant, Rewrite, Variable, computed, term, variables
from commonir.ods.type_constraints import I32, AnyTensor, I32Tensor
from commonir.reports import RuleReport
from commonir.rewrite.explaining import explained
from commonir.rewrite.rule_set import RuleSet

I = "tensor<3xi32>"  # noqa: E741  a type
x, y, z = variables("x y z")
zero = Constant("zero", lambda v: v == 0, is_splat=True)
one = Constant("one", lambda v: v == 1, is_splat=True)
minus_one = Constant("minus one", lambda v: v == -1, is_splat=True)

AddI, SubI, MulI, AndI, OrI, XOrI = arith.AddI, arith.SubI, arith.MulI, arith.AndI, arith.OrI, arith.XOrI

_IDENTITIES: list[Rewrite] = [
    term(AddI, x, zero).either_way() >> x,
    term(MulI, x, one).either_way() >> x,
    term(MulI, x, zero.named("z")).either_way() >> Variable("z"),
    term(SubI, term(AddI, x, y), y) >> x,
    term(AddI, term(SubI, x, y), y).either_way() >> x,
    term(SubI, x, term(SubI, x, y)) >> y,
    term(AddI, term(MulI, x, y), term(MulI, x, z)) >> term(MulI, x, term(AddI, y, z)),
    term(AddI, x, term(MulI, y, minus_one)) >> term(SubI, x, y),
    term(AndI, x, x) >> x,
    term(OrI, x, x) >> x,
    term(XOrI, term(XOrI, x, y), y) >> x,
    term(AndI, term(OrI, x, y), x) >> x,
    term(OrI, term(AndI, x, y), x).either_way() >> x,
    term(AddI, x, x) >> term(MulI, x, computed(lambda v: _splat(2, v), x)),
]
IDENTITIES = [rule.preferred(10 * n) for n, rule in enumerate(_IDENTITIES)]
"""Identities of integers of 32 bits that wrap around; several match the same, so that one is preferred."""


def _splat(number: int, like: Value) -> Value:
    text = f"func.func @f() {{ %0 = arith.constant dense<{number}> : {like.type}\nreturn }}"
    constant = next(op for op in cir.loads(text, format="mlir").walk() if isinstance(op, arith.Constant))
    constant.detach()
    return constant.results[0]


def random_program(seed: int, size: int) -> str:
    """Operations on two arguments, constants and what came before, all of them with an effect on the results."""
    random = Random(seed)
    lines = [f"%c{n} = arith.constant dense<{n}> : {I}" for n in (-1, 0, 1, 7) if n >= 0]
    lines.append(f"%m = arith.constant dense<-1> : {I}")
    values = ["%a", "%b", "%c0", "%c1", "%c7", "%m"]
    used: Counter[str] = Counter()
    for n in range(size):
        name = random.choice(("addi", "subi", "muli", "andi", "ori", "xori"))
        recent = values[-6:] if random.random() < 0.7 else values
        left, right = random.choice(recent), random.choice(recent)
        if random.random() < 0.2:
            right = left
        used.update((left, right))
        lines.append(f"%{n} = arith.{name} {left}, {right} : {I}")
        values.append(f"%{n}")
    ends = [v for v in values[6:] if not used[v]]
    types = ", ".join([I] * len(ends))
    body = "\n  ".join([*lines, f"return {', '.join(ends)} : {types}"])
    return f"func.func @main(%a: {I}, %b: {I}) -> ({types}) {{\n  {body}\n}}"


def _uses_are_right(root: Operation) -> bool:
    """Returns whether each value knows its users as operations have it as an operand."""
    results: dict[Value, Counter[Operation]] = {}
    ops = list(root.walk())
    for op in ops:
        for v in op.operands:
            results.setdefault(v, Counter())[op] += 1
    values = [v for op in ops for v in op.results]
    values += [a for op in ops for region in op.regions for block in region.blocks for a in block.arguments]
    return all(v.use_count == sum(results.get(v, Counter()).values()) for v in values) and results.keys() <= set(values)


def _outputs(program: cir.Module, arrays: dict[str, np.ndarray]) -> list[list[int]]:
    return [v.tolist() for v in cir.run(program, arrays).values()]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 25), st.integers(0, 10**6))
def test_rules_leave_what_a_program_computes(seed: int, size: int, choice: int) -> None:
    program = cir.loads(random_program(seed, size), format="mlir")
    chosen = Random(choice).sample(IDENTITIES, 10)
    optimized = cir.optimize(program, passes=(), rules=chosen)
    assert cir.verify(optimized) == []
    assert _uses_are_right(optimized)
    arrays = Random(seed)
    inputs = {
        name: np.array([arrays.choice((0, 1, -1, 2**31 - 1, arrays.getrandbits(31))) for _ in range(3)], np.int32)
        for name in ("a", "b")
    }
    assert _outputs(optimized, inputs) == _outputs(program, inputs)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 25))
def test_explaining_changes_nothing(seed: int, size: int) -> None:
    program = cir.loads(random_program(seed, size), format="mlir")
    before = str(program)
    reports = explained(program, RuleSet(IDENTITIES), {})
    assert str(program) == before
    assert _uses_are_right(program)
    assert len(reports) == len(IDENTITIES)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 20), st.randoms(use_true_random=False))
def test_order_in_which_rules_are_given_does_not_matter(seed: int, size: int, random: Random) -> None:
    program = cir.loads(random_program(seed, size), format="mlir")
    shuffled = list(IDENTITIES)
    random.shuffle(shuffled)
    assert str(cir.optimize(program, passes=(), rules=shuffled)) == str(
        cir.optimize(program, passes=(), rules=IDENTITIES)
    )


def test_rule_that_follows_from_another_comes_before_it_whatever_stands_between() -> None:
    """Rules that nothing compares with either of them do not part them."""
    wide = (term(AddI, x.of(AnyTensor), y) >> x).named("wide")
    narrow = (term(AddI, x.of(I32Tensor), y) >> y).named("narrow")
    other = (term(AddI, x.of(I32), y) >> x).named("other")
    for rules in permutations([wide, other, narrow]):
        order = [repr(r) for r in RuleSet(rules).for_definition(AddI)]
        assert order.index("narrow") < order.index("wide")


def test_reports_count_what_was_applied() -> None:
    text = f"func.func @main(%a: {I}) -> {I} {{\n%c = arith.constant dense<0> : {I}\n" + "\n".join(
        [f"%{n} = arith.addi {'%a' if n == 0 else f'%{n - 1}'}, %c : {I}" for n in range(5)]
    )
    reports: list[RuleReport] = []
    optimized = cir.optimize(
        cir.loads(f"{text}\nreturn %4 : {I}\n}}", format="mlir"), passes=(), rules=IDENTITIES[:1], reports=reports
    )
    assert [(r.applied, r.mismatches) for r in reports] == [(5, ())]
    assert not [op for op in optimized.walk() if op.name == "arith.addi"]


@pytest.mark.slow_cases("8000")
@pytest.mark.parametrize("length", [1000, 8000])
def test_long_chains_are_rewritten_without_recursion(length: int) -> None:
    lines = [f"%{n} = arith.addi {'%a' if n == 0 else f'%{n - 1}'}, %c : {I}" for n in range(length)]
    body = "\n".join([f"%c = arith.constant dense<0> : {I}", *lines, f"return %{length - 1} : {I}"])
    program = cir.loads(f"func.func @main(%a: {I}) -> {I} {{\n{body}\n}}", format="mlir")
    optimized = cir.optimize(program, passes=(), rules=IDENTITIES)
    assert [op.name for op in optimized.walk()] == ["builtin.module", "func.func", "func.return"]
