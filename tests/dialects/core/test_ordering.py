"""Positions that sort, against numpy's stable sort of Python objects and of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.dialects.core.ordering import order_of

Array = NDArray[Any]


def expected_order(x: Array, axis: int, descending: bool) -> Array:
    """Returns the order by a stable sort of pairs: whether an element is NaN, and its value."""
    last = np.moveaxis(x, axis, -1)
    sign = -1 if descending else 1
    orders = [
        sorted(range(len(row)), key=lambda n: (sign * (row[n] != row[n]), 0 if row[n] != row[n] else sign * row[n]))
        for row in last.reshape(-1, last.shape[-1]).tolist()
    ]
    return np.moveaxis(np.array(orders, np.int64).reshape(last.shape), -1, axis)


def elements(dtype: Any, shape: tuple[int, ...], distinct: int) -> Array:
    """Returns elements, of which many are equal if there are few distinct ones."""
    random = np.random.default_rng(distinct)
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        values = random.integers(limits.min, limits.max, distinct, dtype, endpoint=True)
        values[:2] = limits.min, limits.max
        return random.choice(values, shape)
    values = random.standard_normal(distinct).astype(dtype)
    values[:6] = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, np.copysign(np.nan, -1)], dtype)
    return random.choice(values, shape)


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.int8, np.uint16, np.int32, np.uint32, np.int64]
)
@pytest.mark.parametrize("distinct", [8, 1000])
@pytest.mark.parametrize("descending", [False, True])
def test_order_is_that_of_a_stable_sort(dtype: Any, distinct: int, descending: bool) -> None:
    x = elements(dtype, (3, 200), distinct)
    order = expected_order(x, 1, descending)
    for count in (0, 1, 7, 25, 100, 200):
        assert np.array_equal(order_of(x, 1, descending, count), order[:, :count]), count
    assert np.array_equal(order_of(x, 1, descending), order)


@pytest.mark.parametrize("dtype", [np.float32, dtype_of("bf16"), dtype_of("f8E4M3FN")])
@pytest.mark.parametrize("size", [6, 200])
@pytest.mark.parametrize("descending", [False, True])
def test_nan_is_larger_than_every_number(dtype: Any, size: int, descending: bool) -> None:
    x = np.random.default_rng(size).choice(np.array([1, np.nan, -2, 0.0, 7], np.float32), (1, size))
    assert np.array_equal(order_of(x.astype(dtype), 1, descending), expected_order(x, 1, descending))


@pytest.mark.parametrize("count", [1, 5, 90])
def test_order_is_along_the_axis(count: int) -> None:
    x = elements(np.float32, (2, 100, 3), 50)
    assert np.array_equal(order_of(x, 1, True, count), expected_order(x, 1, True)[:, :count])


def test_rows_that_are_taken_in_several_blocks_are_sorted() -> None:
    x = np.random.default_rng(0).standard_normal((5, 1 << 15)).astype(np.float32)
    for descending in (False, True):
        whole = np.argsort(-x if descending else x, axis=1, kind="stable")
        assert np.array_equal(order_of(x, 1, descending, 3), whole[:, :3])
        assert np.array_equal(order_of(x, 1, descending), whole)


@pytest.mark.parametrize("shape", [(0, 50), (2, 0), (2, 1), (0, 0)])
def test_order_of_few_elements(shape: tuple[int, int]) -> None:
    x = np.zeros(shape, np.float32)
    expected = np.broadcast_to(np.arange(shape[1]), shape)
    assert np.array_equal(order_of(x, 1, True), expected)
    assert order_of(x, 1, False, 0).shape == (shape[0], 0)
