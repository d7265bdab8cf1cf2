"""Loops become their rounds, and choices between branches selections among their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import Type, boolean, f32, i64, tensor
from commonir.passes.straight_line import MOST_OPERATIONS, straight_line
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE

from tests.conversions.programs import Build, core_module, yielding

NUMBER, COUNT, ANSWER = tensor(f32), tensor(i64), tensor(boolean)
X = np.array([3.0, 1.0, -2.0, 5.0], np.float32)


def _program(build: Build, *types: Type) -> Module:
    return core_module(build, dict(zip("abc", types, strict=False)))


Array = np.ndarray[Any, Any]


def _run(module: Module, *arrays: Array | np.generic) -> list[Array]:
    inputs = {name: np.asarray(array) for name, array in zip("abc", arrays, strict=False)}
    return [np.asarray(v) for v in REFERENCE.prepare(module).run(inputs).values()]


def _names(module: Module) -> set[str]:
    return {op.name for op in module.nested()}


def _sums(total: Value, x: Value) -> Sequence[Value]:
    added = core.add(total, x)
    return added, added


def _while(condition: Build, body: Build, *initial: Value) -> Sequence[Value]:
    types = [v.type for v in initial]
    return core.while_(initial, yielding(condition, *types), yielding(body, *types))


def test_program_without_control_flow_stays_itself() -> None:
    module = _program(core.exp, NUMBER)
    assert straight_line(module) is module


@pytest.mark.parametrize(("reverse", "stack"), [(False, X.cumsum()), (True, X[::-1].cumsum()[::-1])])
def test_scan_becomes_its_rounds(reverse: bool, stack: object) -> None:
    body = yielding(_sums, NUMBER, NUMBER)
    module = _program(lambda a: core.scan((core.scalar(0.0, f32),), (a,), body, reverse), tensor(f32, 4))
    built = straight_line(module)
    assert "core.scan" not in _names(built)
    total, stacked = _run(built, X)
    np.testing.assert_array_equal(total, np.float32(7))
    np.testing.assert_array_equal(stacked, stack)
    assert "core.scan" in _names(module)


def test_loop_of_known_count_becomes_its_rounds() -> None:
    def build(a: Value) -> Sequence[Value]:
        def body(n: Value, x: Value) -> Sequence[Value]:
            return core.add(n, core.scalar(1, i64)), core.mul(x, core.scalar(2.0, f32)), core.cast(n, f32)

        return _while(lambda n, x: core.less(n, core.scalar(3, i64)), body, core.scalar(0, i64), a)[1:]

    built = straight_line(_program(build, NUMBER))
    assert _names(built).isdisjoint({"core.while", "core.add", "core.less"})
    result, counts = _run(built, np.float32(1.5))
    assert float(result) == 12
    np.testing.assert_array_equal(counts, [0, 1, 2])


def test_bound_of_an_inner_loop_is_known_in_each_round() -> None:
    def build(a: Value) -> Value:
        def body(n: Value, x: Value) -> Sequence[Value]:
            def inner(m: Value, y: Value) -> Sequence[Value]:
                return core.add(m, core.scalar(1, i64)), core.add(y, core.scalar(1.0, f32))

            last = _while(lambda m, y: core.less(m, n), inner, core.scalar(0, i64), x)[1]
            return core.add(n, core.scalar(1, i64)), last

        return _while(lambda n, x: core.less(n, core.scalar(4, i64)), body, core.scalar(0, i64), a)[1]

    built = straight_line(_program(build, NUMBER))
    assert "core.while" not in _names(built)
    assert float(_run(built, np.float32(0.5))[0]) == 6.5


def test_loop_whose_count_is_data_stays() -> None:
    def build(a: Value, b: Value) -> Value:
        def body(n: Value, x: Value) -> Sequence[Value]:
            return core.add(n, core.scalar(1, i64)), core.neg(x)

        return _while(lambda n, x: core.less(n, b), body, core.scalar(0, i64), a)[1]

    built = straight_line(_program(build, NUMBER, COUNT))
    assert "core.while" in _names(built)
    assert float(_run(built, np.float32(2), np.int64(3))[0]) == -2


def test_loop_of_too_many_operations_stays() -> None:
    body = yielding(_sums, NUMBER, NUMBER)
    length = MOST_OPERATIONS // 2 + 1
    module = _program(lambda a: core.scan((core.scalar(0.0, f32),), (a,), body), tensor(f32, length))
    assert "core.scan" in _names(straight_line(module))


@pytest.mark.parametrize(("condition", "expected"), [(True, [4.0, 8.0]), (False, [-2.0, -4.0])])
def test_choice_selects_among_the_results_of_both_branches(condition: bool, expected: list[float]) -> None:
    def build(a: Value, b: Value) -> Sequence[Value]:
        return core.if_(b, yielding(lambda: core.mul(a, core.splat(2.0, a))), yielding(lambda: core.neg(a)))

    built = straight_line(_program(build, tensor(f32, 2), ANSWER))
    assert "core.if" not in _names(built)
    np.testing.assert_array_equal(_run(built, np.array([2, 4], np.float32), np.bool_(condition))[0], expected)


def test_choice_between_shapes_stays() -> None:
    def build(a: Value, b: Value) -> Sequence[Value]:
        return core.if_(b, yielding(lambda: core.neg(a)), yielding(lambda: core.concat((a, a), 0)))

    assert "core.if" in _names(straight_line(_program(build, tensor(f32, 2), ANSWER)))


def test_known_choice_is_the_branch() -> None:
    def build(a: Value) -> Sequence[Value]:
        condition = core.scalar(False, boolean)
        return core.if_(condition, yielding(lambda: core.neg(a)), yielding(lambda: core.concat((a, a), 0)))

    assert _names(straight_line(_program(build, tensor(f32, 2)))).isdisjoint({"core.if", "core.neg", "core.select"})
