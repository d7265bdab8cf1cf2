"""Parses options with a name and a value: dims, ranges of dims, image inputs."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from commonir.base import codes
from commonir.base.diagnostics import Diagnostics
from commonir.base.lazy import lazy_pattern
from commonir.base.text import escape
from commonir.base.tuples import NamedTuple

_CHANNELS = {"rgb": 3, "bgr": 3, "grayscale": 1}
_RANGE = lazy_pattern(r"([^=]+)=([0-9]{1,18})\.\.([0-9]{1,18})")
_SIZES = lazy_pattern(r"([0-9]{1,18})\.\.([0-9]{1,18})")
_NUMBER = lazy_pattern(r"[0-9]{1,18}")


class ImageChoice(NamedTuple):
    """The channel order of an image, the scale and bias of its pixels, and the layout of the tensor."""

    color: str
    scale: float
    bias: tuple[float, ...]
    layout: str = ""


def parse_ranges(texts: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Returns the ranges of `--range NAME=LOW..HIGH` options by name.

    Raises: WRONG_USAGE.
    """
    out: dict[str, tuple[int, int]] = {}
    diagnostics = Diagnostics()
    for text in texts:
        parts = _RANGE.fullmatch(text)
        low, high = (int(parts[2]), int(parts[3])) if parts else (1, 0)
        if parts is None or low > high:
            message = f"'{escape(text)}' is not a range"
            diagnostics.add(codes.WRONG_USAGE, message, help="give a name and two numbers: `--range batch=1..16`")
        else:
            out[parts[1]] = (low, high)
    diagnostics.raise_errors()
    return out


def parse_images(texts: Sequence[str]) -> dict[str, ImageChoice]:
    """Returns the images of `--image NAME=COLOR[,scale=S][,bias=B/B/B][,layout=L]` options by name.

    Raises: WRONG_USAGE.
    """
    out: dict[str, ImageChoice] = {}
    diagnostics = Diagnostics()
    for text in texts:
        name, _, rest = text.partition("=")
        image = _image(rest)
        if not name or image is None:
            message = f"'{escape(text)}' does not describe an image"
            help = (
                "give a name and a color order, with scale, bias and layout if needed: "
                "`--image photo=rgb,scale=1/255,bias=-2.1/-2.0/-1.8,layout=nhwc`"
            )
            diagnostics.add(codes.WRONG_USAGE, message, help=help)
        else:
            out[name] = image
    diagnostics.raise_errors()
    return out


def _image(text: str) -> ImageChoice | None:
    color, *more = text.split(",")
    channels = _CHANNELS.get(color.lower())
    options = {name: value for name, _, value in [part.partition("=") for part in more]}
    layout = options.get("layout", "").lower()
    if channels is None or not options.keys() <= {"scale", "bias", "layout"} or layout not in ("", "nchw", "nhwc"):
        return None
    scale = _scale(options.get("scale", "1"))
    bias = _numbers(options["bias"]) if "bias" in options else ()
    if scale is None or bias is None or len(bias) not in (0, 1, channels):
        return None
    return ImageChoice(color.lower(), scale, bias, layout)


def _scale(text: str) -> float | None:
    """Returns a number, or the quotient of two such as `1/255`; None for another text."""
    match _numbers(text):
        case (number,):
            return number
        case (dividend, divisor) if divisor:
            return dividend / divisor
        case _:
            return None


def _numbers(text: str) -> tuple[float, ...] | None:
    try:
        result = tuple([float(part) for part in text.split("/")])
    except ValueError:
        return None
    return result if all(map(math.isfinite, result)) else None


def parse_labels(texts: Sequence[str]) -> dict[str, str]:
    """Returns the files of options `--labels [OUTPUT=]FILE` by output, "" where none is named."""
    parts = [text.partition("=") for text in texts]
    return dict([(name, path) if equals else ("", name) for name, equals, path in parts])


def parse_pairs(texts: Sequence[str], option: str, form: str) -> dict[str, str]:
    """Returns the two sides of options such as `a=b`.

    Raises: WRONG_USAGE with all options that have no `=` or repeat a name.
    """
    out: dict[str, str] = {}
    diagnostics = Diagnostics()
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            message = f"'{option} {escape(text)}' is not of the form {form}"
            diagnostics.add(codes.WRONG_USAGE, message)
        elif key in out:
            diagnostics.add(codes.WRONG_USAGE, f"'{option}' is given twice for '{escape(key)}'")
        out[key] = value
    diagnostics.raise_errors()
    return out


def parse_new_dims(texts: Sequence[str]) -> dict[str, int | str | tuple[int, int]]:
    """Returns the dims of options `--set-dim DIM=N` by name: numbers, or names or ranges of dynamic dims.

    Raises: WRONG_USAGE.
    """
    pairs = parse_pairs(texts, "--set-dim", "DIM=N")
    names = {key: value for key, value in pairs.items() if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", value)}
    ranges = {key: (int(m[1]), int(m[2])) for key, value in pairs.items() if (m := _SIZES.fullmatch(value))}
    diagnostics = Diagnostics()
    for key, value in pairs.items():
        if key not in names and key not in ranges and _NUMBER.fullmatch(value) is None:
            message = f"'--set-dim {escape(key)}={escape(value)}': the dim must be a number, a name or a range"
            help = "`--set-dim batch=8` fixes a dim, `x.0=batch` makes it dynamic, `x.0=1..16` for a Core ML program"
            diagnostics.add(codes.WRONG_USAGE, message, help=help)
    diagnostics.raise_errors()
    return {key: names.get(key) or ranges.get(key) or int(value) for key, value in pairs.items()}


def parse_dims(texts: Sequence[str], option: str = "--set-dim") -> dict[str, int]:
    """Returns the dims of options `DIM=N` by name.

    Raises: WRONG_USAGE.
    """
    out: dict[str, int] = {}
    diagnostics = Diagnostics()
    for key, value in parse_pairs(texts, option, "DIM=N").items():
        if _NUMBER.fullmatch(value) is None:
            message = f"'{option} {escape(key)}={escape(value)}': the dim must be a number"
            diagnostics.add(codes.WRONG_USAGE, message, help=f"give a name and a number: `{option} batch=8`")
        else:
            out[key] = int(value)
    diagnostics.raise_errors()
    return out
