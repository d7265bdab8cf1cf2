"""Names, inputs and outputs of ARK programs of one rank and of several, changed without touching what they compute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.base.codes import CANNOT_WRITE, DUPLICATE_NAME, IMPOSSIBLE_EDIT, UNDEFINED_VALUE, Code
from commonir.formats.ark.builder import Program
from commonir.passes.ark.generations import in_generation

from tests.formats.ark import model_files as files
from tests.passes.ark.machine import DTYPES, World
from tests.passes.ark.random_memory import RandomProgram

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def ranks() -> cir.Module:
    """Two ranks: the sum over the ranks of (rank + 1) * x, and on each rank the square root of x."""
    program = Program(world_size=2)
    inputs = [rank.tensor((2, 3), name="x") for rank in program.ranks]
    terms = [
        rank.op("ScalarMul", x, name="scaled", Factor=rank.rank + 1.0)
        for rank, x in zip(program.ranks, inputs, strict=True)
    ]
    for rank, x, total in zip(program.ranks, inputs, program.all_reduce(terms), strict=True):
        rank.output(total, "total")
        rank.output(rank.op("Sqrt", x, name="root"), "side")
    return program.module()


def chain(generation: str = "v3") -> cir.Module:
    """One rank of tensors without names: exp, its negation, and a copy of this over the exponential."""
    x, y, z = (files.tensor(generation, n, [2, 3]) for n in (0, 1, 3))
    ops = [
        files.op("Exp", [x], [y], [files.later(y, 2)], "exp"),
        files.op("ScalarMul", [files.later(y, 2)], [z], [files.later(z, 4)], "negative", Factor=("FLOAT", -1.0)),
        files.op("Copy", [files.later(z, 4)], [y], [files.later(y, 5)], "over"),
    ]
    return cir.loads(files.text(files.document(generation, ops, [(0, 1), (1, 2)]), generation), format="ark")


def single() -> cir.Module:
    """One rank: the square root of 2 * x."""
    program = Program()
    (rank,) = program.ranks
    x = rank.tensor((2, 3), name="x")
    rank.output(rank.op("Sqrt", rank.op("ScalarMul", x, name="twice", Factor=2.0), name="root"), "side")
    return program.module()


def refused(program: cir.Module, code: Code, **changes: object) -> str:
    with pytest.raises(cir.DiagnosticError) as caught:
        cir.edit(program, **changes)  # pyright: ignore[reportArgumentType]  by name
    assert {d.code for d in caught.value.diagnostics} == {code}
    return "\n".join(map(str, caught.value.diagnostics))


def agree(actual: dict[str, NDArray[Any]], expected: dict[str, NDArray[Any]]) -> None:
    assert list(actual) == list(expected)
    for name, array in expected.items():
        np.testing.assert_allclose(actual[name], array, rtol=1e-6, err_msg=name)


def test_a_name_is_changed_on_every_rank() -> None:
    program = cir.edit(ranks(), rename={"x": "image", "total": "sum", "scaled": "term"})
    assert cir.verify(program) == []
    root = np.sqrt(X)
    agree(
        cir.run(program, {"image": X}),
        {"rank0.sum": 3 * X, "rank0.side": root, "rank1.sum": 3 * X, "rank1.side": root},
    )
    assert [op.source_name for op in program.walk() if op.source_name == "term"] == ["term", "term"]


def test_a_name_after_that_of_a_rank_is_of_this_rank() -> None:
    for program in (
        cir.edit(ranks(), rename={"rank1.side": "root1"}),
        cir.edit(ranks(), rename={"side": "root1"}, function="rank1"),
    ):
        assert [f.output_names for f in program.functions.values()] == [("total", "side"), ("total", "root1")]


@pytest.mark.parametrize("generation", ["v1", "v2", "v3", "v4"])
def test_numbered_inputs_and_outputs_get_names(generation: str) -> None:
    program = cir.edit(chain(generation), rename={"t0": "x", "t5": "y"})
    assert cir.verify(program) == []
    again = cir.loads(cir.dumps(program), format="ark")
    agree(cir.run(again, {"x": X}), {"y": -np.exp(X)})


def test_inner_values_become_outputs() -> None:
    program = cir.edit(ranks(), add_outputs=["scaled"], drop_outputs=["side"])
    assert cir.verify(program) == []
    agree(
        cir.run(program, {"x": X}),
        {"rank0.total": 3 * X, "rank0.scaled": X, "rank1.total": 3 * X, "rank1.scaled": 2 * X},
    )


def test_what_only_a_dropped_output_needs_is_removed() -> None:
    program = cir.edit(ranks(), drop_outputs=["side"])
    before, after = ([op.name for op in p.functions["rank0"].body.operations] for p in (ranks(), program))
    # The square root, what it writes, and the name of the output.
    assert before.count("ark.Sqrt") == 1
    assert after.count("ark.Sqrt") == 0
    assert len(before) - len(after) == 3


def test_a_part_of_every_rank_is_extracted() -> None:
    part = cir.extract(single(), targets=["twice"])
    agree(cir.run(part, {"x": X}), {"twice": 2 * X})
    assert [op.name for op in part.main.body.operations].count("ark.Sqrt") == 0
    with pytest.raises(cir.DiagnosticError, match="begins at its inputs"):
        cir.extract(single(), ["twice"], ["side"])
    root = np.sqrt(X)
    agree(cir.run(cir.extract(ranks(), targets=["side"]), {"x": X}), {"rank0.side": root, "rank1.side": root})
    agree(cir.run(cir.extract(single(), targets=["side"]), {"x": X}), {"side": np.sqrt(2 * X)})


def messages(program: cir.Module) -> int:
    return sum(op.name == "ark.Recv" for op in program.walk())


def two_sums(world: int) -> cir.Module:
    """Ranks that add up x, and the squares of the sums."""
    program = Program(world_size=world)
    inputs = [rank.tensor((2, 3), name="x") for rank in program.ranks]
    first = program.all_reduce(inputs)
    squares = [rank.op("Mul", v, v, name="square") for rank, v in zip(program.ranks, first, strict=True)]
    second = program.all_reduce(squares)
    for rank, a, b in zip(program.ranks, first, second, strict=True):
        rank.output(a, "sum")
        rank.output(b, "squares")
    return program.module()


@pytest.mark.parametrize("world", [2, 3])
def test_messages_go_with_the_outputs_that_alone_need_them(world: int) -> None:
    whole = two_sums(world)
    first = cir.edit(whole, drop_outputs=["squares"])
    assert (messages(whole), messages(first)) == (2 * world * (world - 1), world * (world - 1))
    agree(cir.run(first, {"x": X}), {f"rank{n}.sum": world * X for n in range(world)})
    assert cir.verify(first) == []
    # The second sum needs the messages of the first one.
    second = cir.edit(whole, drop_outputs=["sum"])
    assert messages(second) == messages(whole)
    agree(cir.run(second, {"x": X}), {f"rank{n}.squares": world * (world * X) ** 2 for n in range(world)})
    inner = cir.extract(whole, targets=["square"])
    assert messages(inner) == messages(first)
    agree(cir.run(inner, {"x": X}), {f"rank{n}.square": (world * X) ** 2 for n in range(world)})


def test_messages_that_another_rank_needs_stay() -> None:
    program = cir.edit(two_sums(2), drop_outputs=["rank0.sum"])
    assert messages(program) == 4
    assert cir.verify(program) == []


def test_an_input_becomes_a_weight_of_every_rank(tmp_path: Path) -> None:
    program = cir.edit(ranks(), inputs={"x": X})
    cir.save(program, tmp_path / "net.ark.json")
    agree(
        cir.run(cir.load(tmp_path / "net.rank1.ark.json"), {}),
        {"rank0.total": 3 * X, "rank0.side": np.sqrt(X), "rank1.total": 3 * X, "rank1.side": np.sqrt(X)},
    )
    numbered = cir.edit(chain(), inputs={"t0": X})
    agree(cir.run(numbered, {}), {"t5": -np.exp(X)})


@pytest.mark.parametrize("suffix", [".ark.json", ".json"])
def test_the_files_of_all_ranks_are_replaced_by_the_name_of_any(suffix: str, tmp_path: Path) -> None:
    cir.save(ranks(), tmp_path / f"net{suffix}")
    edited = cir.edit(cir.load(tmp_path / f"net.rank0{suffix}"), rename={"x": "image"})
    written = cir.save(edited, tmp_path / f"net.rank1{suffix}")
    assert sorted(Path(file.path).name for file in written) == [f"net.rank0{suffix}", f"net.rank1{suffix}"]
    documents = [json.loads((tmp_path / f"net.rank{n}{suffix}").read_text()) for n in (0, 1)]
    assert [d["Nodes"][0]["Op"]["Name"] for d in documents] == ["image", "image"]


def test_ids_of_nodes_stay() -> None:
    document = json.loads(cir.dumps(chain()))
    for node in document["Nodes"]:
        node["Id"] += 7
        for edges in ("ProducerNodeIds", "ConsumerNodeIds"):
            node[edges] = [n + 7 for n in node[edges]]
    program = cir.edit(cir.loads(json.dumps(document).encode(), format="ark"), rename={"t0": "x"})
    nodes = json.loads(cir.dumps(program))["Nodes"]
    assert [(n["Id"], n["ProducerNodeIds"], n["ConsumerNodeIds"]) for n in nodes] == [
        (10, [], [7]),
        (7, [10], [8]),
        (8, [7], [9]),
        (9, [8], []),
    ]


def test_what_a_file_cannot_say_is_refused_with_the_reason(tmp_path: Path) -> None:
    assert "the shapes of an ARK program cannot be changed" in refused(ranks(), IMPOSSIBLE_EDIT, dims={"x.0": 4})
    text = refused(ranks(), IMPOSSIBLE_EDIT, drop_outputs=["total"], function="rank0")
    assert "'total' cannot be dropped" in text
    assert "since it is exchanged with other ranks" in text
    assert "in rank0, rank1" in refused(ranks(), IMPOSSIBLE_EDIT, rename={"t2": "y"})
    assert "'over' overwrites its buffer" in refused(chain(), IMPOSSIBLE_EDIT, add_outputs=["exp"])
    assert "rename its operation: --rename exp=NAME" in refused(chain(), IMPOSSIBLE_EDIT, rename={"t2": "y"})
    assert "no output would be left" in refused(chain(), IMPOSSIBLE_EDIT, drop_outputs=["t5"])
    assert "is an output already" in refused(ranks(), IMPOSSIBLE_EDIT, add_outputs=["side"])
    assert "cannot become a constant" in refused(ranks(), IMPOSSIBLE_EDIT, inputs={"x": X[0]})
    assert "the name 'side' is taken" in refused(ranks(), DUPLICATE_NAME, rename={"x": "side"})
    assert "did you mean 'scaled'?" in refused(ranks(), UNDEFINED_VALUE, rename={"scald": "a"})
    with pytest.raises(cir.DiagnosticError) as caught:
        cir.save(cir.edit(ranks(), metadata={"author": "A"}), tmp_path / "net.ark.json")
    assert caught.value.diagnostics[0].code is CANNOT_WRITE


def test_two_names_are_exchanged() -> None:
    program = cir.edit(ranks(), rename={"total": "side", "side": "total"})
    agree(
        cir.run(program, {"x": X}),
        {"rank0.side": 3 * X, "rank0.total": np.sqrt(X), "rank1.side": 3 * X, "rank1.total": np.sqrt(X)},
    )


def edited_as_bytes_say(seed: int) -> None:
    """Names all inputs and outputs of a random program, drops one and adds another, and compares with bytes."""
    random = RandomProgram(seed)
    program = cir.loads(files.text(random.document, random.generation), format="ark")
    if any(d.is_error for d in cir.verify(program)):
        return
    world, rng = World(random.document), np.random.default_rng(seed)
    tensors = world.ranks[0].tensors
    inputs = {
        v.name: rng.integers(0, 8, tensors[int(v.name[1:])]["Shape"]).astype(
            DTYPES[tensors[int(v.name[1:])]["DataType"]]
        )
        for v in program.inputs
    }
    world.give(inputs)
    with np.errstate(all="ignore"):
        world.run()
    names = list(program.main.output_names)
    dropped = names[1:] and [names[int(rng.integers(len(names)))]]
    inner = [v.name for op in program.main.body.operations for v in op.results if v.name not in {*names, *inputs}]
    added = [inner[int(rng.integers(len(inner)))]] if inner else []
    renamed = {name: f"n_{name}" for name in (*inputs, *names)}
    edited, refusals = program, []
    for out, more in ((dropped, added), (dropped, []), ([], added), ([], [])):
        try:
            edited = cir.edit(program, rename=renamed, drop_outputs=out, add_outputs=more)
        except cir.DiagnosticError as error:
            refusals += [d.message for d in error.diagnostics]
        else:
            dropped, added = out, more
            break
    assert all("overwrites its buffer" in text or "without its operations" in text for text in refusals)
    results = cir.run(edited, {name: inputs[name.removeprefix("n_")] for name in edited.inputs.names})
    assert set(results) == {*(f"n_{name}" for name in names if name not in dropped), *added}
    for name, array in results.items():
        np.testing.assert_array_equal(array, world.output(name.removeprefix("n_")), err_msg=f"seed {seed}, {name}")


@pytest.mark.parametrize("seed", range(2))
def test_a_few_edited_random_programs_give_what_bytes_give(seed: int) -> None:
    edited_as_bytes_say(seed)


@pytest.mark.slow
def test_edited_random_programs_give_what_bytes_give() -> None:
    for seed in range(100):
        edited_as_bytes_say(seed)


def test_programs_in_every_generation_have_the_new_names() -> None:
    program = cir.edit(in_generation(ranks(), "v4"), rename={"x": "image"})
    assert program.functions["rank0"].inputs.names == ("image",)
