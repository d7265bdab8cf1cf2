"""Rules for products of matrices and convolutions that have names; all others are sums of products by their kernels.

Products of half-precision elements are formed and summed in single precision and rounded once.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonir.conversions.core_to_linalg.moves import reshaped
from commonir.conversions.core_to_linalg.tensors import filled, multiply_add, named, padded
from commonir.conversions.operands import dims_of, element_of, rank_of
from commonir.dialects import core
from commonir.dialects.core.base import accumulator
from commonir.dialects.mlir.linalg import convolutions
from commonir.dialects.mlir.linalg.matmul import BatchMatmul, Matmul, MatmulLike
from commonir.dialects.mlir.linalg.named import NamedOp
from commonir.ir.operation import Value
from commonir.rewrite.legalize import Context, Mismatch, Result, rule

_BY_RANK: dict[int, type[MatmulLike]] = {2: Matmul, 3: BatchMatmul}
_CONVOLUTIONS: dict[int, type[NamedOp]] = {
    1: convolutions.Conv1DNcwFcw,
    2: convolutions.Conv2DNchwFchw,
    3: convolutions.Conv3DNcdhwFcdhw,
}
_BY_CHANNEL: dict[int, type[NamedOp]] = {
    1: convolutions.DepthwiseConv1DNcwCw,
    2: convolutions.DepthwiseConv2DNchwChw,
    3: convolutions.DepthwiseConv3DNcdhwCdhw,
}


@rule(core.MatMul)
def matmul(op: core.MatMul, context: Context, a: Value, b: Value) -> Result:
    """Of matrices, or of stacks of as many matrices."""
    rank = rank_of(op.a)
    left, right = dims_of(op.a), dims_of(op.b)
    if op.transpose_a or op.transpose_b or rank not in _BY_RANK or len(right) != rank or left[:-2] != right[:-2]:
        return Mismatch("operands are transposed or broadcast")
    definition = _BY_RANK[rank]
    formula = definition.formula
    maps = () if formula is None else formula.maps()
    return _product(context, definition, (a, b), op.y, {"indexing_maps": maps})


@rule(core.Conv)
def conv(op: core.Conv, context: Context, x: Value, weight: Value, bias: Value | None) -> Result:
    """Of all channels together, or of each channel with a filter of its own."""
    spatial = rank_of(op.x) - 2
    pads = op.pads or ((0, 0),) * spatial
    if min((n for pair in pads for n in pair), default=0) < 0:
        return Mismatch("padding cuts")
    filters, channels, *window = dims_of(op.weight)
    by_channel = op.groups > 1 and channels == 1 and filters == op.groups
    result = (_BY_CHANNEL if by_channel else _CONVOLUTIONS).get(spatial)
    if result is None or (op.groups > 1 and not by_channel):
        return Mismatch("no convolution of linalg has these groups and axes")
    if any(low or high for low, high in pads):
        before, after = [(0, 0, *[p[side] for p in pads]) for side in (0, 1)]
        shape = [n + b + a for n, b, a in zip(dims_of(op.x), before, after, strict=True)]
        x = padded(context, x, shape, before, after, 0)
    if by_channel:
        weight = reshaped(context, weight, dims_of(op.weight), (filters, *window))
    ones = (1,) * spatial
    arguments = {"strides": op.strides or ones, "dilations": op.dilations or ones}
    wide = accumulator(element_of(x))
    y = _product(context, result, (x, weight), op.y, arguments, keeps_wide=bias is not None)
    if bias is None:
        return y
    row = core.unsqueeze(core.cast(bias, wide) if element_of(bias) is not wide else bias, tuple(range(1, spatial + 1)))
    return _rounded(core.add(y, row), op.y)


def _product(
    context: Context,
    definition: type[NamedOp],
    operands: tuple[Value, Value],
    result: Value,
    attributes: Mapping[str, object],
    *,
    keeps_wide: bool = False,
) -> Value:
    element = element_of(result)
    wide = accumulator(element)
    target = filled(context, 0, wide, dims_of(result))
    y = named(definition, operands, target, multiply_add(element, wide), context, attributes)
    return y if keeps_wide else _rounded(y, result)


def _rounded(y: Value, result: Value) -> Value:
    """The sum in the type of the result."""
    return y if element_of(y) is element_of(result) else core.cast(y, element_of(result))
