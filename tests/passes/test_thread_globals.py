"""Mutable globals as inputs and outputs, through branches and loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.attributes import DataAttr
from commonir.ir.data import data_of
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import FunctionType, f32, tensor
from commonir.passes.thread_globals import thread_globals

KIND = tensor(f32)
COUNT = ml_program.Global("count", KIND, DataAttr(data_of(f32, (), [0.0])), is_mutable=True)


def load(block: Block) -> Value:
    return block.append(ml_program.GlobalLoad.of(COUNT)).results[0]


def store(block: Block, value: Value) -> None:
    block.append(ml_program.GlobalStore.to(COUNT, value))


def added(block: Block, a: Value, number: float) -> Value:
    one = block.append(core.Constant(data_of(f32, (), [number]))).results[0]
    return block.append(core.Add(a, one)).results[0]


def finished(block: Block, *outputs: Value) -> Module:
    """A module with one function, from one number to numbers."""
    block.append(ml_program.Return(outputs))
    signature = FunctionType(tuple([a.type for a in block.arguments]), tuple([v.type for v in outputs]))
    result = Module()
    result.body.append(COUNT.clone_shallow((), ()))
    names = tuple([f"y{n}" for n in range(len(outputs))])
    result.body.append(ml_program.Func("main", signature, Region([block]), names))
    return result


def loop() -> Module:
    """Counts down from x to 0 and counts the rounds: y is the count before, z after, of all runs."""
    block = Block([KIND], ["x"])
    (x,) = block.arguments
    before = load(block)
    asked = Block([KIND])
    zero = asked.append(core.Constant(data_of(f32, (), [0.0]))).results[0]
    asked.append(core.Yield((asked.append(core.Greater(asked.arguments[0], zero)).results[0],)))
    rounds = Block([KIND])
    less = added(rounds, rounds.arguments[0], -1)
    store(rounds, added(rounds, load(rounds), 1))
    rounds.append(core.Yield((less,)))
    block.append(core.While((x,), Region([asked]), Region([rounds])))
    return finished(block, before, load(block))


def branch() -> Module:
    """Adds 1 to what is kept where x is positive; otherwise leaves it. y is what is kept."""
    block = Block([KIND], ["x"])
    (x,) = block.arguments
    zero = block.append(core.Constant(data_of(f32, (), [0.0]))).results[0]
    positive = block.append(core.Greater(x, zero)).results[0]
    then, orelse = Block(), Block()
    store(then, added(then, load(then), 1))
    then.append(core.Yield(()))
    orelse.append(core.Yield(()))
    block.append(core.If(positive, Region([then]), Region([orelse])))
    return finished(block, load(block))


@pytest.mark.parametrize("engine", ["reference", "numpy", "onnxruntime"])
def test_loop_that_stores_goes_on_with_what_it_stored(engine: str) -> None:
    module = loop()
    assert cir.verify(module) == []
    executable = cir.prepare(module, engine=engine)
    result = [executable.run({"x": np.array(n, np.float32)}) for n in (3, 0, 2)]
    assert [(float(out["y0"]), float(out["y1"])) for out in result] == [(0, 3), (3, 3), (3, 5)]


@pytest.mark.parametrize("engine", ["reference", "numpy", "onnxruntime"])
def test_branch_that_stores_is_one_of_two_ways(engine: str) -> None:
    executable = cir.prepare(branch(), engine=engine)
    assert [float(executable.run({"x": np.array(n, np.float32)})["y0"]) for n in (1, -1, 5)] == [1, 1, 2]


@pytest.mark.parametrize("build", [loop, branch])
def test_nothing_mutable_is_left(build: Callable[[], Module]) -> None:
    module = build()
    before = str(module)
    threaded, states = thread_globals(module)
    assert [(s.input, s.output) for s in states] == [("count", "count_out")]
    assert [v.name for v in threaded.main.inputs] == ["x", "count"]
    assert threaded.main.output_names[-1] == "count_out"
    assert not [op for op in threaded.main.walk() if isinstance(op, ml_program.GlobalLoad | ml_program.GlobalStore)]
    assert cir.verify(threaded) == []
    assert str(module) == before
    outputs = cir.run(threaded, {"x": np.array(2, np.float32), "count": np.array(10, np.float32)})
    assert float(outputs["count_out"]) == (12 if build is loop else 11)


def test_program_without_globals_is_left_alone() -> None:
    block = Block([KIND], ["x"])
    module = finished(block, added(block, block.arguments[0], 1))
    assert thread_globals(module) == (module, ())


def test_names_that_are_taken_are_not_used_again() -> None:
    block = Block([KIND, KIND], ["count", "count_2"])
    store(block, block.arguments[0])
    _, (state,) = thread_globals(finished(block, load(block)))
    assert (state.input, state.output) == ("count_3", "count_out")


def test_condition_that_stores_is_refused() -> None:
    module = loop()
    for op in module.main.walk():
        if isinstance(op, core.While):
            asked = op.condition.block
            first = asked.first
            assert first is not None
            asked.insert_before(first, ml_program.GlobalStore.to(COUNT, asked.arguments[0]))
    with pytest.raises(DiagnosticError, match="its condition replaces what the program keeps between runs"):
        thread_globals(module)
