"""Indices under floor and mod as digits: of sizes that are numbers, and of symbols."""

from __future__ import annotations

from commonir.notation.digits import digits_of
from commonir.symbolic import floor_div, index, modulo, symbol

H, W = symbol("h"), symbol("w")
i = index("i")


def test_divisors_that_divide_one_another_are_digits() -> None:
    assert digits_of([modulo(floor_div(i, 4), 6), modulo(i, 4)], {"i": 48}) == {
        "i": [("i.2", 2, 24), ("i.1", 6, 4), ("i.0", 4, 1)]
    }
    assert digits_of([modulo(i, 4), modulo(i, 6)], {"i": 48}) == {}


def test_sizes_of_digits_may_be_symbols() -> None:
    rows, columns = modulo(floor_div(i, W), H), modulo(i, W)
    expected = {"i": [("i.2", 8, H * W), ("i.1", H, W), ("i.0", W, 1)]}
    assert digits_of([floor_div(floor_div(i, W), H), rows, columns], {"i": 8 * H * W}) == expected
    assert digits_of([floor_div(i, H * W), rows, columns], {"i": 8 * H * W}) == expected
    assert digits_of([rows, columns], {"i": symbol("n")}) == {}
