"""Random bits of `rng_bit_generator`: those that jax 0.10.2 returned on a CPU (XLA), for a counter that overflows."""
# ruff: noqa: E501  the numbers of one call stand on one line

from __future__ import annotations

import numpy as np
import pytest

import commonir as cir

_KEY = [7, 2**64 - 2]
_EXPECTED = [
    ("DEFAULT", (5,), "ui32", 0, [731124889, 1801596454, 4035119119, 8649945, 3825527345]),
    (
        "DEFAULT",
        (3, 5),
        "ui64",
        6,
        [
            7737797851250693273,
            37151234922317839,
            12582623120030231089,
            3721964000698584067,
            2113786144769580494,
            5095073197567980399,
            5738669472434535144,
            10102578601958010950,
            3401761582011377919,
            11470806458700434538,
            13172576836960087817,
            14322947801201513282,
            6301642391305006005,
            15528651998420427747,
            11395111425454638654,
        ],
    ),
    ("THREE_FRY", (), "ui32", 18446744073709551615, [3290684823]),
    (
        "THREE_FRY",
        (5,),
        "ui64",
        3,
        [11623698188067921303, 6868590399942727175, 13563526760692328810, 5731837475286458671, 1351350879580556977],
    ),
    (
        "THREE_FRY",
        (3, 5),
        "ui16",
        7,
        [56727, 44010, 38407, 8851, 10602, 41263, 37840, 36529, 63095, 37044, 23660, 18424, 1939, 57381, 25800],
    ),
    (
        "THREE_FRY",
        (3, 5),
        "ui32",
        7,
        [
            3290684823,
            2706353130,
            3493762567,
            1599218323,
            3901892970,
            2964889903,
            1334547408,
            407867057,
            314635895,
            730828980,
            639261804,
            993937400,
            1271531411,
            2450972709,
            4036977864,
        ],
    ),
    ("THREE_FRY", (4, 3), "ui8", 4, [151, 7, 106, 234, 147, 185, 47, 177, 180, 208, 119, 84]),
    ("PHILOX", (), "ui32", 18446744073709551615, [731124889]),
    (
        "PHILOX",
        (5,),
        "ui64",
        1,
        [7737797851250693273, 37151234922317839, 12582623120030231089, 3721964000698584067, 2113786144769580494],
    ),
    (
        "PHILOX",
        (3, 5),
        "ui16",
        2,
        [5273, 11814, 2063, 64729, 59953, 29967, 19459, 4745, 7630, 44364, 13167, 22036, 47848, 55674, 28742],
    ),
    (
        "PHILOX",
        (3, 5),
        "ui32",
        2,
        [
            731124889,
            1801596454,
            4035119119,
            8649945,
            3825527345,
            2929620239,
            4033760259,
            866587273,
            2720144846,
            492154188,
            229061487,
            1186289172,
            4225153768,
            1336138106,
            1965781062,
        ],
    ),
    ("PHILOX", (4, 3), "ui8", 1, [153, 38, 15, 217, 49, 15, 3, 137, 206, 76, 111, 20]),
]


def _generated(algorithm: str, type: str, state: list[int]) -> list[np.ndarray]:
    states = f"tensor<{len(state)}xui64>"
    program = cir.loads(
        f"""
        func.func @main(%s: {states}) -> ({states}, tensor<{type}>) {{
          %next, %bits = stablehlo.rng_bit_generator %s, algorithm = {algorithm} : ({states}) -> ({states}, tensor<{type}>)
          return %next, %bits : {states}, tensor<{type}>
        }}
        """,
        format="mlir",
    )
    return list(cir.run(program, {"s": np.array(state, np.uint64)}).values())


@pytest.mark.parametrize(("algorithm", "shape", "element", "counter", "bits"), _EXPECTED)
def test_bits_and_next_state_are_those_of_xla(
    algorithm: str, shape: tuple[int, ...], element: str, counter: int, bits: list[int]
) -> None:
    state, actual = _generated(algorithm, "x".join([*map(str, shape), element]), _KEY)
    assert state.tolist() == [_KEY[0], counter]
    assert actual.shape == shape
    assert actual.ravel().tolist() == bits


def test_a_state_of_three_numbers_holds_the_whole_counter() -> None:
    # One of two numbers has its key as the upper half of the counter.
    short, bits = _generated("PHILOX", "9xui32", _KEY)
    long, same = _generated("PHILOX", "9xui32", [*_KEY, _KEY[0]])
    assert bits.tolist() == same.tolist()
    assert long.tolist() == [*short.tolist(), _KEY[0] + 1]


def test_a_state_that_no_generator_has_is_refused() -> None:
    with pytest.raises(cir.DiagnosticError, match="the state of THREE_FRY is two integers of 64 bits"):
        _generated("THREE_FRY", "2xui32", [1, 2, 3])
    with pytest.raises(cir.DiagnosticError, match="random bits are integers, found f32"):
        _generated("PHILOX", "2xf32", [1, 2])
