"""The `mpi` engine under `mpiexec`: the same bits as in one process, and an end with a message whatever happens.

The fast tests of the same, in one process, are in `test_mpi_alone.py`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import commonir
from commonir.formats.ark.builder import Program

from tests.engines.mpi_programs import outputs_of
from tests.mpiexec import Ended, ended, run, started
from tests.passes.rank_programs import program
from tests.runtime.ranks.programs import FOREVER, all_reduce_program, all_reduced, deadlock_program, drawn

_SUM = "%y = core.all_reduce %x : tensor<4xf32>"
_FAILING = ["%no = arith.constant false", 'cf.assert %no, "it does not hold"', _SUM]


def cir(count: int, folder: Path, text: str, *arguments: str) -> Ended:
    """`cir run` of a program over MPI."""
    return run(count, cir_arguments(folder, text, *arguments))


def cir_arguments(folder: Path, text: str, *arguments: str) -> list[str]:
    path = folder / "program.mlir"
    path.write_text(text)
    return ["-m", "commonir", "run", str(path), "--engine", "mpi", *arguments]


def lines_of(text: str) -> list[str]:
    """Returns the findings, without what MPI adds when processes are ended."""
    return [line for line in text.splitlines() if line.startswith(("error[", "   = ", "  --> ", "interrupted"))]


@pytest.mark.slow
@pytest.mark.parametrize(("world", "engine"), [(2, "native"), (2, "numpy"), (4, "native"), (4, "reference")])
def test_programs_have_the_bits_of_a_run_in_one_process(
    world: int, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each rank runs with the engine that is the default.
    monkeypatch.setenv("COMMONIR_ENGINE", engine)
    done = run(world, ["-m", "tests.engines.mpi_programs", str(tmp_path / "out.npz")])
    assert done.status == 0, done.err
    expected = outputs_of(world, engine)
    with np.load(tmp_path / "out.npz") as stored:
        assert set(stored) == set(expected)
        for name, array in expected.items():
            np.testing.assert_array_equal(stored[name], array, strict=True, err_msg=name)


@pytest.mark.slow
def test_command_reports_the_answer_once_and_saves_it(tmp_path: Path) -> None:
    path = tmp_path / "out.npz"
    done = cir(4, tmp_path, all_reduce_program(4), "x=f32[4]:iota", "--save", str(path), "--json")
    assert done.status == 0, done.err
    outputs = json.loads(done.out)["result"]["outputs"]
    assert [o["name"] for o in outputs] == ["rank0.y", "rank1.y", "rank2.y", "rank3.y"]
    with np.load(path) as stored:
        np.testing.assert_array_equal(stored["rank3.y"], np.array([0, 4, 8, 12], np.float32), strict=True)


@pytest.mark.slow
@pytest.mark.parametrize("world", [2, 4])
def test_ark_files_of_ranks_run_with_the_bits_of_one_process(world: int, tmp_path: Path) -> None:
    result = Program(world_size=world)
    parts = [rank.op("Exp", rank.tensor((64,), "FP16", name="x")) for rank in result.ranks]
    for rank, total in zip(result.ranks, result.all_reduce(parts), strict=True):
        rank.output(total, "total")
    commonir.save(result.module(), tmp_path / "net.ark.json")
    tensors = drawn(world, (64,), np.float16)
    inputs = {f"rank{n}.x": x / 8 for n, x in enumerate(tensors)}
    np.savez(tmp_path / "in.npz", **inputs)  # pyright: ignore[reportArgumentType]  numpy states its options first
    arguments = ["-m", "commonir", "run", str(tmp_path / "net.rank0.ark.json"), f"@{tmp_path / 'in.npz'}"]
    done = run(world, [*arguments, "--engine", "mpi", "--save", str(tmp_path / "out.npz")])
    assert done.status == 0, done.err
    alone = commonir.run(result.module(), inputs)
    expected = all_reduced([np.exp(x.astype(np.float32)).astype(np.float16) for x in inputs.values()])
    with np.load(tmp_path / "out.npz") as stored:
        for n, total in enumerate(expected):
            name = f"rank{n}.total"
            np.testing.assert_array_equal(stored[name], alone[name], strict=True)
            np.testing.assert_allclose(stored[name].astype(np.float32), total.astype(np.float32), rtol=2e-3)


@pytest.mark.slow
def test_states_of_all_ranks_are_kept_and_steps_go_on(tmp_path: Path) -> None:
    body = """
      %held = ml_program.global_load @sum : tensor<4xf32>
      %a = core.add %held, %x : tensor<4xf32>
      %y = core.all_reduce %a : tensor<4xf32>
      ml_program.global_store @sum = %y : tensor<4xf32>"""
    text = program([[body], [body]]).replace(
        "module {", "module {\n  ml_program.global private mutable @sum(dense<0.0> : tensor<4xf32>) : tensor<4xf32>"
    )
    path = tmp_path / "states.npz"
    inputs = ("rank0.x=f32[4]:ones", "rank1.x=f32[4]:zeros", "--steps", "3")
    done = cir(2, tmp_path, text, *inputs, "--save-state", str(path), "--json")
    assert done.status == 0, done.err
    # 1, then 1 + 1 + 1, then 3 + 1 + 3.
    with np.load(path) as stored:
        assert {name: float(stored[name][0]) for name in stored} == {"rank0.sum": 7.0, "rank1.sum": 7.0}


@pytest.mark.slow
def test_deadlock_ends_all_and_names_the_circle(tmp_path: Path) -> None:
    done = cir(3, tmp_path, deadlock_program(3))
    assert done.status == 1
    assert done.seconds < 60
    assert lines_of(done.err) == [
        "error[E0717]: ranks 0, 1 and 2 wait for each other, and none can go on",
        f"  --> {tmp_path / 'program.mlir'}: rank0.operations[0] 'r'",
        "   = rank 0 waits for rank 1, tag 7: core.recv at rank0.operations[0] 'r'",
        "   = rank 1 waits for rank 2, tag 7: core.recv at rank1.operations[0] 'r'",
        "   = rank 2 waits for rank 0, tag 7: core.recv at rank2.operations[0] 'r'",
        "   = cycle: rank 0 -> rank 1 -> rank 2 -> rank 0",
        "   = help: `cir check` finds this without running, and says where in the files of the ranks",
    ]


@pytest.mark.slow
def test_barrier_that_a_rank_does_not_reach_ends_all(tmp_path: Path) -> None:
    body = ["core.barrier", "%y = core.add %x, %x : tensor<4xf32>"]
    done = cir(2, tmp_path, program([body, body[1:]]))
    assert done.status == 1
    waits = "   = rank 0 waits for rank 1, which has ended: core.barrier at rank0.operations[0] core.barrier"
    assert waits in lines_of(done.err)


@pytest.mark.slow
def test_rank_that_fails_ends_all_and_is_reported_once(tmp_path: Path) -> None:
    done = cir(3, tmp_path, program([[_SUM], [_SUM], _FAILING]))
    assert done.status == 1
    assert done.seconds < 60
    assert lines_of(done.err) == [
        "error[E0716]: it does not hold",
        f"  --> {tmp_path / 'program.mlir'}: rank2.operations[1] core.require",
        "   = reported by rank 2",
    ]


@pytest.mark.slow
def test_message_of_another_type_is_refused(tmp_path: Path) -> None:
    sends = "core.send %x {destination = 1, tag = 0} : (tensor<4xf32>) -> ()"
    takes = "%y = core.recv {source = 0, tag = 0, shape = [2, 2], element = f32} : tensor<2x2xf32>"
    bodies = [[sends, "%y = core.add %x, %x : tensor<4xf32>"], [takes.replace("%y", "%z"), sends.replace("%x", "%x")]]
    bodies[1][1] = "%y = core.add %x, %x : tensor<4xf32>"
    done = cir(2, tmp_path, program(bodies))
    assert done.status == 1
    assert "   = sent: tensor<4xf32>" in lines_of(done.err)


@pytest.mark.slow
def test_larger_message_is_refused(tmp_path: Path) -> None:
    sends = "core.send %x {destination = 1, tag = 0} : (tensor<4xf32>) -> ()"
    takes = "%z = core.recv {source = 0, tag = 0, shape = [2], element = f32} : tensor<2xf32>"
    add = "%y = core.add %x, %x : tensor<4xf32>"
    done = cir(2, tmp_path, program([[sends, add], [takes, add]]))
    assert done.status == 1
    assert lines_of(done.err)[0].startswith("error[E0708]: core.recv: expected tensor<2xf32> from rank 0, tag 0")


@pytest.mark.slow
def test_time_limit_ends_all_and_reports_who_waits(tmp_path: Path) -> None:
    done = cir(2, tmp_path, program([[_SUM], [*FOREVER, _SUM]]), "--time-limit", "3")
    assert done.status == 5
    assert done.seconds < 60
    assert lines_of(done.err) == [
        "error[E0711]: the time limit of the run has passed",
        "   = rank 0 waits for rank 1, an all-reduce: core.all_reduce at rank0.operations[0] 'y'",
        "   = rank 1 computes",
        "   = help: raise the limit, give smaller inputs, or try another engine",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_other_number_of_processes_than_ranks_is_refused(count: int, tmp_path: Path) -> None:
    done = cir(count, tmp_path, all_reduce_program(2))
    assert done.status == 4
    running = "1 process" if count == 1 else "3 processes"
    assert lines_of(done.err) == [
        f"error[E0709]: the program has 2 ranks, but MPI runs {running}",
        "   = help: start one for each rank: `mpiexec -n 2 cir run MODEL --engine mpi`",
    ]


@pytest.mark.slow
def test_program_that_cannot_be_opened_is_reported_once(tmp_path: Path) -> None:
    done = cir(2, tmp_path, "module {")
    assert done.status == 3
    assert len([line for line in done.err.splitlines() if line.startswith("error[")]) == 1


_WHEN_IT_WAITS = """\
import os, signal, sys, threading, time
from pathlib import Path
from commonir.cli.main import main
from commonir.engines.mpi.processes import Processes

set_activity = Processes.set_activity

def touching(self, what):
    set_activity(self, what)
    if what.startswith("waited"):
        Path(sys.argv[1]).touch()

Processes.set_activity = touching

def kill():
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[2] == "kill":
    from mpi4py import MPI

    if MPI.COMM_WORLD.Get_rank() == 1:
        threading.Thread(target=kill, daemon=True).start()
sys.exit(main(sys.argv[3:]))
"""
"""Touches a file when a rank waits; with `kill` rank 1 dies then."""


def waiting(folder: Path, what: str) -> list[str]:
    """Arguments that run a program of which rank 0 waits forever for rank 1, which computes."""
    script = folder / "waits.py"
    script.write_text(_WHEN_IT_WAITS)
    arguments = cir_arguments(folder, program([[_SUM], [*FOREVER, _SUM]]))
    return [str(script), str(folder / "waits"), what, *arguments[2:]]


@pytest.mark.slow
def test_killed_rank_ends_all_and_who_waited_is_reported(tmp_path: Path) -> None:
    done = run(2, waiting(tmp_path, "kill"))
    assert done.status != 0
    waited = "rank 1, an all-reduce: core.all_reduce at rank0.operations[0] 'y'"
    assert sorted(lines_of(done.err)) == [
        f"error[E0718]: the process of rank 0 ended while it waited for {waited}",
        "error[E0718]: the process of rank 1 ended while it ran",
    ]


@pytest.mark.slow
def test_fault_of_the_program_itself_ends_all(tmp_path: Path) -> None:
    fails = tmp_path / "fails.py"
    fails.write_text(
        "import sys\n"
        "import numpy as np\n"
        "import commonir as cir\n"
        "from mpi4py import MPI\n"
        "from commonir.runtime.kernel_graph.execution import GraphExecutable\n"
        "def broken(self, inputs):\n"
        "    raise ZeroDivisionError('a fault')\n"
        "if MPI.COMM_WORLD.Get_rank() == 1:\n"
        "    GraphExecutable.run = broken\n"
        "module = cir.load(sys.argv[1])\n"
        "cir.run(module, engine='mpi')\n"
    )
    path = tmp_path / "program.mlir"
    path.write_text(all_reduce_program(2))
    done = run(2, [str(fails), str(path)])
    assert done.status == 70
    assert done.seconds < 60
    assert "an internal error, not a fault of the input: ZeroDivisionError: a fault" in done.err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_interrupt_ends_all_at_once_and_reports_who_waits(tmp_path: Path) -> None:
    process = started(2, waiting(tmp_path, "wait"))
    while not (tmp_path / "waits").exists() and process.poll() is None:
        time.sleep(0.05)
    since = time.monotonic()
    # What Ctrl-C in a terminal does.
    os.killpg(process.pid, signal.SIGINT)
    done = ended(process, since)
    assert done.status != 0
    assert done.seconds < 60
    reported_lines = lines_of(done.err)
    assert reported_lines[0] == "interrupted"
    assert "   = rank 0 waits for rank 1, an all-reduce: core.all_reduce at rank0.operations[0] 'y'" in reported_lines


@pytest.mark.slow
def test_time_limit_of_rank_0_reports_who_waited_for_it(tmp_path: Path) -> None:
    done = cir(2, tmp_path, program([[*FOREVER, _SUM], [_SUM]]), "--time-limit", "3")
    assert done.status == 5
    assert lines_of(done.err) == [
        "error[E0711]: the time limit of the run has passed",
        "   = rank 0 computes",
        "   = rank 1 waits for rank 0, an all-reduce: core.all_reduce at rank1.operations[0] 'y'",
        "   = help: raise the limit, give smaller inputs, or try another engine",
    ]


@pytest.mark.slow
def test_rank_that_fails_while_rank_0_computes_is_reported_at_once(tmp_path: Path) -> None:
    done = cir(2, tmp_path, program([[*FOREVER, _SUM], _FAILING]))
    assert done.status == 1
    assert lines_of(done.err)[-1] == "   = reported by rank 1"


@pytest.mark.slow
def test_rank_speaks_for_itself_when_rank_0_does_not_answer(tmp_path: Path) -> None:
    sleeps = tmp_path / "sleeps.py"
    sleeps.write_text(
        "import sys, time\n"
        "from commonir.cli.main import main\n"
        "from mpi4py import MPI\n"
        "from commonir.runtime.kernel_graph.execution import GraphExecutable\n"
        "if MPI.COMM_WORLD.Get_rank() == 0:\n"
        "    GraphExecutable.run = lambda self, inputs: time.sleep(600)\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    done = run(2, [str(sleeps), *cir_arguments(tmp_path, program([[_SUM], _FAILING]))[2:]])
    assert done.status == 1
    assert done.seconds < 60
    assert lines_of(done.err)[:3] == [
        "error[E0716]: it does not hold",
        "  --> rank1.operations[1] core.require",
        "   = on rank 1",
    ]
