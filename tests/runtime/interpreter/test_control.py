"""Nested programs, calls, globals, and operations that only running can size."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from commonir.base.codes import EXECUTION_FAILED, RUN_LIMIT_EXCEEDED, WRONG_DIMENSIONS
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.attributes import DataAttr
from commonir.ir.data import data_of
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import boolean, f32, i64, tensor
from commonir.ods import operations_behind
from commonir.runtime.engine import Engine, EngineOptions
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.numpy_engine.engine import ENGINE as NUMPY
from commonir.runtime.state import State
from commonir.symbolic import symbol

from tests.runtime.programs import program

ENGINES = pytest.mark.parametrize("engine", [REFERENCE, NUMPY], ids=lambda e: e.name)


def nested(*outputs: Value, arguments: Block | None = None, outside: tuple[Value, ...] = ()) -> Region:
    block = Block() if arguments is None else arguments
    for op in operations_behind(outputs, frozenset(outside)):
        block.append(op)
    block.append(core.Yield(outputs))
    return Region([block])


@ENGINES
def test_if_runs_one_branch_and_sees_values_from_outside(engine: Engine) -> None:
    def build(flag: Value, x: Value) -> Value:
        wide = core.mul(x, x)
        then, orelse = (nested(fn(wide, x), outside=(wide,)) for fn in (core.add, core.sub))
        # A condition that depends on `wide` puts it before the branches that see it.
        both = core.logical_and(flag, core.greater(core.reduce_sum(wide), core.splat(0.0, wide)))
        return core.if_(both, then, orelse)[0]

    executable = engine.prepare(program(build, {"flag": tensor(boolean), "x": tensor(f32, 2)}))
    x = np.array([2, 3], np.float32)
    assert executable.run({"flag": np.array(True), "x": x})["y0"].tolist() == [6, 12]
    assert executable.run({"flag": np.array(False), "x": x})["y0"].tolist() == [2, 6]


@ENGINES
def test_while_repeats_until_its_condition_fails_and_swaps_values_at_once(engine: Engine) -> None:
    kinds = [tensor(i64), tensor(f32, 2), tensor(f32, 2)]

    def build(n: Value, a: Value, b: Value) -> tuple[Value, ...]:
        test, body = Block(kinds), Block(kinds)
        condition = core.greater(test.arguments[0], core.scalar(0, i64))
        k, u, v = body.arguments
        step = nested(core.sub(k, core.scalar(1, i64)), v, u, arguments=body)
        return core.while_((n, a, b), nested(condition, arguments=test), step)

    executable = engine.prepare(program(build, dict(zip("nab", kinds, strict=True))))
    a, b = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
    odd = executable.run({"n": np.array(3), "a": a, "b": b})
    assert [odd[y].tolist() for y in ("y0", "y1", "y2")] == [0, [3, 4], [1, 2]]
    none = executable.run({"n": np.array(0), "a": a, "b": b})
    assert none["y1"].tolist() == [1, 2]


@ENGINES
def test_a_value_may_grow_in_each_round(engine: Engine) -> None:
    size = symbol("size")
    kinds = [tensor(i64), tensor(f32, size)]

    def build(n: Value, x: Value) -> tuple[Value, ...]:
        condition = core.nested(kinds, lambda k, _: (core.less(k, n),))

        def longer(k: Value, v: Value) -> tuple[Value, ...]:
            return core.add(k, core.scalar(1, i64)), core.concat((v, core.reduce_sum(v, (0,), keep_dims=True)), 0)

        return core.while_((core.scalar(0, i64), x), condition, core.nested(kinds, longer))[1:]

    executable = engine.prepare(program(build, {"n": tensor(i64), "x": tensor(f32, 1)}))
    for rounds in (20, 20, 3, 19):
        grown = executable.run({"n": np.array(rounds), "x": np.ones(1, np.float32)})["y0"]
        assert grown.tolist() == [1, *[2**k for k in range(rounds)]]


@ENGINES
def test_call_runs_another_function_under_its_own_sizes(engine: Engine) -> None:
    n, m = symbol("n"), symbol("m")
    module = program(lambda x: core.call("twice", (tensor(f32, n),), (x,)), {"x": tensor(f32, n)})
    inner = program(lambda x: core.add(x, x), {"x": tensor(f32, m)}, name="twice").body.first
    assert inner is not None
    inner.detach()
    module.body.append(inner)
    assert engine.prepare(module).run({"x": np.array([1, 2, 3], np.float32)})["y0"].tolist() == [2, 4, 6]


@ENGINES
def test_functions_that_call_themselves_forever_are_refused(engine: Engine) -> None:
    module = program(lambda x: core.call("main", (tensor(f32, 1),), (x,)), {"x": tensor(f32, 1)})
    with pytest.raises(DiagnosticError) as error:
        engine.prepare(module).run({"x": np.zeros(1, np.float32)})
    assert error.value.diagnostics[0].code is EXECUTION_FAILED


@ENGINES
def test_loop_without_operations_ends_at_the_time_limit(engine: Engine) -> None:
    kinds = [tensor(boolean)]

    def build(flag: Value) -> tuple[Value, ...]:
        test, body = Block(kinds), Block(kinds)
        return core.while_((flag,), nested(*test.arguments, arguments=test), nested(*body.arguments, arguments=body))

    built = program(build, {"flag": tensor(boolean)})
    executable = engine.prepare(built, options=EngineOptions(time_limit_seconds=0.2))
    with pytest.raises(DiagnosticError) as error:
        executable.run({"flag": np.array(True)})
    assert error.value.diagnostics[0].code is RUN_LIMIT_EXCEEDED


@ENGINES
def test_mutable_globals_keep_their_contents_until_they_get_an_empty_state(engine: Engine) -> None:
    kind = tensor(f32, 2)
    start = ml_program.Global("total", kind, DataAttr(data_of(f32, (2,), [10, 20])), is_mutable=True)
    block = Block([kind], ["x"])
    (x,) = block.arguments
    load = block.append(ml_program.GlobalLoad.of(start))
    total = block.append(core.Add(load.results[0], x))
    block.append(ml_program.GlobalStore.to(start, total.result))
    again = block.append(ml_program.GlobalLoad.of(start))
    built = program(lambda v: v, {"x": kind})
    function = built.main
    give = function.body.last
    assert give is not None
    content = function.regions[0]
    content.blocks.clear()
    give.detach()
    give.operands = (again.results[0],)
    block.append(give)
    content.add(block)
    built.body.append(start)
    executable = engine.prepare(built)
    one = np.ones(2, np.float32)
    assert executable.run({"x": one})["y0"].tolist() == [11, 21]
    assert executable.run({"x": one})["y0"].tolist() == [12, 22]
    executable.state = State()
    assert executable.run({"x": one})["y0"].tolist() == [11, 21]


@ENGINES
def test_sizes_known_only_when_running_flow_into_later_operations(engine: Engine) -> None:
    def build(x: Value) -> Value:
        rows = core.cast(core.non_zero(x), f32)
        return core.reduce_sum(core.mul(rows, rows), (0,))

    executable = engine.prepare(program(build, {"x": tensor(f32, 4)}))
    assert executable.run({"x": np.array([0, 1, 0, 5], np.float32)})["y0"].tolist() == [10]
    assert executable.run({"x": np.array([0, 1, 2, 5], np.float32)})["y0"].tolist() == [14]


@ENGINES
def test_one_executable_runs_many_sizes(engine: Engine) -> None:
    n = symbol("n")
    build = lambda x: core.softmax(core.matmul(x, x, transpose_b=True))  # noqa: E731
    executable = engine.prepare(program(build, {"x": tensor(f32, n, 3)}))
    for size in (*range(1, 12), 1, 5):
        y = executable.run({"x": np.zeros((size, 3), np.float32)})["y0"]
        assert np.abs(np.asarray(y, np.float64) - 1 / size).max() < 1e-6


@ENGINES
def test_constraint_between_symbols_is_asked_when_inputs_bind(engine: Engine) -> None:
    types = {"a": tensor(f32, 2, symbol("n")), "b": tensor(f32, symbol("m"), 2)}
    executable = engine.prepare(program(core.matmul, types))
    a, b = np.ones((2, 3), np.float32), np.ones((3, 2), np.float32)
    assert executable.run({"a": a, "b": b})["y0"].tolist() == [[3, 3]] * 2
    with pytest.raises(DiagnosticError, match="expected m = 4, found n = 3") as error:
        executable.run({"a": a, "b": np.ones((4, 2), np.float32)})
    assert error.value.diagnostics[0].code is WRONG_DIMENSIONS


@ENGINES
def test_run_stops_at_its_time_limit(engine: Engine) -> None:
    kind = tensor(f32, 1)

    def build(x: Value) -> tuple[Value, ...]:
        test, body = Block([kind]), Block([kind])
        true = core.cast(core.scalar(1.0, f32), boolean)
        step = nested(core.add(body.arguments[0], body.arguments[0]), arguments=body)
        return core.while_((x,), nested(true, arguments=test), step)

    executable = engine.prepare(program(build, {"x": kind}), options=EngineOptions(time_limit_seconds=0.05))
    with pytest.raises(DiagnosticError) as error:
        executable.run({"x": np.zeros(1, np.float32)})
    assert error.value.diagnostics[0].code is RUN_LIMIT_EXCEEDED


@ENGINES
def test_a_run_that_needs_more_memory_than_its_limit_is_refused(engine: Engine) -> None:
    def sorted_rows(x: Value) -> Value:
        rows = core.broadcast_to(x, (1000, 1000))
        return core.scan((), (rows,), core.nested([tensor(f32, 1000)], lambda v: (core.argsort(v, 0),)))[0]

    programs: list[Callable[[Value], Value | Sequence[Value]]] = [
        lambda x: core.broadcast_to(core.add(x, x), (1000, 1000)),
        lambda x: core.pad(x, (0,), (10**9,)),
        lambda x: core.argsort(core.pad(x, (0,), (10**9,)), 0),
        # Each value is within the limit.
        lambda x: [core.argsort(core.mul(x, core.splat(float(n), x)), 0) for n in range(200)],
        sorted_rows,
    ]
    for build in programs:
        for size in (1000, symbol("n")):
            module = program(build, {"x": tensor(f32, size)})
            executable = engine.prepare(module, options=EngineOptions(memory_limit_bytes=1_000_000))
            with pytest.raises(DiagnosticError, match=r"the run needs \d+ bytes, the limit is 1000000") as error:
                executable.run({"x": np.zeros(1000, np.float32)})
            assert error.value.diagnostics[0].code is RUN_LIMIT_EXCEEDED


@ENGINES
def test_run_without_memory_is_refused_as_over_a_limit(engine: Engine) -> None:
    rows, columns = symbol("n"), symbol("m")
    types = {"a": tensor(f32, rows, 1), "b": tensor(f32, 1, columns)}
    executable = engine.prepare(program(core.matmul, types))
    # The outer product would be 2**50 elements; the operands take no memory, as all of their elements are one.
    a = np.broadcast_to(np.float32(1), (2**25, 1))
    with pytest.raises(DiagnosticError, match="there is not enough memory: unable to allocate") as error:
        executable.run({"a": a, "b": np.broadcast_to(np.float32(1), (1, 2**25))})
    assert error.value.diagnostics[0].code is RUN_LIMIT_EXCEEDED
