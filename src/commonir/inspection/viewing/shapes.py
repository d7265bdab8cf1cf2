"""Shapes that drawings consist of, which are written as SVG, PNG and PDF, and drawn by the page.

`style` is the name of an entry of `styles`. Units: pixels at the natural size, from the upper left corner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonir.base.tuples import NamedTuple

Position = tuple[float, float]


class Box(NamedTuple):
    """A rectangle with rounded corners."""

    style: str
    x: float
    y: float
    width: float
    height: float
    radius: float = 0.0


class Segment(NamedTuple):
    """A straight line."""

    style: str
    start: Position
    end: Position


class Curve(NamedTuple):
    """Cubic Bézier curves: a point, and for each curve two control points and its end."""

    style: str
    points: tuple[Position, ...]


class Polygon(NamedTuple):
    """A closed polygon."""

    style: str
    points: tuple[Position, ...]


class Ring(NamedTuple):
    """A ring around a point."""

    style: str
    center: Position
    radius: float


class Label(NamedTuple):
    """A line of text; `anchor` is start or middle."""

    style: str
    x: float
    y: float
    text: str
    anchor: str = "start"


class Group(NamedTuple):
    """Shapes that are one thing: a box of an operation or an arrow, with the lines of its tooltip.

    `at` identifies a box, `ends` the boxes that an arrow joins, `also` has further texts that a search finds.
    """

    role: str
    tooltip: tuple[str, ...]
    shapes: tuple[Shape, ...]
    at: str = ""
    ends: tuple[str, ...] = ()
    also: str = ""


Shape = Box | Segment | Curve | Polygon | Ring | Label | Group


def straight(start: Position, end: Position) -> tuple[Position, ...]:
    """Returns the points of a straight line as those that continue a curve from its start."""
    return start, end, end


def moved(shape: Shape, dx: float, dy: float) -> Shape:
    """Returns a shape at another place."""

    def shifted(points: Sequence[Position]) -> tuple[Position, ...]:
        return tuple([(x + dx, y + dy) for x, y in points])

    match shape:
        case Box() | Label():
            return shape._replace(x=shape.x + dx, y=shape.y + dy)
        case Segment():
            start, end = shifted((shape.start, shape.end))
            return shape._replace(start=start, end=end)
        case Curve() | Polygon():
            return shape._replace(points=shifted(shape.points))
        case Ring():
            return shape._replace(center=shifted([shape.center])[0])
        case Group():
            return shape._replace(shapes=tuple([moved(part, dx, dy) for part in shape.shapes]))


def flat(shapes: Sequence[Shape]) -> Iterator[Box | Segment | Curve | Polygon | Ring | Label]:
    """Yields shapes and those in groups, in the order in which they are drawn."""
    for shape in shapes:
        if isinstance(shape, Group):
            yield from flat(shape.shapes)
        else:
            yield shape
