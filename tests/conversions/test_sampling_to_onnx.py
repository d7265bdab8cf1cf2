"""MIL operations that sample images and choose boxes, through the core to ONNX: equal to the reference engine."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.conversions.running import converted, run_onnx
from tests.dialects.mil.single_operations import Given, Program, definition_of, f16, f32, i32, u32

FLEXIBLE = pytest.mark.parametrize("flexible", [False, True], ids=["fixed", "flexible"])
_RNG = np.random.default_rng(24)
_IMAGES = _RNG.standard_normal((2, 3, 5, 4)).astype(np.float32)
_PLACES = (_RNG.standard_normal((2, 6, 7, 2)) * 2).astype(np.float32)
_BOXES = f32([[0.1, 0.3, 1.3, 1.0], [0.5, 1.8, 1.0, 0.3], [0.0, 0.4, 0.6, 0.7]])


def agree(name: str, version: str, inputs: Mapping[str, Given], opset: int = 18, **how: Any) -> None:
    """The converted program gives what the reference engine gives."""
    definition = definition_of(name, version)
    expected = Program(definition, inputs, **how).results("reference")
    program = Program(definition, inputs, **how)
    result = run_onnx(converted(program.lowered(), opset), program.inputs)
    half = any(v.dtype == np.float16 for v in expected)
    for mine, theirs in zip(expected, result, strict=True):
        np.testing.assert_allclose(theirs, mine, rtol=4e-3 if half else 2e-4, atol=4e-3 if half else 2e-5)


@pytest.mark.fast_every(4)
@FLEXIBLE
@pytest.mark.parametrize("opset", [18, 20])
@pytest.mark.parametrize(
    ("mode", "padding", "unit", "align"),
    [*itertools.product(
        ("bilinear", "nearest"), ("constant", "border", "reflection", "symmetric"),
        ("unnormalized", "normalized_minus_one_to_one", "normalized_zero_to_one"), (False, True),
    )],
)  # fmt: skip
def test_resample_is_grid_sample(mode: str, padding: str, unit: str, align: bool, opset: int, flexible: bool) -> None:
    inputs: dict[str, Given] = {
        "x": _IMAGES, "coordinates": _PLACES, "sampling_mode": mode, "padding_mode": padding, "padding_value": 6.0,
        "coordinates_mode": unit, "align_corners": align,
    }  # fmt: skip
    agree("resample", "CoreML5", inputs, flexible=flexible, opset=opset)


@FLEXIBLE
def test_affine_is_grid_sample(flexible: bool) -> None:
    inputs: dict[str, Given] = {
        "x": _IMAGES, "transform_matrix": _RNG.standard_normal((2, 6)).astype(np.float32), "output_height": 4,
        "output_width": 6, "sampling_mode": "bilinear", "padding_mode": "constant", "padding_value": 0.0,
        "coordinates_mode": "normalized_minus_one_to_one", "align_corners": True,
    }  # fmt: skip
    agree("affine", "CoreML5", inputs, flexible=flexible)


@pytest.mark.fast_every(3)
@FLEXIBLE
@pytest.mark.parametrize("mode", ["DEFAULT", "ALIGN_CORNERS", "OFFSET_CORNERS", "UNALIGN_CORNERS"])
def test_crop_resize_is_grid_sample(mode: str, flexible: bool) -> None:
    how: dict[str, Given] = {
        "target_width": 3, "target_height": 2, "normalized_coordinates": True, "sampling_mode": mode,
    }  # fmt: skip
    inputs = {**how, "x": _IMAGES, "boxes": _BOXES, "box_indices": i32([0, 1, 1]), "pad_value": 7.0}
    agree("crop_resize", "CoreML7", inputs, flexible=flexible)
    inputs = {**how, "x": _IMAGES, "roi": _BOXES.reshape(3, 1, 4, 1, 1)}
    agree("crop_resize", "CoreML5", inputs)
    inputs = {**how, "x": f16(_IMAGES), "boxes": _BOXES, "box_indices": i32([0, 1, 1]), "pad_value": f16(7)}
    agree("crop_resize", "CoreML7", inputs)


@FLEXIBLE
@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("least", [-0.5, 9.0])
def test_suppression_is_non_max_suppression(per_class: bool, least: float, flexible: bool) -> None:
    boxes = np.abs(_RNG.standard_normal((2, 12, 4))).astype(np.float32)
    scores = _RNG.standard_normal((2, 12, 3)).astype(np.float32)
    inputs: dict[str, Given] = {
        "boxes": boxes, "scores": scores, "iou_threshold": 0.2, "score_threshold": least, "max_boxes": 15,
        "per_class_suppression": per_class,
    }  # fmt: skip
    agree("non_maximum_suppression", "CoreML5", inputs, flexible=flexible)
    inputs = {"boxes": boxes.mT, "scores": scores.mT, "iou_threshold": 0.2, "max_boxes": 5}
    agree("non_maximum_suppression", "CoreML7", {**inputs, "per_class_suppression": per_class}, flexible=flexible)


@pytest.mark.fast_every(4)
@pytest.mark.parametrize(
    "mode", ["STRICT_ALIGN_CORNERS", "ALIGN_CORNERS", "DEFAULT", "OFFSET_CORNERS", "UNALIGN_CORNERS"]
)
@pytest.mark.parametrize("kind", ["LINEAR", "NEAREST_NEIGHBOR"])
@pytest.mark.parametrize("sizes", [(1, 6), (7, 1), (0, 9)])
@pytest.mark.parametrize("how", ["fixed", "flexible", "computed"])
def test_resize_is_resize_or_weights(mode: str, kind: str, sizes: tuple[int, int], how: str) -> None:
    inputs: dict[str, Given] = {
        "x": _IMAGES, "shape": i32(sizes), "resized_dims": u32(2), "interpolation_mode": kind, "sampling_mode": mode,
    }  # fmt: skip
    agree("resize", "CoreML7", inputs, flexible=how == "flexible", computed=("shape",) if how == "computed" else ())


@pytest.mark.fast_every(3)
@pytest.mark.slow_cases("6-LINEAR")
@pytest.mark.parametrize("kind", ["LINEAR", "NEAREST_NEIGHBOR"])
@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5, 6])
def test_any_number_of_axes_is_resized(rank: int, kind: str) -> None:
    x = _RNG.standard_normal((2, 3, 2, 3, 4, 2)[:rank]).astype(np.float32)
    for count in range(1, rank + 1):
        inputs: dict[str, Given] = {
            "x": x, "shape": i32((5, 4, 3, 2, 3, 1)[:count]), "resized_dims": u32(count), "interpolation_mode": kind,
            "sampling_mode": "UNALIGN_CORNERS",
        }  # fmt: skip
        agree("resize", "CoreML7", inputs)
