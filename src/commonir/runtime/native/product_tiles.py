"""Tiles of products: rows by vectors of columns whose sums stay in registers until all terms are added.

A row of the left factor is read number by number, from wherever it lies, and broadcast. The columns of the right factor
are vectors, in panels of as many columns as a tile has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.runtime.native.llvm_ir import F32, Function, LlvmType, LlvmValue, Variable
from commonir.runtime.native.target import Target
from commonir.symbolic import Dim

Array = NDArray[Any]

SYMBOLIC_ROWS = 64
"""The number of rows that tiles are chosen for where it is not known."""

UNROLLED_TERMS = 4
"""Terms that are added in one round of a loop."""


class Tile(NamedTuple):
    """Rows, and vectors of columns, that are computed together."""

    rows: int
    vectors: int


def tile_of(rows: Dim, columns: Dim, target: Target) -> Tile:
    """Returns the tile with the fewest cycles, counting what tiles compute twice or in vain."""
    m = rows if isinstance(rows, int) else SYMBOLIC_ROWS
    vectors = -(-(columns if isinstance(columns, int) else SYMBOLIC_ROWS) // target.lanes())
    best, result = float("inf"), Tile(1, 1)
    for nv in (1, 2, 3, 4):
        for mr in range(1, min(m, 24) + 1):
            if mr * nv + nv + 1 > target.registers + (nv == 4):
                continue
            full, rest = divmod(vectors, nv)
            cycles = -(-m // mr) * (full * _cycles(mr, nv) + (_cycles(mr, rest) if rest else 0))
            if cycles < best:
                best, result = cycles, Tile(mr, nv)
    return result


def _cycles(rows: int, vectors: int) -> float:
    """Returns the cycles of a tile for each term: two products or two loads in each, and four for the latency."""
    return max(rows * vectors, rows + vectors, 4) + 0.1 * rows + 0.3 * vectors


def in_panels(matrix: Array, vectors: int, lanes: int) -> Array:
    """Returns a matrix of terms and columns as panels of some vectors, one after another.

    The last columns are padded with zeros to a vector, and the last panel has as many vectors as are left.
    """
    terms, columns = matrix.shape
    full = np.zeros((terms, -(-columns // lanes) * lanes), matrix.dtype)
    full[:, :columns] = matrix
    panels = [full[:, j : j + n * lanes].reshape(-1) for j, n in _panels(columns, vectors, lanes)]
    return np.concatenate(panels)


def _panels(columns: int, vectors: int, lanes: int) -> Iterator[tuple[int, int]]:
    """Yields the first column and the number of vectors of each panel."""
    left = -(-columns // lanes)
    at = 0
    while at < left:
        n = min(vectors, left - at)
        yield at * lanes, n
        at += n


class TermRange(NamedTuple):
    """Terms of sums, and how far both factors are from one to the next, in elements."""

    length: LlvmValue
    left_step: LlvmValue
    right_step: LlvmValue


class Columns(NamedTuple):
    """The vectors of columns of a tile: where the first one is for the first term.

    The last vector has a mask where it is a part of one that is not padded.
    """

    pointer: LlvmValue
    vectors: int
    mask: LlvmValue | None = None


class ProductTile:
    """Adds the code of one tile to a function."""

    def __init__(self, function: Function, lanes: int) -> None:
        self._f = function
        self._type = LlvmType(F32.scalar, lanes)

    def sums(self, left: Sequence[LlvmValue], columns: Columns, terms: Sequence[TermRange]) -> list[list[LlvmValue]]:
        """Returns the sums of all terms for each row, given by a pointer to its first number, and each vector."""
        sums = [[self._f.variable(self._type, 0.0) for _ in range(columns.vectors)] for _ in left]
        self._add(left, columns, terms, sums)
        return [[s.get() for s in of_row] for of_row in sums]

    def _add(
        self, left: Sequence[LlvmValue], columns: Columns, terms: Sequence[TermRange], sums: list[list[Variable]]
    ) -> None:
        f, (here, *inner) = self._f, terms
        if inner:
            with f.loop(f.integer(0), here.length) as k:
                self._add(*self._moved(left, columns, here, k), inner, sums)
            return
        count, start = here.length, f.integer(0)
        for unroll in (UNROLLED_TERMS, 1):
            if count.number is not None:
                stop = f.integer(count.number // unroll * unroll)
                if stop.number == start.number:
                    continue
            else:
                stop = f.binary("sdiv", "sdiv", count, unroll) * unroll
            with f.loop(start, stop, unroll) as k:
                for u in range(unroll):
                    self._add_term(*self._moved(left, columns, here, k + u), sums)
            start = stop

    def _moved(
        self, left: Sequence[LlvmValue], columns: Columns, terms: TermRange, k: LlvmValue
    ) -> tuple[list[LlvmValue], Columns]:
        """Returns the pointers to a term."""
        f = self._f
        rows = [f.element(p, k * terms.left_step, F32.scalar) for p in left]
        pointer = f.element(columns.pointer, k * terms.right_step, F32.scalar)
        return rows, columns._replace(pointer=pointer)

    def _add_term(self, left: Sequence[LlvmValue], columns: Columns, sums: list[list[Variable]]) -> None:
        f, type = self._f, self._type
        vectors: list[LlvmValue] = []
        for v in range(columns.vectors):
            pointer = f.element(columns.pointer, f.integer(v * type.lanes), F32.scalar)
            mask = columns.mask if v == columns.vectors - 1 else None
            x = f.load(pointer, type) if mask is None else f.masked_load(pointer, mask, f.constant(type, 0.0))
            vectors.append(x)
        for pointer, of_row in zip(left, sums, strict=True):
            x = f.splat(f.load(pointer, F32), type.lanes)
            for column, s in zip(vectors, of_row, strict=True):
                s.set(f.fused_multiply_add(x, column, s.get()))
