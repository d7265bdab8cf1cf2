"""Memory of values: formulas by hand, and numbers measured by running each operation."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

import commonir as cir
from commonir.ir.module import Function
from commonir.passes.count_memory import peak_memory

from tests.first_hour import models
from tests.work_counts import lines_of

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


def _nested(depth: int) -> Function:
    """Returns a function of branches within branches, each of which adds two values of all levels around it."""
    lines = [f"%i{n} = arith.addf %v{n}, %v{n} : f32\n%r{n} = scf.if %c -> (f32) {{" for n in range(depth)]
    lines = [f"{line}\n%v{n + 1} = arith.mulf %i{n}, %v{n} : f32" for n, line in enumerate(lines)]
    results = [*[f"%r{n}" for n in range(1, depth)], f"%v{depth}"]
    ends = [f"scf.yield {r} : f32\n}} else {{\nscf.yield %i{n} : f32\n}}" for n, r in enumerate(results)]
    text = "\n".join(["func.func @f(%c: i1, %v0: f32) -> f32 {", *lines, *reversed(ends), "return %r0 : f32\n}"])
    return cir.lower(cir.loads(text, format="mlir")).main


def test_work_grows_as_the_depth_of_a_program_does() -> None:
    short, long = [lines_of(partial(peak_memory, _nested(depth))) for depth in (30, 60)]
    assert long < 2.2 * short


def test_values_around_branches_live_as_long_as_these_and_their_users() -> None:
    # The condition is a byte. Each level adds %i, %r and %v to %v0, and all live until the last is computed.
    assert [peak_memory(_nested(depth)) for depth in (1, 2, 3)] == [17, 29, 41]
