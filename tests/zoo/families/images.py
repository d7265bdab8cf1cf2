"""Resizing, cropping and sampling of images, and the choice among overlapping boxes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from tests.zoo.families.elementwise import as_torch
from tests.zoo.families.sheet import Sheet, mb
from tests.zoo.network import Target

Real = NDArray[np.float64]
Grid = Callable[[int, int], Real]

# Where the samples of an axis of X elements lie for N results, before clamping.
GRIDS: dict[str, Grid] = {
    "STRICT_ALIGN_CORNERS": lambda x, n: np.arange(n) * (x - 1) / (n - 1),
    "ALIGN_CORNERS": lambda x, n: np.arange(n) * (x - 1) / (n - 1),
    "DEFAULT": lambda x, n: np.arange(n) * x / n,
    "OFFSET_CORNERS": lambda x, n: (np.arange(n) + 0.5) * max(1, x - 1) / n,
    "UNALIGN_CORNERS": lambda x, n: (np.arange(n) + 0.5) * x / n - 0.5,
}


def interpolated(a: Real, axis: int, positions: Real) -> Real:
    """Return samples between elements along an axis, positions clamped to it."""
    size = a.shape[axis]
    clamped = np.clip(positions, 0, size - 1)
    low = np.floor(clamped).astype(int)
    high = np.minimum(low + 1, size - 1)
    share = (clamped - low).reshape([-1 if n == axis else 1 for n in range(a.ndim)])
    return np.take(a, low, axis) * (1 - share) + np.take(a, high, axis) * share


def resized(a: Real, height: int, width: int, mode: str) -> Real:
    """Return an image resized by interpolation."""
    rows, columns = GRIDS[mode](a.shape[2], height), GRIDS[mode](a.shape[3], width)
    return interpolated(interpolated(a, 2, rows), 3, columns)


def resizing(sheet: Sheet) -> None:
    """Images resized in every mode."""
    x, a = sheet.input("x")
    t = as_torch(a)
    for mode in GRIDS:
        new_op = mb.resize_bilinear(x=x, target_size_height=7, target_size_width=6, sampling_mode=mode)
        sheet.out(f"resize_{mode.lower()}", new_op, resized(a, 7, 6, mode))
    new_op = mb.resize_nearest_neighbor(x=x, target_size_height=6, target_size_width=10)
    sheet.out("resize_nearest", new_op, functional.interpolate(t, (6, 10), mode="nearest"))
    new_op = mb.upsample_nearest_neighbor(x=x, scale_factor_height=2, scale_factor_width=3)
    sheet.out("upsample_nearest", new_op, functional.interpolate(t, scale_factor=(2, 3), mode="nearest"))
    for corners in (True, False):
        new_op = mb.upsample_bilinear(x=x, scale_factor_height=2, scale_factor_width=3, align_corners=corners)
        expected = functional.interpolate(t, scale_factor=(2, 3), mode="bilinear", align_corners=corners)
        sheet.out(f"upsample_{'aligned' if corners else 'unaligned'}", new_op, expected)
    if sheet.has_mixed_types:
        new_op = mb.resize(
            x=x, shape=[6, 0], resized_dims=np.uint32(2), interpolation_mode="LINEAR", sampling_mode="UNALIGN_CORNERS"
        )
        sheet.out("resize_linear", new_op, interpolated(a, 2, GRIDS["UNALIGN_CORNERS"](a.shape[2], 6)))


def crops(sheet: Sheet) -> None:
    """Boxes cropped out of images and resized."""
    x, a = sheet.input("x")
    corners = [[0.0, 1.0, 2.0, 3.0], [1.0, 0.0, 3.0, 4.0]]
    if sheet.target is Target.IOS15:
        boxes = np.reshape(corners, (2, 1, 4, 1, 1)).astype(sheet.float)
        new_op = mb.crop_resize(x=x, roi=boxes, target_height=3, target_width=3, sampling_mode="ALIGN_CORNERS")
        expected = [[box(a[0], *corner)] for corner in corners]
    else:
        boxes = np.asarray(corners, sheet.float)
        images = np.zeros(2, np.int32)
        new_op = mb.crop_resize(
            x=x, boxes=boxes, box_indices=images, target_height=3, target_width=3, sampling_mode="ALIGN_CORNERS"
        )
        expected = [box(a[0], *corner) for corner in corners]
    sheet.out("crop_resize", new_op, np.asarray(expected))


def box(image: Real, top: float, left: float, bottom: float, right: float) -> Real:
    """Return 3 x 3 samples from corner to corner of a box inside an image."""
    rows = interpolated(image, 1, np.linspace(top, bottom, 3))
    return interpolated(rows, 2, np.linspace(left, right, 3))


def torch_sampled(t: torch.Tensor, grid: object, mode: str, padding: str, *, aligned: bool) -> torch.Tensor:
    """Return what torch samples at the positions of a grid."""
    return functional.grid_sample(t, torch.as_tensor(grid), mode=mode, padding_mode=padding, align_corners=aligned)


def sampling(sheet: Sheet) -> None:
    """Images sampled at positions that are data."""
    x, a = sheet.input("x")
    grid, g = sheet.input("grid")
    t = as_torch(a)
    options = {"x": x, "coordinates": grid, "padding_value": sheet.number(0.0)}
    for mode, padding, name, aligned in (
        ("bilinear", "constant", "zeros", True),
        ("bilinear", "constant", "zeros", False),
        ("bilinear", "border", "border", True),
        ("bilinear", "reflection", "reflection", True),
        ("bilinear", "symmetric", "reflection", False),
        ("nearest", "border", "border", True),
    ):
        new_op = mb.resample(
            sampling_mode=mode,
            padding_mode=padding,
            coordinates_mode="normalized_minus_one_to_one",
            align_corners=aligned,
            **options,
        )
        expected = torch_sampled(t, g, mode, name, aligned=aligned)
        sheet.out(f"resample_{mode}_{padding}_{'aligned' if aligned else 'unaligned'}", new_op, expected)
    theta, m = sheet.input("matrix")
    new_op = mb.affine(
        x=x,
        transform_matrix=theta,
        output_height=4,
        output_width=3,
        sampling_mode="bilinear",
        padding_mode="constant",
        padding_value=sheet.number(0.0),
        coordinates_mode="normalized_minus_one_to_one",
        align_corners=True,
    )
    places = functional.affine_grid(torch.from_numpy(m.reshape(-1, 2, 3)), [1, a.shape[1], 4, 3], align_corners=True)
    sheet.out("affine", new_op, torch_sampled(t, places, "bilinear", "zeros", aligned=True))


def chosen_boxes(boxes: Real, scores: Real, overlap: float, least: float, most: int) -> list[int]:
    """Return the boxes that are kept, best first: those that overlap no better one that is kept."""
    best = scores.max(1)
    preserved: list[int] = []
    for n in np.argsort(-best, kind="stable"):
        if (
            best[n] >= least
            and len(preserved) < most
            and all(intersection_over_union(boxes[n], boxes[m]) <= overlap for m in preserved)
        ):
            preserved.append(int(n))
    return preserved


def intersection_over_union(a: Real, b: Real) -> float:
    """Return the overlap of two boxes (centre x, centre y, width, height)."""
    low = np.maximum(a[:2] - a[2:] / 2, b[:2] - b[2:] / 2)
    high = np.minimum(a[:2] + a[2:] / 2, b[:2] + b[2:] / 2)
    common = float(np.prod(np.maximum(high - low, 0)))
    return common / (float(a[2] * a[3]) + float(b[2] * b[3]) - common)


def detector(sheet: Sheet) -> None:
    """A detector's head: boxes relative to anchors, sigmoid scores, and the choice among boxes that overlap."""
    offsets, a = sheet.input("offsets")
    logits, b = sheet.input("logits")
    anchors = np.array([[0.25, 0.25, 0.4, 0.4], [0.3, 0.25, 0.4, 0.4], [0.7, 0.7, 0.3, 0.3], [0.7, 0.3, 0.2, 0.3]])
    boxes = mb.add(x=mb.mul(x=offsets, y=sheet.number(0.125)), y=anchors.astype(sheet.float))
    scores = mb.sigmoid(x=logits)
    boxes_expected, scores_expected = 0.125 * a[0] + anchors, 1 / (1 + np.exp(-b[0]))
    most, overlap, least = 3, 0.5, 0.3
    limits = {"iou_threshold": sheet.number(overlap), "max_boxes": most}
    if sheet.has_mixed_types:
        columns = {"boxes": mb.transpose(x=boxes, perm=[0, 2, 1]), "scores": mb.transpose(x=scores, perm=[0, 2, 1])}
        new_op = mb.non_maximum_suppression(**columns, **limits)
        least = 0.0
    else:
        new_op = mb.non_maximum_suppression(boxes=boxes, scores=scores, score_threshold=sheet.number(least), **limits)
    preserved = chosen_boxes(boxes_expected, scores_expected, overlap, least, most)
    order = (0, 2, 1) if sheet.has_mixed_types else (0, 1, 2)
    results: list[Real] = []
    for array in (boxes_expected, scores_expected):
        filled = np.zeros((1, most, array.shape[1]))
        filled[0, : len(preserved)] = array[preserved]
        results.append(filled.transpose(order))
    indices = np.full((1, most), -1)
    indices[0, : len(preserved)] = preserved
    names = ("boxes", "scores", "indices", "count")[: len(new_op)]
    for name, var, expected in zip(names, new_op, (*results, indices, [len(preserved)]), strict=False):
        sheet.out(name, var, expected)


def positions(count: int) -> torch.Tensor:
    """Return a grid [1, count, count, 2] of positions, some outside the image."""
    line = torch.linspace(-1.2, 1.3, count)
    return torch.stack(torch.meshgrid(line, line * 0.9, indexing="xy"), -1)[None]
