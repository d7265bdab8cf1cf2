"""In which order what communicates reaches a transport."""

from __future__ import annotations

import numpy as np
import pytest

from commonir.api import lower
from commonir.ir.types import TensorType
from commonir.runtime.engine import DEFAULT_OPTIONS, Engines
from commonir.runtime.ranks import communicator
from commonir.runtime.ranks.transport import Posted
from commonir.runtime.ranks.waiting import Key, Tag, Wait

from tests.passes.rank_programs import program, recv, send
from tests.runtime.ranks.programs import Array, parsed


class Recorder:
    """A transport that notes what it is asked for; every message holds ones."""

    rank, world_size = 0, 3

    def __init__(self) -> None:
        self.asked: list[str] = []

    def check(self) -> None:
        pass

    def isend(self, destination: int, tag: Tag, array: Array) -> None:
        self.asked.append(f"send {tag} to {destination}")

    def post_recv(self, source: int, tag: Tag, type: TensorType) -> Posted:
        self.asked.append(f"post {tag} of {source}")
        return Posted(Key(source, 0, tag), type)

    def wait(self, posted: Posted, wait: Wait) -> Array:
        self.asked.append(f"wait {posted.key.tag} of {posted.key.source}")
        return np.ones(posted.type.static_shape, np.float32)

    def barrier(self, wait: Wait) -> None:
        self.asked.append("barrier")


BODY = [
    send("%x", 1, 7),
    recv("%a", 2, 5),
    "core.barrier",
    recv("%b", 1, 6),
    "%c = core.all_reduce %b : tensor<4xf32>",
    "%d = core.add %a, %c : tensor<4xf32>",
    "%y = core.add %d, %x : tensor<4xf32>",
]

LOOP = [
    recv("%a", 1, 1),
    "%from = arith.constant 0 : index",
    "%to = arith.constant 2 : index",
    "%by = arith.constant 1 : index",
    "%y = scf.for %i = %from to %to step %by iter_args(%held = %a) -> (tensor<4xf32>) {",
    "  " + recv("%r", 1, 2),
    "  %next = core.add %held, %r : tensor<4xf32>",
    "  scf.yield %next : tensor<4xf32>",
    "}",
    recv("%z", 1, 3),
]


def asked(body: list[str], engine: str) -> list[str]:
    """Returns what rank 0 asks of a transport."""
    other = ["%y = core.add %x, %x : tensor<4xf32>"]

    module = lower(parsed(program([body, other, other])))
    recorder, of_rank = Recorder(), communicator.Communicator()
    options = DEFAULT_OPTIONS._replace(communicator=of_rank)
    executable = Engines().get(engine).prepare(module, "rank0", options)
    of_rank.begin(recorder, module.functions["rank0"])
    executable.run({"x": np.ones(4, np.float32)})
    return recorder.asked


@pytest.mark.parametrize("engine", ["numpy", "reference"])
def test_receives_are_posted_ahead_and_all_else_runs_in_order(engine: str) -> None:
    assert asked(BODY, engine) == [
        *["post 5 of 2", "post 6 of 1", "post None of 2", "post None of 1"],
        *["send 7 to 1", "wait 5 of 2", "barrier", "wait 6 of 1"],
        *["send None to 1", "send None to 2", "wait None of 2", "wait None of 1"],
    ]


def test_receives_are_posted_one_after_another_where_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(communicator, "AHEAD_BYTES", 1)
    assert asked(BODY, "numpy") == [
        *["post 5 of 2", "send 7 to 1", "post 6 of 1", "wait 5 of 2", "barrier"],
        *["post None of 2", "post None of 1", "wait 6 of 1"],
        *["send None to 1", "send None to 2", "wait None of 2", "wait None of 1"],
    ]


@pytest.mark.parametrize("engine", ["numpy", "reference"])
def test_receives_after_a_loop_with_receives_are_posted_when_they_are_reached(engine: str) -> None:
    assert asked(LOOP, engine) == [
        *["post 1 of 1", "wait 1 of 1"],
        *["post 2 of 1", "wait 2 of 1", "post 2 of 1", "wait 2 of 1"],
        *["post 3 of 1", "wait 3 of 1"],
    ]
