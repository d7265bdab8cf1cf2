"""Several threads in one run: the same bits as one thread, nothing outside of memory, and runs that always end."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import Event, Thread
from threading import enumerate as enumerate_threads
from time import sleep

import numpy as np
import pytest

from commonir import api
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir.types import TensorType, f32, i64
from commonir.llvm.compiler import host_target
from commonir.llvm.scalar_functions import NotCompiled
from commonir.native import compiled_graph, steps_code
from commonir.native.kernels import work_units
from commonir.native.threads import workers
from commonir.native.threads.sharing_choice import SharingChoice
from commonir.native.threads.workers import Workers
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.values import computed, declared
from commonir.symbolic import symbol

from tests.native.graphs import graph_of, run_guarded
from tests.native.test_operations import NAMES
from tests.native.threaded_programs import bits, in_threads, layers, operand, recurrent, sequence
from tests.oracles import require_package
from tests.runtime.interpreter.test_operations import close, drawn, module_of
from tests.runtime.programs import program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def _smallest_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divides all work into as many blocks as threads take."""
    monkeypatch.setattr(work_units, "BLOCK_COST", 1)
    monkeypatch.setattr(steps_code, "BLOCK_COST", 1)


@pytest.mark.usefixtures("_smallest_blocks")
@pytest.mark.fast_every(12)
@pytest.mark.parametrize("name", NAMES)
def test_operations_have_the_same_bits_in_several_threads(name: str) -> None:
    for n, c in enumerate(drawn(name)[:3]):
        module = module_of(c)
        graph = graph_of(module)
        if graph is None:
            continue
        inputs = dict(zip(graph.inputs, c.arrays.values(), strict=True))
        arrays = {n: computed(a, v.type) for (n, a), v in zip(inputs.items(), module.main.inputs, strict=True)}
        side = ("before", "after")[n % 2]
        try:
            alone = run_guarded(graph, host_target(), arrays, {}, side)
        except NotCompiled:
            continue
        expected = REFERENCE.prepare(module).run(c.arrays)
        for a, e, v in zip(alone, expected.values(), module.main.outputs, strict=True):
            close(declared(a, v.type), e)
        for threads in (2, 3, 5):
            actual = run_guarded(graph, host_target(), arrays, {}, side, threads)
            assert [a.tobytes() for a in actual] == [a.tobytes() for a in alone]


@pytest.fixture
def _always_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes runs of little work shared ones."""
    monkeypatch.setattr(compiled_graph, "SHARED_COST", 0)


@pytest.mark.usefixtures("_smallest_blocks", "_always_shared")
@pytest.mark.parametrize("threads", [2, 3, 5])
def test_runs_in_any_number_of_threads_have_the_same_bits(threads: int) -> None:
    module = layers()
    alone, together = in_threads(module, 1), in_threads(module, threads)
    for seed in range(20):
        assert bits(together.run(operand(seed))) == bits(alone.run(operand(seed)))


@pytest.mark.slow
@pytest.mark.usefixtures("_smallest_blocks", "_always_shared")
def test_a_network_has_the_same_bits_in_several_threads() -> None:
    module = api.lower(api.load(EXAMPLES / "transformer.onnx"))
    with np.load(EXAMPLES / "transformer_inputs.npz") as stored:
        inputs = dict(stored)
    expected = bits(in_threads(module, 1).run(inputs))
    for threads in (2, 3, 5):
        together = in_threads(module, threads)
        for _ in range(5):
            assert bits(together.run(inputs)) == expected


@pytest.mark.slow
@pytest.mark.usefixtures("_smallest_blocks", "_always_shared")
def test_executables_run_at_the_same_time_in_threads_of_python() -> None:
    workers = Workers()
    executables = [in_threads(layers(seed), 2, workers) for seed in range(3)]
    expected = [bits(in_threads(layers(seed), 1).run(operand(seed))) for seed in range(3)]
    wrong: list[int] = []

    def run(seed: int) -> None:
        wrong.extend(seed for _ in range(20) if bits(executables[seed].run(operand(seed))) != expected[seed])

    callers = [Thread(target=run, args=(seed,)) for seed in range(3)]
    for c in callers:
        c.start()
    for c in callers:
        c.join()
    assert wrong == []


def test_workers_end_with_those_who_use_them() -> None:
    before = set(enumerate_threads())
    workers = Workers()
    ran = Event()
    with workers.helping(2, ran.set) as count:
        assert count == 2
        assert ran.wait(10)
    started = set(enumerate_threads()) - before
    assert len(started) == 2
    del workers
    gc.collect()
    for thread in started:
        thread.join(10)
        assert not thread.is_alive()


class DelayedWorkers(Workers):
    """Workers that come at any time: in the run that wakes them, in a later one, or between two."""

    def __init__(self) -> None:
        super().__init__()
        self._functions: list[Callable[[], None]] = []
        self._ended = False
        self._threads = [Thread(target=self._hurry, args=(n,)) for n in range(3)]
        for t in self._threads:
            t.start()

    def _hurry(self, seed: int) -> None:
        random = Random(seed)
        while not self._ended:
            if self._functions:
                random.choice(self._functions[-2:])()
            sleep(random.choice((0, 0, 1e-5, 1e-4)))

    @contextmanager
    def helping(self, count: int, function: Callable[[], None]) -> Generator[int]:
        self._functions.append(function)
        yield count

    def end(self) -> None:
        self._ended = True
        for t in self._threads:
            t.join()


class CountedWorkers(Workers):
    """Workers that count the runs in which they are asked for help."""

    def __init__(self) -> None:
        super().__init__()
        self.runs = 0

    @contextmanager
    def helping(self, count: int, function: Callable[[], None]) -> Generator[int]:
        self.runs += 1
        with super().helping(count, function) as helpers:
            yield helpers


def test_runs_are_shared_for_the_cost_of_all_rounds_of_loops() -> None:
    workers = CountedWorkers()
    executable = in_threads(recurrent(symbol("n"), 256), 2, workers)
    for rounds, runs in ((2, 0), (100, 1), (2, 1)):
        executable.run(sequence(rounds, 256))
        assert workers.runs == runs


def test_rounds_of_little_cost_are_never_shared() -> None:
    workers = CountedWorkers()
    in_threads(recurrent(20_000), 2, workers).run(sequence(20_000))
    assert workers.runs == 0


@pytest.mark.usefixtures("_smallest_blocks", "_always_shared")
def test_workers_that_come_late_do_no_harm() -> None:
    workers = DelayedWorkers()
    try:
        module = layers()
        together, expected = in_threads(module, 3, workers), bits(in_threads(module, 1).run(operand()))
        for _ in range(100):
            assert bits(together.run(operand())) == expected
    finally:
        workers.end()


@pytest.mark.usefixtures("_smallest_blocks", "_always_shared")
def test_a_position_outside_of_a_tensor_is_an_error_in_several_threads() -> None:
    types = {"x": TensorType(f32, (3, 20)), "at": TensorType(i64, (40,))}
    executable = in_threads(program(lambda x, at: core.gather(x, at, 0), types), 3)
    x, inside = np.arange(60, dtype=np.float32).reshape(3, 20), np.arange(40) % 3
    for bad in (0, 17, 39):
        outside = inside.copy()
        outside[bad] = 3 + bad
        with pytest.raises(DiagnosticError, match=f"position {3 + bad} on axis 0 of .*, which has size 3"):
            executable.run({"x": x, "at": outside})
        (result,) = executable.run({"x": x, "at": inside}).values()
        np.testing.assert_array_equal(result, x[inside])


SHARED = """
import os, sys
from commonir.native import compiled_graph, steps_code
from commonir.native.kernels import work_units
from commonir.native.threads import workers
work_units.BLOCK_COST = steps_code.BLOCK_COST = 1
compiled_graph.SHARED_COST = 0
from tests.native.threaded_programs import bits, in_threads, layers, operand
"""

MANY_RUNS = """
executable = in_threads(layers(), 2)
expected = bits(in_threads(layers(), 1).run(operand()))
for _ in range(RUNS):
    assert bits(executable.run(operand())) == expected
"""

ONE_PROCESSOR = "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"

FORKED = """
executable = in_threads(layers(), 2)
expected = bits(executable.run(operand()))
for _ in range(3):
    child = os.fork()
    if child == 0:
        same = all(bits(executable.run(operand())) == expected for _ in range(20))
        os._exit(0 if same else 1)
    assert bits(executable.run(operand())) == expected
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(MANY_RUNS.replace("RUNS", "5000"), id="many_runs"),
        pytest.param(
            ONE_PROCESSOR + MANY_RUNS.replace("RUNS", "500"),
            id="one_processor",
            marks=pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="an affinity is set as Linux has it"),
        ),
        pytest.param(
            FORKED, id="forked", marks=pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
        ),
    ],
)
def test_a_process_with_threads_ends_in_time(script: str) -> None:
    command = [sys.executable, "-c", SHARED + script]
    done = subprocess.run(command, timeout=100, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_runs_are_made_alone_while_the_machine_is_busy() -> None:
    choice, shared = SharingChoice(), list[bool]()
    for n in range(400):
        is_busy = 100 <= n < 250
        shared.append(choice.is_shared)
        seconds = {(True, True): 5, (True, False): 1, (False, True): 3, (False, False): 2}[choice.is_shared, is_busy]
        choice.record(seconds, 0.5 * seconds if is_busy else seconds)
    assert all(shared[:100])
    assert shared[110:250].count(True) < 20
    assert all(shared[300:])


@pytest.mark.parametrize(("variable", "expected"), [("", 3), ("2", 2), ("8", 3), ("1,4", 1), ("none", 3), ("0", 1)])
def test_threads_are_as_many_as_processors_and_the_environment_permit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, expected: int
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", variable)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(4)), raising=False)
    limit = tmp_path / "cpu.max"
    limit.write_text("250000 100000\n")
    monkeypatch.setattr(workers, "_CPU_LIMIT", limit)
    assert workers.available_threads() == expected
