"""Rules for core normalizations and attention."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from commonir.base.tuples import NamedTuple
from commonir.conversions.core_to_mil.building import cast, computed, data_behind, plain_data, scalar
from commonir.conversions.operands import axes_from_start, element_of, rank_of, shape_of
from commonir.dialects import core
from commonir.dialects.mil import linear
from commonir.dialects.mil import normalization as mil
from commonir.dialects.mil.convolution import Conv
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import boolean
from commonir.rewrite.legalize import Context, Mismatch, Result, rule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def _all_constant(*values: Value | None) -> bool:
    return all(v is None or data_behind(v) is not None for v in values)


@rule(core.LayerNorm)
def layer_norm(op: core.LayerNorm, context: Context, x: Value, scale: Value | None, bias: Value | None) -> Result:
    if not _all_constant(scale, bias):
        return Mismatch("scale and bias of mil.layer_norm are constant")
    axes = axes_from_start(op.axes, rank_of(x))
    return mil.LayerNorm(x, axes, scale, bias, op.epsilon).output


@rule(core.LayerNorm)
def layer_norm_then_scaled(
    op: core.LayerNorm, context: Context, x: Value, scale: Value | None, bias: Value | None
) -> Value:
    rank = rank_of(x)
    axes = axes_from_start(op.axes, rank)
    y = mil.LayerNorm(x, axes, None, None, op.epsilon).output
    if scale is not None:
        y = core.mul(y, _spread(scale, axes, rank))
    return y if bias is None else core.add(y, _spread(bias, axes, rank))


def _spread(values: Value, axes: tuple[int, ...], rank: int) -> Value:
    """A tensor that has some axes, with axes of size 1 between them."""
    missing = tuple([a - axes[0] for a in range(axes[0], rank) if a not in axes])
    return core.unsqueeze(values, missing) if missing else values


@rule(core.BatchNorm)
def folded_into_convolution(
    op: core.BatchNorm, context: Context, x: Value, mean: Value, variance: Value, *affine: Value | None
) -> Result:
    """A convolution before it, whose result nothing else uses, takes the factors and offsets into its weight."""
    scale, bias = affine
    before = x.owner
    if not isinstance(before, Conv) or op.x.use_count != 1 or not _all_constant(mean, variance, scale, bias):
        return Mismatch("no convolution of constant weight comes right before")
    weight, offset = plain_data(before.weight), data_behind(before.bias)
    if weight is None or (before.bias is not None and offset is None):
        return Mismatch("the convolution before has no constant weight")
    statistics = _Statistics(
        data_behind(mean), data_behind(variance), data_behind(scale), data_behind(bias), op.epsilon
    )
    folded = _Folding(statistics, weight, offset)
    count = weight.shape[0]
    return type(before)(
        before.x,
        computed(weight.element, weight.shape, folded.weight),
        computed(weight.element, (count,), folded.bias),
        before.strides,
        before.pad_type,
        before.pad,
        before.dilations,
        before.groups,
    ).output


class _Statistics(NamedTuple):
    """The constants of a batch normalization."""

    mean: Data | None
    variance: Data | None
    scale: Data | None
    shift: Data | None
    epsilon: float


class _Folding:
    """Weight and bias of a convolution with a batch normalization after it, in double precision and rounded once."""

    def __init__(self, statistics: _Statistics, filters: Data, offset: Data | None) -> None:
        self.statistics = statistics
        self.filters = filters
        self.offset = offset

    def _wide(self, data: Data | None, default: float) -> NDArray[np.float64]:
        import numpy as np  # noqa: PLC0415  only where a weight is computed

        return np.full(self.filters.shape[:1], default) if data is None else data.array().astype(np.float64)

    def _factor(self) -> NDArray[np.float64]:
        s = self.statistics
        return self._wide(s.scale, 1.0) / (self._wide(s.variance, 1.0) + s.epsilon) ** 0.5

    def weight(self) -> NDArray[np.generic]:
        """The filters, each times the factor of its channel."""
        array = self.filters.array()
        return (self._wide(self.filters, 1.0) * self._factor().reshape(-1, *[1] * (array.ndim - 1))).astype(array.dtype)

    def bias(self) -> NDArray[np.generic]:
        """Returns the bias of each channel."""
        s = self.statistics
        centred = self._wide(self.offset, 0.0) - self._wide(s.mean, 0.0)
        return (centred * self._factor() + self._wide(s.shift, 0.0)).astype(self.filters.array().dtype)


@rule(core.BatchNorm)
def batch_norm(
    op: core.BatchNorm, context: Context, x: Value, mean: Value, variance: Value, *affine: Value | None
) -> Result:
    scale, bias = affine
    if not _all_constant(mean, variance, scale, bias):
        return Mismatch("the statistics of mil.batch_norm are constant")
    if rank_of(x) not in (3, 4, 5):
        return Mismatch("mil.batch_norm takes one to three spatial axes")
    return mil.BatchNorm(x, mean, variance, scale, bias, op.epsilon).output


@rule(core.InstanceNorm)
def instance_norm(op: core.InstanceNorm, context: Context, x: Value, scale: Value | None, bias: Value | None) -> Result:
    if not _all_constant(scale, bias) or rank_of(x) not in (3, 4):
        return Mismatch("mil.instance_norm takes constant scales, and one or two spatial axes")
    return mil.InstanceNorm(x, scale, bias, op.epsilon).output


@rule(core.L2Norm)
def l2_norm(op: core.L2Norm, context: Context, x: Value) -> Result:
    rank = rank_of(x)
    if rank < 3 or axes_from_start(op.axes, rank) != (rank - 3, rank - 2, rank - 1):
        return Mismatch("mil.l2_norm is over the last three axes")
    return mil.L2Norm(x, op.epsilon).output


# -- attention


@rule(core.Attention)
def attention(
    op: core.Attention, context: Context, query: Value, key: Value, value: Value, mask: Value | None
) -> Result:
    dim = shape_of(query)[-1]
    if rank_of(query) < 3 or not isinstance(dim, int):
        return Mismatch("mil.scaled_dot_product_attention takes batches, and queries of a fixed size")
    factor = 1.0 if op.scale is None else op.scale * math.sqrt(dim)
    if abs(factor - 1.0) > 1e-6:
        query = core.mul(query, scalar(context, factor, query))
    y = linear.ScaledDotProductAttention(query, key, value, mask).output
    return y if mask is None or not op.masked_is_zero else core.zero_where_masked(mask, y)


@rule(core.Attention)
def attention_of_products(
    op: core.Attention, context: Context, query: Value, key: Value, value: Value, mask: Value | None
) -> Result:
    dim = shape_of(query)[-1]
    if op.scale is None and not isinstance(dim, int):
        return Mismatch("the size of a query is not fixed")
    factor = op.scale if op.scale is not None else 1 / math.sqrt(dim) if isinstance(dim, int) else 1.0
    scores = core.matmul(core.mul(query, scalar(context, factor, query)), key, False, True)
    if mask is not None and element_of(mask) is boolean:
        scores = core.select(mask, scores, scalar(context, -math.inf, scores))
    elif mask is not None:
        scores = core.add(scores, cast(mask, element_of(scores)))
    y = core.matmul(core.softmax(scores, -1), value)
    return y if mask is None or not op.masked_is_zero else core.zero_where_masked(mask, y)
