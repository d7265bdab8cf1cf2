"""Image files as inputs of plain tensors, against numpy and Pillow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import commonir as cir
from commonir.ir.module import Module

_FORM = "scale=1/255,mean=0.485/0.456/0.406,std=0.229/0.224/0.225"


@pytest.fixture(scope="module")
def photo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("images") / "cat.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (4, 6, 3), np.uint8)).save(path)
    return path


def _taking(type: str) -> Module:
    text = f"func.func @main(%x: tensor<{type}>) -> tensor<{type}> {{ return %x : tensor<{type}> }}"
    return cir.loads(text, format="mlir")


def _pixels(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path)).astype(np.float32)


def test_scale_mean_and_std_are_those_of_torchvision(photo: Path) -> None:
    # torchvision: ToTensor divides by 255, Normalize subtracts mean and divides by std, channels first.
    expected = (_pixels(photo) / 255 - (0.485, 0.456, 0.406)) / (0.229, 0.224, 0.225)
    found = cir.read_image(_taking("1x3x4x6xf32"), "x", photo, form=f"nchw,rgb,{_FORM}")
    assert found.dtype == np.float32
    np.testing.assert_allclose(
        np.asarray(found, np.float32), expected.transpose(2, 0, 1)[np.newaxis], rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize(
    ("type", "form", "axes"),
    [
        ("1x3x4x6xf32", "", (0, 3, 1, 2)),
        ("1x4x6x3xf32", "", (0, 1, 2, 3)),
        ("3x4x6xf16", "", (3, 1, 2)),
        ("4x6x3xui8", "", (1, 2, 3)),
        ("?x?x?x?xf32", "nhwc", (0, 1, 2, 3)),
    ],
)
def test_layout_follows_from_the_shape(photo: Path, type: str, form: str, axes: tuple[int, ...]) -> None:
    found = cir.read_image(_taking(type), "x", photo, form=form)
    expected = _pixels(photo)[np.newaxis].transpose(*((0, *axes) if len(axes) == 3 else axes))
    np.testing.assert_array_equal(found, expected[0] if len(axes) == 3 else expected)


def test_channels_are_swapped_and_gray_is_luminance(photo: Path) -> None:
    bgr = cir.read_image(_taking("4x6x3xf32"), "x", photo, form="bgr")
    np.testing.assert_array_equal(bgr, _pixels(photo)[..., ::-1])
    gray = cir.read_image(_taking("1x1x4x6xf32"), "x", photo)
    np.testing.assert_array_equal(gray[0, 0], np.asarray(Image.open(photo).convert("L")))
    plane = cir.read_image(_taking("4x6xf32"), "x", photo, form="mean=1,std=2")
    np.testing.assert_allclose(np.asarray(plane, np.float32), (gray[0, 0] - 1) / 2)


def test_images_are_resized_to_the_input_or_to_a_size(photo: Path) -> None:
    for form, resize in (("resize", False), ("resize=3x2", False), ("", True)):
        found = cir.read_image(_taking("2x3x3xf32"), "x", photo, form=f"hwc,{form}".rstrip(","), resize=resize)
        assert found.shape == (2, 3, 3)
    assert cir.read_image(_taking("?x?x3xf32"), "x", photo, form="resize=12x8").shape == (8, 12, 3)


@pytest.mark.parametrize(
    ("type", "form", "message", "help"),
    [
        ("1x3x8x8xf32", "", "an image of 6x4 pixels does not fit", "--resize"),
        ("3x4x3xf32", "", "the layout of input 'x' of type tensor<3x4x3xf32> is not clear", ":chw"),
        ("2x3x4x6xf32", "", "takes 2 images, and one is given", "--set-dim"),
        ("1x4x4x6xf32", "", "the layout of input 'x'", ":nchw"),
        ("1x4x4x6xf32", "nchw", "has 4 channels, rgb has 3", "may be nchw or nhwc"),
        ("1x3x4x6xf32", "gray", "has 3 channels, grayscale has 1", ""),
        ("8xf32", "", "is not an image", "two to four axes"),
        ("3x4x6xf32", "nchw", "has 3 axes, the layout nchw has 4", "leave out the layout, which is chw"),
        ("1x3x4x6xui8", "scale=1/255", "takes the pixels as they are", "leave out"),
        ("1x3x4x6xf32", "scale=1/0", "'scale=1/0' is not a number", "1/255"),
        ("1x3x4x6xf32", "mean=1/2", "'mean=1/2' is not a number for each channel", "mean=0.5"),
        ("1x3x4x6xf32", "std=0", "'std=0' is not a number for each channel", "std="),
        ("1x3x4x6xf32", "resize=7", "'resize=7' is not a size", "width and the height"),
        ("1x3x4x6xf32", "ncwh", "'ncwh' is not part of a form of an image", "'nchw'"),
        ("1x1x4x6xf32", "mean=0.1/0.2/0.3", "'mean' has 3 numbers, the image has 1 channel", ""),
    ],
)
def test_what_does_not_fit_is_refused(photo: Path, type: str, form: str, message: str, help: str) -> None:
    with pytest.raises(cir.DiagnosticError) as caught:
        cir.read_image(_taking(type), "x", photo, form=form)
    (diagnostic,) = caught.value.diagnostics
    assert message in diagnostic.message
    assert help in (diagnostic.help or "")
