"""Computes the layout of a graph in layers: each box below its operands and near its neighbours.

The layer of a box is the longest path to it; boxes without operands are just above their first user. A value that is
used further down has a trunk: a column through the layers in between, from which its users branch off. The order within
layers is that with the fewest crossings among the medians of neighbours, swept down and up. Coordinates are the median
of four alignments of boxes with their neighbours, so that chains and trunks are straight.

The result is in columns and layers, not in points: layers take the height of what they hold when it is drawn.

Source: Sugiyama, Tagawa and Toda, 1981, layered drawings; Gansner et al., 1993, medians and transpositions; Brandes and
Köpf, 2001, coordinates, with the compaction by longest paths of Pupyrev, Nachmanson and Kaufmann, 2010.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from commonir.base.tuples import NamedTuple

_SWEEPS = 12
_LARGE = 4_000
"""Graphs of more boxes and points than that are swept less often."""
LINE_ROOM = 10.0
"""The room that a trunk takes in a layer."""


class Size(NamedTuple):
    """The size of a box."""

    width: float
    height: float


class Route(NamedTuple):
    """A line from a box to another one below it; lines with one trunk begin at one box and share its column."""

    source: int
    target: int
    trunk: int


class GraphLayout(NamedTuple):
    """The centre and the layer of each box, and for each trunk its columns in the layers below its source.

    `width` is that of all boxes and trunks, whose left end is at 0. `runs` has each column of a trunk once, with the
    number of layers in which the trunk has it.
    """

    width: float
    columns: tuple[float, ...]
    layers: tuple[int, ...]
    trunks: tuple[tuple[float, ...], ...]
    runs: tuple[tuple[tuple[float, int], ...], ...]

    def heights(self, boxes: Sequence[Size]) -> list[float]:
        """Returns the height of each layer."""
        heights = [0.0] * (max(self.layers, default=-1) + 1)
        for layer, box in zip(self.layers, boxes, strict=True):
            heights[layer] = max(heights[layer], box.height)
        return heights


def layout(
    widths: Sequence[float],
    routes: Sequence[Route],
    *,
    gap: float,
    first: Sequence[int] = (),
    last: Sequence[int] = (),
) -> GraphLayout:
    """Computes columns and layers of boxes such that lines go down.

    Lines go from a box to one with a greater index; `gap` is the space beside boxes. The boxes `first` are alone in the
    first layer, the boxes `last` alone in the last one.
    """
    count = max([route.trunk for route in routes], default=-1) + 1
    if not widths:
        return GraphLayout(0.0, (), (), ((),) * count, ((),) * count)
    graph = _Layers(widths, routes, gap, _layers_of(len(widths), routes, first, last))
    graph.order()
    x = graph.coordinates()
    left = min([at - width / 2 for at, width in zip(x, graph.widths, strict=True)])
    right = max([at + width / 2 for at, width in zip(x, graph.widths, strict=True)])
    columns = tuple([at - left for at in x])
    trunks = [tuple([columns[n] for n in graph.trunks.get(trunk, ())]) for trunk in range(count)]
    runs = [tuple([(x, len(list(run))) for x, run in groupby(trunk)]) for trunk in trunks]
    boxes = slice(len(widths))
    return GraphLayout(right - left, columns[boxes], tuple(graph.layer[boxes]), tuple(trunks), tuple(runs))


class _Layers:
    """Boxes, and after them the points at which trunks pass layers."""

    def __init__(self, widths: Sequence[float], routes: Sequence[Route], gap: float, layers: list[int]) -> None:
        self.widths = list(widths)
        self.layer = layers
        self.trunks: dict[int, list[int]] = {}
        self._boxes = len(widths)
        self._gap = gap
        self._above: list[list[int]] = [[] for _ in widths]
        self._below: list[list[int]] = [[] for _ in widths]
        lowest: dict[int, int] = {}
        for source, target, trunk in routes:
            lowest[trunk] = max(lowest.get(trunk, layers[source]), layers[target])
        for source, target, trunk in routes:
            points = self.trunks.get(trunk)
            if points is None:
                points = self.trunks[trunk] = self._points(source, lowest[trunk])
            passed = layers[target] - layers[source] - 1
            self._join(points[passed - 1] if passed else source, target)
        rows: list[list[int]] = [[] for _ in range(max(layers) + 1)]
        self._rows = rows
        for n in self._depth_first():
            rows[layers[n]].append(n)
        self._place = [0] * len(layers)
        for row in rows:
            self._number(row)

    def _points(self, source: int, lowest: int) -> list[int]:
        """Returns new points below a box, in each layer down to that above the lowest user."""
        points: list[int] = []
        for layer in range(self.layer[source] + 1, lowest):
            point = len(self.layer)
            self.layer.append(layer)
            self.widths.append(LINE_ROOM)
            self._above.append([])
            self._below.append([])
            self._join(points[-1] if points else source, point)
            points.append(point)
        return points

    def _join(self, upper: int, lower: int) -> None:
        if lower not in self._below[upper]:
            self._below[upper].append(lower)
            self._above[lower].append(upper)

    def _depth_first(self) -> Iterator[int]:
        """Yields boxes and points, those that follow one another together."""
        seen = [False] * len(self.layer)
        for start in range(len(self.layer)):
            pending = [start] if not self._above[start] else []
            while pending:
                n = pending.pop()
                if not seen[n]:
                    seen[n] = True
                    yield n
                    pending += reversed(self._below[n])
        yield from [n for n, is_seen in enumerate(seen) if not is_seen]

    def _number(self, row: list[int]) -> None:
        for at, n in enumerate(row):
            self._place[n] = at

    # -- order

    def order(self) -> None:
        """Orders each layer by the median of neighbours, alternately from above and below; keeps the best order."""
        if max(map(len, self._rows)) == 1:
            return
        best, fewest = [list(row) for row in self._rows], self._crossings()
        for sweep in range(_SWEEPS if len(self.layer) <= _LARGE else 4):
            if not fewest:
                break
            is_down = sweep % 2 == 0
            near = self._above if is_down else self._below
            for row in self._rows if is_down else reversed(self._rows):
                self._sort(row, near, is_left=sweep % 4 < 2)
            if len(self.layer) <= _LARGE:
                self._transpose()
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(row) for row in self._rows], crossings
        self._rows = best
        for row in best:
            self._number(row)

    def _sort(self, row: list[int], near: list[list[int]], *, is_left: bool) -> None:
        """Sorts a layer by the medians of neighbours; what has none keeps its place."""
        place = self._place
        movable: list[tuple[float, int, int]] = []
        fixed: list[tuple[int, int]] = []
        for at, n in enumerate(row):
            if near[n]:
                movable.append((_median([place[m] for m in near[n]]), at if is_left else -at, n))
            else:
                fixed.append((at, n))
        movable.sort()
        row[:] = [n for _, _, n in movable]
        for at, n in fixed:
            row.insert(at, n)
        self._number(row)

    def _transpose(self) -> None:
        """Swaps neighbours in a layer while this removes crossings."""
        for _ in range(4):
            has_changed = False
            for row in self._rows:
                for at in range(len(row) - 1):
                    a, b = row[at], row[at + 1]
                    if self._crossed(a, b) > self._crossed(b, a):
                        row[at], row[at + 1] = b, a
                        self._place[a], self._place[b] = at + 1, at
                        has_changed = True
            if not has_changed:
                return

    def _crossed(self, left: int, right: int) -> int:
        """Returns the number of crossings of the lines of two neighbours in a layer."""
        place, crossings = self._place, 0
        for near in (self._above, self._below):
            if near[left] and near[right]:
                others = [place[m] for m in near[right]]
                crossings += sum([place[m] > other for m in near[left] for other in others])
        return crossings

    def _crossings(self) -> int:
        crossings = 0
        for row in self._rows[:-1]:
            passed: list[int] = []
            for n in row:
                ends = [self._place[m] for m in self._below[n]]
                crossings += sum([len(passed) - bisect_right(passed, end) for end in ends])
                for end in ends:
                    insort(passed, end)
        return crossings

    # -- coordinates

    def coordinates(self) -> list[float]:
        """Returns the centre of each box and point: the median of four alignments."""
        crossed = set(self._crossed_by_trunks())
        results: list[list[float]] = []
        for is_down in (True, False):
            for is_left in (True, False):
                x = self._compact(self._aligned(crossed, is_down=is_down, is_left=is_left), is_left=is_left)
                results.append(x if is_left else [-at for at in x])
        spans = [(min(x), max(x)) for x in results]
        low, high = min(spans, key=lambda span: span[1] - span[0])
        shifts = [low - span[0] if n % 2 == 0 else high - span[1] for n, span in enumerate(spans)]
        moved = [[at + shift for at in x] for x, shift in zip(results, shifts, strict=True)]
        return [sum(sorted(four)[1:3]) / 2 for four in zip(*moved, strict=True)]

    def _is_point(self, n: int) -> bool:
        return n >= self._boxes

    def _crossed_by_trunks(self) -> Iterator[tuple[int, int]]:
        """Yields the segments that cross a trunk, which stays straight."""
        for upper, lower in pairwise(self._rows):
            left, start = -1, 0
            for at, n in enumerate(lower):
                inner = [m for m in self._above[n] if self._is_point(m)] if self._is_point(n) else []
                if not inner and at < len(lower) - 1:
                    continue
                right = self._place[inner[0]] if inner else len(upper)
                for other in lower[start : at + 1]:
                    for m in self._above[other]:
                        is_inner = self._is_point(m) and self._is_point(other)
                        if not is_inner and not left <= self._place[m] <= right:
                            yield m, other
                start, left = at + 1, right

    def _wanted(self, n: int, near: list[list[int]], back: list[list[int]]) -> list[int]:
        """Returns the neighbours with which a box or point may stand in one column.

        A trunk continues itself, a box prefers boxes, and a trunk leaves the column of its box to what follows there.
        """
        points = [m for m in near[n] if self._is_point(m)]
        if self._is_point(n):
            if points:
                return points
            return [m for m in near[n] if all(map(self._is_point, back[m]))]
        return [m for m in near[n] if not self._is_point(m)] or points

    def _aligned(self, crossed: set[tuple[int, int]], *, is_down: bool, is_left: bool) -> list[int]:
        """Returns for each box and point the first of those with which it stands in one column."""
        root = list(range(len(self.layer)))
        taken = [False] * len(root)
        near, back = (self._above, self._below) if is_down else (self._below, self._above)
        sign = 1 if is_left else -1
        for row in self._rows if is_down else self._rows[::-1]:
            last = -1 << 60
            for n in row[::sign]:
                wanted = sorted(self._wanted(n, near, back), key=lambda m: sign * self._place[m])
                for m in wanted[(len(wanted) - 1) // 2 : len(wanted) // 2 + 1]:
                    at = sign * self._place[m]
                    segment = (m, n) if is_down else (n, m)
                    if last < at and not taken[m] and segment not in crossed:
                        taken[m] = True
                        root[n] = root[m]
                        last = at
                        break
        return root

    def _compact(self, root: list[int], *, is_left: bool) -> list[float]:
        """Returns coordinates of columns, as close together as boxes allow, to the left; then each to the right as far
        as its neighbour allows.
        """
        after: dict[int, dict[int, float]] = {n: {} for n in root}
        before: dict[int, int] = dict.fromkeys(after, 0)
        for row in self._rows:
            for a, b in pairwise(row if is_left else row[::-1]):
                apart = (self.widths[a] + self.widths[b]) / 2 + self._gap
                joined = after[root[a]]
                if root[b] not in joined:
                    before[root[b]] += 1
                joined[root[b]] = max(joined.get(root[b], 0.0), apart)
        at = dict.fromkeys(after, 0.0)
        order = [n for n, count in before.items() if not count]
        for n in order:
            for other, apart in after[n].items():
                at[other] = max(at[other], at[n] + apart)
                before[other] -= 1
                if not before[other]:
                    order.append(other)
        for n in reversed(order):
            room = min([at[other] - apart for other, apart in after[n].items()], default=at[n])
            at[n] = max(at[n], room)
        return [at[n] for n in root]


def _layers_of(count: int, routes: Sequence[Route], first: Sequence[int], last: Sequence[int]) -> list[int]:
    """Returns the layer of each box: below its operands; one without operands is just above its first user."""
    below: list[list[int]] = [[] for _ in range(count)]
    starts = [True] * count
    for source, target, _ in routes:
        if source >= target:
            raise ValueError(f"a line goes from box {source} to box {target}, which does not come behind it")
        below[source].append(target)
        starts[target] = False
    layers = [1 if first else 0] * count
    for n in first:
        layers[n] = 0
    for n in range(count):
        for target in below[n]:
            layers[target] = max(layers[target], layers[n] + 1)
    if last:
        bottom = max([layers[n] for n in range(count) if n not in set(last)], default=-1) + 1
        for n in last:
            layers[n] = bottom
    bounds = {*first, *last}
    for n in range(count):
        if starts[n] and below[n] and n not in bounds:
            layers[n] = min([layers[target] for target in below[n]]) - 1
    return layers


def _median(values: list[int]) -> float:
    values.sort()
    middle = len(values) // 2
    if len(values) % 2 or len(values) == 2:
        return values[middle] if len(values) % 2 else (values[0] + values[1]) / 2
    # Weighted towards the side where neighbours stand closer together.
    left, right = values[middle - 1] - values[0], values[-1] - values[middle]
    if left + right == 0:
        return (values[middle - 1] + values[middle]) / 2
    return (values[middle - 1] * right + values[middle] * left) / (left + right)
