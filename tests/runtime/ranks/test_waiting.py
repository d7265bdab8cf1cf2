"""Deadlocks found from the waits, sends and receives of ranks; and random messages, none of which hangs."""

from __future__ import annotations

from collections import Counter, deque
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given as drawn_from
from hypothesis import settings
from hypothesis import strategies as st

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.runtime.ranks.waiting import Key, RankStatus, Wait, cycle_of, find_deadlock

from tests.passes.rank_programs import program, recv, send
from tests.runtime.ranks.programs import parsed


def waits(source: int, destination: int, tag: int = 0) -> Wait:
    return Wait("core.recv", f"rank{destination}.operations[0]", Key(source, destination, tag))


BARRIER = Wait("core.barrier", "operations[0]")


def test_message_on_its_way_is_not_a_deadlock() -> None:
    statuses = {
        0: RankStatus(waits(1, 0), {}, {}, 0),
        1: RankStatus(None, {Key(1, 0, 0): 1}, {}, 0),
    }
    assert find_deadlock(statuses, 2) is None


def test_message_that_was_taken_before_is_not_on_its_way() -> None:
    statuses = {
        0: RankStatus(waits(1, 0), {}, {Key(1, 0, 0): 1}, 0),
        1: RankStatus(None, {Key(1, 0, 0): 1}, {}, 0),
    }
    diagnostics = find_deadlock(statuses, 2)
    assert diagnostics is not None
    assert diagnostics.notes == ("rank 0 waits for rank 1, tag 0, which has ended: core.recv at rank0.operations[0]",)


def test_nothing_follows_before_all_ranks_have_reported() -> None:
    assert find_deadlock({0: RankStatus(waits(1, 0), {}, {}, 0)}, 2) is None


def test_barrier_that_all_have_reached_is_not_a_deadlock() -> None:
    statuses = {0: RankStatus(BARRIER, {}, {}, 1), 1: RankStatus(BARRIER, {}, {}, 1)}
    assert find_deadlock(statuses, 2) is None
    # One has passed it, and waits at the next.
    assert find_deadlock({**statuses, 1: RankStatus(BARRIER, {}, {}, 2)}, 2) is None


def test_barrier_and_receive_that_wait_for_each_other_are_a_circle() -> None:
    diagnostics = find_deadlock({0: RankStatus(BARRIER, {}, {}, 1), 1: RankStatus(waits(0, 1), {}, {}, 0)}, 2)
    assert diagnostics is not None
    assert diagnostics.notes[-1] == "cycle: rank 0 -> rank 1 -> rank 0"


def test_cycle_is_found_beside_ranks_that_wait_for_it() -> None:
    result = {0: waits(1, 0), 1: waits(2, 1), 2: waits(3, 2), 3: waits(2, 3), 4: waits(0, 4)}
    assert cycle_of(result, 6) == (2, 3)
    assert cycle_of({0: waits(1, 0), 1: waits(2, 1)}, 3) == ()


Step = tuple[str, int, int]


@st.composite
def _skeletons(draw: st.DrawFn) -> list[list[Step]]:
    """Returns what each rank does: sends and receives of other ranks under two tags, and barriers."""
    world = draw(st.integers(2, 4))
    step = st.tuples(st.sampled_from(["send", "send", "recv", "barrier"]), st.integers(0, 3), st.integers(0, 1))
    bodies = [draw(st.lists(step, max_size=6)) for _ in range(world)]
    return [[(kind, (rank + 1 + other) % world, tag) for kind, other, tag in body] for rank, body in enumerate(bodies)]


def _ends(bodies: list[list[Step]]) -> bool:
    """Returns whether all ranks come to their end: each goes on as far as it can, again and again."""
    left = [deque(body) for body in bodies]
    sent: Counter[tuple[int, int, int]] = Counter()
    moved = True
    while moved:
        moved = False
        for rank, body in enumerate(left):
            while body and body[0][0] != "barrier":
                kind, other, tag = body[0]
                key = (rank, other, tag) if kind == "send" else (other, rank, tag)
                if kind == "recv" and not sent[key]:
                    break
                sent[key] += 1 if kind == "send" else -1
                body.popleft()
                moved = True
        if all(body and body[0][0] == "barrier" for body in left):
            for body in left:
                body.popleft()
            moved = True
    return not any(left)


def _text(bodies: list[list[Step]]) -> str:
    out: list[list[str]] = []
    for body in bodies:
        lines: list[str] = []
        for n, (kind, other, tag) in enumerate(body):
            match kind:
                case "send":
                    lines.append(send("%x", other, tag))
                case "recv":
                    lines.append(recv(f"%r{n}", other, tag))
                case _:
                    lines.append("core.barrier")
        received = ["%x", *[f"%r{n}" for n, (kind, _, _) in enumerate(body) if kind == "recv"]]
        sums = [f"%s{n}" for n in range(len(received))]
        lines.append("%s0 = core.add %x, %x : tensor<4xf32>")
        lines += [
            f"{b} = core.add {a}, {r} : tensor<4xf32>" for (a, b), r in zip(pairwise(sums), received[1:], strict=True)
        ]
        lines.append(f"%y = core.add {sums[-1]}, %x : tensor<4xf32>")
        out.append(lines)
    return program(out)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["numpy", "reference"])
@drawn_from(bodies=_skeletons())
@settings(max_examples=60, deadline=None)
def test_random_messages_end_or_are_reported_as_a_deadlock(bodies: list[list[Step]], engine: str) -> None:
    module = parsed(_text(bodies))
    x = np.ones(4, np.float32)
    if _ends(bodies):
        outputs = cir.run(module, {"x": x}, engine=engine)
        for rank, body in enumerate(bodies):
            count = 3 + sum(kind == "recv" for kind, _, _ in body)
            np.testing.assert_array_equal(outputs[f"rank{rank}.y"], count * x)
        return
    with pytest.raises(DiagnosticError) as error:
        cir.run(module, {"x": x}, engine=engine)
    (reported,) = error.value.diagnostics
    assert reported.code.id == "E0717"
