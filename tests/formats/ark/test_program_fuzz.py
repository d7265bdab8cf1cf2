"""With any change in the files of good programs of ranks, checking them ends soon, with findings or without."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import commonir as cir

from tests.formats.ark.model_files import Document, buffer, later, op, places, tensor
from tests.formats.ark.rank_programs import G, documents, part, recv, recv_packet, ring, send, send_packet, sync, write

VALUES: tuple[Any, ...] = (
    None, True, 0, 1, -1, 2, 3, 5, 8, 1 << 31, 1 << 40, 1 << 62, -(1 << 31), 0.5, "", "Send", "Recv", "FP16", "UINT8",
    [], [0], [1], [[0, 0]], [[1, 0]], [[-1, 1]], [[1, 1], [1, 2]], {},
)  # fmt: skip
SECONDS = 20
ANY_VALUE = 0.3


def _sums() -> list[Document]:
    return documents(
        [[*part(rank, 0), sync(rank, 2, 20), send(1 - rank, 7, 30), recv(1 - rank, 7, 40)] for rank in (0, 1)]
    )


def _packets() -> list[Document]:
    return documents([[send_packet(1 - r, r, 0), recv_packet(1 - r, 1 - r, 10), sync(r, 2, 20)] for r in (0, 1)])


def _in_place() -> list[Document]:
    """One rank: halves of a buffer in turn, each in its place, and views of them."""
    halves = [tensor(G, n, [2, 2], held=buffer(G, 0), strides=[2, 4], offsets=[0, 2 * n]) for n in (0, 1)]
    ops: list[Document] = []
    for n in range(8):
        written = later(halves[n % 2], 10 + n)
        ops.append(op("Add", [halves[0], halves[1]], [halves[n % 2]], [written]))
        halves[n % 2] = written
    view = tensor(G, 2, [16], "BYTE", held=buffer(G, 0))
    return documents([[*ops, op("Tensor", [halves[0]], [], [{**view, "Id": 30}], "", virtual=True)]])


PROGRAMS: dict[str, Callable[[], list[Document]]] = {
    "ring of two": lambda: documents(ring(2)),
    "ring of four": lambda: documents(ring(4)),
    "sums": _sums,
    "packets": _packets,
    "in place": _in_place,
}


def _everywhere(files: list[Document], number: int, field: str, value: object) -> None:
    """Changes a field of a buffer wherever it is mentioned, so that the document does not contradict itself."""
    for holder, key in places(files):
        if key == "Buffer" and holder[key]["Id"] == number:
            holder[key][field] = copy.deepcopy(value)


def _changed(document: list[Document], random: Random) -> list[Document]:
    files = copy.deepcopy(document)
    for _ in range(random.randint(1, 3)):
        kind = random.randrange(1, 6)
        file = random.choice(files)
        nodes = file["Nodes"]
        if kind == 1:
            pairs = [[random.randint(-1, 3), random.randint(0, 3)] for _ in range(random.randint(0, 2))]
            _everywhere([file], random.randint(0, 12), random.choice(("SendTags", "RecvTags")), pairs)
        elif kind == 2:
            _everywhere([file], random.randint(0, 12), "Rank", random.randint(-1, 4))
        elif kind == 3 and nodes:
            node = random.choice(nodes)
            for field in ("ProducerNodeIds", "ConsumerNodeIds"):
                node[field] = [random.randint(0, len(nodes)) for _ in range(random.randint(0, 3))]
        elif kind == 4 and len(nodes) > 1:
            # Another order of what nodes do.
            a, b = random.sample(range(len(nodes)), 2)
            nodes[a]["Op"], nodes[b]["Op"] = nodes[b]["Op"], nodes[a]["Op"]
        elif nodes:
            for tensors in ("WriteTensors", "ResultTensors"):
                for attributes in random.choice(nodes)["Op"][tensors]:
                    attributes["Strides"] = [2 * n for n in attributes["Strides"]]
    if random.random() < ANY_VALUE:
        holder, key = random.choice(places(files))
        holder[key] = random.choice(VALUES)
    return files


def _checked(paths: list[Path]) -> tuple[cir.Module | None, list[cir.Diagnostic]]:
    try:
        return cir.check(paths)
    except cir.DiagnosticError as error:
        # A file that does not begin like one of ARK.
        return None, list(error.diagnostics)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_changed_programs_are_checked_in_bounded_time(tmp_path: Path, name: str) -> None:
    assert len(_codes_of_changed_programs(tmp_path, name, 150)) > 5


def test_a_few_changed_programs_are_checked_in_bounded_time(tmp_path: Path) -> None:
    assert _codes_of_changed_programs(tmp_path, "sums", 10)


def _codes_of_changed_programs(tmp_path: Path, name: str, count: int) -> set[str]:
    """Returns the codes of what is found in some changed programs."""
    random = Random(name)
    result = PROGRAMS[name]()
    _, diagnostics = cir.check(write(tmp_path, result))
    assert not [d for d in diagnostics if d.is_error]
    seen: set[str] = set()
    start = time.process_time()
    for _ in range(count):
        module, diagnostics = _checked(write(tmp_path, _changed(result, random)))
        assert module is not None or any(d.is_error for d in diagnostics)
        assert all(d.file for d in diagnostics)
        seen |= {d.code.id for d in diagnostics}
        if module is not None:
            cir.verify(module)
    assert time.process_time() - start < SECONDS
    return seen
