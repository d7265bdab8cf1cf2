"""Eigenvalues and singular values: the product of the parts is the matrix, and vectors are orthonormal."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.dialects import core
from commonir.ir.types import ELEMENT_TYPES, TensorType

from tests.runtime.interpreter.test_operations import NUMPY, REFERENCE
from tests.runtime.programs import program

Array = NDArray[np.floating]


def _results(build: object, x: Array) -> list[Array]:
    module = program(build, {"x": TensorType(ELEMENT_TYPES[{4: "f32", 8: "f64"}[x.itemsize]], x.shape)})  # pyright: ignore[reportArgumentType]  a function of values
    first, second = [list(engine.prepare(module).run({"x": x}).values()) for engine in (REFERENCE, NUMPY)]
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
    return first


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("lower", [True, False])
def test_eigenvectors_and_eigenvalues_give_the_matrix(dtype: type, lower: bool) -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 4)).astype(dtype)
    w, v = _results(lambda x: core.eigh(x, lower), x)
    triangle = np.tril(x) if lower else np.triu(x).swapaxes(-1, -2)
    symmetric = triangle + np.tril(triangle, -1).swapaxes(-1, -2)
    np.testing.assert_allclose((v * w[..., None, :]) @ v.swapaxes(-1, -2), symmetric, atol=1e-5)
    np.testing.assert_allclose(v.swapaxes(-1, -2) @ v, np.broadcast_to(np.eye(4), v.shape), atol=1e-5)
    assert (np.diff(w) >= 0).all()
    assert w.dtype == v.dtype == dtype


@pytest.mark.parametrize("shape", [(2, 4, 3), (3, 5), (3, 3), (0, 2)])
@pytest.mark.parametrize("full", [True, False])
def test_singular_vectors_and_values_give_the_matrix(shape: tuple[int, ...], full: bool) -> None:
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    u, s, vh = _results(lambda x: core.svd(x, full), x)
    k = min(shape[-2:])
    np.testing.assert_allclose((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x, atol=1e-5)
    for rows in (u.swapaxes(-1, -2), vh):
        np.testing.assert_allclose(
            rows @ rows.swapaxes(-1, -2), np.zeros_like(rows[..., :1]) + np.eye(rows.shape[-2]), atol=1e-5
        )
    assert (np.diff(s) <= 0).all()
    assert u.shape[-1] == (shape[-2] if full else k)
    assert vh.shape[-2] == (shape[-1] if full else k)


def test_what_is_not_found_is_not_a_number() -> None:
    x = np.full((2, 2), np.nan, np.float32)
    assert all(np.isnan(y).all() for y in _results(core.eigh, x))
    assert all(np.isnan(y).all() for y in _results(core.svd, x))
