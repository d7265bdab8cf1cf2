"""Random programs on overlapping views give what bytes give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir

from tests.formats.ark import model_files as files
from tests.passes.ark.machine import DTYPES, World
from tests.passes.ark.random_memory import RandomProgram

GROUPS = 15
PER_GROUP = 20


def _agree(seed: int, folder: Path) -> int:
    """Compares all outputs of a program; how many there are."""
    program = RandomProgram(seed)
    path = folder / "program.json"
    path.write_bytes(files.text(program.document, program.generation))
    module = cir.lower(cir.load(path))
    world = World(program.document)
    rng = np.random.default_rng(seed)
    tensors = world.ranks[0].tensors
    inputs = {
        v.name: rng.integers(0, 8, tensors[int(v.name[1:])]["Shape"]).astype(
            DTYPES[tensors[int(v.name[1:])]["DataType"]]
        )
        for v in module.inputs
    }
    world.give(inputs)
    with np.errstate(all="ignore"):
        world.run()
    results: dict[str, NDArray[Any]] = {}
    for engine in ("numpy", "reference"):
        results = cir.run(module, inputs, engine=engine)
        for name, array in results.items():
            expected = world.output(name)
            assert array.dtype == expected.dtype
            np.testing.assert_array_equal(array, expected, err_msg=f"seed {seed}, {engine}, {name}")
    return len(results)


@pytest.mark.parametrize("seed", range(3))
def test_a_few_random_programs_give_what_bytes_give(seed: int, tmp_path: Path) -> None:
    assert _agree(seed, tmp_path) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("group", range(GROUPS))
def test_random_programs_give_what_bytes_give(group: int, tmp_path: Path) -> None:
    counts = [_agree(seed, tmp_path) for seed in range(group * PER_GROUP, (group + 1) * PER_GROUP)]
    assert min(counts) >= 2
