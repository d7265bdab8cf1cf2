"""A model file that is read is written again byte for byte; files of several ranks are one program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import commonir as cir
from commonir.dialects import ark
from commonir.formats.ark.write import dumps
from commonir.ods import Dialects, verify

from tests.formats.ark.model_files import (
    LEVELS,
    Document,
    buffer,
    document,
    exchange,
    later,
    op,
    product,
    tensor,
    text,
)

GENERATIONS = tuple(LEVELS)


def _every_operation(generation: str) -> Document:
    """One operation of every type that all generations have and that one rank can run."""
    g = generation
    x, n, rows = tensor(g, 0, [2, 4]), tensor(g, 1, [2], "INT32"), tensor(g, 2, [6, 4])
    ops = [op("Tensor", [], [], [x], "", virtual=True)]
    number = 10

    def add(
        kind: str, reads: list[Document], shape: list[int], data_type: str = "FP32", **args: tuple[str, Any]
    ) -> None:
        nonlocal number
        written = tensor(g, number, shape, data_type)
        ops.append(op(kind, reads, [written], [later(written, number + 1)], None, virtual=False, **args))
        number += 2

    for kind in ("Add", "Sub", "Mul", "Div", "Rope"):
        add(kind, [x, x], [2, 4])
    for kind in ("Exp", "Sqrt", "Rsqrt", "Relu", "Sigmoid", "Gelu", "Copy"):
        add(kind, [x], [2, 4])
    add("Cast", [x], [2, 4], "BF16")
    add("ScalarAdd", [x], [2, 4], Factor=("FLOAT", -0.0))
    add("ScalarMul", [x], [3, 2, 4], Factor=("FLOAT", 1e30))
    add("ScalarAssign", [], [5], "INT8", Value=("FLOAT", 3.0))
    for kind in ("ReduceSum", "ReduceMax", "ReduceMean"):
        add(kind, [x], [2], Axis=("INT", 1), KeepDim=("BOOL", False))
    add("Transpose", [x], [4, 2], Permutation=("DIMS", [1, 0]))
    add("Embedding", [n, rows], [1, 1, 2, 4])
    ops.append(op("Noop", [x], [], []))
    return document(g, ops, [(0, i) for i in range(1, len(ops))])


def _program(content: bytes) -> cir.Module:
    return cir.loads(content, format="ark")


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("make", [product, _every_operation, lambda g: exchange(g, 1)])
def test_file_comes_back_byte_for_byte(generation: str, make: Callable[[str], Document]) -> None:
    content = text(make(generation), generation)
    module = _program(content)
    assert [str(d) for d in verify(module, Dialects())] == []
    assert cir.dumps(module) == content


def test_operations_of_the_third_generation_come_back() -> None:
    g = "v3"
    x, y = tensor(g, 0, [4]), tensor(g, 1, [4])
    packets = tensor(g, 2, [32], "UINT8", held=buffer(g, 2, 1, recv=[(-1, 3)]))
    source = tensor(g, 4, [4], held=buffer(g, 4, 1))
    scratch = tensor(g, 5, [32], "UINT8", held=buffer(g, 5, recv=[(1, 3)]))
    other_rank = tensor(g, 6, [4], held=buffer(g, 6, 1))
    ops = [
        op("SendPacket", [x], [packets], [later(packets, 3)], Flag=("UINT32", 4294967295)),
        op("RecvPacket", [source, scratch], [y], [later(y, 7)], Flag=("UINT32", 1)),
        op("DeviceSync", [x], [x], [later(x, 8)], PeerNum=("INT", 1), Rank=("INT", 0)),
        op("RecvReduceSend", [x, y], [x, other_rank], [later(x, 9)], NPeers=("UINT32", 1), Rank=("INT", 0)),
        op(
            "RecvReduceSendPacket",
            [x, scratch],
            [x, other_rank],
            [later(x, 10)],
            Flag=("UINT32", 2),
            NPeers=("UINT32", 1),
            Rank=("INT", 0),
        ),
    ]
    content = text(document(g, ops, world=2), g)
    module = _program(content)
    assert [str(d) for d in verify(module, Dialects())] == []
    assert cir.dumps(module) == content


def test_several_operations_of_a_node_and_order_of_edges_come_back() -> None:
    g = "v2"
    x, y, z = tensor(g, 0, [4]), tensor(g, 1, [4]), tensor(g, 3, [4])
    document_ = document(g, [op("Exp", [x], [y], [later(y, 2)]), op("Exp", [later(y, 2)], [z], [later(z, 4)])])
    document_["Nodes"][0]["Ops"].append(document_["Nodes"].pop()["Ops"][0])
    document_["Nodes"].append({**document_["Nodes"][0], "Id": 1, "ProducerNodeIds": [0, 0]})
    document_["Nodes"][1]["Ops"] = [op("Relu", [later(z, 4)], [x], [later(x, 5)])]
    document_["Nodes"][0]["ConsumerNodeIds"] = [1, 0]
    assert cir.dumps(_program(text(document_, g))) == text(document_, g)


def test_views_of_one_buffer_keep_strides_and_offsets() -> None:
    g = "v3"
    whole = buffer(g, 7)
    left = tensor(g, 0, [2, 2], held=whole, strides=[2, 4])
    right = tensor(g, 1, [2, 2], held=whole, strides=[2, 4], offsets=[0, 2])
    content = text(document(g, [op("Copy", [left], [right], [later(right, 2)])]), g)
    module = _program(content)
    copy = next(o for o in module.nested() if isinstance(o, ark.Copy))
    view = ark.view_of(copy.results[0])
    assert view is not None
    assert (view.buffer, view.strides, view.offsets) == (7, (2, 4), (0, 2))
    assert cir.dumps(module) == content


def test_file_without_nodes_comes_back() -> None:
    content = b'{\n  "Rank": 0,\n  "WorldSize": 1,\n  "Nodes": []\n}\n'
    assert cir.dumps(_program(content)) == content


def test_ranks_beside_a_file_are_read_and_written_together(tmp_path: Path) -> None:
    contents = [text(exchange("v3", rank), "v3") for rank in (0, 1)]
    for rank, content in enumerate(contents):
        (tmp_path / f"net.rank{rank}.json").write_bytes(content)
    module = cir.load(tmp_path / "net.rank1.json")
    assert list(module.symbols) == ["rank0", "rank1"]
    cir.save(module, tmp_path / "out.ark.json")
    assert [(tmp_path / f"out.rank{rank}.ark.json").read_bytes() for rank in (0, 1)] == contents
    assert not (tmp_path / "out.ark.json").exists()


def test_folder_of_files_is_a_program(tmp_path: Path) -> None:
    for rank in (0, 1):
        (tmp_path / f"model_gpu{rank}.json").write_bytes(text(exchange("v1", rank), "v1"))
    assert list(cir.load(tmp_path).symbols) == ["rank0", "rank1"]


def test_missing_rank_is_reported(tmp_path: Path) -> None:
    (tmp_path / "net.rank0.json").write_bytes(text(exchange("v3", 0), "v3"))
    module, diagnostics = cir.check(tmp_path / "net.rank0.json")
    assert [d.code.id for d in diagnostics] == ["E0277"]
    assert "'net.rank1.json'" in diagnostics[0].message
    assert module is not None
    assert list(module.symbols) == ["rank0"]


def test_text_form_comes_back_as_the_same_file() -> None:
    content = text(exchange("v2", 0), "v2")
    again = cir.loads(str(_program(content)).encode(), format="mlir")
    assert dumps(again) == content


@pytest.mark.parametrize("name", ["net.rank0.ark.json", "net.ark.json"])
def test_ranks_are_written_beside_the_first_one(name: str, tmp_path: Path) -> None:
    for rank in range(2):
        (tmp_path / f"a.rank{rank}.json").write_bytes(text(exchange("v3", rank), "v3"))
    (tmp_path / "out").mkdir()
    cir.save(cir.load(tmp_path / "a.rank1.json"), tmp_path / "out" / name)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["net.rank0.ark.json", "net.rank1.ark.json"]


def test_what_is_not_a_file_is_not_a_file_of_a_rank(tmp_path: Path) -> None:
    (tmp_path / "a.rank0.json").write_bytes(text(exchange("v3", 0), "v3"))
    (tmp_path / "a.rank1.json").mkdir()
    _, (diagnostic,) = cir.check(tmp_path / "a.rank0.json")
    assert "'a.rank1.json' is missing" in diagnostic.message
