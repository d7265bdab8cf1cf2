"""Broken Core ML packages that `cir check --fix` fixes: the result gives the outputs of the package before it broke,
which torch computed.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir import api
from commonir.formats.coreml.messages import message_class

from tests.faults import MODELS

FOLDER = MODELS / "activation_iOS15"
_MODEL = Path("Data", "com.apple.CoreML", "model.mlmodel")


def _reverse(block: Any) -> None:
    operations = list(block.operations)[::-1]
    del block.operations[:]
    block.operations.extend(operations)


def _contradict(block: Any) -> None:
    first = next(op for op in block.operations if op.type != "const")
    first.outputs[0].type.tensorType.dimensions[0].constant.size += 5


def _both(block: Any) -> None:
    _contradict(block)
    _reverse(block)


CASES: dict[str, tuple[Callable[..., None], set[str]]] = {
    "order": (_reverse, {"sorted the operations, so that each follows those that it uses"}),
    "type": (_contradict, {"declared 'relu' as tensor<2x3x4x5xf32>, which follows from mil.relu"}),
    "both": (
        _both,
        {
            "sorted the operations, so that each follows those that it uses",
            "declared 'relu' as tensor<2x3x4x5xf32>, which follows from mil.relu",
        },
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_broken_packages_are_fixed(case: str, tmp_path: Path) -> None:
    change, said = CASES[case]
    path = tmp_path / "m.mlpackage"
    shutil.copytree(FOLDER / "model.mlpackage", path)
    message: Any = message_class("Model")()
    message.ParseFromString((path / _MODEL).read_bytes())
    change(message.mlProgram.functions[0].value.block_specializations[0].value)
    (path / _MODEL).write_bytes(message.SerializeToString())
    fixed = cir.fix(path)
    assert fixed.is_sound
    assert {d.fix.text for d in fixed.fixed if d.fix is not None} == said
    assert fixed.module is not None
    out = tmp_path / "fixed.mlpackage"
    api.save_fixed(path, fixed.module, out)
    expected = np.load(FOLDER / "outputs.npz")
    outputs = cir.run(cir.load(out), dict(np.load(FOLDER / "inputs.npz")))
    for name, array in outputs.items():
        np.testing.assert_allclose(np.asarray(array, np.float32), expected[name], rtol=1e-4, atol=1e-4)
