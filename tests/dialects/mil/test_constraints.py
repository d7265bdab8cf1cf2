"""Breaks every labelled constraint of the mil dialect, and only that one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import mil
from commonir.dialects.mil.control import ReadState, WriteState
from commonir.dialects.mil.custom import CustomLayer
from commonir.dialects.mil.lists import ListGather, ListLength, ListRead, ListScatter, ListWrite
from commonir.dialects.mil.program import PARAMETERS, Compound, Const, Return
from commonir.ir import types
from commonir.ir.attributes import DictionaryAttr, IntegerAttr
from commonir.ir.operation import Value
from commonir.ir.types import ListType, StateType, tensor
from commonir.ods import check_operation

from tests.dialects.mil.single_operations import (
    Given,
    Program,
    data_of_array,
    definition_of,
    f16,
    f32,
    i8,
    i32,
    narrow,
    u8,
    u32,
)


class Case(NamedTuple):
    """Parameters that break one constraint of an operation."""

    name: str
    label: str
    version: str
    given: dict[str, Given]
    constant: tuple[str, ...] = ()


def x(*shape: int) -> NDArray[Any]:
    """A tensor of a shape."""
    return np.zeros(shape, np.float32)


def v(*numbers: int) -> NDArray[Any]:
    """A vector of integers."""
    return np.array(numbers, np.int32)


def flags(*values: bool) -> NDArray[Any]:
    """A vector of bools."""
    return np.array(values, np.bool_)


_POOL: dict[str, Given] = {"x": x(1, 1, 4, 4), "kernel_sizes": v(2, 2), "pad_type": "valid"}
_POOLS = ("avg_pool", "max_pool", "l2_pool")
_REDUCTIONS = (
    "reduce_l1_norm",
    "reduce_l2_norm",
    "reduce_log_sum",
    "reduce_log_sum_exp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "reduce_sum_square",
)
_SLICE: dict[str, Given] = {"x": x(2, 3), "begin": v(0, 0), "end": v(1, 1)}
_LUT: dict[str, Given] = {"indices": np.zeros(1, np.uint8), "lut": x(2), "shape": u32([8])}
_AFFINE: dict[str, Given] = {
    "quantized_data": np.zeros((2, 3), np.int8),
    "zero_point": i8(0),
    "scale": f32(1),
    "axis": i32(0),
}
_SPARSE_TABLE: dict[str, Given] = {
    "indices_mask": narrow("ui1", [1]), "indices_nonzero_data": u8([0]), "lut": x(1, 256, 1),
}  # fmt: skip
_SPARSE_SCALED: dict[str, Given] = {
    "data_mask": narrow("ui1", [1]), "nonzero_data": i8([0]), "scale": x(1),
}  # fmt: skip


_CONV_QUANTIZED: dict[str, Given] = {
    "x": x(1, 2, 4), "weight": u8([[[1], [2]]]), "quantization_type": "linear", "quant_scale": f32(1),
    "quant_bias": f32(0),
}  # fmt: skip


def _recurrent(rows: int) -> dict[str, Given]:
    """A layer with weights of a number of rows, for inputs of size 5 and states of size 3."""
    return {"x": x(1, 2, 5), "initial_h": x(2, 3), "weight_ih": x(rows, 5), "weight_hh": x(rows, 3)}


_SPARSE: dict[str, Given] = {"nonzero_data": x(1), "mask": u8([1]), "shape": u32([8])}

CASES = [
    Case("clip", "C1", "CoreML7", {"x": x(2), "alpha": 1.0, "beta": 1.0}),
    Case("prelu", "C1", "CoreML5", {"x": x(2, 3), "alpha": x(3)}),
    Case("prelu", "C2", "CoreML5", {"x": x(2, 2, 3), "alpha": f32([1, 2])}),
    Case("softmax", "C1", "CoreML5", {"x": x(2, 3), "axis": 2}),
    Case("softplus_parametric", "C1", "CoreML5", {"x": x(2, 3), "alpha": x(3), "beta": x(3)}),
    Case("matmul", "C1", "CoreML5", {"x": x(), "y": x(3)}),
    Case("matmul", "C2", "CoreML5", {"x": x(3), "y": x(3), "transpose_x": True}),
    Case("matmul", "C3", "CoreML5", {"x": x(2, 3), "y": x(2, 3)}),
    Case("matmul", "C4", "CoreML7", {"x": x(2, 3), "y": x(3, 2).astype(np.float16)}),
    Case("einsum", "C1", "CoreML5", {"values": [x(2, 3)], "equation": "ab->ab"}),
    Case("einsum", "C2", "CoreML5", {"values": [x(2, 3, 4), x(4, 3, 2)], "equation": "chw,whr->crh"}),
    Case("scaled_dot_product_attention", "C1", "CoreML8", {"query": x(2, 3), "key": x(4, 3), "value": x(4, 3)}),
    Case("conv", "C1", "CoreML5", {"x": x(1, 2), "weight": x(3, 2)}),
    Case("conv", "C2", "CoreML5", {"x": x(1, 2, 5), "weight": x(3, 2, 2), "pad": v(1)}),
    Case("conv", "C3", "CoreML5", {"x": x(1, 2, 5), "weight": x(3, 2, 2), "groups": 2}),
    Case("conv", "C4", "CoreML5", {"x": x(1, 2, 5), "weight": x(3, 2, 2), "dilations": v(2)}),
    Case("conv_transpose", "C1", "CoreML5", {"x": x(1, 2), "weight": x(2, 3)}),
    Case("conv_transpose", "C2", "CoreML5", {"x": x(1, 2, 5), "weight": x(2, 3, 2), "strides": v(1, 1)}),
    Case("conv_transpose", "C3", "CoreML5", {"x": x(1, 3, 5), "weight": x(3, 1, 2), "groups": 2}),
    Case("conv_transpose", "C4", "CoreML5", {"x": x(1, 2, 5), "weight": x(2, 3, 2), "output_shape": v(1, 4, 6)}),
    *(Case(name, "C1", "CoreML5", {**_POOL, "x": x(1, 1), "kernel_sizes": v()}) for name in _POOLS),
    *(Case(name, "C2", "CoreML5", {**_POOL, "kernel_sizes": v(2)}) for name in _POOLS),
    *(Case(name, "C3", "CoreML5", {**_POOL, "ceil_mode": True, "pad_type": "same"}) for name in _POOLS),
    Case("l2_pool", "C4", "CoreML5", {**_POOL, "x": x(1, 1, 4, 4, 4), "kernel_sizes": v(2, 2, 2)}),
    Case("batch_norm", "C1", "CoreML5", {"x": x(1, 2), "mean": x(2), "variance": x(2)}),
    Case("instance_norm", "C1", "CoreML5", {"x": x(1, 2, 3, 4, 5)}),
    Case("l2_norm", "C1", "CoreML5", {"x": x(1, 2)}),
    Case("layer_norm", "C1", "CoreML5", {"x": x(1, 2), "axes": v(1, -1)}),
    Case("layer_norm", "C2", "CoreML5", {"x": x(1, 2), "axes": v(1), "beta": x(3)}),
    *(Case(name, "C1", "CoreML5", {"x": x(2, 3), "axes": v(2)}) for name in _REDUCTIONS),
    Case("reduce_argmax", "C1", "CoreML5", {"x": x(2, 3), "axis": -3}),
    Case("reduce_argmin", "C1", "CoreML7", {"x": x(), "axis": 0}),
    Case("reshape", "C1", "CoreML5", {"x": x(2, 3), "shape": v(-1, -1)}),
    Case("reshape", "C2", "CoreML5", {"x": x(2, 3), "shape": v(0, 3, 1)}),
    Case("reshape", "C3", "CoreML5", {"x": x(2, 3), "shape": v(4, -1)}),
    Case(
        "reshape_like", "C1", "CoreML6", {"x": x(2), "ref_tensors": [x(2)], "begins": [0], "ends": [1], "end_masks": []}
    ),
    Case(
        "reshape_like",
        "C2",
        "CoreML6",
        {"x": x(2), "ref_tensors": [x(3)], "begins": [0], "ends": [1], "end_masks": [False]},
    ),
    Case("expand_dims", "C1", "CoreML5", {"x": x(2), "axes": v(0, 0)}),
    Case("squeeze", "C1", "CoreML5", {"x": x()}),
    Case("squeeze", "C2", "CoreML5", {"x": x(1, 2), "axes": v(2)}),
    Case("transpose", "C1", "CoreML5", {"x": x(1, 2), "perm": v(0, 0)}),
    Case("flatten2d", "C1", "CoreML5", {"x": x(1, 2), "axis": 2}),
    Case("concat", "C1", "CoreML5", {"values": [x(1, 2)], "axis": 2}),
    Case("concat", "C2", "CoreML5", {"values": [x(1, 2), x(2, 2)], "axis": 1}),
    Case("concat", "C3", "CoreML5", {"values": [x(1, 2), x(1, 3)], "axis": 1, "interleave": True}),
    Case("stack", "C1", "CoreML5", {"values": [x(2)], "axis": 2}),
    Case("stack", "C2", "CoreML5", {"values": [x(2), x(3)], "axis": 0}),
    Case("split", "C1", "CoreML5", {"x": x(4), "axis": 1, "num_splits": 1}),
    Case("split", "C2", "CoreML5", {"x": x(4), "axis": 0}),
    Case("split", "C3", "CoreML5", {"x": x(4), "axis": 0, "num_splits": 3}),
    Case("tile", "C1", "CoreML5", {"x": x(1, 2), "reps": v(1)}),
    Case("tile", "C2", "CoreML5", {"x": x(1, 2), "reps": v(1, 0)}),
    Case("slice_by_index", "C1", "CoreML5", {**_SLICE, "end_mask": flags(True)}),
    Case("slice_by_index", "C2", "CoreML5", {**_SLICE, "stride": v(1, 0)}),
    Case("slice_update", "C1", "CoreML8", {**_SLICE, "update": x(1, 1), "stride": v(1)}),
    Case("slice_update", "C2", "CoreML8", {**_SLICE, "update": x(1, 1), "stride": v(0, 1)}),
    Case("slice_update", "C3", "CoreML8", {**_SLICE, "update": x(1, 2)}),
    Case("slice_by_size", "C1", "CoreML5", {"x": x(2, 3), "begin": v(0), "size": v(1)}),
    Case("slice_by_size", "C2", "CoreML5", {"x": x(2), "begin": v(0), "size": v(-2)}),
    Case("sliding_windows", "C1", "CoreML5", {"x": x(2), "axis": 1, "size": 1}),
    Case("sliding_windows", "C2", "CoreML5", {"x": x(2), "axis": 0, "size": 3}),
    Case("pad", "C1", "CoreML5", {"x": x(2), "pad": v(1, 1, 1, 1)}),
    Case("pad", "C2", "CoreML5", {"x": x(2), "pad": v(1, -1)}),
    Case("pad", "C3", "CoreML5", {"x": x(2), "pad": v(0, 2), "mode": "reflect"}),
    Case("crop", "C1", "CoreML5", {"x": x(2, 2), "crop_height": v(0, 0), "crop_width": v(0, 0)}),
    Case("crop", "C2", "CoreML5", {"x": x(1, 2, 2), "crop_height": v(0), "crop_width": v(0, 0)}),
    Case("reverse", "C1", "CoreML5", {"x": x(2), "axes": v(0, -1)}),
    Case("reverse_sequence", "C1", "CoreML5", {"x": x(2), "lengths": v(1, 1), "seq_axis": 1}),
    Case("reverse_sequence", "C2", "CoreML5", {"x": x(2, 3), "lengths": v(1)}),
    Case("depth_to_space", "C1", "CoreML5", {"x": x(1, 3, 1, 1), "block_size": 2}),
    Case("space_to_depth", "C1", "CoreML5", {"x": x(1, 1, 2, 3), "block_size": 2}),
    Case("pixel_shuffle", "C1", "CoreML5", {"x": x(1, 2, 1, 1), "upscale_factor": 2}),
    Case("pixel_unshuffle", "C1", "CoreML6", {"x": x(1, 1, 3, 2), "downscale_factor": u32(2)}),
    Case(
        "space_to_batch",
        "C1",
        "CoreML5",
        {"x": x(1, 1, 2, 2), "block_shape": v(2), "paddings": np.zeros((2, 2), np.int32)},
    ),
    Case(
        "space_to_batch",
        "C2",
        "CoreML5",
        {"x": x(1, 1, 2, 2), "block_shape": v(2, 2), "paddings": i32([[0, 1], [0, 0]])},
    ),
    Case(
        "batch_to_space",
        "C1",
        "CoreML5",
        {"x": x(4, 1, 2, 2), "block_shape": v(2), "crops": np.zeros((2, 2), np.int32)},
    ),
    Case(
        "batch_to_space",
        "C2",
        "CoreML5",
        {"x": x(3, 1, 2, 2), "block_shape": v(2, 2), "crops": np.zeros((2, 2), np.int32)},
    ),
    Case("gather", "C1", "CoreML5", {"x": x(2), "indices": v(0), "axis": 1}),
    Case("gather", "C2", "CoreML6", {"x": x(2, 3), "indices": v(0), "axis": 0, "batch_dims": 1}),
    Case("gather_along_axis", "C1", "CoreML5", {"x": x(2), "indices": v(0), "axis": 1}),
    Case("gather_along_axis", "C2", "CoreML5", {"x": x(2, 3), "indices": np.zeros((2, 2), np.int32)}),
    Case("gather_nd", "C1", "CoreML5", {"x": x(2), "indices": v(0, 1)}),
    Case("gather_nd", "C2", "CoreML6", {"x": x(2, 3), "indices": np.zeros((3, 1), np.int32), "batch_dims": 1}),
    Case("scatter", "C1", "CoreML5", {"data": x(2), "indices": v(0), "updates": x(1), "axis": 1}),
    Case("scatter", "C2", "CoreML5", {"data": x(2), "indices": v(0), "updates": x(2)}),
    Case("scatter_along_axis", "C1", "CoreML5", {"data": x(2), "indices": v(0), "updates": x(1), "axis": -2}),
    Case(
        "scatter_along_axis",
        "C2",
        "CoreML5",
        {"data": x(2, 3), "indices": np.zeros((1, 2), np.int32), "updates": x(1, 2)},
    ),
    Case("scatter_nd", "C1", "CoreML5", {"data": x(2), "indices": v(0, 1), "updates": x()}),
    Case("scatter_nd", "C2", "CoreML5", {"data": x(2, 3), "indices": v(0), "updates": x(2)}),
    Case("one_hot", "C1", "CoreML5", {"indices": v(0), "one_hot_vector_size": 2, "axis": 2}),
    Case("one_hot", "C2", "CoreML5", {"indices": v(0), "one_hot_vector_size": -1}),
    Case("one_hot", "C3", "CoreML5", {"indices": v(0), "one_hot_vector_size": 2, "on_value": 1.0}),
    Case("cumsum", "C1", "CoreML5", {"x": x(2, 3), "axis": -2}),
    Case("argsort", "C1", "CoreML5", {"x": x(2), "axis": 1}),
    Case("topk", "C1", "CoreML5", {"x": x(2), "axis": 1}),
    Case("topk", "C2", "CoreML5", {"x": x(2), "k": 3}),
    Case("topk", "C2", "CoreML7", {"x": x(2), "k": -2}),
    Case("topk", "C3", "CoreML7", {"x": x(2), "return_indices": False, "output_indices_dtype": "int32"}),
    Case("resize_bilinear", "C1", "CoreML5", {"x": x(2, 2)}),
    Case("resize_nearest_neighbor", "C1", "CoreML5", {"x": x(2, 2), "target_size_height": 1, "target_size_width": 1}),
    Case("upsample_nearest_neighbor", "C1", "CoreML5", {"x": x(2, 2)}),
    Case("upsample_bilinear", "C1", "CoreML5", {"x": x(2, 2)}),
    Case("upsample_bilinear", "C2", "CoreML6", {"x": x(1, 2, 2), "half_pixel_centers": True}),
    Case("resize", "C1", "CoreML7", {"x": x(2, 2), "shape": v(2), "resized_dims": u32(2)}),
    Case(
        "affine",
        "C1",
        "CoreML5",
        {
            "x": x(3, 1, 2, 2),
            "transform_matrix": x(2, 6),
            "output_height": 1,
            "output_width": 1,
            "sampling_mode": "bilinear",
            "padding_mode": "constant",
            "padding_value": 0.0,
            "coordinates_mode": "normalized_minus_one_to_one",
            "align_corners": True,
        },
    ),
    Case("crop_resize", "C1", "CoreML5", {"x": x(1, 1, 2, 2), "roi": x(1, 1, 3, 1, 1)}),
    Case("crop_resize", "C1", "CoreML7", {"x": x(1, 1, 2, 2), "boxes": x(3, 4)}),
    Case("crop_resize", "C1", "CoreML8", {"x": x(1, 1, 2, 2), "boxes": x(1, 4), "box_indices": v(10)}),
    Case(
        "crop_resize",
        "C2",
        "CoreML7",
        {
            "x": x(1, 1, 2, 2),
            "boxes": np.zeros((1, 4), np.uint16),
            "normalized_coordinates": True,
        },
    ),
    Case("make_list", "C1", "CoreML5", {"elem_shape": [i32(-1)]}),
    Case("make_list", "C1", "CoreML5", {"elem_shape": [f32(1)]}),
    Case("quantize", "C1", "CoreML7", {"input": x(2), "scale": f32([1, 1]), "output_dtype": "int8"}),
    Case("quantize", "C2", "CoreML7", {"input": x(2), "scale": f32(1), "zero_point": u8(1), "output_dtype": "int8"}),
    Case("dequantize", "C1", "CoreML7", {"input": i8([1, 2]), "scale": f32([1]), "axis": 0}),
    Case("constexpr_affine_dequantize", "C1", "CoreML6", {**_AFFINE, "zero_point": i32(0)}),
    Case("constexpr_affine_dequantize", "C2", "CoreML6", {**_AFFINE, "scale": x(3)}),
    Case("constexpr_cast", "C1", "CoreML6", {"source_val": x(1), "output_dtype": "fp32"}),
    Case("constexpr_cast", "C1", "CoreML8", {"source_val": f16([1]), "output_dtype": "fp16"}),
    Case("constexpr_lut_to_dense", "C1", "CoreML6", {**_LUT, "indices": np.zeros(1, np.int8)}),
    Case("constexpr_lut_to_dense", "C2", "CoreML6", {**_LUT, "lut": x(3)}),
    Case("constexpr_lut_to_dense", "C3", "CoreML6", {**_LUT, "shape": u32([9])}),
    Case("constexpr_lut_to_dense", "C1", "CoreML8", {"indices": u8([0]), "lut": x(1, 16, 1)}),
    Case("constexpr_lut_to_dense", "C2", "CoreML8", {"indices": u8([0]), "lut": x(2, 256, 1)}),
    Case("constexpr_lut_to_dense", "C3", "CoreML8", {"indices": u8([0]), "lut": x(1, 256, 2)}),
    Case("constexpr_sparse_to_dense", "C1", "CoreML6", {**_SPARSE, "nonzero_data": v(1)}),
    Case("constexpr_sparse_to_dense", "C2", "CoreML6", {**_SPARSE, "shape": u32([9])}),
    Case("constexpr_blockwise_shift_scale", "C1", "CoreML8", {"data": i8([[1, 2, 3]]), "scale": x(1, 2)}),
    Case("constexpr_blockwise_shift_scale", "C2", "CoreML8", {"data": i8([1]), "scale": x(1), "offset": u8([1])}),
    Case("constexpr_lut_to_sparse", "C1", "CoreML8", {**_SPARSE_TABLE, "lut": x(1, 16, 1)}),
    Case("constexpr_lut_to_sparse", "C2", "CoreML8", {**_SPARSE_TABLE, "lut": x(2, 256, 1)}),
    Case("constexpr_lut_to_sparse", "C3", "CoreML8", {**_SPARSE_TABLE, "lut": x(1, 256, 2)}),
    Case("constexpr_sparse_blockwise_shift_scale", "C1", "CoreML8", {**_SPARSE_SCALED, "scale": x(1, 1)}),
    Case("constexpr_sparse_blockwise_shift_scale", "C2", "CoreML8", {**_SPARSE_SCALED, "offset": u8([1])}),
    Case("conv_quantized", "C1", "CoreML5", {**_CONV_QUANTIZED, "x": x(1, 1), "weight": u8([[1]])}),
    Case("conv_quantized", "C2", "CoreML5", {**_CONV_QUANTIZED, "strides": v(1, 1)}),
    Case("conv_quantized", "C3", "CoreML5", {**_CONV_QUANTIZED, "x": x(1, 3, 4)}),
    Case("conv_quantized", "C4", "CoreML5", {**_CONV_QUANTIZED, "dilations": v(2)}),
    Case("conv_quantized", "C5", "CoreML5", {**_CONV_QUANTIZED, "quant_scale": x(3)}, ("weight",)),
    Case("conv_quantized", "C6", "CoreML5", {**_CONV_QUANTIZED, "quantization_type": "lut"}),
    Case("random_bernoulli", "C1", "CoreML5", {"shape": v(-1)}),
    Case("random_normal", "C1", "CoreML5", {"shape": v(-1)}),
    Case("random_normal", "C2", "CoreML5", {"shape": v(1), "mean": f16(0)}),
    Case("random_uniform", "C1", "CoreML5", {"shape": v(-1)}),
    Case("random_uniform", "C2", "CoreML5", {"shape": v(1), "low": f16(0)}),
    Case("random_categorical", "C1", "CoreML5", {"x": x()}),
    Case("rnn", "C1", "CoreML5", {**_recurrent(4), "weight_ih": x(3, 5)}),
    Case("gru", "C1", "CoreML5", _recurrent(8)),
    Case("lstm", "C1", "CoreML5", {**_recurrent(8), "initial_c": x(2, 3)}),
    Case("lstm", "C2", "CoreML5", {**_recurrent(12), "initial_c": x(2, 3), "weight_ih_back": x(12, 5)}),
    Case("lstm", "C3", "CoreML5", {**_recurrent(12), "initial_c": x(2, 3), "clip": -1.0}),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{c.name}_{c.label}_{c.version}" for c in CASES])
def test_constraint_is_reported_when_it_is_broken(case: Case) -> None:
    with pytest.raises(DiagnosticError) as caught:
        Program(definition_of(case.name, case.version), case.given, constants=case.constant)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message.startswith(f"mil.{case.name}: {case.label}: ")


# The constraints of these are broken below, or belong to the structure of programs.
_ELSEWHERE = {
    ("return", "C1"), ("classify", "C1"), ("read_state", "C1"), ("write_state", "C1"), ("custom_layer", "C1"),
    *((f"list_{kind}", "C1") for kind in ("length", "read", "write", "gather", "scatter")),
    ("list_write", "C2"), ("list_scatter", "C2"),
}  # fmt: skip


def test_every_constraint_is_broken_by_a_case() -> None:
    declared: dict[tuple[str, str], set[str]] = {}
    for name, definitions in mil.DIALECT.operations.items():
        for c in (c for d in definitions for c in d.layout.constraints.values()):
            declared.setdefault((name.removeprefix("mil."), c.label), set()).add(c.text)
    broken = {(c.name, c.label) for c in CASES} | _ELSEWHERE
    assert set(declared) - broken == set()
    # A constraint with another text is another one: it is broken in its own version.
    for key, texts in declared.items():
        assert key in _ELSEWHERE or len({c.version for c in CASES if (c.name, c.label) == key}) >= len(texts), key


def test_constraint_of_a_kind_that_was_traced_before_is_still_checked() -> None:
    # What was derived for equal types is kept; that a weight is constant, and its values, are not part of a type.
    inputs: dict[str, Given] = {"x": x(1, 2, 5), "weight": x(3, 2, 2), "dilations": v(2)}
    Program(definition_of("conv", "CoreML5"), inputs, constants=("weight",))
    with pytest.raises(DiagnosticError, match="C4"):
        Program(definition_of("conv", "CoreML5"), inputs)


@pytest.mark.parametrize(
    ("name", "label", "inputs"),
    [
        ("constexpr_lut_to_sparse", "C4", {**_SPARSE_TABLE, "indices_nonzero_data": u8([0, 0])}),
        ("constexpr_sparse_blockwise_shift_scale", "C3", {**_SPARSE_SCALED, "nonzero_data": i8([0, 0])}),
        ("constexpr_sparse_to_dense", "C1", {"nonzero_data": i8([0, 0]), "mask": narrow("ui1", [1, 0])}),
        ("constexpr_sparse_to_dense", "C3", {**_SPARSE, "nonzero_data": x(2)}),
    ],
)
def test_as_many_values_as_bits_are_set_are_asked_for(name: str, label: str, inputs: dict[str, Given]) -> None:
    version = "CoreML6" if label == "C3" and name.endswith("dense") else "CoreML8"
    (result,) = Program(definition_of(name, version), inputs).op.verify()
    assert result.message == f"mil.{name}: {label}: 2 values for 1 bits of the mask that are set"


def test_constexpr_sparse_to_dense_C4() -> None:
    inputs = {**_SPARSE, "mask": u8([0b10]), "shape": u32([1])}
    (result,) = Program(definition_of("constexpr_sparse_to_dense", "CoreML6"), inputs).op.verify()
    assert result.message == "mil.constexpr_sparse_to_dense: C4: bits of mask beyond the 1 elements must be 0"


def test_read_state_C1_and_write_state_C1() -> None:
    state, data = Value(StateType(tensor(types.f16, 2))), Value(tensor(types.f16, 2))
    assert ReadState(state).output.type is tensor(types.f16, 2)
    WriteState(state, data)
    for make in (
        lambda: ReadState(data),
        lambda: WriteState(data, data),
        lambda: WriteState(state, Value(tensor(types.f32, 2))),
    ):
        with pytest.raises(DiagnosticError, match="C1: input is a state"):
            make()


def test_operations_of_lists_C1_and_C2() -> None:
    ls, number = Value(ListType(tensor(types.f32, 2))), Value(tensor(types.i32))
    rows = Value(tensor(types.i32, 3))
    element, several = Value(tensor(types.f32, 2)), Value(tensor(types.f32, 3, 2))
    assert ListRead(ls, number).output.type is element.type
    assert ListGather(ls, rows).output.type is several.type
    assert ListWrite(ls, number, element).output.type is ls.type
    assert ListScatter(ls, rows, several).output.type is ls.type
    assert ListLength(ls).output.type is number.type
    for make in (
        lambda: ListRead(element, number),
        lambda: ListGather(element, rows),
        lambda: ListWrite(element, number, element),
        lambda: ListScatter(element, rows, several),
        lambda: ListLength(element),
    ):
        with pytest.raises(DiagnosticError, match="C1: ls is a list of tensors"):
            make()
    with pytest.raises(DiagnosticError, match="C2: value is one of its elements"):
        ListWrite(ls, number, several)
    for value in (element, Value(tensor(types.f32, 4, 2)), Value(tensor(types.f32, 3, 5))):
        with pytest.raises(DiagnosticError, match="C2: value has an element of ls for each of indices"):
            ListScatter(ls, rows, value)


def test_custom_layer_C1_and_C2() -> None:
    value = Value(tensor(types.f32, 2))
    nameless = CustomLayer.build({"inputs": (value,), "class_name": ""}, (value.type,))
    assert [d.message for d in check_operation(nameless)] == ["mil.custom_layer: C1: class_name is not empty"]
    order = Compound(ListType(tensor(types.string), 1), [data_of_array("x")])
    built = CustomLayer.build({"inputs": (value,), "class_name": "Twice", "input_order": order}, (value.type,))
    built.set_extra(PARAMETERS, DictionaryAttr((("y", IntegerAttr(1)),)))
    (result,) = check_operation(built)
    assert result.message == "mil.custom_layer: C2: input_order names 'x', which is not an input"
    built.set_extra(PARAMETERS, DictionaryAttr((("x", IntegerAttr(1)),)))
    assert list(check_operation(built)) == []


def test_indices_of_topk_are_a_result_unless_they_are_not_returned() -> None:
    definition = definition_of("topk", "CoreML7")
    value = Value(tensor(types.f32, 3))
    assert list(check_operation(definition.build({"x": value, "k": 3, "return_indices": False}, (value.type,)))) == []
    (result,) = check_operation(definition.build({"x": value, "k": 3}, (value.type,)))
    assert result.message == "mil.topk: indices are a result unless return_indices is false"


def test_return_C1() -> None:
    value = Const(val=data_of_array(1)).result
    with pytest.raises(DiagnosticError, match="C1: there is one name for each value"):
        Return((value,), ())
