"""Writes a drawing as a PDF file of one page, without any package: shapes are vectors, letters are Helvetica.

Letters that Windows-1252 lacks become question marks, arrows `->` and `<-`. Source: ISO 32000-1 (PDF 1.7).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

from commonir.base.text import escape
from commonir.inspection.viewing.drawing import Drawing
from commonir.inspection.viewing.shapes import Box, Curve, Label, Polygon, Position, Ring, Segment, flat
from commonir.inspection.viewing.styles import STYLES, Style

_LARGEST = 14_400.0
"""The largest side of a page in points; larger drawings are scaled down."""
_BEND = 0.5523
"""The distance of the control points of a quarter of an arc, in radii."""
_ASCII_ARROWS = str.maketrans({"→": "->", "←": "<-", "▸": ">", "▾": "v"})


def pdf(drawing: Drawing) -> bytes:
    """Returns a drawing as a PDF file."""
    width, height, shapes = drawing.composed()
    scale = min(1.0, _LARGEST / width, _LARGEST / height)
    # The origin of PDF is below.
    lines = [f"{scale:.4f} 0 0 {-scale:.4f} 0 {height * scale:.2f} cm", "1 j"]
    lines += [*_painted(Box("page", 0, 0, width, height))]
    for shape in flat(shapes):
        lines += _painted(shape)
    content = zlib.compress("\n".join(lines).encode("cp1252", "replace"))
    fonts = [
        f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>".encode()
        for name in ("Helvetica", "Helvetica-Bold")
    ]
    page = (
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width * scale:.2f} {height * scale:.2f}] /Contents 6 0 R "
        f"/Resources << /Font << /F1 4 0 R /F2 5 0 R >> /ExtGState << {_opacities()} >> >> >>"
    )
    return _file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            page.encode(),
            *fonts,
            f"<< /Length {len(content)} /Filter /FlateDecode >>\nstream\n".encode() + content + b"\nendstream",
            f"<< /Title ({_string(drawing.name)}) /Producer (commonir) >>".encode("cp1252", "replace"),
        ]
    )


def _file(objects: Sequence[bytes]) -> bytes:
    """Returns a file of numbered objects: the first is the catalog, the last describes the document."""
    out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    places: list[int] = []
    for n, content in enumerate(objects, 1):
        places.append(len(out))
        out += f"{n} 0 obj\n".encode() + content + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += "".join([f"{place:010d} 00000 n \n" for place in places]).encode()
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\n".encode()
    return bytes(out + f"startxref\n{start}\n%%EOF\n".encode())


def _opacities() -> str:
    values = sorted({style.opacity for style in STYLES.values()})
    return " ".join([f"/{_opacity_name(value)} << /CA {value:g} /ca {value:g} >>" for value in values])


def _opacity_name(value: float) -> str:
    return f"O{round(value * 100)}"


def _painted(shape: Box | Segment | Curve | Polygon | Ring | Label) -> Iterator[str]:
    style = STYLES[shape.style]
    if isinstance(shape, Label):
        yield from _text(shape, style)
        return
    yield "q"
    if style.opacity != 1:
        yield f"/{_opacity_name(style.opacity)} gs"
    if style.fill is not None:
        yield f"{_color(style.fill[0])} rg"
    if style.stroke is not None:
        dash = " ".join([f"{part:g}" for part in style.dash])
        yield f"{_color(style.stroke[0])} RG {style.width:g} w [{dash}] 0 d"
    yield from _path(shape)
    yield "B" if style.fill is not None and style.stroke is not None else "f" if style.fill is not None else "S"
    yield "Q"


def _color(color: str) -> str:
    return " ".join([f"{int(color[n : n + 2], 16) / 255:.3f}" for n in (1, 3, 5)])


def _at(*points: Position) -> str:
    return " ".join([f"{x:.2f} {y:.2f}" for x, y in points])


def _path(shape: Box | Segment | Curve | Polygon | Ring) -> Iterator[str]:
    match shape:
        case Box(_, x, y, width, height, radius):
            yield from _rounded(x, y, width, height, min(radius, width / 2, height / 2))
        case Segment(_, start, end):
            yield f"{_at(start)} m {_at(end)} l"
        case Curve(_, points):
            yield f"{_at(points[0])} m"
            yield from [f"{_at(*points[n : n + 3])} c" for n in range(1, len(points), 3)]
        case Polygon(_, points):
            yield f"{_at(points[0])} m " + " ".join([f"{_at(point)} l" for point in points[1:]]) + " h"
        case Ring(_, (x, y), radius):
            yield from _rounded(x - radius, y - radius, 2 * radius, 2 * radius, radius)


def _rounded(x: float, y: float, width: float, height: float, radius: float) -> Iterator[str]:
    if not radius:
        yield f"{_at((x, y))} {width:.2f} {height:.2f} re"
        return
    far = radius * (1 - _BEND)
    right, bottom = x + width, y + height
    yield f"{_at((x + radius, y))} m"
    for line, *bend in (
        ((right - radius, y), (right - far, y), (right, y + far), (right, y + radius)),
        ((right, bottom - radius), (right, bottom - far), (right - far, bottom), (right - radius, bottom)),
        ((x + radius, bottom), (x + far, bottom), (x, bottom - far), (x, bottom - radius)),
        ((x, y + radius), (x, y + far), (x + far, y), (x + radius, y)),
    ):
        yield f"{_at(line)} l {_at(*bend)} c"
    yield "h"


def _text(label: Label, style: Style) -> Iterator[str]:
    text = escape(label.text).translate(_ASCII_ARROWS)
    x = label.x
    if label.anchor == "middle":
        x -= _width(text, style.size) / 2
    color = _color((style.fill or ("#000000", ""))[0])
    yield f"BT {color} rg /F{2 if style.is_bold else 1} {style.size:g} Tf"
    # Letters are upright although the y axis points down.
    yield f"1 0 0 -1 {_at((x, label.y))} Tm ({_string(text)}) Tj ET"


def _width(text: str, size: float) -> float:
    """Returns about the width of a text in Helvetica, whose letters are half as wide as high on average."""
    return 0.52 * size * len(text)


def _string(text: str) -> str:
    shown = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return shown.encode("cp1252", "replace").decode("cp1252")
