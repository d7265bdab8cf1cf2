"""Quantized values and compressed constants, each multiplied with an input."""

from __future__ import annotations

import numpy as np
from coremltools.converters.mil.mil import Var, types
from numpy.typing import ArrayLike, NDArray

from tests.zoo.families.sheet import Sheet, mb

Real = NDArray[np.float64]


def quantization(sheet: Sheet) -> None:
    """Values quantized to 8 bits and back, with one scale and with one for each row."""
    x, a = sheet.input("x")
    rows, zeros = [0.5, 0.25, 0.125], [3, -4, 0]
    new_op = mb.quantize(input=x, scale=sheet.number(0.25), output_dtype="int8")
    expected = np.clip(np.rint(a / 0.25), -128, 127)
    sheet.out("quantize", new_op, expected)
    sheet.out("dequantize", mb.dequantize(input=new_op, scale=sheet.number(0.25)), expected * 0.25)
    parts = {"scale": sheet.number(rows), "zero_point": np.array(zeros, np.int8), "axis": 0}
    new_op = mb.quantize(input=x, output_dtype="int8", **parts)
    column, shift = np.reshape(rows, (3, 1)), np.reshape(zeros, (3, 1))
    expected = np.clip(np.rint(a / column) + shift, -128, 127)
    sheet.out("quantize_rows", new_op, expected)
    sheet.out("dequantize_rows", mb.dequantize(input=new_op, **parts), (expected - shift) * column)
    new_op = mb.quantize(input=x, scale=sheet.number(0.25), zero_point=np.uint8(128), output_dtype="uint8")
    sheet.out("quantize_uint8", new_op, np.clip(np.rint(a / 0.25) + 128, 0, 255))


def multiplied(sheet: Sheet, name: str, weight: Var, dense: ArrayLike) -> None:
    """Add an output that is the input times a constant."""
    x, a = sheet.input("x")
    sheet.out(name, mb.mul(x=x, y=weight), a * np.asarray(dense))


def constexpr_bytes(sheet: Sheet) -> None:
    """Compressed constants of iOS 16, whose bits are packed into bytes."""
    codes = np.arange(-6, 6, dtype=np.int8).reshape(3, 4)
    rows = np.array([0.5, 0.25, 2.0])
    new_op = mb.constexpr_affine_dequantize(
        quantized_data=codes, zero_point=np.int8(2), scale=sheet.number(list(rows)), axis=0
    )
    multiplied(sheet, "affine", new_op, (codes - 2.0) * rows[:, None])
    if sheet.float is np.float32:
        halves = (codes / 8).astype(np.float16)
        multiplied(sheet, "cast", mb.constexpr_cast(source_val=halves, output_dtype="fp32"), halves.astype(np.float64))
    table = [0.5, -1.0, 2.0, 4.0]
    indices = np.array([0, 1, 2, 3, 3, 2, 1, 0, 1, 1, 2, 2])
    # Four indices in a byte, the first in the lowest bits.
    packed = (indices.reshape(3, 4) << np.array([0, 2, 4, 6])).sum(1).astype(np.uint8)
    new_op = mb.constexpr_lut_to_dense(indices=packed, lut=sheet.number(table), shape=np.array([3, 4], np.uint32))
    multiplied(sheet, "table", new_op, np.asarray(table)[indices].reshape(3, 4))
    mask = np.array([1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0], bool)
    preserved = [1.5, -2.0, 0.5, 3.0]
    new_op = mb.constexpr_sparse_to_dense(
        nonzero_data=sheet.number(preserved),
        mask=np.packbits(mask, bitorder="little"),
        shape=np.array([3, 4], np.uint32),
    )
    multiplied(sheet, "sparse", new_op, spread(mask, preserved).reshape(3, 4))


def spread(mask: NDArray[np.bool_], preserved: list[float]) -> Real:
    """Return zeros with the kept values where the mask is set."""
    dense = np.zeros(mask.shape)
    dense[mask] = preserved
    return dense


def constexpr_chains(sheet: Sheet) -> None:
    """Compressed constants of iOS 18: blocks, tables of vectors, sparse forms, and chains of them."""
    uint1, uint2, int4 = types.np_uint1_dtype, types.np_uint2_dtype, types.np_int4_dtype
    codes = np.arange(-6, 6).reshape(3, 4)
    scale = np.array([[0.5, 1.0], [0.25, 2.0], [4.0, 0.125]])
    offset = np.array([[1, 0], [2, -1], [0, 3]])
    wide = np.repeat(scale, 2, 1)
    new_op = mb.constexpr_blockwise_shift_scale(
        data=codes.astype(int4), scale=scale.astype(sheet.float), offset=offset.astype(int4)
    )
    multiplied(sheet, "blocks", new_op, (codes - np.repeat(offset, 2, 1)) * wide)
    # Two tables, one for each pair of columns.
    tables = np.array([[0.5, -1.0, 2.0, 4.0], [1.0, 3.0, -2.0, 0.25]])
    indices = np.array([[0, 1, 2, 3], [3, 2, 1, 0], [1, 1, 2, 2]])
    result = np.stack(
        [tables[0, indices[:, 0]], tables[0, indices[:, 1]], tables[1, indices[:, 2]], tables[1, indices[:, 3]]], 1
    )
    looked_up = mb.constexpr_lut_to_dense(
        indices=indices.astype(uint2), lut=tables.reshape(1, 2, 4, 1).astype(sheet.float)
    )
    multiplied(sheet, "tables", looked_up, result)
    chained = mb.constexpr_blockwise_shift_scale(data=looked_up, scale=scale.astype(sheet.float))
    multiplied(sheet, "tables_in_blocks", chained, result * wide)
    # Each index stands for two values along the columns.
    vectors = np.array([[0.5, -1.0], [2.0, 4.0], [1.0, 3.0], [-2.0, 0.25]])
    new_op = mb.constexpr_lut_to_dense(
        indices=indices[:, :2].astype(uint2),
        lut=vectors.reshape(1, 1, 4, 2).astype(sheet.float),
        vector_axis=np.int32(1),
    )
    multiplied(sheet, "vectors", new_op, vectors[indices[:, :2]].reshape(3, 4))
    mask = np.array([[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0]])
    preserved = [1.5, -2.0, 0.5, 3.0]
    new_op = mb.constexpr_sparse_to_dense(nonzero_data=sheet.number(preserved), mask=mask.astype(uint1))
    multiplied(sheet, "sparse", new_op, spread(mask.astype(bool), preserved))
    places, values = mb.constexpr_lut_to_sparse(
        indices_mask=mask.astype(uint1),
        indices_nonzero_data=np.array([3, 0, 2, 1]).astype(uint2),
        lut=tables[0].reshape(1, 1, 4, 1).astype(sheet.float),
    )
    new_op = mb.constexpr_sparse_to_dense(nonzero_data=values, mask=places)
    multiplied(sheet, "sparse_table", new_op, spread(mask.astype(bool), list(tables[0, [3, 0, 2, 1]])))
    places, values = mb.constexpr_sparse_blockwise_shift_scale(
        data_mask=mask.astype(uint1), nonzero_data=np.array([4, -3, 7, 1], np.int8), scale=scale.astype(sheet.float)
    )
    new_op = mb.constexpr_sparse_to_dense(nonzero_data=values, mask=places)
    multiplied(sheet, "sparse_blocks", new_op, spread(mask.astype(bool), [4.0, -3.0, 7.0, 1.0]) * wide)
