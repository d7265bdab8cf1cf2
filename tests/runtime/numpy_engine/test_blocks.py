"""Kernels that are computed block by block give what numpy gives for whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, boolean, f32, f64, i64
from commonir.runtime.numpy_engine import kernel_steps
from commonir.runtime.numpy_engine.array_steps import CLIPPED_SIZE
from commonir.runtime.numpy_engine.engine import ENGINE

from tests.runtime.programs import program

Array = NDArray[Any]


@pytest.mark.parametrize("seed", range(24))
def test_functions_of_elements_that_are_moved(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reads others as they are, transposed, reversed, or one row of them."""
    monkeypatch.setattr(kernel_steps, "BLOCK_ELEMENTS", 16)
    random = np.random.default_rng(seed)
    shape = [(4, 4, 6), (3, 3, 5), (5, 5, 8), (8, 8, 2)][seed % 4]
    arrays = {name: random.integers(-9, 9, shape).astype(np.float32) for name in "xz"}
    expected: list[Array] = list(arrays.values())
    choices = [[(int(random.integers(k + 2)), int(random.integers(8))) for _ in range(2)] for k in range(10)]
    functions = [int(random.integers(3)) for _ in choices]

    def moved(v: Value, how: int) -> Value:
        if how == 0:
            return core.transpose(v, (1, 0, 2))
        if how == 1:
            return core.slice(v, (0, 0, 0), (1, *shape[1:]), (1, 1, 1))
        return core.reverse(v, (0,)) if how == 2 else v

    def build(*inputs: Value) -> Value:
        values = list(inputs)
        for pair, fn in zip(choices, functions, strict=True):
            operands = [moved(values[n], how) for n, how in pair]
            # A row alone would be too small a result.
            values.append((core.add, core.sub, core.maximum)[fn](core.add(operands[0], values[0]), operands[1]))
        return values[-1]

    for pair, fn in zip(choices, functions, strict=True):
        a, b = [
            (x.transpose(1, 0, 2), x[:1], x[::-1])[how] if how < 3 else x
            for x, how in [(expected[n], how) for n, how in pair]
        ]
        expected.append((np.add, np.subtract, np.maximum)[fn](a + expected[0], b))
    executable = ENGINE.prepare(program(build, {n: TensorType(f32, shape) for n in arrays}))
    for _ in range(2):
        (result,) = executable.run(arrays).values()
        np.testing.assert_array_equal(result, expected[-1])


@pytest.mark.parametrize("shape", [(1, 40), (7, 5), (3, 4, 9)])
def test_rows_are_normalized_in_blocks_of_whole_rows(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_steps, "BLOCK_ELEMENTS", 16)
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    module = program(lambda v: core.softmax(core.mul(v, v), -1), {"x": TensorType(f32, shape)})
    (result,) = ENGINE.prepare(module).run({"x": x}).values()
    weights = np.exp(x.astype(np.float64) ** 2)
    np.testing.assert_allclose(result, weights / weights.sum(-1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("element", [f32, f64, i64])
@pytest.mark.parametrize("mask", ["mixed", "halves"])
def test_elements_are_selected_whatever_the_mask(element: Any, mask: str) -> None:
    """They are selected by their bits; NaN and negative zero stay what they are."""
    random = np.random.default_rng(0)
    size = CLIPPED_SIZE * 20 + 3
    condition = random.random(size) < 0.5 if mask == "mixed" else np.arange(size) < size // 2
    a, b = (
        random.integers(-9, 9, size).astype({f32: np.float32, f64: np.float64, i64: np.int64}[element]) for _ in "ab"
    )
    if a.dtype.kind == "f":
        a[::7], b[::5] = np.nan, -0.0
    types = {"c": TensorType(boolean, (size,)), "a": TensorType(element, (size,)), "b": TensorType(element, (size,))}
    module = program(core.select, types)
    (result,) = ENGINE.prepare(module).run({"c": condition, "a": a, "b": b}).values()
    assert result.tobytes() == np.where(condition, a, b).tobytes()


@pytest.mark.parametrize("sides", [((1, 1), (0, 0)), ((1, 0), (2, 1)), ((0, 2), (1, 0))])
def test_what_is_padded_and_cut_again_is_what_it_was(sides: tuple[tuple[int, int], tuple[int, int]]) -> None:
    x = np.arange(8 * 4 * 6, dtype=np.float32).reshape(8, 4, 6)
    before, after = [(0, *side) for side in zip(*sides, strict=True)]

    def made(v: Value) -> Value:
        wide = core.pad(v, before, after)
        return core.slice(wide, before, tuple(p + n for p, n in zip(before, x.shape, strict=True)), (1, 1, 1))

    executable = ENGINE.prepare(program(made, {"x": TensorType(f32, x.shape)}))
    for _ in range(6):  # the first runs may take operations one by one
        (y,) = executable.run({"x": x}).values()
        np.testing.assert_array_equal(y, x)
