"""Loops whose rounds are repeated calls of numpy, against values that numpy computes here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, boolean, f32, i32, i64
from commonir.runtime.engine import EngineOptions
from commonir.runtime.kernel_graph.block_steps import GraphStep
from commonir.runtime.numpy_engine.engine import ENGINE, NumpyExecutable

from tests.runtime.programs import constant, program

Array = NDArray[Any]


def normal(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def outputs(module: Module, *runs: dict[str, Array]) -> list[Array]:
    """Returns the outputs of the last run of a program, which must be one step."""
    executable: NumpyExecutable = ENGINE.prepare(module)
    result = [list(executable.run(inputs).values()) for inputs in runs][-1]
    (step,) = executable.steps_of(module.main.body)
    assert isinstance(step, GraphStep)
    return result


@pytest.mark.parametrize("is_reversed", [False, True])
def test_scans_pass_states_and_stack_slices(*, is_reversed: bool) -> None:
    w, x, h = normal(0, 6, 6), normal(1, 5, 2, 6), normal(2, 2, 6)

    def build(x: Value, h: Value) -> Sequence[Value]:
        def body(state: Value, other: Value, x: Value) -> tuple[Value, ...]:
            following = core.tanh(core.add(core.matmul(state, constant(w)), x))
            return following, core.add(other, following), following, core.mul(x, other)

        row = TensorType(f32, (2, 6))
        return core.scan((h, h), (x,), core.nested([row, row, row], body), is_reversed)

    module = program(build, {"x": TensorType(f32, x.shape), "h": TensorType(f32, h.shape)})
    state, other = h.astype(np.float64), h.astype(np.float64)
    stacks = np.zeros((2, *x.shape))
    for n in range(len(x))[:: -1 if is_reversed else 1]:
        stacks[1, n] = x[n] * other
        state = np.tanh(state @ w + x[n])
        other = other + state
        stacks[0, n] = state
    for actual, expected in zip(
        outputs(module, {"x": -x, "h": x[0]}, {"x": x, "h": h}), [state, other, *stacks], strict=True
    ):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


def test_slices_may_be_numbers() -> None:
    def build(x: Value, start: Value) -> Sequence[Value]:
        number = TensorType(f32, ())
        return core.scan((start,), (x,), core.nested([number, number], lambda a, x: (core.add(a, x), core.mul(x, x))))

    module = program(build, {"x": TensorType(f32, (3,)), "start": TensorType(f32, ())})
    last, squares = outputs(module, {"x": np.array([1, 2, 3], np.float32), "start": np.array(10, np.float32)})
    assert last == 16
    np.testing.assert_array_equal(squares, [1, 4, 9])


@pytest.mark.parametrize("most", [0, 1, 7])
def test_loops_end_where_their_condition_is_false(most: int) -> None:
    def build(x: Value, limit: Value) -> Sequence[Value]:
        types = [TensorType(i32, ()), TensorType(f32, (4,))]
        condition = core.nested(types, lambda n, _: (core.less(n, limit),))
        body = core.nested(types, lambda n, v: (core.add(n, core.scalar(1, i32)), core.add(v, v)))
        return core.while_((core.scalar(0, i32), x), condition, body)

    module = program(build, {"x": TensorType(f32, (4,)), "limit": TensorType(i32, ())})
    x = normal(0, 4)
    n, v = outputs(module, {"x": x, "limit": np.array(most, np.int32)})
    assert n == most
    np.testing.assert_array_equal(v, x * 2**most)


@pytest.mark.parametrize(("first", "last"), [(False, 3), (True, 192)])
def test_a_state_may_be_the_condition(*, first: bool, last: float) -> None:
    def build(x: Value, go: Value) -> Sequence[Value]:
        types = [TensorType(boolean, ()), TensorType(f32, ())]

        def body(_: Value, v: Value) -> tuple[Value, ...]:
            doubled = core.add(v, v)
            return core.less(doubled, core.scalar(100.0, f32)), doubled

        return core.while_((go, x), core.nested(types, lambda go, _: (go,)), core.nested(types, body))

    module = program(build, {"x": TensorType(f32, ()), "go": TensorType(boolean, ())})
    go, v = outputs(module, {"x": np.array(3, np.float32), "go": np.array(first)})
    assert not go
    assert v == last


def test_a_position_outside_of_a_tensor_in_a_round_is_an_error() -> None:
    def build(x: Value, at: Value) -> Sequence[Value]:
        types = [TensorType(f32, (20,)), TensorType(i64, ())]
        body = core.nested(types, lambda s, n: (core.add(s, core.gather(x, n, 0)),))
        return core.scan((core.reduce_sum(x, (0,)),), (at,), body)

    module = program(build, {"x": TensorType(f32, (3, 20)), "at": TensorType(i64, (4,))})
    executable, x = ENGINE.prepare(module), normal(0, 3, 20)
    with pytest.raises(DiagnosticError, match="position 3 on axis 0"):
        executable.run({"x": x, "at": np.array([0, 3, 1, 2])})
    (actual,) = executable.run({"x": x, "at": np.array([0, 2, 1, 2])}).values()
    np.testing.assert_allclose(actual, x.sum(0) + x[0] + x[1] + 2 * x[2], rtol=1e-5)


def test_a_loop_without_end_stops_at_the_time_limit() -> None:
    def build(x: Value) -> Sequence[Value]:
        types = [TensorType(f32, (4,))]
        condition = core.nested(types, lambda v: (core.less(core.reduce_min(v, (0,)), core.scalar(1.0, f32)),))
        return core.while_((x,), condition, core.nested(types, lambda v: (core.neg(core.abs(v)),)))

    module = program(build, {"x": TensorType(f32, (4,))})
    executable = ENGINE.prepare(module, options=EngineOptions(time_limit_seconds=0.05))
    with pytest.raises(DiagnosticError, match="time limit"):
        executable.run({"x": normal(0, 4)})


def test_states_change_places() -> None:
    def build(x: Value, h: Value) -> Sequence[Value]:
        row = TensorType(f32, (5,))
        return core.scan((h, h), (x,), core.nested([row] * 3, lambda a, b, x: (core.add(b, x), a)))

    module = program(build, {"x": TensorType(f32, (4, 5)), "h": TensorType(f32, (5,))})
    x, h = normal(0, 4, 5), normal(1, 5)
    a, b = outputs(module, {"x": x, "h": h})
    np.testing.assert_allclose(a, h + x[1] + x[3], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(b, h + x[0] + x[2], rtol=1e-5, atol=1e-6)


def test_branches_in_loops() -> None:
    def build(x: Value, h: Value) -> Sequence[Value]:
        def body(state: Value, row: Value) -> Sequence[Value]:
            then = core.nested([], lambda: (core.add(state, row),))
            orelse = core.nested([], lambda: (state,))
            return core.if_(core.less(core.reduce_sum(row, (0,)), core.scalar(0.0, f32)), then, orelse)

        row = TensorType(f32, (3,))
        return core.scan((h,), (x,), core.nested([row, row], body))

    module = program(build, {"x": TensorType(f32, (6, 3)), "h": TensorType(f32, (3,))})
    x, h = normal(0, 6, 3), normal(1, 3)
    (actual,) = outputs(module, {"x": -x, "h": h}, {"x": x, "h": h})
    np.testing.assert_allclose(actual, h + x[x.sum(1) < 0].sum(0), rtol=1e-5, atol=1e-6)
