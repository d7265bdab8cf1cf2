"""Written-out cases of symbolic expressions: normal forms, what is provable, text, and what the reader refuses."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonir.symbolic import (
    Dim,
    DimExpr,
    DimSyntaxError,
    at_least,
    bounds,
    ceil_div,
    coefficient,
    compare,
    element_count,
    evaluate,
    extreme,
    floor_div,
    index,
    largest,
    modulo,
    parse,
    plain,
    smallest,
    substitute,
    substitute_indices,
    symbol,
    text,
    within,
)

N, M, H = symbol("N"), symbol("M"), symbol("H")
i, j, f = index("i"), index("j"), index("f")


def test_a_constant_is_an_int() -> None:
    assert type(N - N + 3) is int
    assert type(N * 0) is int
    assert type(floor_div(4 * N, 2 * N)) is int
    assert type(largest(N, N + 2) - N) is int


def test_two_symbols_are_never_merged() -> None:
    assert compare(N, M) is None
    assert compare(N, symbol("N")) is True
    assert compare(N + 1, N) is False
    assert N != M


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (2 * N, 5, False),  # even is not odd
        (2 * N, 4, None),
        (N, 0, False),  # a symbol is at least 1
        (symbol("B", 0), 0, None),
        (N * N, -1, False),
        (floor_div(N + 1, 2), ceil_div(N, 2), True),
        (N // 2 + (N + 1) // 2, N, True),
        (modulo(N * N, 2), modulo(N, 2), None),  # true, but beyond intervals
        (largest(N, M), smallest(N, M), None),
        (largest(N, M), 0, False),
        (3 * (N // 2), 2 * (N // 2) + N // 2, True),
    ],
)
def test_equality_is_decided_where_intervals_decide_it(a: Dim, b: Dim, expected: bool | None) -> None:
    assert compare(a, b) is expected


def test_order_is_proven_through_floors_and_extremes() -> None:
    assert at_least(N, floor_div(N, 2))
    assert at_least(floor_div(N + M, 3), floor_div(N, 3))
    assert at_least(N, smallest(N, M))
    assert at_least(largest(N, M) + 1, N)
    assert at_least(smallest(largest(N - 3, 0), N), 0)
    assert at_least(N, smallest(largest(N - 3, 0), N))
    assert not at_least(N, M)
    assert not at_least(N - 2, 0)


def test_division_cancels_what_it_can() -> None:
    assert floor_div(6 * N * M, 3 * N) == 2 * M
    assert floor_div((N + 1) * (M + 2), N + 1) == M + 2
    rounded = 16 * N * floor_div(M + 3, 4) * floor_div(H + 3, 4)  # written with remainders, not with floors
    assert floor_div(rounded, 16 * N) == floor_div(M + 3, 4) * floor_div(H + 3, 4)
    assert floor_div(rounded, N * floor_div(rounded, 16 * N)) == 16
    assert floor_div(rounded - 3, 16) == N * floor_div(M + 3, 4) * floor_div(H + 3, 4) - 1
    assert modulo(rounded, 16) == 0
    assert floor_div(floor_div(N, 2), 3) == floor_div(N, 6)
    assert floor_div(floor_div(N, 2) + 1, 3) == floor_div(N + 2, 6)
    assert floor_div(N, N + 1) == 0


def test_a_multiple_of_a_rounded_quotient_divides_without_a_rest() -> None:
    assert floor_div(3 * floor_div(N, 3), 3) == floor_div(N, 3)
    assert floor_div(2 * ceil_div(N, 2) + 1, 2) == ceil_div(N, 2)
    assert floor_div(N - modulo(N, 5) + 4, 5) == floor_div(N, 5)
    assert str(floor_div(5 * ceil_div(N, 5) - 5, 5) + 1) == "ceil(N / 5)"
    assert modulo(N, N + 1) == N
    assert modulo(4 * N + 3, 4) == 3
    assert modulo(modulo(N, 8), 4) == modulo(N, 4)
    assert 4 * floor_div(N, 4) + modulo(N, 4) == N


def test_division_by_zero_is_refused() -> None:
    with pytest.raises(ZeroDivisionError):
        floor_div(N, 0)
    with pytest.raises(ZeroDivisionError):
        modulo(N, 0)


def test_the_normal_form_keeps_the_bound_of_a_grouped_channel() -> None:
    # 16 * floor(f / 8) is kept as 2*f - 2*(f mod 8), whose terms alone would give 2 * 31 = 62.
    channel = 16 * floor_div(f, 8) + i
    assert extreme(channel, {"f": 32, "i": 16}, True) == 63
    assert extreme(channel, {"f": 32, "i": 16}, False) == 0
    assert bounds(N - modulo(N, 4))[0] == 0


def test_extremes_stay_symbolic() -> None:
    assert extreme(2 * i + j, {"i": N, "j": 3}, True) == 2 * N
    assert extreme(N - 1 - i, {"i": N}, False) == 0
    assert extreme(i * M + j, {"i": N, "j": M}, True) == N * M - 1
    assert extreme(i * (2 * M - 1) + j, {"i": N, "j": 2 * M - 1}, True) == N * (2 * M - 1) - 1
    assert extreme(i * (1 - 2 * M), {"i": N}, False) == (N - 1) * (1 - 2 * M)


def test_ranges_remove_floors() -> None:
    at = i * 6 + j
    assert within(floor_div(at, 6), {"i": 4, "j": 6}) == i
    assert within(modulo(at, 6), {"i": 4, "j": 6}) == j
    assert within(floor_div(at, 18), {"i": 9, "j": 6}) == floor_div(i, 3)
    assert within(modulo(at, 18), {"i": 9, "j": 6}) == 6 * modulo(i, 3) + j
    assert within(floor_div(i * M + j, M), {"i": N, "j": M}) == i
    assert within(modulo(i * M + j, M), {"i": N, "j": M}) == j


def test_substitution_is_simultaneous() -> None:
    assert substitute(N - M, {"N": M, "M": N}) == M - N


def test_an_index_and_a_symbol_may_have_one_name() -> None:
    same = N * 8 + index("N")
    assert substitute(same, {"N": 2}) == 16 + index("N")
    assert substitute_indices(same, {"N": 2}) == N * 8 + 2
    assert coefficient(same, "N", is_index=True) == 1
    assert coefficient(same, "N", is_index=False) == 8


def test_nothing_is_claimed_of_divisions_by_what_may_be_zero() -> None:
    kept = largest(smallest(N, 3) - 2, 0)
    assert not at_least(-floor_div(M - 1, kept), 0)


def test_a_missing_value_is_named() -> None:
    with pytest.raises(ValueError, match="symbol 'M' has no value"):
        evaluate(N + M, {"N": 1})


def test_plain_is_an_index_alone() -> None:
    assert plain(i) == "i"
    assert plain(2 * i) is None
    assert plain(i + 1) is None
    assert plain(N) is None


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (element_count(()), "1"),
        (floor_div(H + 1, 2), "floor((H + 1) / 2)"),
        (floor_div(H - 3, 2) + 1, "floor((H + 1) / 2) - 1"),
        (2 * N * M - 3, "2*M*N - 3"),
        (-N + 1, "-N + 1"),
        (M - N, "M - N"),
        (ceil_div(N, 4), "ceil(N / 4)"),
        (floor_div(3 - N, 4), "-ceil((N - 3) / 4)"),
        (modulo(N + 1, 4), "((N + 1) mod 4)"),
        (4 * floor_div(N, 4), "4*floor(N / 4)"),
        (largest(N, 3, M), "max(3, M, N)"),
        (smallest(N, 3), "min(3, N)"),
        (M - smallest(N, 3), "M - min(3, N)"),
        (symbol("batch-size"), "'batch-size'"),
        (symbol("p2o.N") + symbol("x.0"), "p2o.N + x.0"),
        (symbol("x.") + symbol(".0"), "'.0' + 'x.'"),
        (symbol('it\'s "N"'), "'it\\27s \\22N\\22'"),
        (symbol("floor"), "'floor'"),
        (symbol("B", 0) + symbol("K", 2) + N, "B + K + N where B >= 0, K >= 2"),
    ],
)
def test_text(x: Dim, expected: str) -> None:
    assert text(x) == expected
    assert parse(expected) == x


def test_str_leaves_out_the_least_values() -> None:
    assert str(symbol("B", 0) + 1) == "B + 1"


def test_parse_reads_what_a_person_writes() -> None:
    assert parse("ceil(N / 4)") == ceil_div(N, 4)
    assert parse("-(N - M) * 2 + 2*N") == 2 * M
    assert parse(" N*M mod 8 ") == modulo(N * M, 8)
    assert parse("i + N", {"i": i}) == i + N
    assert parse("7") == 7


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "expected an expression at offset 0"),
        ("N +", "expected an expression at offset 3"),
        ("N M", "unexpected 'M' at offset 2"),
        ("N $ M", "unexpected '\\$' at offset 2"),
        ("floor(N)", "expected '/' at offset 7"),
        ("floor(N / 0)", "expected a positive divisor at offset 10, found 0"),
        ("N mod (1 - 2)", "expected a positive divisor"),
        ("(N", "expected '\\)' at offset 2"),
        ("N where M", "expected '>=' at offset 9"),
        ("N where 3 >= 2", "expected a name at offset 8"),
        ("N where N >= 2 M", "unexpected 'M'"),
        ("mod", "found 'mod'"),
        ("(" * 200 + "N" + ")" * 200, "nested more than 64 deep"),
        ("9" * 500, "number of 500 digits"),
        ("+".join(["N"] * 9000), "the limit is 8192"),
        ("*".join(f"(A{k} + B{k})" for k in range(10)), "more than 512 symbols"),
        ("(" + ") * (".join([" + ".join(f"{c}{k}" for k in range(12)) for c in "AB"]) + ")", "more than 128 terms"),
        (" + ".join(f"A{k}" for k in range(600)), "more than 512 symbols"),
        ("*".join(["N"] * 40), "degree above 16"),
        ("max(" + ", ".join(f"A{k}" for k in range(40)) + ")", "more than 32 arguments"),
        ("'a\\ff'", "is not UTF-8"),
    ],
)
def test_parse_refuses(source: str, message: str) -> None:
    with pytest.raises(DimSyntaxError, match=message):
        parse(source)


@settings(max_examples=3 * settings().max_examples, deadline=None)
@given(st.text(alphabet="NM01 +-*/(),'\\'>=floormaxindwhe", max_size=40))
def test_parse_of_anything_gives_an_expression_or_a_syntax_error(source: str) -> None:
    try:
        x = parse(source)
    except DimSyntaxError:
        return
    assert isinstance(x, (int, DimExpr))
    assert parse(text(x)) == x


@given(st.text(min_size=1, max_size=12))
def test_every_name_survives_text(name: str) -> None:
    assert parse(text(symbol(name) * 2 + 1)) == symbol(name) * 2 + 1


def test_text_is_the_same_in_every_process() -> None:
    code = (
        "from commonir.symbolic import *\n"
        "s = [symbol(n) for n in 'ABCDEFGH']\n"
        "print(text(largest(*s)), text(element_count(s) + sum(s) + floor_div(s[0] + s[1], s[2] + s[3])))"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(seed), check=True)
        for seed in ("1", "2", "3")
    ]
    assert len({r.stdout for r in runs}) == 1


def environment(seed: str) -> dict[str, str]:
    return {"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": seed}
