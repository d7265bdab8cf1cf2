"""Layers of boxes: lines go down, nothing lies on anything else, and what belongs together stands together."""

from __future__ import annotations

import random

import pytest

from commonir.inspection.viewing.layers import Size, layout


def _random(seed: int, count: int) -> tuple[list[Size], list[tuple[int, int]]]:
    rng = random.Random(seed)
    boxes = [Size(rng.uniform(20, 200), rng.uniform(20, 80)) for _ in range(count)]
    lines = {(rng.randrange(max(0, n - 12), n), n) for n in range(1, count) for _ in range(rng.randrange(1, 4))}
    return boxes, sorted(lines)


@pytest.mark.parametrize("seed", range(20))
def test_boxes_do_not_touch_and_lines_go_down(seed: int) -> None:
    boxes, lines = _random(seed, 80)
    result = layout(boxes, lines, gap=10, between=30)
    corners = [(*place, *box) for place, box in zip(result.places, boxes, strict=True)]
    for n, (x, y, width, height) in enumerate(corners):
        assert x >= -1e-6
        assert x + width <= result.width + 1e-6
        assert y + height <= result.height + 1e-6
        for other_x, other_y, other_width, other_height in corners[:n]:
            beside = x >= other_x + other_width + 9.99 or other_x >= x + width + 9.99
            assert beside or y >= other_y + other_height + 29.99 or other_y >= y + height + 29.99
    for (source, target), passed in zip(lines, result.lines, strict=True):
        below = corners[source][1] + corners[source][3]
        assert passed is not None
        heights = [below, *[y for _, y in passed], corners[target][1]]
        assert heights == sorted(heights)


@pytest.mark.parametrize("seed", range(5))
def test_lines_that_pass_layers_keep_away_from_boxes(seed: int) -> None:
    boxes, lines = _random(seed, 60)
    result = layout(boxes, lines, gap=10, between=30)
    for passed in result.lines:
        assert passed is not None
        for x, y in passed:
            inside = [
                px <= x <= px + box.width and py <= y <= py + box.height
                for (px, py), box in zip(result.places, boxes, strict=True)
            ]
            assert not any(inside)


def test_chain_stands_in_one_column_and_two_ways_beside_it() -> None:
    box = Size(100, 30)
    chain = layout([box] * 4, [(0, 1), (1, 2), (2, 3)], gap=10, between=20)
    assert chain.places == ((0, 0), (0, 50), (0, 100), (0, 150))
    assert (chain.width, chain.height) == (100, 180)
    diamond = layout([box] * 4, [(0, 1), (0, 2), (1, 3), (2, 3)], gap=10, between=20)
    assert diamond.places == ((55, 0), (0, 50), (110, 50), (55, 100))


def test_what_uses_nothing_stands_just_above_its_first_user() -> None:
    box = Size(100, 30)
    result = layout([box] * 5, [(0, 1), (1, 2), (2, 4), (3, 4)], gap=10, between=20)
    assert [y for _, y in result.places] == [0, 50, 100, 100, 150]


def test_lines_through_very_many_layers_are_not_followed() -> None:
    count = 100
    lines = [(n, n + 1) for n in range(count - 1)]
    result = layout([Size(50, 20)] * count, [*lines, (0, count - 1)], gap=10, between=20)
    assert result.lines[-1] is None
    assert None not in result.lines[:-1]


def test_nothing_takes_no_room() -> None:
    assert layout([], [], gap=10, between=20).places == ()


def test_lines_up_are_refused() -> None:
    with pytest.raises(ValueError, match="does not come behind it"):
        layout([Size(1, 1)] * 2, [(1, 0)], gap=1, between=1)
