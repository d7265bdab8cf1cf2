"""Contractions whose factors are rounded to bfloat16, two terms in an instruction, summed in f32.

Only where that is asked for (`EngineOptions.fast_math`) and the processor has the instruction. Left factors that lie in
memory as bfloat16 (`narrow_layouts.py`) are read where they lie, others are narrowed in blocks of rows. Right factors
are constants, or computed values that lie as pairs of neighbouring terms.
"""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.llvm.llvm_ir import F32, Function, LlvmType, LlvmValue
from commonir.llvm.target import Target
from commonir.native.products.contraction_code import ContractionCode, TermRun, term_runs
from commonir.native.products.contraction_plan import Plan, factor_matrix
from commonir.native.products.packed_rows import PackedRowsCode, has_packed_rows, in_words, term_count
from commonir.native.products.product_tiles import Tile, in_panels
from commonir.runtime.kernel_graph.graph import known_count
from commonir.symbolic import Dim

Array = NDArray[np.generic]

PAIRS = "avx512bf16"
"""The feature of processors that have the instruction."""

LEAST_TERMS = 16
"""The number of terms from which on rounding the rows costs less than it saves."""


NARROWING_CYCLES = 12
"""The cycles that are to be saved for each vector of terms that is rounded and stored."""


def multiplies_pairs(target: Target) -> bool:
    """Returns whether products of single precision are to be those of numbers rounded to bfloat16."""
    return target.fast_math == "bf16" and target.has(PAIRS)


def uses_pairs(plan: Plan, target: Target) -> bool:
    """Returns whether the products of a contraction with a packed constant are those of pairs of bfloat16."""
    if not multiplies_pairs(target) or plan.stored is not None:
        return False
    return has_packed_rows(plan) and term_count(plan) >= LEAST_TERMS and _narrowing_pays(plan, target.lanes())


def _narrowing_pays(plan: Plan, lanes: int) -> bool:
    """Returns whether rounding a row takes less time than is saved where a cycle multiplies twice as many terms."""
    *outer, inner = [known_count([run.extent]) for run in term_runs(plan, is_packed=True, has_codes=False)]
    columns = -(-known_count([plan.extent(plan.column)]) // lanes) * len(plan.folds)
    return term_count(plan) * columns // 2 >= NARROWING_CYCLES * prod(outer) * -(-inner // lanes)


def multiplies_in_place(plan: Plan, *, is_constant: bool) -> bool:
    """Returns whether a contraction can read pairs of terms where they lie, if its left factor lies as bfloat16."""
    *outer, inner = term_runs(plan, is_packed=is_constant, has_codes=False)
    if plan.stored is not None or inner.left_step != 1 or not isinstance(inner.extent, int):
        return False
    if is_constant:
        return not plan.right_batch and inner.extent % 2 == 0 and term_count(plan) >= LEAST_TERMS
    is_pair = (inner.extent, inner.right_step, plan.right.steps[plan.column]) == (2, 1, 2)
    return is_pair and bool(outer) and plan.first_column == 0 and not plan.others


def packed_pairs(plan: Plan, array: Array, tile: Tile, lanes: int) -> Array:
    """Returns a constant right factor in panels of pairs, each in the 32 bits of a number."""
    words = in_words(factor_matrix(plan, array, lanes).astype(dtype_of("bf16")))
    return in_panels(words, tile.vectors * len(plan.folds), lanes)


class PairContractionCode(PackedRowsCode):
    """Adds the code of a contraction."""

    def narrowed(self, x: LlvmValue) -> LlvmValue:
        return self._f.cast("bitcast", self._f.cast("fptrunc", x, "bfloat"), self.stored)

    def multiply_add(self, f: Function, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
        return _with_pairs(f, a, b, c)


class NarrowContractionCode(ContractionCode):
    """Adds the code of a contraction whose factors lie as bfloat16, the right one in panels or pairs of terms."""

    left_type = "bfloat"
    right_type = "bfloat"
    column_step = 2

    def term_runs(self, *, is_packed: bool, has_codes: bool) -> list[TermRun]:
        *outer, inner = super().term_runs(is_packed=is_packed, has_codes=has_codes)
        if is_packed:
            return [*outer, TermRun(known_count([inner.extent]) // 2, 2, 1)]
        # A step on the right is one of words.
        return [run._replace(right_step=known_count([run.right_step]) // 2) for run in outer]

    @property
    def panel_terms(self) -> Dim:
        return term_count(self._plan) // 2 * self._sums

    def multiply_add(self, f: Function, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
        return _with_pairs(f, a, b, c)


def _with_pairs(f: Function, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
    """Returns sums to which the products of the two terms in each lane are added."""
    lanes = c.type.lanes
    left, right = [f.reinterpreted(x, LlvmType("bfloat", 2 * lanes)) for x in (a, b)]
    return f.called(f"llvm.x86.avx512bf16.dpbf16ps.{F32.bits * lanes}", c.type, c, left, right)
