"""Panels of a right factor whose columns lie apart in memory: it is transposed into scratch memory."""

from __future__ import annotations

from commonir.base.tuples import NamedTuple
from commonir.llvm.llvm_ir import F32, Function, LlvmType, LlvmValue
from commonir.native.kernels.transposed_reads import transposed


class StridedColumns(NamedTuple):
    """Columns in memory from a pointer on: how far apart they are, and the terms of each, in elements."""

    function: Function
    lanes: int
    pointer: LlvmValue
    step: LlvmValue
    term_step: LlvmValue
    terms: LlvmValue

    def store(self, panel: LlvmValue, vectors: int, last: LlvmValue | None) -> None:
        """Stores some vectors of columns in a panel. The `last` one has only so many columns if that is given."""
        if self.term_step.number == 1 and (self.terms.number or 0) >= self.lanes:
            self._store_squares(panel, vectors, last)
        else:
            self._store_gathered(panel, vectors, last)

    def _store_squares(self, panel: LlvmValue, vectors: int, last: LlvmValue | None) -> None:
        """Stores squares of neighbouring terms of columns, turned; the last square overlaps the one before it."""
        f, lanes, terms = self.function, self.lanes, self.terms.number
        assert terms is not None
        whole = vectors if last is None else vectors - 1
        with f.loop(f.integer(0), f.integer(-(-terms // lanes))) as n:
            term = f.part_start(n, lanes, terms)
            if whole:
                with f.loop(f.integer(0), f.integer(whole)) as v:
                    self._store_square(panel, vectors, term, v * lanes, None)
            if last is not None:
                self._store_square(panel, vectors, term, f.integer(whole * lanes), last)

    def _store_square(
        self, panel: LlvmValue, vectors: int, term: LlvmValue, column: LlvmValue, count: LlvmValue | None
    ) -> None:
        f, lanes, type = self.function, self.lanes, LlvmType(F32.scalar, self.lanes)
        rows: list[LlvmValue] = []
        for r in range(lanes):
            # A column that is not there is the last one.
            at = column + (r if count is None else f.intrinsic("smin", f.integer(r), count - 1))
            rows.append(f.load(f.element(self.pointer, at * self.step + term, F32.scalar), type))
        for r, x in enumerate(transposed(f, rows)):
            f.store(x, f.element(panel, (term + r) * (vectors * lanes) + column, F32.scalar))

    def _store_gathered(self, panel: LlvmValue, vectors: int, last: LlvmValue | None) -> None:
        f, lanes, type = self.function, self.lanes, LlvmType(F32.scalar, self.lanes)
        every = in_last = f.constant(LlvmType("i1", lanes), 1)
        if last is not None:
            in_last = f.first_lanes(f.cast("trunc", last, "i32") if last.number is None else last.number, lanes)
        numbers = f.lane_numbers(LlvmType("i64", lanes)) * self.step
        zero = f.constant(type, 0.0)
        with f.loop(f.integer(0), self.terms) as term:
            for v in range(vectors):
                source = f.element(self.pointer, term * self.term_step + self.step * (v * lanes), F32.scalar)
                x = f.gather(source, numbers, every if v < vectors - 1 else in_last, zero)
                f.store(x, f.element(panel, term * (vectors * lanes) + v * lanes, F32.scalar))
