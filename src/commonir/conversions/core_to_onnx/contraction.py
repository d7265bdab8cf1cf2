"""Rules for core operations on matrices, for convolutions and for windows."""

from __future__ import annotations

import math

from commonir.base.tuples import NamedTuple
from commonir.conversions.core_to_core.integer_bounds import known_integers
from commonir.conversions.core_to_core.integer_convolutions import as_bytes
from commonir.conversions.core_to_onnx.building import cast, constant, integers, opset_of, scalar, splat, vector
from commonir.conversions.operands import element_of, rank_of, shape_of
from commonir.dialects import core, onnx
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, bf16, f16, f32, i8, i32, u8
from commonir.notation import limits
from commonir.ods import known_data
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import element_count


def _transposed(context: Context, x: Value) -> Value:
    """The matrices of the last two axes transposed; built once for each value."""
    rank = rank_of(x)
    return onnx.Transpose(x, perm=(*range(rank - 2), rank - 1, rank - 2)).transposed


# The first opset in which the term that is added may be absent.
_WITHOUT_TERM = 11


def no_term(context: Context, like: Value) -> Value | None:
    """The term of `onnx.Gemm` where nothing is added."""
    return None if opset_of(context) >= _WITHOUT_TERM else constant(context, element_of(like), (1,), (0.0,))


@rule(core.MatMul)
def matmul(op: core.MatMul, context: Context, a: Value, b: Value) -> Value:
    if rank_of(a) == rank_of(b) == 2 and (op.transpose_a or op.transpose_b) and element_of(a).is_float:
        return onnx.Gemm(a, b, no_term(context, a), transA=op.transpose_a, transB=op.transpose_b).Y
    left = _transposed(context, a) if op.transpose_a else a
    right = _transposed(context, b) if op.transpose_b else b
    return onnx.MatMul(left, right).Y


@rule(core.Linear)
def linear(op: core.Linear, context: Context, x: Value, weight: Value, bias: Value | None) -> Value:
    # onnxruntime has no Gemm of integers.
    if rank_of(x) == 2 and element_of(x).is_float:
        return onnx.Gemm(x, weight, bias or no_term(context, x), transB=True).Y
    # The weight stays as it is in the file; runtimes transpose constants when they load a model.
    y = onnx.MatMul(x, _transposed(context, weight)).Y
    return y if bias is None else onnx.Add(y, bias).C


@rule(core.Det)
def det(op: core.Det, context: Context, x: Value) -> Value:
    return onnx.Det(x).Y


@rule(core.Einsum)
def einsum(op: core.Einsum, context: Context, xs: tuple[Value, ...]) -> Value:
    return onnx.Einsum(xs, equation=op.equation).Output


@rule(core.Einsum)
def einsum_in_single_precision(op: core.Einsum, context: Context, xs: tuple[Value, ...]) -> Result:
    """For half-precision types that the operator does not take."""
    element = element_of(op.y)
    if element not in (f16, bf16):
        return Mismatch(f"onnx.Einsum has no {element}")
    return cast(core.einsum(tuple([cast(x, f32) for x in xs]), op.equation), element)


def _pads(pads: tuple[tuple[int, int], ...]) -> tuple[int, ...] | None:
    """All amounts before, then all amounts after."""
    flat = (*(p for p, _ in pads), *(p for _, p in pads))
    return flat if any(flat) else None


def _some(values: tuple[int, ...], neutral: int = 1) -> tuple[int, ...] | None:
    return values if any(v != neutral for v in values) else None


@rule(core.Conv)
def conv(op: core.Conv, context: Context, x: Value, weight: Value, bias: Value | None) -> Result:
    if not element_of(op.x).is_float:
        return _conv_of_bytes(op, context, x, weight, bias)
    return onnx.Conv(
        x, weight, bias, strides=_some(op.strides), dilations=_some(op.dilations), pads=_pads(op.pads), group=op.groups
    ).Y


def _conv_of_bytes(op: core.Conv, context: Context, x: Value, weight: Value, bias: Value | None) -> Result:
    """A convolution of what is bytes less zero points."""
    images, filters = _bytes_behind(x), _constant_bytes(op.weight) or _bytes_behind(weight)
    if element_of(op.y) is not i32 or images is None or filters is None:
        return Mismatch("onnx has convolutions of integers for bytes")
    of_images, of_filters = images.zero_point, filters.zero_point
    if of_images is not None:
        if any(n != 1 for n in shape_of(of_images)):
            return Mismatch("the zero point of the images is not one for all")
        of_images = onnx.Reshape(of_images, integers(context, ())).reshaped if rank_of(of_images) else of_images
    if of_filters is not None:
        if any(n != 1 for n in shape_of(of_filters)[1:]):
            return Mismatch("the zero points of the filters are not one for each")
        is_one = rank_of(of_filters) == 0
        of_filters = of_filters if is_one else onnx.Reshape(of_filters, integers(context, (-1,))).reshaped
    result = onnx.ConvInteger(
        images.x,
        filters.x,
        of_images,
        of_filters,
        strides=_some(op.strides),
        dilations=_some(op.dilations),
        pads=_pads(op.pads),
        group=op.groups,
    ).y
    if bias is None:
        return result
    shape = integers(context, (-1, *(1,) * (rank_of(op.x) - 2)))
    return onnx.Add(result, onnx.Reshape(bias, shape).reshaped).C


class _Bytes(NamedTuple):
    """Bytes, and what is taken away from them."""

    x: Value
    zero_point: Value | None


def _bytes_behind(value: Value) -> _Bytes | None:
    """The bytes that a tensor of integers is made of."""
    match value.owner:
        case onnx.Cast(input=x) if element_of(x) in (i8, u8):
            return _Bytes(x, None)
        case onnx.Sub(A=a, B=b):
            first = _bytes_behind(a)
            zero = None if first is None or first.zero_point is not None else _zero_point(b, element_of(first.x))
            return None if first is None or zero is None else _Bytes(first.x, zero)
        case _:
            return None


def _constant_bytes(value: Value) -> _Bytes | None:
    """Integers of the source as constant bytes with one zero point, which is what runtimes take."""
    known = known_integers(value)
    result = None if known is None else as_bytes(known)
    if result is None:
        return None
    zero = (
        onnx.Initializer(data_of(result.data.element, (), (result.zero_point,))).output if result.zero_point else None
    )
    return _Bytes(onnx.Initializer(result.data).output, zero)


def _zero_point(value: Value, element: ElementType) -> Value | None:
    """Integers as those of a type of bytes that they were before; None where they are of no such type."""
    match value.owner:
        case onnx.Cast(input=x) if element_of(x) is element:
            return x
        case _:
            pass
    data = known_data(value)
    low, high = limits(element)
    if data is None or not data.element.is_integer or not all(low <= int(v) <= high for v in data.values()):
        return None
    return onnx.Initializer(data_of(element, data.shape, data.values())).output


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
    pads, ceil_mode = _explicit_pads(op, x)
    if _is_long(pads, op):
        amounts = integers(context, (0, 0, *(a for a, _ in pads), 0, 0, *(b for _, b in pads)))
        x, pads = onnx.Pad(x, amounts, scalar(context, limits(element_of(x))[0], x)).output, ()
    return _max_pool(op, x, pads, ceil_mode=ceil_mode).Y


def _max_pool(op: core.Pool, x: Value, pads: tuple[tuple[int, int], ...], *, ceil_mode: bool) -> onnx.MaxPool:
    strides, dilations = _some(op.strides), _some(op.dilations)
    return onnx.MaxPool(
        x, kernel_shape=op.kernel, strides=strides, dilations=dilations, pads=_pads(pads), ceil_mode=ceil_mode
    )


@rule(core.MaxPoolWithPositions)
def max_pool_with_positions(op: core.MaxPoolWithPositions, context: Context, x: Value) -> Result:
    """Positions in the whole operand are those in an image after a number of whole images."""
    pads, ceil_mode = _explicit_pads(op, x)
    if _is_long(pads, op):
        pads, ceil_mode = op.pads, op.ceil_mode
    if _is_long(pads, op):
        return Mismatch("runtimes take less padding than a window is long")
    new_op = _max_pool(op, x, pads, ceil_mode=ceil_mode)
    if new_op.Indices is None:
        return Mismatch("onnx.MaxPool gives positions of windows that are padded explicitly")
    shape = [n for n in shape_of(x)[2:] if n is not None]
    return new_op.Y, onnx.Mod(new_op.Indices, vector(context, (element_count(tuple(shape)),))).C


def _is_within(pads: tuple[tuple[int, int], ...], op: core.Pool) -> bool:
    """Whether there is no more padding than the operation has."""
    padded = op.pads or ((0, 0),) * len(pads)
    return all(p <= q for pair, own in zip(pads, padded, strict=True) for p, q in zip(pair, own, strict=True))


def _is_long(pads: tuple[tuple[int, int], ...], op: core.Pool) -> bool:
    """Whether there is more padding than runtimes take: less than a window is long, dilated or not."""
    return any(max(pair) >= k for pair, k in zip(pads, op.kernel, strict=False))


@rule(core.AveragePool)
def average_pool(op: core.AveragePool, context: Context, x: Value) -> Result:
    pads, ceil_mode = _explicit_pads(op, x)
    if op.ceil_mode and (_is_long(pads, op) or (op.count_include_pad and not _is_within(pads, op))):
        # What a window has beyond the padding does not count, and runtimes take less padding than a window is long.
        pads, ceil_mode = op.pads, True
    return onnx.AveragePool(
        x,
        kernel_shape=op.kernel,
        strides=_some(op.strides),
        dilations=_some(op.dilations),
        pads=_pads(pads),
        ceil_mode=ceil_mode,
        count_include_pad=op.count_include_pad,
    ).Y


@rule(core.AveragePool)
def average_of_sums(op: core.AveragePool, context: Context, x: Value) -> Result:
    summed = core.sum_pool(x, op.kernel, op.strides, op.dilations, op.pads, op.ceil_mode)
    if op.count_include_pad and op.ceil_mode:
        return Mismatch("the windows differ in the number of elements that count")
    if op.count_include_pad:
        return core.mul(summed, core.splat(1 / math.prod(op.kernel), x))
    shape = tuple([n for n in shape_of(x)[2:] if n is not None])
    ones = core.fill(core.splat(1.0, x), (1, 1, *shape))
    return core.div(summed, core.sum_pool(ones, op.kernel, op.strides, op.dilations, op.pads, op.ceil_mode))


@rule(core.SumPool)
def sum_pool(op: core.SumPool, context: Context, x: Value) -> Result:
    """Each channel convolved with ones."""
    channels = shape_of(x)[1]
    pads, ceil_mode = _explicit_pads(op, x)
    if not isinstance(channels, int) or ceil_mode:
        return Mismatch("the number of channels, or of windows, is not known before running")
    ones = splat(context, element_of(x), (channels, 1, *op.kernel), 1)
    return onnx.Conv(
        x, ones, strides=_some(op.strides), dilations=_some(op.dilations), pads=_pads(pads), group=channels
    ).Y


def _explicit_pads(op: core.Pool, x: Value) -> tuple[tuple[tuple[int, int], ...], bool]:
    """Padding that makes the last windows whole instead of `ceil_mode`, where sizes are known; else as they are.

    Versions of ONNX and runtimes disagree about windows that would start beyond the input; padding leaves no doubt.
    """
    if not op.ceil_mode:
        return op.pads, False
    rank = len(op.kernel)
    strides, dilations, pads = op.strides or (1,) * rank, op.dilations or (1,) * rank, op.pads or ((0, 0),) * rank
    out: list[tuple[int, int]] = []
    dims = zip(shape_of(x)[2:], shape_of(op.y)[2:], strict=True)
    for (n, count), k, s, d, (low, _) in zip(dims, op.kernel, strides, dilations, pads, strict=True):
        if not isinstance(n, int) or not isinstance(count, int):
            return op.pads, True
        out.append((low, max((count - 1) * s + (k - 1) * d + 1 - n - low, 0)))
    return tuple(out), False
