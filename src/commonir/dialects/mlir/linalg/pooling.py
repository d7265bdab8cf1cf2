"""Elements of windows combined, under the names of layouts.

Source: MLIR linalg dialect, named operations (OpDSL).
"""

from __future__ import annotations

from commonir.dialects.mlir.linalg.windows import (
    MaxPoolingOp,
    MaxUnsignedPoolingOp,
    MinPoolingOp,
    MinUnsignedPoolingOp,
    SumPoolingOp,
)


class PoolingNhwcSum(
    SumPoolingOp,
    name="linalg.pooling_nhwc_sum",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, c] K[kh, kw] -> O[n, oh, ow, c]",
):
    """The sum of windows along two axes; channels last."""


class PoolingNhwcMax(
    MaxPoolingOp,
    name="linalg.pooling_nhwc_max",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, c] K[kh, kw] -> O[n, oh, ow, c]",
):
    """The largest element of windows along two axes; channels last."""


class PoolingNhwcMaxUnsigned(
    MaxUnsignedPoolingOp,
    name="linalg.pooling_nhwc_max_unsigned",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, c] K[kh, kw] -> O[n, oh, ow, c]",
):
    """The largest integer without sign of windows along two axes; channels last."""


class PoolingNhwcMin(
    MinPoolingOp,
    name="linalg.pooling_nhwc_min",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, c] K[kh, kw] -> O[n, oh, ow, c]",
):
    """The smallest element of windows along two axes; channels last."""


class PoolingNhwcMinUnsigned(
    MinUnsignedPoolingOp,
    name="linalg.pooling_nhwc_min_unsigned",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, c] K[kh, kw] -> O[n, oh, ow, c]",
):
    """The smallest integer without sign of windows along two axes; channels last."""


class PoolingNchwSum(
    SumPoolingOp,
    name="linalg.pooling_nchw_sum",
    indices="I[n, c, oh*s0 + kh*d0, ow*s1 + kw*d1] K[kh, kw] -> O[n, c, oh, ow]",
):
    """The sum of windows along two axes; channels first."""


class PoolingNchwMax(
    MaxPoolingOp,
    name="linalg.pooling_nchw_max",
    indices="I[n, c, oh*s0 + kh*d0, ow*s1 + kw*d1] K[kh, kw] -> O[n, c, oh, ow]",
):
    """The largest element of windows along two axes; channels first."""


class PoolingNwcSum(SumPoolingOp, name="linalg.pooling_nwc_sum", indices="I[n, ow*s0 + kw*d0, c] K[kw] -> O[n, ow, c]"):
    """The sum of windows along one axis; channels last."""


class PoolingNwcMax(MaxPoolingOp, name="linalg.pooling_nwc_max", indices="I[n, ow*s0 + kw*d0, c] K[kw] -> O[n, ow, c]"):
    """The largest element of windows along one axis; channels last."""


class PoolingNwcMaxUnsigned(
    MaxUnsignedPoolingOp, name="linalg.pooling_nwc_max_unsigned", indices="I[n, ow*s0 + kw*d0, c] K[kw] -> O[n, ow, c]"
):
    """The largest integer without sign of windows along one axis; channels last."""


class PoolingNwcMin(MinPoolingOp, name="linalg.pooling_nwc_min", indices="I[n, ow*s0 + kw*d0, c] K[kw] -> O[n, ow, c]"):
    """The smallest element of windows along one axis; channels last."""


class PoolingNwcMinUnsigned(
    MinUnsignedPoolingOp, name="linalg.pooling_nwc_min_unsigned", indices="I[n, ow*s0 + kw*d0, c] K[kw] -> O[n, ow, c]"
):
    """The smallest integer without sign of windows along one axis; channels last."""


class PoolingNcwSum(SumPoolingOp, name="linalg.pooling_ncw_sum", indices="I[n, c, ow*s0 + kw*d0] K[kw] -> O[n, c, ow]"):
    """The sum of windows along one axis; channels first."""


class PoolingNcwMax(MaxPoolingOp, name="linalg.pooling_ncw_max", indices="I[n, c, ow*s0 + kw*d0] K[kw] -> O[n, c, ow]"):
    """The largest element of windows along one axis; channels first."""


class PoolingNdhwcSum(
    SumPoolingOp,
    name="linalg.pooling_ndhwc_sum",
    indices="I[n, od*s0 + kd*d0, oh*s1 + kh*d1, ow*s2 + kw*d2, c] K[kd, kh, kw] -> O[n, od, oh, ow, c]",
):
    """The sum of windows along three axes; channels last."""


class PoolingNdhwcMax(
    MaxPoolingOp,
    name="linalg.pooling_ndhwc_max",
    indices="I[n, od*s0 + kd*d0, oh*s1 + kh*d1, ow*s2 + kw*d2, c] K[kd, kh, kw] -> O[n, od, oh, ow, c]",
):
    """The largest element of windows along three axes; channels last."""


class PoolingNdhwcMin(
    MinPoolingOp,
    name="linalg.pooling_ndhwc_min",
    indices="I[n, od*s0 + kd*d0, oh*s1 + kh*d1, ow*s2 + kw*d2, c] K[kd, kh, kw] -> O[n, od, oh, ow, c]",
):
    """The smallest element of windows along three axes; channels last."""
