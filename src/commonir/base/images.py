"""Reads and writes image files. The only module that uses Pillow, an optional package (extra `image`).

Pixels have eight bits for each channel: arrays are `uint8` of shape [height, width, 3] in the order red, green, blue,
or [height, width] for grayscale. Images are rotated according to their orientation tag, as viewers show them.

Limits: `Limits.max_tensor_bytes` for the pixels of an image.
"""

from __future__ import annotations

import os
from importlib import import_module
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.codes import MISSING_PACKAGE, WRONG_INPUT_ARGUMENT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import LIMIT_EXCEEDED
from commonir.base.files import atomic_file, unread_file
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.safe_paths import open_regular

Pixels = NDArray[np.uint8]

READ = (".png", ".jpg", ".jpeg")
"""Suffixes of image files that are read."""
WRITTEN = (".png",)
"""Suffixes of image files that are written: those that lose nothing."""

_GRAYSCALE, _COLOR = "L", "RGB"
# Modes that eight bits for each channel hold. Transparency is not a part of the pixels that models see.
_EIGHT_BIT = frozenset({"1", "L", "P", "RGB", "YCbCr", "CMYK"})


def read_image(path: str, *, grayscale: bool, limits: Limits = DEFAULT_LIMITS) -> Pixels:
    """Returns the pixels of an image file, with `grayscale` converted to shades of gray by luminance (ITU-R BT.601).

    Raises: DiagnosticError (E0705 without Pillow, E0101, E0102, E0303, E0902).
    """
    if not os.path.exists(path):
        raise unread_file(path, FileNotFoundError(), "an input")
    image = pillow("PIL.Image")
    try:
        with open_regular(path) as stream, image.open(stream, formats=("PNG", "JPEG")) as opened:
            _check_size(opened.size, limits, path)
            if opened.mode not in _EIGHT_BIT:
                reason = "it has transparency" if "A" in opened.mode else f"it is of kind '{opened.mode}'"
                help = "save it without transparency, with eight bits for each channel"
                raise _unread(path, reason, help)
            turned = pillow("PIL.ImageOps").exif_transpose(opened)
            return np.asarray(turned.convert(_GRAYSCALE if grayscale else _COLOR))
    except OSError as error:
        if error.errno is not None:
            raise unread_file(path, error, "an input") from error
        raise _unread(path, str(error).lower()) from error
    except (SyntaxError, ValueError, EOFError, image.DecompressionBombError) as error:
        raise _unread(path, str(error).lower()) from error


def decoded_image(content: bytes, *, grayscale: bool, limits: Limits = DEFAULT_LIMITS) -> Pixels | None:
    """Returns the pixels of an image of one of the formats of ONNX, as it is stored; None when it cannot be decoded.

    Transparency is left out. An image of more than eight bits for each channel is one that cannot be decoded.

    Raises: DiagnosticError (E0705 without Pillow, E0902).
    """
    image = pillow("PIL.Image")
    formats = ("BMP", "JPEG", "JPEG2000", "TIFF", "PNG", "WEBP", "PPM")
    try:
        with image.open(BytesIO(content), formats=formats) as opened:
            _check_size(opened.size, limits)
            if opened.mode not in _EIGHT_BIT and opened.mode.removesuffix("A") not in _EIGHT_BIT:
                return None
            return np.asarray(opened.convert(_GRAYSCALE if grayscale else _COLOR))
    except (OSError, SyntaxError, ValueError, EOFError, image.DecompressionBombError):
        return None


def _check_size(size: tuple[int, int], limits: Limits, path: str | None = None) -> None:
    """Checks the number of pixels of an image. Raises: DiagnosticError (E0902)."""
    width, height = size
    if width * height * 3 > limits.max_tensor_bytes:
        message = f"an image of {width}x{height} pixels is larger than {limits.max_tensor_bytes:,} bytes"
        raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, message, file=path))


def resized(pixels: Pixels, height: int, width: int) -> Pixels:
    """Returns the image in another size, by bilinear interpolation, with averaging when it becomes smaller.

    Raises: DiagnosticError (E0705 without Pillow).
    """
    image = pillow("PIL.Image")
    return np.asarray(image.fromarray(pixels).resize((width, height), image.Resampling.BILINEAR))


def write_image(path: str | os.PathLike[str], pixels: Pixels) -> None:
    """Writes a PNG file atomically.

    Raises: DiagnosticError (E0705 without Pillow, E0801 to E0803).
    """
    built = pillow("PIL.Image").fromarray(pixels)
    with atomic_file(path) as stream:
        built.save(stream, format="PNG")


def pillow(module: str) -> Any:
    """Returns a module of the package, of which only a few functions are used.

    Raises: DiagnosticError (E0705).
    """
    try:
        return import_module(module)
    except ImportError as error:
        message = "images need the package pillow"
        help = "python -m pip install 'commonir[image]'"
        raise DiagnosticError(Diagnostic(MISSING_PACKAGE, message, notes=[str(error)], help=help)) from error


def _unread(path: str, reason: str, help: str | None = None) -> DiagnosticError:
    return DiagnosticError(Diagnostic(WRONG_INPUT_ARGUMENT, f"cannot read the image: {reason}", file=path, help=help))
