"""Compares types and values of single operations with what coremltools folds them to.

Where coremltools folds wrongly or not at all, `test_references.py` states the result.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from commonir.dialects.mil.base import VERSIONS
from commonir.dialects.mil.control import Cond
from commonir.dialects.mil.lists import ListLength, MakeList
from commonir.dialects.mil.program import Const, Func, Return
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import ELEMENT_TYPES, tensor
from commonir.passes.lower import lower

from tests.dialects.mil.single_operations import (
    ENGINES,
    Given,
    Program,
    data_of_array,
    definition_of,
    f16,
    f32,
    i8,
    i32,
    u8,
    u16,
    u32,
)
from tests.oracles import oracle

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    coremltools = oracle("coremltools")
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import Function, Operation, types
    from coremltools.converters.mil.mil.ops.registry import SSAOpRegistry

_TARGETS: dict[str, str] = dict(zip(VERSIONS, ("iOS15", "iOS16", "iOS17", "iOS18", "iOS26"), strict=True))
_ELEMENTS = {
    "fp16": "f16",
    "fp32": "f32",
    "bool": "i1",
    "int32": "i32",
    "int16": "i16",
    "uint16": "ui16",
    "int8": "i8",
    "uint8": "ui8",
}
_RNG = np.random.default_rng(20)


class Case(NamedTuple):
    """One operation on given parameters."""

    name: str
    version: str
    given: dict[str, Given]
    constant: tuple[str, ...] = ()


def _floats(*shape: int, scale: float = 2.0) -> np.ndarray[Any, Any]:
    return (_RNG.standard_normal(shape) * scale).astype(np.float32)


def _integers(*shape: int, low: int = -9, high: int = 10) -> np.ndarray[Any, Any]:
    return _RNG.integers(low, high, shape).astype(np.int32)


def _truths(*shape: int) -> np.ndarray[Any, Any]:
    return _RNG.random(shape) < 0.5


X, Y, N, M = _floats(2, 3, 4), _floats(3, 1), _integers(2, 3, 4), _integers(3, 1, low=1)
UNIT = np.clip(_floats(2, 3), -0.9, 0.9)
POSITIVE = np.abs(_floats(2, 3, 4)) + f32(0.5)
IMAGE = _floats(2, 4, 6, 6)

_UNARY = {
    "abs": X, "acos": UNIT, "asin": UNIT, "atan": X, "atanh": UNIT, "ceil": X, "cos": X, "cosh": X, "erf": X, "exp": X,
    "exp2": X, "floor": X, "inverse": POSITIVE, "log": POSITIVE, "round": X, "rsqrt": POSITIVE, "sign": X, "sin": X,
    "sinh": X, "sqrt": POSITIVE, "square": X, "tan": X, "tanh": X, "relu": X, "relu6": X * 4, "sigmoid": X,
    "softplus": X, "softsign": X, "gelu": X, "logical_not": _truths(2, 3),
}  # fmt: skip
_BINARY = ("add", "sub", "mul", "real_div", "floor_div", "mod", "maximum", "minimum")
_COMPARISONS = ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")
_REDUCTIONS = (
    "reduce_l1_norm", "reduce_l2_norm", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum",
    "reduce_sum_square", "reduce_log_sum", "reduce_log_sum_exp",
)  # fmt: skip

CASES = [
    *(Case(name, "CoreML5", {"x": x}) for name, x in _UNARY.items()),
    *(
        Case(name, "CoreML7", {"x": _UNARY[name].astype(np.float16)})
        for name in ("exp", "log", "inverse", "rsqrt", "tanh")
    ),
    *(Case(name, "CoreML5", {"x": N}) for name in ("abs", "sign", "square")),
    *(Case(name, "CoreML5", {"x": X, "y": Y}) for name in (*_BINARY, *_COMPARISONS)),
    *(Case(name, "CoreML5", {"x": N, "y": M}) for name in (*_BINARY, *_COMPARISONS)),
    *(
        Case(name, "CoreML5", {"x": _truths(2, 3), "y": _truths(3)})
        for name in ("logical_and", "logical_or", "logical_xor")
    ),
    Case("pow", "CoreML5", {"x": POSITIVE, "y": Y}),
    Case("threshold", "CoreML5", {"x": X, "alpha": 0.25}),
    Case("clip", "CoreML5", {"x": X, "alpha": -0.5, "beta": 0.75}),
    Case("clip", "CoreML7", {"x": X.astype(np.float16), "alpha": f16(-0.5), "beta": f16(0.75)}),
    Case("cast", "CoreML5", {"x": X, "dtype": "int32"}),
    Case("cast", "CoreML5", {"x": N, "dtype": "bool"}),
    Case("cast", "CoreML7", {"x": X, "dtype": "fp16"}),
    Case("cast", "CoreML7", {"x": N, "dtype": "int8"}),
    Case("select", "CoreML5", {"cond": _truths(2, 3, 4), "a": X, "b": X + 1}),
    Case("clamped_relu", "CoreML5", {"x": X, "alpha": 0.5, "beta": 1.0}),
    Case("elu", "CoreML7", {"x": X, "alpha": 0.5}),
    Case("gelu", "CoreML5", {"x": X, "mode": "TANH_APPROXIMATION"}),
    Case("gelu", "CoreML5", {"x": X, "mode": "SIGMOID_APPROXIMATION"}),
    Case("leaky_relu", "CoreML5", {"x": X, "alpha": 0.1}),
    Case("linear_activation", "CoreML7", {"x": X, "alpha": 2.0, "beta": -1.0}),
    Case("prelu", "CoreML5", {"x": IMAGE, "alpha": _floats(4)}),
    Case("scaled_tanh", "CoreML5", {"x": X, "alpha": 2.0, "beta": 0.5}),
    Case("sigmoid_hard", "CoreML5", {"x": X, "alpha": 0.2, "beta": 0.5}),
    Case("silu", "CoreML5", {"x": X}),
    Case("softmax", "CoreML5", {"x": X}),
    Case("softmax", "CoreML5", {"x": X, "axis": 1}),
    Case("softplus_parametric", "CoreML5", {"x": IMAGE, "alpha": _floats(4), "beta": _floats(4)}),
    Case("thresholded_relu", "CoreML5", {"x": X, "alpha": 0.5}),
    Case("linear", "CoreML5", {"x": _floats(2, 3, 4), "weight": _floats(5, 4), "bias": _floats(5)}),
    Case("linear", "CoreML5", {"x": _floats(2, 4), "weight": _floats(5, 4)}),
    Case("linear", "CoreML5", {"x": _integers(2, 4), "weight": _integers(5, 4)}),
    Case("matmul", "CoreML5", {"x": _floats(2, 3, 4), "y": _floats(4, 5)}),
    Case("matmul", "CoreML5", {"x": _floats(4, 3), "y": _floats(2, 5, 4), "transpose_x": True, "transpose_y": True}),
    Case("einsum", "CoreML5", {"values": [_floats(2, 3, 1, 4), _floats(1, 4, 5, 6)], "equation": "nchw,nwhu->nchu"}),
    Case("einsum", "CoreML5", {"values": [_floats(3, 2, 4), _floats(4, 2, 6)], "equation": "abc,cbd->abd"}),
    Case("l2_norm", "CoreML5", {"x": IMAGE}),
    Case("layer_norm", "CoreML5", {"x": X, "axes": i32([-1]), "gamma": _floats(4), "beta": _floats(4)}),
    Case("layer_norm", "CoreML7", {"x": X, "axes": i32([2, 1]), "gamma": _floats(3, 4), "epsilon": 0.1}),
    Case(
        "scaled_dot_product_attention",
        "CoreML8",
        {"query": _floats(2, 3, 4), "key": _floats(2, 5, 4), "value": _floats(2, 5, 6), "attn_mask": _floats(3, 5)},
        ("query", "key", "value"),
    ),
    Case(
        "scaled_dot_product_attention",
        "CoreML8",
        {
            "query": _floats(2, 3, 4),
            "key": _floats(2, 3, 4),
            "value": _floats(2, 3, 6),
            "attn_mask": np.tri(3, dtype=bool),
        },
        ("query", "key", "value"),
    ),
    *(
        Case(name, "CoreML5", {"x": POSITIVE, **more})
        for name in _REDUCTIONS
        for more in ({}, {"axes": i32([1])}, {"axes": i32([0, -1]), "keep_dims": True})
    ),
    *(Case(name, "CoreML5", {"x": M, "axes": i32([0])}) for name in ("reduce_mean", "reduce_l2_norm", "reduce_prod")),
    Case("reduce_argmax", "CoreML5", {"x": X}),
    Case("reduce_argmin", "CoreML5", {"x": X, "axis": 1, "keep_dims": True}),
    Case("reduce_argmax", "CoreML7", {"x": X, "axis": 0, "output_dtype": "uint16"}),
    Case("shape", "CoreML5", {"x": X}),
    Case("identity", "CoreML5", {"x": X}),
    Case("reshape", "CoreML5", {"x": X, "shape": i32([4, -1])}),
    Case("reshape", "CoreML5", {"x": X, "shape": i32([0, 12, 1])}),
    Case("reshape", "CoreML7", {"x": _floats(2, 50), "shape": i32([1, 0, -1, 0])}),
    Case("expand_dims", "CoreML5", {"x": X, "axes": i32([-1, 0])}),
    Case("squeeze", "CoreML5", {"x": _floats(1, 3, 1, 2)}),
    Case("squeeze", "CoreML7", {"x": _floats(1, 3, 1, 2), "axes": i32([-2])}),
    Case("transpose", "CoreML5", {"x": X, "perm": i32([2, 0, -2])}),
    Case("flatten2d", "CoreML5", {"x": IMAGE, "axis": 2}),
    Case("flatten2d", "CoreML5", {"x": IMAGE, "axis": -1}),
    Case("concat", "CoreML5", {"values": [_floats(2, 3), _floats(2, 1)], "axis": -1}),
    Case("concat", "CoreML5", {"values": [i32(3), i32(4)], "axis": 0}),
    Case("stack", "CoreML5", {"values": [X, X + 1, X + 2], "axis": -1}),
    Case("split", "CoreML5", {"x": X, "num_splits": 2, "axis": -1}),
    Case("split", "CoreML5", {"x": X, "split_sizes": i32([1, 2]), "axis": 1}),
    Case("tile", "CoreML5", {"x": X, "reps": i32([1, 2, 3])}),
    Case("slice_by_index", "CoreML5", {"x": X, "begin": i32([0, 1, -3]), "end": i32([2, 3, -1])}),
    Case(
        "slice_by_index",
        "CoreML5",
        {
            "x": X,
            "begin": i32([1, 9, 0]),
            "end": i32([0, 0, 9]),
            "stride": i32([1, -2, 3]),
            "begin_mask": np.array([False, True, False]),
            "end_mask": np.array([False, True, False]),
            "squeeze_mask": np.array([True, False, False]),
        },
    ),
    Case(
        "slice_by_index",
        "CoreML7",
        {
            "x": X,
            "begin": i32([-1, 2, 3]),
            "end": i32([0, 0, -9]),
            "stride": i32([1, -1, -1]),
            "end_mask": np.array([False, False, True]),
            "squeeze_mask": np.array([True, False, False]),
        },
    ),
    Case("slice_by_size", "CoreML5", {"x": X, "begin": i32([1, -2, 0]), "size": i32([1, 2, -1])}),
    Case(
        "slice_update",
        "CoreML8",
        {"x": X, "update": _floats(2, 2, 2), "begin": i32([0, 1, 0]), "end": i32([2, 3, 4]), "stride": i32([1, 1, 2])},
    ),
    Case("sliding_windows", "CoreML5", {"x": X, "axis": 2, "size": 2, "stride": 2}),
    Case("pad", "CoreML5", {"x": X, "pad": i32([1, 2]), "constant_val": 3.0}),
    Case("pad", "CoreML5", {"x": X, "pad": i32([0, 1, 2, 1]), "mode": "reflect"}),
    Case("pad", "CoreML5", {"x": X, "pad": i32([1, 1, 0, 0, 2, 1]), "mode": "replicate"}),
    Case("crop", "CoreML5", {"x": IMAGE, "crop_height": i32([1, 2]), "crop_width": i32([0, 3])}),
    Case("reverse", "CoreML5", {"x": X}),
    Case("reverse", "CoreML7", {"x": X, "axes": i32([-1])}),
    Case("depth_to_space", "CoreML5", {"x": IMAGE, "block_size": 2}),
    Case("space_to_depth", "CoreML5", {"x": IMAGE, "block_size": 3}),
    Case("pixel_shuffle", "CoreML5", {"x": IMAGE, "upscale_factor": 2}),
    Case("pixel_unshuffle", "CoreML6", {"x": IMAGE, "downscale_factor": u32(3)}),
    Case("space_to_batch", "CoreML5", {"x": IMAGE, "block_shape": i32([2, 3]), "paddings": i32([[0, 0], [1, 2]])}),
    Case(
        "batch_to_space",
        "CoreML5",
        {"x": _floats(8, 2, 3, 3), "block_shape": i32([2, 2]), "crops": i32([[1, 0], [0, 2]])},
    ),
    Case("gather", "CoreML5", {"x": X, "indices": i32([[1, -1], [0, 2]]), "axis": 1}),
    Case("gather", "CoreML5", {"x": X, "indices": i32(1)}),
    Case("gather", "CoreML6", {"x": X, "indices": i32([[1, 0], [2, 2]]), "axis": 1, "batch_dims": 1}),
    Case("gather", "CoreML6", {"x": X, "indices": i32([[1, 0, 3], [2, 2, 1]]), "axis": 2, "batch_dims": 1}),
    Case("gather", "CoreML7", {"x": X, "indices": u16([1, 0]), "axis": -1}),
    Case("gather_along_axis", "CoreML5", {"x": X, "indices": _integers(2, 5, 4, low=0, high=3), "axis": 1}),
    Case("gather_nd", "CoreML5", {"x": X, "indices": i32([[0, 1], [1, 2]])}),
    Case("gather_nd", "CoreML6", {"x": X, "indices": i32([[[1], [0]], [[2], [2]]]), "batch_dims": 1}),
    Case(
        "scatter",
        "CoreML5",
        {"data": X, "indices": i32([2, 0]), "updates": _floats(2, 2, 4), "axis": 1, "mode": "update"},
    ),
    Case(
        "scatter_along_axis",
        "CoreML5",
        {
            "data": X,
            "indices": i32([[[1, 0, 2, 0]], [[0, 1, 1, 2]]]),
            "updates": _floats(2, 1, 4),
            "axis": 1,
            "mode": "update",
        },
    ),
    Case(
        "scatter_nd", "CoreML5", {"data": X, "indices": i32([[0, 1], [1, 2]]), "updates": _floats(2, 4), "mode": "add"}
    ),
    Case("fill", "CoreML5", {"shape": i32([2, 3]), "value": i32(7)}),
    Case("fill", "CoreML5", {"shape": i32([2, 3])}),
    Case("fill_like", "CoreML6", {"ref_tensor": X, "value": True}),
    Case("range_1d", "CoreML5", {"end": 10, "start": 1, "step": 4}),
    Case("one_hot", "CoreML5", {"indices": i32([[0, 2], [1, 3]]), "one_hot_vector_size": 3}),
    Case(
        "one_hot",
        "CoreML5",
        {"indices": i32([0, 2, 1]), "one_hot_vector_size": 3, "axis": 0, "on_value": 2.0, "off_value": -1.0},
    ),
    Case("band_part", "CoreML5", {"x": IMAGE, "lower": 1, "upper": 0}),
    Case("cumsum", "CoreML5", {"x": X, "axis": 1}),
    Case("cumsum", "CoreML5", {"x": N, "axis": -1, "reverse": True}),
    Case("argsort", "CoreML5", {"x": X, "axis": 1}),
    Case("argsort", "CoreML5", {"x": X, "ascending": True}),
    Case("topk", "CoreML5", {"x": X, "k": 2}),
    Case("topk", "CoreML6", {"x": X, "k": 2, "axis": 1, "ascending": True, "return_indices": False}),
    Case("topk", "CoreML7", {"x": X, "k": np.int16(2), "output_indices_dtype": "uint16"}),
    Case("quantize", "CoreML7", {"input": X, "scale": f32(0.05), "zero_point": i8(3), "output_dtype": "int8"}),
    Case("quantize", "CoreML7", {"input": X, "scale": f32([0.1, 0.2, 0.3]), "axis": 1, "output_dtype": "uint8"}),
    Case(
        "dequantize",
        "CoreML7",
        {"input": i8([[1, -2], [3, 4]]), "scale": f32([0.5, 2]), "zero_point": i8([1, 2]), "axis": 0},
    ),
    Case("dequantize", "CoreML7", {"input": u8([1, 200]), "scale": f16(0.5)}),
    Case(
        "conv",
        "CoreML5",
        {"x": IMAGE, "weight": _floats(6, 2, 3, 3), "groups": 2, "pad_type": "same", "strides": i32([2, 1])},
    ),
    Case(
        "conv", "CoreML6", {"x": IMAGE, "weight": _floats(6, 4, 3, 2), "pad_type": "same_lower", "strides": i32([2, 2])}
    ),
    Case(
        "conv",
        "CoreML7",
        {"x": _floats(1, 2, 9), "weight": _floats(3, 2, 3), "bias": _floats(3), "dilations": i32([2])},
        ("weight",),
    ),
    Case("conv_transpose", "CoreML5", {"x": IMAGE, "weight": _floats(4, 3, 3, 3), "strides": i32([2, 2])}),
    Case(
        "conv_transpose",
        "CoreML5",
        {"x": IMAGE, "weight": _floats(4, 3, 3, 3), "strides": i32([2, 2]), "pad_type": "same"},
    ),
    Case(
        "conv_transpose",
        "CoreML5",
        {
            "x": IMAGE,
            "weight": _floats(4, 3, 3, 3),
            "strides": i32([2, 2]),
            "pad_type": "custom",
            "pad": i32([1, 1, 0, 1]),
            "output_shape": i32([2, 3, 12, 12]),
        },
    ),
    Case("max_pool", "CoreML5", {"x": IMAGE, "kernel_sizes": i32([3, 3]), "strides": i32([2, 2]), "pad_type": "same"}),
    Case(
        "avg_pool",
        "CoreML5",
        {
            "x": _floats(1, 2, 7, 8),
            "kernel_sizes": i32([3, 3]),
            "strides": i32([2, 2]),
            "pad_type": "custom",
            "pad": i32([1, 1, 0, 0]),
            "ceil_mode": True,
        },
    ),
    Case("l2_pool", "CoreML5", {"x": IMAGE, "kernel_sizes": i32([2, 2]), "pad_type": "valid"}),
    Case("resize_bilinear", "CoreML5", {"x": IMAGE, "target_size_height": 3, "target_size_width": 9}),
    Case("upsample_bilinear", "CoreML6", {"x": IMAGE, "scale_factor_height": 1.7, "scale_factor_width": 2.0}),
    Case("upsample_nearest_neighbor", "CoreML5", {"x": IMAGE, "scale_factor_height": 2.5, "scale_factor_width": 1.0}),
    Case("resize", "CoreML7", {"x": IMAGE, "shape": i32([0, 9]), "resized_dims": u32(2)}),
    Case("batch_norm", "CoreML5", {"x": IMAGE, "mean": _floats(4), "variance": np.abs(_floats(4))}),
    Case("instance_norm", "CoreML5", {"x": IMAGE}),
    Case("local_response_norm", "CoreML5", {"x": IMAGE, "size": 3}),
    Case("non_zero", "CoreML5", {"x": _integers(3, 4, low=0, high=2)}),
    Case("const", "CoreML5", {"val": X}),
]


# `test_references.py` tests the values of these.
_NOT_FOLDED = {
    "avg_pool",
    "batch_norm",
    "batch_to_space",
    "conv",
    "conv_transpose",
    "crop",
    "depth_to_space",
    "dequantize",
    "gather_nd",
    "instance_norm",
    "l2_pool",
    "local_response_norm",
    "max_pool",
    "one_hot",
    "pixel_shuffle",
    "pixel_unshuffle",
    "resize",
    "resize_bilinear",
    "scatter",
    "scatter_nd",
    "silu",
    "sliding_windows",
    "space_to_batch",
    "space_to_depth",
    "upsample_bilinear",
    "upsample_nearest_neighbor",
}


# The number of rows is what coremltools counts; before running it is not known.
_OF_UNKNOWN_SIZE = {"non_zero"}

# Why no case folds an operation that coremltools evaluates.
_FOLDED_ELSEWHERE = {
    "_const_symbolic": "made by builders of tests only; no file has it",
    "cond": "has nested programs: tested below",
    "reverse_sequence": "the evaluation is declared but not written; `test_references.py` tests its values",
    "list_length": "takes a list, which no parameter is: tested below",
}


def _id(case: Case) -> str:
    return f"{case.name}-{case.version}-{'-'.join(case.given)}"


def _folded(case: Case) -> tuple[Any, ...]:
    """The values that coremltools makes of an operation on constants."""
    target = getattr(coremltools.target, _TARGETS[case.version])
    with warnings.catch_warnings(), np.errstate(all="ignore"), Function({}, opset_version=target):
        warnings.simplefilter("ignore")
        # Copies: some of its evaluations write into what they are given.
        result = make(case.name, **deepcopy(case.given))
    return tuple(result) if isinstance(result, list | tuple) else (result,)


def make(name: str, **inputs: Any) -> Any:
    """Returns the result of coremltools for an operation, inside of a function."""
    return getattr(Builder, name)(**inputs)


def _size(size: object) -> int | None:
    return int(size) if isinstance(size, int | np.integer) else None


@pytest.mark.parametrize("case", [c for c in CASES if c.name not in _OF_UNKNOWN_SIZE], ids=_id)
def test_inferred_types_are_those_of_coremltools(case: Case) -> None:
    program = Program(definition_of(case.name, case.version), case.given, constants=case.constant)
    expected = [
        tensor(ELEMENT_TYPES[_ELEMENTS[types.builtin_to_string(v.dtype)]], *map(_size, v.shape)) for v in _folded(case)
    ]
    assert [v.type for v in program.op.results] == expected


def test_every_operation_that_coremltools_evaluates_is_folded() -> None:
    classes = {name: versions.values() for name, versions in SSAOpRegistry.core_ops.items()}
    evaluated = {
        name
        for name, actual in classes.items()
        if any(c.value_inference is not Operation.value_inference for c in actual)
    }
    assert len(evaluated) == 113
    assert {c.name for c in CASES} - _NOT_FOLDED | _FOLDED_ELSEWHERE.keys() == evaluated


def _redrawn(case: Case, draw: int) -> Case:
    """The same with the elements of its float inputs in another order: other numbers of the same domain."""
    if not draw:
        return case
    rng = np.random.default_rng(draw)

    def shuffled(value: Given) -> Given:
        if isinstance(value, list):
            return [shuffled(v) for v in value]
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            return rng.permuted(value.reshape(-1)).reshape(value.shape)
        return value

    return case._replace(given={k: shuffled(v) for k, v in case.given.items()})


@pytest.mark.parametrize("draw", range(3))
@pytest.mark.parametrize("engine", ["reference", "numpy"])
@pytest.mark.parametrize("flexible", [False, True], ids=["fixed", "flexible"])
@pytest.mark.parametrize("case", [c for c in CASES if c.name not in _NOT_FOLDED], ids=_id)
def test_results_are_those_that_coremltools_folds(case: Case, flexible: bool, engine: str, draw: int) -> None:
    case = _redrawn(case, draw)
    expected = [v.val for v in _folded(case)]
    assert all(v is not None for v in expected)
    result = Program(
        definition_of(case.name, case.version), case.given, flexible=flexible, closed=case.constant
    ).results(engine)
    assert len(result) == len(expected)
    for mine, theirs in zip(result, expected, strict=True):
        half = mine.dtype == np.float16
        np.testing.assert_allclose(mine, theirs, rtol=4e-3 if half else 2e-5, atol=4e-3 if half else 2e-6)


@pytest.mark.parametrize("engine", ["reference", "numpy"])
@pytest.mark.parametrize("pred", [True, False])
def test_branch_is_the_one_that_coremltools_folds(pred: bool, engine: str) -> None:
    first, second = _floats(2, 3), _floats(2, 3)
    with warnings.catch_warnings(), Function({}):
        warnings.simplefilter("ignore")
        branch = {n: partial(make, "const", val=v) for n, v in (("_true_fn", first), ("_false_fn", second))}
        expected = make("cond", pred=pred, **branch).val
    block = Block(label="CoreML5")
    branches: list[Region] = []
    for value in (first, second):
        inner = Block()
        inner.append(Return((inner.append(Const(val=data_of_array(value))).result,), ("",)))
        branches.append(Region([inner]))
    taken = block.append(Cond(block.append(Const(val=data_of_array(pred))).result, *branches)).outputs
    np.testing.assert_array_equal(_run(block, taken, engine), expected)


@pytest.mark.parametrize("engine", ["reference", "numpy"])
def test_length_of_a_list_is_the_one_that_coremltools_folds(engine: str) -> None:
    with warnings.catch_warnings(), Function({}):
        warnings.simplefilter("ignore")
        result = make("make_list", init_length=3, dynamic_length=False, elem_shape=(2,))
        expected = make("list_length", ls=result).val
    assert expected is not None
    block = Block(label="CoreML5")
    length, size = (block.append(Const(val=data_of_array(v))).result for v in (3, 2))
    stored = block.append(MakeList(init_length=length, dynamic_length=False, elem_shape=(size,))).output
    count = block.append(ListLength(stored)).output
    np.testing.assert_array_equal(_run(block, (count,), engine), expected)


def _run(block: Block, outputs: tuple[Value, ...], engine: str) -> Any:
    """Returns the output of a function that has one."""
    block.append(Return(outputs, ("y",)))
    module = Module()
    module.body.append(Func("main", block.label, (Region([block]),)))
    return ENGINES[engine].prepare(lower(module)).run({})["y"]
