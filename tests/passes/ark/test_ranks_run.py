"""Every operation of ARK between ranks, run from files against numpy on bytes (`machine`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir

from tests.formats.ark import model_files as files
from tests.formats.ark.model_files import Document
from tests.passes.ark.building import Building
from tests.passes.ark.machine import DTYPES, World

Array = NDArray[Any]

GENERATIONS = ("v1", "v2", "v3", "v4")
LATE = ("v3", "v4")
FLOATS = ("FP32", "FP16", "BF16")


def drawn(tensor: Document, seed: int) -> Array:
    """Numbers of a type whose sums need rounding."""
    rng, dtype = np.random.default_rng(seed), DTYPES[tensor["DataType"]]
    if dtype.kind in "iu":
        return rng.integers(0, 100, tensor["Shape"]).astype(dtype)
    return rng.normal(size=tensor["Shape"]).astype(dtype)


def check(documents: Sequence[Document], generation: str, folder: Path) -> dict[str, Array]:
    """Runs the ranks of some documents by both engines, and compares all that they give with what bytes say."""
    for rank, document in enumerate(documents):
        (folder / f"program.rank{rank}.json").write_bytes(files.text(document, generation))
    module, findings = cir.check(folder / "program.rank0.json")
    assert module is not None, findings
    assert not [d for d in findings if d.is_error]
    world = World(*documents)
    inputs: dict[str, Array] = {}
    for rank, function in enumerate(module.functions.values()):
        tensors = world.ranks[rank].tensors
        arguments = {v.name: drawn(tensors[int(v.name[1:])], 10 * rank + n) for n, v in enumerate(function.inputs)}
        world.give(arguments, rank)
        inputs |= {f"rank{rank}.{name}": array for name, array in arguments.items()}
    world.run()
    results: dict[str, Array] = {}
    for engine in ("numpy", "reference"):
        results = cir.run(module, inputs, engine=engine)
        for name, array in results.items():
            rank, _, port = name.partition(".")
            expected = world.output(port, int(rank.removeprefix("rank")))
            assert array.dtype == expected.dtype
            np.testing.assert_array_equal(array, expected)
    return results


Tags = Callable[[int], Sequence[tuple[int, int]]]


def one_way(rank: int) -> Sequence[tuple[int, int]]:
    """The tag of a message from rank 0 to rank 1."""
    return [(1, 0)] if rank == 0 else []


def to_all(world: int, first: int) -> Tags:
    """Tags of messages to all others, one for each rank."""
    return lambda rank: [(n, first + rank) for n in range(world) if n != rank]


def exchange(
    generation: str, data_type: str, world: int, tags: Tags, send: Callable[[Building, int, Document], object]
) -> list[Document]:
    """Ranks that scale an input into a buffer with tags, and do with it what `send` does."""
    documents: list[Document] = []
    for rank in range(world):
        b = Building(generation, rank, world)
        x = b.tensor([2, 6], data_type)
        y = b.tensor([2, 6], data_type, b.buffer(send=tags(rank)))
        send(b, rank, b.op("ScalarMul", [x], [y], Factor=("FLOAT", rank + 2.0)))
        documents.append(b.document())
    return documents


def sends(b: Building, x: Document, rank: int, other_rank: int, tag: int) -> None:
    """A message of all of a tensor."""
    proxy = b.again(x, Buffer=b.buffer(other_rank, recv=[(-1, tag)]))
    b.op("SendDone", [b.op("Send", [x], [proxy])], [])


def receives(b: Building, like: Document, other_rank: int, tag: int) -> Document:
    """A message of all of a tensor, in a buffer of its own."""
    proxy = b.again(like, Buffer=b.buffer(other_rank, send=[(-1, tag)]))
    return b.op("Recv", [proxy], [b.again(like, Buffer=b.buffer(recv=[(other_rank, tag)]))])


@pytest.mark.fast_every(4)
@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("data_type", [*FLOATS, "INT32", "UINT8"])
@pytest.mark.parametrize("world", [2, 3, 4])
def test_ring_of_sends_and_sums(generation: str, data_type: str, world: int, tmp_path: Path) -> None:
    """An all-reduce as ARK writes it: each rank sends its own part to one after another, and adds what it gets."""

    def ring(b: Building, rank: int, x: Document) -> None:
        total = x
        for step in range(1, world):
            sends(b, x, rank, (rank + step) % world, rank)
            source = (rank - step) % world
            total = b.op("Add", [total, receives(b, x, source, source)], [b.tensor([2, 6], data_type)])

    diagnostics = check(exchange(generation, data_type, world, to_all(world, 0), ring), generation, tmp_path)
    assert len(diagnostics) == world


@pytest.mark.parametrize("generation", GENERATIONS)
def test_messages_of_one_tag_arrive_in_order(generation: str, tmp_path: Path) -> None:
    def twice(b: Building, rank: int, x: Document) -> None:
        if rank == 0:
            sends(b, x, 0, 1, 0)
            again = b.op("ScalarAdd", [x], [x], Factor=("FLOAT", 100.0))
            sends(b, again, 0, 1, 0)
        else:
            first, second = receives(b, x, 0, 0), receives(b, x, 0, 0)
            b.op("Sub", [second, first], [b.tensor([2, 6])])

    diagnostics = check(exchange(generation, "FP32", 2, one_way, twice), generation, tmp_path)
    assert any(np.allclose(a, 100) for a in diagnostics.values())


@pytest.mark.parametrize("generation", GENERATIONS)
def test_message_of_a_part_lands_where_the_receiver_has_its_tensor(generation: str, tmp_path: Path) -> None:
    """The stand-in has the sender's view, which says nothing of the memory of the receiver."""

    def part(b: Building, rank: int, x: Document) -> None:
        half = b.again(x, Shape=[1, 6], Offsets=[1, 0])
        if rank == 0:
            sends(b, half, 0, 1, 0)
        else:
            like = b.again(x, Shape=[1, 6], Strides=[1, 6], Offsets=[0, 0])
            b.op("Copy", [receives(b, like, 0, 0)], [b.tensor([1, 6])])

    check(exchange(generation, "FP32", 2, one_way, part), generation, tmp_path)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_sender_that_states_another_view_says_where_a_message_lands(generation: str, tmp_path: Path) -> None:
    def place(b: Building, rank: int, x: Document) -> None:
        if rank == 0:
            proxy = b.tensor([2, 6], held=b.buffer(1, recv=[(-1, 0)]), strides=[8, 6], offsets=[4, 0])
            b.op("SendDone", [b.op("Send", [x], [proxy])], [])
            return
        tensor = b.buffer(recv=[(0, 0)])
        proxy = b.tensor([2, 6], held=b.buffer(0, send=[(-1, 0)]))
        b.op("Recv", [proxy], [b.tensor([2, 6], held=tensor, strides=[8, 6], offsets=[4, 0])])
        b.op("Copy", [b.tensor([8, 6], held=tensor)], [b.tensor([8, 6])])

    diagnostics = check(exchange(generation, "FP32", 2, one_way, place), generation, tmp_path)
    (whole,) = [a for a in diagnostics.values() if a.shape == (8, 6)]
    assert not whole[:4].any()
    assert whole[4:6].all()


@pytest.mark.parametrize("generation", LATE)
@pytest.mark.parametrize("data_type", [*FLOATS, "INT32"])
def test_packets_carry_a_tensor(generation: str, data_type: str, tmp_path: Path) -> None:
    def packets(b: Building, rank: int, x: Document) -> None:
        size = 2 * 12 * DTYPES[data_type].itemsize
        flag: Document = {"Flag": ("UINT32", 7)}
        if rank == 0:
            b.op("SendPacket", [x], [b.tensor([size], "UINT8", b.buffer(1, recv=[(-1, 5)]))], **flag)
            return
        reads = [b.tensor([size], "UINT8", b.buffer(0)), b.tensor([size], "UINT8", b.buffer(recv=[(0, 5)]))]
        y = b.op("RecvPacket", reads, [b.tensor([2, 6], data_type)], **flag)
        b.op("Add", [x, y], [b.tensor([2, 6], data_type)])

    check(exchange(generation, data_type, 2, lambda rank: (), packets), generation, tmp_path)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_message_may_have_another_shape_where_it_is_received(generation: str, tmp_path: Path) -> None:
    def flat(b: Building, rank: int, x: Document) -> None:
        if rank == 0:
            proxy = b.tensor([12], held=b.buffer(1, recv=[(-1, 0)]))
            b.op("Send", [x], [proxy])
        else:
            b.op("Copy", [receives(b, b.tensor([3, 4]), 0, 0)], [b.tensor([3, 4])])

    document = exchange(generation, "FP32", 2, one_way, flat)
    check(document, generation, tmp_path)


@pytest.mark.parametrize("generation", LATE)
def test_parts_of_a_sum_may_be_sent_in_another_shape(generation: str, tmp_path: Path) -> None:
    def reduce(b: Building, rank: int, x: Document) -> None:
        other_rank = 1 - rank
        flat = b.again(x, Shape=[12], Strides=[12], Offsets=[0])
        b.op("Send", [flat], [b.tensor([12], held=b.buffer(other_rank, recv=[(-1, 10 + rank)]), strides=[12])])
        scratch = b.tensor([12], held=b.buffer(recv=[(other_rank, 10 + other_rank)]))
        y = b.tensor([2, 6], held=b.buffer(recv=[(other_rank, 20 + other_rank)]))
        there = b.tensor([2, 6], held=b.buffer(other_rank, recv=[(-1, 20 + rank)]))
        b.op("RecvReduceSend", [x, scratch], [y, there], NPeers=("UINT32", 1), Rank=("INT", rank))
        b.op("Recv", [b.again(y, Buffer=b.buffer(other_rank, send=[(-1, 20 + other_rank)]))], [y])

    check(exchange(generation, "FP32", 2, to_all(2, 10), reduce), generation, tmp_path)


def _sum_of_all(b: Building, rank: int, world: int, x: Document, *, as_packets: bool) -> None:
    """Each rank gives its part of the rows to all others, adds theirs, and sends the sum."""
    data_type, item = x["DataType"], DTYPES[x["DataType"]].itemsize
    other_ranks = [n for n in range(world) if n != rank]
    count = 12
    size = count * item
    scratch_bytes = (2 if as_packets else 1) * size * len(other_ranks)
    flag: Document = {"Flag": ("UINT32", 1)} if as_packets else {}
    slot_bytes = scratch_bytes // len(other_ranks)
    for other_rank in other_ranks:
        slot = [n for n in range(world) if n != other_rank].index(rank)
        tensor = b.buffer(other_rank, recv=[(-1, 10 + rank)])
        if as_packets:
            proxy = b.tensor([slot_bytes], "UINT8", tensor, [scratch_bytes], [slot * slot_bytes])
            b.op("SendPacket", [x], [proxy], **flag)
        else:
            proxy = b.tensor([2, 6], data_type, tensor, [2 * len(other_ranks), 6], [2 * slot, 0])
            b.op("Send", [x], [proxy])
    tensor = b.buffer(recv=[(n, 10 + n) for n in other_ranks])
    scratch = (
        b.tensor([scratch_bytes], "UINT8", tensor)
        if as_packets
        else b.tensor([2 * len(other_ranks), 6], data_type, tensor)
    )
    whole = b.buffer(recv=[(n, 20 + n) for n in other_ranks])
    strides = [2 * world, 6]
    own = b.tensor([2, 6], data_type, whole, strides, [2 * rank, 0])
    proxies = [
        b.tensor([2, 6], data_type, b.buffer(n, recv=[(-1, 20 + rank)]), strides, [2 * rank, 0]) for n in other_ranks
    ]
    if not as_packets:
        sync(b, rank, world)
    kind = "RecvReduceSendPacket" if as_packets else "RecvReduceSend"
    if as_packets:
        proxies = [b.tensor([2 * size], "UINT8", b.buffer(n, recv=[(-1, 20 + rank)])) for n in other_ranks]
    b.op(kind, [x, scratch], [own, *proxies], NPeers=("UINT32", len(other_ranks)), Rank=("INT", rank), **flag)
    for other_rank in other_ranks:
        there = b.tensor([2, 6], data_type, whole, strides, [2 * other_rank, 0])
        if as_packets:
            reads = [
                b.tensor([2 * size], "UINT8", b.buffer(other_rank)),
                b.tensor([2 * size], "UINT8", b.buffer(recv=[(other_rank, 20 + other_rank)])),
            ]
            b.op("RecvPacket", reads, [there], **flag)
        else:
            b.op("Recv", [b.again(there, Buffer=b.buffer(other_rank, send=[(-1, 20 + other_rank)]))], [there])
    if not as_packets:
        sync(b, rank, world)
    b.op("Copy", [b.tensor(strides, data_type, whole)], [b.tensor(strides, data_type)])


def sync(b: Building, rank: int, world: int) -> None:
    """A wait for all ranks."""
    x = b.tensor([1])
    b.op("DeviceSync", [x], [x], PeerNum=("INT", world - 1), Rank=("INT", rank))


@pytest.mark.fast_every(5)
@pytest.mark.parametrize("as_packets", [False, True], ids=["direct", "packets"])
@pytest.mark.parametrize("world", [2, 3, 4])
@pytest.mark.parametrize("data_type", [*FLOATS, "INT32"])
@pytest.mark.parametrize("generation", LATE)
def test_sums_of_all_ranks_are_sent_to_all(
    generation: str, data_type: str, world: int, as_packets: bool, tmp_path: Path
) -> None:
    def reduce(b: Building, rank: int, x: Document) -> None:
        _sum_of_all(b, rank, world, x, as_packets=as_packets)

    diagnostics = check(
        exchange(generation, data_type, world, (lambda rank: ()) if as_packets else to_all(world, 10), reduce),
        generation,
        tmp_path,
    )
    wholes = [a for a in diagnostics.values() if a.shape == (2 * world, 6)]
    assert len(wholes) == world
    assert all(np.array_equal(wholes[0][2 * n : 2 * n + 2], w[2 * n : 2 * n + 2]) for n in range(world) for w in wholes)


def test_rank_without_the_others_is_lowered(tmp_path: Path) -> None:
    """One file of several converts and shows, with what it receives where it expects it."""

    def ring(b: Building, rank: int, x: Document) -> None:
        sends(b, x, rank, 1 - rank, rank)
        b.op("Add", [x, receives(b, x, 1 - rank, 1 - rank)], [b.tensor([2, 6])])

    document = exchange("v3", "FP32", 2, to_all(2, 0), ring)[0]
    path = tmp_path / "program.rank0.json"
    path.write_bytes(files.text(document, "v3"))
    lowered = cir.lower(cir.load([path]))
    assert [op.name for op in lowered.functions["rank0"].body.operations] == [
        "core.constant", "core.mul", "core.send", "core.recv", "core.add", "ml_program.return",
    ]  # fmt: skip


def _ranks_alone(folder: Path) -> cir.Module:
    for rank in range(2):
        b = Building("v3", rank, 2)
        b.op("ScalarMul", [b.tensor([4])], [b.tensor([4])], Factor=("FLOAT", rank + 2.0))
        (folder / f"program.rank{rank}.json").write_bytes(files.text(b.document(), "v3"))
    return cir.load(folder / "program.rank0.json")


@pytest.mark.parametrize("target", ["onnx", "coreml", "common_ir"])
def test_ranks_are_converted_one_by_one_to_what_holds_one_program(target: str, tmp_path: Path) -> None:
    module = _ranks_alone(tmp_path)
    with pytest.raises(cir.DiagnosticError, match="a program of 2 ranks cannot be expressed in") as caught:
        cir.convert(module, target)
    assert "--function rank0" in (caught.value.diagnostics[0].help or "")
    outputs = cir.run(cir.convert(module, target, function="rank1"), {"t0": np.ones(4, np.float32)})
    assert [a.tolist() for a in outputs.values()] == [[3, 3, 3, 3]]
