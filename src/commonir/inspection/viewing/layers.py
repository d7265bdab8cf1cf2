"""Computes the layout of a graph in layers: each box below its operands and near its neighbours.

The layer of a box is the longest path to it; boxes without operands are just above their first user. Lines reserve
space in the layers that they pass. The order within layers follows the median of neighbours. Then each layer is moved
towards its neighbours as far as the gaps between boxes allow, which has a unique optimum. Every step is linear in the
size of the graph, except for sorting within layers.

Source: Sugiyama, Tagawa and Toda, 1981, layered drawings; Ayer et al., 1955, pooling of adjacent violators.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from commonir.base.tuples import NamedTuple
from commonir.inspection.viewing.svg import Position

_SWEEPS = 8
_LINE_ROOM = 14.0
"""The room that a line takes that passes a layer."""
_STRAIGHT = 4.0
"""How much a line wants to be straight, where a box wants once for each neighbour to be near it."""
_LOOSE = 0.1

_LONGEST = 40
"""Lines through more layers than that are not drawn."""

Pair = tuple[int, int]


class Size(NamedTuple):
    """The size of a box."""

    width: float
    height: float


class GraphLayout(NamedTuple):
    """The upper left corners of boxes, and for each line the points at which it passes layers; None for a line that is
    too long to be drawn.
    """

    width: float
    height: float
    places: tuple[Position, ...]
    lines: tuple[tuple[Position, ...] | None, ...]


def layout(boxes: Sequence[Size], lines: Sequence[Pair], *, gap: float, between: float) -> GraphLayout:
    """Computes positions of boxes such that lines go down.

    Lines go from a box to one with a greater index; `gap` is the space beside boxes, `between` that between layers.
    """
    if not boxes:
        return GraphLayout(0.0, 0.0, (), ())
    graph = _Layers(boxes, lines, gap)
    graph.order()
    graph.move()
    return graph.placed(between)


class _Layers:
    """Boxes, and after them the points at which lines pass layers."""

    def __init__(self, boxes: Sequence[Size], lines: Sequence[Pair], gap: float) -> None:
        self._boxes = boxes
        self._lines = lines
        self._gap = gap
        self._layer = _layers_of(len(boxes), lines)
        self._widths = [box.width for box in boxes]
        self._above: list[list[int]] = [[] for _ in boxes]
        self._below: list[list[int]] = [[] for _ in boxes]
        self._passed = [self._passed_by(*line) for line in lines]
        self._rows: list[list[int]] = [[] for _ in range(max(self._layer) + 1)]
        for n, layer in enumerate(self._layer):
            self._rows[layer].append(n)
        self._x = [0.0] * len(self._layer)

    def _passed_by(self, source: int, target: int) -> list[int] | None:
        """Returns new points at which a line passes layers; None for a line that is not drawn."""
        if self._layer[target] - self._layer[source] > _LONGEST:
            return None
        result: list[int] = []
        before = source
        for layer in range(self._layer[source] + 1, self._layer[target]):
            result.append(len(self._layer))
            self._layer.append(layer)
            self._widths.append(_LINE_ROOM)
            self._above.append([before])
            self._below.append([])
            self._below[before].append(result[-1])
            before = result[-1]
        self._above[target].append(before)
        self._below[before].append(target)
        return result

    def _is_line(self, n: int) -> bool:
        return n >= len(self._boxes)

    def order(self) -> None:
        """Orders each layer by the median of neighbours, alternately from above and below."""
        rank = [0.0] * len(self._layer)
        for row in self._rows:
            for n, item in enumerate(row):
                rank[item] = float(n)
        for sweep in range(_SWEEPS):
            is_down = sweep % 2 == 0
            near = self._above if is_down else self._below
            for row in self._rows if is_down else reversed(self._rows):
                middle = {n: _median([rank[m] for m in near[n]], rank[n]) for n in row}
                row.sort(key=middle.__getitem__)
                # Ranks are parts of the whole, so that layers of other lengths can be compared.
                for at, n in enumerate(row):
                    rank[n] = (at + 0.5) / len(row)

    def move(self) -> None:
        """Moves boxes towards their neighbours, without changing their order."""
        for row in self._rows:
            at = 0.0
            for n in row:
                self._x[n] = at + self._widths[n] / 2
                at += self._widths[n] + self._gap
        for sweep in range(_SWEEPS):
            near = self._above if sweep % 2 == 0 else self._below
            for row in self._rows if sweep % 2 == 0 else reversed(self._rows):
                self._settle(row, [self._wish(n, near[n]) for n in row])
        for sweep in range(2 * _SWEEPS):
            straight = self._straight()
            for row in self._rows if sweep % 2 == 0 else reversed(self._rows):
                wishes = [
                    (straight[n], _STRAIGHT) if n in straight else self._wish(n, [*self._above[n], *self._below[n]])
                    for n in row
                ]
                self._settle(row, wishes)

    def _straight(self) -> dict[int, float]:
        """Returns the position at which all points of a line are vertically aligned."""
        out: dict[int, float] = {}
        for passed in self._passed:
            if passed:
                out |= dict.fromkeys(passed, sum([self._x[n] for n in passed]) / len(passed))
        return out

    def _wish(self, n: int, near: Sequence[int]) -> tuple[float, float]:
        """Returns the preferred position of a box or point, and its weight."""
        if not near:
            return self._x[n], _LOOSE
        return sum([self._x[m] for m in near]) / len(near), float(len(near))

    def _settle(self, row: Sequence[int], wishes: Sequence[tuple[float, float]]) -> None:
        """Moves everything in a layer as close to its preferred position as the gaps allow, in the least-squares
        sense.
        """
        offsets = [0.0]
        for a, b in pairwise(row):
            offsets.append(offsets[-1] + (self._widths[a] + self._widths[b]) / 2 + self._gap)
        # Blocks that stand together: where, how much they want that, how many they are.
        blocks: list[tuple[float, float, int]] = []
        for (x, weight), offset in zip(wishes, offsets, strict=True):
            block = (x - offset, weight, 1)
            while blocks and blocks[-1][0] > block[0]:
                at, heft, count = blocks.pop()
                both = heft + block[1]
                block = ((at * heft + block[0] * block[1]) / both, both, count + block[2])
            blocks.append(block)
        n = 0
        for at, _, count in blocks:
            for _ in range(count):
                self._x[row[n]] = at + offsets[n]
                n += 1

    def placed(self, between: float) -> GraphLayout:
        """Returns the layout, with the first box in the upper left corner."""
        left = min([self._x[n] - self._widths[n] / 2 for n in range(len(self._x))])
        heights = [max([self._boxes[n].height for n in row if not self._is_line(n)], default=0.0) for row in self._rows]
        tops = [0.0]
        for height in heights:
            tops.append(tops[-1] + height + between)
        xs = [x - left for x in self._x]
        places = [
            (xs[n] - box.width / 2, tops[self._layer[n]] + (heights[self._layer[n]] - box.height) / 2)
            for n, box in enumerate(self._boxes)
        ]
        lines = [
            None
            if passed is None
            else tuple([(xs[n], tops[self._layer[n]] + end) for n in passed for end in (0.0, heights[self._layer[n]])])
            for passed in self._passed
        ]
        width = max([x + w / 2 for x, w in zip(xs, self._widths, strict=True)])
        return GraphLayout(width, tops[-1] - between, tuple(places), tuple(lines))


def _layers_of(count: int, lines: Sequence[Pair]) -> list[int]:
    """Returns the layer of each box: below its operands; one without operands is just above its first user."""
    below: defaultdict[int, list[int]] = defaultdict(list)
    for source, target in lines:
        if source >= target:
            raise ValueError(f"a line goes from box {source} to box {target}, which does not come behind it")
        below[source].append(target)
    layers = [0] * count
    starts = [True] * count
    for n in range(count):
        for target in below[n]:
            layers[target] = max(layers[target], layers[n] + 1)
            starts[target] = False
    for n in range(count):
        if starts[n] and below[n]:
            layers[n] = min([layers[target] for target in below[n]]) - 1
    return layers


def _median(values: list[float], otherwise: float) -> float:
    if not values:
        return otherwise
    values.sort()
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2
