"""Image files as inputs of a function that takes images, and its image outputs as pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.codes import WRONG_INPUT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.images import Pixels, read_image, resized
from commonir.base.suggestions import did_you_mean
from commonir.inputs.image_tensors import image_form, image_tensor
from commonir.ir.interface import ColorSpace
from commonir.ir.module import Function
from commonir.runtime.binding.ports import allowed_text, named_inputs


def image_input(function: Function, name: str, path: str, *, form: str, resize: bool) -> NDArray[Any]:
    """Returns an image file as the value of an input: the pixels for an image input, in its color space and in an
    allowed size, for a plain tensor its elements in a form (`runtime/image_tensors.py`).

    An image of another size is resized to the default size of the input if `resize` is set, and refused otherwise.

    Raises: DiagnosticError (E0703 for an unknown input, one that no image fits or a wrong size, E0902 for a wrong form,
    and what reading an image raises).
    """
    inputs = {n: (type, p) for n, type, p in named_inputs(function)}
    if name not in inputs:
        message = f"'{function.symbol_name}' has no input '{name}' that takes an image"
        help = did_you_mean(name, inputs) or f"the inputs are {', '.join(inputs)}"
        unknown = Diagnostic(WRONG_INPUT, message, file=path, help=help)
        try:
            read_image(path, grayscale=False)
        except DiagnosticError as error:
            raise DiagnosticError(unknown, *error.diagnostics) from None
        raise DiagnosticError(unknown)
    type, port = inputs[name]
    if port.image is None:
        chosen = image_form(form)
        return image_tensor(name, type, path, chosen._replace(resizes=True) if resize else chosen)
    if form.strip() not in ("", "resize"):
        message = f"the image input '{name}' takes the pixels of the file, and has their form: '{form}' is not for it"
        raise DiagnosticError(Diagnostic(WRONG_INPUT, message, file=path, help="leave out what follows the file"))
    resize = resize or bool(form)
    pixels = read_image(path, grayscale=port.image is ColorSpace.GRAYSCALE)
    height, width = pixels.shape[:2]
    shape = (1, port.image.channels, height, width)
    default: tuple[int, ...] = port.shape or (type.static_shape if type.is_static else ())
    fits = port.allows(shape) if port.shapes or port.ranges else default in ((), shape)
    if fits:
        return pixels
    expected = default[2:]
    if resize and len(expected) == 2:
        return resized(pixels, *expected)
    allowed = (
        allowed_text(port) if port.shapes or port.ranges else f"{'x'.join(map(str, expected[::-1]))} (width x height)"
    )
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
