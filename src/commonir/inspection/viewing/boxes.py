"""Arranges graphs of functions, draws them as shapes, and describes them to the page.

Inputs are above, outputs below; blocks and groups are in the boxes that contain them. The page folds groups: it gets
the layout of every graph with all boxes in it folded, and moves columns and layers apart for those that are open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.inspection.viewing.details import Details
from commonir.inspection.viewing.drawing import Drawing, JsonValue
from commonir.inspection.viewing.graphs import Figure, Graph, Node
from commonir.inspection.viewing.layers import GraphLayout, Route, Size, layout
from commonir.inspection.viewing.letters import shortened, tail_of, width_of
from commonir.inspection.viewing.overlays import Overlay
from commonir.inspection.viewing.shapes import Box, Curve, Label, Polygon, Position, Shape
from commonir.inspection.viewing.shapes import Group as ShapeGroup
from commonir.inspection.viewing.styles import FAMILIES, NO_FIGURE, SMALL

MARGIN = 24.0
PAD = 14.0
HEAD = 21.0
"""The height of the first line of a box."""
LINE_HEIGHT = 13.0
GAP, BETWEEN = 22.0, 30.0
TITLE = 26.0
_NARROWEST, _WIDEST = 84.0, 230.0
_ALWAYS_OPEN = 2
"""Graphs that are open at first in any case: those of two programs side by side."""
_MOST_BESIDE = 4
"""Frames that stand side by side; more of them stand in rows."""
_MOST_OPEN = 400
"""Groups are open at first as long as no more boxes are seen."""
_MOST_IN_BRANCHES = 60
"""Operations with blocks are open at first as long as no more boxes are in these: branches stand side by side."""

_HIGHEST = 1e300
"""JSON has no infinity."""

Path = tuple[int, ...]
"""The place of a graph or box: the index of a graph, of a box in it, of a graph in that, and so on."""


class _Placed(NamedTuple):
    """A graph with its layout, the sizes of its boxes, and the graphs in those that are open, by box.

    `spread` is how far from the middle of a box each line ends.
    """

    graph: Graph
    path: Path
    sizes: tuple[Size, ...]
    layout: GraphLayout
    details: Details
    routes: tuple[Route, ...]
    spread: tuple[float, ...]
    inside: tuple[tuple[_Placed, ...], ...]

    @property
    def height(self) -> float:
        """The height of its layers with the space between them."""
        heights = self.layout.heights(self.sizes)
        return sum(heights) + BETWEEN * max(0, len(heights) - 1)

    @property
    def size(self) -> Size:
        """The size of the graph with a frame and a title."""
        title = width_of(self.graph.title, 14)
        return Size(max(self.layout.width, title) + 2 * PAD, self.height + TITLE + PAD)


def draw_graphs(figures: Sequence[Figure], name: str) -> Drawing:
    """Returns the drawing of the functions of a program, or of two programs, side by side."""
    graphs = [graph for figure in figures for graph in figure.graphs]
    opened = _open_at_first(graphs)
    arranging = _Arranging(figures[0].details)
    overlays = figures[0].details.overlays
    placed = [arranging.place(graph, (n,), opened.__contains__) for n, graph in enumerate(graphs)]
    frames = [group.size if (n,) in opened else _folded_size(group) for n, group in enumerate(placed)]
    places, width, height = _shelves(frames)
    shapes: list[Shape] = []
    for n, (group, place) in enumerate(zip(placed, places, strict=True)):
        shapes += _frame(group, place) if (n,) in opened else _folded_frame(group, place)
    operations = sum([figure.operations for figure in figures])
    functions = [plural(len(graphs), "graph")] if len(graphs) != 1 else []
    folded = sum([node.role == "group" and path not in opened for path, node in _all_boxes(graphs)])
    closed = len(graphs) - sum([len(path) == 1 for path in opened])
    counts = [plural(count, name) for count, name in ((closed, "graph"), (folded, "group")) if count]
    legends = list(_legends(graphs, overlays))
    return Drawing(
        width,
        height,
        tuple(shapes),
        (),
        dict(legends[min(1, len(legends) - 1)][2]),
        name,
        " · ".join([*functions, plural(operations, "operation")]),
        tuple([note for overlay in overlays for note in overlay.notes]),
        (f"{' and '.join(counts)} folded",) if counts else (),
        lambda: {
            "graphs": [{**arranging.data(g, (n,), opened), "open": (n,) in opened} for n, g in enumerate(graphs)],
            "details": figures[0].details.document(),
            "legends": [[title, summary, list(legend.items())] for title, summary, legend in legends],
        },
        overlays[0].title if overlays else "",
        tuple([f"{overlay.title}: {overlay.summary}" for overlay in overlays]),
    )


def _all_boxes(graphs: Sequence[Graph]) -> Iterator[tuple[Path, Node]]:
    """Yields all boxes with their places, each level after the one around it."""
    level: list[tuple[Path, Graph]] = [((n,), graph) for n, graph in enumerate(graphs)]
    while level:
        boxes = [((*path, n), node) for path, graph in level for n, node in enumerate(graph.nodes)]
        yield from boxes
        level = [((*path, n), graph) for path, node in boxes for n, graph in enumerate(node.graphs)]


def _open_at_first(graphs: Sequence[Graph]) -> set[Path]:
    """Returns the graphs and boxes that are open at first: the first graph, and others as long as there is room; then
    all boxes of each level of nesting.
    """
    opened: set[Path] = set()
    seen = 0
    for n, graph in enumerate(graphs):
        seen += len(graph.nodes)
        if n < _ALWAYS_OPEN or seen <= _MOST_OPEN:
            opened.add((n,))
    for _, boxes in groupby(_all_boxes(graphs), lambda box: len(box[0])):
        holders = [(path, node) for path, node in boxes if _may_open(node) and _is_seen(path, opened)]
        seen += sum([len(graph.nodes) for _, node in holders for graph in node.graphs])
        if seen > _MOST_OPEN:
            break
        opened |= {path for path, _ in holders}
    return opened


def _may_open(node: Node) -> bool:
    """Returns whether a box has graphs inside that leave an overview when they are open."""
    return bool(node.graphs) and (node.role == "group" or _count_inside(node) <= _MOST_IN_BRANCHES)


def _count_inside(node: Node) -> int:
    return sum([1 + _count_inside(inner) for graph in node.graphs for inner in graph.nodes])


def _is_seen(path: Path, opened: set[Path]) -> bool:
    """Returns whether a box is in a graph that is open."""
    return (path[:1] if len(path) == 2 else path[:-2]) in opened


def _shelves(frames: Sequence[Size]) -> tuple[list[Position], float, float]:
    """Returns the places of frames, side by side, many of them in several rows; and the size of the whole."""
    area = sum([(frame.width + MARGIN) * (frame.height + MARGIN) for frame in frames])
    widest = max([frame.width for frame in frames])
    room = max(widest, 1.3 * area**0.5) if len(frames) > _MOST_BESIDE else float("inf")
    places: list[Position] = []
    x, y, width, below = MARGIN, 0.0, 0.0, 0.0
    for frame in frames:
        if x > MARGIN and x + frame.width > room:
            x, y = MARGIN, below
        places.append((x, y))
        x += frame.width + MARGIN
        width, below = max(width, x), max(below, y + frame.height + MARGIN)
    return places, width, below


def _legends(graphs: Sequence[Graph], overlays: Sequence[Overlay]) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Yields the legends of the page, each with its title, its summary and the labels of styles: that of the types of
    operations first, then that of each overlay.
    """
    boxes = [node for _, node in _all_boxes(graphs)]
    used = {node.family for node in boxes}
    labels = {f: "convolution, matmul" if f == "layer" else f for f in FAMILIES if f in used}
    differs = {"differs": "different"} if any(node.marks for node in boxes) else {}
    yield (
        "operation type",
        "",
        {f"is-{family}": label for family, label in labels.items()} | differs,
    )
    for overlay in overlays:
        yield overlay.title, overlay.summary, overlay.legend


# -- sizes and places


class _Arranging:
    """Lays out graphs; those of equal shape, such as the layers of a network, only once."""

    def __init__(self, details: Details) -> None:
        self._details = details
        self._layouts: dict[tuple[object, ...], GraphLayout] = {}

    def place(self, graph: Graph, path: Path, opens: Callable[[Path], bool]) -> _Placed:
        """Returns a graph with its layout. The nesting of blocks is limited by `graphs`."""
        inside: list[tuple[_Placed, ...]] = []
        for n, node in enumerate(graph.nodes):
            own = (*path, n)
            inner = node.graphs if opens(own) else ()
            inside.append(tuple([self.place(g, (*own, m), opens) for m, g in enumerate(inner)]))
        sizes = tuple([_size(node, inner) for node, inner in zip(graph.nodes, inside, strict=True)])
        routes = _routes(graph)
        widths = tuple([size.width for size in sizes])
        key = (widths, routes, graph.entries, graph.exits)
        if key not in self._layouts:
            count = len(graph.nodes)
            first, last = range(graph.entries), range(count - graph.exits, count)
            self._layouts[key] = layout(widths, routes, gap=GAP, first=first, last=last)
        placed = self._layouts[key]
        spread = _spread(graph, routes, sizes, placed)
        return _Placed(graph, path, sizes, placed, self._details, routes, spread, tuple(inside))

    def data(self, graph: Graph, path: Path, opened: set[Path], least: float = 0.0) -> dict[str, JsonValue]:
        """Returns the description of a graph for the page, laid out with all boxes in it folded; `least` is the width
        that its box needs for its title.
        """
        placed = self.place(graph, path, lambda _: False)
        nodes: list[JsonValue] = []
        for n, node in enumerate(graph.nodes):
            size, own = placed.sizes[n], (*path, n)
            row: list[JsonValue] = [
                node.role,
                round(placed.layout.columns[n], 1),
                placed.layout.layers[n],
                round(size.width, 1),
                round(size.height, 1),
                node.item,
                node.family,
                node.label,
                [node.detail, *node.notes],
            ]
            if node.graphs or node.marks or any(node.highlights):
                title = _title_width(node) if node.role == "group" else 0.0
                row += [
                    [self.data(inner, (*own, m), opened, title) for m, inner in enumerate(node.graphs)],
                    own in opened,
                    list(node.marks),
                ]
            if any(node.highlights):
                row.append(
                    [
                        None if h is None else [h.style, float(f"{min(h.value, _HIGHEST):.4g}"), h.frame, h.text]
                        for h in node.highlights
                    ]
                )
            nodes.append(row)
        return {
            "title": graph.title,
            "least": round(least or width_of(graph.title, 14), 1),
            "nodes": nodes,
            "lines": [
                [*route, round(spread, 1), line.value, int(line.is_back), line.source_port, line.target_port]
                for line, route, spread in zip(graph.lines, placed.routes, placed.spread, strict=True)
            ],
            "trunks": [
                [number for x, passed in runs for number in (round(x, 1), passed)] for runs in placed.layout.runs
            ],
        }


def _routes(graph: Graph) -> tuple[Route, ...]:
    trunks: dict[tuple[int, ...], int] = {}
    routes: list[Route] = []
    for line in graph.lines:
        key = (line.source, line.value, line.target) if line.is_back else (line.source, line.value)
        routes.append(Route(line.source, line.target, trunks.setdefault(key, len(trunks))))
    return tuple(routes)


def _size(node: Node, nested: Sequence[_Placed]) -> Size:
    if node.role == "port":
        return Size(1.0, 0.0)
    lines = [text for text in (node.detail, *node.notes) if text]
    texts = [width_of(node.label, 12), *[width_of(text, SMALL) for text in lines]]
    width = min(max(_NARROWEST, max(texts) + 2 * PAD), _WIDEST)
    if not nested:
        return Size(width, HEAD + LINE_HEIGHT * len(lines) + (4 if lines else 0))
    if node.role == "group":
        (inner,) = nested
        return Size(max(inner.layout.width + 2 * PAD, _title_width(node)), inner.height + HEAD + 2 * PAD)
    inside = sum([group.size.width for group in nested]) + PAD * (len(nested) + 1)
    above = HEAD + LINE_HEIGHT * len(lines) + (4 if lines else 0)
    return Size(max(width, inside), above + max([group.size.height for group in nested]) + 2 * PAD)


def _title_width(node: Node) -> float:
    """Returns the width that an open group needs for its title."""
    return width_of(f"{node.label} · {node.detail}", 12) + 3 * PAD


def _spread(graph: Graph, routes: Sequence[Route], sizes: Sequence[Size], placed: GraphLayout) -> tuple[float, ...]:
    """Returns how far from the middle of its box each line ends: those that end at one box lie side by side."""
    arriving: defaultdict[int, list[int]] = defaultdict(list)
    for n, route in enumerate(routes):
        arriving[route.target].append(n)
    result = [0.0] * len(routes)
    for target, numbers in arriving.items():
        if graph.nodes[target].role == "port":
            continue
        numbers.sort(key=lambda n: _last_column(routes[n], placed))
        columns = [_last_column(routes[n], placed) for n in numbers]
        # A line that comes straight from above stays straight.
        above = [at for at, x in enumerate(columns) if abs(x - placed.columns[target]) < 1]
        middle = above[len(above) // 2] if above else (len(numbers) - 1) / 2
        reach = max(middle, len(numbers) - 1 - middle)
        step = min(14.0, sizes[target].width * 0.45 / reach) if reach else 0.0
        for at, n in enumerate(numbers):
            result[n] = step * (at - middle)
    return tuple(result)


def _last_column(route: Route, placed: GraphLayout) -> float:
    """Returns the column of a line in the layer above its end."""
    passed = placed.layers[route.target] - placed.layers[route.source] - 1
    return placed.trunks[route.trunk][passed - 1] if passed else placed.columns[route.source]


# -- drawing


def _frame(group: _Placed, place: Position) -> Iterator[Shape]:
    """Yields the shapes of a block with its frame and title."""
    (x, y), size = place, group.size
    yield Box("bar", x, y, size.width, size.height, 6)
    yield Label("head", x + PAD, y + 19, shortened(group.graph.title, 14, size.width - PAD))
    yield from _inside(group, (x + (size.width - group.layout.width) / 2, y + TITLE), TITLE)


def _folded_size(group: _Placed) -> Size:
    return Size(width_of(group.graph.title, 14) + 3 * PAD, TITLE + 4)


def _folded_frame(group: _Placed, place: Position) -> Iterator[Shape]:
    (x, y), size = place, _folded_size(group)
    yield Box("bar", x, y, size.width, size.height, 6)
    yield Label("head", x + PAD, y + 19, shortened(group.graph.title, 14, size.width - PAD))


def _inside(group: _Placed, origin: Position, above: float) -> Iterator[Shape]:
    """Yields the boxes and lines of a graph; `above` is the space between its first layer and the frame around it."""
    heights = group.layout.heights(group.sizes)
    tops = [origin[1]]
    for height in heights:
        tops.append(tops[-1] + height + BETWEEN)
    corners = [
        (origin[0] + column - size.width / 2, tops[layer] + (heights[layer] - size.height) / 2)
        for column, layer, size in zip(group.layout.columns, group.layout.layers, group.sizes, strict=True)
    ]
    for n in range(len(group.graph.lines)):
        yield from _line(group, n, corners, (tops, heights), (origin[0], above))
    for n, (node, corner) in enumerate(zip(group.graph.nodes, corners, strict=True)):
        if node.role != "port":
            yield from _box(group, n, corner)


def _box(group: _Placed, number: int, corner: Position) -> Iterator[Shape]:
    node, nested = group.graph.nodes[number], group.inside[number]
    at = ".".join(map(str, (*group.path, number)))
    (x, y), (width, height) = corner, group.sizes[number]
    room = width - 14
    lines = [text for text in (node.detail, *node.notes) if text]
    if node.role == "group" and nested:
        (inner,) = nested
        label = Label("sub", x + 8, y + 15, shortened(f"{node.label} · {node.detail}", SMALL, room))
        frame = Box("nest", x, y, width, height, 6)
        style = _frame_of(group, node)
        framed = [Box(style, x, y, width, height, 6)] if style else []
        yield ShapeGroup("box", (node.label, *lines), (frame, *framed, label), at=at)
        yield from _inside(inner, (x + (width - inner.layout.width) / 2, y + HEAD + PAD / 2), HEAD + PAD / 2)
        return
    shapes: list[Shape] = []
    is_op = node.role == "op"
    style = "card" if is_op else "fold" if node.role == "group" else "port"
    shapes.append(Box(style, x, y, width, height, 5 if is_op else 8 if node.role == "group" else 14))
    highlight = node.highlights[0] if node.highlights else None
    head, ink = (f"is-{node.family}", "onname") if is_op else ("", "name")
    if highlight is not None or (is_op and group.details.overlays):
        head = NO_FIGURE if highlight is None else highlight.style
        ink = f"on-{head}"
    if head:
        shapes.append(Box(head, x, y, width, HEAD, 5))
    frame = _frame_of(group, node)
    if frame:
        shapes.append(Box(frame, x, y, width, height, 5))
    shapes.append(Label(ink, x + 7, y + 15, shortened(node.label, 12, room)))
    for n, text in enumerate(lines):
        shown = tail_of(text, SMALL, room) if not n else shortened(text, SMALL, room)
        shapes.append(Label("sub", x + 7, y + HEAD + LINE_HEIGHT * (n + 1) - 1, shown))
    tooltip = (node.label, *lines) if node.item < 0 else tuple(group.details.tooltip(node.item))
    yield ShapeGroup("box", tooltip, tuple(shapes), at=at)
    left, top = x + PAD, y + height - PAD - max([g.size.height for g in nested], default=0.0)
    for inner in nested:
        yield from _frame(inner, (left, top))
        left += inner.size.width + PAD


def _frame_of(group: _Placed, node: Node) -> str:
    """Returns the style of the frame around a box, by the first overlay or else by differences; "" for none."""
    if group.details.overlays:
        return node.highlights[0].frame if node.highlights and node.highlights[0] is not None else ""
    return "differs" if node.marks else ""


def _line(
    group: _Placed,
    number: int,
    corners: Sequence[Position],
    layers: tuple[Sequence[float], Sequence[float]],
    frame: tuple[float, float],
) -> Iterator[Shape]:
    """Yields a line from the box of its value to the user of it; it ends in a tip unless the user is an open group."""
    line, route = group.graph.lines[number], group.routes[number]
    (tops, heights), (left, above) = layers, frame
    upper, lower = group.layout.layers[route.source], group.layout.layers[route.target]
    begin = _end(group, corners, route.source, line.source_port, 0.0)
    end = _end(group, corners, route.target, line.target_port, group.spread[number])
    is_entry = group.graph.nodes[route.source].role == "port"
    is_exit = group.graph.nodes[route.target].role == "port"
    bottom = corners[route.source][1] + group.sizes[route.source].height
    points = [(begin, bottom - above if is_entry else bottom), (begin, tops[upper] + heights[upper])]
    layer = upper + 1
    for x, passed in group.layout.runs[route.trunk]:
        last = min(layer + passed, lower) - 1
        if last < layer:
            break
        points += [(left + x, tops[layer]), (left + x, tops[last] + heights[last])]
        layer = last + 1
    points += [(end, tops[lower]), (end, corners[route.target][1] + (PAD * 1.5 if is_exit else 0.0))]
    tips: list[Shape] = []
    opened = line.target_port >= 0 and group.inside[route.target]
    if line.is_back:
        (x, y), sign = points[0], -1
        tips.append(Polygon("valuetip", ((x, y), (x - 3.5, y - 7 * sign), (x + 3.5, y - 7 * sign))))
    elif not is_exit and not opened:
        x, y = points[-1]
        tips.append(Polygon("valuetip", ((x, y), (x - 3.5, y - 7), (x + 3.5, y - 7))))
    mark = ".".join(map(str, group.path))
    ends = (f"{mark}.{route.source}", f"{mark}.{route.target}")
    yield ShapeGroup("arrow", (), (Curve("value", _curve(points)), *tips), ends=ends)


def _end(group: _Placed, corners: Sequence[Position], box: int, port: int, spread: float) -> float:
    """Returns where on the border of a box a line ends: at the port of an open group, else near its middle."""
    inside = group.inside[box]
    middle = corners[box][0] + group.sizes[box].width / 2
    if port < 0 or not inside:
        return middle + spread
    (inner,) = inside
    return middle - inner.layout.width / 2 + inner.layout.columns[port]


def _curve(points: Sequence[Position]) -> tuple[Position, ...]:
    """Returns the curves through points that leave and reach them vertically."""
    kept = [points[0]]
    for point, after in pairwise(points[1:]):
        # A column is one line however many layers it passes.
        if not (abs(kept[-1][0] - point[0]) < 0.05 and abs(after[0] - point[0]) < 0.05):
            kept.append(point)
    kept.append(points[-1])
    curve = [kept[0]]
    for a, b in pairwise(kept):
        middle = (a[1] + b[1]) / 2
        curve += [(a[0], middle), (b[0], middle), b]
    return tuple(curve)
