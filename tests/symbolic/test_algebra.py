"""Symbolic expressions against plain integers: a claim must hold for random values of the symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonir.symbolic import (
    Dim,
    at_least,
    bounds,
    ceil_div,
    coefficient,
    compare,
    declared_symbols,
    element_count,
    evaluate,
    extreme,
    floor_div,
    index,
    largest,
    modulo,
    names,
    parse,
    smallest,
    substitute,
    substitute_indices,
    symbol,
    symbols,
    text,
    within,
)
from commonir.symbolic.errors import NotKnownError

LEAST = {"N": 1, "M": 1, "B": 0, "K": 2}
EXTENT = {"i": 5, "j": 3}

Values = Mapping[str, int]
Case = tuple[Dim, Callable[[Values], int]]
"""An expression, and the same computed with plain integers."""


def leaf(name: str) -> Case:
    built = index(name) if name in EXTENT else symbol(name, LEAST[name])
    return built, lambda v: v[name]


def number(n: int) -> Case:
    return n, lambda _: n


def add(a: Case, b: Case) -> Case:
    return a[0] + b[0], lambda v: a[1](v) + b[1](v)


def subtract(a: Case, b: Case) -> Case:
    return a[0] - b[0], lambda v: a[1](v) - b[1](v)


def multiply(a: Case, b: Case) -> Case:
    return a[0] * b[0], lambda v: a[1](v) * b[1](v)


def floor(a: Case, b: Case) -> Case:
    return floor_div(a[0], b[0]), lambda v: a[1](v) // b[1](v)


def ceil(a: Case, b: Case) -> Case:
    return ceil_div(a[0], b[0]), lambda v: -(-a[1](v) // b[1](v))


def mod(a: Case, b: Case) -> Case:
    return modulo(a[0], b[0]), lambda v: a[1](v) % b[1](v)


def maximum(a: Case, b: Case) -> Case:
    return largest(a[0], b[0]), lambda v: max(a[1](v), b[1](v))


def minimum(a: Case, b: Case) -> Case:
    return smallest(a[0], b[0]), lambda v: min(a[1](v), b[1](v))


leaves = st.one_of(st.sampled_from([*LEAST, *EXTENT]).map(leaf), st.integers(-9, 9).map(number))
positive = st.sampled_from(["N", "M", "K"]).map(leaf)
divisors = st.one_of(
    st.integers(1, 8).map(number),
    positive,
    st.builds(add, positive, st.integers(1, 4).map(number)),
    st.builds(multiply, positive, st.integers(1, 4).map(number)),
    st.builds(multiply, positive, positive),
    st.integers(-5, -1).map(number),
)


def grow(inner: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    either = st.sampled_from([add, subtract, multiply, maximum, minimum])
    division = st.sampled_from([floor, ceil, mod])
    scaled = st.builds(multiply, inner, st.integers(-4, 4).map(number))
    return st.one_of(
        st.builds(lambda f, a, b: f(a, b), either, inner, inner),
        st.builds(lambda f, a, b: f(a, b), division, inner, divisors),
        st.builds(add, scaled, inner),
    )


expressions = st.recursive(leaves, grow, max_leaves=7)
values = st.fixed_dictionaries(
    {n: st.integers(low, low + 12) for n, low in LEAST.items()} | {i: st.integers(0, n - 1) for i, n in EXTENT.items()}
)
many = settings(max_examples=2 * settings().max_examples, deadline=None)


@many
@given(expressions, values)
def test_arithmetic_agrees_with_integers(case: Case, v: Values) -> None:
    expression, oracle = case
    assert evaluate(expression, v) == oracle(v)


@many
@given(expressions, values)
def test_bounds_contain_every_value(case: Case, v: Values) -> None:
    low, high = bounds(case[0])
    assert low <= case[1](v) <= high
    assert all(b in (inf, -inf) or isinstance(b, int) for b in (low, high))


@pytest.mark.slow
@many
@given(expressions, expressions, st.lists(values, min_size=1, max_size=5))
def test_comparisons_claim_only_what_holds(a: Case, b: Case, points: list[Values]) -> None:
    same, above = compare(a[0], b[0]), at_least(a[0], b[0])
    for v in points:
        left, right = a[1](v), b[1](v)
        assert same is None or same == (left == right)
        assert not above or left >= right


@many
@given(expressions, leaves, values)
def test_substitution_agrees_with_integers(case: Case, new: Case, v: Values) -> None:
    replaced = substitute(substitute_indices(case[0], {"i": 4}), {"M": new[0] * new[0] + 1})
    assert evaluate(replaced, v) == case[1]({**v, "M": new[1](v) ** 2 + 1, "i": 4})


@many
@given(expressions, values)
def test_extremes_enclose_the_values_over_the_ranges(case: Case, v: Values) -> None:
    lowest, highest = extreme(case[0], EXTENT, False), extreme(case[0], EXTENT, True)
    assert not names(lowest)
    assert not names(highest)
    result = [case[1]({**v, "i": i, "j": j}) for i in range(EXTENT["i"]) for j in range(EXTENT["j"])]
    assert evaluate(lowest, v) <= min(result)
    assert evaluate(highest, v) >= max(result)


@many
@given(expressions, values)
def test_dropping_constant_floors_keeps_the_values(case: Case, v: Values) -> None:
    assert evaluate(within(case[0], EXTENT), v) == case[1](v)


@many
@given(expressions)
def test_parse_is_the_inverse_of_text(case: Case) -> None:
    known: dict[str, Dim] = {i: index(i) for i in EXTENT}
    assert parse(text(case[0]), known) == case[0]


@many
@given(expressions, values)
def test_names_show_what_the_value_depends_on(case: Case, v: Values) -> None:
    used = {*names(case[0]), *symbols(case[0])}
    assert evaluate(case[0], {n: x for n, x in v.items() if n in used}) == case[1](v)
    assert {s.name for s in declared_symbols(case[0])} == set(symbols(case[0]))


@many
@given(expressions, values)
def test_a_coefficient_is_the_difference_of_neighbours(case: Case, v: Values) -> None:
    step = coefficient(case[0], "i", is_index=True)
    if step is not None:
        assert case[1]({**v, "i": v["i"] + 1}) - case[1](v) == step


@many
@given(expressions)
def test_equal_expressions_have_equal_hashes(case: Case) -> None:
    again = substitute(substitute(case[0], {"N": symbol("Q")}), {"Q": symbol("N")})
    if again == case[0]:
        assert hash(again) == hash(case[0])


def test_an_expression_of_too_many_symbols_is_not_known() -> None:
    sums: list[Dim] = [symbol(f"a{k}") + symbol(f"b{k}") + symbol(f"c{k}") + symbol(f"d{k}") for k in range(8)]
    with pytest.raises(NotKnownError, match="more than 512 symbols"):
        element_count(sums)
