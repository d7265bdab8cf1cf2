"""Finding the operations behind a difference takes as much work in a long program as in a short one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.comparing.divergence import Side, ValueComparison
from commonir.comparing.live_values import LiveValues
from commonir.comparing.profile import ProfiledRun, Repeats
from commonir.runtime.engine import EngineOptions, Engines

from tests.work_counts import lines_of


def _program(count: int) -> cir.Module:
    """Returns a program of independent sums."""
    lines = [f"%y{n} = arith.addf %x, %x : tensor<2xf32>" for n in range(count)]
    types = ", ".join(["tensor<2xf32>"] * count)
    lines.append(f"return {', '.join([f'%y{n}' for n in range(count)])} : {types}")
    text = "\n".join([f"func.func @main(%x: tensor<2xf32>) -> ({types}) {{", *lines, "}"])
    return cir.loads(text, format="mlir")


def _comparison(count: int) -> ValueComparison:
    """Returns a comparison of a program of independent sums with itself."""
    sides = [Side(_program(count), Engines().get("numpy")) for _ in "ab"]
    return ValueComparison(sides[0], sides[1], {"x": np.zeros(2, np.float32)})


def test_operations_behind_each_value_are_found_in_linear_time() -> None:
    work: list[int] = []
    for count in (8, 16, 32):
        comparing = _comparison(count)
        work.append(lines_of(lambda comparing=comparing: [comparing.slices(pair) for pair in comparing.pairs]))
    short, middle, long = work
    assert long - middle < 2.3 * (middle - short)


@pytest.mark.slow
def test_profiling_many_live_values_takes_linear_work() -> None:
    """Each sum is needed until the end."""
    work: list[int] = []
    cir.profile(_program(20), engine="numpy", repeat=1, warmup=0)  # loading does not count
    for count in (20, 40, 80):
        module = _program(count)
        work.append(lines_of(lambda module=module: cir.profile(module, engine="numpy", repeat=1, warmup=0)))
    short, middle, long = work
    assert long - middle < 2.3 * (middle - short)


def test_values_at_the_peak_are_those_that_were_live_when_they_took_most_memory() -> None:
    a, b, c = [v for op in _program(3).main.body.operations for v in op.results]
    live = LiveValues()
    for value, size, dropped in ((a, 10, a), (b, 30, None), (c, 5, b)):
        live.begin_piece()
        live.add(value, np.zeros(size, np.uint8))
        live.end_piece()
        if dropped is not None:
            live.drop(dropped)
    assert (live.peak.values, live.peak.size_bytes) == (2, 35)
    assert live.at_peak == (b, c)
    assert list(live) == [c]


def test_equal_operations_are_prepared_once_for_a_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engines().get("numpy")
    prepared: list[object] = []
    prepare = type(engine).prepare

    def count(self: Any, module: cir.Module, *args: Any) -> object:
        prepared.append(module)
        return prepare(self, module, *args)

    monkeypatch.setattr(type(engine), "prepare", count)
    lines = [f"%y{n + 1} = arith.{'addf' if n % 2 else 'mulf'} %y{n}, %x : tensor<2xf32>" for n in range(20)]
    text = "\n".join(["func.func @main(%y0: tensor<2xf32>, %x: tensor<2xf32>) -> tensor<2xf32> {", *lines])
    profile = cir.profile(
        cir.loads(f"{text}\nreturn %y20 : tensor<2xf32> }}", format="mlir"), engine="numpy", repeat=1, warmup=0
    )
    assert len(profile.entries) == 20
    # The program, an empty one for the overhead of a call, a sum and a product.
    assert len(prepared) == 4
    assert {entry.flops for entry in profile.entries} == {2}


def test_operations_with_other_constants_are_profiled_apart() -> None:
    constants = [f"%c{n} = arith.constant dense<{n + 1}.0> : tensor<2xf32>" for n in range(3)]
    lines = [f"%y{n + 1} = arith.mulf %y{n}, %c{n} : tensor<2xf32>" for n in range(3)]
    text = "\n".join(["func.func @main(%y0: tensor<2xf32>) -> tensor<2xf32> {", *constants, *lines])
    side = Side(cir.loads(f"{text}\nreturn %y3 : tensor<2xf32> }}", format="mlir"), Engines().get("numpy"))
    values = [v for op in side.function.body.operations for v in op.results if v.name.startswith("y")]
    run = ProfiledRun(side, {"y0": np.ones(2, np.float32)}, values, Repeats(0, 1), EngineOptions())
    assert [array.tolist() for array in run.values(values)] == [[1, 1], [2, 2], [6, 6]]
