"""Functions run piece by piece: the same values as in one run, and never more of them at once than are needed."""

from __future__ import annotations

import numpy as np
import pytest

import commonir as cir
from commonir.comparing.piecewise import PIECE_BYTES, PiecewiseRun
from commonir.dialects import core
from commonir.ir.data import data_of
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import boolean, f32, i64, tensor
from commonir.runtime.engine import Engines
from commonir.symbolic import symbol

from tests.conversions.programs import core_module
from tests.faults import model

NUMPY = Engines().get("numpy")
LONG = 50
SIZE = 8


def chain(length: int) -> Module:
    """x -> exp(-x) -> ..., `length` operations one after another."""

    def build(x: Value) -> Value:
        for n in range(length):
            x = core.neg(x) if n % 2 == 0 else core.exp(x)
            x.name = f"v{n}"
        return x

    return core_module(build, {"x": tensor(f32, SIZE)})


def started(module: Module, piece_bytes: int = PIECE_BYTES, **inputs: np.ndarray) -> PiecewiseRun:
    return PiecewiseRun(module, module.main, inputs, NUMPY, piece_bytes=piece_bytes)


def computed(module: Module) -> list[Value]:
    return [v for op in module.main.body.operations for v in op.results]


def test_values_of_a_chain_are_never_held_together() -> None:
    module = chain(LONG)
    run = started(module, 0, x=np.linspace(0, 1, SIZE, dtype=np.float32))
    got = [float(array[0]) for array in run.values(computed(module))]
    assert got[:3] == [0.0, 1.0, -1.0]
    assert len(got) == LONG
    # The operand of an operation and its result.
    assert run.peak.values == 2
    assert run.peak.size_bytes == 2 * SIZE * 4


def test_pieces_are_bounded_by_the_bytes_of_their_results() -> None:
    module = chain(LONG)
    run = started(module, 5 * SIZE * 4, x=np.zeros(SIZE, np.float32))
    list(run.values(computed(module)))
    assert run.peak.values == 6  # what comes in, and five results


def test_value_that_is_needed_late_is_the_only_one_kept() -> None:
    def build(x: Value) -> Value:
        early = core.exp(x)
        y = early
        for _ in range(LONG):
            y = core.neg(y)
        return core.add(y, early)

    module = core_module(build, {"x": tensor(f32, SIZE)})
    run = started(module, 0, x=np.zeros(SIZE, np.float32))
    (result,) = run.values([module.outputs[0]])
    assert result.tolist() == [2.0] * SIZE
    assert run.peak.values == 3


def test_nothing_runs_that_no_value_asked_for_needs() -> None:
    def build(x: Value) -> tuple[Value, Value]:
        return core.exp(x), core.gather(x, core.constant(data_of(i64, (1,), (9,))), axis=0)

    module = core_module(build, {"x": tensor(f32, 2)})
    run = started(module, x=np.zeros(2, np.float32))
    assert [a.tolist() for a in run.values([module.outputs[0]])] == [[1.0, 1.0]]


def test_values_are_given_in_the_order_asked_for() -> None:
    module = chain(3)
    values = computed(module)
    run = started(module, 0, x=np.ones(SIZE, np.float32))
    got = [float(a[0]) for a in run.values([values[2], values[0]])]
    assert got == pytest.approx([-np.exp(-1), -1.0])


def test_sizes_known_only_when_running_reach_later_pieces() -> None:
    n = symbol("n")

    def build(x: Value) -> Value:
        positions = core.non_zero(x)
        return core.add(positions, positions)

    module = core_module(build, {"x": tensor(f32, n)})
    run = started(module, 0, x=np.array([1, 0, 2, 0], np.float32))
    assert [a.tolist() for a in run.values(computed(module))] == [[[0], [2]], [[0], [4]]]


def test_loops_and_branches_are_single_steps() -> None:
    module = cir.lower(model("control_iOS15"))
    inputs = cir.random_inputs(module)
    expected = cir.run(module, inputs)
    outputs = module.main.outputs
    run = PiecewiseRun(module, module.main, inputs, NUMPY, piece_bytes=0)
    for name, array in zip(module.main.output_names, run.values(outputs), strict=True):
        np.testing.assert_array_equal(array, expected[name])


def test_inputs_are_checked_as_in_a_run() -> None:
    with pytest.raises(cir.DiagnosticError, match="E0702"):
        started(chain(1), y=np.zeros(SIZE, np.float32))


def test_boolean_constants_are_made_again_in_each_piece() -> None:
    def build(x: Value) -> Value:
        mask = core.constant(data_of(boolean, (2,), (True, False)))
        first = core.select(mask, x, core.neg(x))
        return core.select(mask, first, core.exp(first))

    module = core_module(build, {"x": tensor(f32, 2)})
    run = started(module, 0, x=np.array([3, 0], np.float32))
    assert [a.tolist() for a in run.values([module.outputs[0]])] == [[3.0, 1.0]]
