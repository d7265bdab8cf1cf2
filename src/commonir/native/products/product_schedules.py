"""The schedules of sums of products: the code of each, and how a constant right factor is packed for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.llvm.target import Target
from commonir.native.products.contraction_code import ContractionCode
from commonir.native.products.contraction_plan import Plan, packed
from commonir.native.products.halved_products import HalvedContractionCode, has_halves, packed_halves
from commonir.native.products.integer_products import (
    ByteContractionCode,
    IntegerContractionCode,
    StoredByteContractionCode,
    Terms,
)
from commonir.native.products.pair_products import (
    NarrowContractionCode,
    PairContractionCode,
    packed_pairs,
    uses_pairs,
)
from commonir.native.products.product_tiles import Tile

Array = NDArray[np.generic]


class ProductSchedule(NamedTuple):
    """The code of a contraction, the name of the panels that it reads, and how a constant is packed in them."""

    code: type[ContractionCode]
    panels: str
    pack: Callable[[Plan, Array, Tile, int], Array]


PLAIN = ProductSchedule(ContractionCode, "packed", packed)
PAIRS = ProductSchedule(PairContractionCode, "pairs", packed_pairs)
NARROW_PAIRS = ProductSchedule(NarrowContractionCode, "pairs", packed_pairs)
HALVES = ProductSchedule(HalvedContractionCode, "halves", packed_halves)

INTEGER_SCHEDULES: Mapping[Terms, type[ContractionCode]] = {
    Terms.PAIRS: IntegerContractionCode,
    Terms.BYTES: ByteContractionCode,
    Terms.STORED: StoredByteContractionCode,
}


def schedule_of(plan: Plan, target: Target, *, is_narrow: bool, is_packed: bool) -> ProductSchedule:
    """Returns the schedule of a contraction whose factors may lie as bfloat16, or the right one in panels."""
    if is_narrow:
        return NARROW_PAIRS
    if is_packed and uses_pairs(plan, target):
        return PAIRS
    return HALVES if is_packed and has_halves(plan, target) else PLAIN
