"""A page around a drawing that needs nothing but a browser: zoom, folding, search, details of what is selected.

The page loads nothing and its policy forbids it to: its one script is known by its hash. Everything that comes from a
file is data in it, or text that is escaped. Source: HTML Living Standard; Content Security Policy Level 3.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.resources import files

from commonir.base.text import escape
from commonir.base.text import escape_html as _text
from commonir.inspection.viewing import boxes
from commonir.inspection.viewing.drawing import Drawing, JsonValue
from commonir.inspection.viewing.layers import LINE_ROOM
from commonir.inspection.viewing.shapes import Box, Curve, Group, Label, Polygon, Ring, Segment, Shape
from commonir.inspection.viewing.styles import STYLES

_SCRIPTS = ("scene", "panel", "program", "paint", "moving", "selecting", "searching", "keys")
"""The parts of the script of the page, in order; they share one scope."""
_MARK = re.compile(r"\{\{([A-Z_]+)\}\}")
_SIZES = {
    "MARGIN": boxes.MARGIN,
    "PAD": boxes.PAD,
    "HEAD": boxes.HEAD,
    "LINE": boxes.LINE_HEIGHT,
    "GAP": boxes.GAP,
    "BETWEEN": boxes.BETWEEN,
    "TITLE": boxes.TITLE,
    "POINT": LINE_ROOM,
}


def page(drawing: Drawing) -> str:
    """Returns the HTML page of a drawing."""
    folder = files("commonir.inspection.viewing").joinpath("browser")
    script = "".join([folder.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS])
    digest = b64encode(sha256(script.encode()).digest()).decode()
    scene, tables = _documents(drawing)
    parts = {
        "SCRIPT_HASH": f"sha256-{digest}",
        "TITLE": _text(drawing.name),
        "STYLE": folder.joinpath("page.css").read_text(encoding="utf-8"),
        "SUMMARY": _text(drawing.summary),
        "FINDINGS": "".join(_notes(drawing)),
        "LEGEND": "".join(_legend(drawing.legend)),
        "SCENE": _json(scene),
        "TABLES": _json(tables),
        "SCRIPT": script,
    }
    # Every second piece is the name of a mark: what is put in is not looked at again.
    pieces = _MARK.split(folder.joinpath("page.html").read_text(encoding="utf-8"))
    return "".join([parts[piece] if n % 2 else piece for n, piece in enumerate(pieces)])


def _json(value: JsonValue) -> str:
    """Returns JSON that cannot end the element in which it stands."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")


def _notes(drawing: Drawing) -> Iterator[str]:
    yield from [f'<p class="alert">{_text(finding)}</p>' for finding in drawing.findings]
    # The page itself says what is folded.
    if drawing.page_data is None:
        yield from [f"<p>{_text(note)}</p>" for note in drawing.left_out]


def _legend(labels: Mapping[str, str]) -> Iterator[str]:
    for style, label in labels.items():
        yield f'<li><i data-style="{style}"></i>{_text(label)}</li>'


def _documents(drawing: Drawing) -> tuple[dict[str, JsonValue], JsonValue]:
    """Returns the data to draw, and the tables of details, which are read later."""
    styles = {name: {key: value for key, value in style._asdict().items() if value} for name, style in STYLES.items()}
    common: dict[str, JsonValue] = {"styles": styles, "sizes": _SIZES}
    if drawing.page_data is not None:
        data = drawing.page_data()
        return {**common, "graphs": data["graphs"], "legends": data["legends"]}, data["details"]
    scene = {
        "width": drawing.width,
        "height": drawing.height,
        "shapes": [_shape(shape) for shape in drawing.shapes],
        "heads": [_shape(shape) for shape in drawing.heads],
    }
    return {**common, **scene}, None


def _shape(shape: Shape) -> JsonValue:
    match shape:
        case Box(style, x, y, width, height, radius):
            return ["box", style, *_numbers(x, y, width, height, radius)]
        case Segment(style, start, end):
            return ["segment", style, *_numbers(*start, *end)]
        case Curve(style, points):
            return ["curve", style, *_numbers(*[number for point in points for number in point])]
        case Polygon(style, points):
            return ["polygon", style, *_numbers(*[number for point in points for number in point])]
        case Ring(style, center, radius):
            return ["ring", style, *_numbers(*center, radius)]
        case Label(style, x, y, text, anchor):
            return ["label", style, *_numbers(x, y), escape(text), anchor]
        case Group():
            tooltip = "\n".join(map(escape, shape.tooltip))
            parts: Sequence[JsonValue] = [_shape(part) for part in shape.shapes]
            return ["group", shape.role, tooltip, parts, shape.at, shape.ends, escape(shape.also)]


def _numbers(*numbers: float) -> list[JsonValue]:
    return [round(number, 1) for number in numbers]
