"""The packages of `tests/zoo/kinds.py`, and what every test of them does with one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import commonir as cir
from commonir.base.diagnostics import Diagnostics

from tests.oracles import oracle

Array = NDArray[Any]
Arrays = Mapping[str, Array]

KINDS = Path(__file__).parents[1] / "models" / "kinds"
ENGINES = ("reference", "numpy", "onnxruntime")


def load(name: str) -> cir.Module:
    """A package, without any finding."""
    module, diagnostics = cir.check(KINDS / f"{name}.mlpackage")
    assert diagnostics == []
    assert module is not None
    return module


def converted(name: str, folder: Path, function: str | None = None) -> tuple[Path, Diagnostics]:
    """A package as an ONNX file, and the findings of its conversion."""
    diagnostics = Diagnostics()
    path = folder / "model.onnx"
    cir.save(cir.convert(load(name), "onnx", function=function, findings=diagnostics), path)
    return path, diagnostics


def run_onnx(path: Path, inputs: Arrays) -> dict[str, Array]:
    """Returns what onnxruntime gives for an ONNX file."""
    onnxruntime = oracle("onnxruntime")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, dict(inputs)), strict=True))


def f16(*values: float) -> Array:
    return np.array(values, np.float16)


def f32(*values: float) -> Array:
    return np.array(values, np.float32)


def diagnostic(error: cir.DiagnosticError) -> str:
    """The code, message and notes of the only finding of an error."""
    (diagnostic,) = error.diagnostics
    return " | ".join([diagnostic.code.id, diagnostic.message, *diagnostic.notes])
