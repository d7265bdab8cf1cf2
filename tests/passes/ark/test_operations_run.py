"""Every operation type of ARK, in every generation that has it, run from a file against numpy on bytes (`machine`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.dialects.ark import DIALECT

from tests.formats.ark import model_files as files
from tests.formats.ark.model_files import Document
from tests.passes.ark.building import Building, matmul_args
from tests.passes.ark.machine import DTYPES, HALVES, World

Array = NDArray[Any]

GENERATIONS = ("v1", "v2", "v3", "v4")
ENGINES = ("numpy", "reference")
FLOATS = ("FP32", "FP16", "BF16")
INTEGERS = ("INT32", "UINT32", "INT8", "UINT8", "BYTE")
NEAR = {"FP32": 1e-6, "FP16": 1e-3, "BF16": 8e-3}
"""Between neighbours of a type, for functions that libraries compute differently in the last digit."""
FUNCTIONS = ("Exp", "Sigmoid", "Gelu", "Sqrt", "Rsqrt")


def drawn(shape: Sequence[int], data_type: str, seed: int = 0) -> Array:
    """Numbers of a type, none of them zero, of few digits: sums and products of some are exact in single precision."""
    rng, dtype = np.random.default_rng(seed), DTYPES[data_type]
    if dtype.kind in "iu":
        low, high = (-9, 10) if dtype.kind == "i" else (1, 10)
        result = rng.integers(low, high, shape)
        return np.where(result == 0, 3, result).astype(dtype)
    return (rng.integers(1, 65, shape) * rng.choice([-1, 1], shape) / 16).astype(dtype)


def placed(b: Building, shape: Sequence[int], data_type: str, *, part: bool) -> Document:
    """A tensor that is all of a buffer, or a box in a larger array."""
    if not part:
        return b.tensor(shape, data_type)
    return b.tensor(shape, data_type, strides=[n + 3 for n in shape], offsets=[1 + n % 2 for n in range(len(shape))])


def check(b: Building, folder: Path, tolerance: float = 0.0, draw: Callable[..., Array] = drawn) -> dict[str, Array]:
    """Runs the program of a document by every engine, and compares all that it gives with what bytes say."""
    document = b.document()
    path = folder / "program.json"
    path.write_bytes(files.text(document, b.generation))
    module, findings = cir.check(path)
    assert module is not None, findings
    assert not [d for d in findings if d.is_error]
    tensors = {f"t{t['Id']}": t for op in b.ops for t in (*op["ReadTensors"], *op["WriteTensors"])}
    inputs = {
        v.name: draw(tensors[v.name]["Shape"], tensors[v.name]["DataType"], n) for n, v in enumerate(module.inputs)
    }
    world = World(document)
    world.give(inputs)
    world.run()
    results: dict[str, Array] = {}
    for engine in ENGINES:
        results = cir.run(module, inputs, engine=engine)
        for name, array in results.items():
            expected = world.output(name)
            assert array.dtype == expected.dtype
            wide = np.float64 if expected.dtype in (*HALVES, np.float32) else expected.dtype
            np.testing.assert_allclose(array.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance)
    return results


def watched(b: Building, y: Document) -> None:
    """Adds a copy of all that lies around a tensor, which shows what an operation touched."""
    whole = b.again(y, Shape=y["Strides"], Offsets=[0] * len(y["Strides"]))
    b.op("Copy", [whole], [b.tensor(y["Strides"], y["DataType"])])


Case = tuple[str, Sequence[str], Sequence[Sequence[int]], Sequence[int], Document]
"""A type, data types, the shapes that are read and that is written, and arguments."""

ARITHMETIC = [(kind, (*FLOATS, *INTEGERS)) for kind in ("Add", "Sub", "Mul", "Div")] + [("Rope", FLOATS)]
CASES: list[Case] = [
    *[(kind, types, [[2, 3, 4], [3, 4]], [2, 3, 4], {}) for kind, types in ARITHMETIC],
    *[(kind, types, [[3, 1], [1, 4]], [3, 4], {}) for kind, types in ARITHMETIC[:4]],
    *[(kind, FLOATS, [[2, 1, 4]], [2, 3, 4], {}) for kind in ("Exp", "Sigmoid", "Gelu")],
    *[(kind, (*FLOATS, *INTEGERS), [[1, 4]], [2, 3, 4], {}) for kind in ("Relu", "Copy")],
    ("ScalarAdd", (*FLOATS, *INTEGERS), [[2, 3]], [2, 3], {"Factor": ("FLOAT", 2.5)}),
    ("ScalarMul", (*FLOATS, *INTEGERS), [[2, 3]], [2, 3], {"Factor": ("FLOAT", 3.25)}),
    ("ScalarAssign", (*FLOATS, *INTEGERS), [], [2, 3], {"Value": ("FLOAT", 7.75)}),
    *[
        (kind, (*FLOATS, *INTEGERS), [[2, 3, 4]], shape, {"Axis": ("INT", axis), "KeepDim": ("BOOL", keep)})
        for kind in ("ReduceSum", "ReduceMax", "ReduceMean")
        for shape, axis, keep in (([2, 1, 4], 1, True), ([2, 3], 2, False))
    ],
    *[
        (kind, FLOATS, [[5]], [1], {"Axis": ("INT", 0), "KeepDim": ("BOOL", False)})
        for kind in ("ReduceSum", "ReduceMax", "ReduceMean")
    ],
    ("Transpose", (*FLOATS, *INTEGERS), [[2, 3, 4]], [4, 2, 3], {"Permutation": ("DIMS", [2, 0, 1])}),
]  # fmt: skip


@pytest.mark.fast_every(3)
@pytest.mark.slow_cases("*-part")
@pytest.mark.parametrize("part", [False, True], ids=["whole", "part"])
@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]}-{'x'.join(map(str, c[3]))}")
def test_operation_gives_what_numpy_gives(case: Case, generation: str, part: bool, tmp_path: Path) -> None:
    kind, types, reads, written, args = case
    for data_type in types:
        b = Building(generation)
        inputs = [placed(b, shape, data_type, part=part) for shape in reads]
        y = placed(b, written, data_type, part=part)
        b.op(kind, inputs, [y], **args)
        watched(b, y)
        check(b, tmp_path, NEAR[data_type] if kind in FUNCTIONS else 0.0)


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("kind", ["Sqrt", "Rsqrt"])
@pytest.mark.parametrize("data_type", FLOATS)
def test_roots_give_what_numpy_gives(kind: str, data_type: str, generation: str, tmp_path: Path) -> None:
    b = Building(generation)
    b.op(kind, [b.tensor([3, 4], data_type)], [b.tensor([2, 3, 4], data_type)])
    check(b, tmp_path, NEAR[data_type], lambda *a: abs(drawn(*a)))


@pytest.mark.fast_every(4)
@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("source", [*FLOATS, *INTEGERS])
def test_casts_give_what_numpy_gives(source: str, generation: str, tmp_path: Path) -> None:
    for target in (*FLOATS, *INTEGERS):
        b = Building(generation)
        b.op("Cast", [b.tensor([2, 16], source)], [b.tensor([2, 16], target)])
        check(b, tmp_path)


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize(
    ("left", "right", "product", "turns"),
    [
        ([3, 4], [4, 5], [3, 5], (False, False)),
        ([4, 3], [5, 4], [3, 5], (True, True)),
        ([2, 1, 3, 4], [6, 4, 5], [2, 6, 3, 5], (False, False)),
        ([4], [4, 5], [1, 5], (False, False)),
        ([3, 4], [4], [3, 1], (False, False)),
    ],
)
def test_products_of_matrices_give_what_numpy_gives(
    left: list[int], right: list[int], product: list[int], turns: tuple[bool, bool], generation: str, tmp_path: Path
) -> None:
    for data_type in (*FLOATS, "INT32", "INT8"):
        b = Building(generation)
        x, w, y = b.tensor(left, data_type), b.tensor(right, data_type), b.tensor(product, data_type)
        b.op("Matmul", [x, w], [y], **matmul_args(generation, x, w, y, *turns))
        check(b, tmp_path)


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("shape", [[5], [2, 3], [2, 3, 2]])
def test_embedding_takes_rows_also_from_the_end(shape: list[int], generation: str, tmp_path: Path) -> None:
    for data_type in FLOATS:
        b = Building(generation)
        index, weight = b.tensor(shape, "INT32"), b.tensor([7, 4], data_type)
        b.op("Embedding", [index, weight], [b.tensor([*[1] * (3 - len(shape)), *shape, 4], data_type)])
        numbers = np.resize(np.array([0, 6, -1, -7, 3], np.int32), shape)
        check(b, tmp_path, 0.0, lambda s, t, n, numbers=numbers: numbers if t == "INT32" else drawn(s, t, n))


@pytest.mark.parametrize("generation", GENERATIONS)
def test_noop_keeps_what_it_reads_as_an_output(generation: str, tmp_path: Path) -> None:
    b = Building(generation)
    result = b.op("ScalarMul", [b.tensor([4])], [b.tensor([4])], Factor=("FLOAT", 2.0))
    b.op("Noop", [result], [])
    assert [*check(b, tmp_path)] == [f"t{result['Id']}"]


@pytest.mark.parametrize("generation", ["v3", "v4"])
def test_virtual_operations_give_views(generation: str, tmp_path: Path) -> None:
    b = Building(generation)
    x = b.tensor([2, 6])
    turned = b.again(x, Shape=[3, 4], Strides=[3, 4])
    virtual = files.op("Tensor", [x], [], [turned], "turned", virtual=True)
    b.ops.append(virtual)
    y = b.op("ScalarAdd", [turned], [b.tensor([3, 4])], Factor=("FLOAT", 1.0))
    x_values = np.arange(12, dtype=np.float32).reshape(2, 6)
    path = tmp_path / "program.json"
    path.write_bytes(files.text(b.document(), generation))
    outputs = cir.run(cir.load(path), {"t0": x_values})
    np.testing.assert_array_equal(outputs[f"t{y['Id']}"], x_values.reshape(3, 4) + 1)


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("data_type", ["FP32", "FP16"])
def test_operations_in_place_write_what_they_read(generation: str, data_type: str, tmp_path: Path) -> None:
    """A softmax that writes over its input, as ARK's own does."""
    b = Building(generation)
    x = b.tensor([2, 3, 8], data_type)
    most = b.op("ReduceMax", [x], [b.tensor([2, 3, 1], data_type)], Axis=("INT", 2), KeepDim=("BOOL", True))
    moved = b.op("Sub", [x, most], [x])
    powers = b.op("Exp", [moved], [moved])
    total = b.op("ReduceSum", [powers], [b.tensor([2, 3, 1], data_type)], Axis=("INT", 2), KeepDim=("BOOL", True))
    result = b.op("Div", [powers, total], [powers])
    diagnostics = check(b, tmp_path, NEAR[data_type])
    np.testing.assert_allclose(diagnostics[f"t{result['Id']}"].astype(np.float64).sum(-1), 1, atol=2e-3)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_parts_are_put_together_and_taken_apart(generation: str, tmp_path: Path) -> None:
    b = Building(generation)
    tensor, strides = b.buffer(), [6, 4]
    rows = [b.tensor([2, 4], "FP16", tensor, strides, [2 * n, 0]) for n in range(3)]
    for n, row in enumerate(rows):
        b.op("ScalarAdd", [b.tensor([2, 4], "FP16")], [row], Factor=("FLOAT", float(n)))
    whole = b.tensor(strides, "FP16", tensor)
    b.op("ScalarMul", [whole], [b.tensor(strides, "FP16")], Factor=("FLOAT", 2.0))
    for n in range(2):
        column = b.tensor([6, 2], "FP16", tensor, strides, [0, 2 * n])
        b.op("Copy", [column], [b.tensor([6, 2], "FP16")])
    flat = b.tensor([12], "FP16", tensor, [24], [6])
    b.op("Copy", [flat], [b.tensor([12], "FP16")])
    check(b, tmp_path)


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("data_type", [*FLOATS, *INTEGERS])
def test_bytes_of_a_tensor_are_read_and_written(generation: str, data_type: str, tmp_path: Path) -> None:
    b = Building(generation)
    item = DTYPES[data_type].itemsize
    x = b.tensor([3, 4], data_type)
    new_op = b.op("Copy", [x], [b.tensor([3, 4], data_type)])
    as_bytes = b.again(new_op, DataType="BYTE", Shape=[3, 4 * item], Strides=[3, 4 * item])
    b.op("Copy", [as_bytes], [b.tensor([3, 4 * item], "BYTE")])
    other = b.tensor([3, 4 * item], "BYTE")
    b.op("Copy", [b.again(x, DataType="BYTE", Shape=[3, 4 * item], Strides=[3, 4 * item])], [other])
    b.op("Copy", [b.again(other, DataType=data_type, Shape=[3, 4], Strides=[3, 4])], [b.tensor([3, 4], data_type)])
    check(b, tmp_path)


@pytest.mark.parametrize("generation", ["v2", "v3", "v4"])
def test_padding_is_not_touched(generation: str, tmp_path: Path) -> None:
    b = Building(generation)
    x, y = [b.again(b.tensor([3, 5]), Strides=[8, 8], PaddedShape=[8, 8]) for _ in range(2)]
    y = b.op("ScalarAdd", [x], [y], Factor=("FLOAT", 1.0))
    whole = b.again(y, Shape=[8, 8])
    b.op("Copy", [whole], [b.tensor([8, 8])])
    diagnostics = check(b, tmp_path)
    assert sum(np.count_nonzero(a) for a in diagnostics.values()) <= prod([3, 5])


def test_parts_of_one_input_are_inputs_of_their_own(tmp_path: Path) -> None:
    b = Building("v3")
    tensor = b.buffer()
    thirds = [b.tensor([2, 4], held=tensor, strides=[6, 4], offsets=[2 * n, 0]) for n in range(3)]
    for third in thirds:
        b.op("ScalarMul", [third], [b.tensor([2, 4])], Factor=("FLOAT", 2.0))
    path = tmp_path / "program.json"
    path.write_bytes(files.text(b.document(), "v3"))
    assert [v.name for v in cir.load(path).inputs] == ["t0", "t1", "t2"]
    check(b, tmp_path)


def test_an_input_that_is_read_in_parts_first_is_given_whole(tmp_path: Path) -> None:
    b = Building("v3")
    tensor = b.buffer()
    part = b.tensor([2, 4], held=tensor, strides=[6, 4], offsets=[2, 0])
    b.op("Copy", [part], [b.tensor([2, 4])])
    whole = b.tensor([6, 4], held=tensor)
    b.op("Copy", [whole], [b.tensor([6, 4])])
    path = tmp_path / "program.json"
    path.write_bytes(files.text(b.document(), "v3"))
    assert [v.name for v in cir.load(path).inputs] == [f"t{whole['Id']}"]
    check(b, tmp_path)


def test_every_operation_type_is_run_here_or_among_ranks() -> None:
    here = {case[0] for case in CASES} | {"Sqrt", "Rsqrt", "Cast", "Matmul", "Embedding", "Noop", "Tensor"}
    among_ranks = {
        "Send", "SendDone", "Recv", "SendPacket", "RecvPacket", "RecvReduceSend", "RecvReduceSendPacket", "DeviceSync",
    }  # fmt: skip
    known = {name.partition(".")[2] for name in DIALECT.operations} - {"tensor", "rank", "Placeholder"}
    assert known == here | among_ranks
