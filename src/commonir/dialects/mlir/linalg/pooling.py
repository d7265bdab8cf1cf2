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
    """2-D sum pooling, NHWC."""


class PoolingNhwcMax(
    MaxPoolingOp,
    name="linalg.pooling_nhwc_max",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, c] K[kh, kw] -> O[n, oh, ow, c]",
):
    """2-D max pooling, NHWC."""


class PoolingNhwcMaxUnsigned(
    MaxUnsignedPoolingOp,
    name="linalg.pooling_nhwc_max_unsigned",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, c] K[kh, kw] -> O[n, oh, ow, c]",
):
    """2-D unsigned max pooling, NHWC."""


class PoolingNhwcMin(
    MinPoolingOp,
    name="linalg.pooling_nhwc_min",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, c] K[kh, kw] -> O[n, oh, ow, c]",
):
    """2-D min pooling, NHWC."""


class PoolingNhwcMinUnsigned(
    MinUnsignedPoolingOp,
    name="linalg.pooling_nhwc_min_unsigned",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, c] K[kh, kw] -> O[n, oh, ow, c]",
):
    """2-D unsigned min pooling, NHWC."""


class PoolingNchwSum(
    SumPoolingOp,
    name="linalg.pooling_nchw_sum",
    indices="I[n, c, oh*s0 + kh*d0, ow*s1 + kw*d1] K[kh, kw] -> O[n, c, oh, ow]",
):
    """2-D sum pooling, NCHW."""


class PoolingNchwMax(
    MaxPoolingOp,
    name="linalg.pooling_nchw_max",
    indices="I[n, c, oh*s0 + kh*d0, ow*s1 + kw*d1] K[kh, kw] -> O[n, c, oh, ow]",
):
    """2-D max pooling, NCHW."""


class PoolingNwcSum(SumPoolingOp, name="linalg.pooling_nwc_sum", indices="I[n, ow*s0 + kw*d0, c] K[kw] -> O[n, ow, c]"):
    """1-D sum pooling, NWC."""


class PoolingNwcMax(MaxPoolingOp, name="linalg.pooling_nwc_max", indices="I[n, ow*s0 + kw*d0, c] K[kw] -> O[n, ow, c]"):
    """1-D max pooling, NWC."""


class PoolingNwcMaxUnsigned(
    MaxUnsignedPoolingOp, name="linalg.pooling_nwc_max_unsigned", indices="I[n, ow*s0 + kw*d0, c] K[kw] -> O[n, ow, c]"
):
    """1-D unsigned max pooling, NWC."""


class PoolingNwcMin(MinPoolingOp, name="linalg.pooling_nwc_min", indices="I[n, ow*s0 + kw*d0, c] K[kw] -> O[n, ow, c]"):
    """1-D min pooling, NWC."""


class PoolingNwcMinUnsigned(
    MinUnsignedPoolingOp, name="linalg.pooling_nwc_min_unsigned", indices="I[n, ow*s0 + kw*d0, c] K[kw] -> O[n, ow, c]"
):
    """1-D unsigned min pooling, NWC."""


class PoolingNcwSum(SumPoolingOp, name="linalg.pooling_ncw_sum", indices="I[n, c, ow*s0 + kw*d0] K[kw] -> O[n, c, ow]"):
    """1-D sum pooling, NCW."""


class PoolingNcwMax(MaxPoolingOp, name="linalg.pooling_ncw_max", indices="I[n, c, ow*s0 + kw*d0] K[kw] -> O[n, c, ow]"):
    """1-D max pooling, NCW."""


class PoolingNdhwcSum(
    SumPoolingOp,
    name="linalg.pooling_ndhwc_sum",
    indices="I[n, od*s0 + kd*d0, oh*s1 + kh*d1, ow*s2 + kw*d2, c] K[kd, kh, kw] -> O[n, od, oh, ow, c]",
):
    """3-D sum pooling, NDHWC."""


class PoolingNdhwcMax(
    MaxPoolingOp,
    name="linalg.pooling_ndhwc_max",
    indices="I[n, od*s0 + kd*d0, oh*s1 + kh*d1, ow*s2 + kw*d2, c] K[kd, kh, kw] -> O[n, od, oh, ow, c]",
):
    """3-D max pooling, NDHWC."""


class PoolingNdhwcMin(
    MinPoolingOp,
    name="linalg.pooling_ndhwc_min",
    indices="I[n, od*s0 + kd*d0, oh*s1 + kh*d1, ow*s2 + kw*d2, c] K[kd, kh, kw] -> O[n, od, oh, ow, c]",
):
    """3-D min pooling, NDHWC."""
