"""Sparse tensors as values of a run.

Source: ONNX, onnx.proto, `SparseTensorProto`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]


class SparseArray:
    """A sparse tensor: elements that are not stored are zero, or the empty string.

    `values` has shape [n]. `indices` are coordinates of shape [n, rank], as i64, in ascending row-major order, each
    once. `shape` is that of the dense tensor. An element that is stored may be zero.
    """

    __slots__ = ("indices", "shape", "values")

    def __init__(self, values: ArrayLike, indices: ArrayLike, shape: Sequence[int]) -> None:
        """Puts elements in order; of elements with equal indices the last one counts.

        Shapes: values [n]; indices [n, rank] (coordinates), or [n] (indices in row-major order).
        Raises: ValueError when shapes contradict each other, or an index is out of range.
        """
        elements, positions = np.asarray(values), np.asarray(indices)
        dims = tuple([int(n) for n in shape])
        if any(n < 0 for n in dims):
            raise ValueError(f"{min(dims)} is not a dim")
        count = elements.shape[0] if elements.ndim == 1 else None
        if count is None or positions.shape not in ((count,), (count, len(dims))):
            raise ValueError(
                f"values of shape {list(elements.shape)} and indices of shape {list(positions.shape)} "
                f"in a tensor of rank {len(dims)}"
            )
        rows = positions.astype(np.int64)
        limits = np.asarray([prod(dims)] if rows.ndim == 1 else dims, np.int64)
        columns = rows.reshape(count, limits.size)
        outside = columns[(columns < 0) | (columns >= limits)]
        if outside.size:
            raise ValueError(f"a tensor of shape {list(dims)} has no position {outside[0]}")
        linear = rows if rows.ndim == 1 else _linear(rows, dims)
        # A stable order of the reversed elements puts the last of equal ones first.
        ordered, first = np.unique(linear[::-1], return_index=True)
        self.values: Array = elements[::-1][first]
        self.indices: NDArray[np.int64] = np.stack(np.unravel_index(ordered, dims or (1,)), axis=1)[:, : len(dims)]
        self.shape = dims

    @classmethod
    def of_dense(cls, array: ArrayLike) -> SparseArray:
        """Returns the sparse tensor with the nonzero elements of a dense one. NaN is not zero; -0.0 is."""
        dense = np.asarray(array)
        positions = np.flatnonzero(dense)
        return cls(dense.reshape(-1)[positions], positions, dense.shape)

    @property
    def linear_indices(self) -> NDArray[np.int64]:
        """Indices in row-major order, of shape [n]."""
        return _linear(self.indices, self.shape)

    def dense(self) -> Array:
        """Returns the dense tensor."""
        zero = "" if self.values.dtype.kind == "O" else 0
        out: Array = np.full(self.shape, zero, self.values.dtype)
        out.reshape(-1)[self.linear_indices] = self.values
        return out

    def with_values(self, values: Array) -> SparseArray:
        """Returns a sparse tensor with other elements at the same indices."""
        result = object.__new__(SparseArray)
        result.values, result.indices, result.shape = values, self.indices, self.shape
        return result

    def __repr__(self) -> str:
        return f"SparseArray({self.values.tolist()}, {self.indices.tolist()}, {list(self.shape)})"


def _linear(rows: NDArray[np.int64], dims: tuple[int, ...]) -> NDArray[np.int64]:
    """Returns coordinates as indices in row-major order."""
    steps = np.asarray([prod(dims[n + 1 :]) for n in range(len(dims))], np.int64)
    return rows @ steps if dims else np.zeros(len(rows), np.int64)
