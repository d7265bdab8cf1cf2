"""Documents of ARK's model files and their text, made as the format's description says, without the code under test.

Shapes and operations are those of small programs; numbers that are not whole have a short text that all writers share.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

Document = dict[str, Any]

LEVELS = {"v1": 6, "v2": 5, "v3": 4, "v4": 4}


def buffer(
    generation: str,
    number: int,
    rank: int = -1,
    send: Sequence[tuple[int, int]] = (),
    recv: Sequence[tuple[int, int]] = (),
) -> Document:
    external = {"IsExternal": False} if generation == "v4" else {}
    return {"Id": number, "Rank": rank, **external, "SendTags": [*map(list, send)], "RecvTags": [*map(list, recv)]}


def tensor(
    generation: str,
    number: int,
    shape: Sequence[int],
    data_type: str = "FP32",
    *,
    held: Document | None = None,
    strides: Sequence[int] | None = None,
    offsets: Sequence[int] | None = None,
) -> Document:
    """A tensor that is all of a buffer of its own number, unless a buffer and a view of it are given."""
    place = buffer(generation, number) if held is None else held
    view = {"Shape": [*shape], "Strides": [*(strides or shape)], "Offsets": [*(offsets or [0] * len(shape))]}
    head = {"Id": number, "DataType": data_type}
    if generation == "v1":
        return {**head, "Buffer": place, **view, "Pads": [1] * len(shape)}
    return {**head, **view, "PaddedShape": [*shape], "Buffer": place}


def later(inputs: Document, number: int) -> Document:
    """The tensor that an operation gives: the one that it writes under another number."""
    return {**inputs, "Id": number}


def op(
    kind: str,
    reads: Sequence[Document],
    writes: Sequence[Document],
    results: Sequence[Document],
    name: str | None = None,
    *,
    virtual: bool = False,
    **args: Any,
) -> Document:
    return {
        "Type": kind,
        "Name": kind.lower() if name is None else name,
        "IsVirtual": virtual,
        "ReadTensors": [*reads],
        "WriteTensors": [*writes],
        "ResultTensors": [*results],
        "Args": {key: {args[key][0]: args[key][1]} for key in sorted(args)},
    }


def document(
    generation: str,
    ops: Sequence[Document],
    edges: Sequence[tuple[int, int]] | None = None,
    rank: int = 0,
    world: int = 1,
) -> Document:
    """A program with one operation for each node; an edge is the numbers of a producer and of its consumer.

    Without edges, it has one for each tensor that a node mentions and another one gives.
    """
    edges = edges_of(ops) if edges is None else edges
    holder = {"v1": "Ops", "v2": "Ops"}.get(generation, "Op")
    nodes = [
        {
            "Id": n,
            "ProducerNodeIds": [a for a, b in edges if b == n],
            "ConsumerNodeIds": [b for a, b in edges if a == n],
            holder: [each] if holder == "Ops" else each,
        }
        for n, each in enumerate(ops)
    ]
    return {"Rank": rank, "WorldSize": world, "Nodes": nodes}


def edges_of(ops: Sequence[Document]) -> list[tuple[int, int]]:
    """An edge for each tensor that an operation mentions and another one gives."""
    givers = {t["Id"]: n for n, each in enumerate(ops) for t in each["ResultTensors"]}
    mentioned = [(t["Id"], n) for n, each in enumerate(ops) for t in (*each["ReadTensors"], *each["WriteTensors"])]
    return sorted({(givers[t], n) for t, n in mentioned if t in givers and givers[t] != n})


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in documents with each of its keys."""
    out: list[tuple[Any, Any]] = []
    pending: list[Any] = [value]
    while pending:
        at = pending.pop()
        keys = list(at) if isinstance(at, dict) else range(len(at)) if isinstance(at, list) else []
        out += [(at, key) for key in keys]
        pending += [at[key] for key in keys]
    return out


def text(value: Document, generation: str) -> bytes:
    """A document as ARK lays it out."""
    return (_expanded(value, LEVELS[generation], "") + "\n").encode()


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _expanded(value: Any, levels: int, margin: str) -> str:
    if not isinstance(value, dict | list) or not value:
        return _compact(value)
    inner = margin + "  "
    lines: list[str] = []
    for key, part in value.items() if isinstance(value, dict) else [(None, v) for v in value]:
        scalars = isinstance(part, list) and part and type(part[0]) in (int, float)
        is_flat = levels <= 0 or scalars or not isinstance(part, dict | list)
        shown = _compact(part) if is_flat else _expanded(part, levels - 1, inner)
        lines.append(f"{inner}{shown}" if key is None else f"{inner}{_compact(key)}: {shown}")
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return f"{opening}\n" + ",\n".join(lines) + f"\n{margin}{closing}"


def product(generation: str) -> Document:
    """One product of matrices, [2, 3] by [4, 3] transposed."""
    a, b, y = tensor(generation, 0, [2, 3]), tensor(generation, 1, [4, 3]), tensor(generation, 2, [2, 4])
    derived: Document = {
        "InputDimNC": ("DIMS", [1, 1]),
        "OtherDimNC": ("DIMS", [1, 1]),
        "ShapeMNK": ("DIMS", [2, 4, 3]),
        "StridesACDB": ("DIMS", [3, 4, 4, 3]),
    }
    flags: Document = {"TransposeInput": ("BOOL", False), "TransposeOther": ("BOOL", True)}
    args = flags | (derived if generation == "v1" else {})
    return document(generation, [op("Matmul", [a, b], [y], [later(y, 3)], "mm", **args)])


def exchange(generation: str, rank: int) -> Document:
    """Two ranks: each scales a vector, sends it to the other one and adds what it gets."""
    other_rank, own_tag, peer_tag = 1 - rank, -2147483648 + rank, -2147483648 + 1 - rank
    x = tensor(generation, 0, [8], "FP16")
    y = tensor(generation, 1, [8], "FP16", held=buffer(generation, 1, send=[(other_rank, own_tag)]))
    proxy = tensor(generation, 5, [8], "FP16", held=buffer(generation, 3, other_rank, recv=[(-1, own_tag)]))
    source = tensor(generation, 9, [8], "FP16", held=buffer(generation, 5, other_rank, send=[(-1, peer_tag)]))
    inbox = tensor(generation, 8, [8], "FP16", held=buffer(generation, 4, recv=[(other_rank, peer_tag)]))
    total = tensor(generation, 11, [8], "FP16")
    scaled = later(y, 2)
    ops = [
        op("ScalarMul", [x], [y], [scaled], "scale", Factor=("FLOAT", rank + 0.5)),
        op("Send", [scaled], [proxy], [later(proxy, 6)]),
        op("SendDone", [later(proxy, 6)], [], [later(proxy, 7)]),
        op("Recv", [source], [inbox], [later(inbox, 10)]),
        op("Add", [scaled, later(inbox, 10)], [total], [later(total, 12)], 'größe\t"a"/b'),
    ]
    return document(generation, ops, [(0, 1), (0, 4), (1, 2), (3, 4)], rank, 2)
