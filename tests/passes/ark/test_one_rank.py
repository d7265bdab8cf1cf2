"""Programs of one rank are ordinary programs: small when lowered, run, and converted to other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.base.safetensors import write_safetensors
from commonir.ir.module import Module

from tests.conversions.running_mil import load_in_coremltools
from tests.formats.ark import model_files as files
from tests.oracles import oracle
from tests.passes.ark import llama
from tests.passes.ark.building import Building
from tests.passes.ark.machine import DTYPES, World

Array = NDArray[Any]


def written(b: Building, folder: Path) -> Path:
    path = folder / "program.json"
    path.write_bytes(files.text(b.document(), b.generation))
    return path


def names(module: Module) -> list[str]:
    return [op.name for op in cir.lower(module).main.body.operations]


def parts_in_place(data_type: str = "FP32") -> Building:
    """Rows written one by one, in place and by another view, and read together."""
    b = Building("v3")
    tensor = b.buffer()
    for n in range(2):
        row = b.tensor([1, 4], data_type, tensor, [2, 4], [n, 0])
        row = b.op("ScalarMul", [b.tensor([1, 4], data_type)], [row], Factor=("FLOAT", n + 1.5))
        b.op("ScalarAdd", [row], [row], Factor=("FLOAT", 1.0))
    b.op("Copy", [b.tensor([2, 4], data_type, tensor)], [b.tensor([2, 4], data_type)])
    flat = b.tensor([4], data_type, tensor, [8], [2])
    b.op("Relu", [flat], [b.tensor([4], data_type)])
    return b


def given(module: Module, b: Building, seed: int = 0) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    tensors = World(b.document()).ranks[0].tensors
    result = {v.name: tensors[int(v.name[1:])] for v in module.inputs}
    return {name: rng.normal(size=t["Shape"]).astype(DTYPES[t["DataType"]]) for name, t in result.items()}


def on_bytes(b: Building, inputs: dict[str, Array], outputs: tuple[str, ...]) -> dict[str, Array]:
    world = World(b.document())
    world.give(inputs)
    world.run()
    return {name: world.output(name) for name in outputs}


def test_whole_tensors_are_values_without_anything_in_between(tmp_path: Path) -> None:
    b = Building("v3")
    x = b.tensor([2, 4])
    y = b.op("ScalarAdd", [x], [x], Factor=("FLOAT", 1.0))
    b.op("Relu", [b.op("Mul", [y, y], [y])], [b.tensor([2, 4])])
    assert names(cir.load(written(b, tmp_path))) == [
        "core.constant", "core.add", "core.mul", "core.constant", "core.greater", "core.select", "ml_program.return",
    ]  # fmt: skip


def test_what_is_overwritten_unread_is_not_computed(tmp_path: Path) -> None:
    b = Building("v3")
    x, y = b.tensor([4]), b.tensor([4])
    b.op("Exp", [x], [y])
    b.op("Sqrt", [x], [y])
    assert names(cir.load(written(b, tmp_path))) == ["core.sqrt", "ml_program.return"]


def test_parts_that_make_a_whole_are_one_concatenation(tmp_path: Path) -> None:
    result = names(cir.load(written(parts_in_place(), tmp_path)))
    assert result.count("core.concat") == 1
    assert result.count("core.slice") == 1
    assert "core.pad" not in result


def test_half_precision_is_widened_once_for_all_that_read_it(tmp_path: Path) -> None:
    b = Building("v3")
    x = b.tensor([4], "FP16")
    for kind in ("Exp", "Sigmoid", "Gelu"):
        b.op(kind, [x], [b.tensor([4], "FP16")])
    assert names(cir.load(written(b, tmp_path))).count("core.cast") == 1 + 3


@pytest.mark.parametrize("data_type", ["FP32", "FP16"])
def test_program_of_one_rank_runs_in_onnxruntime(data_type: str, tmp_path: Path) -> None:
    runtime = oracle("onnxruntime")
    b = parts_in_place(data_type)
    module = cir.load(written(b, tmp_path))
    inputs = given(module, b)
    cir.save(cir.convert(module, "onnx"), tmp_path / "program.onnx")
    session = runtime.InferenceSession(str(tmp_path / "program.onnx"), providers=["CPUExecutionProvider"])
    outputs = tuple(o.name for o in session.get_outputs())
    expected = on_bytes(b, inputs, outputs)
    assert len(outputs) == 2
    for name, array in zip(outputs, session.run(None, inputs), strict=True):
        np.testing.assert_array_equal(array, expected[name])


@pytest.mark.parametrize("data_type", ["FP32", "FP16", "INT32"])
def test_program_of_one_rank_is_a_program_of_core_ml(data_type: str, tmp_path: Path) -> None:
    b = parts_in_place(data_type)
    module = cir.load(written(b, tmp_path))
    inputs = given(module, b)
    converted = cir.convert(module, "coreml")
    outputs = cir.run(converted, inputs)
    expected = on_bytes(b, inputs, tuple(outputs))
    assert len(outputs) == 2
    for name, array in outputs.items():
        np.testing.assert_array_equal(array, expected[name])
    load_in_coremltools(converted, tmp_path)


def test_contents_beside_the_file_are_constants(tmp_path: Path) -> None:
    b = Building("v3")
    x, w = b.tensor([2, 4]), b.tensor([2, 4])
    y = b.op("Add", [x, w], [w])
    path = written(b, tmp_path)
    arrays = {"t1": np.arange(8, dtype=np.float32).reshape(2, 4)}
    with (tmp_path / "program.safetensors").open("wb") as stream:
        write_safetensors(stream, arrays)
    module = cir.load(path)
    assert [v.name for v in module.inputs] == ["t0"]
    ones = np.ones((2, 4), np.float32)
    # Each run begins with the contents of the file, whatever the one before wrote there.
    for _ in range(2):
        np.testing.assert_array_equal(cir.run(module, {"t0": ones})[f"t{y['Id']}"], arrays["t1"] + 1)


@pytest.mark.parametrize("generation", ["v1", "v2", "v3", "v4"])
@pytest.mark.parametrize(("data_type", "tolerance"), [("FP32", 1e-6), ("FP16", 2e-3), ("BF16", 1.6e-2)])
@pytest.mark.parametrize("engine", ["numpy", "reference"])
def test_llama_block_agrees_with_torch(
    generation: str, data_type: str, tolerance: float, engine: str, tmp_path: Path
) -> None:
    torch = oracle("torch")
    arrays = llama.weights()
    b, ports, result = llama.block(generation, data_type, arrays)
    module = cir.load(written(b, tmp_path))
    assert {v.name for v in module.inputs} == set(ports.values())
    kinds = {name: DTYPES["FP32" if name.endswith("norm") else data_type] for name in ports}
    inputs = {ports[name]: array.astype(kinds[name]) for name, array in arrays._asdict().items()}
    outputs = cir.run(module, inputs, engine=engine)
    assert [*outputs] == [result]
    rounded = arrays._replace(**{name: inputs[port].astype(np.float32) for name, port in ports.items()})
    expected = llama.in_torch(torch, rounded)
    most = float(np.abs(expected).max())
    assert float(np.abs(outputs[result].astype(np.float64) - expected).max()) <= tolerance * most
