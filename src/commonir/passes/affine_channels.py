"""Rules that fold what scales and shifts channels into the weights of a convolution or a matrix product before it, or
of a convolution after it.

A normalization with fixed statistics, or a sum, difference, product or quotient with a constant for each channel, is
y = x * scale + shift. New weights are computed in double precision and rounded once. Results are rounded differently,
but for a bias that is added to a convolution without one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.data import Data, computed_data
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f32, f64
from commonir.ods import known_data
from commonir.passes.core_forms import CoreForm, inner_form, inner_sum, is_tensor, repeated_constant

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

AFFINE = (core.Mul, core.Div, core.Add, core.Sub)
_MATRIX = 2
"""The rank of a matrix."""
_PRODUCTS = (core.Conv, core.ConvTranspose, core.Linear)


class _Affine(NamedTuple):
    """x * scale + shift for each channel, in double precision; None for 1 and for 0."""

    x: Value
    scale: Array | None
    shift: Array | None


def affine_product(form: CoreForm, result: Value) -> Value | None:
    """A product with scaled weights, and a bias that is scaled and shifted."""
    product = _product_before(form, result)
    return None if product is None else _scaled(*product)


def convolution_with_bias(form: CoreForm, result: Value) -> Value | None:
    """A convolution without bias takes what is added to it."""
    product = _product_before(form, result)
    # Runtimes begin the sums of matrix products with the bias.
    if product is None or not isinstance(product[0].op, core.Conv):
        return None
    inner, affine = product
    type = result.type
    is_sum = affine.scale is None and inner.operands[2] is None
    # Those of other types are rounded before the sum.
    is_wide = isinstance(type, TensorType) and type.element in (f32, f64)
    return _scaled(inner, affine) if is_sum and is_wide else None


def convolution_of_normalized(form: CoreForm, result: Value) -> Value | None:
    """A convolution of what is normalized, with scaled weights and another bias; padding is not normalized, so that
    there is none, or no shift.
    """
    del result
    inner, op = inner_form(form.x, core.BatchNorm), form.op
    _, weight, bias = form.operands
    if inner is None or not isinstance(inner.op, core.BatchNorm) or not isinstance(op, core.Conv):
        return None
    affine = _normalization(inner, inner.op)
    assert isinstance(weight, Value)
    data, before = known_data(weight), _array(bias)
    is_known = affine is not None and data is not None and (bias is None or before is not None)
    if not is_known or affine is None or data is None or affine.shift is None or len(weight.users) != 1:
        return None
    if any(n for pair in op.pads for n in pair) and affine.shift.any():
        return None

    def by_channel(values: Array | None) -> Array:
        """Returns a number for each weight, of the channel that it is multiplied by."""
        import numpy as np  # noqa: PLC0415  only where weights are written

        assert values is not None
        groups = np.broadcast_to(values, (data.shape[1] * op.groups,)).reshape(op.groups, -1)
        rows = np.repeat(groups, data.shape[0] // op.groups, axis=0)
        return rows.reshape(data.shape[0], -1, *(1,) * (len(data.shape) - 2))

    def new_bias() -> Array:
        added = (_in_double(data) * by_channel(affine.shift)).reshape(data.shape[0], -1).sum(axis=1)
        return added if before is None else before + added

    new_weight = core.constant(_rounded(data.type, lambda: _in_double(data) * by_channel(affine.scale)))
    bias = core.constant(_rounded(data.type.with_shape((data.shape[0],)), new_bias))
    return core.conv(affine.x, new_weight, bias, op.strides, op.dilations, op.pads, op.groups)


def _product_before(form: CoreForm, result: Value) -> tuple[CoreForm, _Affine] | None:
    if not is_tensor(result) or not isinstance(result.type, TensorType) or not result.type.element.is_float:
        return None
    for x in form.operands[: 2 if isinstance(form.op, core.Add | core.Mul) else 1]:
        inner = _product(x) if isinstance(x, Value) else None
        if inner is None or not isinstance(x, Value) or x.type is not result.type:
            continue
        affine = _affine(form, x, inner)
        if affine is not None and all(isinstance(v, Value) and _is_constant(v) for v in inner.operands[1:] if v):
            return inner, affine
    return None


def _product(x: Value) -> CoreForm | None:
    """Returns the convolution or linear layer that computes a value: also a product of a matrix and a constant one, and
    what is added to it.
    """
    inner = inner_form(x, *_PRODUCTS)
    if inner is not None:
        return inner
    summed = _convolution_and_sum(x)
    if summed is not None:
        return summed
    plain, with_bias = inner_form(x, core.MatMul), inner_sum(x, core.MatMul)
    inner, bias = with_bias if with_bias is not None else (plain, None)
    if inner is None or not isinstance(inner.op, core.MatMul) or inner.op.transpose_a or _rank(x) != _MATRIX:
        return None
    a, b = inner.operands
    data = known_data(b) if isinstance(b, Value) else None
    if data is None or not isinstance(a, Value) or not isinstance(b, Value) or len(b.users) != 1:
        return None
    if (
        _rank(a) != _MATRIX
        or len(data.shape) != _MATRIX
        or not _has_shape(bias, data.shape[0 if inner.op.transpose_b else 1])
    ):
        return None
    weight = b if inner.op.transpose_b else core.constant(_transposed(data))
    linear = core.linear(a, weight, bias)
    assert isinstance(linear.owner, core.Linear)
    # It is only looked at, and uses no values.
    linear.owner.erase()
    return CoreForm(linear.owner, (a, weight, bias))


def _convolution_and_sum(x: Value) -> CoreForm | None:
    """Returns the convolution without bias to which a constant for each channel is added, as one with this bias."""
    total = inner_form(x, core.Add)
    for v, other in () if total is None else (total.operands[:2], total.operands[1::-1]):
        inner = inner_form(v, core.Conv, core.ConvTranspose) if isinstance(v, Value) else None
        if inner is None or inner.operands[2] is not None or not isinstance(v, Value) or v.type is not x.type:
            continue
        added = _per_channel(other, _rank(x), 1)
        if added is not None and isinstance(x.type, TensorType) and x.type.is_static:
            affine = _Affine(v, None, added)
            return CoreForm(inner.op, (*inner.operands[:2], _new_bias(None, affine, x.type.static_shape[1], x.type)))
    return None


def _has_shape(bias: Value | None, size: int) -> bool:
    return bias is None or (isinstance(bias.type, TensorType) and bias.type.shape == (size,))


def _transposed(data: Data) -> Data:
    return computed_data(data.type.with_shape(data.shape[::-1]), lambda: data.array().T)


def _is_constant(value: Value) -> bool:
    return known_data(value) is not None


def _array(value: object) -> Array | None:
    """Returns a constant in double precision."""
    data = known_data(value) if isinstance(value, Value) else None
    return None if data is None else _in_double(data)


def _in_double(data: Data) -> Array:
    import numpy as np  # noqa: PLC0415  only where weights are written

    return data.array().astype(np.float64)


def _affine(form: CoreForm, x: Value, inner: CoreForm) -> _Affine | None:
    """Returns the effect of an operation on the channels of an operand; None for what differs within channels."""
    if isinstance(form.op, core.BatchNorm):
        return _normalization(form, form.op) if not isinstance(inner.op, core.Linear) or _rank(x) == 2 else None
    other = next((v for v in form.operands if v is not x), None)
    values = _per_channel(other, _rank(x), -1 if isinstance(inner.op, core.Linear) else 1)
    if values is None:
        return None
    match form.op:
        case core.Add():
            return _Affine(x, None, values)
        case core.Sub():
            return _Affine(x, None, -values)
        case core.Mul():
            return _Affine(x, values, None)
        case core.Div() if values.all():
            return _Affine(x, 1 / values, None)
        case _:
            return None


def _rank(x: Value) -> int:
    assert isinstance(x.type, TensorType)
    return x.type.rank or 0


def _normalization(form: CoreForm, op: core.BatchNorm) -> _Affine | None:
    x, mean, variance, scale, bias = form.operands
    m, v, s, b = [_array(each) for each in (mean, variance, scale, bias)]
    if m is None or v is None or not isinstance(x, Value):
        return None
    if (scale is not None and s is None) or (bias is not None and b is None):
        return None
    factor = 1 / (v + op.epsilon) ** 0.5 if s is None else s / (v + op.epsilon) ** 0.5
    return _Affine(x, factor, -m * factor if b is None else b - m * factor)


def _per_channel(value: object, rank: int, axis: int) -> Array | None:
    """Returns a constant with one value for all channels, or one for each, as a vector."""
    values = _array(value)
    repeated = repeated_constant(value) if values is None and isinstance(value, Value) else None
    values = values if repeated is None else _in_double(repeated)
    if values is None or values.ndim > rank:
        return None
    shape = (1,) * (rank - values.ndim) + values.shape
    others = [n for a, n in enumerate(shape) if a != axis % rank]
    return values.reshape(-1) if all(n == 1 for n in others) else None


def _scaled(inner: CoreForm, affine: _Affine) -> Value | None:
    x, weight, bias = inner.operands
    assert isinstance(x, Value)
    assert isinstance(weight, Value)
    assert bias is None or isinstance(bias, Value)
    type = weight.type
    assert isinstance(type, TensorType)
    if type.shape is None:
        return None
    groups = inner.op.groups if isinstance(inner.op, core.ConvTranspose) else 0
    channels = type.static_shape[1] * groups if groups else type.static_shape[0]
    if affine.scale is not None:
        if len(weight.users) > 1:
            # The weight of something else stays, and another one would enlarge the program.
            return None
        weight = _scaled_weight(weight, affine.scale, channels, groups)
    bias = _new_bias(bias, affine, channels, type)
    match inner.op:
        case core.Conv(strides=s, dilations=d, pads=p, groups=g):
            return core.conv(x, weight, bias, s, d, p, g)
        case core.ConvTranspose(strides=s, dilations=d, pads=p, output_padding=o, groups=g):
            return core.conv_transpose(x, weight, bias, s, d, p, o, g)
        case _:
            return core.linear(x, weight, bias)


def _scaled_weight(weight: Value, scale: Array, channels: int, groups: int) -> Value:
    """Returns a weight with its channels scaled; those of a transposed convolution are within `groups`."""
    data = known_data(weight)
    assert data is not None
    shape = data.shape

    def compute() -> Array:
        import numpy as np  # noqa: PLC0415  only where weights are written

        factors = np.broadcast_to(scale, (channels,))
        ones = (1,) * (len(shape) - 2)
        if not groups:
            return _in_double(data) * factors.reshape(-1, 1, *ones)
        grouped = _in_double(data).reshape(groups, -1, *shape[1:]) * factors.reshape(groups, 1, -1, *ones)
        return grouped.reshape(shape)

    return core.constant(_rounded(data.type, compute))


def _new_bias(bias: Value | None, affine: _Affine, channels: int, like: TensorType) -> Value | None:
    if affine.shift is None and bias is None:
        return None

    def compute() -> Array:
        import numpy as np  # noqa: PLC0415  only where weights are written

        before = _array(bias)
        values = np.zeros(channels) if before is None else before
        values = values if affine.scale is None else values * affine.scale
        return values if affine.shift is None else values + affine.shift

    return core.constant(_rounded(like.with_shape((channels,)), compute))


def _rounded(type: TensorType, compute: Callable[[], Array]) -> Data:
    """Returns elements that are computed when they are needed, and rounded to the type."""
    from commonir.base.arrays import dtype_of  # noqa: PLC0415  loads numpy

    return computed_data(type, lambda: compute().astype(dtype_of(type.element.name)))
