"""Memory of values: formulas by hand, and numbers measured by running each operation."""

from __future__ import annotations

from pathlib import Path

import pytest

import commonir as cir

from tests.first_hour import models

EXAMPLES = Path(__file__).parents[2] / "examples"


def peak(module: cir.Module, **dims: int) -> str | None:
    return cir.summarize(module, with_flops=True, dims=dims).peak_memory


def test_peak_is_a_formula_in_the_dynamic_dims(tmp_path: Path) -> None:
    models.MODELS["net.onnx"](tmp_path / "net.onnx")
    net = cir.load(tmp_path / "net.onnx")
    # The relu reads and writes 48 channels of 12 x 12.
    assert peak(net) == f"{2 * 48 * 12 * 12 * 4}*N"
    assert peak(net, N=3) == str(3 * 2 * 48 * 12 * 12 * 4)


def test_unknown_dim_is_refused(tmp_path: Path) -> None:
    models.MODELS["net.onnx"](tmp_path / "net.onnx")
    with pytest.raises(cir.DiagnosticError, match=r"E0712.*\n.*dynamic dimensions: N"):
        peak(cir.load(tmp_path / "net.onnx"), batch=3)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dims"), [("net.onnx", {"N": 2}), ("long.onnx", {}), ("transformer.onnx", {})])
def test_peak_is_what_a_run_of_each_operation_holds(tmp_path: Path, name: str, dims: dict[str, int]) -> None:
    path = EXAMPLES / name
    if name in models.MODELS:
        path = tmp_path / name
        models.MODELS[name](path)
    module = cir.load(path)
    assert peak(module, **dims) == str(cir.profile(module, dims=dims, repeat=1).peak_bytes)
