"""Shapes that are inputs, in targets whose operations take sizes when they run: against numpy's broadcasting."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError

EXPAND = "g (float[2, 1, 3] x, int64[4] s) => (float[a, b, c, d] y) { y = Expand(x, s) }"
FILL = "g (int64[2] s) => (int64[a, b] y) { y = ConstantOfShape<value = int64[1] {7}>(s) }"


def converted(graph: str, folder: Path) -> cir.Module:
    """A program as the Core ML package that is written of it, read again."""
    source = cir.loads(f'<ir_version: 9, opset_import: ["" : 18]> {graph}', format="onnxtxt")
    path = folder / "m.mlpackage"
    cir.save(cir.convert(source, "coreml"), path)
    return cir.load(path)


@pytest.mark.parametrize("shape", [[2, 2, 4, 3], [1, 1, 1, 1], [5, 1, 3, 1], [1, 2, 1, 3]])
def test_tensors_are_broadcast_with_shapes_known_when_running(shape: list[int], tmp_path: Path) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 1, 3)
    result = cir.run(converted(EXPAND, tmp_path), {"x": x, "s": np.array(shape, np.int32)})["y"]
    np.testing.assert_array_equal(result, np.broadcast_to(x, np.broadcast_shapes((2, 1, 3), tuple(shape))))


@pytest.mark.parametrize("shape", [[2, 3], [1, 1], [4, 1]])
def test_tensors_of_one_value_have_shapes_known_when_running(shape: list[int], tmp_path: Path) -> None:
    result = cir.run(converted(FILL, tmp_path), {"s": np.array(shape, np.int32)})["y"]
    np.testing.assert_array_equal(result, np.full(shape, 7))


def test_an_axis_of_open_size_is_not_broadcast_with_one_known_when_running(tmp_path: Path) -> None:
    """Whether it has size 1 is what decides which of the two sizes the result has."""
    with pytest.raises(DiagnosticError, match="'shape' is not known before running"):
        converted(EXPAND.replace("[2, 1, 3]", "[N, 1, 3]"), tmp_path)
