"""Small models in files, for tests of what is stored of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import commonir as cir

RANDOM = np.random.default_rng(0)


def normal(*shape: int) -> NDArray[np.float32]:
    """Returns normally distributed numbers."""
    return RANDOM.standard_normal(shape).astype(np.float32)


W = normal(24, 40)
TEXT = '<ir_version: 8, opset_import: ["": 18]> g ({inputs}) => ({outputs}) {{ {body} }}'


def write_model(path: Path, inputs: str, outputs: str, body: str) -> None:
    """Writes an ONNX model."""
    text = TEXT.format(inputs=inputs, outputs=outputs, body=body)
    cir.save(cir.loads(text, format="onnxtxt"), path)


def write_product(path: Path) -> None:
    """Writes a model of `relu(x @ W)` for any number of rows, with W in the file."""
    values = ", ".join(str(float(x)) for x in W.reshape(-1))
    body = f"w = Constant <value = float[24, 40] {{{values}}}> () p = MatMul(x, w) y = Relu(p)"
    write_model(path, "float[N, 24] x", "float[N, 40] y", body)
