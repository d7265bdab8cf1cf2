"""Ranks that wait forever by the rules do so when they run, and no others."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import commonir as cir

from tests.formats.ark.model_files import Document
from tests.formats.ark.rank_programs import documents, recv, send, sync, write


def _program(random: Random) -> list[list[Document]]:
    """Messages between ranks whose ends stand anywhere, and meetings of all ranks; often ranks wait for each other."""
    world = random.randint(2, 4)
    ops: list[list[Document]] = [[] for _ in range(world)]

    def add(rank: int, document: Document) -> None:
        ops[rank].insert(random.randint(max(0, len(ops[rank]) - 2), len(ops[rank])), document)

    for n in range(random.randint(1, 6)):
        source, destination = random.sample(range(world), 2)
        add(source, send(destination, n, 100 * n))
        add(destination, recv(source, n, 100 * n + 50))
    if random.random() < 0.4:
        for rank in range(world):
            add(rank, sync(rank, world, 1000))
    return ops


def _ends(module: cir.Module) -> bool:
    """Returns whether all ranks end when they run."""
    try:
        cir.run(module, cir.random_inputs(module))
    except cir.DiagnosticError as error:
        assert [d.code.id for d in error.diagnostics] == ["E0717"]
        return False
    return True


@pytest.mark.parametrize("part", range(4))
def test_ranks_wait_forever_if_and_only_if_it_is_found(tmp_path: Path, part: int) -> None:
    seen: set[bool] = set()
    for seed in range(part * 20, part * 20 + 20):
        ops = _program(Random(seed))
        module, diagnostics = cir.check(write(tmp_path, documents(ops)))
        assert module is not None
        errors = {d.code.id for d in diagnostics if d.is_error}
        assert errors <= {"E0280"}
        ends = _ends(module)
        assert ends is not bool(errors), (seed, [str(d) for d in diagnostics])
        seen.add(ends)
    assert seen == {True, False}


def test_a_deadlock_names_the_operations_of_the_files(tmp_path: Path) -> None:
    ops = [[recv(1 - rank, 1 - rank, 0), send(1 - rank, rank, 100)] for rank in range(2)]
    module = cir.load(write(tmp_path, documents(ops)))
    with pytest.raises(cir.DiagnosticError) as caught:
        cir.run(module, cir.random_inputs(module))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.where == "rank0 'recv0'"
    assert diagnostic.notes[:2] == (
        "rank 0 waits for rank 1, tag 1: core.recv at rank0 'recv0'",
        "rank 1 waits for rank 0, tag 0: core.recv at rank1 'recv0'",
    )
