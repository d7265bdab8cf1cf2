"""Writes shapes as SVG. Everything that comes from a file is escaped here.

Source: SVG 1.1, Second Edition; XML 1.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from xml.sax.saxutils import escape as escape_markup
from xml.sax.saxutils import quoteattr

from commonir.base.text import escape
from commonir.inspection.viewing.drawing import Drawing
from commonir.inspection.viewing.shapes import Box, Curve, Group, Label, Polygon, Position, Ring, Segment, Shape
from commonir.inspection.viewing.styles import FONT, STYLES, Style


def svg(drawing: Drawing) -> str:
    """Returns a drawing as a self-contained SVG file without scripts."""
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + svg_element(drawing) + "\n"


def svg_element(drawing: Drawing) -> str:
    """Returns a drawing as an SVG element."""
    width, height, shapes = drawing.composed()
    body = [_written(shape) for shape in shapes]
    return _element(
        "svg",
        _element("title", words(drawing.name)),
        _element("desc", words(drawing.summary)),
        _element("style", "\n".join(_rules(shapes))),
        _element("rect", class_="page", x=0, y=0, width=width, height=height),
        "\n".join(body),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="img",
        font_family=FONT,
    )


def _used(shapes: Sequence[Shape]) -> Iterator[str]:
    for shape in shapes:
        if isinstance(shape, Group):
            yield from _used(shape.shapes)
        else:
            yield shape.style


def _rules(shapes: Sequence[Shape]) -> Iterator[str]:
    """Yields the rules of the styles that a drawing uses."""
    used = {"page": STYLES["page"]} | {name: STYLES[name] for name in STYLES if name in set(_used(shapes))}
    yield f"text{{font-family:{FONT}}}"
    for name, style in used.items():
        yield f".{name}{{{_colors(style, 0)}{_lines(style)}}}"
    yield "@media (prefers-color-scheme:dark){"
    for name, style in used.items():
        yield f".{name}{{{_colors(style, 1)}}}"
    yield "}"


def _colors(style: Style, scheme: int) -> str:
    fill = "none" if style.fill is None else style.fill[scheme]
    return f"fill:{fill}" + ("" if style.stroke is None else f";stroke:{style.stroke[scheme]}")


def _lines(style: Style) -> str:
    parts = [
        f";stroke-width:{style.width:g}" if style.stroke is not None else "",
        f";stroke-dasharray:{' '.join([f'{n:g}' for n in style.dash])}" if style.dash else "",
        f";opacity:{style.opacity:g}" if style.opacity != 1 else "",
        f";font-size:{style.size:g}px" if style.size else "",
        ";font-weight:600" if style.is_bold else "",
    ]
    return "".join(parts)


def _written(shape: Shape) -> str:
    match shape:
        case Box(style, x, y, width, height, radius):
            corners = {"rx": radius} if radius else {}
            return _element("rect", class_=style, x=x, y=y, width=width, height=height, **corners)
        case Segment(style, (x1, y1), (x2, y2)):
            return _element("line", class_=style, x1=x1, y1=y1, x2=x2, y2=y2)
        case Curve(style, points):
            return _element("path", class_=style, d=_path(points))
        case Polygon(style, points):
            return _element("path", class_=style, d=f"M{' L'.join(map(_point, points))} z")
        case Ring(style, (x, y), radius):
            return _element("circle", class_=style, cx=x, cy=y, r=radius)
        case Label(style, x, y, text, anchor):
            middle = {"text_anchor": anchor} if anchor != "start" else {}
            return _element("text", words(text), class_=style, x=x, y=y, **middle)
        case Group(role, tooltip, parts, at, ends):
            marks = {"data_at": at} if at else {"data_ends": " ".join(ends)} if ends else {}
            return _element("g", _title(tooltip), *map(_written, parts), class_=role, **marks)


def _path(points: Sequence[Position]) -> str:
    curves = [" ".join(map(_point, points[n : n + 3])) for n in range(1, len(points), 3)]
    return f"M{_point(points[0])} " + " ".join([f"C{curve}" for curve in curves])


def _element(tag: str, *content: str, **attributes: str | float) -> str:
    """Returns an element. An underscore in the name of an attribute becomes a hyphen; a trailing one is dropped."""
    written = "".join([f" {_name(key)}={quoteattr(_value(value))}" for key, value in attributes.items()])
    return f"<{tag}{written}>{''.join(content)}</{tag}>" if content else f"<{tag}{written}/>"


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else _number(value)


def _point(place: Position) -> str:
    return f"{_number(place[0])} {_number(place[1])}"


def _number(value: float) -> str:
    return f"{round(value, 1):.10g}"


def words(content: str) -> str:
    """Returns a text element."""
    return escape_markup(escape(content))


def _title(lines: Iterable[str]) -> str:
    return _element("title", "\n".join(map(words, lines)))
