"""Code of contractions: tiles of rows by vectors of columns in registers, the whole sum at once.

Rows of the left factor are numbers broadcast from wherever they lie, so a convolution over channels in memory order is
a matrix product without copies. The right factor is read in panels of a tile's columns: packed ones where it is a
constant, in place where its columns are contiguous, else transposed into a panel in scratch memory. What follows the
sum is computed on the registers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.llvm.elementary import ELEMENTARY
from commonir.llvm.llvm_ir import F32, Function, LlvmType, LlvmValue
from commonir.llvm.target import Target
from commonir.native.kernels.expression_code import Buffer
from commonir.native.kernels.kernel_code import KernelCode
from commonir.native.kernels.work_units import Units
from commonir.native.products.contraction_plan import Plan
from commonir.native.products.product_tiles import (
    Columns,
    LeftRow,
    PlainColumns,
    ProductTile,
    TermRange,
    Tile,
    innermost_terms,
    last_lanes,
    tile_of,
)
from commonir.native.products.stored_columns import Pointers, StoredColumns, columns_of
from commonir.native.products.transposed_panels import StridedColumns
from commonir.notation import Apply, walk
from commonir.runtime.kernel_graph.buffers import ALIGNMENT
from commonir.runtime.kernel_graph.factors import Factor
from commonir.symbolic import Dim, ceil_div, element_count, index

Array = NDArray[np.generic]


SMALL_PANELS = 1 << 18
"""Bytes of all panels up to which they are read again for every tile of rows."""

TURNING_PANELS = range(1 << 17, 1 << 21)
"""Bytes of all panels for which it pays to begin at either end: a part of them stays in the second-level cache."""

PREFETCHED_TERMS = range(64, 1025)
"""The terms of a single row that is fetched before it is multiplied: as many as the nearest cache has room for."""

MANY_TILES = 8
"""Tiles of rows from which on that pays."""

Packed = LlvmValue | Pointers | None
"""A right factor in panels, those of its parts, or None where it is not a constant."""


class LastVector(NamedTuple):
    """The last vector of columns in a panel, and a mask if not all of its lanes are columns."""

    type: LlvmType
    mask: LlvmValue | None = None


class ContractionCode:
    """Adds the code of a contraction to a function."""

    has_short_vectors = True
    """Whether the last vector of columns may be shorter than others."""

    left_type = F32.scalar
    """The type of the elements of the left factor in memory."""

    right_type = F32.scalar
    """The type of the elements of a computed right factor in memory."""

    column_step = 1
    """The elements from one of its columns to the next where vectors of them are read as they lie."""

    sum_type = F32.scalar
    """The type of sums."""

    left_registers = 1
    """The registers that terms of the left factor take."""

    def __init__(self, code: KernelCode, function: Function, target: Target, plan: Plan, out: Buffer) -> None:
        self._code = code
        self._f = function
        self._lanes = target.lanes()
        self._plan = plan
        self._out = out
        self._rows = element_count(map(plan.extent, plan.rows))
        fixed, each = (self.left_registers, 1) if plan.stored is None else plan.stored.registers
        # The coefficients of elementary functions that follow stay in registers while terms are added.
        fixed += any(isinstance(e, Apply) and e.fn in ELEMENTARY for e in walk(plan.kernel.body))
        self._sums = len(plan.folds)
        self.tile = self.chosen_tile(target, fixed, each)
        is_costly = plan.stored is not None and plan.stored.is_costly
        self._decodes_panels = is_costly and isinstance(self._rows, int) and self._rows > self.tile.rows
        if self._decodes_panels:
            self.tile = tile_of(self._rows, plan.extent(plan.column), target, sums=self._sums)
        self._runs: list[TermRun] = []
        self._tiles: Dim = 1

    def chosen_tile(self, target: Target, fixed: int, each: int) -> Tile:
        """Returns the tile, beside which `fixed` registers are in use, and `each` for every vector of columns."""
        plan = self._plan
        return tile_of(
            self._rows,
            plan.extent(plan.column),
            target,
            fixed,
            each,
            sums=self._sums,
            row_length=plan.extent(plan.rows[-1]) if len(plan.rows) > 1 else 0,
            row_bytes=plan.left.steps[plan.rows[-1]] * (LlvmType(self.left_type).bits // 8) if plan.rows else 0,
            has_whole_panels=plan.first_column != 0,
        )

    def emit(self, packed_pointer: Packed) -> None:
        """Adds the loops; `packed_pointer` is the right factor in panels, or its parts, if it is a constant.

        A unit of work is a tile: they are numbered by batch, by panel of columns, and by rows. Where all panels stay in
        the cache, it is a tile of rows with all panels, also those of all groups of a grouped convolution: then the
        left factor is read, and the result written, once.
        """
        has_codes = self._plan.stored is not None and not self._decodes_panels
        self._runs = self.term_runs(is_packed=packed_pointer is not None, has_codes=has_codes)
        is_rows_first = isinstance(packed_pointer, LlvmValue) and self._has_small_panels
        self._tiles = self._row_tiles if is_rows_first else self._panel_count * self._row_tiles
        over = self._plan.batch
        if is_rows_first:
            over = tuple([i for i in over if i not in self._plan.right_batch])
        self._batches(over, self._code.units(over, self._tiles), packed_pointer, is_rows_first=is_rows_first)

    def term_runs(self, *, is_packed: bool, has_codes: bool) -> list[TermRun]:
        """Returns the ranges of what is multiplied at once; see the function `term_runs`."""
        return term_runs(self._plan, is_packed=is_packed, has_codes=has_codes)

    @property
    def panel_terms(self) -> Dim:
        """The vectors in a panel for each vector of columns."""
        return self._plan.terms * self._sums

    def multiply_add(self, f: Function, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
        """Returns sums to which products are added."""
        return f.fused_multiply_add(a, b, c)

    def corrected(self, sums: list[LlvmValue], columns: Columns) -> list[LlvmValue]:
        """Returns the sums of a row after what is done to all terms at once."""
        behind = columns.factors_behind() if isinstance(columns, StoredColumns) else None
        return sums if behind is None else [x * factor for x, factor in zip(sums, behind, strict=True)]

    @property
    def _panel_count(self) -> Dim:
        return ceil_div(self._plan.extent(self._plan.column), self.tile.vectors * self._lanes)

    @property
    def _row_tiles(self) -> Dim:
        return ceil_div(self._rows, self.tile.rows)

    @property
    def _has_small_panels(self) -> bool:
        """Whether several panels fit the nearest caches together, and many rows are multiplied with them."""
        plan, tile = self._plan, self.tile
        groups = element_count(map(plan.extent, plan.right_batch))
        sizes = [self.panel_terms, plan.extent(plan.column), self._rows, groups]
        if any(not isinstance(n, int) for n in sizes):
            return False
        terms, columns, rows, groups = [n for n in sizes if isinstance(n, int)]
        width = tile.vectors * self._lanes
        size_bytes = terms * groups * -(-columns // self._lanes) * self._lanes * F32.bits // 8
        is_one = columns <= width and groups == 1
        return not is_one and size_bytes <= SMALL_PANELS and rows >= MANY_TILES * tile.rows

    def _rows_first(self, units: Units, packed_pointer: LlvmValue) -> None:
        """Adds the tiles of all panels for each tile of rows."""
        f, rows = self._f, self.tile.rows
        assert isinstance(self._rows, int)
        with units.loop(f.integer(-(-self._rows // rows)), f.integer(1)) as (tile, _):
            positions = self._positions(f.part_start(tile, rows, self._rows), rows)
            self._groups(self._plan.right_batch, positions, packed_pointer)

    def _groups(
        self, over: Sequence[str], positions: Sequence[Mapping[str, LlvmValue]], packed_pointer: LlvmValue
    ) -> None:
        """Adds the tiles of some rows with the panels of all groups."""
        f, n = self._f, self._plan.extent(self._plan.column)
        if over:
            with f.loop(f.integer(0), self._code.size(self._plan.extent(over[0]))) as i, self._code.bound(over[0], i):
                self._groups(over[1:], positions, packed_pointer)
            return
        assert isinstance(n, int)
        for j, vectors, mask in f.vectors(n, self._lanes, self.tile.vectors):
            last = self._whole if mask is None else self._last(n)
            self._tile(positions, j, last, self._packed_columns(j, vectors, packed_pointer, last))

    @property
    def _whole(self) -> LastVector:
        return LastVector(LlvmType(F32.scalar, self._lanes))

    def _last(self, columns: int) -> LastVector:
        """Returns the last vector of some columns in all, which is as short as it can be."""
        left = columns % self._lanes
        is_single = self.has_short_vectors and self._sums == 1 and self._plan.stored is None
        lanes = last_lanes(columns, self._lanes) if is_single else self._lanes
        mask = self._f.first_lanes(left, lanes) if left % lanes else None
        return LastVector(LlvmType(F32.scalar, lanes), mask)

    def _packed_columns(self, j: LlvmValue, vectors: int, packed_pointer: LlvmValue, last: LastVector) -> Columns:
        # Parts of the columns are whole panels.
        column = self._code.size(self._plan.first_column) + j
        pointer = self._f.element(packed_pointer, column * self._code.size(self.panel_terms), "float")
        pointer = self._f.element(pointer, self._code.size(self._panels_before), "float")
        vectors *= self._sums
        return self._columns_at(pointer, vectors, self._packed_steps(vectors), last._replace(mask=None))

    @property
    def _panels_before(self) -> Dim:
        """Where the panels for the element of the batch here start."""
        plan = self._plan
        number: Dim = 0
        for i in plan.right_batch:
            number = number * plan.extent(i) + index(i)
        return number * self.panel_terms * ceil_div(plan.column_count, self._lanes) * self._lanes

    def _batches(self, over: Sequence[str], units: Units, packed_pointer: Packed, *, is_rows_first: bool) -> None:
        if over:
            extents = map(self._plan.extent, over[1:])
            each = self._code.size(element_count(extents) * self._tiles)
            extent = self._code.size(self._plan.extent(over[0]))
            with units.loop(extent, each) as (i, inside), self._code.bound(over[0], i):
                self._batches(over[1:], inside, packed_pointer, is_rows_first=is_rows_first)
        elif is_rows_first:
            assert isinstance(packed_pointer, LlvmValue)
            self._rows_first(units, packed_pointer)
        else:
            self._columns(units, packed_pointer)

    # -- columns

    def _columns(self, units: Units, packed_pointer: Packed) -> None:
        """Adds all panels; the last vector of columns may be a part of one."""
        f, lanes = self._f, self._lanes
        extent = self._plan.extent(self._plan.column)
        step, tiles = self.tile.vectors * lanes, self._code.size(self._row_tiles)
        n = self._code.size(extent)
        full = f.integer(extent // step) if isinstance(extent, int) else f.binary("sdiv", "sdiv", n, step)
        in_full, in_rest = units.split(full * tiles)
        self._prefetch_row()
        if full.number != 0:
            with in_full.loop(full, tiles) as (p, rows):
                panel = self._in_turn(p, *in_full.range(full))
                self._panel(panel * step, self.tile.vectors, self._whole, rows, packed_pointer)
        start = full * step
        if isinstance(extent, int):
            left = extent % step
            if left:
                with in_rest.if_any():
                    self._panel(start, -(-left // lanes), self._last(extent), in_rest, packed_pointer)
            return
        whole = f.binary("sdiv", "sdiv", n, lanes) * lanes
        with in_rest.if_any():
            with f.loop(start, whole, lanes) as j:
                self._panel(j, 1, self._whole, in_rest, packed_pointer)
            with f.when(whole.compare("slt", n)):
                mask = f.first_lanes(f.cast("trunc", n - whole, "i32"), lanes)
                self._panel(whole, 1, self._whole._replace(mask=mask), in_rest, packed_pointer)

    def _prefetch_row(self) -> None:
        """Fetches a row that is multiplied alone, all at once: in a loop other processors have just written it."""
        f, plan, terms = self._f, self._plan, self._plan.terms
        if self._rows != 1 or plan.batch or not isinstance(terms, int) or terms not in PREFETCHED_TERMS:
            return
        if len(plan.sums) != 1 or plan.left.steps[plan.sums[0]] != 1:
            return
        row = f.element(self._code.buffer(plan.left.name).pointer, self._start(plan.left), self.left_type)
        step = ALIGNMENT * 8 // LlvmType(self.left_type).bits
        for n in range(0, terms, step):
            f.prefetch(f.element(row, f.integer(n), self.left_type))

    def _in_turn(self, panel: LlvmValue, first: LlvmValue, end: LlvmValue) -> LlvmValue:
        """Returns the panel of a range to compute: every other of neighbouring left factors begins at the last one.

        Such factors are the states of a loop, whose rounds read all panels. If rounds turn back where the one before
        ended, more of what they read is still in the cache. A thread that does a part of them has the same in each.
        """
        f, plan = self._f, self._plan
        rows, terms, columns = [n if isinstance(n, int) else 0 for n in (self._rows, plan.terms, self._columns_in_all)]
        size_bytes = terms * columns * F32.bits // 8
        if self._row_tiles != 1 or plan.batch or plan.stored is not None or size_bytes not in TURNING_PANELS:
            return panel
        state_bytes = rows * terms * F32.bits // 8
        address = f.cast("ptrtoint", self._code.buffer(plan.left.name).pointer, "i64")
        turn = f.binary("and", "and", f.binary("lshr", "lshr", address, state_bytes.bit_length() - 1), 1)
        return f.select(turn.compare("eq", 0), panel, first + end - 1 - panel)

    @property
    def _columns_in_all(self) -> Dim:
        return self._plan.extent(self._plan.column) * self._sums

    def _panel(
        self,
        j: LlvmValue,
        vectors: int,
        last: LastVector,
        units: Units,
        packed_pointer: Packed,
    ) -> None:
        """Adds the rows of a panel of columns from `j` on; `units` are tiles of rows."""
        f, plan = self._f, self._plan
        right = plan.right
        columns: Columns
        if plan.stored is not None:
            assert isinstance(packed_pointer, Mapping)
            columns = columns_of(f, self._lanes, plan.stored, vectors, packed_pointer, j)
            if self._decodes_panels:
                columns = self._columns_at(self._decoded(columns), vectors, self._packed_steps(vectors))
        elif isinstance(packed_pointer, LlvmValue):
            columns = self._packed_columns(j, vectors, packed_pointer, last)
        elif right.steps[plan.column] == self.column_step:
            pointer = f.element(self._code.buffer(right.name).pointer, self._start(right, j), self.right_type)
            columns = self._columns_at(pointer, vectors, [r.right_step for r in self._runs], last)
        else:
            panel = self._transposed(j, vectors, last)
            columns = self._columns_at(panel, vectors, self._packed_steps(vectors), last._replace(mask=None))
        self._rows_of(j, last, units, columns)

    def _columns_at(
        self, pointer: LlvmValue, vectors: int, steps: Sequence[Dim], last: LastVector | None = None
    ) -> Columns:
        type, (of_last, mask) = self._whole.type, last or self._whole
        return PlainColumns(self._f, type, pointer, vectors, tuple(map(self._code.size, steps)), mask, of_last)

    def _packed_steps(self, vectors: int) -> list[Dim]:
        """Returns how far each range of terms moves in a panel."""
        extents = [r.extent for r in self._runs]
        return [element_count(extents[n + 1 :]) * (vectors * self._lanes) for n in range(len(extents))]

    def _start(self, factor: Factor, j: LlvmValue | None = None) -> LlvmValue:
        """Returns the address of a factor at the batch here, and at a column."""
        at = self._code.size(factor.address(self._plan.batch))
        if j is None:
            return at
        column = self._code.size(self._plan.first_column) + j
        return at + column * self._code.size(factor.steps.get(self._plan.column, 0))

    def _transposed(self, j: LlvmValue, vectors: int, last: LastVector) -> LlvmValue:
        """Returns a panel in scratch memory, with columns from where they lie."""
        f, plan, lanes = self._f, self._plan, self._lanes
        (k,) = plan.sums
        source = f.element(self._code.buffer(plan.right.name).pointer, self._start(plan.right, j), F32.scalar)
        sizes = plan.right.steps[plan.column], plan.right.steps[k], plan.terms
        is_part = last.mask is not None or last.type.lanes < lanes
        left = self._code.size(plan.extent(plan.column)) - (j + (vectors - 1) * lanes) if is_part else None
        panel = self._scratch_panel(vectors)
        StridedColumns(f, lanes, source, *map(self._code.size, sizes)).store(panel, vectors, left)
        return panel

    def _scratch_panel(self, vectors: int) -> LlvmValue:
        """Returns scratch memory for a panel."""
        self._code.scratch.require(self._plan.terms * (vectors * self._lanes * F32.bits // 8))
        return self._code.scratch.pointer

    def _decoded(self, columns: StoredColumns) -> LlvmValue:
        """Returns a panel in scratch memory with the elements of a stored factor, which several tiles multiply with."""
        f, sums, lanes = self._f, self._plan.sums, self._lanes
        behind = columns.factors_behind() or [None] * columns.vectors

        def add(at: Columns, depth: int, panel: LlvmValue) -> None:
            terms = self._code.size(element_count(map(self._plan.extent, sums[depth + 1 :])))
            inside = terms * (columns.vectors * lanes)
            extent = self._code.size(self._plan.extent(sums[depth]))
            if depth < len(sums) - 1:
                with f.loop(f.integer(0), extent) as k:
                    add(at.moved(depth, k), depth + 1, f.element(panel, k * inside, F32.scalar))
                return
            for k, term in innermost_terms(f, at, depth, extent):
                for n, factor in enumerate(behind):
                    x = term.vector(n) if factor is None else term.vector(n) * factor
                    f.store(x, f.element(panel, k * inside + n * lanes, F32.scalar))

        panel = self._scratch_panel(columns.vectors)
        columns.begin()
        add(columns, 0, panel)
        return panel

    # -- rows

    def _rows_of(self, j: LlvmValue, last: LastVector, units: Units, columns: Columns) -> None:
        f, rows = self._f, self.tile.rows
        if isinstance(self._rows, int):
            with units.loop(self._code.size(self._row_tiles), f.integer(1)) as (tile, _):
                positions = self._positions(f.part_start(tile, rows, self._rows), rows)
                self._tile(positions, j, last, columns)
            return
        m = self._code.size(self._rows)
        full = f.binary("sdiv", "sdiv", m, rows)
        in_full, in_rest = units.split(full)
        with in_full.loop(full, f.integer(1)) as (tile, _):
            self._tile(self._positions(tile * rows, rows), j, last, columns)
        with in_rest.if_any(), f.loop(full * rows, m) as i:
            self._tile(self._positions(i, 1), j, last, columns)

    def _tile(
        self, positions: Sequence[Mapping[str, LlvmValue]], j: LlvmValue, last: LastVector, columns: Columns
    ) -> None:
        """Adds the sums of a tile, whose rows are at some positions, and what follows them."""
        f, plan, rows = self._f, self._plan, len(positions)
        base = f.element(self._code.buffer(plan.left.name).pointer, self._start(plan.left), self.left_type)
        if self._shares_pointer(rows):
            first = f.element(base, self._row_address(positions[0]), self.left_type)
            left = [LeftRow(first, r * self._row_step) for r in range(rows)]
        else:
            left = [LeftRow(f.element(base, self._row_address(p), self.left_type)) for p in positions]
        terms = [TermRange(*map(self._code.size, (r.extent, r.left_step))) for r in self._runs]
        if isinstance(columns, StoredColumns):
            columns.begin()
        tile = ProductTile(f, self.multiply_add, self.sum_type, self.left_type)
        for position, of_row in zip(positions, tile.sums(left, columns, terms), strict=True):
            self._finish(position, j, self.corrected(of_row, columns), last)

    def _position(self, row: LlvmValue) -> dict[str, LlvmValue]:
        """Returns the values of the indices of a row."""
        rows = self._plan.rows
        sizes = [self._code.size(self._plan.extent(name)) for name in rows]
        return dict(zip(rows, self._f.digits(row, sizes), strict=True))

    def _positions(self, first: LlvmValue, count: int) -> list[dict[str, LlvmValue]]:
        """Returns the values of the indices of the rows of a tile."""
        if not self._is_in_line(count):
            return [self._position(first + r) for r in range(count)]
        position = self._position(first)
        return [{**position, **{i: position[i] + r for i in self._plan.rows[-1:]}} for r in range(count)]

    def _is_in_line(self, count: int) -> bool:
        """Returns whether tiles of some rows do not go beyond the range of the innermost index."""
        if len(self._plan.rows) < 2:
            return True
        extent = self._plan.extent(self._plan.rows[-1])
        return isinstance(self._rows, int) and isinstance(extent, int) and extent % count == 0

    def _shares_pointer(self, count: int) -> bool:
        """Returns whether the rows of a tile are at equal distances that are known."""
        rows = self._plan.rows
        return bool(rows) and self._is_in_line(count) and isinstance(self._plan.left.steps[rows[-1]], int)

    @property
    def _row_step(self) -> int:
        step = self._plan.left.steps[self._plan.rows[-1]]
        assert isinstance(step, int)
        return step

    def _row_address(self, position: Mapping[str, LlvmValue]) -> LlvmValue:
        out = self._f.integer(0)
        for name, value in position.items():
            out = out + value * self._code.size(self._plan.left.steps[name])
        return out

    def _finish(
        self, position: Mapping[str, LlvmValue], j: LlvmValue, sums: Sequence[LlvmValue], last: LastVector
    ) -> None:
        """Adds what follows the sums of a row, and stores the results; sums of the same columns are neighbours."""
        plan, code = self._plan, self._code
        with code.bound_all(position):
            vectors = len(sums) // self._sums
            for v in range(vectors):
                type, mask = last if v == vectors - 1 else self._whole
                with code.bound(plan.column, j + v * self._lanes, type.lanes, mask):
                    for fold, x in zip(plan.folds, sums[v * self._sums :], strict=False):
                        code.assume(fold, x)
                    code.store(code.value(plan.kernel.body), plan.kernel, self._out)


class TermRun(NamedTuple):
    """Terms that both factors step through: their number, and the steps where they lie."""

    extent: Dim
    left_step: Dim
    right_step: Dim


def term_runs(plan: Plan, *, is_packed: bool, has_codes: bool) -> list[TermRun]:
    """Returns the summed indices, of which neighbours are one range where both factors step through them as one.

    In panels all terms follow one another; codes of a stored factor are found by each index.
    """
    out: list[TermRun] = []
    for name in plan.sums:
        here = TermRun(plan.extent(name), plan.left.steps[name], plan.right.steps[name])
        if out and not has_codes:
            before = out[-1]
            is_one = before.left_step == here.left_step * here.extent
            if is_one and (is_packed or before.right_step == here.right_step * here.extent):
                out[-1] = here._replace(extent=before.extent * here.extent)
                continue
        out.append(here)
    return out
