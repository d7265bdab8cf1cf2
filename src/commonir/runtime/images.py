"""Image files as inputs of a function that takes images, and its image outputs as pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.codes import WRONG_INPUT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.images import Pixels, read_image, resized
from commonir.base.suggestions import did_you_mean
from commonir.ir.interface import NO_PORT, ColorSpace
from commonir.ir.module import Function
from commonir.runtime.ports import allowed_text, named_inputs


def image_input(function: Function, name: str, path: str, *, resize: bool) -> Pixels:
    """Returns the pixels of an image file for an image input, in its color space and in an allowed size.

    An image of another size is resized to the default size of the input if `resize` is set, and refused otherwise.

    Raises: DiagnosticError (E0703 for an input that is not an image or a wrong size, and what reading an image
    raises).
    """
    port = {n: p for n, _, p in named_inputs(function)}.get(name, NO_PORT)
    if port.image is None:
        images = [n for n, _, p in named_inputs(function) if p.image is not None]
        message = f"input '{name}' is not an image input"
        listed = f"the image inputs are {', '.join(images)}" if images else "the model has no image inputs"
        help = did_you_mean(name, images) or listed
        raise DiagnosticError(Diagnostic(WRONG_INPUT, message, file=path, help=help))
    pixels = read_image(path, grayscale=port.image is ColorSpace.GRAYSCALE)
    height, width = pixels.shape[:2]
    shape = (1, port.image.channels, height, width)
    fits = port.allows(shape) if port.shapes or port.ranges else port.shape in ((), shape)
    if fits:
        return pixels
    expected = port.shape[2:]
    if resize and len(expected) == 2:
        return resized(pixels, *expected)
    allowed = allowed_text(port) if port.shapes or port.ranges else f"{expected[1]}x{expected[0]} (width x height)"
    message = f"input '{name}': an image of {width}x{height} pixels is not allowed"
    help = "use `--resize` to resize it" if len(expected) == 2 else None
    raise DiagnosticError(Diagnostic(WRONG_INPUT, message, file=path, notes=[f"expected: {allowed}"], help=help))


def pixels_of(array: NDArray[Any], color: ColorSpace) -> Pixels:
    """Returns an image output, a tensor [1, channels, height, width], as pixels.

    Values are rounded to integers, halves to even, and limited to 0 and 255; NaN becomes 0. Core ML does not specify
    the rounding.
    """
    planes = array.reshape(array.shape[-3:])
    with np.errstate(invalid="ignore"):
        values = np.nan_to_num(np.rint(planes.astype(np.float32)), nan=0.0, posinf=255.0, neginf=0.0)
    pixels = np.clip(values, 0, 255).astype(np.uint8)
    if color is ColorSpace.GRAYSCALE:
        return pixels[0]
    if color is ColorSpace.BGR:
        pixels = pixels[::-1]
    return np.ascontiguousarray(pixels.transpose(1, 2, 0))
