"""Rules for core operations that multiply and sum, for windows, resampling and reductions."""

from __future__ import annotations

import math
from collections.abc import Callable

from commonir.conversions.core_to_onnx.building import (
    axes_from_start,
    cast,
    element_of,
    integers,
    rank_of,
    scalar,
    shape_of,
    vector,
)
from commonir.dialects import core, onnx
from commonir.ir.operation import Value
from commonir.ods import Op
from commonir.rewrite.legalize import Context, Mismatch, Result, Rule, rule


def _transposed(context: Context, x: Value) -> Value:
    """The matrices of the last two axes transposed; built once for each value."""
    rank = rank_of(x)
    return onnx.Transpose(x, perm=(*range(rank - 2), rank - 1, rank - 2)).transposed


@rule(core.MatMul)
def matmul(op: core.MatMul, context: Context, a: Value, b: Value) -> Value:
    if rank_of(a) == rank_of(b) == 2 and (op.transpose_a or op.transpose_b):
        return onnx.Gemm(a, b, transA=op.transpose_a, transB=op.transpose_b).Y
    left = _transposed(context, a) if op.transpose_a else a
    right = _transposed(context, b) if op.transpose_b else b
    return onnx.MatMul(left, right).Y


@rule(core.Linear)
def linear(op: core.Linear, context: Context, x: Value, weight: Value, bias: Value | None) -> Value:
    if rank_of(x) == 2:
        return onnx.Gemm(x, weight, bias, transB=True).Y
    # The weight stays as it is in the file; runtimes transpose constants when they load a model.
    y = onnx.MatMul(x, _transposed(context, weight)).Y
    return y if bias is None else onnx.Add(y, bias).C


@rule(core.Einsum)
def einsum(op: core.Einsum, context: Context, xs: tuple[Value, ...]) -> Value:
    return onnx.Einsum(xs, equation=op.equation).Output


def _pads(pads: tuple[tuple[int, int], ...]) -> tuple[int, ...] | None:
    """All amounts before, then all amounts after."""
    flat = (*(p for p, _ in pads), *(p for _, p in pads))
    return flat if any(flat) else None


def _some(values: tuple[int, ...], neutral: int = 1) -> tuple[int, ...] | None:
    return values if any(v != neutral for v in values) else None


@rule(core.Conv)
def conv(op: core.Conv, context: Context, x: Value, weight: Value, bias: Value | None) -> Value:
    return onnx.Conv(
        x,
        weight,
        bias,
        strides=_some(op.strides),
        dilations=_some(op.dilations),
        pads=_pads(op.pads),
        group=op.groups,
    ).Y


@rule(core.ConvTranspose)
def conv_transpose(op: core.ConvTranspose, context: Context, x: Value, weight: Value, bias: Value | None) -> Value:
    return onnx.ConvTranspose(
        x,
        weight,
        bias,
        strides=_some(op.strides),
        dilations=_some(op.dilations),
        pads=_pads(op.pads),
        output_padding=_some(op.output_padding, 0),
        group=op.groups,
    ).Y


@rule(core.MaxPool)
def max_pool(op: core.MaxPool, context: Context, x: Value) -> Value:
    return onnx.MaxPool(
        x,
        kernel_shape=op.kernel,
        strides=_some(op.strides),
        dilations=_some(op.dilations),
        pads=_pads(op.pads),
        ceil_mode=op.ceil_mode,
    ).Y


@rule(core.AveragePool)
def average_pool(op: core.AveragePool, context: Context, x: Value) -> Value:
    return _average(op, x, count_include_pad=op.count_include_pad)


@rule(core.SumPool)
def sum_pool(op: core.SumPool, context: Context, x: Value) -> Result:
    if op.ceil_mode:
        return Mismatch("the mean over a window that ends beyond the padding is not its sum over its size")
    mean = _average(op, x, count_include_pad=True)
    return onnx.Mul(mean, scalar(context, float(math.prod(op.kernel)), x)).C


def _average(op: core.Pool, x: Value, *, count_include_pad: bool) -> Value:
    return onnx.AveragePool(
        x,
        kernel_shape=op.kernel,
        strides=_some(op.strides),
        dilations=_some(op.dilations),
        pads=_pads(op.pads),
        ceil_mode=op.ceil_mode,
        count_include_pad=count_include_pad,
    ).Y


_COORDINATES = {
    core.Coordinates.HALF_PIXEL: "half_pixel",
    core.Coordinates.ASYMMETRIC: "asymmetric",
    core.Coordinates.ALIGN_CORNERS: "align_corners",
    core.Coordinates.ALIGN_CENTRE: "align_corners",
}
_ROUNDINGS = {
    core.Rounding.HALF_DOWN: "round_prefer_floor",
    core.Rounding.HALF_UP: "round_prefer_ceil",
    core.Rounding.FLOOR: "floor",
    core.Rounding.CEIL: "ceil",
}


@rule(core.Resize)
def resize(op: core.Resize, context: Context, x: Value) -> Result:
    coordinates = _COORDINATES.get(op.coordinates)
    if coordinates is None:
        return Mismatch(f"onnx.Resize has no coordinates '{op.coordinates.value}'")
    if op.coordinates is core.Coordinates.ALIGN_CENTRE and any(n == 1 for n in op.sizes):
        return Mismatch("onnx.Resize takes the first element, not the middle, for a size of 1")
    rank = rank_of(x)
    axes = tuple(range(rank - len(op.sizes), rank))
    return onnx.Resize(
        x,
        None,
        None,
        vector(context, op.sizes),
        axes=axes,
        mode=op.mode.value,
        coordinate_transformation_mode=coordinates,
        nearest_mode=_ROUNDINGS[op.rounding],
    ).Y


_REDUCTIONS = {
    core.ReduceMax: onnx.ReduceMax,
    core.ReduceMean: onnx.ReduceMean,
    core.ReduceMin: onnx.ReduceMin,
    core.ReduceProd: onnx.ReduceProd,
    core.ReduceSum: onnx.ReduceSum,
}


@rule(core.ReduceMean)
def global_average(op: core.ReduceMean, context: Context, x: Value) -> Result:
    """The mean over the spatial axes of images, for which runtimes have a better layout."""
    rank = rank_of(x)
    spatial = tuple(range(2, rank))
    if rank not in (4, 5) or axes_from_start(op.axes, rank) != spatial or not element_of(x).is_float:
        return Mismatch("the axes are not the spatial axes of images")
    mean = onnx.GlobalAveragePool(x).Y
    return mean if op.keep_dims else onnx.Squeeze(mean, integers(context, spatial)).squeezed


def _reduction(definition: Callable[..., Op]) -> Callable[..., Result]:
    def reduced(op: core.Reduce, context: Context, x: Value) -> Value:
        axes = integers(context, op.axes) if op.axes else None
        return definition(x, axes, keepdims=op.keep_dims).result

    return reduced


REDUCTIONS = tuple(Rule(source, _reduction(peer)) for source, peer in _REDUCTIONS.items())


@rule(core.CumSum)
def cumsum(op: core.CumSum, context: Context, x: Value) -> Value:
    axis = integers(context, axes_from_start((op.axis,), rank_of(x)))
    return onnx.CumSum(x, axis, exclusive=op.exclusive, reverse=op.reverse).y


@rule(core.ArgMax)
def arg_max(op: core.ArgMax, context: Context, x: Value) -> Value:
    return cast(onnx.ArgMax(x, axis=op.axis, keepdims=op.keep_dims).reduced, op.element)


@rule(core.ArgMin)
def arg_min(op: core.ArgMin, context: Context, x: Value) -> Value:
    return cast(onnx.ArgMin(x, axis=op.axis, keepdims=op.keep_dims).reduced, op.element)


@rule(core.TopK)
def top_k(op: core.TopK, context: Context, x: Value) -> tuple[Value, ...]:
    return onnx.TopK(x, integers(context, (op.k,)), axis=op.axis, largest=op.largest).results


@rule(core.ArgSort)
def argsort(op: core.ArgSort, context: Context, x: Value) -> Result:
    size = shape_of(x)[op.axis]
    if not isinstance(size, int):
        return Mismatch("onnx.TopK sorts an axis of fixed size only")
    return onnx.TopK(x, integers(context, (size,)), axis=op.axis, largest=op.descending).Indices
