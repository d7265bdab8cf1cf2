"""The drawing of a program: its shapes, and what is written above them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.inspection.viewing.letters import shortened, width_of
from commonir.inspection.viewing.shapes import Box, Label, Segment, Shape, moved
from commonir.inspection.viewing.styles import STYLES

_TOP, _MARGIN = 16.0, 24.0
_NARROWEST, _WIDEST = 360.0, 1200.0
_LINE = 18.0
JsonValue = str | float | bool | None | Sequence["JsonValue"] | Mapping[str, "JsonValue"]


class Drawing(NamedTuple):
    """A drawing: its size, its shapes, and what they mean.

    `heads` are shapes that stay at the top while the rest moves. `legend` has the label of each style that needs one.
    `findings` describes errors that it shows, `left_out` what is not drawn. `page_data` returns the program for
    the page, which draws and folds it itself; None where the page draws the shapes. `legend_title` says what the
    colours of an overlay mean, `overlays` describes each in a line.
    """

    width: float
    height: float
    shapes: tuple[Shape, ...]
    heads: tuple[Shape, ...]
    legend: Mapping[str, str]
    name: str
    summary: str
    findings: tuple[str, ...]
    left_out: tuple[str, ...]
    page_data: Callable[[], Mapping[str, JsonValue]] | None = None
    legend_title: str = ""
    overlays: tuple[str, ...] = ()

    def composed(self) -> tuple[float, float, Sequence[Shape]]:
        """Returns the whole image, with the texts above: its width, its height, its shapes."""
        lines = [*self.findings, *self.left_out, self.summary]
        texts = max([width_of(line, 13) for line in lines]) + 2 * _MARGIN
        width = max(self.width, min(max(_NARROWEST, texts), _WIDEST))
        above, top = self._above(width)
        shown = [moved(shape, 0.0, top) for shape in (*self.shapes, *self.heads)]
        return width, top + self.height, [*above, *shown]

    def _above(self, width: float) -> tuple[list[Shape], float]:
        """Returns title, summary, findings, notes and legend, and where the drawing below them begins."""
        y = _TOP + 14
        above: list[Shape] = [Label("title", _MARGIN, y, shortened(self.name, 17, width - 2 * _MARGIN))]
        y += 4
        styles = {"note": [self.summary], "alert": self.findings}
        for style, lines in [*styles.items(), ("note", self.left_out)]:
            for line in lines:
                y += _LINE
                above.append(Label(style, _MARGIN, y, line))
        y += 14
        if self.legend_title:
            above.append(Label("name", _MARGIN, y + 10, self.legend_title))
            y += _LINE + 4
        legend, bottom = _legend(self.legend, y, width)
        return [*above, *legend], (bottom + 14 if self.legend else y)


def _legend(labels: Mapping[str, str], top: float, width: float) -> tuple[list[Shape], float]:
    """Returns samples of styles with their labels, in as many rows as they need, and where they end."""
    shapes: list[Shape] = []
    x, y = _MARGIN, top
    for style, label in labels.items():
        room = 24 + width_of(label, 12) + 22
        if x > _MARGIN and x + room > width:
            x, y = _MARGIN, y + 20
        shapes += _sample(style, x, y)
        shapes.append(Label("note", x + 24, y + 10, label))
        x += room
    return shapes, y + 12


def _sample(style: str, x: float, y: float) -> Iterator[Shape]:
    if STYLES[style].fill is None and style not in ("differs", "onpath"):
        yield Segment(style, (x, y + 6), (x + 18, y + 6))
    else:
        yield Box(style, x, y, 18, 12, 3)
