"""Layers of boxes: lines go down, nothing lies on anything else, and what belongs together stands together."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from commonir.inspection.viewing.layers import LINE_ROOM, GraphLayout, Route, Size, layout

GAP = 10.0


def _random(seed: int, count: int) -> tuple[list[float], list[Route]]:
    """Boxes of random widths, each of which uses some of the boxes before it."""
    rng = random.Random(seed)
    widths = [rng.uniform(20, 200) for _ in range(count)]
    lines = {(rng.randrange(max(0, n - 12), n), n) for n in range(1, count) for _ in range(rng.randrange(1, 4))}
    return widths, [Route(source, target, source) for source, target in sorted(lines)]


def _rows(widths: list[float], routes: list[Route], result: GraphLayout) -> list[list[tuple[float, float, object]]]:
    """Returns the left and right ends of boxes and trunks in each layer, from left to right."""
    rows: list[list[tuple[float, float, object]]] = [[] for _ in range(max(result.layers) + 1)]
    for n, (layer, x) in enumerate(zip(result.layers, result.columns, strict=True)):
        rows[layer].append((x - widths[n] / 2, x + widths[n] / 2, n))
    for trunk, columns in enumerate(result.trunks):
        source = next(route.source for route in routes if route.trunk == trunk) if columns else 0
        for at, x in enumerate(columns, result.layers[source] + 1):
            rows[at].append((x - LINE_ROOM / 2, x + LINE_ROOM / 2, ("trunk", trunk)))
    return [sorted(row, key=lambda part: part[0]) for row in rows]


@pytest.mark.fast_every(4)
@pytest.mark.parametrize("seed", range(20))
def test_lines_go_down_and_nothing_lies_on_anything_else(seed: int) -> None:
    widths, routes = _random(seed, 80)
    result = layout(widths, routes, gap=GAP)
    for source, target, trunk in routes:
        passed = result.layers[target] - result.layers[source] - 1
        assert 0 <= passed <= len(result.trunks[trunk])
    for row in _rows(widths, routes, result):
        assert row[0][0] >= -1e-6
        assert row[-1][1] <= result.width + 1e-6
        for (_, end, _), (begin, _, _) in pairwise(row):
            assert begin - end >= GAP - 1e-6


@pytest.mark.fast_every(4)
@pytest.mark.parametrize("seed", range(20))
def test_chains_and_trunks_are_straight(seed: int) -> None:
    """Boxes with one operand and one user stand below one another, and trunks are vertical lines."""
    widths, routes = _random(seed, 60)
    count = len(widths)
    # A chain of five boxes below the last one, which nothing else uses.
    chain = [Route(n, n + 1, count + n) for n in range(count - 1, count + 4)]
    routes = [*routes, *chain]
    result = layout([*widths, *[90.0] * 5], routes, gap=GAP)
    assert len({round(x, 6) for x in result.columns[count - 1 :]}) == 1
    bends = sum(abs(a - b) > 1e-6 for trunk in result.trunks for a, b in pairwise(trunk))
    assert bends <= sum(map(len, result.trunks)) * 0.15


def test_chain_stands_in_one_column_and_two_ways_beside_it() -> None:
    boxes = [100.0] * 4
    chain = layout(boxes, [Route(0, 1, 0), Route(1, 2, 1), Route(2, 3, 2)], gap=GAP)
    assert (chain.width, chain.columns, chain.layers) == (100, (50, 50, 50, 50), (0, 1, 2, 3))
    diamond = layout(boxes, [Route(0, 1, 0), Route(0, 2, 0), Route(1, 3, 1), Route(2, 3, 2)], gap=GAP)
    assert (diamond.columns, diamond.layers) == ((105, 50, 160, 105), (0, 1, 1, 2))
    assert diamond.heights([Size(100, height) for height in (20, 30, 50, 10)]) == [20, 50, 10]


def test_a_value_used_further_down_passes_beside_the_chain_between() -> None:
    boxes = [100.0] * 4
    result = layout(boxes, [Route(0, 1, 0), Route(1, 2, 1), Route(2, 3, 2), Route(0, 3, 0)], gap=GAP)
    assert len(set(result.columns)) == 1
    (x,) = set(result.trunks[0])
    assert len(result.trunks[0]) == 2
    assert abs(x - result.columns[0]) >= 50 + GAP + LINE_ROOM / 2


def test_users_of_one_value_share_its_trunk() -> None:
    count = 400
    chain = [Route(n, n + 1, n + 1) for n in range(count - 1)]
    mask = [Route(0, n, 0) for n in range(10, count, 10)]
    result = layout([50.0] * count, [*chain, *mask], gap=GAP)
    assert len(result.trunks[0]) == 389
    assert result.width < 50 + 3 * (GAP + LINE_ROOM)


def test_what_uses_nothing_stands_just_above_its_first_user() -> None:
    routes = [Route(0, 1, 0), Route(1, 2, 1), Route(2, 4, 2), Route(3, 4, 3)]
    assert layout([100.0] * 5, routes, gap=GAP).layers == (0, 1, 2, 2, 3)


def test_first_and_last_boxes_are_alone_in_their_layers() -> None:
    routes = [Route(0, 2, 0), Route(2, 3, 1), Route(1, 3, 2), Route(2, 5, 1), Route(3, 4, 3)]
    assert layout([10.0] * 6, routes, gap=GAP, first=(0, 1), last=(4, 5)).layers == (0, 0, 1, 2, 3, 3)


def test_crossings_that_are_not_needed_are_not_made() -> None:
    """Six pairs in a wrong order at first can be drawn without any crossing."""
    tops, order = range(1, 7), [3, 5, 1, 6, 2, 4]
    routes = [Route(0, n, 0) for n in tops]
    routes += [Route(top, 6 + at, top) for at, top in enumerate(order, 1)]
    result = layout([20.0] * 13, routes, gap=GAP)
    upper = sorted(tops, key=result.columns.__getitem__)
    lower = sorted(range(7, 13), key=result.columns.__getitem__)
    assert [order[n - 7] for n in lower] == upper


def test_nothing_takes_no_room() -> None:
    assert layout([], [], gap=GAP) == GraphLayout(0.0, (), (), (), ())


def test_lines_up_are_refused() -> None:
    with pytest.raises(ValueError, match="does not come behind it"):
        layout([1.0] * 2, [Route(1, 0, 0)], gap=1)
