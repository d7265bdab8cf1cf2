"""Programs of ARK's ranks from documents, and the parts that tests make them of."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.formats.ark.read import loads
from commonir.ir.module import Module
from commonir.ods import Dialects

from tests.formats.ark import model_files as files

Document = files.Document
GENERATION = "v3"


def program(*ranks: Sequence[Document]) -> Module:
    """A program of the operations of each rank."""
    return together(*[files.document(GENERATION, ops, (), n, len(ranks)) for n, ops in enumerate(ranks)])


def together(*documents: Document, generation: str = GENERATION) -> Module:
    """The program of some documents, one for each rank."""
    module = Module()
    for document in documents:
        read, diagnostics = loads(files.text(document, generation), Dialects())
        assert read is not None, diagnostics
        for op in list(read.body.operations):
            op.detach()
            module.body.append(op)
    return module


def whole(number: int, size: int, buffer: int | None = None, data_type: str = "FP32") -> Document:
    """A vector that is all of a buffer, its own or another one."""
    tensor = files.buffer(GENERATION, number if buffer is None else buffer)
    return files.tensor(GENERATION, number, [size], data_type, held=tensor)


def copy(source: Document, to: Document, number: int, name: str | None = None) -> Document:
    """A copy; `number` is that of the tensor that it gives."""
    return files.op("Copy", [source], [to], [files.later(to, number)], name)


def add(a: Document, b: Document, to: Document, number: int, name: str | None = None) -> Document:
    """A sum; `number` is that of the tensor that it gives."""
    return files.op("Add", [a, b], [to], [files.later(to, number)], name)


def sent(x: Document, other_rank: int, tag: int, number: int, *, is_done: bool = True) -> list[Document]:
    """A send of a tensor, whose buffer must have the tag, and the wait for its end; uses numbers from `number` on."""
    tensor = files.buffer(GENERATION, number, other_rank, recv=[(-1, tag)])
    proxy = {**x, "Id": number, "Buffer": tensor}
    on_its_way = files.later(proxy, number + 1)
    send = files.op("Send", [x], [proxy], [on_its_way])
    done = files.op("SendDone", [on_its_way], [], [files.later(proxy, number + 2)])
    return [send, done] if is_done else [send]


def outgoing(number: int, size: int, pairs: Sequence[tuple[int, int]]) -> Document:
    """A vector of a buffer of its own that is sent; `pairs` are ranks and tags."""
    return files.tensor(GENERATION, number, [size], held=files.buffer(GENERATION, number, send=pairs))


def incoming(number: int, size: int, pairs: Sequence[tuple[int, int]]) -> Document:
    """A vector of a buffer of its own that is received."""
    return files.tensor(GENERATION, number, [size], held=files.buffer(GENERATION, number, recv=pairs))


def received(y: Document, other_rank: int, tag: int, number: int) -> Document:
    """A receive into a tensor, whose buffer must have the tag; uses numbers from `number` on."""
    tensor = files.buffer(GENERATION, number, other_rank, send=[(-1, tag)])
    return files.op("Recv", [{**y, "Id": number, "Buffer": tensor}], [y], [files.later(y, number + 1)])


def exchange(rank: int, size: int = 8) -> list[Document]:
    """Returns the program of one of two ranks: it sends a copy of its input, receives the other and adds both."""
    other_rank = 1 - rank
    x, y = whole(0, size), outgoing(1, size, [(other_rank, rank)])
    inbox, total = incoming(10, size, [(other_rank, other_rank)]), whole(20, size)
    return [
        copy(x, y, 2, "scale"),
        *sent(files.later(y, 2), other_rank, rank, 3),
        received(inbox, other_rank, other_rank, 12),
        add(files.later(y, 2), files.later(inbox, 13), total, 21, "total"),
    ]
