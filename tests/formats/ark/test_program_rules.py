"""Errors between the ranks of a program are found, with their place, in finite time."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import commonir as cir
from commonir.api import programs_of
from commonir.cli.main import main

from tests.formats.ark.model_files import LEVELS, Document, buffer, exchange, later, op, tensor
from tests.formats.ark.rank_programs import (
    SIZE,
    G,
    documents,
    found_in,
    part,
    recv,
    recv_packet,
    ring,
    send,
    send_packet,
    sync,
    write,
)

Edit = Callable[[list[Document]], Any]
Found = list[tuple[str, str, str]]


def _found(folder: Path, *programs: Sequence[Document]) -> Found:
    return found_in(folder, documents(programs))


def _op(files: list[Document], rank: int, node: int) -> Document:
    return files[rank]["Nodes"][node]["Op"]


@pytest.mark.parametrize("world", [2, 3, 4])
def test_rings_have_no_findings(tmp_path: Path, world: int) -> None:
    assert _found(tmp_path, *ring(world)) == []


@pytest.mark.parametrize("generation", LEVELS)
def test_exchanges_have_no_findings(tmp_path: Path, generation: str) -> None:
    assert found_in(tmp_path, [exchange(generation, rank) for rank in (0, 1)]) == []


def test_packets_and_sums_of_ranks_have_no_findings(tmp_path: Path) -> None:
    packets = [[send_packet(1, 3, 0), recv_packet(1, 4, 10)], [send_packet(0, 4, 0), recv_packet(0, 3, 10)]]
    assert _found(tmp_path, *packets) == []
    assert _found(tmp_path, [*part(0, 0), sync(0, 2, 20)], [*part(1, 0), sync(1, 2, 20)]) == []


# -- who the ranks are


def test_ranks_of_different_numbers_of_ranks_are_found(tmp_path: Path) -> None:
    files = documents(ring(2))
    files[1]["WorldSize"] = 3
    assert ("E0277", "net.rank1.json:WorldSize", "rank 1 is of 3 ranks, but rank 0 of 2") in found_in(tmp_path, files)


def test_two_files_of_one_rank_are_found(tmp_path: Path) -> None:
    files = documents(ring(2))
    files[1]["Rank"] = 0
    diagnostics = found_in(tmp_path, files)
    assert [(code, where) for code, where, _ in diagnostics] == [("E0277", "net.rank1.json:Rank")]
    assert "rank 0 is that of another file of the program too" in diagnostics[0][2]


def test_ranks_that_are_not_there_are_reported_and_the_rest_is_checked(tmp_path: Path) -> None:
    paths = write(tmp_path, documents(ring(3)))
    module, diagnostics = cir.check(paths[:2])
    assert module is not None
    assert [(d.code.id, d.message) for d in diagnostics] == [
        ("E0277", "of 3 ranks, not all are there: rank 2 is missing")
    ]


def test_many_ranks_that_are_not_there_are_reported_at_once(tmp_path: Path) -> None:
    files = documents(ring(2))
    files[0]["WorldSize"] = 1 << 60
    paths = write(tmp_path, files[:1])
    _, diagnostics = cir.check(paths[0])
    names = ", ".join(f"'net.rank{n}.json'" for n in range(1, 6))
    message = f"of 1152921504606846976 ranks, not all are there: {names}, ... are missing"
    assert [d.message for d in diagnostics if d.code.id == "E0277"] == [message]


def test_names_of_ranks_may_have_zeros_in_front(tmp_path: Path) -> None:
    for n, path in enumerate(write(tmp_path, documents(ring(2)))):
        path.rename(tmp_path / f"net_rank0{n}.json")
    module, diagnostics = cir.check(tmp_path / "net_rank01.json")
    assert module is not None
    assert diagnostics == []
    assert list(module.symbols) == ["rank0", "rank1"]


# -- tags

SEND, RECV = 1, 3


def _tags(files: list[Document], rank: int, node: int, field: str, tensors: str, pairs: list[list[int]]) -> None:
    """Replaces the tags of the buffer of a tensor wherever it is mentioned."""
    expected = _op(files, rank, node)[tensors][0]["Buffer"]["Id"]
    for each in files[rank]["Nodes"]:
        for name in ("ReadTensors", "WriteTensors", "ResultTensors"):
            for stored in each["Op"][name]:
                if stored["Buffer"]["Id"] == expected:
                    stored["Buffer"][field] = pairs


def _move(files: list[Document], rank: int, node: int, tensors: str, to: int) -> None:
    expected = _op(files, rank, node)[tensors][0]["Buffer"]["Id"]
    for each in files[rank]["Nodes"]:
        for name in ("ReadTensors", "WriteTensors", "ResultTensors"):
            for stored in each["Op"][name]:
                if stored["Buffer"]["Id"] == expected:
                    stored["Buffer"]["Rank"] = to


TAGS: list[tuple[str, Edit, str, str, str]] = [
    (
        "rank that does not exist",
        lambda f: _move(f, 0, SEND, "WriteTensors", 7),
        "E0274",
        "net.rank0.json:Nodes[1].Op",
        "ark.Send: rank 7 does not exist, there are 2",
    ),
    (
        "rank that is the rank itself",
        lambda f: _move(f, 0, SEND, "WriteTensors", 0),
        "E0274",
        "net.rank0.json:Nodes[1].Op",
        "ark.Send: the proxy must stand for a buffer of another rank, found one of this rank, 0",
    ),
    (
        "source that is local",
        lambda f: _move(f, 1, RECV, "ReadTensors", -1),
        "E0274",
        "net.rank1.json:Nodes[3].Op",
        "ark.Recv: the proxy must stand for a buffer of another rank, found one of this rank, 1",
    ),
    (
        "tag of a rank that does not exist",
        lambda f: _tags(f, 0, SEND, "SendTags", "ReadTensors", [[1, 0], [5, 9]]),
        "E0274",
        "net.rank0.json:Nodes[0].Op.WriteTensors[0].Buffer.SendTags[1]",
        "rank 5, to which a tag of buffer 1 belongs, does not exist, there are 2",
    ),
    (
        "tag on one side of a rank only",
        lambda f: _tags(f, 0, SEND, "SendTags", "ReadTensors", [[1, 4]]),
        "E0275",
        "net.rank0.json:Nodes[1].Op",
        "ark.Send: what is sent to rank 1 has no tag on both sides",
    ),
    (
        "ambiguous tags",
        lambda f: (
            _tags(f, 0, SEND, "SendTags", "ReadTensors", [[1, 0], [1, 2]]),
            _tags(f, 0, SEND, "RecvTags", "WriteTensors", [[-1, 0], [-1, 2]]),
        ),
        "E0275",
        "net.rank0.json:Nodes[1].Op",
        "ark.Send: what is sent to rank 1 has the tags 0, 2, and one is needed",
    ),
    (
        "tag that the receiver does not have",
        lambda f: (
            _tags(f, 0, SEND, "SendTags", "ReadTensors", [[1, 4]]),
            _tags(f, 0, SEND, "RecvTags", "WriteTensors", [[-1, 4]]),
        ),
        "E0275",
        "net.rank0.json:Nodes[0].Op.WriteTensors[0].Buffer.SendTags[0]",
        "no buffer of rank 1 has [0, 4] in its 'RecvTags'",
    ),
    (
        "tag that the sender does not have",
        lambda f: (
            _tags(f, 0, RECV, "SendTags", "ReadTensors", [[-1, 6]]),
            _tags(f, 0, RECV, "RecvTags", "WriteTensors", [[1, 6]]),
        ),
        "E0275",
        "net.rank0.json:Nodes[3].Op.ReadTensors[0].Buffer.SendTags[0]",
        "no buffer of rank 1 has [0, 6] in its 'SendTags'",
    ),
]


@pytest.mark.parametrize(("edit", "code", "where", "message"), [c[1:] for c in TAGS], ids=[c[0] for c in TAGS])
def test_tags_and_ranks_that_do_not_fit_are_found(
    tmp_path: Path, edit: Edit, code: str, where: str, message: str
) -> None:
    files = documents(ring(2))
    edit(files)
    diagnostics = found_in(tmp_path, files)
    assert (code, where, message) in diagnostics
    assert {each[0] for each in diagnostics} <= {"E0274", "E0275"}


# -- messages


@pytest.mark.parametrize(
    ("sent", "received", "expected", "inputs"),
    [
        ({"shape": [4]}, {"shape": [8]}, "tensor<8xf32>", "tensor<4xf32>"),
        ({"data_type": "FP16"}, {"data_type": "FP32"}, "tensor<8xf32>", "tensor<8xf16>"),
    ],
)
def test_ends_of_a_message_must_agree(
    tmp_path: Path, sent: dict[str, Any], received: dict[str, Any], expected: str, inputs: str
) -> None:
    result = _found(tmp_path, [send(1, 3, 0, **sent)], [recv(0, 3, 0, **received)])
    message = f"ark.Recv: expected the data type and as many elements as {expected}, found {inputs}"
    assert result == [("E0281", "net.rank1.json:Nodes[0].Op", message)]


def test_messages_of_another_shape_of_the_same_memory_are_right(tmp_path: Path) -> None:
    assert _found(tmp_path, [send(1, 3, 0, shape=[8])], [recv(0, 3, 0, shape=[2, 4])]) == []


def test_flags_of_packets_must_be_the_same(tmp_path: Path) -> None:
    result = _found(tmp_path, [send_packet(1, 3, 0, 5)], [recv_packet(0, 3, 0, 6)])
    assert result == [("E0281", "net.rank1.json:Nodes[0].Op", "ark.RecvPacket: expected the flag 6, found 5")]


def test_packets_are_received_as_packets(tmp_path: Path) -> None:
    result = _found(tmp_path, [send_packet(1, 3, 0)], [recv(0, 3, 0, shape=[64], data_type="UINT8")])
    assert ("E0281", "net.rank1.json:Nodes[0].Op", "ark.Recv: packets are sent, but no packets are expected") in result


def _placed(files: list[Document], extent: int, offset: int) -> None:
    """Lets the sender see its tensor at another place of the receiver's buffer."""
    for holder in (*_op(files, 0, 0)["WriteTensors"], *_op(files, 0, 0)["ResultTensors"]):
        holder.update(Strides=[extent], Offsets=[offset])


def test_what_is_placed_outside_of_the_buffer_is_refused(tmp_path: Path) -> None:
    files = documents([[send(1, 3, 0)], [recv(0, 3, 0)]])
    _placed(files, 16, 8)
    message = "ark.Recv: bytes 32 to 64 are written to buffer 1, which has 32"
    assert found_in(tmp_path, files) == [("E0281", "net.rank1.json:Nodes[0].Op", message)]


def test_views_of_both_ends_that_differ_are_reported(tmp_path: Path) -> None:
    files = documents([[send(1, 3, 0)], [recv(0, 3, 0)]])
    _placed(files, 16, 8)
    for holder in (*_op(files, 1, 0)["WriteTensors"], *_op(files, 1, 0)["ResultTensors"]):
        holder.update(Strides=[16])
    message = "ark.Recv: expects [8] at [0] of [16], but it is put at [8] at [8] of [16]"
    assert found_in(tmp_path, files) == [("W0278", "net.rank1.json:Nodes[0].Op", message)]


# -- waiting


def _reported(folder: Path, *programs: Sequence[Document]) -> list[tuple[str, tuple[str, ...]]]:
    _, diagnostics = cir.check(write(folder, documents(programs)))
    assert {d.code.id for d in diagnostics} <= {"E0280"}
    return [(d.message, d.notes) for d in diagnostics]


def test_two_ranks_that_wait_for_each_other_are_named_with_their_places(tmp_path: Path) -> None:
    programs = [[recv(1, 5, 0), send(1, 6, 10)], [recv(0, 6, 0), send(0, 5, 10)]]
    assert _reported(tmp_path, *programs) == [
        (
            "ranks wait for each other: rank 0 -> rank 1 -> rank 0",
            (
                "rank 0 waits at node 0, ark.Recv 'recv0', for rank 1 to send with tag 5",
                "rank 1 waits at node 0, ark.Recv 'recv0', for rank 0 to send with tag 6",
            ),
        )
    ]


def test_a_cycle_of_ranks_is_reported_with_those_that_wait_behind_it(tmp_path: Path) -> None:
    programs = [
        [recv(2, 0, 0), send(1, 0, 10), send(3, 0, 20)],
        [recv(0, 0, 0), send(2, 0, 10)],
        [recv(1, 0, 0), send(0, 0, 10)],
        [recv(0, 0, 0)],
    ]
    (reported,) = _reported(tmp_path, *programs)
    assert reported[0] == "ranks wait for each other: rank 0 -> rank 2 -> rank 1 -> rank 0"
    assert [note.partition(" waits")[0] for note in reported[1]] == ["rank 0", "rank 2", "rank 1", "rank 3"]


def test_two_cycles_are_both_reported(tmp_path: Path) -> None:
    def program(rank: int) -> list[Document]:
        other_rank = rank ^ 1
        return [recv(other_rank, 0, 0), send(other_rank, 0, 10)]

    diagnostics = _reported(tmp_path, *[program(rank) for rank in range(4)])
    assert [message for message, _ in diagnostics] == [
        "ranks wait for each other: rank 0 -> rank 1 -> rank 0",
        "ranks wait for each other: rank 2 -> rank 3 -> rank 2",
    ]


def test_a_rank_that_waits_for_one_that_has_ended_is_reported(tmp_path: Path) -> None:
    diagnostics = _reported(tmp_path, [send(1, 0, 0)], [recv(0, 0, 0), recv(0, 0, 10)])
    assert [message for message, _ in diagnostics] == [
        "ark.Recv: rank 1 waits forever, rank 0 ends without sending with tag 0",
    ]


def test_a_rank_that_does_not_come_to_a_barrier_is_reported(tmp_path: Path) -> None:
    diagnostics = _reported(tmp_path, [sync(0, 2, 0), sync(0, 2, 10)], [sync(1, 2, 0)])
    assert [message for message, _ in diagnostics] == [
        "ark.DeviceSync: rank 0 waits forever, rank 1 ends without coming to it",
    ]


def test_a_sum_without_parts_is_reported(tmp_path: Path) -> None:
    without = [part(0, 0)[1:], part(1, 0)[1:]]
    for ops in without:
        ops[0]["ReadTensors"][0]["Buffer"]["SendTags"] = []
    result = _found(tmp_path, *without)
    assert {code for code, _, _ in result} == {"E0275"}
    late = [[part(rank, 0)[n] for n in (1, 2, 0)] for rank in (0, 1)]
    (reported,) = _reported(tmp_path, *late)
    assert reported[0] == "ranks wait for each other: rank 0 -> rank 1 -> rank 0"


def test_what_nobody_receives_is_reported(tmp_path: Path) -> None:
    inbox = tensor(G, 1, [SIZE], held=buffer(G, 1, recv=[(0, 3)]))
    noop = op("Noop", [inbox], [], [])
    message = "ark.Send: rank 1 does not receive what is sent to it with tag 3"
    assert _found(tmp_path, [send(1, 3, 0)], [noop]) == [("E0282", "net.rank0.json:Nodes[0].Op", message)]


def test_tags_that_are_received_in_another_order_are_reported(tmp_path: Path) -> None:
    message = "ark.Recv: receives tag 4 of rank 0, which has sent tag 3 before (rank 1)"
    result = _found(tmp_path, [send(1, 3, 0), send(1, 4, 10)], [recv(0, 4, 0), recv(0, 3, 10)])
    assert result == [("W0279", "net.rank1.json:Nodes[0].Op", message)]


def test_a_sum_of_more_ranks_than_there_can_be_ends(tmp_path: Path) -> None:
    files = documents([part(0, 0)])
    files[0]["WorldSize"] = 1 << 60
    paths = write(tmp_path, files, "one")
    _, diagnostics = cir.check(paths)
    assert any(d.is_error for d in diagnostics)


# -- which files are a program


def test_files_are_opened_together_and_nothing_beside_them(tmp_path: Path) -> None:
    files = documents(ring(2))
    paths = [tmp_path / "first.json", tmp_path / "second.json"]
    for path, written in zip(paths, write(tmp_path, files), strict=True):
        written.rename(path)
    assert list(cir.load(paths).symbols) == ["rank0", "rank1"]
    with pytest.raises(cir.DiagnosticError) as caught:
        cir.load([paths[0], paths[0]])
    assert [d.code.id for d in caught.value.diagnostics if d.is_error] == ["E0277"]


def test_a_folder_of_several_programs_is_refused_with_their_names(tmp_path: Path) -> None:
    write(tmp_path, documents(ring(2)), "a")
    write(tmp_path, documents(ring(2)), "b")
    (tmp_path / "config.json").write_text('{"layers": 4}')
    module, diagnostics = cir.check(tmp_path)
    assert module is None
    assert [(d.code.id, d.message) for d in diagnostics] == [
        ("E0277", "the folder has several programs: 'a.rank*.json', 'b.rank*.json'"),
    ]


def test_other_documents_of_a_folder_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, documents(ring(2)))
    (tmp_path / "config.json").write_text('{"layers": 4}')
    module, diagnostics = cir.check(tmp_path)
    assert module is not None
    assert diagnostics == []


def test_files_of_several_programs_are_put_together_by_their_names(tmp_path: Path) -> None:
    first, second = write(tmp_path, documents(ring(2)), "a"), write(tmp_path, documents(ring(2)), "b")
    text = tmp_path / "x.mlir"
    text.write_text("module {}")
    inputs = [first[0], second[1], text, first[1], second[0], tmp_path / "nothing"]
    assert [[Path(p).name for p in files] for files in programs_of(inputs)] == [
        ["a.rank0.json", "a.rank1.json"],
        ["b.rank1.json", "b.rank0.json"],
        ["x.mlir"],
        ["nothing"],
    ]


def test_one_name_in_several_folders_is_a_program_in_each(tmp_path: Path) -> None:
    inputs: list[Path] = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        inputs += write(tmp_path / name, documents(ring(2)))
    assert [len(files) for files in programs_of(inputs)] == [2, 2]
    assert [len(files) for files in programs_of([inputs[0], inputs[3]])] == [2]


def test_results_of_a_send_may_be_kept_and_passed_on(tmp_path: Path) -> None:
    first = send(1, 3, 0)
    done = op("SendDone", [later(first["WriteTensors"][0], 2)], [], [later(first["WriteTensors"][0], 5)])
    preserved = op("Noop", [later(first["WriteTensors"][0], 5)], [], [])
    assert _found(tmp_path, [first, done, preserved], [recv(0, 3, 0)]) == []


def test_check_takes_files_of_a_program_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    programs = [[recv(1, 5, 0), send(1, 6, 10)], [recv(0, 6, 0), send(0, 5, 10)]]
    paths = [str(path) for path in write(tmp_path, documents(programs))]
    good = [str(path) for path in write(tmp_path, documents(ring(2)), "good")]
    status = main(["check", good[1], paths[0], good[0], paths[1], "--json"])
    result = json.loads(capsys.readouterr().out)
    assert status == 1
    assert [(Path(f["file"]).name, f["ok"], f["errors"]) for f in result["result"]["files"]] == [
        ("good.rank1.json", True, 0),
        ("good.rank0.json", True, 0),
        ("net.rank0.json", False, 1),
        ("net.rank1.json", False, 0),
    ]
    assert [(d["code"], d["where"], len(d["notes"])) for d in result["diagnostics"]] == [("E0280", "Nodes[0].Op", 2)]
