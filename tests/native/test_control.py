"""Branches and nested loops on the native engine: compiled whole, against the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, boolean, f16, f32, i32
from commonir.native.engine import ENGINE
from commonir.runtime.engine import EngineOptions
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.kernel_graph.block_steps import GraphStep
from commonir.symbolic import symbol

from tests.native.regions import region
from tests.oracles import require_package
from tests.runtime.programs import constant, program

require_package("llvmlite")

Array = NDArray[Any]

ROW = TensorType(f32, (4,))
ROWS = TensorType(f32, (5, 4))
FLAG = TensorType(boolean, ())
COUNT = TensorType(i32, ())
YES, NO = np.array(True), np.array(False)


def normal(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def check(module: Module, *runs: dict[str, Array], threads: int = 1) -> None:
    """Checks that a program is one compiled step, and agrees with the interpreter on inputs one after another."""
    executable = ENGINE.prepare(module, options=EngineOptions(threads=threads))
    reference = REFERENCE.prepare(module)
    for inputs in [*runs, *runs]:
        expected = reference.run(inputs)
        for name, actual in executable.run(inputs).items():
            assert actual.dtype == expected[name].dtype
            np.testing.assert_allclose(actual, expected[name], rtol=1e-5, atol=1e-6)
    (step,) = executable.steps_of(module.main.body)
    assert isinstance(step, GraphStep)


def test_a_branch_runs_one_of_two_regions() -> None:
    def build(c: Value, x: Value) -> Sequence[Value]:
        y = core.exp(x)
        then = region(lambda: (core.add(y, x), core.neg(y)), outside=[y])
        orelse = region(lambda: (core.mul(core.tanh(x), y), x), outside=[y])
        a, b = core.if_(c, then, orelse)
        return a, b, core.add(a, y), core.softmax(b, 0)

    module = program(build, {"c": FLAG, "x": ROW})
    check(module, {"c": YES, "x": normal(4)}, {"c": NO, "x": normal(4)})


def test_branches_yield_what_they_do_not_compute() -> None:
    """Arguments, constants, also in half precision, one value twice, and values from outside."""
    half = TensorType(f16, (4,))
    stored = np.array([1, 2, 3, 4], np.float16)

    def build(c: Value, x: Value, h: Value) -> Sequence[Value]:
        def then() -> Sequence[Value]:
            return x, x, core.add(h, h), constant(normal(4)), core.exp(x)

        def orelse() -> Sequence[Value]:
            return constant(normal(4)), core.neg(x), constant(stored), x, x

        a, *rest = core.if_(c, region(then), region(orelse))
        return a, a, *rest, x

    module = program(build, {"c": FLAG, "x": ROW, "h": half})
    inputs = {"x": normal(4), "h": stored[::-1].copy()}
    check(module, {"c": YES, **inputs}, {"c": NO, **inputs})


@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_branch_in_a_loop(*, is_reversed: bool) -> None:
    def build(x: Value, h: Value) -> Sequence[Value]:
        def body(state: Value, row: Value) -> Sequence[Value]:
            small = core.less(core.reduce_sum(state, (0,)), core.scalar(0.5, f32))
            moved = core.tanh(core.add(state, row))
            then = region(lambda: (core.add(moved, moved), row), outside=[moved])
            orelse = region(lambda: (state, core.mul(moved, state)), outside=[moved])
            following, other = core.if_(small, then, orelse)
            return following, core.sub(other, following)

        return core.scan((h,), (x,), core.nested([ROW, ROW], body), is_reversed)

    module = program(build, {"x": ROWS, "h": ROW})
    check(module, {"x": normal(5, 4), "h": normal(4)}, {"x": -normal(5, 4), "h": normal(4)})


def summed(state: Value, row: Value) -> Sequence[Value]:
    return core.add(state, row), core.mul(state, row)


def counted(limit: Value, first: Value, step: Callable[[Value], Value]) -> Value:
    """Returns a value after a number of steps."""
    condition = core.nested([COUNT, first.type], lambda n, _: (core.less(n, limit),))
    body = core.nested([COUNT, first.type], lambda n, v: (core.add(n, core.scalar(1, i32)), step(v)))
    return core.while_((core.scalar(0, i32), first), condition, body)[1]


def test_a_loop_in_a_branch() -> None:
    def build(c: Value, n: Value, x: Value) -> Sequence[Value]:
        y = core.exp(x)
        then = region(lambda: (counted(n, y, lambda v: core.mul(v, core.splat(0.5, v))),), outside=[y])
        return *core.if_(c, then, region(lambda: (y,), outside=[y])), core.neg(y)

    module = program(build, {"c": FLAG, "n": COUNT, "x": ROW})
    counts = [np.array(n, np.int32) for n in (0, 1, 2, 5)]
    check(module, *[{"c": c, "n": n, "x": normal(4)} for c in (YES, NO) for n in counts])


def test_loops_in_loops() -> None:
    def build(x: Value, n: Value, h: Value) -> Sequence[Value]:
        def body(state: Value, other: Value, row: Value) -> Sequence[Value]:
            inner = counted(n, core.add(state, row), lambda v: core.add(core.mul(v, core.splat(0.5, v)), other))
            last, stacked = core.scan(
                (row,), (x,), core.nested([ROW, ROW], lambda s, r: (core.add(s, r), core.mul(s, r)))
            )
            return core.tanh(inner), state, last, stacked, core.reduce_sum(stacked, (0,)), row

        return core.scan((h, h), (x,), core.nested([ROW] * 3, body))

    module = program(build, {"x": ROWS, "n": COUNT, "h": ROW})
    check(module, *[{"x": normal(5, 4), "n": np.array(n, np.int32), "h": normal(4)} for n in (0, 1, 4)])


def test_a_stack_of_an_inner_loop_is_a_state() -> None:
    def build(x: Value) -> Sequence[Value]:
        def body(rows: Value, row: Value) -> Sequence[Value]:
            _, stacked = core.scan(
                (row,), (rows,), core.nested([ROW, ROW], lambda s, r: (core.add(s, r), core.tanh(core.add(s, r))))
            )
            return stacked, core.reduce_sum(rows, (0,))

        return core.scan((x,), (x,), core.nested([ROWS, ROW], body))

    check(program(build, {"x": ROWS}), {"x": normal(5, 4)})


def test_states_change_places_and_come_from_anywhere() -> None:
    def build(x: Value, h: Value) -> Sequence[Value]:
        def body(a: Value, b: Value, c: Value, d: Value, row: Value) -> Sequence[Value]:
            e = core.add(a, core.mul(row, b))
            return b, c, e, row, e, a, h, constant(np.ones(4, np.float32))

        return core.scan((h, core.exp(h), core.neg(h), h), (x,), core.nested([ROW] * 5, body))

    check(program(build, {"x": ROWS, "h": ROW}), {"x": normal(5, 4), "h": normal(4)})


def test_results_of_loops_are_read_long_after_them() -> None:
    """Memory of states is not given to others as long as a result may lie there."""

    def build(x: Value, h: Value, n: Value) -> Sequence[Value]:
        first = counted(n, core.exp(h), core.tanh)
        last, stacked = core.scan(
            (first,), (x,), core.nested([ROW, ROW], lambda s, r: (core.add(s, r), core.sub(s, r)))
        )
        other = counted(n, core.neg(last), core.abs)
        rows = core.softmax(core.matmul(stacked, core.transpose(stacked, (1, 0))), 1)
        return core.add(first, last), other, core.reduce_sum(rows, (0,)), core.mul(first, core.sin(other))

    module = program(build, {"x": ROWS, "h": ROW, "n": COUNT})
    check(module, *[{"x": normal(5, 4), "h": normal(4), "n": np.array(n, np.int32)} for n in (0, 1, 2, 3)])


def test_an_empty_sequence_leaves_states_as_they_are() -> None:
    n = symbol("n", 0)

    def build(x: Value, h: Value) -> Sequence[Value]:
        return core.scan((h,), (x,), core.nested([ROW, ROW], summed))

    module = program(build, {"x": TensorType(f32, (n, 4)), "h": ROW})
    check(module, *[{"x": normal(5, 4)[:count], "h": normal(4)} for count in (0, 3, 0, 1)])


def test_weights_of_layers_are_packed_inside_of_loops_and_branches() -> None:
    w, v = normal(48, 48) * np.float32(0.1), normal(48, 96)
    wide = TensorType(f32, (3, 48))

    def build(c: Value, x: Value) -> Sequence[Value]:
        def body(state: Value, row: Value) -> Sequence[Value]:
            return (core.tanh(core.add(core.matmul(state, constant(w)), row)),)

        def then() -> Sequence[Value]:
            (last,) = core.scan(
                (core.mul(x, core.splat(0.0, x)),), (core.unsqueeze(x, (0,)),), core.nested([wide, wide], body)
            )
            return (core.matmul(last, constant(v)),)

        return core.if_(c, region(then), region(lambda: (core.matmul(core.neg(x), constant(v)),)))

    module = program(build, {"c": FLAG, "x": wide})
    check(module, {"c": YES, "x": normal(3, 48)}, {"c": NO, "x": normal(3, 48)})


def test_what_watches_a_run_sees_kernels_in_loops_and_may_end_it() -> None:
    """An error in a function that is called after kernels ends the run; the next one is as any other."""

    def build(x: Value, n: Value) -> Sequence[Value]:
        return (counted(n, core.exp(x), core.tanh),)

    module, inputs = program(build, {"x": ROW, "n": COUNT}), {"x": normal(4), "n": np.array(5, np.int32)}
    (times,) = [t for t in ENGINE.operation_times(module, None, inputs, EngineOptions(), 1) if "tanh" in t.operation]
    assert times.seconds > 0
    executable = ENGINE.prepare(module)
    (step,) = executable.steps_of(module.main.body)
    assert isinstance(step, GraphStep)
    seen: list[str] = []

    def until_the_third(_: str, origins: tuple[tuple[str, str], ...]) -> None:
        seen.extend([operation for operation, _ in origins if operation == "core.tanh"])
        if len(seen) == 3:
            raise TimeoutError

    arrays = [inputs[v.name] for v in step.inputs]
    with pytest.raises(TimeoutError):
        step.graph.run(arrays, {}, until_the_third)
    assert len(seen) == 3
    check(module, inputs)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_share_what_is_in_loops_and_branches(threads: int) -> None:
    w = normal(256, 256) * np.float32(0.05)
    block = TensorType(f32, (512, 256))

    def build(x: Value, n: Value) -> Sequence[Value]:
        y = core.softmax(core.matmul(x, constant(w)), 1)

        def step(v: Value) -> Value:
            moved = core.tanh(core.matmul(v, constant(w)))
            small = core.less(core.reduce_sum(moved, (0, 1)), core.scalar(0.0, f32))
            then = region(lambda: (core.matmul(moved, constant(w)),), outside=[moved])
            return core.if_(small, then, region(lambda: (core.neg(moved),), outside=[moved]))[0]

        return (core.add(counted(n, y, step), y),)

    module = program(build, {"x": block, "n": COUNT})
    alone, shared = [ENGINE.prepare(module, options=EngineOptions(threads=t)) for t in (1, threads)]
    reference = REFERENCE.prepare(module)
    for n in (0, 1, 7):
        inputs = {"x": normal(512, 256), "n": np.array(n, np.int32)}
        (expected,) = alone.run(inputs).values()
        for _ in range(5):
            (actual,) = shared.run(inputs).values()
            np.testing.assert_array_equal(actual, expected)
        np.testing.assert_allclose(expected, reference.run(inputs)["y0"], rtol=1e-4, atol=1e-5)


REQUIRING = """func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %ten = core.constant {value = dense<10> : tensor<i32>} : tensor<i32>
  %few = core.less %n, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
  core.require %few, %n {message = "{0} rounds are too many"} : (tensor<i1>, tensor<i32>) -> ()
  %zero = core.constant {value = dense<0> : tensor<i32>} : tensor<i32>
  %one = core.constant {value = dense<1> : tensor<i32>} : tensor<i32>
  %most = core.constant {value = dense<100.0> : tensor<f32>} : tensor<f32>
  %r:2 = "core.while"(%zero, %x) ({
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    %c = core.less %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "core.yield"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    %sum = core.reduce_sum %v {axes = [0]} : (tensor<4xf32>) -> tensor<f32>
    %small = core.less %sum, %most : (tensor<f32>, tensor<f32>) -> tensor<i1>
    core.require %small {message = "it grows too large"} : (tensor<i1>) -> ()
    %j = core.add %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %w = core.add %v, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "core.yield"(%j, %w) : (tensor<i32>, tensor<4xf32>) -> ()
  }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  return %r#1 : tensor<4xf32>
}"""


def test_what_is_required_is_checked_in_compiled_code() -> None:
    """Where it does not hold, the error is that of the interpreter, and later runs are compiled as before."""
    module = cir.loads(REQUIRING, format="mlir")
    executable, reference = ENGINE.prepare(module, options=EngineOptions(plan_ahead=True)), REFERENCE.prepare(module)
    ones = np.ones(4, np.float32)
    (name,) = module.main.output_names
    (x, count) = [v.name for v in module.main.inputs]
    for n, message in [(3, ""), (11, "11 rounds are too many"), (8, "it grows too large"), (4, "")]:
        inputs = {x: ones, count: np.array(n, np.int32)}
        if message:
            for prepared in (executable, reference):
                with pytest.raises(DiagnosticError, match=message):
                    prepared.run(inputs)
        else:
            np.testing.assert_array_equal(executable.run(inputs)[name], ones * 2**n)
    check(module, {x: ones, count: np.array(3, np.int32)}, threads=2)


def test_what_is_required_is_checked_where_nothing_else_is_computed() -> None:
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %zero = core.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
      %sum = core.reduce_sum %x {axes = [0]} : (tensor<4xf32>) -> tensor<f32>
      %positive = core.less %zero, %sum : (tensor<f32>, tensor<f32>) -> tensor<i1>
      core.require %positive {message = "the sum is not positive"} : (tensor<i1>) -> ()
      return %x : tensor<4xf32>
    }"""
    module = cir.loads(text, format="mlir")
    executable = ENGINE.prepare(module, options=EngineOptions(plan_ahead=True))
    (step,), ones = executable.steps_of(module.main.body), np.ones(4, np.float32)
    assert isinstance(step, GraphStep)
    for _ in range(3):
        (y,) = executable.run({"x": ones}).values()
        np.testing.assert_array_equal(y, ones)
        with pytest.raises(DiagnosticError, match="the sum is not positive"):
            executable.run({"x": -ones})
