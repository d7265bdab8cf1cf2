"""Contractions with constants whose factors are narrow: instructions multiply several terms in each 32 bits at once.

A block of rows of the left factor is narrowed into scratch memory, then multiplied with all panels, in which the terms
of a word are neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from commonir.llvm.llvm_ir import Function, LlvmType, LlvmValue
from commonir.native.kernels.expression_code import Buffer
from commonir.native.kernels.work_units import Units
from commonir.native.products.contraction_code import ContractionCode, LastVector, Packed, TermRun, term_runs
from commonir.native.products.contraction_plan import Plan
from commonir.native.products.product_tiles import LeftRow, PlainColumns, ProductTile, TermRange
from commonir.runtime.kernel_graph.graph import known_count
from commonir.runtime.kernel_graph.strips import even_part
from commonir.symbolic import Dim

Array = NDArray[np.generic]

WORD_BITS = 32
"""The bits of a word that holds several terms."""

BLOCK_BYTES = 1 << 18
"""Bytes of a block of narrowed rows, which stays in the second-level cache."""


def has_packed_rows(plan: Plan) -> bool:
    """Returns whether the left factor of a contraction can be narrowed in blocks of rows."""
    rows = [plan.extent(i) for i in plan.rows]
    return has_packed_terms(plan) and all(isinstance(n, int) and n > 0 for n in rows)


def has_packed_terms(plan: Plan) -> bool:
    """Returns whether neighbouring terms of a contraction lie side by side on the left."""
    extents = [plan.extent(i) for i in (*plan.sums, plan.column)]
    return not plan.batch and all(isinstance(n, int) for n in extents) and plan.left.steps[plan.sums[-1]] == 1


def term_count(plan: Plan) -> int:
    """Returns the number of terms of each sum."""
    return known_count(map(plan.extent, plan.sums))


def in_words(matrix: Array) -> Array:
    """Returns a matrix of terms and columns with several terms of a column in each word, those at the end zeros."""
    terms, columns = matrix.shape
    count = WORD_BITS // 8 // matrix.itemsize
    padded = np.zeros((-(-terms // count) * count, columns), matrix.dtype)
    padded[:terms] = matrix
    return np.ascontiguousarray(padded.reshape(-1, count, columns).swapaxes(1, 2)).view(np.int32)[:, :, 0]


class PackedRowsCode(ContractionCode):
    """Adds the code of a contraction. A unit of work is a panel for a block of rows."""

    stored = "i16"
    """The type of a narrowed term."""

    words_behind = 0
    """Words of each column behind its terms in a panel."""

    has_short_vectors = False

    _start_row: LlvmValue

    def narrowed(self, x: LlvmValue) -> LlvmValue:
        """Returns terms of the row here as they are multiplied, in integers of their bits."""
        raise NotImplementedError

    def multiply_add(self, f: Function, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
        """Returns sums to which the products of the terms in each lane are added."""
        raise NotImplementedError

    def start_row(self, row: LlvmValue, source: LlvmValue, runs: Sequence[TermRun]) -> None:
        """Prepares for the terms of a row of the block, the first of which is at a place."""

    def emit(self, packed_pointer: Packed) -> None:
        """Adds the loops; `packed_pointer` is the right factor in panels of words."""
        f, rows = self._f, self._row_count
        self._code.scratch.require((self._block * (self._words + 1) + self._lanes) * WORD_BITS // 8)
        self._runs = [TermRun(self._words, 1, 1)]
        blocks = -(-rows // self._block)
        panels = self._panel_count
        assert isinstance(panels, int)
        units = self._code.units((), blocks * panels)
        with units.loop(f.integer(blocks), f.integer(panels)) as (n, inside):
            self._start_row = f.part_start(n, self._block, rows)
            self._narrow_rows()
            self._columns(inside, packed_pointer)

    @property
    def _words(self) -> int:
        """The number of words of a row."""
        return -(-term_count(self._plan) * LlvmType(self.stored).bits // WORD_BITS)

    @property
    def panel_terms(self) -> Dim:
        return (self._words + self.words_behind) * self._sums

    @property
    def _row_count(self) -> int:
        assert isinstance(self._rows, int)
        return self._rows

    @property
    def _row_tiles(self) -> int:
        """A panel is one unit."""
        return 1

    @property
    def _block(self) -> int:
        """The number of rows that are narrowed together."""
        most = max(BLOCK_BYTES // (self._words * WORD_BITS // 8), self.tile.rows)
        return even_part(self._row_count, most, self.tile.rows)

    @property
    def _left(self) -> Buffer:
        return self._code.buffer(self._plan.left.name)

    def _number_of_row(self, row: LlvmValue) -> LlvmValue:
        """Returns the place of a number that belongs to a row of the block."""
        return self._f.element(self._code.scratch.pointer, row, "i32")

    def _narrowed_row(self, row: LlvmValue) -> LlvmValue:
        """Returns the place of a row of the block."""
        return self._f.element(self._code.scratch.pointer, row * self._words + self._block, "i32")

    def _narrow_rows(self) -> None:
        f, plan, left = self._f, self._plan, self._left.pointer
        runs = term_runs(plan, is_packed=True, has_codes=False)
        with f.loop(f.integer(0), f.integer(self._block)) as r:
            position = self._position(self._start_row + r)
            source = f.element(left, self._start(plan.left) + self._row_address(position), self._left.storage)
            out = self._narrowed_row(r)
            self.start_row(r, source, runs)
            self._narrow_terms(runs, source, out)
            for n in range(term_count(plan), self._words * WORD_BITS // LlvmType(self.stored).bits):
                f.store(f.constant(LlvmType(self.stored), 0), f.element(out, f.integer(n), self.stored))

    def _narrow_terms(self, runs: Sequence[TermRun], source: LlvmValue, out: LlvmValue) -> None:
        """Adds the terms of a row in order. Vectors are stored whole: what is behind them is stored later."""
        f = self._f
        run, *inner = runs
        if inner:
            below = known_count([r.extent for r in inner])
            with f.loop(f.integer(0), self._code.size(run.extent)) as k:
                moved = f.element(source, k * self._code.size(run.left_step), self._left.storage)
                self._narrow_terms(inner, moved, f.element(out, k * below, self.stored))
            return
        for k, x in self.vectors(source, run):
            f.store(self.narrowed(x), f.element(out, k, self.stored))

    def vectors(self, source: LlvmValue, run: TermRun) -> Iterator[tuple[LlvmValue, LlvmValue]]:
        """Adds a loop over neighbouring terms; yields positions and vectors, the last one filled with zeros."""
        f, extent, storage = self._f, run.extent, self._left.storage
        assert isinstance(extent, int)
        for at, _, mask in f.vectors(extent, self._lanes):
            yield at, self._widened(f.load(f.element(source, at, storage), LlvmType(storage, self._lanes), mask))

    def _widened(self, x: LlvmValue) -> LlvmValue:
        base = self._left.layout.base
        return x if base is None else self._f.cast("zext", x, self.sum_type) + base

    def _panel(self, j: LlvmValue, vectors: int, last: LastVector, units: Units, packed_pointer: Packed) -> None:
        """Adds the rows of the block for a panel."""
        f, rows = self._f, self.tile.rows
        assert isinstance(packed_pointer, LlvmValue)
        # A panel is one unit, so all of it is to be done.
        del units
        columns = self._packed_columns(j, vectors, packed_pointer, last)
        assert isinstance(columns, PlainColumns)
        with f.loop(f.integer(0), f.integer(-(-self._block // rows))) as n:
            self._packed_tile(f.part_start(n, rows, self._block), j, last, columns)

    def _packed_tile(self, i: LlvmValue, j: LlvmValue, last: LastVector, columns: PlainColumns) -> None:
        f, rows = self._f, self.tile.rows
        terms = [TermRange(f.integer(self._words), f.integer(1))]
        tile, first = ProductTile(f, self.multiply_add, self.sum_type), self._narrowed_row(i)
        sums = tile.sums([LeftRow(first, r * self._words) for r in range(rows)], columns, terms)
        for r, of_row in enumerate(sums):
            results = self.corrected_row(of_row, i + r, columns)
            self._finish(self._position(self._start_row + i + r), j, results, last)

    def corrected_row(self, sums: list[LlvmValue], row: LlvmValue, columns: PlainColumns) -> list[LlvmValue]:
        """Returns the sums of a row of the block without what narrowing added."""
        del row, columns
        return sums
