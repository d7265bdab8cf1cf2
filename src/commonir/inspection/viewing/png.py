"""Writes a drawing as a PNG file, with Pillow.

It is drawn in bands at three times the size and then reduced, which smoothes lines. Letters are those of a font of the
system, else those of Pillow.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import LIMIT_EXCEEDED
from commonir.base.images import pillow
from commonir.inspection.viewing.drawing import Drawing
from commonir.inspection.viewing.shapes import Box, Curve, Label, Polygon, Position, Ring, Segment, flat
from commonir.inspection.viewing.styles import STYLES, Style

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

_FINER = 3
_MOST_PIXELS, _LONGEST_SIDE = 40_000_000, 30_000
_LEAST_SCALE = 0.25
"""Letters cannot be read in smaller images."""
_BAND = 256
_STEPS = 12
"""The number of straight lines by which a curve is drawn."""
_FONTS = {
    False: ("DejaVuSans.ttf", "Arial.ttf", "arial.ttf", "Helvetica.ttc"),
    True: ("DejaVuSans-Bold.ttf", "Arial Bold.ttf", "arialbd.ttf", "Helvetica.ttc"),
}

_Plain = Box | Segment | Curve | Polygon | Ring | Label


def scale_of(drawing: Drawing) -> float:
    """Returns the number of pixels of the image for one of the drawing: 2, or less where it would be too large."""
    width, height, _ = drawing.composed()
    return min(2.0, (_MOST_PIXELS / (width * height)) ** 0.5, _LONGEST_SIDE / width, _LONGEST_SIDE / height)


def png(drawing: Drawing) -> bytes:
    """Returns a drawing as a PNG file.

    Raises: DiagnosticError (E0705 without Pillow, E0303 for a drawing that is too large to be read as an image).
    """
    image = pillow("PIL.Image")
    width, height, shapes = drawing.composed()
    scale = scale_of(drawing)
    if scale < _LEAST_SCALE:
        message = f"a drawing of {width:,.0f} x {height:,.0f} pixels is too large for a PNG file"
        raise DiagnosticError(
            Diagnostic(LIMIT_EXCEEDED, message, help="write .html, .svg or .pdf, which have any size")
        )
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    result = image.new("RGB", size)
    plain = [(shape, *_extent(shape)) for shape in flat(shapes)]
    for top in range(0, size[1], _BAND):
        rows = min(_BAND, size[1] - top)
        band = image.new("RGB", (size[0] * _FINER, rows * _FINER), _fill("page"))
        ink = pillow("PIL.ImageDraw").Draw(band)
        pen = _Pen(ink, scale * _FINER, top / scale)
        for shape, begin, end in plain:
            if end >= top / scale - 4 and begin <= (top + rows) / scale + 4:
                pen.draw(shape)
        result.paste(band.reduce(_FINER), (0, top))
    out = BytesIO()
    result.save(out, format="PNG", optimize=True)
    return out.getvalue()


def _fill(style: str) -> str:
    fill = STYLES[style].fill
    return fill[0] if fill is not None else "#ffffff"


def _extent(shape: _Plain) -> tuple[float, float]:
    """Returns the upper and lower end of a shape."""
    match shape:
        case Box(_, _, y, _, height):
            return y, y + height
        case Segment(_, start, end):
            return min(start[1], end[1]), max(start[1], end[1])
        case Curve(_, points) | Polygon(_, points):
            return min([y for _, y in points]), max([y for _, y in points])
        case Ring(_, (_, y), radius):
            return y - radius, y + radius
        case Label(style, _, y):
            return y - STYLES[style].size, y + STYLES[style].size


class _Pen:
    """Draws shapes on a band that begins at a height of the drawing."""

    def __init__(self, ink: ImageDraw, scale: float, top: float) -> None:
        self._ink = ink
        self._scale = scale
        self._top = top

    def draw(self, shape: _Plain) -> None:
        """Draws a shape, or what of it is in the band."""
        style = STYLES[shape.style]
        fill = style.fill[0] if style.fill is not None else None
        stroke = style.stroke[0] if style.stroke is not None else None
        width = max(1, round(style.width * self._scale))
        match shape:
            case Box(_, x, y, across, down, radius):
                (left, top), (right, bottom) = self._at((x, y)), self._at((x + across, y + down))
                bounds, rounding = (left, top, max(left, right), max(top, bottom)), radius * self._scale
                if not style.dash:
                    self._ink.rounded_rectangle(bounds, rounding, fill, stroke, width if stroke else 0)
                else:
                    if fill is not None:
                        self._ink.rounded_rectangle(bounds, rounding, fill)
                    corners = [(x, y), (x + across, y), (x + across, y + down), (x, y + down), (x, y)]
                    self._line(corners, style, width)
            case Segment(_, start, end):
                self._line([start, end], style, width)
            case Curve(_, points):
                self._line(_flattened(points), style, width)
            case Polygon(_, points):
                self._ink.polygon([self._at(point) for point in points], fill=fill)
            case Ring(_, (x, y), radius):
                bounds = (*self._at((x - radius, y - radius)), *self._at((x + radius, y + radius)))
                self._ink.ellipse(bounds, fill, stroke, width)
            case Label(_, x, y, text, anchor):
                font = _font(round(style.size * self._scale), is_bold=style.is_bold)
                self._ink.text(self._at((x, y)), text, fill, font, "ms" if anchor == "middle" else "ls")

    def _at(self, point: Position) -> Position:
        return point[0] * self._scale, (point[1] - self._top) * self._scale

    def _line(self, points: Sequence[Position], style: Style, width: int) -> None:
        stroke = (style.stroke or ("#000000", ""))[0]
        if style.opacity != 1:
            # Only the bars behind ranks that wait for each other are translucent, on the plain page.
            parts = [int(stroke[n : n + 2], 16) for n in (1, 3, 5)]
            stroke = "#" + "".join([f"{round(255 - (255 - part) * style.opacity):02x}" for part in parts])
        for piece in _dashed(points, style.dash) if style.dash else [points]:
            self._ink.line([self._at(point) for point in piece], stroke, width, "curve")


def _flattened(points: Sequence[Position]) -> list[Position]:
    """Returns points on Bézier curves, close enough to draw straight lines between them."""
    out = [points[0]]
    for n in range(1, len(points), 3):
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = points[n - 1 : n + 3]
        steps = 1 if x0 == x1 == x2 == x3 else _STEPS
        for step in range(1, steps + 1):
            t = step / steps
            a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
            out.append((a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3))
    return out


def _dashed(points: Sequence[Position], dash: Sequence[float]) -> list[list[Position]]:
    """Returns the pieces of a line that are drawn."""
    pieces: list[list[Position]] = [[points[0]]]
    at, left, is_drawn = 0, dash[0], True
    for (x0, y0), (x1, y1) in pairwise(points):
        length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        done = 0.0
        while length - done > left:
            done += left
            point = (x0 + (x1 - x0) * done / length, y0 + (y1 - y0) * done / length)
            if is_drawn:
                pieces[-1].append(point)
            else:
                pieces.append([point])
            at, is_drawn = (at + 1) % len(dash), not is_drawn
            left = dash[at]
        left -= length - done
        if is_drawn:
            pieces[-1].append((x1, y1))
    return [piece for piece in pieces if len(piece) > 1]


@lru_cache(32)
def _font(size: int, *, is_bold: bool) -> FreeTypeFont | ImageFont:
    fonts = pillow("PIL.ImageFont")
    for name in _FONTS[is_bold]:
        try:
            return fonts.truetype(name, size)
        except OSError:
            continue
    return fonts.load_default(size)
