"""Images that are decoded by a program: anything else gives an empty tensor, as the standard has it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.dialects.onnx.onnx_programs import program, run_here


@pytest.mark.parametrize("engine", ["numpy", "reference"])
@pytest.mark.parametrize(("pixel_format", "channels"), [("RGB", 3), ("BGR", 3), ("Grayscale", 1)])
@pytest.mark.parametrize("content", [b"", b"no image", b"P6 2 2 255\n\0\0", b"\x89PNG\r\n\x1a\n"])
def test_what_is_not_an_image_gives_no_pixels(content: bytes, pixel_format: str, channels: int, engine: str) -> None:
    inputs = {"x": np.frombuffer(content, np.uint8)}
    model = program(20, f'z = ImageDecoder<pixel_format = "{pixel_format}">(x)', inputs, ("z",))
    (pixels,) = run_here(model, inputs, engine)
    assert pixels.shape == (0, 0, channels)
    assert pixels.dtype == np.uint8


def test_shades_of_gray_are_luminance_and_colors_keep_their_order() -> None:
    content = b"P6 1 2 255\n" + bytes([255, 0, 0, 0, 0, 255])
    inputs = {"x": np.frombuffer(content, np.uint8)}
    result = {
        name: run_here(program(20, f'z = ImageDecoder<pixel_format = "{name}">(x)', inputs, ("z",)), inputs, "numpy")[0]
        for name in ("RGB", "BGR", "Grayscale")
    }
    assert result["RGB"].tolist() == [[[255, 0, 0]], [[0, 0, 255]]]
    assert result["BGR"].tolist() == [[[0, 0, 255]], [[255, 0, 0]]]
    # 0.299 of red, 0.114 of blue.
    assert result["Grayscale"].tolist() == [[[76]], [[29]]]
