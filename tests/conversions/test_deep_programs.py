"""The cost of lowering, running, converting and refusing deeply nested regions grows linearly with their depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import commonir as cir
from commonir.ir.module import Module

from tests.work_counts import calls_of

_DEPTH = 110
"""Twice that would be too deep for Python if it took five frames for each region."""
_DEPTH_OF_RUNS = 220
"""The first hundred regions cost a run less, each, than those inside of them."""


def _branches(depth: int) -> str:
    opened = [f"%v{n} = scf.if %c -> (f32) {{" for n in range(depth)]
    closed = [f"}} else {{\nscf.yield %x : f32\n}}\nscf.yield %v{n} : f32" for n in reversed(range(depth))]
    return _function([*opened, "scf.yield %x : f32", *closed])


def _loops(depth: int) -> str:
    opened = [
        f"%v{n} = scf.for %i{n} = %one to %n step %one iter_args(%a{n} = {f'%a{n - 1}' if n else '%x'}) -> (f32) {{"
        for n in range(depth)
    ]
    closed = [f"}}\nscf.yield %v{n} : f32" for n in reversed(range(depth))]
    return _function([*opened, f"scf.yield %a{depth - 1} : f32", *closed])


def _rounds(depth: int) -> str:
    opened = [
        f"%v{n} = scf.while (%a{n} = {f'%b{n - 1}' if n else '%x'}) : (f32) -> f32 {{\n"
        f"scf.condition(%c) %a{n} : f32\n}} do {{\n^bb0(%b{n}: f32):"
        for n in range(depth)
    ]
    closed = [f"}}\nscf.yield %v{n} : f32" for n in reversed(range(depth))]
    return _function([*opened, f"scf.yield %b{depth - 1} : f32", *closed])


def _function(lines: Sequence[str]) -> str:
    start = ["func.func @main(%c: i1, %x: f32, %n: index) -> f32 {", "%one = arith.constant 1 : index"]
    body = "\n".join([*start, *lines])
    # What the outermost one gives is returned.
    return f"{body[: body.rindex('scf.yield')]}return %v0 : f32\n}}\n"


def _calls(work: Callable[[], object]) -> int:
    def refused_or_done() -> None:
        try:
            work()
        except cir.DiagnosticError as error:
            assert len(error.diagnostics) < 10  # what is inside of something that is refused is not refused one by one

    return calls_of(refused_or_done)


def _costs(module: Module, target: str) -> int:
    if target == "run":
        return _calls(lambda: cir.run(module, {"c": np.array(True), "x": np.array(1.0, np.float32), "n": np.array(2)}))
    return _calls(lambda: cir.lower(module) if target == "core" else cir.convert(module, target))


@pytest.mark.slow_cases("*_loops", "*_rounds", "run-*", "onnx-*", "coreml-*", "tosa-*", "linalg-*", "stablehlo-*")
@pytest.mark.parametrize("make", [_branches, _loops, _rounds])
@pytest.mark.parametrize("target", ["core", "run", "onnx", "coreml", "tosa", "linalg", "stablehlo"])
def test_twice_the_depth_takes_twice_the_calls(make: Callable[[int], str], target: str) -> None:
    depth = _DEPTH_OF_RUNS if target == "run" else _DEPTH
    small, large = (cir.loads(make(n), format="mlir") for n in (depth, 2 * depth))
    _costs(small, target)  # loads what is loaded once
    assert _costs(large, target) <= 2.3 * _costs(small, target) + 5000
