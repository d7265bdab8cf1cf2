"""Rules for core operations that multiply and sum: products of matrices, Einstein summation, convolutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from commonir.conversions.core_to_mil.building import computed, data_behind, integers, plain_data
from commonir.conversions.core_to_mil.einsum import einsum_of_products
from commonir.conversions.operands import dims_of, element_of, rank_of, shape_of
from commonir.dialects import core
from commonir.dialects.mil import convolution, slicing
from commonir.dialects.mil import linear as mil
from commonir.dialects.mil.windows import PadType
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import i32
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import element_count

# -- products of matrices


@rule(core.MatMul)
def product_with_constant(op: core.MatMul, context: Context, a: Value, b: Value) -> Result:
    """A constant matrix on the right is the weight of a layer, stored with a row for each output."""
    if data_behind(b) is None or rank_of(b) != 2 or op.transpose_a or rank_of(a) < 2 or data_behind(a) is not None:
        return Mismatch("the right operand is not a constant matrix")
    if op.transpose_b:
        return mil.Linear(a, b).output
    data = plain_data(b)
    if data is None:
        return Mismatch("a compressed constant cannot be transposed")
    weight = computed(data.element, (data.shape[1], data.shape[0]), lambda: data.array().transpose())
    return mil.Linear(a, weight).output


@rule(core.MatMul)
def matmul(op: core.MatMul, context: Context, a: Value, b: Value) -> Value:
    left, right = rank_of(a), rank_of(b)
    if left > 1 and right > 1:
        return mil.Matmul(a, b, op.transpose_a, op.transpose_b).output
    # coremltools infers wrong shapes for vectors.
    rows = core.unsqueeze(a, (0,)) if left == 1 else a
    columns = core.unsqueeze(b, (1,)) if right == 1 else b
    product = core.matmul(rows, columns, op.transpose_a, op.transpose_b)
    gone = ((-2,) if left == 1 else ()) + ((-1,) if right == 1 else ())
    return core.squeeze(product, gone)


@rule(core.Linear)
def linear(op: core.Linear, context: Context, x: Value, weight: Value, bias: Value | None) -> Result:
    if data_behind(weight) is None or (bias is not None and data_behind(bias) is None):
        return Mismatch("weight and bias of mil.linear are constant")
    if not rank_of(x):
        return Mismatch("mil.linear takes rows")
    return mil.Linear(x, weight, bias).output


@rule(core.Linear)
def linear_of_product(op: core.Linear, context: Context, x: Value, weight: Value, bias: Value | None) -> Value:
    product = core.matmul(x, weight, False, True)
    return product if bias is None else core.add(product, bias)


@rule(core.Add)
def bias_of_layer(op: core.Add, context: Context, a: Value, b: Value) -> Result:
    """A constant added to a layer whose result nothing else uses becomes its bias."""
    for layer, offset, source in ((a, b, op.a), (b, a, op.b)):
        owner, data = layer.owner, plain_data(offset)
        if data is None or source.use_count != 1 or data_behind(layer) is not None:
            continue
        if isinstance(owner, mil.Linear) and owner.bias is None:
            width = shape_of(owner.weight)[0]
            if isinstance(width, int) and data.shape in ((width,), (1, width)) and len(data.shape) <= rank_of(layer):
                return mil.Linear(owner.x, owner.weight, _as_vector(offset, data)).output
        if isinstance(owner, convolution.Conv) and owner.bias is None:
            filters, rank = shape_of(owner.weight)[0], rank_of(layer)
            along = (filters, *(1,) * (rank - 2))
            if isinstance(filters, int) and data.shape in (along, (1, *along)):
                return _with_bias(owner, _as_vector(offset, data))
    return Mismatch("nothing is added to a layer")


def _as_vector(value: Value, data: Data) -> Value:
    """The elements of a constant as a vector."""
    if len(data.shape) == 1:
        return value
    return computed(data.element, (data.count,), lambda: data.array().reshape(-1))


def _with_bias(layer: convolution.Conv, bias: Value) -> Value:
    return convolution.Conv(
        layer.x, layer.weight, bias, layer.strides, layer.pad_type, layer.pad, layer.dilations, layer.groups
    ).output


@rule(core.Einsum)
def einsum(op: core.Einsum, context: Context, xs: tuple[Value, ...]) -> Value:
    return einsum_of_products(op.equation, xs)


# -- convolutions


def interleaved(pads: tuple[tuple[int, int], ...]) -> tuple[PadType, tuple[int, ...]]:
    """Padding as begin and end of each axis in turn, with the type that makes it count."""
    flat = tuple([n for pair in pads for n in pair])
    return (PadType.CUSTOM, flat) if any(flat) else (PadType.VALID, ())


def some(values: tuple[int, ...]) -> tuple[int, ...]:
    """Strides or dilations, none when all are 1."""
    return values if any(v != 1 for v in values) else ()


def _check_convolution(x: Value) -> Mismatch | None:
    if rank_of(x) not in (3, 4, 5):
        return Mismatch("Core ML has convolutions over one to three axes")
    if not element_of(x).is_float:
        return Mismatch("Core ML has no convolution of integers whose sums single precision may round")
    return None


@rule(core.Conv)
def conv(op: core.Conv, context: Context, x: Value, weight: Value, bias: Value | None) -> Result:
    wrong = _check_convolution(x)
    if wrong is not None:
        return wrong
    if data_behind(weight) is None and some(op.dilations):
        return Mismatch("the weight of a dilated mil.conv is constant")
    pad_type, pad = interleaved(op.pads)
    return convolution.Conv(x, weight, bias, some(op.strides), pad_type, pad, some(op.dilations), op.groups).output


@rule(core.Conv)
def conv_of_spread_weight(op: core.Conv, context: Context, x: Value, weight: Value, bias: Value | None) -> Result:
    """A weight that the program computes gets zeros between its elements in place of dilations."""
    if not some(op.dilations):
        return Mismatch("nothing is dilated")
    wide = weight
    for n, dilation in enumerate(op.dilations):
        axis, dims = n + 2, dims_of(wide)
        before, dim, after = element_count(dims[:axis]), dims[axis], element_count(dims[axis + 1 :])
        apart = core.pad(core.reshape(wide, (before, dim, 1, after)), (0,) * 4, (0, 0, dilation - 1, 0))
        joined = core.reshape(apart, (before, dim * dilation, after))
        reach = (dim - 1) * dilation + 1
        cut = core.slice(joined, (0, 0, 0), (before, reach, after), (1, 1, 1))
        wide = core.reshape(cut, (*dims[:axis], reach, *dims[axis + 1 :]))
    return core.conv(x, wide, bias, op.strides, (), op.pads, op.groups)


@rule(core.Conv)
def conv_then_bias(op: core.Conv, context: Context, x: Value, weight: Value, bias: Value | None) -> Result:
    """Until iOS 16 the bias is constant: another one is added."""
    if bias is None or data_behind(bias) is not None:
        return Mismatch("there is no bias that is computed")
    y = core.conv(x, weight, None, op.strides, op.dilations, op.pads, op.groups)
    return core.add(y, core.reshape(bias, (-1, *(1,) * (rank_of(x) - 2))))


@rule(core.ConvTranspose)
def conv_transpose(op: core.ConvTranspose, context: Context, x: Value, weight: Value, bias: Value | None) -> Result:
    wrong = _check_convolution(x)
    if wrong is not None:
        return wrong
    spatial = rank_of(x) - 2
    extra = op.output_padding or (0,) * spatial
    pads = tuple([(a, b - e) for (a, b), e in zip(op.pads or ((0, 0),) * spatial, extra, strict=True)])
    grown = tuple([max(-b, 0) for _, b in pads])
    pad_type, pad = interleaved(tuple([(a, max(b, 0)) for a, b in pads]))
    inner = None if any(grown) else bias
    y = convolution.ConvTranspose(
        x, weight, inner, pad, None, pad_type, some(op.strides), some(op.dilations), op.groups
    ).output
    if not any(grown):
        return y
    # What the result has beyond all windows is the bias alone.
    amounts = integers(context, [n for g in grown for n in (0, g)])
    y = slicing.Pad(y, amounts).output
    return y if bias is None else core.add(y, core.reshape(bias, (-1, *(1,) * spatial)))


@rule(core.ConvTranspose)
def conv_transpose_then_bias(
    op: core.ConvTranspose, context: Context, x: Value, weight: Value, bias: Value | None
) -> Result:
    """Until iOS 16 the bias is constant: another one is added."""
    if bias is None or data_behind(bias) is not None:
        return Mismatch("there is no bias that is computed")
    y = core.conv_transpose(x, weight, None, op.strides, op.dilations, op.pads, op.output_padding, op.groups)
    return core.add(y, core.reshape(bias, (-1, *(1,) * (rank_of(x) - 2))))


_LARGEST_DETERMINANT = 4
"""Rows of a matrix whose determinant is a sum of products of elements: without pivots, that loses no precision yet."""


@rule(core.Det)
def det(op: core.Det, context: Context, x: Value) -> Result:
    """The determinant of small matrices, by minors of the first rows."""
    *_, count = shape_of(x)
    if not isinstance(count, int) or not 0 < count <= _LARGEST_DETERMINANT:
        return Mismatch(f"determinants are those of matrices of at most {_LARGEST_DETERMINANT} rows")
    rows = [core.gather(x, core.scalar(n, i32), -2) for n in range(count)]
    minors: dict[tuple[int, ...], Value] = {(k,): core.gather(rows[0], core.scalar(k, i32), -1) for k in range(count)}
    for row in rows[1:]:
        elements = [core.gather(row, core.scalar(k, i32), -1) for k in range(count)]
        minors = {
            columns: _expanded(columns, minors, elements)
            for columns in combinations(range(count), len(next(iter(minors))) + 1)
        }
    return minors[tuple(range(count))]


def _expanded(columns: tuple[int, ...], minors: Mapping[tuple[int, ...], Value], row: Sequence[Value]) -> Value:
    """A minor of one row more, by the elements of that row."""
    total: Value | None = None
    for n, k in enumerate(reversed(columns)):
        term = core.mul(row[k], minors[tuple([c for c in columns if c != k])])
        total = term if total is None else core.sub(total, term) if n % 2 else core.add(total, term)
    assert total is not None
    return total
