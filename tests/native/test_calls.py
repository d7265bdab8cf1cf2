"""Calls of functions on the native engine: compiled with the program that has them, against the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, boolean, f32, i32
from commonir.native.engine import ENGINE
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.numpy_engine.engine import ENGINE as NUMPY
from commonir.symbolic import Dim, symbol

from tests.native.regions import region
from tests.oracles import require_package
from tests.runtime.programs import program

require_package("llvmlite")

Array = NDArray[Any]

FLAG = TensorType(boolean, ())
COUNT = TensorType(i32, ())
N, M = symbol("n"), symbol("m")


def row(*dims: Dim) -> TensorType:
    return TensorType(f32, dims)


def normal(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def call(name: str, x: Value) -> Value:
    """Returns the result of a function, which has the type of the argument."""
    return core.call(name, (x.type,), (x,))[0]


def with_functions(module: Module, *others: Module) -> Module:
    """Returns a module with the functions of others too."""
    for other in others:
        function = other.body.first
        assert function is not None
        function.detach()
        module.body.append(function)
    return module


def twice() -> Module:
    return program(lambda x: core.add(core.exp(x), x), {"x": row(4)}, "twice")


def is_compiled_whole(module: Module, *runs: dict[str, Array]) -> bool:
    """Checks both engines against the interpreter; returns whether all of the program is one compiled step."""
    for engine in (NUMPY, ENGINE):
        executable = engine.prepare(module)
        for inputs in [*runs, *runs]:
            expected = REFERENCE.prepare(module).run(inputs)
            for name, actual in executable.run(inputs).items():
                np.testing.assert_allclose(actual, expected[name], rtol=1e-5, atol=1e-6)
    executable = ENGINE.prepare(module)
    return all(executable.only_graph(inputs) is not None for inputs in runs)


def test_calls_in_a_row_and_in_each_other() -> None:
    both = program(lambda x, y: (core.mul(call("twice", x), y), call("twice", y)), {"x": row(4), "y": row(4)}, "both")

    def build(x: Value) -> Sequence[Value]:
        a, b = core.call("both", (row(4), row(4)), (x, core.neg(x)))
        return a, call("twice", core.mul(a, b))

    assert is_compiled_whole(with_functions(program(build, {"x": row(4)}), twice(), both), {"x": normal(4)})


def test_calls_in_loops_and_branches_of_functions_with_loops() -> None:
    def count(n: Value, x: Value) -> Value:
        condition = core.nested([COUNT, row(4)], lambda k, _: (core.less(k, n),))
        body = core.nested([COUNT, row(4)], lambda k, v: (core.add(k, core.scalar(1, i32)), call("step", v)))
        return core.while_((core.scalar(0, i32), x), condition, body)[1]

    step = program(lambda x: core.sub(core.tanh(x), x), {"x": row(4)}, "step")
    counted = program(count, {"n": COUNT, "x": row(4)}, "counted")

    def build(c: Value, n: Value, x: Value, rows: Value) -> Sequence[Value]:
        then = region(lambda: core.call("counted", (row(4),), (n, x)), outside=[n, x])
        (y,) = core.if_(c, then, region(lambda: (call("step", x),), outside=[x]))
        body = core.nested([row(4), row(4)], lambda state, v: (call("step", core.add(state, v)), v))
        return core.scan((y,), (rows,), body)

    module = program(build, {"c": FLAG, "n": COUNT, "x": row(4), "rows": row(5, 4)})
    inputs = {"n": np.array(3, np.int32), "x": normal(4), "rows": normal(5, 4)}
    runs = [{"c": np.array(c), **inputs} for c in (True, False)]
    assert is_compiled_whole(with_functions(module, step, counted), *runs)


def test_each_call_of_a_function_has_its_own_sizes() -> None:
    def flat(x: Value) -> Sequence[Value]:
        return core.reshape(x, (N * M,)), core.reduce_sum(x, (0,))

    def build(x: Value, y: Value) -> Sequence[Value]:
        first = core.call("flat", (row(2 * M), row(M)), (x,))
        return *first, *core.call("flat", (row(N * 3), row(3)), (y,))

    module = program(build, {"x": row(2, M), "y": row(N, 3)})
    inputs = {"x": normal(2, 5), "y": normal(4, 3)}
    assert is_compiled_whole(with_functions(module, program(flat, {"x": row(N, M)}, "flat")), inputs)


@pytest.mark.parametrize("given", [(M,), (N + M,)])
def test_a_call_with_sizes_that_are_only_known_when_it_runs_is_not_inlined(given: tuple[Dim, ...]) -> None:
    inner = program(lambda x: core.add(x, x), {"x": row(4)}, "inner")
    inputs = {"a": row(N), "b": row(M), "x": row(*given)}
    module = program(lambda a, b, x: (a, b, *core.call("inner", (row(4),), (x,))), inputs)
    values = {"a": normal(1), "b": normal(4 if given == (M,) else 3), "x": normal(4)}
    assert not is_compiled_whole(with_functions(module, inner), values)


def halved(name: str, body: Callable[[Value], Value]) -> Module:
    """A function that computes something of a number and calls itself with half of it, until it is below one."""

    def build(x: Value) -> Value:
        small = core.less(x, core.scalar(1.0, f32))
        again = region(lambda: (body(call(name, core.mul(x, core.scalar(0.5, f32)))),), outside=[x])
        return core.if_(small, region(lambda: (x,), outside=[x]), again)[0]

    return program(build, {"x": row()}, name)


def test_functions_that_call_themselves_run_by_themselves() -> None:
    module = program(lambda x: core.exp(call("f", x)), {"x": row()})
    with_functions(module, halved("f", lambda y: core.add(y, y)))
    assert not is_compiled_whole(module, {"x": np.array(5.0, np.float32)})


def test_calls_that_stand_for_too_many_operations_stay() -> None:
    """Nine functions, each of which calls the next one ten times."""

    def ten(n: int) -> Module:
        def build(x: Value) -> Value:
            for _ in range(10):
                x = call(f"f{n + 1}", x) if n < 8 else core.neg(x)
            return x

        return program(build, {"x": row(4)}, f"f{n}")

    module = with_functions(program(lambda x: call("f0", x), {"x": row(4)}), *map(ten, range(9)))
    executable = ENGINE.prepare(module)
    assert executable.only_graph({"x": normal(4)}) is None


def test_calls_are_compiled_ahead_of_time(tmp_path: Path) -> None:
    cir.compile(with_functions(program(lambda x: call("twice", x), {"x": row(4)}), twice()), tmp_path / "net.so")
    x = normal(4)
    (y,) = cir.load_compiled(tmp_path / "net.so").run({"x": x}).values()
    np.testing.assert_allclose(y, np.exp(x) + x, rtol=1e-6)
