"""Programs of several ranks as documents of generation v3: what ranks send, receive and wait for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import commonir as cir

from tests.formats.ark.model_files import Document, buffer, document, later, op, tensor

G = "v3"
SIZE = 8


def send(
    other_rank: int, tag: int, number: int, *, shape: Sequence[int] = (SIZE,), data_type: str = "FP32"
) -> Document:
    """A tensor of a buffer of its own goes to a rank."""
    x = tensor(G, number, shape, data_type, held=buffer(G, number, send=[(other_rank, tag)]))
    proxy = tensor(G, number + 1, shape, data_type, held=buffer(G, number + 1, other_rank, recv=[(-1, tag)]))
    return op("Send", [x], [proxy], [later(proxy, number + 2)], f"send{number}")


def recv(
    other_rank: int, tag: int, number: int, *, shape: Sequence[int] = (SIZE,), data_type: str = "FP32"
) -> Document:
    """A tensor of a rank arrives in a buffer of its own."""
    proxy = tensor(G, number, shape, data_type, held=buffer(G, number, other_rank, send=[(-1, tag)]))
    y = tensor(G, number + 1, shape, data_type, held=buffer(G, number + 1, recv=[(other_rank, tag)]))
    return op("Recv", [proxy], [y], [later(y, number + 2)], f"recv{number}")


def send_packet(other_rank: int, tag: int, number: int, flag: int = 1) -> Document:
    """A tensor goes to a rank in packets."""
    x = tensor(G, number, [SIZE])
    proxy = tensor(G, number + 1, [8 * SIZE], "UINT8", held=buffer(G, number + 1, other_rank, recv=[(-1, tag)]))
    return op("SendPacket", [x], [proxy], [later(proxy, number + 2)], f"send{number}", Flag=("UINT32", flag))


def recv_packet(other_rank: int, tag: int, number: int, flag: int = 1) -> Document:
    """A tensor of a rank arrives in packets."""
    proxy = tensor(G, number, [SIZE], held=buffer(G, number, other_rank))
    scratch = tensor(G, number + 1, [8 * SIZE], "UINT8", held=buffer(G, number + 1, recv=[(other_rank, tag)]))
    y = tensor(G, number + 2, [SIZE])
    return op("RecvPacket", [proxy, scratch], [y], [later(y, number + 3)], f"recv{number}", Flag=("UINT32", flag))


def sync(rank: int, world: int, number: int) -> Document:
    """All ranks meet."""
    x = tensor(G, number, [1])
    numbers = {"PeerNum": ("INT", world - 1), "Rank": ("INT", rank)}
    return op("DeviceSync", [x], [x], [later(x, number + 1)], f"sync{number}", virtual=False, **numbers)


def part(rank: int, number: int) -> list[Document]:
    """One of two ranks gives the other one its half of a sum and adds what it gets, as ARK's all-reduce does: the
    sum of each goes to the other one.
    """
    other_rank = 1 - rank
    x = tensor(G, number, [SIZE], held=buffer(G, number, send=[(other_rank, 1)]))
    slot = tensor(G, number + 1, [SIZE], held=buffer(G, number + 1, other_rank, recv=[(-1, 1)]))
    scratch = tensor(G, number + 3, [SIZE], held=buffer(G, number + 3, recv=[(other_rank, 1)]))
    y = tensor(G, number + 4, [SIZE])
    proxy = tensor(G, number + 5, [SIZE], held=buffer(G, number + 5, other_rank, recv=[(-1, 2)]))
    args = {"NPeers": ("UINT32", 1), "Rank": ("INT", rank)}
    return [
        op("Send", [x], [slot], [later(slot, number + 2)]),
        op("RecvReduceSend", [x, scratch], [y, proxy], [later(y, number + 6)], "reduce", virtual=False, **args),
        recv(other_rank, 2, number + 7),
    ]


def ring(world: int) -> list[list[Document]]:
    """Each rank gives a tensor to the next one, takes one, and adds both."""
    out: list[list[Document]] = []
    for rank in range(world):
        after, before = (rank + 1) % world, (rank - 1) % world
        x = tensor(G, 0, [SIZE])
        y = tensor(G, 1, [SIZE], held=buffer(G, 1, send=[(after, rank)]))
        proxy = tensor(G, 3, [SIZE], held=buffer(G, 3, after, recv=[(-1, rank)]))
        source = tensor(G, 6, [SIZE], held=buffer(G, 6, before, send=[(-1, before)]))
        inbox = tensor(G, 7, [SIZE], held=buffer(G, 7, recv=[(before, before)]))
        total = tensor(G, 9, [SIZE])
        out.append(
            [
                op("ScalarMul", [x], [y], [later(y, 2)], "scale", Factor=("FLOAT", 0.5)),
                op("Send", [later(y, 2)], [proxy], [later(proxy, 4)], "send"),
                op("SendDone", [later(proxy, 4)], [], [later(proxy, 5)], "done"),
                op("Recv", [source], [inbox], [later(inbox, 8)], "recv"),
                op("Add", [later(y, 2), later(inbox, 8)], [total], [later(total, 10)], "add"),
            ]
        )
    return out


def documents(programs: Sequence[Sequence[Document]]) -> list[Document]:
    """The files of ranks that run these operations."""
    return [document(G, ops, None, n, len(programs)) for n, ops in enumerate(programs)]


def write(folder: Path, files: Sequence[Document], name: str = "net") -> list[Path]:
    """Writes files of ranks and gives their paths."""
    paths = [folder / f"{name}.rank{n}.json" for n in range(len(files))]
    for path, file in zip(paths, files, strict=True):
        path.write_text(json.dumps(file))
    return paths


def found_in(folder: Path, files: Sequence[Document]) -> list[tuple[str, str, str]]:
    """Returns what is found in files of ranks: code, file and place, and message."""
    paths = write(folder, files)
    _, diagnostics = cir.check(paths[0] if len(paths) > 1 else paths)
    return [(d.code.id, f"{Path(d.file or '').name}:{d.where}", d.message) for d in diagnostics]
