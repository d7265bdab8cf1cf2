"""Image files as inputs of plain tensors: layout, color order, and the arithmetic that turns pixels into values.

A form is text such as `nchw,rgb,scale=1/255,mean=0.485/0.456/0.406,std=0.229/0.224/0.225,resize=256x224`. An element is
(pixel * scale - mean) / std in single precision, pixels are from 0 to 255, and `mean` and `std` have one number, or one
for each channel. What is left out: the layout and the number of channels follow from the shape of the input, colors are
in the order red, green, blue, scale is 1, mean 0 and std 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.codes import WRONG_INPUT, WRONG_INPUT_ARGUMENT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.images import read_image, resized
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.ir.interface import ColorSpace
from commonir.ir.types import TensorType
from commonir.symbolic import Dim

LAYOUTS = ("nchw", "nhwc", "chw", "hwc", "hw")
"""Orders of the axes: batch, channels, height, width."""
_COLORS = {
    "rgb": ColorSpace.RGB,
    "bgr": ColorSpace.BGR,
    "gray": ColorSpace.GRAYSCALE,
    "grayscale": ColorSpace.GRAYSCALE,
}
_NUMBERS = ("scale", "mean", "std")
_WORDS = (*LAYOUTS, *_COLORS, "resize")
_EXAMPLE = "nchw,rgb,scale=1/255,mean=0.485/0.456/0.406,std=0.229/0.224/0.225"


class ImageForm(NamedTuple):
    """How pixels become the elements of a tensor. `size` is (width, height), None for that of the file."""

    layout: str = ""
    color: ColorSpace | None = None
    scale: float = 1.0
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    resizes: bool = False
    size: tuple[int, int] | None = None


def image_form(text: str) -> ImageForm:
    """Returns the form that a text describes. Raises: DiagnosticError (E0902) with the part that is wrong."""
    form = ImageForm()
    for part in filter(None, text.split(",")):
        name, equals, value = part.strip().lower().partition("=")
        if not equals and name in LAYOUTS:
            form = form._replace(layout=name)
        elif not equals and name in _COLORS:
            form = form._replace(color=_COLORS[name])
        elif name == "resize":
            form = form._replace(resizes=True, size=_size(value) if equals else None)
        elif equals and name == "scale":
            form = form._replace(scale=_ratio(value))
        elif equals and name in _NUMBERS:
            form = form._replace(**{name: _per_channel(name, value)})
        else:
            known = [*_WORDS, *(f"{n}=" for n in _NUMBERS)]
            raise _wrong(f"'{part}' is not part of a form of an image", did_you_mean(part, known) or _usage())
    return form


def _usage() -> str:
    return f"write for example `{_EXAMPLE}`, with `resize` or `resize=WIDTHxHEIGHT` to resize the image"


def _wrong(message: str, help: str) -> DiagnosticError:
    return DiagnosticError(Diagnostic(WRONG_INPUT_ARGUMENT, message, help=help))


def _size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,6})x([0-9]{1,6})", text)
    if match is None or not int(match[1]) or not int(match[2]):
        raise _wrong(f"'resize={text}' is not a size", "write the width and the height: `resize=256x224`")
    return int(match[1]), int(match[2])


def _ratio(text: str) -> float:
    """Returns a number, or the quotient of two such as `1/255`."""
    parts = text.split("/")
    try:
        numbers = [float(part) for part in parts]
        result = numbers[0] if len(numbers) == 1 else numbers[0] / numbers[1]
    except (ValueError, ZeroDivisionError):
        result = math.nan
    if len(parts) > 2 or not math.isfinite(result):
        raise _wrong(f"'scale={text}' is not a number", "write `scale=1/255` or `scale=0.0039`")
    return result


def _per_channel(name: str, text: str) -> tuple[float, ...]:
    try:
        result = tuple([float(part) for part in text.split("/")])
    except ValueError:
        result = ()
    if len(result) not in (1, 3) or not all(map(math.isfinite, result)) or (name == "std" and 0.0 in result):
        help = f"write one number, or one for each channel: `{name}=0.5/0.4/0.4`"
        raise _wrong(f"'{name}={text}' is not a number for each channel", help)
    return result


# -- arrays


def image_tensor(name: str, type: TensorType, path: str, form: ImageForm) -> NDArray[Any]:
    """Returns an image file as the array of an input, with `form.resizes` resized to its size or to the one chosen.

    Raises: DiagnosticError (E0703 where layout, channels, size or element type do not fit, and what reading raises).
    """
    layout = form.layout or _derived_layout(name, type, path)
    dims = _dims_by_letter(name, type, layout, path)
    color = form.color or (ColorSpace.GRAYSCALE if dims.get("c", 3) == 1 or layout == "hw" else ColorSpace.RGB)
    if layout != "hw" and dims["c"] not in (None, color.channels):
        channels = f"{dims['c']} channels" if dims["c"] != 1 else "1 channel"
        message = f"input '{name}' of type {type} has {channels}, {color.value} has {color.channels}"
        raise _unfit(message, path, _other_layouts(type.shape or ()) if form.layout else None)
    pixels = read_image(path, grayscale=color is ColorSpace.GRAYSCALE)
    height, width = pixels.shape[:2]
    expected = (dims["w"] or width, dims["h"] or height)
    if form.resizes and (form.size or expected) != (width, height):
        width, height = form.size or expected
        pixels = resized(pixels, height, width)
    if dims["w"] not in (None, width) or dims["h"] not in (None, height):
        message = f"input '{name}': an image of {width}x{height} pixels does not fit"
        notes = [f"expected: {expected[0]}x{expected[1]} (width x height)"]
        help = "use `--resize`, or `resize` after the name of the file, to resize it"
        raise DiagnosticError(Diagnostic(WRONG_INPUT, message, file=path, notes=notes, help=help))
    planes = pixels.reshape(height, width, color.channels)
    if color is ColorSpace.BGR:
        planes = planes[..., ::-1]
    return _arranged(_values(name, planes, type, form, path), layout)


def _values(name: str, planes: NDArray[np.uint8], type: TensorType, form: ImageForm, path: str) -> NDArray[Any]:
    element = dtype_of(type.element.name)
    is_plain = form.scale == 1.0 and not any(form.mean) and set(form.std) <= {1.0}
    if not type.element.is_float:
        if not is_plain or type.element.bits < np.dtype(np.uint8).itemsize * 8:
            message = f"input '{name}' of type {type} takes the pixels as they are"
            raise _unfit(message, path, "leave out scale, mean and std")
        return planes.astype(element)
    for field, numbers in (("mean", form.mean), ("std", form.std)):
        if len(numbers) not in (0, 1, planes.shape[-1]):
            raise _unfit(f"'{field}' has {len(numbers)} numbers, the image has {planes.shape[-1]} channel", path)
    values = planes.astype(np.float32) * np.float32(form.scale)
    if form.mean:
        values = values - np.array(form.mean, np.float32)
    if form.std:
        values = values / np.array(form.std, np.float32)
    return values.astype(element)


def _arranged(values: NDArray[Any], layout: str) -> NDArray[Any]:
    """Returns elements [height, width, channels] in a layout."""
    if layout == "hw":
        return values[..., 0]
    ordered = values.transpose(["hwc".index(letter) for letter in layout if letter != "n"])
    return np.ascontiguousarray(ordered[np.newaxis] if layout.startswith("n") else ordered)


def _derived_layout(name: str, type: TensorType, path: str) -> str:
    """Returns the layout that the shape of an input leaves: channels are the only axis of 1 or 3 at their places."""
    shape = type.shape or ()
    fitting = _fitting_layouts(shape)
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise _unfit(f"input '{name}' of type {type} is not an image", path, "an image has two to four axes")
    help = f"write the layout after the name of the file: `{name}=@{path}:{fitting[0]}`"
    raise _unfit(f"the layout of input '{name}' of type {type} is not clear", path, help)


def _fitting_layouts(shape: Sequence[Dim | None]) -> list[str]:
    """Returns the layouts with as many axes as a shape, of which some leave it 1 or 3 channels: these alone."""
    candidates = [each for each in LAYOUTS if len(each) == len(shape)]
    return [each for each in candidates if "c" not in each or shape[each.index("c")] in (1, 3)] or candidates


def _other_layouts(shape: Sequence[Dim | None]) -> str | None:
    layouts = _fitting_layouts(shape)
    if len(layouts) == 1:
        return f"leave out the layout, which is {layouts[0]}"
    return f"the layout may be {' or '.join(layouts)}" if layouts else None


def _dims_by_letter(name: str, type: TensorType, layout: str, path: str) -> dict[str, int | None]:
    """Returns the sizes of the axes by their letters; None for a dynamic one."""
    shape = type.shape
    if shape is not None and len(shape) != len(layout):
        message = f"input '{name}' of type {type} has {len(shape)} axes, the layout {layout} has {len(layout)}"
        raise _unfit(message, path, _other_layouts(shape))
    dims = (None,) * len(layout) if shape is None else shape
    out = {letter: d if isinstance(d, int) else None for letter, d in zip(layout, dims, strict=True)}
    if out.get("n") not in (None, 1):
        help = "save a batch of images as an array, or set the dim to 1 with `cir edit --set-dim`"
        raise _unfit(f"input '{name}' of type {type} takes {out['n']} images, and one is given", path, help)
    return out


def _unfit(message: str, path: str, help: str | None = None) -> DiagnosticError:
    return DiagnosticError(Diagnostic(WRONG_INPUT, message, file=path, help=help))
