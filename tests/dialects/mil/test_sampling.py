"""Images read at computed positions, parts cut out of them, and the choice among boxes.

Expected values are those of coremltools' tests of these operations, of torch, or written out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.diagnostics import DiagnosticError

from tests.dialects.mil.single_operations import Given, Program, definition_of, f16, f32, i32, u16, u32
from tests.oracles import oracle

Array = NDArray[Any]

ENGINES = pytest.mark.parametrize("engine", ["reference", "numpy"])
FLEXIBLE = pytest.mark.parametrize("flexible", [False, True], ids=["fixed", "flexible"])
_RNG = np.random.default_rng(23)


def run(name: str, version: str, engine: str, inputs: Mapping[str, Given], **how: Any) -> list[Array]:
    return Program(definition_of(name, version), inputs, **how).results(engine)


def run_one(name: str, version: str, engine: str, inputs: Mapping[str, Given], **how: Any) -> Array:
    (result,) = run(name, version, engine, inputs, **how)
    return result


# -- resample

_SQUARE = f32([11, 22, 33, 44]).reshape(1, 1, 2, 2)
_PLACES = f32([-1, -2, -3.7, -1, 0, 0, 3.5, 1.2]).reshape(1, 2, 2, 2)


class How(NamedTuple):
    """The parameters of a resampling."""

    sampling_mode: str
    padding_mode: str
    padding_value: float
    coordinates_mode: str
    align_corners: bool

    def of(self, x: Array, places: Array) -> dict[str, Given]:
        """The operands and parameters."""
        value = x.dtype.type(self.padding_value)
        return {"x": x, "coordinates": places, **self._asdict(), "padding_value": value}


_PUBLISHED = {
    "constant": (How("bilinear", "constant", 6.17, "normalized_minus_one_to_one", True), [8.585, 6.17, 27.5, 6.17]),
    "border": (How("nearest", "border", -1.0, "unnormalized", False), [11, 11, 11, 44]),
    "reflection": (How("bilinear", "reflection", -1.0, "normalized_zero_to_one", True), [22, 36.3, 11, 34.1]),
    "symmetric": (How("nearest", "symmetric", -1.0, "normalized_zero_to_one", False), [22, 33, 11, 33]),
}


@pytest.mark.fast_every(3)
@ENGINES
@FLEXIBLE
@pytest.mark.parametrize("name", _PUBLISHED)
@pytest.mark.parametrize("version", ["CoreML5", "CoreML6", "CoreML7"])
def test_resample_gives_the_published_values(name: str, version: str, flexible: bool, engine: str) -> None:
    how, expected = _PUBLISHED[name]
    result = run_one("resample", version, engine, how.of(_SQUARE, _PLACES), flexible=flexible)
    np.testing.assert_allclose(result.reshape(-1), expected, rtol=1e-5)


@ENGINES
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.float16])
def test_resample_takes_short_coordinates(dtype: type, engine: str) -> None:
    places = np.array([0, 0, 1, 1, 0, 0, 1, 1], dtype).reshape(1, 2, 2, 2)
    for name, expected in (("constant", [27.5, 44, 27.5, 44]), ("symmetric", [11, 44, 11, 44])):
        result = run_one("resample", "CoreML7", engine, _PUBLISHED[name][0].of(_SQUARE, places))
        np.testing.assert_allclose(result.reshape(-1), expected, rtol=1e-6)


@ENGINES
@FLEXIBLE
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize(
    ("padding", "torchs", "align"),
    [
        ("constant", "zeros", True), ("constant", "zeros", False), ("border", "border", True),
        ("border", "border", False), ("reflection", "reflection", True), ("symmetric", "reflection", False),
    ],
)  # fmt: skip
def test_resample_is_that_of_torch(
    padding: str, torchs: str, align: bool, mode: str, flexible: bool, engine: str
) -> None:
    torch = oracle("torch")
    x = _RNG.standard_normal((2, 3, 5, 4)).astype(np.float32)
    places = (_RNG.standard_normal((2, 6, 7, 2)) * 1.5).astype(np.float32)
    sample = torch.nn.functional.grid_sample
    expected = sample(torch.tensor(x), torch.tensor(places), mode=mode, padding_mode=torchs, align_corners=align)
    how = How(mode, padding, 0.0, "normalized_minus_one_to_one", align)
    result = run_one("resample", "CoreML5", engine, how.of(x, places), flexible=flexible)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    shifted = (places + np.float32(1)) / np.float32(2)
    how = How(mode, padding, 0.0, "normalized_zero_to_one", align)
    result = run_one("resample", "CoreML5", engine, how.of(x, shifted), flexible=flexible)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@ENGINES
def test_padding_modes_continue_an_image_as_documented(engine: str) -> None:
    # |1, 2, 3| continued by three elements at both sides.
    x, at = f32([[[[1, 2, 3]]]]), np.arange(-3, 6)
    places = f32(np.stack([at, np.zeros_like(at)], -1)).reshape(1, 1, 9, 2)
    expected = {
        "constant": [9, 9, 9, 1, 2, 3, 9, 9, 9], "border": [1, 1, 1, 1, 2, 3, 3, 3, 3],
        "reflection": [2, 3, 2, 1, 2, 3, 2, 1, 2], "symmetric": [3, 2, 1, 1, 2, 3, 3, 2, 1],
    }  # fmt: skip
    for mode in ("bilinear", "nearest"):
        for padding, values in expected.items():
            inputs = How(mode, padding, 9.0, "unnormalized", False).of(x, places)
            assert run_one("resample", "CoreML6", engine, inputs).reshape(-1).tolist() == values


@ENGINES
def test_resample_of_halves_computes_positions_in_single_precision(engine: str) -> None:
    x = f16(np.arange(4096)[None, None, None] % 2)
    places = f32([[[[4090.25, 0], [1.25, 0]]]])
    inputs = How("bilinear", "border", 0.0, "unnormalized", True).of(x, places)
    result = run_one("resample", "CoreML6", engine, inputs)
    assert (result.dtype, result.reshape(-1).tolist()) == (np.float16, [0.25, 0.75])


# -- affine


@ENGINES
@FLEXIBLE
@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((3, 3), [10.752501, 2.5025, 0, 1.98, 0, 0, 0, 0, 0]),
        ((2, 5), [10.752501, 5.94, 2.5025, 0.44, 0, 0, 0, 0, 0, 0]),
    ],
)
def test_affine_gives_the_published_values(
    size: tuple[int, int], expected: list[float], flexible: bool, engine: str
) -> None:
    inputs = _transformation(_SQUARE, f32([[-1, -2, -3.7, -1, 3.5, 1.2]]), size)
    result = run_one("affine", "CoreML5", engine, inputs, flexible=flexible)
    np.testing.assert_allclose(result, f32(expected).reshape(1, 1, *size), rtol=1e-5, atol=1e-5)


def _transformation(x: Array, matrix: Array, size: tuple[int, int]) -> dict[str, Given]:
    return {
        "x": x, "transform_matrix": matrix, "output_height": size[0], "output_width": size[1],
        "sampling_mode": "bilinear", "padding_mode": "constant", "padding_value": x.dtype.type(0),
        "coordinates_mode": "normalized_minus_one_to_one", "align_corners": True,
    }  # fmt: skip


@ENGINES
@FLEXIBLE
@pytest.mark.parametrize("matrices", [1, 3])
def test_affine_is_that_of_torch(matrices: int, flexible: bool, engine: str) -> None:
    torch = oracle("torch")
    x = _RNG.standard_normal((3, 2, 5, 4)).astype(np.float32)
    matrix = _RNG.standard_normal((matrices, 6)).astype(np.float32)
    theta = torch.tensor(matrix).reshape(-1, 2, 3).expand(3, 2, 3)
    grid = torch.nn.functional.affine_grid(theta, [3, 2, 4, 6], align_corners=True)
    expected = torch.nn.functional.grid_sample(torch.tensor(x), grid, align_corners=True)
    result = run_one("affine", "CoreML5", engine, _transformation(x, matrix, (4, 6)), flexible=flexible)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_affine_names_what_it_may_be_given_as_a_file_spells_it() -> None:
    inputs = {**_transformation(_SQUARE, f32([[1, 0, 0, 0, 1, 0]]), (2, 2)), "padding_mode": "border"}
    with pytest.raises(DiagnosticError) as caught:
        Program(definition_of("affine", "CoreML5"), inputs)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == "mil.affine: attribute 'padding_mode' must be one of constant, found 'border'"


# -- crop_resize

_NUMBERS = f32(np.arange(1, 17)).reshape(1, 1, 4, 4)
_BOXES = f32([[0.1, 0.3, 1.3, 1.0], [0.5, 1.8, 1.0, 0.3], [0.0, 0.4, 0.6, 0.7]])


@ENGINES
@FLEXIBLE
@pytest.mark.parametrize(
    ("box", "size", "expected"),
    [
        ([1, 1, 2, 2], 2, [6, 7, 10, 11]), ([1, 1, 2, 2], 1, [8.5]), ([2, 2, 1, 1], 2, [11, 10, 7, 6]),
        ([1, 1, 2, 2], 4, [6, 19 / 3, 20 / 3, 7, 22 / 3, 23 / 3, 8, 25 / 3, 26 / 3, 9, 28 / 3, 29 / 3, 10, 31 / 3,
                           32 / 3, 11]),
    ],
)  # fmt: skip
def test_crop_resize_gives_the_published_values(
    box: list[float], size: int, expected: list[float], flexible: bool, engine: str
) -> None:
    inputs: dict[str, Given] = {
        "x": _NUMBERS, "roi": f32(box).reshape(1, 1, 4, 1, 1), "target_width": size, "target_height": size,
        "box_coordinate_mode": "CORNERS_HEIGHT_FIRST", "sampling_mode": "ALIGN_CORNERS",
    }  # fmt: skip
    result = run_one("crop_resize", "CoreML5", engine, inputs, flexible=flexible, closed=("roi",))
    np.testing.assert_allclose(result, f32(expected).reshape(1, 1, 1, size, size), rtol=1e-5)


@ENGINES
def test_crop_resize_takes_normalized_boxes_of_numbered_images(engine: str) -> None:
    inputs: dict[str, Given] = {
        "x": _NUMBERS, "roi": f32([0, 0, 0, 1 / 3, 1 / 3]).reshape(1, 1, 5, 1, 1), "target_width": 2,
        "target_height": 2, "normalized_coordinates": True, "sampling_mode": "ALIGN_CORNERS",
    }  # fmt: skip
    result = run_one("crop_resize", "CoreML5", engine, inputs)
    np.testing.assert_allclose(result, f32([1, 2, 5, 6]).reshape(1, 1, 1, 2, 2), rtol=1e-5)


@ENGINES
def test_crop_resize_mirrors_what_is_outside_before_ios_16(engine: str) -> None:
    inputs: dict[str, Given] = {
        "x": _NUMBERS, "roi": f32([2, 2, 1, 1]).reshape(1, 1, 4, 1, 1), "target_width": 2, "target_height": 2,
        "normalized_coordinates": True, "sampling_mode": "UNALIGN_CORNERS",
    }  # fmt: skip
    result = run_one("crop_resize", "CoreML5", engine, inputs)
    np.testing.assert_allclose(result, f32([3.5, 5.5, 11.5, 13.5]).reshape(1, 1, 1, 2, 2), rtol=1e-5)


@ENGINES
@FLEXIBLE
@pytest.mark.parametrize("value", [0.0, 1.0, 10.0])
def test_crop_resize_pads_samples_outside_from_ios_16(value: float, flexible: bool, engine: str) -> None:
    v = value
    expected = f32([3.1, 5.2, v, v, v, 7.9, v, 13.9, 2.2, 3.1, 9.4, 10.3])
    numbered = np.concatenate([np.zeros((3, 1), np.float32), _BOXES], 1)
    how: dict[str, Given] = {
        "x": _NUMBERS, "target_width": 2, "target_height": 2, "normalized_coordinates": True,
        "sampling_mode": "ALIGN_CORNERS", "pad_value": value,
    }  # fmt: skip
    inputs = {**how, "roi": numbered.reshape(3, 1, 5, 1, 1)}
    result = run_one("crop_resize", "CoreML6", engine, inputs, flexible=flexible, closed=("roi",))
    np.testing.assert_allclose(result, expected.reshape(3, 1, 1, 2, 2), rtol=1e-3)
    inputs = {**how, "boxes": _BOXES, "box_indices": i32([0, 0, 0])}
    result = run_one("crop_resize", "CoreML7", engine, inputs, flexible=flexible, closed=("boxes",))
    np.testing.assert_allclose(result, expected.reshape(3, 1, 2, 2), rtol=1e-3)


@ENGINES
def test_crop_resize_cuts_every_box_out_of_every_image(engine: str) -> None:
    x = np.concatenate([_NUMBERS, _NUMBERS + 100])
    boxes = f32([[1, 1, 2, 2], [0, 0, 3, 3]]).reshape(2, 1, 4, 1, 1)
    inputs: dict[str, Given] = {
        "x": x, "roi": boxes, "target_width": 2, "target_height": 1, "sampling_mode": "STRICT_ALIGN_CORNERS",
    }  # fmt: skip
    result = run_one("crop_resize", "CoreML6", engine, inputs)
    assert result.tolist() == [[[[[6, 7]]], [[[106, 107]]]], [[[[1, 4]]], [[[101, 104]]]]]


@ENGINES
def test_boxes_of_crop_resize_may_be_centres_and_sizes_with_columns_first(engine: str) -> None:
    how: dict[str, Given] = {"x": _NUMBERS, "target_width": 2, "target_height": 2, "sampling_mode": "ALIGN_CORNERS"}
    expected = [[[[5, 7], [9, 11]]]]  # rows 1 to 2, columns 0 to 2
    for mode, box in (
        ("CORNERS_HEIGHT_FIRST", [1, 0, 2, 2]), ("CORNERS_WIDTH_FIRST", [0, 1, 2, 2]),
        ("CENTER_SIZE_HEIGHT_FIRST", [1.5, 1, 1, 2]), ("CENTER_SIZE_WIDTH_FIRST", [1, 1.5, 2, 1]),
    ):  # fmt: skip
        inputs = {**how, "boxes": f32([box]), "box_coordinate_mode": mode}
        assert run_one("crop_resize", "CoreML7", engine, inputs).tolist() == expected
    inputs = {**how, "boxes": u16([[2, 0, 4, 4]]), "spatial_scale": 0.5}
    assert run_one("crop_resize", "CoreML7", engine, inputs).tolist() == expected


@ENGINES
@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        # Three elements 2, 3, 4 in six samples: steps of 2/5, 1/2, 1/3 and 1/2.
        ("STRICT_ALIGN_CORNERS", [2, 2.4, 2.8, 3.2, 3.6, 4]), ("DEFAULT", [2, 2.5, 3, 3.5, 4, 4]),
        ("OFFSET_CORNERS", [2 + 1 / 6, 2.5, 2 + 5 / 6, 3 + 1 / 6, 3.5, 3 + 5 / 6]),
        ("UNALIGN_CORNERS", [2, 2.25, 2.75, 3.25, 3.75, 4]),
    ],
)  # fmt: skip
def test_sampling_modes_of_crop_resize_place_samples_in_a_box(mode: str, expected: list[float], engine: str) -> None:
    inputs: dict[str, Given] = {
        "x": _NUMBERS, "boxes": f32([[0, 1, 0, 3]]), "target_width": 6, "target_height": 1, "sampling_mode": mode,
    }  # fmt: skip
    np.testing.assert_allclose(run_one("crop_resize", "CoreML7", engine, inputs).reshape(-1), expected, rtol=1e-6)


# -- non_maximum_suppression


@ENGINES
@FLEXIBLE
def test_suppression_gives_the_published_values(flexible: bool, engine: str) -> None:
    boxes, scores = f32([[[n] * 4 for n in range(4)]]), f32([[[-3.5], [9.4], [2.3], [0.7]]])
    inputs: dict[str, Given] = {
        "boxes": boxes, "scores": scores, "iou_threshold": 0.2, "score_threshold": 0.4, "max_boxes": 2,
        "per_class_suppression": True,
    }  # fmt: skip
    result = run("non_maximum_suppression", "CoreML5", engine, inputs, flexible=flexible)
    assert [v.tolist() for v in result] == [[boxes[0, 1:3].tolist()], [scores[0, 1:3].tolist()], [[1, 2]], [2]]


def _boxes(*corners: tuple[float, float, float, float]) -> Array:
    """Boxes with centre and sizes, from their corners."""
    return f32([[(x + z) / 2, (y + w) / 2, z - x, w - y] for x, y, z, w in corners])[None]


# The first two overlap by a half, as do the last two; the third touches the first.
_OVERLAPPING = _boxes((0, 0, 2, 1), (0, 0, 1, 1), (2, 0, 3, 1), (5, 5, 6, 6), (5, 5, 6, 7))
# Best classes: 1, 0, 1, 0, 0; greatest scores: 0.9, 0.8, 0.7, 0.5, 0.6.
_SCORES = f32([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7], [0.5, 0.4], [0.6, 0.1]])[None]


@ENGINES
@FLEXIBLE
@pytest.mark.parametrize(
    ("threshold", "least", "most", "per_class", "expected"),
    [
        (0.4, 0.0, 5, False, [0, 2, 4]), (0.4, 0.0, 5, True, [0, 1, 2, 4]), (0.5, 0.0, 5, False, [0, 1, 2, 4, 3]),
        (0.4, 0.65, 5, True, [0, 1, 2]), (0.4, 0.0, 2, False, [0, 2]), (0.4, 0.0, 7, False, [0, 2, 4]),
        (0.4, 0.95, 3, False, [0]),
    ],
)  # fmt: skip
def test_boxes_take_away_what_overlaps(
    threshold: float, least: float, most: int, per_class: bool, expected: list[int], flexible: bool, engine: str
) -> None:
    inputs: dict[str, Given] = {
        "boxes": _OVERLAPPING, "scores": _SCORES, "iou_threshold": threshold, "score_threshold": least,
        "max_boxes": most, "per_class_suppression": per_class,
    }  # fmt: skip
    how = {"flexible": flexible}
    boxes, scores, indices, counts = run("non_maximum_suppression", "CoreML5", engine, inputs, **how)
    rest = most - len(expected)
    assert indices.tolist() == [expected + [-1] * rest]
    assert counts.tolist() == [len(expected)]
    assert boxes.tolist() == [_OVERLAPPING[0, expected].tolist() + [[0] * 4] * rest]
    assert scores.tolist() == [_SCORES[0, expected].tolist() + [[0] * 2] * rest]


@ENGINES
@FLEXIBLE
def test_suppression_of_ios_17_has_boxes_along_the_last_axis(flexible: bool, engine: str) -> None:
    # The scores of the second image are those of the first in the other order.
    boxes = np.concatenate([_OVERLAPPING, _OVERLAPPING[:, ::-1]])
    scores = np.concatenate([_SCORES, _SCORES[:, ::-1]])
    inputs: dict[str, Given] = {
        "boxes": boxes.mT, "scores": scores.mT, "iou_threshold": 0.4, "max_boxes": 4, "per_class_suppression": False,
    }  # fmt: skip
    how = {"flexible": flexible}
    result, best, indices = run("non_maximum_suppression", "CoreML7", engine, inputs, **how)
    assert indices.tolist() == [[0, 2, 4, -1], [4, 2, 0, -1]]
    for values, source in ((result, boxes), (best, scores)):
        for image, order in enumerate(([0, 2, 4], [4, 2, 0])):
            assert values[image].T.tolist() == [*source[image, order].tolist(), [0] * source.shape[2]]


@ENGINES
@pytest.mark.parametrize("per_class", [False, True])
def test_suppression_is_that_of_torchvision_written_out(per_class: bool, engine: str) -> None:
    boxes = (_RNG.random((1, 40, 4)) * 100).astype(np.float32)
    scores = (_RNG.random((1, 40, 4)) * 200 - 100).astype(np.float32)
    inputs: dict[str, Given] = {
        "boxes": boxes, "scores": scores, "iou_threshold": 0.15, "score_threshold": 10.0, "max_boxes": 25,
        "per_class_suppression": per_class,
    }  # fmt: skip
    indices = run("non_maximum_suppression", "CoreML5", engine, inputs)[2][0]
    expected = _greedily(boxes[0], scores[0], 0.15, 10.0, per_class)[:25]
    assert indices[indices >= 0].tolist() == expected


def _greedily(boxes: Array, scores: Array, threshold: float, least: float, per_class: bool) -> list[int]:
    best, group = scores.max(-1), scores.argmax(-1)
    left, preserved = [int(n) for n in np.argsort(-best) if best[n] >= least], list[int]()
    while left:
        first, *left = left
        preserved.append(first)
        left = [
            n for n in left if (per_class and group[n] != group[first]) or _overlap(boxes[first], boxes[n]) <= threshold
        ]
    return preserved


def _overlap(a: Array, b: Array) -> float:
    low = np.maximum(a[:2] - a[2:] / 2, b[:2] - b[2:] / 2)
    high = np.minimum(a[:2] + a[2:] / 2, b[:2] + b[2:] / 2)
    common = float(np.prod(np.maximum(high - low, 0)))
    return common / (float(np.prod(a[2:])) + float(np.prod(b[2:])) - common)


# -- resize


@ENGINES
@pytest.mark.parametrize("how", ["fixed", "flexible", "computed"])
@pytest.mark.parametrize(
    ("x", "shape", "kind", "expected"),
    [
        (f32([-6.174, 9.371]).reshape(1, 1, 1, 2, 1), [1, 1, 3, 2], "NEAREST_NEIGHBOR",
         f32([-6.174, -6.174, 9.371, 9.371, 9.371, 9.371]).reshape(1, 1, 1, 3, 2)),
        (f32([-6.174, 9.371]).reshape(1, 1, 2, 1), [1, 1, 3, 2], "NEAREST_NEIGHBOR",
         f32([-6.174, -6.174, 9.371, 9.371, 9.371, 9.371]).reshape(1, 1, 3, 2)),
        (f32([[[0, 1]]]), [1, 1, 5], "LINEAR", f32([[[0, 0.4, 0.8, 1, 1]]])),
        (f32([[[[0, 1]]]]), [3, 1, 5], "LINEAR", f32([[[[0, 0.4, 0.8, 1, 1]]]])),
        (f32([[[[0, 1]]]]), [1, 0, 0], "LINEAR", f32([[[[0, 1]]]])),
        (f32([[[[0, 1]]]]), [1, 0, 0], "NEAREST_NEIGHBOR", f32([[[[0, 1]]]])),
    ],
)  # fmt: skip
def test_resize_gives_the_published_values(
    x: Array, shape: list[int], kind: str, expected: Array, how: str, engine: str
) -> None:
    inputs: dict[str, Given] = {"x": x, "shape": i32(shape), "resized_dims": u32(2), "interpolation_mode": kind}
    more: dict[str, Any] = {"computed": ("shape",)} if how == "computed" else {"flexible": how == "flexible"}
    np.testing.assert_allclose(run_one("resize", "CoreML7", engine, inputs, **more), expected, rtol=1e-6)


@ENGINES
@pytest.mark.parametrize("how", ["fixed", "flexible", "computed"])
@pytest.mark.parametrize(("sampling", "align"), [("UNALIGN_CORNERS", False), ("STRICT_ALIGN_CORNERS", True)])
def test_resize_is_that_of_torch(sampling: str, align: bool, how: str, engine: str) -> None:
    torch = oracle("torch")
    x = _RNG.standard_normal((2, 3, 5, 4)).astype(np.float32)
    for size in ((8, 9), (3, 2), (5, 1)):
        expected = torch.nn.functional.interpolate(torch.tensor(x), size, mode="bilinear", align_corners=align)
        inputs: dict[str, Given] = {
            "x": x, "shape": np.array(size, np.uint16), "resized_dims": u32(2), "sampling_mode": sampling,
        }  # fmt: skip
        more: dict[str, Any] = {"computed": ("shape",)} if how == "computed" else {"flexible": how == "flexible"}
        result = run_one("resize", "CoreML7", engine, inputs, **more)
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@ENGINES
@pytest.mark.parametrize("how", ["fixed", "flexible", "computed"])
def test_one_sample_of_aligned_corners_is_the_centre_whatever_is_known(how: str, engine: str) -> None:
    for mode, kind, expected in (
        ("ALIGN_CORNERS", "LINEAR", 2.5), ("STRICT_ALIGN_CORNERS", "LINEAR", 1),
        ("ALIGN_CORNERS", "NEAREST_NEIGHBOR", 2),
    ):  # fmt: skip
        inputs: dict[str, Given] = {
            "x": f32([[1, 2, 3, 4]]), "shape": i32([1]), "resized_dims": u32(1), "sampling_mode": mode,
            "interpolation_mode": kind,
        }  # fmt: skip
        more: dict[str, Any] = {"computed": ("shape",)} if how == "computed" else {"flexible": how == "flexible"}
        assert run_one("resize", "CoreML7", engine, inputs, **more).tolist() == [[expected]]


@ENGINES
def test_resize_of_integers_truncates(engine: str) -> None:
    inputs: dict[str, Given] = {"x": i32([[-3, 4]]), "shape": i32([4]), "resized_dims": u32(1)}
    result = run_one("resize", "CoreML7", engine, inputs)
    assert (result.dtype, result.tolist()) == (np.int32, [[-3, 0, 4, 4]])


@ENGINES
@FLEXIBLE
@pytest.mark.parametrize(
    ("scales", "expected"),
    [
        ((1.0, 1.0), [[1.5, -2.5, 3.5]]), ((3.17, 0.67), [[1.5, -2.5]] * 3), ((2.0, 1.12), [[1.5, -2.5, 3.5]] * 2),
        ((1, 2), [[1.5, 1.5, -2.5, -2.5, 3.5, 3.5]]),
    ],
)  # fmt: skip
def test_upsample_nearest_neighbor_gives_the_published_values(
    scales: tuple[float, float], expected: list[list[float]], flexible: bool, engine: str
) -> None:
    inputs: dict[str, Given] = {
        "x": f32([[[[1.5, -2.5, 3.5]]]]), "scale_factor_height": scales[0], "scale_factor_width": scales[1],
    }  # fmt: skip
    result = run_one("upsample_nearest_neighbor", "CoreML5", engine, inputs, flexible=flexible)
    assert result.tolist() == [[expected]]


@ENGINES
@FLEXIBLE
@pytest.mark.parametrize(
    ("align", "half_pixel", "expected"),
    [
        (True, False, [1, 1.2, 1.4, 1.6, 1.8, 2]), (True, None, [1, 1.2, 1.4, 1.6, 1.8, 2]),
        (False, True, [1, 1, 4 / 3, 5 / 3, 2, 2]), (False, None, [1, 1, 4 / 3, 5 / 3, 2, 2]),
        (False, False, [1, 4 / 3, 5 / 3, 2, 2, 2]),
    ],
)  # fmt: skip
def test_upsample_bilinear_gives_the_published_values(
    align: bool, half_pixel: bool | None, expected: list[float], flexible: bool, engine: str
) -> None:
    inputs: dict[str, Given] = {
        "x": f32([[[[1, 2]]]]), "scale_factor_height": 2, "scale_factor_width": 3, "align_corners": align,
        **({} if half_pixel is None else {"half_pixel_centers": half_pixel}),
    }  # fmt: skip
    result = run_one("upsample_bilinear", "CoreML6", engine, inputs, flexible=flexible)
    np.testing.assert_allclose(result, f32([[[expected] * 2]]), rtol=1e-5)


@ENGINES
@FLEXIBLE
@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("scales", [(3.0, 4.0), (2.5, 2.0), (0.5, 0.75)])
def test_upsample_bilinear_is_that_of_torch(
    scales: tuple[float, float], align: bool, flexible: bool, engine: str
) -> None:
    torch = oracle("torch")
    x = _RNG.standard_normal((2, 5, 10, 22)).astype(np.float32)
    how = {"mode": "bilinear", "align_corners": align, "recompute_scale_factor": True}
    expected = torch.nn.functional.interpolate(torch.tensor(x), scale_factor=scales, **how)
    inputs: dict[str, Given] = {
        "x": x, "scale_factor_height": scales[0], "scale_factor_width": scales[1], "align_corners": align,
    }  # fmt: skip
    result = run_one("upsample_bilinear", "CoreML5", engine, inputs, flexible=flexible)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
