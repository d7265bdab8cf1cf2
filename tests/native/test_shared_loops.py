"""Loops whose rounds threads go through together: the same bits as one thread, and runs that always end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f32, i64
from commonir.native import compiled_graph, shared_parts, steps_code
from commonir.native.kernels import work_units
from commonir.native.threads import team_code
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.symbolic import Dim, symbol

from tests.native.regions import region
from tests.native.test_random_control import random_control
from tests.native.test_threads import DelayedWorkers
from tests.native.threaded_programs import bits, in_threads, recurrent, sequence
from tests.oracles import require_package
from tests.runtime.programs import constant, program

require_package("llvmlite")

pytestmark = pytest.mark.usefixtures("_everything_shared")


@pytest.fixture(name="_everything_shared")
def _shares_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divides all work into as many blocks as threads take, in runs and loops of any cost."""
    monkeypatch.setattr(work_units, "BLOCK_COST", 1)
    monkeypatch.setattr(steps_code, "BLOCK_COST", 1)
    monkeypatch.setattr(shared_parts, "LOOP_SHARED_COST", 1)
    monkeypatch.setattr(compiled_graph, "SHARED_COST", 0)


@pytest.mark.parametrize("threads", [2, 3, 5])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_recurrent_layer_has_the_same_bits_in_several_threads(threads: int, *, is_reversed: bool) -> None:
    module = recurrent(symbol("n", 0), is_reversed=is_reversed)
    alone, together, reference = in_threads(module, 1), in_threads(module, threads), REFERENCE.prepare(module)
    for rounds in (0, 1, 2, 50):
        inputs = sequence(rounds)
        expected = alone.run(inputs)
        for _ in range(5):
            assert bits(together.run(inputs)) == bits(expected)
        for name, e in reference.run(inputs).items():
            np.testing.assert_allclose(expected[name], e, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("patience", [0, 1 << 40])
def test_blocks_are_done_by_others_at_once_or_never(monkeypatch: pytest.MonkeyPatch, patience: int) -> None:
    module = recurrent(20)
    expected = bits(in_threads(module, 1).run(sequence(20)))
    monkeypatch.setattr(team_code, "OWNER_PATIENCE", patience)
    together = in_threads(module, 3)
    for _ in range(50):
        assert bits(together.run(sequence(20))) == expected


@pytest.mark.fast_every(4)
@pytest.mark.parametrize("seed", range(12))
def test_random_nests_of_loops_have_the_same_bits_in_several_threads(seed: int) -> None:
    module = random_control(seed, sorts=False)
    alone, others = in_threads(module, 1), [in_threads(module, threads) for threads in (2, 3)]
    random = np.random.default_rng(seed)
    for length in (0, 1, 3, 2):
        shapes = {"x": (length, 4), "y": (length, 4), "h": (4,), "g": (4,)}
        inputs = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
        expected = bits(alone.run(inputs))
        for executable in others:
            assert bits(executable.run(inputs)) == expected


def test_workers_that_come_late_to_loops_do_no_harm() -> None:
    workers = DelayedWorkers()
    try:
        module = recurrent(20)
        together, expected = in_threads(module, 3, workers), bits(in_threads(module, 1).run(sequence(20)))
        for _ in range(100):
            assert bits(together.run(sequence(20))) == expected
    finally:
        workers.end()


def looked_up(rounds: Dim) -> Module:
    """Returns a loop that reads a row of a table at a position that is data in each round."""

    def build(table: Value, positions: Value, x: Value) -> Sequence[Value]:
        def body(state: Value, at: Value) -> Sequence[Value]:
            moved = core.add(core.matmul(state, constant(np.eye(48, dtype=np.float32))), core.gather(table, at, 0))
            return moved, moved

        types = x.type, TensorType(i64, (1,))
        return core.scan((x,), (positions,), region(body, *types, outside=[table]), False)

    types = {"table": TensorType(f32, (3, 48)), "positions": TensorType(i64, (rounds, 1))}
    return program(build, {**types, "x": TensorType(f32, (1, 48))})


def test_a_position_outside_of_a_tensor_ends_a_loop_in_several_threads() -> None:
    executable = in_threads(looked_up(9), 3)
    random = np.random.default_rng(0)
    table, x = random.standard_normal((3, 48)).astype(np.float32), random.standard_normal((1, 48)).astype(np.float32)
    positions = np.arange(9).reshape(9, 1) % 3
    for bad in (0, 4, 8):
        outside = positions.copy()
        outside[bad] = 3 + bad
        with pytest.raises(DiagnosticError, match=f"position {3 + bad} on axis 0 of .*, which has size 3"):
            executable.run({"table": table, "positions": outside, "x": x})
        last, rows = executable.run({"table": table, "positions": positions, "x": x}).values()
        sums = x + np.cumsum(table[positions[:, 0]], 0)
        np.testing.assert_allclose(rows[:, 0], sums, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(last, rows[-1])


INTERRUPTED = """
import os, signal, threading
from commonir.native import compiled_graph, shared_parts, steps_code
from commonir.native.kernels import work_units
work_units.BLOCK_COST = steps_code.BLOCK_COST = shared_parts.LOOP_SHARED_COST = 1
compiled_graph.SHARED_COST = 0
from tests.native.threaded_programs import bits, in_threads, recurrent, sequence
module = recurrent(200_000)
executable, inputs = in_threads(module, 2), sequence(200_000)
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    executable.run(inputs)
except KeyboardInterrupt:
    print("interrupted")
few = recurrent(20)
assert bits(in_threads(few, 2).run(sequence(20))) == bits(in_threads(few, 1).run(sequence(20)))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as POSIX has them")
def test_an_interrupt_ends_a_loop_in_several_threads() -> None:
    command = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(command, timeout=100, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")
