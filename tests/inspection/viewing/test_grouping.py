"""Groups of operations: modules in names, and layers that repeat."""

from __future__ import annotations

from commonir.base.grouping import Interval, intervals, live_counts

BODY = ["norm", "matmul", "split", "softmax", "matmul", "add", "mul", "add"]


def _live(types: list[str], cuts: set[int]) -> list[int]:
    """One value crosses the borders in `cuts`, three any other."""
    return [1 if n in cuts else 3 for n in range(len(types) + 1)]


def test_names_give_nested_modules() -> None:
    paths = [["net"]] * 5
    for layer in ("layers.0", "layers.1"):
        paths += [["net", layer]] + [["net", layer, "attn"]] * 10 + [["net", layer, "mlp"]] * 6 + [["net", layer]] * 2
    paths += [["net", "head"]] * 3
    result = intervals(paths, [""] * len(paths), [])
    assert result == (
        Interval(5, 24, "layers.0", (Interval(6, 16, "attn"), Interval(16, 22, "mlp"))),
        Interval(24, 43, "layers.1", (Interval(25, 35, "attn"), Interval(35, 41, "mlp"))),
    )


def test_repeated_operations_are_layers_cut_where_the_fewest_values_cross() -> None:
    types = ["embed", "cast", *BODY * 12, "head"]
    cuts = set(range(2, 99, 8))
    result = intervals([[]] * len(types), types, _live(types, cuts))
    assert [(i.start, i.stop) for i in result] == [(2 + 8 * n, 10 + 8 * n) for n in range(12)]
    assert result[0].label == "layer 1 of 12"


def test_encoder_and_decoder_have_layers_of_their_own() -> None:
    types = ["a", *BODY * 6, "b", *[*BODY, "cross", "gelu"] * 5]
    cuts = {1 + 8 * n for n in range(7)} | {50 + 10 * n for n in range(6)}
    result = intervals([[]] * len(types), types, _live(types, cuts))
    assert [i.label for i in result] == [
        *[f"layer {n} of 6" for n in range(1, 7)],
        *[f"layer {n} of 5" for n in range(1, 6)],
    ]


def test_small_programs_and_long_chains_have_no_groups() -> None:
    assert intervals([["a"]] * 20, ["x"] * 20, [1] * 21) == ()
    assert intervals([[]] * 200, ["neg"] * 200, [1] * 201) == ()
    assert intervals([[]] * 200, [str(n) for n in range(200)], [1] * 201) == ()


def test_values_that_cross_a_border_are_counted() -> None:
    """The value of 0 is last used by 2, that of 1 by 2, that of 2 by nothing before the end."""
    assert live_counts([(0, 2), (1, 2), (2, 3)], 3) == [0, 1, 2, 1]
