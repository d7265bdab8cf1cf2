"""Loops on the native engine: rounds that run without leaving compiled code, against the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.codes import EXECUTION_FAILED
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.dialects.core.recurrent import Direction
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, boolean, f32, i32, i64
from commonir.native.engine import ENGINE
from commonir.runtime.engine import EngineOptions
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.kernel_graph.block_steps import GraphStep
from commonir.runtime.kernel_graph.execution import GraphExecutable
from commonir.symbolic import symbol

from tests.oracles import require_package
from tests.runtime.programs import constant, program

require_package("llvmlite")

Array = NDArray[Any]

RANDOM = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    """Every test draws the same numbers, whichever ran before."""
    RANDOM.bit_generator.state = np.random.default_rng(0).bit_generator.state


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def number(value: int) -> Value:
    return core.scalar(value, i32)


def loops_in(executable: GraphExecutable, module: Module) -> list[bool]:
    """Returns whether each loop of a program without recurrent layers runs in compiled code."""
    steps = executable.steps_of(module.main.body)
    compiled = {op for step in steps if isinstance(step, GraphStep) for op in step.operations}
    return [op in compiled for op in module.main.body.operations if isinstance(op, core.Scan | core.While)]


def check(module: Module, inputs: dict[str, Array], *, compiled: Sequence[bool]) -> None:
    executable = ENGINE.prepare(module)
    expected = REFERENCE.prepare(module).run(inputs)
    for _ in range(2):
        actual = executable.run(inputs)
        for name, e in expected.items():
            assert actual[name].dtype == e.dtype
            np.testing.assert_allclose(actual[name], e, rtol=1e-5, atol=1e-6)
    assert loops_in(executable, module) == list(compiled)


@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("length", [1, 2, 50])
def test_scans_pass_states_and_stack_slices(length: int, *, is_reversed: bool) -> None:
    w = normal(6, 6) * np.float32(0.2)

    def build(x: Value, h: Value) -> Sequence[Value]:
        def body(state: Value, other: Value, x: Value) -> tuple[Value, ...]:
            following = core.tanh(core.add(core.matmul(state, constant(w)), x))
            return following, core.add(other, following), following, core.mul(x, other)

        row = TensorType(f32, (2, 6))
        return core.scan((h, h), (x,), core.nested([row, row, row], body), is_reversed)

    module = program(build, {"x": TensorType(f32, (length, 2, 6)), "h": TensorType(f32, (2, 6))})
    check(module, {"x": normal(length, 2, 6), "h": normal(2, 6)}, compiled=[True])


def test_states_that_stay_or_are_not_read_keep_their_values() -> None:
    def build(x: Value, h: Value) -> Sequence[Value]:
        row = TensorType(f32, (5,))
        return core.scan((h, h, h), (x,), core.nested([row] * 4, lambda a, b, c, x: (a, core.neg(x), core.add(c, x))))

    module = program(build, {"x": TensorType(f32, (3, 5)), "h": TensorType(f32, (5,))})
    check(module, {"x": normal(3, 5), "h": normal(5)}, compiled=[True])


def test_states_may_change_places() -> None:
    def build(x: Value, h: Value) -> Sequence[Value]:
        row = TensorType(f32, (5,))
        return core.scan((h, h), (x,), core.nested([row] * 3, lambda a, b, x: (core.add(b, x), a)))

    module = program(build, {"x": TensorType(f32, (4, 5)), "h": TensorType(f32, (5,))})
    check(module, {"x": normal(4, 5), "h": normal(5)}, compiled=[True])


@pytest.mark.parametrize("most", [0, 1, 16, 17, 1000])
def test_loops_end_where_their_condition_is_false(most: int) -> None:
    def build(x: Value, limit: Value) -> Sequence[Value]:
        types = [TensorType(i32, ()), TensorType(f32, (4,))]
        condition = core.nested(types, lambda n, _: (core.less(n, limit),))
        body = core.nested(types, lambda n, v: (core.add(n, number(1)), core.mul(v, core.splat(1.01, v))))
        return core.while_((number(0), x), condition, body)

    module = program(build, {"x": TensorType(f32, (4,)), "limit": TensorType(i32, ())})
    check(module, {"x": normal(4), "limit": np.array(most, np.int32)}, compiled=[True])


@pytest.mark.parametrize("first", [False, True])
def test_a_state_may_be_the_condition(*, first: bool) -> None:
    def build(x: Value, go: Value) -> Sequence[Value]:
        types = [TensorType(boolean, ()), TensorType(f32, ())]

        def body(_: Value, v: Value) -> tuple[Value, ...]:
            doubled = core.add(v, v)
            return core.less(doubled, core.scalar(100.0, f32)), doubled

        return core.while_((go, x), core.nested(types, lambda go, _: (go,)), core.nested(types, body))

    module = program(build, {"x": TensorType(f32, ()), "go": TensorType(boolean, ())})
    check(module, {"x": np.array(3, np.float32), "go": np.array(first)}, compiled=[True])


def test_sizes_of_loops_may_be_symbols() -> None:
    n, m = symbol("n"), symbol("m")

    def build(x: Value, h: Value) -> Sequence[Value]:
        row = TensorType(f32, (m,))
        return core.scan((h,), (x,), core.nested([row, row], lambda a, x: (core.add(a, x), core.softmax(x, 0))))

    module = program(build, {"x": TensorType(f32, (n, m)), "h": TensorType(f32, (m,))})
    executable, reference = ENGINE.prepare(module), REFERENCE.prepare(module)
    for length, size in [(3, 20), (2, 4), (7, 1)]:
        inputs = {"x": normal(length, size), "h": normal(size)}
        expected = reference.run(inputs)
        for name, actual in executable.run(inputs).items():
            np.testing.assert_allclose(actual, expected[name], rtol=1e-5, atol=1e-6)
    assert loops_in(executable, module) == [True]


def test_a_position_outside_of_a_tensor_in_a_round_is_an_error() -> None:
    def build(x: Value, at: Value) -> Sequence[Value]:
        types = [TensorType(f32, (20,)), TensorType(i64, ())]
        return core.scan((core.reduce_sum(x, (0,)),), (at,), core.nested(types, lambda s, n: (body(s, n, x),)))

    def body(state: Value, n: Value, x: Value) -> Value:
        return core.add(state, core.gather(x, n, 0))

    module = program(build, {"x": TensorType(f32, (3, 20)), "at": TensorType(i64, (4,))})
    executable = ENGINE.prepare(module)
    x = normal(3, 20)
    with pytest.raises(DiagnosticError, match=r"position 3 on axis 0 of .*, which has size 3") as caught:
        executable.run({"x": x, "at": np.array([0, 3, 1, 2])})
    assert caught.value.diagnostics[0].code is EXECUTION_FAILED
    (actual,) = executable.run({"x": x, "at": np.array([0, 2, 1, 2])}).values()
    np.testing.assert_allclose(actual, x.sum(0) + x[[0, 2, 1, 2]].sum(0), rtol=1e-5)
    assert loops_in(executable, module) == [True]


def test_a_loop_without_end_stops_at_the_time_limit() -> None:
    def build(x: Value) -> Sequence[Value]:
        types = [TensorType(f32, (4,))]
        condition = core.nested(types, lambda v: (core.less(core.reduce_min(v, (0,)), core.scalar(1.0, f32)),))
        return core.while_((x,), condition, core.nested(types, lambda v: (core.neg(core.abs(v)),)))

    module = program(build, {"x": TensorType(f32, (4,))})
    executable = ENGINE.prepare(module, options=EngineOptions(time_limit_seconds=0.05))
    with pytest.raises(DiagnosticError, match="time limit"):
        executable.run({"x": normal(4)})


LAYERS: dict[str, tuple[Callable[..., Sequence[Value]], int]] = {
    "rnn": (core.rnn, 1),
    "gru": (core.gru, 3),
    "lstm": (core.lstm, 4),
}


@pytest.mark.fast_every(4)
@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("name", LAYERS)
def test_recurrent_layers_agree_with_the_interpreter(name: str, direction: Direction) -> None:
    layer, gates = LAYERS[name]
    size, given, d = 10, 7, direction.count
    weight, recurrent, bias = normal(d, gates * size, given), normal(d, gates * size, size), normal(d, gates * size)
    # Larger weights amplify the last bits from step to step.
    recurrent *= np.float32(0.2)

    def build(x: Value, *states: Value) -> Sequence[Value]:
        return layer(x, constant(weight), constant(recurrent), *states, constant(bias), direction=direction)

    names = ["h", "c"] if name == "lstm" else ["h"]
    state = TensorType(f32, (d, 3, size))
    module = program(build, {"x": TensorType(f32, (20, 3, given)), **dict.fromkeys(names, state)})
    inputs = {"x": normal(20, 3, given), **{n: normal(d, 3, size) for n in names}}
    expected = REFERENCE.prepare(module).run(inputs)
    for output, actual in ENGINE.prepare(module).run(inputs).items():
        np.testing.assert_allclose(actual, expected[output], rtol=1e-4, atol=1e-5)
