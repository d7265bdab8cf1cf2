"""Convolutions under the names of their layouts.

Source: MLIR linalg dialect, named operations (OpDSL).
"""

from __future__ import annotations

from commonir.dialects.mlir.linalg.windows import ConvolutionOp, PlainWindowOp


class Conv1D(PlainWindowOp, name="linalg.conv_1d", indices="I[ow + kw] K[kw] -> O[ow]"):
    """1-D convolution of a vector with a filter."""


class Conv2D(PlainWindowOp, name="linalg.conv_2d", indices="I[oh + kh, ow + kw] K[kh, kw] -> O[oh, ow]"):
    """2-D convolution of a matrix with a filter."""


class Conv3D(
    PlainWindowOp, name="linalg.conv_3d", indices="I[od + kd, oh + kh, ow + kw] K[kd, kh, kw] -> O[od, oh, ow]"
):
    """3-D convolution of a tensor of rank 3 with a filter."""


class Conv1DNwcWcf(
    ConvolutionOp, name="linalg.conv_1d_nwc_wcf", indices="I[n, ow*s0 + kw*d0, c] K[kw, c, f] -> O[n, ow, f]"
):
    """1-D convolution: input NWC, filter WCF."""


class Conv1DNcwFcw(
    ConvolutionOp, name="linalg.conv_1d_ncw_fcw", indices="I[n, c, ow*s0 + kw*d0] K[f, c, kw] -> O[n, f, ow]"
):
    """1-D convolution: input NCW, filter FCW."""


class Conv2DNhwcHwcf(
    ConvolutionOp,
    name="linalg.conv_2d_nhwc_hwcf",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, c] K[kh, kw, c, f] -> O[n, oh, ow, f]",
):
    """2-D convolution: input NHWC, filter HWCF."""


class Conv2DNhwcFhwc(
    ConvolutionOp,
    name="linalg.conv_2d_nhwc_fhwc",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, c] K[f, kh, kw, c] -> O[n, oh, ow, f]",
):
    """2-D convolution: input NHWC, filter FHWC."""


class Conv2DNchwFchw(
    ConvolutionOp,
    name="linalg.conv_2d_nchw_fchw",
    indices="I[n, c, oh*s0 + kh*d0, ow*s1 + kw*d1] K[f, c, kh, kw] -> O[n, f, oh, ow]",
):
    """2-D convolution: input NCHW, filter FCHW."""


class Conv2DNgchwFgchw(
    ConvolutionOp,
    name="linalg.conv_2d_ngchw_fgchw",
    indices="I[n, g, c, oh*s0 + kh*d0, ow*s1 + kw*d1] K[fg, g, c, kh, kw] -> O[n, g, fg, oh, ow]",
):
    """Grouped 2-D convolution: input NGCHW, filter FGCHW."""


class Conv2DNgchwGfchw(
    ConvolutionOp,
    name="linalg.conv_2d_ngchw_gfchw",
    indices="I[n, g, c, oh*s0 + kh*d0, ow*s1 + kw*d1] K[g, fg, c, kh, kw] -> O[n, g, fg, oh, ow]",
):
    """Grouped 2-D convolution: input NGCHW, filter GFCHW."""


class Conv2DNhwgcGfhwc(
    ConvolutionOp,
    name="linalg.conv_2d_nhwgc_gfhwc",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, g, c] K[g, fg, kh, kw, c] -> O[n, oh, ow, g, fg]",
):
    """Grouped 2-D convolution: input NHWGC, filter GFHWC."""


class Conv3DNdhwcDhwcf(
    ConvolutionOp,
    name="linalg.conv_3d_ndhwc_dhwcf",
    indices="I[n, od*s0 + kd*d0, oh*s1 + kh*d1, ow*s2 + kw*d2, c] K[kd, kh, kw, c, f] -> O[n, od, oh, ow, f]",
):
    """3-D convolution: input NDHWC, filter DHWCF."""


class Conv3DNcdhwFcdhw(
    ConvolutionOp,
    name="linalg.conv_3d_ncdhw_fcdhw",
    indices="I[n, c, od*s0 + kd*d0, oh*s1 + kh*d1, ow*s2 + kw*d2] K[f, c, kd, kh, kw] -> O[n, f, od, oh, ow]",
):
    """3-D convolution: input NCDHW, filter FCDHW."""


class DepthwiseConv1DNwcWc(
    ConvolutionOp, name="linalg.depthwise_conv_1d_nwc_wc", indices="I[n, ow*s0 + kw*d0, ic] K[kw, ic] -> O[n, ow, ic]"
):
    """Depthwise 1-D convolution: input NWC, filter WC."""


class DepthwiseConv1DNcwCw(
    ConvolutionOp,
    name="linalg.depthwise_conv_1d_ncw_cw",
    indices="I[n, ic, ow*s0 + kw*d0] K[ic, kw] -> O[n, ic, ow]",
    order="n ow ic kw",
):
    """Depthwise 1-D convolution: input NCW, filter CW."""


class DepthwiseConv1DNwcWcm(
    ConvolutionOp,
    name="linalg.depthwise_conv_1d_nwc_wcm",
    indices="I[n, ow*s0 + kw*d0, ic] K[kw, ic, cm] -> O[n, ow, ic, cm]",
):
    """Depthwise 1-D convolution with a channel multiplier: input NWC, filter WCM."""


class DepthwiseConv2DNhwcHwc(
    ConvolutionOp,
    name="linalg.depthwise_conv_2d_nhwc_hwc",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, ic] K[kh, kw, ic] -> O[n, oh, ow, ic]",
):
    """Depthwise 2-D convolution: input NHWC, filter HWC."""


class DepthwiseConv2DNchwChw(
    ConvolutionOp,
    name="linalg.depthwise_conv_2d_nchw_chw",
    indices="I[n, ic, oh*s0 + kh*d0, ow*s1 + kw*d1] K[ic, kh, kw] -> O[n, ic, oh, ow]",
    order="n oh ow ic kh kw",
):
    """Depthwise 2-D convolution: input NCHW, filter CHW."""


class DepthwiseConv2DNhwcHwcm(
    ConvolutionOp,
    name="linalg.depthwise_conv_2d_nhwc_hwcm",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, ic] K[kh, kw, ic, cm] -> O[n, oh, ow, ic, cm]",
):
    """Depthwise 2-D convolution with a channel multiplier: input NHWC, filter HWCM."""


class DepthwiseConv3DNdhwcDhwc(
    ConvolutionOp,
    name="linalg.depthwise_conv_3d_ndhwc_dhwc",
    indices="I[n, od*s0 + kd*d0, oh*s1 + kh*d1, ow*s2 + kw*d2, ic] K[kd, kh, kw, ic] -> O[n, od, oh, ow, ic]",
    order="n od oh ow kd kh kw ic",
):
    """Depthwise 3-D convolution: input NDHWC, filter DHWC."""


class DepthwiseConv3DNcdhwCdhw(
    ConvolutionOp,
    name="linalg.depthwise_conv_3d_ncdhw_cdhw",
    indices="I[n, ic, od*s0 + kd*d0, oh*s1 + kh*d1, ow*s2 + kw*d2] K[ic, kd, kh, kw] -> O[n, ic, od, oh, ow]",
    order="n od oh ow kd kh kw ic",
):
    """Depthwise 3-D convolution: input NCDHW, filter CDHW."""


class DepthwiseConv3DNdhwcDhwcm(
    ConvolutionOp,
    name="linalg.depthwise_conv_3d_ndhwc_dhwcm",
    indices="I[n, od*s0 + kd*d0, oh*s1 + kh*d1, ow*s2 + kw*d2, ic] K[kd, kh, kw, ic, cm] -> O[n, od, oh, ow, ic, cm]",
    order="n od oh ow cm kd kh kw ic",
):
    """Depthwise 3-D convolution with a channel multiplier: input NDHWC, filter DHWCM."""
