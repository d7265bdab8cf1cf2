"""Contractions with constants whose factors are rounded to bfloat16, two terms in an instruction, summed in f32.

Only where that is asked for (`EngineOptions.fast_math`) and the processor has the instruction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.llvm.llvm_ir import F32, Function, LlvmType, LlvmValue
from commonir.llvm.target import Target
from commonir.native.products.contraction_plan import Plan, factor_matrix
from commonir.native.products.packed_rows import PackedRowsCode, has_packed_rows, in_words, term_count
from commonir.native.products.product_tiles import Tile, in_panels

Array = NDArray[np.generic]

PAIRS = "avx512bf16"
"""The feature of processors that have the instruction."""

LEAST_TERMS = 16
"""The number of terms from which on rounding the rows costs less than it saves."""


def multiplies_pairs(target: Target) -> bool:
    """Returns whether products of single precision are to be those of numbers rounded to bfloat16."""
    return target.fast_math == "bf16" and target.has(PAIRS)


def uses_pairs(plan: Plan, target: Target) -> bool:
    """Returns whether the products of a contraction with a packed constant are those of pairs of bfloat16."""
    if not multiplies_pairs(target) or plan.stored is not None:
        return False
    return has_packed_rows(plan) and term_count(plan) >= LEAST_TERMS


def packed_pairs(plan: Plan, array: Array, tile: Tile, lanes: int) -> Array:
    """Returns a constant right factor in panels of pairs, each in the 32 bits of a number."""
    words = in_words(factor_matrix(plan, array, lanes).astype(dtype_of("bf16")))
    return in_panels(words, tile.vectors * len(plan.folds), lanes)


class PairContractionCode(PackedRowsCode):
    """Adds the code of a contraction."""

    def narrowed(self, x: LlvmValue) -> LlvmValue:
        return self._f.cast("bitcast", self._f.cast("fptrunc", x, "bfloat"), self.stored)

    def multiply_add(self, f: Function, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
        lanes = c.type.lanes
        left, right = [f.reinterpreted(x, LlvmType("bfloat", 2 * lanes)) for x in (a, b)]
        return f.called(f"llvm.x86.avx512bf16.dpbf16ps.{F32.bits * lanes}", c.type, c, left, right)
