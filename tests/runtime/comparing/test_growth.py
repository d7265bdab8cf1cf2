"""Finding the operations behind a difference takes as much work in a long program as in a short one."""

from __future__ import annotations

import numpy as np

import commonir as cir
from commonir.runtime.comparing.divergence import Side, ValueComparison
from commonir.runtime.engine import Engines

from tests.work_counts import lines_of


def _comparison(count: int) -> ValueComparison:
    """Returns a comparison of a program of independent sums with itself."""
    lines = [f"%y{n} = arith.addf %x, %x : tensor<2xf32>" for n in range(count)]
    types = ", ".join(["tensor<2xf32>"] * count)
    lines.append(f"return {', '.join([f'%y{n}' for n in range(count)])} : {types}")
    text = "\n".join([f"func.func @main(%x: tensor<2xf32>) -> ({types}) {{", *lines, "}"])
    sides = [Side(cir.loads(text, format="mlir"), Engines().get("numpy")) for _ in "ab"]
    return ValueComparison(sides[0], sides[1], {"x": np.zeros(2, np.float32)})


def test_operations_behind_each_value_are_found_in_linear_time() -> None:
    work: list[int] = []
    for count in (8, 16, 32):
        comparing = _comparison(count)
        work.append(lines_of(lambda comparing=comparing: [comparing.slices(pair) for pair in comparing.pairs]))
    short, middle, long = work
    assert long - middle < 2.3 * (middle - short)
