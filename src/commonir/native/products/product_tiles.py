"""Tiles of products: rows by vectors of columns whose sums stay in registers until all terms are added.

A row of the left factor is read number by number, from wherever it lies, and broadcast. The columns of the right factor
are vectors, in panels of as many columns as a tile has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import gcd
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.llvm.llvm_ir import F32, Function, LlvmType, LlvmValue, Variable
from commonir.llvm.target import Target
from commonir.symbolic import Dim

Array = NDArray[Any]

SYMBOLIC_ROWS = 64
"""The number of rows that tiles are chosen for where it is not known."""

MOST_VECTORS = 8
"""The most vectors of a tile with several sums for each column."""

SHORTEST_VECTOR = 4
"""Lanes of the shortest vector."""

SEPARATE_ROW = 0.1
"""The cycles for each term that a row costs whose address is not that of the row before it and a constant."""

LINES_BYTES = 4096
"""The distance in bytes after which lines of memory share their places in the nearest cache."""

LINE_BYTES = 64

SHARED_PLACES = 8
"""The lines that the nearest cache has room for at each place."""

EVICTED_LOAD = 2.5
"""The cycles of a load of a row whose line left the nearest cache after the term before, in those of another load."""

UNROLLED_TERMS = 4
"""Terms that are added in one round of a loop."""


class Tile(NamedTuple):
    """Rows, and vectors of columns, that are computed together."""

    rows: int
    vectors: int


def tile_of(
    rows: Dim,
    columns: Dim,
    target: Target,
    fixed: int = 1,
    each: int = 1,
    *,
    sums: int = 1,
    row_length: Dim = 0,
    row_bytes: Dim = 0,
    has_whole_panels: bool = False,
) -> Tile:
    """Returns the tile with the fewest cycles, counting what tiles compute twice or in vain.

    Besides the sums, `fixed` registers are in use, and `each` for every vector of columns. For each column there are so
    many `sums`. Rows of the left factor are `row_bytes` apart. If asked for, the columns are whole panels.
    """
    m = rows if isinstance(rows, int) else SYMBOLIC_ROWS
    vectors = -(-(columns if isinstance(columns, int) else SYMBOLIC_ROWS) // target.lanes())
    idle = 0.0
    if sums == 1 and isinstance(columns, int):
        idle = 1 - last_lanes(columns, target.lanes()) / target.lanes()
    near = _rows_in_cache(row_bytes)
    best, result = float("inf"), Tile(1, 1)
    for nv in (1, 2, 3, 4):
        used = nv * sums
        if nv > 1 and used > MOST_VECTORS:
            break
        if has_whole_panels and vectors % nv:
            continue
        for mr in range(1, min(m, 24) + 1):
            if mr * used + each * used + fixed > target.registers + (used == 4) and mr * nv > 1:
                continue
            apart = 0 if isinstance(row_length, int) and row_length % mr == 0 else SEPARATE_ROW * mr
            panels = [float(min(nv, vectors - n) * sums) for n in range(0, vectors, nv)]
            panels[-1] -= idle
            load = EVICTED_LOAD if mr > near else 1
            cycles = -(-m // mr) * (sum([_cycles(mr, n, load) + apart for n in panels]))
            if cycles < best:
                best, result = cycles, Tile(mr, nv)
    return result


def _rows_in_cache(row_bytes: Dim) -> int:
    """Returns the rows at some distance whose lines fit the nearest cache: few if they share their places in it."""
    if not isinstance(row_bytes, int) or row_bytes == 0 or row_bytes % LINE_BYTES:
        return LINES_BYTES
    return SHARED_PLACES * LINES_BYTES // gcd(row_bytes, LINES_BYTES)


def last_lanes(columns: int, lanes: int) -> int:
    """Returns the lanes of the last vector of some columns, which is shorter than others where fewer are left."""
    left = columns % lanes
    return lanes if left == 0 else min(max(SHORTEST_VECTOR, 1 << (left - 1).bit_length()), lanes)


def _cycles(rows: int, vectors: float, load: float) -> float:
    """Returns the cycles of a tile for each term, in which a row takes a `load`: two products or two loads in each, and
    four for the latency.
    """
    return max(rows * vectors, load * rows + vectors, 4) + 0.1 * rows + 0.3 * vectors


def in_panels(matrix: Array, vectors: int, lanes: int) -> Array:
    """Returns a matrix of terms and columns as panels of some vectors, one after another.

    The last columns are padded with zeros to a vector, and the last panel has as many vectors as are left.
    """
    terms, columns = matrix.shape
    out = np.zeros(terms * -(-columns // lanes) * lanes, matrix.dtype)
    for j, n in panels_of(columns, vectors, lanes):
        panel = out[terms * j : terms * (j + n * lanes)].reshape(terms, n * lanes)
        panel[:, : columns - j] = matrix[:, j : j + n * lanes]
    return out


def panels_of(columns: int, vectors: int, lanes: int) -> Iterator[tuple[int, int]]:
    """Yields the first column and the number of vectors of each panel."""
    left = -(-columns // lanes)
    at = 0
    while at < left:
        n = min(vectors, left - at)
        yield at * lanes, n
        at += n


class TermRange(NamedTuple):
    """Terms of sums, and how far the left factor is from one to the next, in elements."""

    length: LlvmValue
    left_step: LlvmValue


class Columns(Protocol):
    """The vectors of columns of a tile, for the first term of some: how they are read, and what they are."""

    @property
    def vectors(self) -> int:
        """The number of vectors."""
        ...

    def type_of(self, n: int) -> LlvmType:
        """Returns the type of a vector."""
        ...

    def rounds(self, terms: int | None) -> tuple[int, ...]:
        """Returns how many of the innermost terms are added in a round of the first loop, and of each one after it."""
        ...

    def moved(self, depth: int, k: LlvmValue) -> Columns:
        """Returns the columns at a value of one of the summed indices, the outermost one being number 0."""
        ...

    def factors_between(self, depth: int) -> list[LlvmValue] | None:
        """Returns the factors of the sums over indices inside of one, for each vector; None for 1."""
        ...

    def neighbours(self, depth: int, k: LlvmValue, count: int) -> Sequence[Columns]:
        """Returns the columns at some values of the innermost index, from `k` on."""
        ...

    def vector(self, n: int) -> LlvmValue:
        """Returns a vector of columns at the term."""
        ...


class NextPanel(NamedTuple):
    """The part of the panel after one that a tile brings into the second-level cache while it adds terms.

    `at` is where the part starts in the panel, which is `offset` elements behind the one before. Each round of terms
    reads some `vectors`. A processor reads ahead only while a panel is read for the first time: too late for panels
    that few tiles multiply with, where all constants of a program do not stay in the caches.
    """

    at: LlvmValue
    offset: int
    vectors: int


class PlainColumns(NamedTuple):
    """Columns that lie as they are: where the first one is, and how far each index moves it, in elements.

    The last vector has fewer lanes where fewer are enough, and a mask where it is a part of one that is not padded.
    """

    function: Function
    type: LlvmType
    pointer: LlvmValue
    vectors: int
    steps: tuple[LlvmValue, ...]
    mask: LlvmValue | None = None
    last: LlvmType | None = None
    following: NextPanel | None = None

    def before_next(self, tile: LlvmValue, tiles: int, terms: int) -> PlainColumns:
        """Returns the columns for one of some tiles of a packed panel, which has one range of terms."""
        f, rounds = self.function, UNROLLED_TERMS * self.vectors
        vectors = -(-rounds // tiles)
        part = f.intrinsic("umin", tile, f.integer(-(-rounds // vectors) - 1))
        at = part * (terms // UNROLLED_TERMS * vectors * self.type.lanes)
        return self._replace(following=NextPanel(at, terms * self.vectors * self.type.lanes, vectors))

    def type_of(self, n: int) -> LlvmType:
        """Returns the type of a vector; see `Columns`."""
        return self.type if self.last is None or n < self.vectors - 1 else self.last

    def rounds(self, terms: int | None) -> tuple[int, ...]:
        """Returns how many terms are added in a round; see `Columns`."""
        del terms
        return UNROLLED_TERMS, 1

    def moved(self, depth: int, k: LlvmValue) -> PlainColumns:
        """Returns the columns at a value of an index; see `Columns`."""
        return self._replace(pointer=self.function.element(self.pointer, k * self.steps[depth], self.type.scalar))

    def factors_between(self, depth: int) -> list[LlvmValue] | None:
        """Returns no factors; see `Columns`."""
        del depth
        return None

    def neighbours(self, depth: int, k: LlvmValue, count: int) -> Sequence[Columns]:
        """Returns the columns at some values of an index; see `Columns`."""
        if self.following is not None and count == UNROLLED_TERMS:
            f, lanes, (start, offset, vectors) = self.function, self.type.lanes, self.following
            at = start + k * (vectors * lanes // UNROLLED_TERMS)
            for n in range(vectors):
                f.prefetch(f.element_beside(self.pointer, at, offset + n * lanes, self.type.scalar))
        return [self.moved(depth, k + n) for n in range(count)]

    def vector(self, n: int) -> LlvmValue:
        """Returns a vector of columns; see `Columns`."""
        f = self.function
        pointer = f.element(self.pointer, f.integer(n * self.type.lanes), self.type.scalar)
        return f.load(pointer, self.type_of(n), self.mask if n == self.vectors - 1 else None)


def innermost_terms(f: Function, columns: Columns, depth: int, count: LlvmValue) -> Iterator[tuple[LlvmValue, Columns]]:
    """Adds loops over the innermost terms; yields those of a round in their bodies, with the columns there."""
    start = f.integer(0)
    for unroll in columns.rounds(count.number):
        if count.number is not None and start.number is not None:
            stop = f.integer(start.number + (count.number - start.number) // unroll * unroll)
            if stop.number == start.number:
                continue
        else:
            stop = f.binary("sdiv", "sdiv", count, unroll) * unroll
        with f.loop(start, stop, unroll) as k:
            for u, at in enumerate(columns.neighbours(depth, k, unroll)):
                yield k + u, at
        start = stop


class LeftRow(NamedTuple):
    """A row of the left factor: its first number is at a constant offset from a pointer, which rows can share."""

    pointer: LlvmValue
    offset: int = 0


MultiplyAdd = Callable[[Function, LlvmValue, LlvmValue, LlvmValue], LlvmValue]
"""Adds the instructions for sums to which the products of two factors are added."""


class ProductTile:
    """Adds the code of one tile to a function; `multiply_add` adds a term to sums of a scalar type.

    A term on the left has 32 bits; positions there count elements of `left_type`.
    """

    def __init__(
        self,
        function: Function,
        multiply_add: MultiplyAdd = Function.fused_multiply_add,
        scalar: str = F32.scalar,
        left_type: str = F32.scalar,
    ) -> None:
        self._f = function
        self._left_type = left_type
        self._scalar = scalar
        self._multiply_add = multiply_add

    def sums(self, left: Sequence[LeftRow], columns: Columns, terms: Sequence[TermRange]) -> list[list[LlvmValue]]:
        """Returns the sums of all terms for each row and each vector."""
        sums = self._zeros(len(left), columns)
        self._add(left, columns, terms, 0, sums)
        return [[s.get() for s in of_row] for of_row in sums]

    def _zeros(self, rows: int, columns: Columns) -> list[list[Variable]]:
        types = [columns.type_of(n).of(self._scalar) for n in range(columns.vectors)]
        return [[self._f.variable(type, 0) for type in types] for _ in range(rows)]

    def _add(
        self,
        left: Sequence[LeftRow],
        columns: Columns,
        terms: Sequence[TermRange],
        depth: int,
        sums: list[list[Variable]],
    ) -> None:
        f, here = self._f, terms[depth]
        if depth < len(terms) - 1:
            with f.loop(f.integer(0), here.length) as k:
                at, rows = columns.moved(depth, k), self._moved(left, here, k)
                factors = at.factors_between(depth)
                inner = sums if factors is None else self._zeros(len(left), columns)
                self._add(rows, at, terms, depth + 1, inner)
                if factors is not None:
                    for of_row, inner_of_row in zip(sums, inner, strict=True):
                        for s, part, factor in zip(of_row, inner_of_row, factors, strict=True):
                            s.set(f.fused_multiply_add(part.get(), factor, s.get()))
            return
        for k, at in innermost_terms(f, columns, depth, here.length):
            self._add_term(self._moved(left, here, k), at, sums)

    def _moved(self, left: Sequence[LeftRow], terms: TermRange, k: LlvmValue) -> list[LeftRow]:
        """Returns the rows from a term on."""
        moved: dict[str, LlvmValue] = {}
        for row in left:
            if row.pointer.text not in moved:
                moved[row.pointer.text] = self._f.element(row.pointer, k * terms.left_step, self._left_type)
        return [row._replace(pointer=moved[row.pointer.text]) for row in left]

    def _add_term(self, left: Sequence[LeftRow], columns: Columns, sums: list[list[Variable]]) -> None:
        f = self._f
        vectors = [columns.vector(n) for n in range(columns.vectors)]
        for (pointer, offset), of_row in zip(left, sums, strict=True):
            x = f.load(f.element_beside(pointer, f.integer(0), offset, self._left_type), F32)
            for column, s in zip(vectors, of_row, strict=True):
                s.set(self._multiply_add(f, f.splat(x, column.type.lanes), column, s.get()))
