"""Rules for Fourier transforms, regions of images, and images as stored in files."""

from __future__ import annotations

from typing import Any

from commonir.conversions.core_to_core.fourier import dft_by_matrix
from commonir.conversions.core_to_core.image_regions import region_means
from commonir.conversions.core_to_onnx.building import cast, constant, opset_of, vector
from commonir.conversions.operands import axes_from_start, dims_of, element_of, rank_of
from commonir.dialects import core, onnx
from commonir.ir.operation import Value
from commonir.ir.types import bf16, f32, i64
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import Dim, floor_div

# From these versions on: transforms, an axis as operand, regions moved by half an element, halves of the other kind,
# images in files.
_TRANSFORMS, _AXIS_AS_OPERAND, _HALF_PIXEL, _WIDER, _IMAGES = 17, 20, 16, 22, 20


@rule(core.Dft)
def dft(op: core.Dft, context: Context, x: Value) -> Result:
    if opset_of(context) < _TRANSFORMS:
        return dft_by_matrix(op, x)
    (axis,) = axes_from_start((op.axis,), rank_of(x))
    *_, kinds = dims = dims_of(x)
    half = floor_div(op.length, 2) + 1
    if op.onesided and not op.inverse and kinds != 1:
        # Runtimes give half of the frequencies for real numbers only.
        whole = core.dft(x, op.length, axis)
        return _cut(whole, axis, half)
    if op.onesided and op.inverse and dims[axis] != half:
        # Runtimes take as many frequencies as there are.
        missing = half - dims[axis]
        if not isinstance(missing, int):
            return Mismatch("how many frequencies are missing is not known")
        after = tuple([max(missing, 0) if a == axis else 0 for a in range(len(dims))])
        padded = core.pad(x, (0,) * len(dims), after) if missing > 0 else _cut(x, axis, half)
        return core.dft(padded, op.length, axis, True, True)
    # Runtimes transform single and double precision only.
    wide = cast(x, f32) if element_of(x).bits < f32.bits else x
    length = onnx.Squeeze(vector(context, (op.length,))).squeezed
    if opset_of(context) < _AXIS_AS_OPERAND:
        position: Any = axis
        y = onnx.DFT.at("opset17")(wide, length, position, inverse=op.inverse, onesided=op.onesided).output
    else:
        along = constant(context, i64, (), (axis,))
        y = onnx.DFT(wide, length, along, inverse=op.inverse, onesided=op.onesided).output
    return cast(y, element_of(x))


def _cut(x: Value, axis: int, dim: Dim) -> Value:
    """The first elements along an axis."""
    dims = dims_of(x)
    stops = tuple([dim if a == axis else n for a, n in enumerate(dims)])
    return core.slice(x, (0,) * len(dims), stops, (1,) * len(dims))


@rule(core.RegionAlign)
def region_align(op: core.RegionAlign, context: Context, x: Value, boxes: Value, images: Value) -> Result:
    if op.half_pixel and opset_of(context) < _HALF_PIXEL:
        # onnx.RoiAlign moves regions by half an element from opset 16 on.
        return region_means(op, x, boxes, images)
    element = element_of(x)
    wide = f32 if element is bf16 and opset_of(context) < _WIDER else element
    mode = "avg" if op.mode is core.RegionMode.MEAN else "max"
    positions_, at = (cast(x, wide), cast(boxes, wide)), cast(images, i64)
    height, width = op.sizes
    if not op.half_pixel and opset_of(context) < _HALF_PIXEL:
        return onnx.RoiAlign10(*positions_, at, mode, height, width, op.samples, op.scale).Y
    how = "half_pixel" if op.half_pixel else "output_half_pixel"
    return cast(onnx.RoiAlign(*positions_, at, mode, height, width, op.samples, op.scale, how).Y, element)


@rule(core.RegionMaxPool)
def region_max_pool(op: core.RegionMaxPool, context: Context, x: Value, boxes: Value) -> Value:
    element = element_of(x)
    wide = f32 if element is bf16 and opset_of(context) < _WIDER else element
    new_op = onnx.MaxRoiPool(cast(x, wide), cast(boxes, wide), pooled_shape=op.sizes, spatial_scale=op.scale)
    return cast(new_op.Y, element)


@rule(core.DecodeImage)
def decode_image(op: core.DecodeImage, context: Context, content: Value) -> Result:
    if opset_of(context) < _IMAGES:
        return Mismatch("onnx.ImageDecoder came with opset 20")
    names = {core.PixelFormat.GRAYSCALE: "Grayscale"}
    return onnx.ImageDecoder(content, names.get(op.format, op.format.name)).image
