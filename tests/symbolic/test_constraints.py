"""Constraints that follow from others are not reported."""

from __future__ import annotations

import pytest

from commonir.symbolic import largest, symbol
from commonir.symbolic.constraints import Constraint, without_implied

K, L, M, N = (symbol(name) for name in "KLMN")
M_IS_N = Constraint(M, "==", N, "sizes")
MET = Constraint(M, "==", N, "broadcast", is_broadcast=True)


@pytest.mark.parametrize(
    ("reported", "implied"),
    [
        ([M_IS_N], [Constraint(N, "==", M, "sizes turned")]),
        ([M_IS_N, Constraint(N, "==", K, "others")], [Constraint(2 * K, "==", M + N, "sums")]),
        ([M_IS_N], [Constraint(N, "==", largest(M, N), "larger")]),
        ([Constraint(M, "==", 2 * N, "twice")], [Constraint(M, ">=", N, "room")]),
        ([Constraint(M * N, "==", K * L, "elements")], [Constraint(M * N, "<=", K * L, "room")]),
        ([Constraint(M, "==", N, "a rule", "C1")], [M_IS_N, MET]),
        ([Constraint(M, ">=", N + 1, "a rule", "C1")], [Constraint(M, ">=", N, "room")]),
        ([M_IS_N], [MET]),
    ],
    ids=str,
)
def test_what_follows_from_others_is_left_out(reported: list[Constraint], implied: list[Constraint]) -> None:
    assert without_implied([*reported, *implied, *reported]) == tuple(reported)


@pytest.mark.parametrize(
    "reported",
    [
        [MET, Constraint(N, "==", K, "sizes")],
        [Constraint(M, "==", N, "a rule", "C1"), Constraint(N, "==", M, "another rule", "C2")],
        [Constraint(M, "==", N, "sizes", unless_empty=(K,)), Constraint(M, ">=", N, "room")],
        [Constraint(M, "==", N * K, "product"), Constraint(M, "==", N + K, "sum")],
        [MET, Constraint(N, "==", largest(M, N), "larger")],
    ],
    ids=str,
)
def test_what_does_not_follow_is_reported(reported: list[Constraint]) -> None:
    assert without_implied(reported) == tuple(reported)


def test_a_rule_comes_before_what_has_no_label() -> None:
    rule = Constraint(M, "==", N, "a rule", "C1")
    assert without_implied([MET, M_IS_N, rule]) == (rule,)
    assert without_implied([MET, M_IS_N]) == (M_IS_N,)
