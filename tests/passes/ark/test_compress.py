"""ARK programs are compressed as ARK compresses them before it writes a file."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.cli.main import main
from commonir.dialects import ark, core
from commonir.formats.ark.builder import Program
from commonir.formats.ark.write import dumps
from commonir.passes.ark.compress import compress
from commonir.passes.ark.generations import in_generation

from tests.formats.ark.model_files import Document, document, edges_of, exchange, later, op, product, tensor, text
from tests.passes.rank_programs import Array


def _program(document: Document) -> cir.Module:
    return cir.loads(json.dumps(document).encode(), format="ark")


def _compressed(document: Document) -> bytes:
    module = _program(document)
    diagnostics = Diagnostics()
    compress(module, diagnostics)
    assert "W0276" not in [d.code.id for d in diagnostics]
    assert [str(d) for d in cir.verify(module)] == []
    return dumps(module)


def _raw(generation: str) -> tuple[list[Document], list[Document]]:
    """A program as it is before compression, and its operations afterwards: exp, another shape, relu of that."""
    x, y, z = (tensor(generation, n, [2, 4]) for n in (0, 1, 4))
    flat = {**tensor(generation, 3, [8]), "Buffer": y["Buffer"]}
    wide = {**tensor(generation, 6, [8]), "Buffer": z["Buffer"]}
    exp = op("Exp", [x], [y], [later(y, 2)])
    relu = op("Relu", [flat], [wide], [later(wide, 7)])
    raw = [
        op("Tensor", [], [], [x], "x", virtual=True),
        op("Tensor", [], [], [y], "", virtual=True),
        exp,
        op("Tensor", [later(y, 2)], [], [flat], "reshape", virtual=True),
        op("Tensor", [], [], [z], "", virtual=True),
        op("Tensor", [z], [], [wide], "", virtual=True),
        relu,
    ]
    return raw, [exp, relu]


EDGES = [(0, 2), (1, 2), (2, 3), (3, 6), (4, 5), (5, 6)]


@pytest.mark.parametrize("generation", ["v3", "v4"])
def test_virtual_operations_go_and_what_is_around_them_stays_connected(generation: str) -> None:
    raw, preserved = _raw(generation)
    assert _compressed(document(generation, raw, EDGES)) == text(document(generation, preserved, [(0, 1)]), generation)


@pytest.mark.parametrize("generation", ["v1", "v2"])
def test_chain_becomes_one_node(generation: str) -> None:
    raw, preserved = _raw(generation)
    expected = document(generation, preserved)
    expected["Nodes"] = [{"Id": 0, "ProducerNodeIds": [], "ConsumerNodeIds": [], "Ops": preserved}]
    assert _compressed(document(generation, raw, EDGES)) == text(expected, generation)


def test_names_that_go_are_reported() -> None:
    raw, _ = _raw("v3")
    diagnostics = Diagnostics()
    compress(_program(document("v3", raw, EDGES)), diagnostics)
    message = "names of inputs and outputs go, numbers of tensors take their place: 'x'"
    assert [(d.code.id, d.message, d.where) for d in diagnostics] == [("W0601", message, "rank0")]


def test_program_of_views_only_has_no_nodes() -> None:
    raw, _ = _raw("v3")
    assert _compressed(document("v3", raw[:2], [])) == b'{\n  "Rank": 0,\n  "WorldSize": 1,\n  "Nodes": []\n}\n'


def _gated(generation: str) -> list[Document]:
    """A feed-forward block with a gate: of two products one goes through a sigmoid and is multiplied twice."""
    x, w, v = (tensor(generation, n, [4, 4]) for n in (0, 1, 2))
    a, s, g, b, m = (tensor(generation, n, [4, 4]) for n in (10, 20, 30, 40, 50))
    flags: Document = {"TransposeInput": ("BOOL", False), "TransposeOther": ("BOOL", False)}
    if generation == "v1":
        ones: Document = {"InputDimNC": ("DIMS", [1, 1]), "OtherDimNC": ("DIMS", [1, 1])}
        flags |= {**ones, "ShapeMNK": ("DIMS", [4, 4, 4]), "StridesACDB": ("DIMS", [4, 4, 4, 4])}
    return [
        op("Matmul", [x, w], [a], [later(a, 11)], "gate", **flags),
        op("Sigmoid", [later(a, 11)], [s], [later(s, 21)]),
        op("Mul", [later(a, 11), later(s, 21)], [g], [later(g, 31)], "silu"),
        op("Matmul", [x, v], [b], [later(b, 41)], "up", **flags),
        op("Mul", [later(g, 31), later(b, 41)], [m], [later(m, 51)], "product"),
        op("Exp", [later(m, 51)], [later(m, 51)], [later(m, 52)], "last"),
    ]


GATED = [(0, 1), (0, 2), (1, 2), (2, 4), (3, 4), (4, 5)]


@pytest.mark.parametrize("generation", ["v1", "v2"])
def test_node_is_merged_into_the_one_that_comes_after_all_others(generation: str) -> None:
    """`silu` comes after `gate` and `sigmoid`, and `sigmoid` after `gate`; `product` comes after two that do not."""
    ops = _gated(generation)
    expected: Document = {
        "Rank": 0,
        "WorldSize": 1,
        "Nodes": [
            {"Id": 0, "ProducerNodeIds": [], "ConsumerNodeIds": [2], "Ops": ops[:3]},
            {"Id": 1, "ProducerNodeIds": [], "ConsumerNodeIds": [2], "Ops": ops[3:4]},
            {"Id": 2, "ProducerNodeIds": [0, 1], "ConsumerNodeIds": [], "Ops": ops[4:]},
        ],
    }
    assert _compressed(document(generation, ops, GATED)) == text(expected, generation)
    assert _compressed(expected) == text(expected, generation)


def test_nodes_of_later_generations_are_not_merged() -> None:
    document_ = document("v3", _gated("v3"), GATED)
    assert _compressed(document_) == text(document_, "v3")


@pytest.mark.parametrize("rank", [0, 1])
def test_only_what_waits_for_a_message_is_merged_with_it(rank: int) -> None:
    """The tensor that is sent has other uses, too, so that sending it stays a node of its own."""
    result = exchange("v1", rank)
    nodes = result["Nodes"]
    ops = [node["Ops"][0] for node in nodes]
    merged = [ops[:1], ops[1:3], ops[3:4], ops[4:]]
    edges = [([], [1, 3]), ([0], []), ([], [3]), ([0, 2], [])]
    expected: list[Document] = [
        {"Id": n, "ProducerNodeIds": before, "ConsumerNodeIds": after, "Ops": stored}
        for n, (stored, (before, after)) in enumerate(zip(merged, edges, strict=True))
    ]
    assert _compressed(result) == text({**result, "Nodes": expected}, "v1")


def test_order_of_edges_that_stay_is_kept() -> None:
    document_ = document("v3", _gated("v3"), GATED)
    document_["Nodes"][4]["ProducerNodeIds"] = [3, 2]
    assert _compressed(document_) == text(document_, "v3")


def _overwriting(generation: str) -> Document:
    """`store` overwrites what `early` reads; only the order of the file says that `early` comes first."""
    x, y, w, v = (tensor(generation, n, [4]) for n in (0, 1, 2, 3))
    again = {**tensor(generation, 4, [4]), "Buffer": w["Buffer"]}
    ops = [
        op("Relu", [x], [y], [later(y, 10)], "first"),
        op("Exp", [w], [v], [later(v, 11)], "early"),
        op("Copy", [later(y, 10)], [again], [later(again, 12)], "store"),
    ]
    return document(generation, ops, [(0, 2)])


def test_operation_that_is_moved_over_a_read_of_its_memory_is_reported() -> None:
    module = _program(_overwriting("v2"))
    diagnostics = Diagnostics()
    assert compress(module, diagnostics) == 1
    message = "'store' is merged into an earlier node and now runs before 'early', which reads what it overwrites"
    assert [(d.code.id, d.message) for d in diagnostics] == [("W0276", message)]
    names = [[o["Name"] for o in node["Ops"]] for node in json.loads(dumps(module))["Nodes"]]
    assert names == [["first", "store"], ["early"]]


def test_overtaking_without_shared_memory_is_not_reported() -> None:
    result = _overwriting("v2")
    result["Nodes"][1]["Ops"][0]["ReadTensors"] = [tensor("v2", 9, [4])]
    assert '"early"' in _compressed(result).decode()


def test_program_that_would_compute_something_else_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.json").write_text(json.dumps(_overwriting("v2")))
    command = ["opt", str(tmp_path / "in.json"), "--passes", "compress", "-o", str(tmp_path / "out.ark.json")]
    assert main(command) == 1
    reported = capsys.readouterr().err
    assert "W0276" in reported
    assert "error[E0710]: the simplified program has other inputs; nothing is written" in reported
    assert not (tmp_path / "out.ark.json").exists()
    assert main([*command, "--no-check"]) == 0
    assert (tmp_path / "out.ark.json").exists()


@pytest.mark.parametrize("generation", ark.GENERATIONS)
def test_meaning_stays(generation: str, tmp_path: Path) -> None:
    raw, _ = _raw(generation)
    module = _program(document(generation, raw, EDGES))
    x = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)
    expected = np.exp(x).reshape(8)
    before = cir.run(module, {"x": x})
    compress(module)
    after = cir.run(module, {"t0": x})
    for outputs in (before, after):
        np.testing.assert_allclose(next(iter(outputs.values())).astype(np.float32), expected, rtol=1e-6)
    path = tmp_path / "raw.json"
    path.write_bytes(text(document(generation, raw, EDGES), generation))
    assert main(["opt", str(path), "--passes", "compress", "-o", str(tmp_path / "out.ark.json")]) == 0


def test_contents_of_weights_stay(tmp_path: Path) -> None:
    raw, _ = _raw("v3")
    values = np.arange(8, dtype=np.float32).reshape(2, 4)
    (tmp_path / "net.ark.json").write_bytes(text(document("v3", raw, EDGES), "v3"))
    header = json.dumps({"x": {"dtype": "F32", "shape": [2, 4], "data_offsets": [0, 32]}}).encode()
    (tmp_path / "net.ark.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + values.tobytes())
    module = cir.load(tmp_path / "net.ark.json")
    compress(module)
    cir.save(module, tmp_path / "out.ark.json")
    for program in (module, cir.load(tmp_path / "out.ark.json")):
        result = next(iter(cir.run(program, {}).values())).astype(np.float32)
        np.testing.assert_allclose(result, np.exp(values).reshape(8), rtol=1e-6)


def test_contents_of_weights_go_to_what_is_read_of_them() -> None:
    program = Program()
    rank = program.ranks[0]
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    weight = rank.tensor((4, 6), name="w", content=values)
    flat = rank.view(weight, (24,))
    right = rank.view(weight, (4, 3), offsets=(0, 3))
    positive = rank.op("Relu", right)
    rank.output(rank.op("ScalarMul", flat, Factor=2.0), "twice")
    rank.output(positive, "right")
    module = program.module()
    compress(module)
    assert not [rank.inputs for rank in module.body.operations if isinstance(rank, ark.Rank) and rank.inputs]
    result = [*cir.run(module, {}).values()]
    np.testing.assert_array_equal(result[0], values[:, 3:])
    np.testing.assert_array_equal(result[1], 2 * values.reshape(-1))


def test_product_has_the_same_arguments() -> None:
    assert _compressed(product("v1")) == text(product("v1"), "v1")


def test_splitting_and_compressing_gives_the_nodes_of_the_file() -> None:
    ops = _gated("v1")
    result = _compressed(document("v1", ops, GATED))
    split = in_generation(in_generation(cir.loads(result, format="ark"), "v3"), "v1")
    assert dumps(split) != result
    compress(split)
    assert dumps(split) == result


def _random_ops(chance: random.Random) -> list[Document]:
    """Sums and other functions of what there is, each in a buffer of its own, with views between them."""
    ops: list[Document] = []
    holder = [tensor("v2", 0, [4])]
    for n in range(chance.randrange(2, 14)):
        result = tensor("v2", 100 * (n + 1), [4])
        picked = [chance.choice(holder[-4:]), chance.choice(holder)]
        kind = chance.choice(["Add", "Add", "Relu", "Tensor"])
        if kind == "Tensor":
            again = {**picked[0], "Id": result["Id"]}
            ops.append(op("Tensor", picked[:1], [], [again], "", virtual=True))
            holder.append(again)
        else:
            reads = picked if kind == "Add" else picked[:1]
            ops.append(op(kind, reads, [result], [later(result, result["Id"] + 1)], f"op{n}"))
            holder.append(later(result, result["Id"] + 1))
    return ops


def _compressed_by_hand(ops: list[Document], edges: list[tuple[int, int]]) -> list[list[str]]:
    """The names of the operations of each node, by the rule as it is written down, on sets of edges."""
    nodes = {n: [each["Name"]] for n, each in enumerate(ops)}
    arrows = set(edges)
    for n, each in enumerate(ops):
        if each["IsVirtual"]:
            before, after = {a for a, b in arrows if b == n}, {b for a, b in arrows if a == n}
            arrows = {(a, b) for a, b in arrows if n not in (a, b)} | {(a, b) for a in before for b in after}
            del nodes[n]

    def comes_after(node: int, other: int) -> bool:
        return any(a == other or comes_after(a, other) for a, b in arrows if b == node)

    for n in sorted(nodes, reverse=True):
        before = {a for a, b in arrows if b == n}
        targets = [p for p in before if all(q == p or comes_after(p, q) for q in before)]
        others = {b for a, b in arrows if targets and a == targets[0]} - {n}
        if targets and all(comes_after(other, n) for other in others):
            nodes[targets[0]] += nodes.pop(n)
            renamed = {(targets[0] if a == n else a, targets[0] if b == n else b) for a, b in arrows}
            arrows = {(a, b) for a, b in renamed if a != b}
    return [nodes[n] for n in sorted(nodes)]


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("seed", range(60))
def test_random_programs_are_merged_by_the_rule_and_do_the_same(seed: int) -> None:
    ops = _random_ops(random.Random(seed))
    module = _program(document("v2", ops, edges_of(ops)))
    before = _outputs(module)
    diagnostics = Diagnostics()
    compress(module, diagnostics)
    assert list(diagnostics) == []
    assert [d for d in cir.verify(module) if d.is_error] == []
    names = [[o["Name"] for o in node["Ops"]] for node in json.loads(dumps(module))["Nodes"]]
    assert names == _compressed_by_hand(ops, edges_of(ops))
    after = _outputs(module)
    for name in after.keys() & before.keys():
        np.testing.assert_array_equal(after[name], before[name])


def _outputs(module: cir.Module) -> dict[str, Array]:
    """Returns what a program gives for one input, whatever it calls it."""
    x = np.linspace(-2, 2, 4, dtype=np.float32)
    lowered = cir.lower(module)
    return cir.run(lowered, {value.name: x for value in lowered.inputs})


WRONG_EDGES = [
    ([(0, 2), (1, 2), (2, 4), (3, 4), (4, 5)], "node 1 uses a tensor of node 0 without an edge from there"),
    ([*GATED, (5, 4)], "the edge from node 5 to node 4 is not one of both, in their order"),
    ([*GATED, (7, 5)], "the edge from node 7 to node 5 is not one of both, in their order"),
    ([*GATED, (4, 9)], "there are edges that are stated on one side only"),
]


@pytest.mark.parametrize(("edges", "message"), WRONG_EDGES)
def test_edges_that_are_none_are_refused(edges: list[tuple[int, int]], message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        compress(_program(document("v2", _gated("v2"), edges)))
    assert [(d.code.id, d.message) for d in caught.value.diagnostics] == [("E0276", message)]


def test_other_operations_are_refused() -> None:
    module = _program(document("v2", _gated("v2"), GATED))
    rank = next(op for op in module.body.operations if isinstance(op, ark.Rank))
    rank.body.append(core.Barrier())
    with pytest.raises(DiagnosticError) as caught:
        compress(module)
    assert [(d.code.id, d.where) for d in caught.value.diagnostics] == [("E0601", "rank0.operations[14] core.barrier")]
