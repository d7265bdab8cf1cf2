"""Threads load, check, convert and run programs at once, with the results of one thread."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.runtime import blas
from commonir.runtime.engine import Executable

from tests.runtime.ranks.programs import all_reduce_program, drawn, given, parsed

Array = NDArray[Any]

_MODELS = Path(__file__).parent / "models"
_EXAMPLE = Path(__file__).parents[1] / "examples" / "transformer.onnx"
_NAMES = ("activation_iOS15", "control_iOS15")
_THREADS = 8


@pytest.mark.slow_cases(*_NAMES)
@pytest.mark.parametrize("name", ["kinds/accumulator", *_NAMES])
def test_threads_load_and_run_at_once(name: str) -> None:
    path = _MODELS / f"{name}.mlpackage" if "/" in name else _MODELS / name / "model.mlpackage"

    def outputs(_: int) -> dict[str, object]:
        program = cir.load(path)
        assert not [d for d in cir.verify(program) if d.is_error]
        return dict(cir.run(program, seed=1))

    expected = outputs(0)
    with ThreadPoolExecutor(_THREADS) as pool:
        results = list(pool.map(outputs, range(_THREADS * 2)))
    for result in results:
        assert result.keys() == expected.keys()
        for key, value in expected.items():
            np.testing.assert_array_equal(np.asarray(result[key]), np.asarray(value))


def _in_threads(executable: Executable, inputs: Sequence[Mapping[str, Array]]) -> list[dict[str, Array]]:
    """Runs an executable in many threads at once, which the interpreter switches often."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(_THREADS) as pool:
            return list(pool.map(executable.run, inputs))
    finally:
        sys.setswitchinterval(interval)


def test_runs_of_one_executable_in_several_threads_take_turns() -> None:
    program = cir.load(_EXAMPLE)
    executable = cir.prepare(program)
    several = [cir.random_inputs(program, seed=n) for n in range(4)]
    expected = [executable.run(each) for each in several]
    for n, result in enumerate(_in_threads(executable, several * 15)):
        for name, value in expected[n % 4].items():
            np.testing.assert_array_equal(result[name], value)


def test_runs_of_several_ranks_take_turns() -> None:
    inputs = [given(drawn(2, (n % 3 + 4,))[:]) for n in range(12)]
    executable = cir.prepare(parsed(all_reduce_program(2, "?xf32")))
    expected = [executable.run(each) for each in inputs]
    for result, before in zip(_in_threads(executable, inputs), expected, strict=True):
        for name, value in before.items():
            np.testing.assert_array_equal(result[name], value)


class _Library:
    """A library that only counts its threads."""

    user_api = "blas"

    def __init__(self) -> None:
        self.num_threads = 8

    def set_num_threads(self, num_threads: int) -> None:
        self.num_threads = num_threads


def test_limits_of_threads_of_several_runs_end_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    library = _Library()
    controller = type("Controller", (), {"lib_controllers": [library]})
    monkeypatch.setattr(blas, "ThreadpoolController", controller)
    limits = blas._Limits()
    steps: list[int] = []
    for action, threads in (("add", 2), ("add", 1), ("remove", 2), ("add", 4), ("remove", 1), ("remove", 4)):
        getattr(limits, action)(threads)
        steps.append(library.num_threads)
    assert steps == [2, 1, 1, 1, 4, 8]
