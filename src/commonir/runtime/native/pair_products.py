"""Contractions with constants whose factors are rounded to bfloat16, two terms in an instruction, summed in f32.

Only where that is asked for (`EngineOptions.fast_math`) and the processor has the instruction. A block of rows of the
left factor is rounded into scratch memory, then multiplied with all panels, in which the pairs of terms of a column are
neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.llvm.llvm_ir import F32, Function, LlvmType, LlvmValue
from commonir.llvm.target import Target
from commonir.runtime.kernel_graph.graph import known_count
from commonir.runtime.kernel_graph.strips import even_part
from commonir.runtime.native.contraction_code import ContractionCode, Packed, Plan, factor_matrix
from commonir.runtime.native.product_tiles import PlainColumns, ProductTile, TermRange, Tile, in_panels
from commonir.runtime.native.work_units import Units

Array = NDArray[np.generic]

BLOCK_BYTES = 1 << 18
"""Bytes of a block of rounded rows, which stays in the second-level cache."""

PAIRS = "avx512bf16"
"""The feature of processors that have the instruction."""

LEAST_TERMS = 16
"""The number of terms from which on rounding the rows costs less than it saves."""


def uses_pairs(plan: Plan, target: Target) -> bool:
    """Returns whether the products of a contraction with a packed constant are those of pairs of bfloat16."""
    if (
        target.fast_math != "bf16"
        or not target.has(PAIRS)
        or plan.stored is not None
        or plan.batch
        or plan.first_column != 0
    ):
        return False
    extents = [plan.extent(i) for i in (*plan.rows, *plan.sums, plan.column)]
    is_static = all(isinstance(n, int) for n in extents)
    return is_static and plan.left.steps[plan.sums[-1]] == 1 and _terms(plan) >= LEAST_TERMS


def _terms(plan: Plan) -> int:
    return known_count(map(plan.extent, plan.sums))


def _pairs(plan: Plan) -> int:
    return -(-_terms(plan) // 2)


def packed_pairs(plan: Plan, array: Array, tile: Tile, lanes: int) -> Array:
    """Returns a constant right factor in panels of pairs, each in the 32 bits of a number."""
    matrix = factor_matrix(plan, array, lanes)
    terms, columns = matrix.shape
    padded = np.zeros((2 * _pairs(plan), columns), dtype_of("bf16"))
    padded[:terms] = matrix
    pairs = padded.reshape(-1, 2, columns).transpose(0, 2, 1)
    return in_panels(np.ascontiguousarray(pairs).view(np.float32)[:, :, 0], tile.vectors * len(plan.folds), lanes)


def add_pair_products(f: Function, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
    """Returns sums to which the products of two pairs of bfloat16 in each lane are added."""
    lanes = c.type.lanes
    pairs = LlvmType("bfloat", 2 * lanes)
    left, right = [f.reinterpreted(x, pairs) for x in (a, b)]
    return f.called(f"llvm.x86.avx512bf16.dpbf16ps.{F32.bits * lanes}", c.type, c, left, right)


class PairContractionCode(ContractionCode):
    """Adds the code of a contraction. A unit of work is a panel for a block of rows."""

    _start_row: LlvmValue

    def emit(self, packed_pointer: Packed) -> None:
        """Adds the loops; `packed_pointer` is the right factor in panels of pairs."""
        f, rows = self._f, self._row_count
        self._code.scratch.require(self._block * _pairs(self._plan) * F32.bits // 8)
        blocks = -(-rows // self._block)
        panels = self._panel_count
        assert isinstance(panels, int)
        units = self._code.units((), blocks * panels)
        with units.loop(f.integer(blocks), f.integer(panels)) as (n, inside):
            self._start_row = f.part_start(n, self._block, rows)
            self._round_rows()
            self._columns(inside, packed_pointer)

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
        """The number of rows that are rounded together."""
        most = max(BLOCK_BYTES // (_pairs(self._plan) * F32.bits // 8), self.tile.rows)
        return even_part(self._row_count, most, self.tile.rows)

    def _rounded_row(self, row: LlvmValue) -> LlvmValue:
        """Returns the place of a row of the block."""
        return self._f.element(self._code.scratch.pointer, row * _pairs(self._plan), F32.scalar)

    def _round_rows(self) -> None:
        f, plan = self._f, self._plan
        left = self._code.buffer(plan.left.name).pointer
        with f.loop(f.integer(0), f.integer(self._block)) as r:
            position = self._position(self._start_row + r)
            source = f.element(left, self._start(plan.left) + self._row_address(position), F32.scalar)
            out = self._rounded_row(r)
            self._round_terms(plan.sums, source, out)
            if _terms(plan) % 2:
                f.store(f.constant(LlvmType("i16"), 0), f.element(out, f.integer(_terms(plan)), "i16"))

    def _round_terms(self, over: Sequence[str], source: LlvmValue, out: LlvmValue) -> None:
        f, plan, lanes = self._f, self._plan, self._lanes
        name, *inner = over
        extent = plan.extent(name)
        assert isinstance(extent, int)
        if inner:
            below = known_count(map(plan.extent, inner))
            with f.loop(f.integer(0), f.integer(extent)) as k:
                moved = f.element(source, k * self._code.size(plan.left.steps[name]), F32.scalar)
                self._round_terms(inner, moved, f.element(out, k * below, "i16"))
            return
        for at, _, mask in f.vectors(extent, lanes):
            x = f.load(f.element(source, at, F32.scalar), LlvmType(F32.scalar, lanes), mask)
            bits = f.cast("bitcast", f.cast("fptrunc", x, "bfloat"), "i16")
            f.store(bits, f.element(out, at, "i16"), mask)

    def _panel(self, j: LlvmValue, vectors: int, mask: LlvmValue | None, units: Units, packed_pointer: Packed) -> None:
        """Adds the rows of the block for a panel."""
        f, rows = self._f, self.tile.rows
        assert isinstance(packed_pointer, LlvmValue)
        # A panel is one unit, so all of it is to be done.
        del units
        pointer = f.element(packed_pointer, j * (_pairs(self._plan) * self._sums), F32.scalar)
        vectors *= self._sums
        steps = (f.integer(vectors * self._lanes),)
        columns = PlainColumns(f, LlvmType(F32.scalar, self._lanes), pointer, vectors, steps)
        with f.loop(f.integer(0), f.integer(-(-self._block // rows))) as n:
            self._pair_tile(f.part_start(n, rows, self._block), j, mask, columns)

    def _pair_tile(self, i: LlvmValue, j: LlvmValue, mask: LlvmValue | None, columns: PlainColumns) -> None:
        f, rows = self._f, self.tile.rows
        terms = [TermRange(f.integer(_pairs(self._plan)), f.integer(1))]
        tile = ProductTile(f, self._lanes, add_pair_products)
        sums = tile.sums([self._rounded_row(i + r) for r in range(rows)], columns, terms)
        for r, of_row in enumerate(sums):
            self._finish(self._position(self._start_row + i + r), j, of_row, mask)
