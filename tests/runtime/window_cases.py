"""Random uses of core operations that slide windows, resample or choose boxes; see `drawing.py`."""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

import numpy as np

from commonir.dialects import core

from tests.runtime.drawing import Array, Case, Draw, Random, chance, collects, flat_pads, floats, onnx_results, sizes

CASES: dict[str, Draw] = {}
case = collects(CASES)


class Windows(NamedTuple):
    """Attributes of a convolution or pooling, and input sizes that fit them."""

    rank: int
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    spatial: tuple[int, ...]


def windows(r: Random, *, dilated: bool = True, most_rank: int = 2) -> Windows:
    rank = int(r.integers(1, most_rank + 1))
    kernel = tuple(int(v) for v in r.integers(1, 4, rank))
    strides = tuple(int(v) for v in r.integers(1, 4, rank))
    dilations = tuple(int(v) for v in r.integers(1, 3, rank)) if dilated else (1,) * rank
    pads = tuple((int(r.integers(0, k)), int(r.integers(0, k))) for k in kernel)
    spatial = tuple((k - 1) * d + int(r.integers(1, 6)) for k, d in zip(kernel, dilations, strict=True))
    return Windows(rank, kernel, strides, dilations, pads, spatial)


@case
def conv(r: Random) -> Case:
    w = windows(r, most_rank=3)
    groups, c, f = (int(v) for v in r.integers(1, 4, 3))
    x = floats(r, int(r.integers(1, 3)), groups * c, *w.spatial)
    weight, bias = floats(r, groups * f, c, *w.kernel), floats(r, groups * f)
    arrays = {"x": x, "weight": weight, "bias": bias}
    build = lambda u, v, b: core.conv(u, v, b, w.strides, w.dilations, w.pads, groups)  # noqa: E731
    expected = lambda: onnx_results(  # noqa: E731
        "Conv", [x, weight, bias], strides=w.strides, dilations=w.dilations, pads=flat_pads(w.pads), group=groups
    )
    return Case(build, arrays, expected)


@case
def conv_transpose(r: Random) -> Case:
    w = windows(r)
    pads = tuple((min(a, k - 1), min(b, k - 1)) for (a, b), k in zip(w.pads, w.kernel, strict=True))
    groups, c, f = (int(v) for v in r.integers(1, 3, 3))
    x = floats(r, 1, groups * c, *w.spatial)
    weight, bias = floats(r, groups * c, f, *w.kernel), floats(r, groups * f)
    extra = tuple(int(r.integers(0, s)) for s in w.strides)
    build = lambda u, v, b: core.conv_transpose(u, v, b, w.strides, w.dilations, pads, extra, groups)  # noqa: E731
    expected = lambda: onnx_results(  # noqa: E731
        "ConvTranspose",
        [x, weight, bias],
        strides=w.strides,
        dilations=w.dilations,
        pads=flat_pads(pads),
        output_padding=extra,
        group=groups,
    )
    return Case(build, {"x": x, "weight": weight, "bias": bias}, expected)


@case
def max_pool(r: Random) -> Case:
    w, ceil_mode = windows(r), chance(r)
    x = floats(r, 2, 3, *w.spatial)
    build = lambda v: core.max_pool(v, w.kernel, w.strides, w.dilations, w.pads, ceil_mode)  # noqa: E731
    expected = lambda: onnx_results(  # noqa: E731
        "MaxPool",
        [x],
        kernel_shape=w.kernel,
        strides=w.strides,
        dilations=w.dilations,
        pads=flat_pads(w.pads),
        ceil_mode=int(ceil_mode),
    )
    return Case(build, {"x": x}, expected)


@case
def max_pool_with_positions(r: Random) -> Case:
    w, ceil_mode = windows(r), chance(r)
    x = floats(r, 1, 1, *w.spatial)
    build = lambda v: core.max_pool_with_positions(v, w.kernel, w.strides, w.dilations, w.pads, ceil_mode)  # noqa: E731
    expected = lambda: onnx_results(  # noqa: E731
        "MaxPool",
        [x],
        2,
        kernel_shape=w.kernel,
        strides=w.strides,
        dilations=w.dilations,
        pads=flat_pads(w.pads),
        ceil_mode=int(ceil_mode),
    )
    return Case(build, {"x": x}, expected)


@case
def average_pool(r: Random) -> Case:
    w, ceil_mode, counted = windows(r), chance(r), chance(r)
    ceil_mode = ceil_mode and not counted  # engines disagree on both together
    x = floats(r, 2, 3, *w.spatial)
    build = lambda v: core.average_pool(v, w.kernel, w.strides, w.dilations, w.pads, ceil_mode, counted)  # noqa: E731
    expected = lambda: onnx_results(  # noqa: E731
        "AveragePool",
        [x],
        kernel_shape=w.kernel,
        strides=w.strides,
        dilations=w.dilations,
        pads=flat_pads(w.pads),
        ceil_mode=int(ceil_mode),
        count_include_pad=int(counted),
    )
    return Case(build, {"x": x}, expected)


@case
def sum_pool(r: Random) -> Case:
    w = windows(r)
    x = floats(r, 2, 3, *w.spatial)
    ones = np.zeros((3, 1, *w.kernel), np.float32) + 1
    build = lambda v: core.sum_pool(v, w.kernel, w.strides, w.dilations, w.pads)  # noqa: E731
    expected = lambda: onnx_results(  # noqa: E731
        "Conv", [x, ones], strides=w.strides, dilations=w.dilations, pads=flat_pads(w.pads), group=3
    )
    return Case(build, {"x": x}, expected)


@case
def resize(r: Random) -> Case:
    x = floats(r, 1, 2, *(int(n) for n in r.integers(2, 6, 2)))
    target = tuple(int(n) for n in r.integers(2, 9, 2))
    mode = list(core.ResizeMode)[int(r.integers(0, 2))]
    shared = (core.Coordinates.HALF_PIXEL, core.Coordinates.ASYMMETRIC, core.Coordinates.ALIGN_CORNERS)
    where = shared[int(r.integers(0, 3))]
    expected = lambda: onnx_results(  # noqa: E731
        "Resize",
        [x, None, None, np.array([1, 2, *target])],
        mode=mode.value,
        coordinate_transformation_mode=where.value,
        nearest_mode="round_prefer_floor",
    )
    return Case(lambda v: core.resize(v, target, mode, where), {"x": x}, expected)


@case
def dynamic_resize(r: Random) -> Case:
    drawn = resize(r)
    x = drawn.arrays["x"]
    target = r.integers(2, 9, 2)
    mode = list(core.ResizeMode)[int(r.integers(0, 2))]
    where = (core.Coordinates.HALF_PIXEL, core.Coordinates.ASYMMETRIC, core.Coordinates.ALIGN_CORNERS)[
        int(r.integers(0, 3))
    ]
    expected = lambda: onnx_results(  # noqa: E731
        "Resize", [x, None, None, np.array([1, 2, *target])], mode=mode.value,
        coordinate_transformation_mode=where.value, nearest_mode="round_prefer_floor",
    )  # fmt: skip
    return Case(lambda v, s: core.dynamic_resize(v, s, mode, where), {"x": x, "sizes": target}, expected)


@case
def checked_positions(r: Random) -> Case:
    positions = r.integers(0, [3, 5], (*sizes(r, 0, 2), 2))
    arrays = {"positions": positions, "limits": np.array([3, 5])}
    return Case(core.checked_positions, arrays, lambda: positions)


@case
def grid_sample(r: Random) -> Case:
    mode, border = list(core.ResizeMode)[int(r.integers(0, 3))], list(core.Border)[int(r.integers(0, 4))]
    rank = 2 if mode is core.ResizeMode.CUBIC else int(r.integers(2, 4))  # onnxruntime has no other cubic one
    x = floats(r, 2, 3, *(int(n) for n in r.integers(2, 6, rank)))
    grid = floats(r, 2, *(3, 4, 2)[-rank:], rank) * np.float32(1.5)
    aligned = {core.Border.REFLECT: True, core.Border.SYMMETRIC: False}.get(border, chance(r))
    unit = core.Unit.CENTRES if aligned else core.Unit.EDGES
    paddings = {core.Border.CONSTANT: "zeros", core.Border.EDGE: "border"}
    expected = lambda: onnx_results(  # noqa: E731
        "GridSample", [x, grid], mode=mode.value, padding_mode=paddings.get(border, "reflection"),
        align_corners=int(aligned),
    )  # fmt: skip
    return Case(lambda v, g: core.grid_sample(v, g, mode, border, unit), {"x": x, "grid": grid}, expected)


@case
def non_max_suppression(r: Random) -> Case:
    low, scores = floats(r, 2, 7, 2), floats(r, 2, 7)
    boxes = np.concatenate([low, low + np.abs(floats(r, 2, 7, 2)) * np.float32(2)], -1)

    def expected() -> Array:
        rows = onnx_results("NonMaxSuppression", [boxes, scores[:, None], np.array(7), np.array(0.3, np.float32)])[0]
        preserved = np.zeros((2, 7), bool)
        preserved[rows[:, 0], rows[:, 2]] = True
        return preserved

    return Case(lambda b, s: core.non_max_suppression(b, s, 0.3), {"boxes": boxes, "scores": scores}, expected)


@case
def region_align(r: Random) -> Case:
    x, low = floats(r, 2, 3, *(int(n) for n in r.integers(3, 8, 2))), r.uniform(-2, 9, (4, 2))
    boxes = np.concatenate([low, low + r.uniform(0.5, 9, (4, 2))], -1).astype(np.float32)
    images, sizes_, samples = r.integers(0, 2, 4), tuple(int(n) for n in r.integers(1, 4, 2)), int(r.integers(1, 3))
    half_pixel = chance(r)
    expected = lambda: onnx_results(  # noqa: E731
        "RoiAlign", [x, boxes, images], output_height=sizes_[0], output_width=sizes_[1], sampling_ratio=samples,
        spatial_scale=0.5, coordinate_transformation_mode="half_pixel" if half_pixel else "output_half_pixel",
    )  # fmt: skip
    mode = core.RegionMode.MEAN
    build = lambda v, b, i: core.region_align(v, b, i, sizes_, samples, 0.5, mode, half_pixel)  # noqa: E731
    return Case(build, {"x": x, "boxes": boxes, "images": images}, expected)


@case
def region_max_pool(r: Random) -> Case:
    x, low = floats(r, 2, 3, *(int(n) for n in r.integers(3, 8, 2))), r.integers(0, 9, (4, 2))
    boxes = np.concatenate([r.integers(0, 2, (4, 1)), low, low + r.integers(0, 9, (4, 2))], -1).astype(np.float32)
    sizes_ = tuple(int(n) for n in r.integers(1, 4, 2))
    expected = lambda: onnx_results("MaxRoiPool", [x, boxes], pooled_shape=sizes_, spatial_scale=0.5)  # noqa: E731
    build = lambda v, b: core.region_max_pool(v, b, sizes_, 0.5)  # noqa: E731
    return Case(build, {"x": x, "boxes": boxes}, expected)


@case
def dft(r: Random) -> Case:
    length, size = (int(n) for n in r.integers(2, 8, 2))
    inverse, onesided = chance(r), chance(r)
    x = floats(r, 2, size, 3, 2 if inverse else int(r.integers(1, 3)))
    numbers = x[..., 0] + (1j * x[..., 1] if x.shape[-1] == 2 else 0)

    def expected() -> Array:
        if inverse and onesided:
            return np.fft.irfft(numbers, length, 1)[..., None]
        result = (np.fft.ifft if inverse else np.fft.fft)(numbers, length, 1)
        result = result[:, : length // 2 + 1] if onesided else result
        return np.stack([result.real, result.imag], -1)

    return Case(lambda v: core.dft(v, length, 1, inverse, onesided), {"x": x}, expected)


@case
def decode_image(r: Random) -> Case:
    """A PNG file of uncompressed rows, written here."""
    pixels = r.integers(0, 256, (*(int(n) for n in r.integers(1, 6, 2)), 3)).astype(np.uint8)

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    content = np.frombuffer(b"\x89PNG\r\n\x1a\n" + b"".join(parts), np.uint8)
    return Case(lambda v: core.decode_image(v, core.PixelFormat.BGR), {"x": content}, lambda: pixels[..., ::-1])
