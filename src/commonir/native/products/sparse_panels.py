"""Panels of sparse constants: the numbers that are not zero, one after another, and a bit for each element.

A panel has for each term and vector a mask of the lanes that are not zero. An instruction spreads as many of the next
numbers over the lanes. In memory are where the numbers of the panel of each vector start, all masks, and all numbers.
Where the processor has no such instruction, sparse constants are read as dense ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.llvm.llvm_ir import I64, Function, LlvmType, LlvmValue, Variable
from commonir.llvm.target import Target
from commonir.native.products.product_tiles import in_panels, panels_of

Array = NDArray[Any]

LEAST_ZEROS = 0.4
"""The share of zeros from which on reading the others takes less time."""

LEAST_ELEMENTS = 1 << 14
"""Smaller constants stay in the cache as they are."""

LANES = 16

MASK = "i16"
"""The type of a mask: a bit for each lane."""

_BEHIND = 64
"""Bytes behind the last number, as vectors are read whole."""

_SAMPLE = 1 << 12

_SAMPLE_STEP = 7919
"""A prime number, so that elements of all rows and columns are in a sample."""


def is_sparse(array: Array) -> bool:
    """Returns whether many elements of a constant are zero, by a sample of them."""
    if array.size < LEAST_ELEMENTS or array.dtype.kind != "f" or 0 in array.strides:
        return False
    at = np.unravel_index(np.arange(_SAMPLE) * _SAMPLE_STEP % array.size, array.shape)
    return bool(np.count_nonzero(array[at]) <= (1 - LEAST_ZEROS) * _SAMPLE)


def expands(target: Target, storage: str) -> bool:
    """Returns whether an instruction spreads numbers of a type in memory over the lanes of a mask.

    Bytes are read faster as they are.
    """
    feature = {"float": "avx512f", "half": "avx512vbmi2"}.get(storage)
    return feature is not None and target.lanes() == LANES and target.has(feature)


def sparse_panels(matrix: Array, vectors: int) -> Array:
    """Returns a matrix of terms and columns as bytes."""
    terms, columns = matrix.shape
    count = -(-columns // LANES)
    numbers_at = count * (I64.bits + terms * LANES) // 8
    numbers_bytes = np.count_nonzero(matrix) * matrix.itemsize
    out = np.zeros(numbers_at + numbers_bytes + _BEHIND, np.uint8)
    starts = out[: count * I64.bits // 8].view(np.int64)
    masks = out[starts.nbytes : numbers_at].reshape(-1, LANES // 8)
    numbers = out[numbers_at : numbers_at + numbers_bytes].view(matrix.dtype)
    at = 0
    for j, n in panels_of(columns, vectors, LANES):
        panel = in_panels(matrix[:, j : j + n * LANES], n, LANES)
        holds = panel != 0
        first = j // LANES * terms
        masks[first : first + n * terms] = np.packbits(holds.reshape(-1, LANES), axis=1, bitorder="little")
        starts[j // LANES] = at
        found = panel[holds]
        numbers[at : at + len(found)] = found
        at += len(found)
    return out


class Cursor(NamedTuple):
    """Where the next number of a panel is: its position among all `numbers`, which starts at one of the panel."""

    at: Variable
    start: LlvmValue
    numbers: LlvmValue
    storage: str

    def begin(self) -> None:
        """Adds code that goes to the first number of the panel."""
        self.at.set(self.start)

    def next_vector(self, f: Function, mask: LlvmValue) -> LlvmValue:
        """Adds code that reads the numbers of a mask; returns a vector of them."""
        at, scalar = self.at.get(), "float" if self.storage == "float" else f"i{LlvmType(self.storage).bits}"
        type = LlvmType(scalar, LANES)
        numbers = f.load(f.element(self.numbers, at, scalar), type)
        lanes = f.reinterpreted(mask, LlvmType("i1", LANES))
        count = f.called(f"llvm.ctpop.{MASK}", mask.type, mask)
        self.at.set(at + f.cast("zext", count, I64.scalar))
        spread = f.called(f"llvm.x86.avx512.mask.expand.{type.mangled}", type, numbers, f.constant(type, 0), lanes)
        return spread if scalar == self.storage else f.reinterpreted(spread, LlvmType(self.storage, LANES))


def panel_at(
    f: Function, pointer: LlvmValue, storage: str, j: LlvmValue, terms: int, columns: int
) -> tuple[LlvmValue, Cursor]:
    """Returns the pointer to the masks of the panel from a column on, and a cursor in its numbers."""
    vectors = -(-columns // LANES)
    number = f.binary("lshr", "lshr", j, LANES.bit_length() - 1)
    start = f.load(f.element(pointer, number, I64.scalar), I64)
    masks = f.element(pointer, f.integer(vectors * I64.bits // 8), "i8")
    numbers = f.element(masks, f.integer(vectors * terms), MASK)
    return f.element(masks, number * terms, MASK), Cursor(f.variable(I64, 0), start, numbers, storage)
