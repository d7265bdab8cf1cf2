"""Packages that coremltools made: written byte for byte, and readable by coremltools also where everything was moved.

`COMMONIR_SAMPLES` names a folder with further packages.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commonir.formats.coreml.read import read
from commonir.formats.coreml.write import write
from commonir.ir.data import Data, InlineData, TextData
from commonir.ir.module import Module
from commonir.ods import Dialects, Op

from tests.formats.coreml.test_write import contents
from tests.oracles import oracle

MODELS = Path(__file__).parents[2] / "models"
SAMPLES = os.environ.get("COMMONIR_SAMPLES")
FOLDERS = [MODELS, *([Path(SAMPLES)] if SAMPLES else [])]
PACKAGES = [p for folder in FOLDERS for p in sorted(folder.rglob("*.mlpackage"))]
WEIGHTS = Path("Data", "com.apple.CoreML", "weights")

over_packages = pytest.mark.parametrize(
    "package", PACKAGES, ids=[p.parent.name if p.stem == "model" else p.stem for p in PACKAGES]
)


@pytest.mark.fast_every(4)
@over_packages
def test_package_is_written_byte_for_byte(package: Path, tmp_path: Path) -> None:
    write(read(package, Dialects()), tmp_path / "out.mlpackage")
    assert contents(tmp_path / "out.mlpackage") == contents(package)


@pytest.mark.slow_cases("llama_stateful_*", "mobilenet_v2_*", "*_fp32")
@over_packages
def test_coremltools_reads_the_same_program_after_everything_was_moved(package: Path, tmp_path: Path) -> None:
    coremltools = oracle("coremltools")
    module = read(package, Dialects())
    forget_file(module)
    write(module, tmp_path / "out.mlpackage")
    # Not the package: coremltools refuses one whose empty folder of weights git has dropped.
    (model,) = package.rglob("*.mlmodel")
    expected, result = (coremltools.utils.load_spec(str(p)) for p in (model, tmp_path / "out.mlpackage"))
    assert result.description == expected.description
    assert coremltools.models.MLModel(str(tmp_path / "out.mlpackage"), skip_model_load=True).get_spec() == result
    if expected.WhichOneof("Type") != "mlProgram":
        return
    left, right = loaded(expected, package), loaded(result, tmp_path / "out.mlpackage")
    assert list(left) == list(right)
    for name, value in left.items():
        np.testing.assert_array_equal(right[name], value)


def forget_file(module: Module) -> None:
    """Makes of a program one that was not read from weight files: each constant is on its own, in memory."""
    module.set_extra("coreml.manifest", None)
    module.set_extra("coreml.files", None)
    for op in list(module.nested()):
        if not isinstance(op, Op):
            continue
        changed = {f: stored for f, stored in op.stored_attributes.items() if isinstance(stored, Data)}
        if changed and op.parent is not None:
            result = op.with_attributes(**{f: copied(stored) for f, stored in changed.items()})
            for key, value in op.extra.items():
                result.set_extra(key, value)
            op.parent.insert_before(op, result)
            for old, new in zip(op.results, result.results, strict=True):
                old.replace_all_uses_with(new)
            op.erase()


def copied(data: Data) -> Data:
    return data if isinstance(data, TextData) else InlineData(data.type, bytes(data.buffer()))


def loaded(spec: Any, package: Path) -> dict[str, Any]:
    """Returns what coremltools knows of the values of each operation, by function and place."""
    from coremltools.converters.mil.frontend.milproto.load import load  # noqa: PLC0415  an oracle

    program = load(spec, spec.specificationVersion, str(package / WEIGHTS))
    out: dict[str, Any] = {}
    for name, function in program.functions.items():
        for n, op in enumerate(function.operations):
            for result in op.outputs:
                # Loading names some constants by a count of its own.
                out[f"{name}[{n}] {op.op_type} {result.sym_type}"] = result.val
    return out
