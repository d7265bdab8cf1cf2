"""The reproducer of a divergence: a folder that shows the difference on its own."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir.api import engine_for_one_run
from commonir.base.diagnostics import DiagnosticError, ExitStatus
from commonir.cli.main import main
from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import f32, tensor

from tests.conversions.programs import core_module
from tests.faults import model, with_other_operation, with_other_weight


@pytest.mark.slow_cases("bert_fp16", "llama_stateful_fp16", "unet_flexible_size_fp16")
@pytest.mark.parametrize("network", ["resnet_fp32", "bert_fp16", "llama_stateful_fp16", "unet_flexible_size_fp16"])
def test_command_of_the_folder_shows_the_difference_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network: str
) -> None:
    program = model(network)
    fault = with_other_weight(program, 0.6)
    comparison = cir.compare(program, fault.program, repro=tmp_path / "repro")
    first = comparison.first_divergence
    assert first is not None
    assert (first.name, first.is_isolated, first.folder) == (fault.name, True, str(tmp_path / "repro"))
    folder = tmp_path / "repro"
    with np.load(folder / "expected.npz") as expected, np.load(folder / "actual.npz") as actual:
        difference = np.abs(expected[fault.name].astype(np.float64) - actual[fault.name].astype(np.float64))
    assert difference.max() == first.difference.absolute
    monkeypatch.chdir(folder)
    command = shlex.split((folder / "command.txt").read_text())
    assert command[0] == "cir"
    assert main(command[1:]) == ExitStatus.NO
    for name in command[2:4]:
        part = cir.load(name)
        assert [op.name for op in part.main.body.operations if op.name == fault.operation] == [fault.operation]


@pytest.mark.parametrize("network", ["unet_flexible_size_fp32", "bert_flexible_length_fp32"])
def test_divergence_of_a_conversion_with_dynamic_sizes_is_reproduced(tmp_path: Path, network: str) -> None:
    program = model(network)
    fault = with_other_weight(program, 0.5)
    comparison = cir.compare(
        program, cir.convert(fault.program, "onnx"), engines=["numpy", "onnxruntime"], repro=tmp_path / "repro"
    )
    first = comparison.first_divergence
    assert first is not None
    assert (first.name, first.is_isolated) == (fault.name, True)
    assert any((tmp_path / "repro" / name).exists() for name in ("b.onnx", "b.mlir"))


def test_models_of_a_package_are_packages(tmp_path: Path) -> None:
    program = model("resnet_fp32")
    cir.compare(program, with_other_weight(program, 0.5).program, repro=tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {
        "a.mlpackage",
        "b.mlpackage",
        "inputs.npz",
        "expected.npz",
        "actual.npz",
        "command.txt",
    }


def test_weights_of_a_reproducer_are_those_it_uses(tmp_path: Path) -> None:
    program = model("resnet_fp32")
    cir.compare(program, with_other_operation(program, 0.5, "mil.relu", "mil.sigmoid").program, repro=tmp_path)
    assert not list((tmp_path / "a.mlpackage").rglob("*.bin"))


def test_program_without_a_file_format_is_written_as_text(tmp_path: Path) -> None:
    def build(is_wrong: bool) -> Module:
        return core_module(lambda x: core.exp(core.sin(x) if is_wrong else core.cos(x)), {"x": tensor(f32, 3)})

    a, b = build(False), build(True)
    for module in (a, b):
        for op in module.main.body.operations:
            if op.results:
                op.results[0].name = "angle" if op.next is not None and op.next.results else "y"
    comparison = cir.compare(a, b, repro=tmp_path)
    assert comparison.first_divergence is not None
    assert comparison.first_divergence.name == "angle"
    engine = engine_for_one_run()
    assert (tmp_path / "command.txt").read_text() == (
        f"cir compare a.mlir b.mlir @inputs.npz --engines {engine},{engine} --rtol 0.0001\n"
    )
    with np.load(tmp_path / "inputs.npz") as inputs, np.load(tmp_path / "expected.npz") as expected:
        got = cir.run(cir.load(tmp_path / "a.mlir"), dict(inputs), engine=engine)
        # A first run may take other functions of the C library than compiled code.
        np.testing.assert_allclose(np.asarray(got["angle"], np.float64), expected["angle"], rtol=1e-6)


def test_amplified_differences_are_reported_from_faults(tmp_path: Path) -> None:
    def build(scale: float) -> Module:
        def body(x: Value) -> Value:
            y = core.mul(x, core.scalar(scale, f32))
            y.name = "almost"
            z = core.sub(y, core.scalar(1.0, f32))
            z.name = "cancelled"
            return z

        return core_module(body, {"x": tensor(f32, 2)})

    inputs = {"x": np.array([1.0, 1.0], np.float32)}
    comparison = cir.compare(build(1.00001), build(1.00002), inputs, repro=tmp_path)
    first = comparison.first_divergence
    assert first is not None
    assert (first.name, first.is_isolated) == ("cancelled", False)


def test_nothing_is_written_when_all_agrees(tmp_path: Path) -> None:
    assert cir.compare(model("resnet_fp32"), values="all", repro=tmp_path / "repro").is_within
    assert not (tmp_path / "repro").exists()


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_text("a model of the user")
    with pytest.raises(DiagnosticError, match="E0803"):
        cir.compare(model("resnet_fp32"), repro=tmp_path)
    assert (tmp_path / "a.onnx").read_text() == "a model of the user"


def test_divergence_from_stored_values_is_reproduced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(value: float) -> Module:
        def body(x: Value) -> Value:
            square = core.mul(x, x)
            square.name = "square"
            y = core.mul(square, core.scalar(value, f32))
            y.name = "y"
            return y

        return core_module(body, {"x": tensor(f32, 2)})

    x = {"x": np.array([1, 2], np.float32)}
    inside = {"square": np.array([1, 4], np.float32), "y": np.array([3, 12], np.float32)}
    for stored, operations in ((inside, 1), ({"y": inside["y"]}, 2)):
        folder = tmp_path / str(operations)
        comparison = cir.compare(build(2.0), stored, x, repro=folder)
        first = comparison.first_divergence
        assert first is not None
        assert (first.name, first.is_isolated, first.folder) == ("y", True, str(folder))
        assert len(first.operations) == operations
        with np.load(folder / "expected.npz") as expected, np.load(folder / "actual.npz") as actual:
            assert (expected["y"].tolist(), actual["y"].tolist()) == ([3, 12], [2, 8])
        with np.load(folder / "inputs.npz") as inputs:
            assert {n: inputs[n].tolist() for n in inputs} == ({"square": [1, 4]} if operations == 1 else {"x": [1, 2]})
        monkeypatch.chdir(folder)
        command = shlex.split((folder / "command.txt").read_text())
        assert command[:4] == ["cir", "compare", "a.mlir", "expected.npz"]
        assert main(command[1:]) == ExitStatus.NO


def test_values_that_agree_with_stored_ones_leave_no_reproducer(tmp_path: Path) -> None:
    program = core_module(lambda x: core.add(x, x), {"x": tensor(f32, 2)})
    stored = {program.main.output_names[0]: np.array([2, 4], np.float32)}
    assert cir.compare(program, stored, {"x": np.array([1, 2], np.float32)}, repro=tmp_path / "found").is_within
    assert not (tmp_path / "found").exists()
