"""Threads load, check, convert and run programs at once, with the results of one thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import commonir as cir

_MODELS = Path(__file__).parent / "models"
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
