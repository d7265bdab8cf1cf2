"""The `mpi` engine in one process, whose messages MPI gives back to it: what `test_mpi.py` does under `mpiexec`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.cli.main import main
from commonir.engines.mpi import transport as mpi_transport
from commonir.engines.mpi.processes import Processes, processes
from commonir.engines.mpi.transport import MpiTransport
from commonir.ir.types import ELEMENT_TYPES, tensor
from commonir.runtime.ranks.transport import Posted
from commonir.runtime.ranks.waiting import Key, Wait

from tests.oracles import report_missing, require_package
from tests.passes.rank_programs import program
from tests.runtime.ranks.programs import all_reduce_program, parsed

_TAG = 2**40
"""A tag that MPI does not take; a program has its own numbers for them."""

_X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(scope="module")
def alone() -> Processes:
    require_package("mpi4py")
    try:
        result = processes()
    except DiagnosticError:  # its library of MPI is missing
        report_missing("mpi4py")
    assert result.count == 1
    return result


@pytest.fixture
def transport(alone: Processes) -> MpiTransport:
    # Each with communicators of its own: a receive that is never served stays posted.
    return MpiTransport(Processes(alone.mpi), {None: 0, 7: 1, _TAG: 2}, None)


def _received(transport: MpiTransport, posted: Posted) -> np.ndarray[Any, Any]:
    return transport.wait(posted, Wait("core.recv", "rank0.operations[0] 'y'", posted.key))


@pytest.mark.parametrize("element", ["f32", "f16", "bf16", "i64", "i1"])
def test_message_has_the_bits_that_were_sent(element: str, transport: MpiTransport) -> None:
    dtype = {"f32": "f4", "f16": "f2", "bf16": ml_dtypes.bfloat16, "i64": "i8", "i1": "?"}[element]
    x = np.array([[0, 1, 2], [3, -4, 5]]).astype(dtype)
    transport.isend(0, 7, x)
    result = _received(transport, transport.post_recv(0, 7, tensor(ELEMENT_TYPES[element], 2, 3)))
    np.testing.assert_array_equal(result, x, strict=True)
    transport.finish()


def test_messages_are_taken_by_tag_and_within_a_tag_in_order(transport: MpiTransport) -> None:
    for tag, scale in ((7, 1), (_TAG, 10), (7, 2)):
        transport.isend(0, tag, _X * np.float32(scale))
    kind = tensor(ELEMENT_TYPES["f32"], 2, 3)
    for tag, scale in ((_TAG, 10), (7, 1), (7, 2)):
        np.testing.assert_array_equal(_received(transport, transport.post_recv(0, tag, kind)), _X * scale)
    transport.finish()


def test_message_that_nobody_takes_does_not_reach_the_next_run(alone: Processes) -> None:
    first, second = (MpiTransport(alone, {None: 0, 7: 1}, None) for _ in range(2))
    first.isend(0, 7, _X)
    first.finish()
    second.isend(0, 7, -_X)
    result = _received(second, second.post_recv(0, 7, tensor(ELEMENT_TYPES["f32"], 2, 3)))
    np.testing.assert_array_equal(result, -_X)
    second.finish()


@pytest.mark.parametrize(
    ("shape", "note"), [((3, 2), "sent: tensor<2x3xf32>"), ((2,), "")], ids=["other_shape", "larger"]
)
def test_message_of_another_type_is_refused(shape: tuple[int, ...], note: str, transport: MpiTransport) -> None:
    transport.isend(0, 7, _X)
    posted = transport.post_recv(0, 7, tensor(ELEMENT_TYPES["f32"], *shape))
    with pytest.raises(DiagnosticError) as caught:
        _received(transport, posted)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code.id == "E0708"
    assert diagnostic.message.startswith(f"core.recv: expected {posted.type} from rank 0, tag 7")
    assert note in diagnostic.notes[0]


def test_message_that_nobody_sends_is_a_deadlock(transport: MpiTransport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi_transport, "_PATIENCE_SECONDS", 0.0)
    with pytest.raises(DiagnosticError) as caught:
        _received(transport, transport.post_recv(0, 7, tensor(ELEMENT_TYPES["f32"], 2, 3)))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code.id == "E0717"
    assert transport.waits[0].key == Key(0, 0, 7)


@pytest.mark.usefixtures("alone")
def test_program_that_is_not_of_ranks_runs_as_without_mpi() -> None:
    module = parsed(all_reduce_program(1))
    (result,) = cir.run(module, {"x": _X[0, [0, 1, 2, 0]]}, engine="mpi").values()
    np.testing.assert_array_equal(result, np.array([0, 1, 2, 0], np.float32), strict=True)


@pytest.mark.usefixtures("alone")
def test_command_prints_the_answer_and_saves_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, saved = tmp_path / "program.mlir", tmp_path / "out.npz"
    model.write_text(all_reduce_program(1))
    arguments = ["run", str(model), "x=f32[4]:iota", "--engine", "mpi", "--save", str(saved), "--json"]
    assert main(arguments) == 0
    assert [o["name"] for o in json.loads(capsys.readouterr().out)["result"]["outputs"]] == ["y"]
    with np.load(saved) as stored:
        np.testing.assert_array_equal(stored["y"], np.arange(4, dtype=np.float32), strict=True)


@pytest.mark.usefixtures("alone")
def test_program_of_two_ranks_is_refused_in_one_process() -> None:
    with pytest.raises(DiagnosticError) as caught:
        cir.run(parsed(all_reduce_program(2)), {"x": _X}, engine="mpi")
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code.id, diagnostic.message) == ("E0709", "the program has 2 ranks, but MPI runs 1 process")
    assert diagnostic.help == "start one for each rank: `mpiexec -n 2 cir run MODEL --engine mpi`"


@pytest.mark.usefixtures("alone")
def test_program_that_fails_is_reported_with_its_place() -> None:
    lines = ["%no = arith.constant false", 'cf.assert %no, "it does not hold"', "%y = core.add %x, %x : tensor<4xf32>"]
    with pytest.raises(DiagnosticError) as caught:
        cir.run(parsed(program([lines])), {"x": _X[0, [0, 1, 2, 0]]}, engine="mpi")
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code.id, diagnostic.message, diagnostic.where) == (
        "E0716", "it does not hold", "rank0.operations[1] core.require",
    )  # fmt: skip
