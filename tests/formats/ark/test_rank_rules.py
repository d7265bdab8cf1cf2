"""Errors in the nodes, tensors and memory of one rank are found, with their place."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import commonir as cir
from commonir import api
from commonir.dialects import ark

from tests.formats.ark.model_files import LEVELS, Document, buffer, document, later, op, product, tensor
from tests.formats.ark.rank_programs import G, found_in

Edit = Callable[[Document], Any]


def _chain(count: int = 3) -> Document:
    """Each node works on the result of the one before."""
    ops: list[Document] = []
    inputs = tensor(G, 0, [4])
    for n in range(count):
        y = tensor(G, 2 * n + 1, [4])
        ops.append(op("Exp", [inputs], [y], [later(y, 2 * n + 2)], f"exp{n}"))
        inputs = later(y, 2 * n + 2)
    return document(G, ops)


def _before(document: Document, node: int) -> list[int]:
    return document["Nodes"][node]["ProducerNodeIds"]


def _after(document: Document, node: int) -> list[int]:
    return document["Nodes"][node]["ConsumerNodeIds"]


def _connect(document: Document, first: int, second: int) -> None:
    _after(document, first).append(second)
    _before(document, second).append(first)


def _disconnect(document: Document, first: int, second: int) -> None:
    _after(document, first).remove(second)
    _before(document, second).remove(first)


@pytest.mark.parametrize("generation", LEVELS)
def test_good_programs_have_no_findings(tmp_path: Path, generation: str) -> None:
    assert found_in(tmp_path, [product(generation)]) == []
    assert found_in(tmp_path, [_chain(30)]) == []


GRAPH: list[tuple[str, Edit, list[tuple[str, str]]]] = [
    (
        "dangling producer",
        lambda m: _before(m, 1).append(9),
        [("Nodes[1].ProducerNodeIds[1]", "node 9 does not exist, there are 3 nodes")],
    ),
    (
        "dangling consumer",
        lambda m: _after(m, 2).append(3),
        [("Nodes[2].ConsumerNodeIds[0]", "node 3 does not exist, there are 3 nodes")],
    ),
    (
        "edge to itself",
        lambda m: _connect(m, 1, 1),
        [
            ("Nodes[1].ProducerNodeIds[1]", "node 1 comes after itself"),
            ("Nodes[1].ConsumerNodeIds[1]", "node 1 comes after itself"),
        ],
    ),
    (
        "edge stated by the consumer only",
        lambda m: _before(m, 2).append(0),
        [("Nodes[2].ProducerNodeIds[1]", "the edge to node 0 is stated on this side only")],
    ),
    (
        "edge stated by the producer only",
        lambda m: _after(m, 0).append(2),
        [("Nodes[0].ConsumerNodeIds[1]", "the edge to node 2 is stated on this side only")],
    ),
    (
        "cycle",
        lambda m: _connect(m, 2, 0),
        [("Nodes[0].ProducerNodeIds[0]", "nodes come after each other in a cycle: 0 -> 1 -> 2 -> 0")],
    ),
    (
        "missing edge",
        lambda m: _disconnect(m, 0, 1),
        [("Nodes[1].Op.ReadTensors[0]", "tensor 2 is given by node 0, without an edge from there")],
    ),
]


@pytest.mark.parametrize(("edit", "expected"), [c[1:] for c in GRAPH], ids=[c[0] for c in GRAPH])
def test_edges_that_do_not_fit_are_found(tmp_path: Path, edit: Edit, expected: list[tuple[str, str]]) -> None:
    result = _chain()
    edit(result)
    diagnostics = [f for f in found_in(tmp_path, [result]) if f[0] != "W0277"]
    assert diagnostics == [("E0276", f"net.rank0.json:{where}", message) for where, message in expected]


def test_a_node_before_one_that_it_comes_after_is_found(tmp_path: Path) -> None:
    x, y = tensor(G, 0, [4]), tensor(G, 2, [4])
    document_ = document(G, [op("Exp", [x], [tensor(G, 1, [4])], [tensor(G, 4, [4], held=buffer(G, 1))]),
                        op("Exp", [y], [tensor(G, 3, [4])], [tensor(G, 5, [4], held=buffer(G, 3))])])  # fmt: skip
    _connect(document_, 1, 0)
    where = "net.rank0.json:Nodes[0].ProducerNodeIds[0]"
    assert found_in(tmp_path, [document_]) == [("E0276", where, "node 0 comes after node 1, which stands behind it")]


def test_a_tensor_that_is_used_before_it_is_given_is_found(tmp_path: Path) -> None:
    result = _chain(2)
    result["Nodes"] = result["Nodes"][::-1]
    for n, node in enumerate(result["Nodes"]):
        node.update(Id=n, ProducerNodeIds=[], ConsumerNodeIds=[])
    diagnostics = found_in(tmp_path, [result])
    message = "tensor 2 is used before node 1, 'exp0', gives it"
    assert ("E0276", "net.rank0.json:Nodes[0].Op.ReadTensors[0]", message) in diagnostics


@pytest.mark.slow
def test_cycles_of_many_nodes_are_shortened_and_reported_once(tmp_path: Path) -> None:
    result = _chain(1500)
    _connect(result, 1499, 0)
    _connect(result, 1200, 700)
    diagnostics = found_in(tmp_path, [result])
    assert [f[2] for f in diagnostics] == [
        "nodes come after each other in a cycle: 0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> ... -> 0"
    ]


def test_nodes_of_a_program_that_is_not_a_file_are_checked_too() -> None:
    result = cir.loads(_text(_chain()), format="ark")
    rank = next(op for op in result.body.operations if isinstance(op, ark.Rank))
    assert cir.verify(result) == []
    changed = ark.Rank("rank0", 0, 1, "v3", ((), (0,)), ((1,), ()), rank.content)
    result.body.append(changed)
    rank.detach()
    assert [(d.code.id, d.message) for d in cir.verify(result)] == [
        ("E0276", "ark.Exp: the operation is of no node: 2"),
    ]


def _text(document: Document) -> str:
    return json.dumps(document)


# -- tensors


def test_a_view_of_another_data_type_must_consist_of_whole_elements(tmp_path: Path) -> None:
    x = tensor(G, 0, [4])
    good = tensor(G, 1, [8], "BYTE", held=buffer(G, 0))
    out = tensor(G, 2, [8], "BYTE")
    relu = tensor(G, 4, [4])
    ops = [op("Exp", [x], [relu], [later(relu, 5)]), op("Copy", [good], [out], [later(out, 3)])]
    assert found_in(tmp_path, [document(G, ops)]) == []
    part = tensor(G, 1, [2], "BYTE", held=buffer(G, 0), strides=[8], offsets=[3])
    ops[1] = op("Copy", [part], [tensor(G, 2, [2], "BYTE")], [later(tensor(G, 2, [2], "BYTE"), 3)])
    assert found_in(tmp_path, [document(G, ops)]) == []
    bad = tensor(G, 1, [6], "BYTE", held=buffer(G, 0))
    ops[1] = op("Copy", [bad], [tensor(G, 2, [6], "BYTE")], [later(tensor(G, 2, [6], "BYTE"), 3)])
    message = "buffer 0 holds FP32 too, of 4 bytes each, but as an array of BYTE it has 6 bytes"
    where = "net.rank0.json:Nodes[1].Op.ReadTensors[0].Strides"
    assert found_in(tmp_path, [document(G, ops)]) == [("E0273", where, message)]


def test_a_view_must_not_need_more_memory_than_what_it_is_a_view_of(tmp_path: Path) -> None:
    x = tensor(G, 0, [4])
    view = tensor(G, 1, [8], held=buffer(G, 0))
    ops = [
        op("Tensor", [], [], [x], "x", virtual=True),
        op("Tensor", [x], [], [view], "view", virtual=True),
        op("Noop", [view], [], []),
    ]
    where = "net.rank0.json:Nodes[1].Op.ResultTensors[0].Strides"
    message = "the view spans 32 bytes, but what it is a view of has only 16"
    assert found_in(tmp_path, [document(G, ops)]) == [("E0273", where, message)]


def _padded(document: Document, tensors: str, index: int, shape: list[int]) -> None:
    for holder in [document["Nodes"][0]["Op"][tensors][index]] + (
        document["Nodes"][0]["Op"]["ResultTensors"] if tensors == "WriteTensors" else []
    ):
        holder.update(PaddedShape=shape, Strides=shape)


def test_products_must_fit_with_their_padding_too(tmp_path: Path) -> None:
    result = product(G)
    _padded(result, "ReadTensors", 0, [4, 8])
    _padded(result, "ReadTensors", 1, [8, 8])
    _padded(result, "WriteTensors", 0, [4, 8])
    assert found_in(tmp_path, [result]) == []
    _padded(result, "WriteTensors", 0, [4, 4])
    message = "ark.Matmul: C5: expected [4, 8] with padding, found [4, 8] and [8, 8] padded to [4, 4]"
    place = "net.rank0.json:Nodes[0].Op.WriteTensors[0]"
    assert found_in(tmp_path, [result]) == [("E0504", place, message)]
    _padded(result, "ReadTensors", 0, [4, 3])
    message = "ark.Matmul: C5: expected factors that fit with padding, found [4, 3] and [8, 8] padded to [4, 4]"
    assert found_in(tmp_path, [result]) == [("E0504", place, message)]


@pytest.mark.parametrize("is_written", [False, True])
def test_computing_on_memory_of_another_rank_is_refused(tmp_path: Path, is_written: bool) -> None:
    here, there = tensor(G, 0, [4]), tensor(G, 1, [4], held=buffer(G, 1, 1))
    x, y = (here, there) if is_written else (there, here)
    document_ = document(G, [op("Exp", [x], [y], [later(y, 2)])], world=2)
    field = "WriteTensors" if is_written else "ReadTensors"
    diagnostics = [f for f in found_in(tmp_path, [document_]) if f[0] != "E0277"]
    message = "ark.Exp: tensor 1 lies on rank 1, which only a proxy may"
    assert diagnostics == [("E0278", f"net.rank0.json:Nodes[0].Op.{field}[0]", message)]


def test_contradictions_of_a_program_that_is_not_a_file_are_found() -> None:
    result = cir.loads(_text(_chain(2)), format="ark")
    text = api.show(result, generic=True)
    assert cir.verify(cir.loads(text, format="mlir")) == []
    doubled = text.replace("tensor_id = 3", "tensor_id = 0")
    assert [d.message for d in cir.verify(cir.loads(doubled, format="mlir"))] == ["two tensors have the number 0"]
    again = text.replace("result_id = 4", "result_id = 2")
    assert [d.message for d in cir.verify(cir.loads(again, format="mlir"))] == ["tensor 2 is given by two operations"]
    local = text.replace("buffer = 3 : i64, buffer_rank = -1", "buffer = 0 : i64, buffer_rank = 0")
    assert cir.verify(cir.loads(local, format="mlir")) == []
    elsewhere = text.replace("buffer = 3 : i64, buffer_rank = -1", "buffer = 0 : i64, buffer_rank = 1")
    diagnostics = cir.verify(cir.loads(elsewhere, format="mlir"))
    assert [(d.code.id, d.where) for d in diagnostics] == [
        ("E0273", "rank0.operations[3] 't3'.Buffer.Rank"),
        ("E0274", "rank0.operations[4] 't4'.WriteTensors[0]"),
    ]
    assert diagnostics[0].message == "buffer 0 is stated with another 'Rank' than before"


def test_a_program_as_text_is_checked_by_the_rules_of_its_format(tmp_path: Path) -> None:
    text = api.show(cir.loads(_text(_chain(2)), format="ark"), generic=True)
    (tmp_path / "net.mlir").write_text(text.replace("tensor_id = 3", "tensor_id = 0"))
    _, diagnostics = cir.check(tmp_path / "net.mlir")
    assert [(d.code.id, d.message) for d in diagnostics] == [("E0273", "two tensors have the number 0")]


# -- memory


def _memory(tmp_path: Path, ops: Sequence[Document], edges: Sequence[tuple[int, int]] | None = None) -> list[str]:
    diagnostics = found_in(tmp_path, [document(G, ops, edges)])
    return [f"{code} {where.partition(':')[2]}: {message}" for code, where, message in diagnostics]


def _half(number: int, offset: int, stored: int = 0) -> Document:
    return tensor(G, number, [2, 2], held=buffer(G, stored), strides=[2, 4], offsets=[0, offset])


def test_a_tensor_that_is_read_after_it_was_overwritten_is_reported(tmp_path: Path) -> None:
    x, y, z = tensor(G, 0, [4]), tensor(G, 1, [4]), tensor(G, 3, [4])
    ops = [
        op("Exp", [x], [y], [later(y, 2)], "first"),
        op("Relu", [z], [later(y, 2)], [later(y, 4)], "second"),
        op("Sqrt", [later(y, 2)], [tensor(G, 5, [4])], [later(tensor(G, 5, [4]), 6)], "late"),
    ]
    message = "ark.Sqrt reads tensor 2 of buffer 1, which node 1, 'second', has overwritten as tensor 4"
    assert _memory(tmp_path, ops, [(0, 1), (0, 2), (1, 2)]) == [f"W0276 Nodes[2].Op.ReadTensors[0]: {message}"]


def test_reading_the_newest_tensor_or_a_later_view_is_right(tmp_path: Path) -> None:
    y = tensor(G, 1, [2, 2])
    view = tensor(G, 3, [4], held=buffer(G, 1))
    out = tensor(G, 4, [4])
    ops = [
        op("Exp", [tensor(G, 0, [2, 2])], [y], [later(y, 2)]),
        op("Exp", [later(y, 2)], [later(y, 2)], [later(y, 6)]),
        op("Sqrt", [{**view, "Id": 7}], [out], [later(out, 8)]),
    ]
    assert _memory(tmp_path, ops, [(0, 1), (1, 2)]) == []


def test_parts_of_a_buffer_that_lie_beside_each_other_do_not_disturb(tmp_path: Path) -> None:
    left, right, x, y = _half(0, 0), _half(1, 2), tensor(G, 3, [2, 2]), tensor(G, 5, [2, 2])
    ops = [op("Exp", [x], [right], [later(right, 4)]), op("Exp", [left], [y], [later(y, 6)])]
    assert _memory(tmp_path, ops) == []
    across = tensor(G, 1, [2, 2], held=buffer(G, 0), strides=[2, 4], offsets=[0, 1])
    ops[0] = op("Exp", [x], [across], [later(across, 4)])
    assert [line[:5] for line in _memory(tmp_path, ops)] == ["W0276", "W0277"]


def test_nodes_that_use_the_same_bytes_without_edges_are_reported_once(tmp_path: Path) -> None:
    x = tensor(G, 0, [4])
    ops = [
        op("Exp", [x], [tensor(G, 1, [4])], [later(tensor(G, 1, [4]), 5)]),
        op("Exp", [x], [tensor(G, 2, [4])], [later(tensor(G, 2, [4]), 6)]),
        op("ScalarAssign", [], [x], [later(x, 7)], Value=("FLOAT", 1.0)),
    ]
    assert _memory(tmp_path, ops) == [
        "W0277 Nodes[2].Op: no edges order nodes that use the same bytes: 0 and 2 use buffer 0, 1 and 2 use buffer 0"
    ]
    assert _memory(tmp_path, ops, [(0, 1), (1, 2)]) == []


@pytest.mark.slow
def test_many_parts_of_one_buffer_are_looked_at_in_bounded_time(tmp_path: Path) -> None:
    """Columns of one array: each overlaps the span of every other one."""
    count = 1100
    holder = buffer(G, 0)
    columns = [tensor(G, n, [2, 1], held=holder, strides=[2, count], offsets=[0, n]) for n in range(count)]
    ops = [op("ScalarAssign", [], [c], [later(c, count + n)], Value=("FLOAT", 0.5)) for n, c in enumerate(columns)]
    assert [line[:5] for line in _memory(tmp_path, ops)] in ([], ["W0277"])


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (lambda text: text.replace("tensor_id = 0 : i64", "tensor_id = -4 : i64"), "E0272"),
        (lambda text: text.replace("offsets = array<i64: 0>", "offsets = array<i64>", 1), "E0273"),
        (lambda text: text.replace("node = 1 : i64", "node = 7 : i64"), "E0276"),
        (lambda text: text.replace("tensor<4xf32>", "tensor<?xf32>"), "E0273"),
        (lambda text: text[: text.index("    %t0")] + "  }) : () -> ()\n}) : () -> ()\n", "E0403"),
    ],
)
def test_texts_of_programs_end_in_findings(wrong: Callable[[str], str], code: str) -> None:
    text = api.show(cir.loads(_text(_chain(2)), format="ark"), generic=True)
    assert wrong(text) != text
    diagnostics = cir.verify(cir.loads(wrong(text), format="mlir"))
    assert code in {d.code.id for d in diagnostics}
