"""Programs of ARK made in Python are those that the format's description asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import ark
from commonir.formats.ark.builder import Program, Tensor
from commonir.formats.ark.write import dumps
from commonir.passes.fold_all_reduce import fold_all_reduce

from tests.formats.ark.model_files import Document, buffer, document, later, op, tensor, text


def _two_functions() -> Program:
    """A product, and twice the same function of it, the second time in its place."""
    program = Program()
    (rank,) = program.ranks
    x, w = rank.tensor((2, 3), "FP16"), rank.tensor((4, 3), "FP16")
    y = rank.op("Matmul", x, w, TransposeInput=False, TransposeOther=True)
    rank.op("Exp", rank.op("Exp", y), output=y)
    return program


@pytest.mark.parametrize("generation", ark.GENERATIONS)
def test_program_is_the_file_that_the_description_asks_for(generation: str) -> None:
    a, b = (tensor(generation, n, shape, "FP16") for n, shape in ((0, [2, 3]), (1, [4, 3])))
    y, e = (
        tensor(generation, 2, [2, 4], "FP16"),
        {**tensor(generation, 4, [2, 4], "FP16"), "Buffer": buffer(generation, 3)},
    )
    args: Document = {"TransposeInput": ("BOOL", False), "TransposeOther": ("BOOL", True)}
    if generation == "v1":
        args |= {"InputDimNC": ("DIMS", [1, 1]), "OtherDimNC": ("DIMS", [1, 1])}
        args |= {"ShapeMNK": ("DIMS", [2, 4, 3]), "StridesACDB": ("DIMS", [3, 4, 4, 3])}
    ops = [
        op("Matmul", [a, b], [y], [later(y, 3)], **args),
        op("Exp", [later(y, 3)], [e], [later(e, 5)]),
        op("Exp", [later(e, 5)], [later(y, 3)], [later(y, 6)], "exp_1"),
    ]
    expected = text(document(generation, ops, [(0, 1), (0, 2), (1, 2)]), generation)
    assert dumps(_two_functions().module(generation)) == expected


def test_message_has_a_stand_in_and_tags_on_both_sides(tmp_path: Path) -> None:
    program = Program(world_size=2)
    first, second = program.ranks
    first.send(first.tensor((8,), "INT32"), to=1, tag=3)
    second.op("Relu", second.recv((8,), "INT32", source=0, tag=3))
    cir.save(program.module(), tmp_path / "net.ark.json")
    x = tensor("v3", 0, [8], "INT32", held=buffer("v3", 0, send=[(1, 3)]))
    proxy = tensor("v3", 1, [8], "INT32", held=buffer("v3", 1, 1, recv=[(-1, 3)]))
    sends = [
        op("Send", [x], [proxy], [later(proxy, 2)], "send"),
        op("SendDone", [later(proxy, 2)], [], [later(proxy, 3)], "send_done"),
    ]
    far = tensor("v3", 0, [8], "INT32", held=buffer("v3", 0, 0, send=[(-1, 3)]))
    y = tensor("v3", 1, [8], "INT32", held=buffer("v3", 1, recv=[(0, 3)]))
    z = {**tensor("v3", 3, [8], "INT32"), "Buffer": buffer("v3", 2)}
    takes = [op("Recv", [far], [y], [later(y, 2)]), op("Relu", [later(y, 2)], [z], [later(z, 4)])]
    for rank, ops in enumerate((sends, takes)):
        expected = text(document("v3", ops, [(0, 1)], rank, 2), "v3")
        assert (tmp_path / f"net.rank{rank}.ark.json").read_bytes() == expected


@pytest.mark.parametrize("generation", ark.GENERATIONS)
@pytest.mark.parametrize("world", [1, 2, 4])
def test_all_reduce_is_the_sum_of_all_ranks(generation: str, world: int) -> None:
    program = Program(world)
    parts = [rank.op("ScalarMul", rank.tensor((5,), name="x"), Factor=rank.rank + 1) for rank in program.ranks]
    for rank, total in zip(program.ranks, program.all_reduce(parts), strict=True):
        rank.output(total, "total")
    module = program.module(generation)
    x = np.arange(5, dtype=np.float32)
    outputs = cir.run(module, {"x": x})
    assert len(outputs) == world
    for value in outputs.values():
        np.testing.assert_array_equal(value, x * (world * (world + 1) // 2))
    assert fold_all_reduce(cir.lower(module)) == (world > 1)


def test_tags_of_several_all_reduces_follow_each_other() -> None:
    program = Program(2)
    parts = program.all_reduce([rank.tensor((2,)) for rank in program.ranks])
    program.all_reduce(parts)
    first = -(1 << 31)
    assert sorted(program.ranks[0].tags) == [first, first + 1, first + 2, first + 3]


def test_parts_of_a_buffer_are_written_and_read_together(tmp_path: Path) -> None:
    program = Program()
    (rank,) = program.ranks
    x = rank.tensor((2, 3), name="x")
    whole = rank.tensor((2, 6))
    left = rank.op("Exp", x, output=rank.view(whole, (2, 3), offsets=(0, 0)))
    right = rank.op("ScalarAdd", x, output=rank.view(whole, (2, 3), offsets=(0, 3)), Factor=1)
    rank.output(rank.op("Relu", rank.view(left, (2, 6), strides=(2, 6), after=[right])), "y")
    values = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    outputs = cir.run(program.module(), {"x": values})
    expected = np.maximum(np.concatenate([np.exp(values), values + 1], axis=1), 0)
    np.testing.assert_allclose(outputs["y"].astype(np.float32), expected, rtol=1e-6)


def test_contents_and_names_are_written_and_read_again(tmp_path: Path) -> None:
    program = Program()
    (rank,) = program.ranks
    table = np.arange(12, dtype=np.float16).reshape(4, 3)
    w = rank.tensor((4, 3), "FP16", name="table", content=table)
    rank.output(rank.op("Embedding", rank.tensor((2,), "INT32", name="rows"), w), "found")
    cir.save(program.module(), tmp_path / "net.ark.json")
    outputs = cir.run(cir.load(tmp_path / "net.ark.json"), {"rows": np.array([3, 1], np.int32)})
    np.testing.assert_array_equal(outputs["found"], table[[3, 1]].reshape(1, 1, 2, 3))


SHAPES: list[tuple[str, list[tuple[int, ...]], Document, tuple[int, ...]]] = [
    ("Add", [(2, 1, 4), (3, 1)], {}, (2, 3, 4)),
    ("Rope", [(2, 4), (2, 4)], {}, (2, 4)),
    ("Gelu", [(2, 3)], {}, (2, 3)),
    ("ScalarMul", [(2, 3)], {"Factor": 0.5}, (2, 3)),
    ("ReduceMax", [(2, 3)], {"Axis": 0, "KeepDim": True}, (1, 3)),
    ("ReduceMean", [(2, 3)], {"Axis": 0, "KeepDim": False}, (3,)),
    ("ReduceSum", [(3,)], {"Axis": 0, "KeepDim": False}, (1,)),
    ("Transpose", [(2, 3, 4)], {"Permutation": [2, 0, 1]}, (4, 2, 3)),
    ("Matmul", [(7, 2, 3), (3, 5)], {"TransposeInput": False, "TransposeOther": False}, (7, 2, 5)),
    ("Matmul", [(3, 2), (5, 3)], {"TransposeInput": True, "TransposeOther": True}, (2, 5)),
    ("Matmul", [(3,), (3, 5)], {"TransposeInput": False, "TransposeOther": False}, (1, 5)),
]


@pytest.mark.parametrize(("kind", "reads", "arguments", "shape"), SHAPES)
def test_shape_of_what_is_written_follows(
    kind: str, reads: list[tuple[int, ...]], arguments: Document, shape: tuple[int, ...]
) -> None:
    program = Program()
    (rank,) = program.ranks
    new_op = rank.op(kind, *[rank.tensor(r, "BF16") for r in reads], **arguments)
    assert new_op.shape == shape
    assert str(new_op.type.element) == "bf16"
    program.module()


def test_data_type_of_what_is_written_can_be_another() -> None:
    (rank,) = Program().ranks
    assert str(rank.op("Cast", rank.tensor((2,), "FP16"), data_type="INT32").type) == "tensor<2xi32>"


def _x() -> Tensor:
    return Program().ranks[0].tensor((2, 3))


WRONG: list[tuple[Callable[[Program], object], str, str]] = [
    (lambda p: p.ranks[0].tensor((2,), "FP61"), "E0273", "unknown data type 'FP61'"),
    (lambda p: p.ranks[0].tensor((2, 0)), "E0272", "'Shape': a number must be positive, found 0"),
    (lambda p: p.ranks[0].tensor((1, 1, 1, 1, 1)), "E0272", "'Shape': a tensor has 1 to 4 dimensions, found 5"),
    (
        lambda p: p.ranks[0].tensor((2,), content=np.zeros(2)),
        "E0273",
        "tensor<2xf32> cannot hold an array of shape [2] of float64",
    ),
    (lambda p: p.ranks[0].view(_x(), (2, 4), offsets=(0, 0)), "E0273", "'Offsets': dimension 1 ends at 0 + 4"),
    (lambda p: p.ranks[0].view(_x(), (7,)), "E0273", "an array of 7 elements does not fit into a buffer of 6"),
    (lambda p: p.ranks[0].tensor((2,), "BYTE"), "E0273", "unknown data type 'BYTE'"),
    (lambda p: Program(world_size=0), "E0272", "a program has one rank at least, found 0"),
    (lambda p: p.ranks[0].op("Tensor", _x()), "E0271", "unknown operation type 'Tensor'"),
    (lambda p: p.ranks[0].op("MatMul", _x()), "E0271", "unknown operation type 'MatMul'"),
    (lambda p: p.ranks[0].op("Add", _x()), "E0271", "'Add' has 2 tensors that are read, found 1"),
    (lambda p: p.ranks[0].op("ScalarAdd", _x(), Value=1.0), "E0271", "'ScalarAdd' has no argument 'Value'"),
    (lambda p: p.ranks[0].op("ScalarAdd", _x()), "E0271", "'ScalarAdd' must have the argument 'Factor'"),
    (lambda p: p.ranks[0].op("ScalarAssign", Value=1.0), "E0271", "the output of 'ScalarAssign' cannot be inferred"),
    (lambda p: p.ranks[0].op("ReduceSum", _x(), Axis=2, KeepDim=True), "E0504", "ark.ReduceSum: C2: 'Axis' must be"),
    (
        lambda p: p.ranks[0].op("Add", _x(), p.ranks[0].tensor((4,))),
        "E0504",
        "ark.Add: C2: shapes [2, 3] and [4] do not fit together",
    ),
    (
        lambda p: p.ranks[1].op("Exp", p.ranks[0].tensor((2,))),
        "E0273",
        "rank 1 cannot use a tensor of rank 0",
    ),
    (lambda p: p.all_reduce([_x()]), "E0273", "an all-reduce is of one tensor of each rank, in their order"),
    (
        lambda p: p.all_reduce([p.ranks[0].tensor((2,)), p.ranks[1].tensor((3,))]),
        "E0273",
        "an all-reduce is of like tensors, found tensor<2xf32>, tensor<3xf32>",
    ),
]


@pytest.mark.parametrize(("make", "code", "message"), WRONG)
def test_what_does_not_fit_is_refused_at_once(make: Callable[[Program], object], code: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        make(Program(world_size=2))
    assert caught.value.diagnostics[0].code.id == code
    assert caught.value.diagnostics[0].message.startswith(message)


def test_what_a_generation_cannot_say_is_refused() -> None:
    program = Program(2)
    for rank in program.ranks:
        x = rank.tensor((2,))
        rank.op("DeviceSync", x, output=x, PeerNum=1, Rank=rank.rank)
    assert program.module("v3")
    with pytest.raises(DiagnosticError) as caught:
        program.module("v2")
    assert {d.code.id for d in caught.value.diagnostics} == {"E0601"}


def test_message_that_nobody_sends_is_refused() -> None:
    program = Program(2)
    program.ranks[0].recv((2,), "FP32", source=1, tag=0)
    with pytest.raises(DiagnosticError) as caught:
        program.module()
    assert "E0275" in {d.code.id for d in caught.value.diagnostics}


def test_input_that_is_given_as_it_is_stays_an_input(tmp_path: Path) -> None:
    program = Program()
    (rank,) = program.ranks
    rank.output(rank.tensor((2,), name="x"), "y")
    cir.save(program.module(), tmp_path / "net.ark.json")
    inputs = np.array([1, -2], np.float32)
    for module in (program.module(), cir.load(tmp_path / "net.ark.json")):
        np.testing.assert_array_equal(cir.run(module, {"x": inputs})["y"], inputs)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_arguments_that_files_cannot_say_are_not_written(number: float, tmp_path: Path) -> None:
    program = Program()
    (rank,) = program.ranks
    rank.output(rank.op("ScalarMul", rank.tensor((2,), name="x"), Factor=number), "y")
    with pytest.raises(DiagnosticError, match="which files cannot say"):
        cir.save(program.module(), tmp_path / "net.ark.json")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("shape", [(2.5,), ("a",), 4])
def test_shapes_are_of_integers(shape: tuple[int, ...]) -> None:
    with pytest.raises(DiagnosticError, match="integers"):
        Program().ranks[0].tensor(shape)
