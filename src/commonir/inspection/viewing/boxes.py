"""Draws functions as graphs: inputs above, outputs below, lines for values, blocks within boxes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.inspection.viewing.drawing import SMALL, Drawing
from commonir.inspection.viewing.graphs import MAX_BOXES, Figure, Graph, Line, Node
from commonir.inspection.viewing.layers import GraphLayout, Size, layout
from commonir.inspection.viewing.svg import Position, element, point_text, shortened, tail_of, title, width_of, words

_TOP, _MARGIN = 16.0, 24.0
_PAD = 14.0
_NARROWEST, _WIDEST = 84.0, 230.0
_LINE_HEIGHT = 13.0
_GAP, _BETWEEN = 22.0, 34.0
_TITLE = 24.0
_CLASSES = {
    "input": "receives",
    "output": "receives",
    "computes": "computes",
    "weighs": "sends",
    "holds": "holds",
    "skipped": "gap",
    "differs": "stuck",
}
_LEGEND = {
    "receives": "inputs and outputs",
    "sends": "with weights",
    "computes": "no weights",
    "holds": "with blocks",
    "stuck": "different",
}


class _Group(NamedTuple):
    """A block to be drawn: its boxes with the blocks in these, and their positions."""

    graph: Graph
    nested: tuple[tuple[_Group, ...], ...]
    sizes: tuple[Size, ...]
    layout: GraphLayout

    @property
    def size(self) -> Size:
        """The size of the group with its title."""
        title = width_of(self.graph.title, 14)
        return Size(max(self.layout.width, title) + 2 * _PAD, self.layout.height + _TITLE + 2 * _PAD)


def draw_graphs(figures: Sequence[Figure], name: str) -> Drawing:
    """Returns the drawing of the functions of a program, or of two programs, side by side."""
    figure = Figure(
        tuple([graph for each in figures for graph in each.graphs]),
        sum([each.operations for each in figures]),
        sum([each.skipped for each in figures]),
    )
    groups = [_grouped(graph) for graph in figure.graphs]
    summary = _summary(figure)
    left_out = tuple(_left_out(figure, groups))
    top = _TOP + 28 + 18.0 * (1 + len(left_out)) + 34
    heads = [words(summary), *[words(note) for note in left_out]]
    body = [element("text", words(shortened(name, 17, 900)), class_="title", x=_MARGIN, y=_TOP + 14)]
    body += [element("text", head, class_="note", x=_MARGIN, y=_TOP + 36 + 18 * n) for n, head in enumerate(heads)]
    body += _legend(figure, top - 26)
    x, height = _MARGIN, 0.0
    for n, group in enumerate(groups):
        body += _drawn(group, (x, top), str(n))
        x += group.size.width + _MARGIN
        height = max(height, group.size.height)
    width = max(x, 560.0, *[2 * _MARGIN + width_of(line, 13) for line in (summary, *left_out)])
    return Drawing(width, top + height + _MARGIN, "\n".join(body), "", 0.0, name, summary, (), left_out)


def _summary(figure: Figure) -> str:
    functions = [plural(len(figure.graphs), "graph")] if len(figure.graphs) != 1 else []
    return " · ".join([*functions, plural(figure.operations, "operation")])


def _left_out(figure: Figure, groups: Sequence[_Group]) -> Iterator[str]:
    if figure.skipped:
        yield f"left out in the middle: {plural(figure.skipped, 'operation')} beyond about {MAX_BOXES:,}"
    far = sum(line is None for group in _all_groups(groups) for line in group.layout.lines)
    if far:
        yield f"not drawn: {plural(far, 'line')} between boxes far from each other; boxes show their operands"


def _all_groups(groups: Sequence[_Group]) -> Iterator[_Group]:
    pending = list(groups)
    while pending:
        group = pending.pop()
        yield group
        pending += [inner for nested in group.nested for inner in nested]


def _legend(figure: Figure, y: float) -> Iterator[str]:
    used = {_CLASSES[node.kind] for graph in figure.graphs for node in graph.nodes}
    x = _MARGIN
    for class_, label in _LEGEND.items():
        if class_ in used:
            yield element("rect", class_=class_, x=x, y=y, width=18, height=12, rx=3)
            yield element("text", words(label), class_="note", x=x + 24, y=y + 10)
            x += 24 + width_of(label, 12) + 22


# -- sizes and places


def _grouped(graph: Graph) -> _Group:
    """Returns a block with its layout. The nesting of blocks is limited by `graphs`."""
    nested = tuple([tuple([_grouped(inner) for inner in node.blocks]) for node in graph.nodes])
    sizes = tuple([_size(node, inside) for node, inside in zip(graph.nodes, nested, strict=True)])
    placed = layout(sizes, [(line.source, line.target) for line in graph.lines], gap=_GAP, between=_BETWEEN)
    return _Group(graph, nested, sizes, placed)


def _size(node: Node, nested: Sequence[_Group]) -> Size:
    texts = [width_of(node.label, 12), *[width_of(t, SMALL) for t in (node.detail, *node.notes)]]
    width = min(max(_NARROWEST, max(texts) + 2 * _PAD), _WIDEST)
    height = 21 + _LINE_HEIGHT * (bool(node.detail) + len(node.notes))
    if not nested:
        return Size(width, height)
    inside = sum([group.size.width for group in nested]) + _PAD * (len(nested) + 1)
    return Size(max(width, inside), height + max([group.size.height for group in nested]) + _PAD)


# -- drawing


def _drawn(group: _Group, place: Position, mark: str) -> Iterator[str]:
    """Yields the elements of a block at a position. `mark` is the prefix of the ids of its boxes."""
    size, origin = group.size, (place[0] + _PAD, place[1] + _TITLE + _PAD)
    yield element("rect", class_="bar", x=place[0], y=place[1], width=size.width, height=size.height, rx=6)
    label = words(shortened(group.graph.title, 14, size.width - _PAD))
    yield element("text", label, class_="head", x=place[0] + _PAD, y=place[1] + 19)
    corners = [(origin[0] + x, origin[1] + y) for x, y in group.layout.places]
    boxes = [(*corner, size) for corner, size in zip(corners, group.sizes, strict=True)]
    yield from _lines(group, boxes, origin, mark)
    for n, (node, corner) in enumerate(zip(group.graph.nodes, corners, strict=True)):
        yield _box(node, corner, group.sizes[n], f"{mark}.{n}")
        x = corner[0] + _PAD
        y = corner[1] + group.sizes[n].height - _PAD - max([g.size.height for g in group.nested[n]], default=0.0)
        for m, inner in enumerate(group.nested[n]):
            yield from _drawn(inner, (x, y), f"{mark}.{n}.{m}")
            x += inner.size.width + _PAD


def _box(node: Node, corner: Position, size: Size, mark: str) -> str:
    x, y = corner
    room = size.width - 14
    is_port = node.kind in ("input", "output")
    texts = [element("text", words(shortened(node.label, 12, room)), class_="name", x=x + 7, y=y + 15)]
    for n, text in enumerate(filter(None, (node.detail, *node.notes))):
        shown = tail_of(text, SMALL, room) if not n else shortened(text, SMALL, room)
        texts.append(element("text", words(shown), class_="sub", x=x + 7, y=y + 15 + _LINE_HEIGHT * (n + 1)))
    corners = {"x": x, "y": y, "width": size.width, "height": size.height, "rx": 14 if is_port else 5}
    frame = element("rect", class_=_CLASSES[node.kind], **corners)
    return element("g", title(node.tooltip), frame, *texts, class_="box", data_at=mark)


def _lines(group: _Group, boxes: Sequence[tuple[float, float, Size]], origin: Position, mark: str) -> Iterator[str]:
    """Yields the lines of a block; those to the same box are spread side by side."""
    arriving: defaultdict[int, list[int]] = defaultdict(list)
    for n, line in enumerate(group.graph.lines):
        if group.layout.lines[n] is not None:
            arriving[line.target].append(n)
    for target, numbers in arriving.items():
        x, y, size = boxes[target]
        numbers.sort(key=lambda n: _last_x(group, n, boxes))
        step = min(14.0, size.width * 0.7 / len(numbers))
        for at, n in enumerate(numbers):
            line, passed = group.graph.lines[n], group.layout.lines[n] or ()
            sx, sy, above = boxes[line.source]
            end = (x + size.width / 2 + step * (at - (len(numbers) - 1) / 2), y)
            through = [(origin[0] + px, origin[1] + py) for px, py in passed]
            yield _line(line, [(sx + above.width / 2, sy + above.height), *through, end], mark)


def _last_x(group: _Group, number: int, boxes: Sequence[tuple[float, float, Size]]) -> float:
    """Returns the x coordinate of a line before its end."""
    passed = group.layout.lines[number]
    if passed:
        return passed[-1][0]
    x, _, size = boxes[group.graph.lines[number].source]
    return x + size.width / 2


def _line(line: Line, points: Sequence[Position], mark: str) -> str:
    drawn = f"M{point_text(points[0])}"
    for a, b in pairwise(points):
        middle = (a[1] + b[1]) / 2
        drawn += f" C{point_text((a[0], middle))} {point_text((b[0], middle))} {point_text(b)}"
    (x, y), sign = (points[0], -1) if line.is_back else (points[-1], 1)
    tip = element("path", class_="tip", d=f"M{point_text((x, y))} l-3.5 {-7 * sign} h7 z")
    path = element("path", class_="message", d=drawn)
    ends = f"{mark}.{line.source} {mark}.{line.target}"
    return element("g", title(line.tooltip), path, tip, class_="arrow", data_ends=ends)
