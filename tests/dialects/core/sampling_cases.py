"""Operations that sample images or choose boxes, and those whose sizes or limits are data: oracles are onnxruntime and
numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.dialects.core.contraction_cases import CONTRACTION
from tests.dialects.core.drawing import Case, Draw, precision
from tests.dialects.core.single_models import onnx_result

Array = NDArray[Any]
Maker = Callable[[Draw], Case]


def _grid_sample(draw: Draw) -> Case:
    images, channels = draw.integers(2, 1, 3)
    mode, border = draw.among("linear", "nearest", "cubic"), draw.among("constant", "edge", "reflect", "symmetric")
    rank = 2 if mode == "cubic" else draw.integer(2, 3)  # onnxruntime has no other cubic one
    x = draw.array((images, channels, *draw.integers(rank, 1, 5)), draw.among("f32", "f32", "f16"))
    grid = draw.array((images, *draw.integers(rank, 1, 4), rank), "f32", -2, 2)
    aligned = {"reflect": True, "symmetric": False}.get(border, draw.flag())
    if aligned and min(x.shape[2:]) == 1 and border == "reflect":
        border = "edge"  # what onnxruntime mirrors about one centre is not a number
    padding = {"constant": "zeros", "edge": "border"}.get(border, "reflection")
    wide = x.astype(np.float32)
    y = onnx_result("GridSample", [wide, grid], mode=mode, padding_mode=padding, align_corners=int(aligned))
    inputs = {"mode": mode, "border": border, "unit": "centres" if aligned else "edges"}
    return Case((x, grid), inputs, (y.astype(x.dtype),), precision(x, 16))


def _region_align(draw: Draw) -> Case:
    x, boxes, images = _regions(draw)
    sizes, samples, half_pixel = draw.integers(2, 1, 4), draw.integer(0, 3), draw.flag()
    how = "half_pixel" if half_pixel else "output_half_pixel"
    y = onnx_result(
        "RoiAlign", [x, boxes, images], 18, output_height=sizes[0], output_width=sizes[1], sampling_ratio=samples,
        spatial_scale=0.5, coordinate_transformation_mode=how,
    )  # fmt: skip
    inputs = {"sizes": sizes, "samples": samples, "scale": 0.5, "half_pixel": half_pixel}
    return Case((x, boxes, images), inputs, (y,), precision(x, 64))


def _region_max_pool(draw: Draw) -> Case:
    x, boxes, images = _regions(draw)
    inputs = np.concatenate([images[:, None].astype(np.float32), boxes], 1)
    sizes = draw.integers(2, 1, 4)
    y = onnx_result("MaxRoiPool", [x, inputs], 18, pooled_shape=sizes, spatial_scale=0.5)
    return Case((x, inputs), {"sizes": sizes, "scale": 0.5}, (y,))


def _regions(draw: Draw) -> tuple[Array, Array, Array]:
    """Images, regions of them, and the number of the image of each."""
    x, count = draw.array((2, *draw.integers(1, 1, 3), *draw.integers(2, 2, 7)), "f32"), draw.integer(1, 4)
    low = draw.array((count, 2), "f32", -1, 9)
    boxes = np.concatenate([low, low + draw.array((count, 2), "f32", 0.5, 9)], -1)
    return x, boxes, draw.array((count,), "i64", 0, 1)


def _dft(draw: Draw) -> Case:
    inverse, onesided, length = draw.flag(), draw.flag(), draw.integer(2, 8)
    x = draw.array((*draw.integers(2, 2, 6), 2 if inverse else draw.integer(1, 2)), draw.among("f32", "f64"))
    numbers = x[..., 0] + (1j * x[..., 1] if x.shape[-1] == 2 else 0)
    if inverse and onesided:
        y = np.fft.irfft(numbers, length, 0)[..., None]
    else:
        result = (np.fft.ifft if inverse else np.fft.fft)(numbers.astype(np.complex128), length, 0)
        result = result[: length // 2 + 1] if onesided else result
        y = np.stack([result.real, result.imag], -1)
    inputs = {"length": length, "axis": 0, "inverse": inverse, "onesided": onesided}
    return Case((x,), inputs, (y.astype(x.dtype),), precision(x, 64))


def _decode_image(draw: Draw) -> Case:
    """Images in the plainest format there is, Netpbm's with its text as header."""
    height, width = draw.integers(2, 1, 6)
    pixels = draw.array((height, width, 3), "ui8", 0, 255)
    content = np.frombuffer(f"P6 {width} {height} 255\n".encode() + pixels.tobytes(), np.uint8)
    return Case((content,), {"format": "bgr"}, (pixels[..., ::-1],))


def _non_max_suppression(draw: Draw) -> Case:
    images, count, groups = draw.integer(1, 3), draw.integer(1, 8), draw.integer(1, 3)
    low = draw.array((images, count, 2), "f32", 0, 4)
    boxes = np.concatenate([low, low + draw.array((images, count, 2), "f32", 0, 3)], -1)
    scores = draw.array((images, count), "f32")
    threshold = draw.among(0.0, 0.2, 0.5)
    numbers = draw.array((images, count), "i32", 0, groups - 1)
    own = np.where(numbers[:, None] == np.arange(groups)[:, None], scores[:, None], np.float32(-9))
    most = draw.among(None, 1, 2, 5) if groups == 1 else None
    limits = [np.asarray(most or count), np.asarray(threshold, np.float32), np.asarray(-5, np.float32)]
    rows = onnx_result("NonMaxSuppression", [boxes, own, *limits])
    preserved = np.zeros((images, count), np.bool_)
    preserved[rows[:, 0], rows[:, 2]] = True
    inputs = {"iou_threshold": threshold, "group_count": groups, "most": most}
    return Case((boxes, scores, numbers if groups > 1 else None), inputs, (preserved,))


def _dynamic_resize(draw: Draw) -> Case:
    fixed = CONTRACTION["core.resize"](draw)
    sizes = np.asarray(fixed.attributes["sizes"])
    inputs = {k: v for k, v in fixed.attributes.items() if k != "sizes"}
    return Case((*fixed.operands, sizes), inputs, fixed.expected, fixed.tolerance)


def _dynamic_pad(draw: Draw) -> Case:
    x = draw.array(draw.shape(1, 4, least=2), draw.among("f32", "f16", "i32", "i1"))
    before, after = (np.asarray(draw.integers(x.ndim, 0, 1)) for _ in range(2))
    mode = draw.among("constant", "edge", "reflect")
    fill: dict[str, Any] = {"constant_values": x.dtype.type(1)} if mode == "constant" else {}
    y = np.pad(x, np.stack([before, after], 1), mode, **fill)  # pyright: ignore[reportCallIssue, reportArgumentType]  the modes of one family
    return Case((x, before, after), {"mode": mode, "value": 1.0}, (y,))


def _checked_positions(draw: Draw) -> Case:
    limits = np.asarray(draw.integers(draw.integer(1, 3), 1, 5))
    lead = draw.shape(0, 2)
    positions = draw.random.integers(0, limits, (*lead, len(limits))).astype(draw.among(np.int32, np.int64, np.uint8))
    return Case((positions, limits), {}, (positions,))


SAMPLING: dict[str, Maker] = {
    "core.grid_sample": _grid_sample,
    "core.non_max_suppression": _non_max_suppression,
    "core.region_align": _region_align,
    "core.region_max_pool": _region_max_pool,
    "core.dft": _dft,
    "core.decode_image": _decode_image,
    "core.dynamic_resize": _dynamic_resize,
    "core.dynamic_pad": _dynamic_pad,
    "core.checked_positions": _checked_positions,
}
