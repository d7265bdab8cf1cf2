"""Convolutions and products of quantized tensors: zero points are subtracted first.

Source: MLIR linalg dialect, named operations (OpDSL).
"""

from __future__ import annotations

from commonir.dialects.mlir.linalg.bodies import shifted_multiply_add
from commonir.dialects.mlir.linalg.named import NamedOp
from commonir.dialects.mlir.linalg.windows import QuantizedConvolutionOp


class Conv2DNhwcHwcfQ(
    QuantizedConvolutionOp,
    name="linalg.conv_2d_nhwc_hwcf_q",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, c] K[kh, kw, c, f] IZp KZp -> O[n, oh, ow, f]",
):
    """Quantized 2-D convolution with zero points: input NHWC, filter HWCF."""


class Conv2DNhwcFhwcQ(
    QuantizedConvolutionOp,
    name="linalg.conv_2d_nhwc_fhwc_q",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, c] K[f, kh, kw, c] IZp KZp -> O[n, oh, ow, f]",
):
    """Quantized 2-D convolution with zero points: input NHWC, filter FHWC."""


class Conv2DNchwFchwQ(
    QuantizedConvolutionOp,
    name="linalg.conv_2d_nchw_fchw_q",
    indices="I[n, c, oh*s0 + kh*d0, ow*s1 + kw*d1] K[f, c, kh, kw] IZp KZp -> O[n, f, oh, ow]",
):
    """Quantized 2-D convolution with zero points: input NCHW, filter FCHW."""


class Conv2DNgchwGfchwQ(
    QuantizedConvolutionOp,
    name="linalg.conv_2d_ngchw_gfchw_q",
    indices="I[n, g, c, oh*s0 + kh*d0, ow*s1 + kw*d1] K[g, fg, c, kh, kw] IZp KZp -> O[n, g, fg, oh, ow]",
):
    """Quantized grouped 2-D convolution with zero points: input NGCHW, filter GFCHW."""


class Conv2DNhwgcGfhwcQ(
    QuantizedConvolutionOp,
    name="linalg.conv_2d_nhwgc_gfhwc_q",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, g, c] K[g, fg, kh, kw, c] IZp KZp -> O[n, oh, ow, g, fg]",
):
    """Quantized grouped 2-D convolution with zero points: input NHWGC, filter GFHWC."""


class Conv3DNdhwcDhwcfQ(
    QuantizedConvolutionOp,
    name="linalg.conv_3d_ndhwc_dhwcf_q",
    indices="I[n, od*s0 + kd*d0, oh*s1 + kh*d1, ow*s2 + kw*d2, c] K[kd, kh, kw, c, f] IZp KZp -> O[n, od, oh, ow, f]",
):
    """Quantized 3-D convolution with zero points: input NDHWC, filter DHWCF."""


class DepthwiseConv2DNhwcHwcQ(
    QuantizedConvolutionOp,
    name="linalg.depthwise_conv_2d_nhwc_hwc_q",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, ic] K[kh, kw, ic] IZp KZp -> O[n, oh, ow, ic]",
):
    """Quantized depthwise 2-D convolution with zero points: input NHWC, filter HWC."""


class DepthwiseConv2DNhwcHwcmQ(
    QuantizedConvolutionOp,
    name="linalg.depthwise_conv_2d_nhwc_hwcm_q",
    indices="I[n, oh*s0 + kh*d0, ow*s1 + kw*d1, ic] K[kh, kw, ic, cm] IZp KZp -> O[n, oh, ow, ic, cm]",
):
    """Quantized depthwise 2-D convolution with zero points and a channel multiplier: filter HWCM."""


class QuantizedMatmul(NamedOp, name="linalg.quantized_matmul", indices="A[m, k] B[k, n] AZp BZp -> C[m, n]"):
    """Matrix product of quantized operands, from which zero points are subtracted."""

    scalars = staticmethod(shifted_multiply_add)


class QuantizedBatchMatmul(
    NamedOp, name="linalg.quantized_batch_matmul", indices="A[b, m, k] B[b, k, n] AZp BZp -> C[b, m, n]"
):
    """Batched matrix product of quantized operands, from which zero points are subtracted."""

    scalars = staticmethod(shifted_multiply_add)
