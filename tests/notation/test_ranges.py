"""The range rule: inferred shapes against formulas written out and against reading, element by element."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from commonir.ir.types import f32, i64
from commonir.notation import (
    Constraint,
    Join,
    Kernel,
    NotationError,
    PaddingMode,
    Tensor,
    broadcast_shape,
    call,
    fold,
    formula,
    index,
    indices,
    join,
    lift,
    piece_extents,
    ranges,
    require,
    resolve,
    select,
    shape_of,
    total,
)
from commonir.symbolic import Dim, evaluate, floor_div, smallest, symbol

from tests.notation import kernels
from tests.notation.kernels import tensor
from tests.notation.oracle import Reader, ReadOutside, apply_view, run

N, M, C, H, W = (symbol(n) for n in "NMCHW")
i, j, k, m, n = (index(s) for s in "ijkmn")
MODES: tuple[PaddingMode, ...] = ("constant", "edge", "reflect", "wrap")
brief = settings(max_examples=60, deadline=None)


def shape(kernel: Kernel) -> tuple[Dim, ...]:
    return shape_of(kernel, ranges(kernel)[0])


def constraints(kernel: Kernel) -> tuple[str, ...]:
    return tuple(map(str, ranges(kernel)[1]))


def as_arrays(shapes: dict[str, Sequence[int]]) -> dict[str, np.ndarray]:
    """Different elements everywhere, small enough to be exact."""
    return {name: (np.arange(np.prod(s), dtype=np.float64) % 7 - 3).reshape(s) for name, s in shapes.items()}


# ---- shapes written out


def test_convolution_has_the_textbook_shape() -> None:
    k1 = kernels.conv((N, 3, H, W), (64, 3, 7, 7), (2, 2), (1, 1), ((3, 3), (3, 3)))
    assert shape(k1) == (N, 64, floor_div(H - 1, 2) + 1, floor_div(W - 1, 2) + 1)
    assert constraints(k1) == ()


def test_grouped_convolution_reads_every_channel_of_x() -> None:
    k1 = kernels.conv((1, 8, 5), (6, 4, 3), (1,), (1,), ((0, 0),), groups=2)
    assert shape(k1) == (1, 6, 3)
    with pytest.raises(NotationError, match="channels of x: expected 8, found 12") as caught:
        kernels.conv((1, 12, 5), (6, 4, 3), (1,), (1,), ((0, 0),), groups=2)
    assert (caught.value.lhs, caught.value.relation, caught.value.rhs) == (12, "==", 8)
    assert (caught.value.why, caught.value.label) == ("channels of x", "C1")


def test_transposed_convolution_has_the_textbook_shape() -> None:
    k1 = kernels.conv_transpose((1, 16, H), (16, 8, 3), (2,), ((1, 1),))
    assert shape(k1) == (1, 8, 2 * H - 1)


def test_matmul_needs_equal_inner_dimensions() -> None:
    assert shape(kernels.matmul((N, 4, M), (M, 5))) == (N, 4, 5)
    assert constraints(kernels.matmul((3, N), (M, 5))) == ("N == M (index k over axis 0 of b)",)
    with pytest.raises(NotationError, match="index k over axis 0 of b: expected 5, found 4"):
        ranges(kernels.matmul((3, 4), (5, 6)))


def test_a_number_is_the_range_of_an_index_that_also_reads_a_symbol() -> None:
    product = kernels.matmul((3, N), (5, 4))
    assert ranges(product)[0]["k"] == 5
    assert constraints(product) == ("N == 5 (index k over axis 0 of b)",)


def test_concatenation_adds_sizes() -> None:
    assert shape(kernels.concat(((N, 2), (N, 3), (N, M)), 1)) == (N, M + 5)
    assert constraints(kernels.concat(((N, 2), (M, 3)), 1)) == ("N == M (index i0 over axis 0 of x1)",)


def test_pooling_keeps_windows_inside() -> None:
    assert shape(kernels.max_pool((N, H), (3,), (2,))) == (N, floor_div(H - 3, 2) + 1)


def test_symbolic_slice_is_proven_to_stay_inside() -> None:
    assert constraints(kernels.slice_axis((N,), 1, -1, 1)) == ()


def test_a_reversed_read_bounds_its_index() -> None:
    assert shape(tensor("x", (N,))[N - 1 - i].by(i)) == (N,)
    assert shape(tensor("x", (10,))[7 - 2 * i].by(i)) == (4,)


def test_a_reshape_needs_equal_counts() -> None:
    assert shape(kernels.reshape((N, 12), (N, 3, 4))) == (N, 3, 4)
    with pytest.raises(NotationError, match="number of elements: expected 12, found 10"):
        kernels.reshape((3, 4), (2, 5))


def test_a_result_axis_of_size_one_is_written_one() -> None:
    assert shape(total(j, tensor("x", (N, M))[i, j]).by(i, 1)) == (N, 1)
    with pytest.raises(NotationError, match="a result axis is an index or 1, found 2"):
        lift(1.0).by(2)
    with pytest.raises(NotationError, match="index i stands for two result axes"):
        tensor("x", (3,))[i].by(i, i)


def test_a_range_that_no_access_bounds_is_explicit() -> None:
    iota = lift(i).by(i)
    with pytest.raises(NotationError, match="no access bounds index i; state its extent with where"):
        ranges(iota)
    assert shape(iota.where({i: N})) == (N,)


def test_an_explicit_range_may_read_less_than_the_axis_but_not_more() -> None:
    x = tensor("x", (10,))
    assert shape(x[i].by(i).where({i: 4})) == (4,)
    with pytest.raises(NotationError, match="index i over axis 0 of x: expected at most 10, found 11"):
        ranges(x[i].by(i).where({i: 11}))
    assert constraints(x[i].by(i).where({i: N})) == ("N <= 10 (index i over axis 0 of x)",)


def test_two_different_explicit_ranges_are_refused() -> None:
    x = tensor("x", (10,))[i].by(i)
    with pytest.raises(NotationError, match="two explicit extents of index i"):
        ranges((x.where({i: 3}), x.where({i: 4})))


def test_several_results_share_their_indices() -> None:
    x = tensor("x", (N, M))
    both = (total(j, x[i, j]).by(i), fold("maximum", j, x[i, j]).by(i))
    extents, actual = ranges(both)
    assert (extents, actual) == ({"i": N, "j": M}, ())
    assert formula(both, ("total", "top")) == "total[i] = Σ_{j} x[i, j]\ntop[i] = max_{j} x[i, j]"


def test_a_free_index_is_refused() -> None:
    with pytest.raises(NotationError, match="index j is neither a result axis nor folded"):
        ranges(tensor("x", (3, 4))[i, j].by(i))


def test_a_negative_extent_is_refused_and_zero_is_empty() -> None:
    with pytest.raises(NotationError, match="extent of index o0: expected at least 0, found -2"):
        ranges(kernels.conv((1, 1, 2), (1, 1, 5), (1,), (1,), ((0, 0),)))
    assert shape(kernels.conv((1, 1, 4), (1, 1, 5), (1,), (1,), ((0, 0),))) == (1, 1, 0)


def test_nothing_is_read_over_an_empty_range() -> None:
    assert shape(kernels.conv((0, 1, 5), (1, 1, 3), (1,), (1,), ((0, 0),))) == (0, 1, 3)
    x = tensor("x", (4,))
    assert shape(x[i + 9].by(i).where({i: 0})) == (0,)


def test_a_position_from_data_bounds_nothing() -> None:
    table, at = tensor("t", (N, 8)), Tensor("at", (M,), i64)
    assert shape(table[at[i], j].by(i, j)) == (M, 8)


def test_mirrored_padding_needs_enough_elements() -> None:
    x = tensor("x", (3,))
    with pytest.raises(NotationError, match=r"axis 0 of x padded by 3 \(mode reflect\): expected less than 3, found 3"):
        ranges(x.padded((3,), (0,), "reflect")[i].by(i))
    assert constraints(tensor("x", (N,)).padded((2,), (0,), "reflect")[i].by(i)) == (
        "2 < N (axis 0 of x padded by 2 (mode reflect))",
    )


def test_a_join_may_have_explicit_extents_of_its_pieces() -> None:
    x = tensor("x", (N,))
    body = join(i, [x[i], lift(0.0, f32)], (N, 2))
    assert shape(body.by(i)) == (N + 2,)
    with pytest.raises(NotationError, match="no access bounds index i in piece 1 of a join"):
        ranges(join(i, [x[i], lift(0.0, f32)]).by(i))


def test_a_piece_may_use_indices_that_are_ranged_elsewhere() -> None:
    x, y, z, w = tensor("x", (5, 2)), tensor("y", (3,)), tensor("z", (9,)), tensor("w", (3,))
    # Two indices are unknown where the piece reads them; accesses outside of the join give j < 4 and m < 2.
    body = join(i, [y[i], x[j + m, i]]) * z[2 * j + 1] * w[2 * m]
    assert shape(body.by(i, j, m)) == (5, 4, 2)
    with pytest.raises(NotationError, match=r"axis 0 of x read at j \+ m \+ 1: expected less than 5, found 5"):
        ranges((join(i, [y[i], x[j + m + 1, i]]) * z[2 * j + 1] * w[2 * m]).by(i, j, m))
    with pytest.raises(NotationError, match="no access bounds index j"):
        ranges(join(i, [y[i], x[j + m, i]]).by(i, j, m))


def test_a_constraint_does_not_bind_what_is_empty() -> None:
    b = symbol("B", 0)
    (actual,) = require(b + 3, "<=", 5, "size", unless_empty=(b,))
    assert str(actual) == "B + 3 <= 5 (size, unless B is 0)"
    assert actual.holds({"B": 0})
    assert actual.holds({"B": 2})
    assert not actual.holds({"B": 3})
    assert actual.bound({"B": 2}) == ()
    with pytest.raises(NotationError, match=r"size: expected at most 5, found 6"):
        actual.bound({"B": 3})


# ---- what fits, against rules of thumb written independently


sizes = st.integers(1, 6)


def refused(make: object) -> bool:
    assert callable(make)
    try:
        built = make()
        assert isinstance(built, Kernel)
        ranges(built)
    except NotationError:
        return True
    return False


def symbolic(prefix: str, shape_: Sequence[int]) -> tuple[list[Dim], dict[str, int]]:
    """A shape of symbols, and the values they stand for."""
    return [symbol(f"{prefix}{a}") for a in range(len(shape_))], {f"{prefix}{a}": s for a, s in enumerate(shape_)}


def violated(actual: Sequence[Constraint], values: dict[str, int]) -> bool:
    return not all(c.holds(values) for c in actual)


@brief
@given(st.lists(st.integers(0, 3), max_size=3), st.lists(st.integers(0, 3), max_size=3))
def test_broadcasting_fits_exactly_when_numpy_says_so(a: list[int], b: list[int]) -> None:
    try:
        expected = np.broadcast_shapes(tuple(a), tuple(b))
    except ValueError:
        assert refused(lambda: kernels.add(a, b))
        return
    assert shape(kernels.add(a, b)) == expected


@brief
@given(st.lists(sizes, min_size=2, max_size=4), st.lists(sizes, min_size=2, max_size=4))
def test_matmul_fits_exactly_when_numpy_says_so(a: list[int], b: list[int]) -> None:
    try:
        expected = np.matmul(np.zeros(a), np.zeros(b)).shape
    except ValueError:
        assert refused(lambda: kernels.matmul(a, b))
        return
    assert shape(kernels.matmul(a, b)) == expected
    both, _ = symbolic("a", a)
    right, _ = symbolic("b", b)
    if len(a) == len(b) == 2:
        extents, actual = ranges(kernels.matmul(both, right))
        values = {**symbolic("a", a)[1], **symbolic("b", b)[1]}
        assert not violated(actual, values)
        assert tuple(evaluate(d, values) for d in shape_of(kernels.matmul(both, right), extents)) == expected


@brief
@given(
    st.integers(1, 9),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(1, 3),
    st.tuples(st.integers(0, 2), st.integers(0, 2)),
    st.integers(1, 3),
    st.integers(1, 6),
    st.integers(1, 6),
    st.integers(1, 2),
)
def test_convolution_fits_exactly_when_the_rules_say_so(
    size: int,
    window: int,
    stride: int,
    dilation: int,
    pads: tuple[int, int],
    groups: int,
    channels: int,
    filters: int,
    per_group: int,
) -> None:
    room = size + sum(pads) - dilation * (window - 1) - 1
    out = room // stride + 1
    fits = channels == per_group * groups and filters % groups == 0 and out >= 0
    x, weight = (2, channels, size), (filters, per_group, window)
    options = ((stride,), (dilation,), (pads,), groups)
    assert refused(lambda: kernels.conv(x, weight, *options)) == (not fits)

    # With every size a symbol, the constraints are false exactly when the numbers do not fit.
    xs, weights = symbolic("x", x)[0], symbolic("w", weight)[0]
    values = {**symbolic("x", x)[1], **symbolic("w", weight)[1]}
    built = kernels.conv(xs, weights, *options)
    extents, actual = ranges(built)
    assert violated(actual, values) == (not fits)
    if fits:
        assert tuple(evaluate(d, values) for d in shape_of(built, extents)) == (2, filters, out)


@brief
@given(st.lists(st.lists(sizes, min_size=2, max_size=2), min_size=1, max_size=3), st.integers(0, 1))
def test_concatenation_fits_exactly_when_numpy_says_so(shapes: list[list[int]], axis: int) -> None:
    try:
        expected = np.concatenate([np.zeros(s) for s in shapes], axis).shape
    except ValueError:
        expected = None
    assert refused(lambda: kernels.concat(shapes, axis)) == (expected is None)
    named = [symbolic(f"s{a}_", s) for a, s in enumerate(shapes)]
    values = {name: v for _, actual in named for name, v in actual.items()}
    built = kernels.concat([s for s, _ in named], axis)
    extents, actual = ranges(built)
    assert violated(actual, values) == (expected is None)
    if expected is not None:
        assert shape(kernels.concat(shapes, axis)) == expected
        assert tuple(evaluate(d, values) for d in shape_of(built, extents)) == expected


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 6), st.integers(-8, 8), st.integers(-8, 8), st.sampled_from([-3, -2, -1, 1, 2, 3]))
def test_slices_are_those_of_python(size: int, start: int, stop: int, step: int) -> None:
    expected = np.arange(float(size))[start:stop:step]
    built = kernels.slice_axis((size,), start, stop, step)
    assert shape(built) == expected.shape
    np.testing.assert_array_equal(run(built, {"x": np.arange(float(size))}), expected)
    free = kernels.slice_axis((symbol("L", 0),), start, stop, step)
    extents, actual = ranges(free)
    assert evaluate(shape_of(free, extents)[0], {"L": size}) == len(expected)
    assert not violated(actual, {"L": size})


# ---- reading


affine = st.tuples(st.integers(-3, 3), st.integers(-2, 2), st.integers(-3, 8), st.integers(1, 3))


@settings(max_examples=60, deadline=None)
@given(affine, st.integers(1, 9), st.integers(0, 3))
def test_the_solved_range_is_the_largest_that_stays_inside(
    at: tuple[int, int, int, int], size: int, extent_j: int
) -> None:
    a, b, c, d = at
    assume(a != 0)
    x, w = tensor("x", (size,)), tensor("w", (extent_j,))
    built = total(j, x[floor_div(a * i + b * j + c, d)] * w[j]).by(i)

    def inside(p: int) -> bool:
        return all(0 <= (a * p + b * q + c) // d < size for q in range(extent_j))

    largest_range = next(p for p in itertools.count() if not inside(p)) if extent_j else None
    try:
        extents, actual = ranges(built)
    except NotationError:
        # Refused: not even the first position, or its lower end, stays inside, or the range would be negative.
        assert largest_range is None or largest_range == 0
        return
    assert not actual
    got = extents["i"]
    assert isinstance(got, int)
    if largest_range is not None:
        assert got == largest_range
        reader = Reader(as_arrays({"x": (size,), "w": (extent_j,)}), {"i": got, "j": extent_j})
        for p in range(got):
            reader.value(built.body, {"i": p})
        with pytest.raises(ReadOutside):
            reader.value(built.body, {"i": got})


@brief
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=2),
    st.data(),
)
def test_resolving_a_view_reads_what_numpy_shows(shape_: list[int], data: st.DataObject) -> None:
    x = tensor("x", shape_)
    rank = len(shape_)
    shown = np.arange(1.0, 1 + np.prod(shape_)).reshape(shape_)
    plain = shown
    for _ in range(data.draw(st.integers(1, 3))):
        kind = data.draw(st.sampled_from([*MODES, "dilated", "flat"]))
        if kind == "flat":
            seen = x.flat
        elif kind == "dilated":
            seen = x.dilated([data.draw(st.integers(1, 3)) for _ in x.shape])
        else:
            low = -1 if kind == "constant" else 0
            most = min(shown.shape, default=1) - 1 if kind == "reflect" else 3
            pads = [[data.draw(st.integers(low, max(most, 0))) for _ in x.shape] for _ in "ab"]
            assume(all(n + b + a > 0 for n, b, a in zip(shown.shape, *pads, strict=True)))
            seen = x.padded(pads[0], pads[1], MODES[MODES.index(kind)], -5.0 if kind == "constant" else 0)
        if seen is not x:
            shown = apply_view(seen.steps[-1][0], shown)
        x = seen
        assert x.shape == shown.shape
    assert len(resolve(x, [0] * x.rank)[0]) == rank
    for at in np.ndindex(*shown.shape):
        position, guards = resolve(x, at)
        content = (
            0 <= evaluate(g.position, {}) < evaluate(g.bound, {})
            if g.kind == "inside"
            else evaluate(g.position, {}) % evaluate(g.bound, {}) == 0
            for g in guards
        )
        failed = next((g for g, ok in zip(guards, content, strict=True) if not ok), None)
        assert shown[at] == (plain[tuple(evaluate(p, {}) for p in position)] if failed is None else failed.fill)


def test_kernels_compute_what_their_names_say() -> None:
    arrays = as_arrays({"x": (2, 4, 7), "w": (6, 2, 3)})
    built = kernels.conv((2, 4, 7), (6, 2, 3), (2,), (1,), ((1, 1),), groups=2)
    x = np.pad(arrays["x"], ((0, 0), (0, 0), (1, 1)))
    expected = np.zeros((2, 6, 4))
    for b, f, o, c, t in np.ndindex(2, 6, 4, 2, 3):
        expected[b, f, o] += x[b, f // 3 * 2 + c, 2 * o + t] * arrays["w"][f, c, t]
    np.testing.assert_array_equal(run(built, arrays), expected)


def test_the_extents_of_pieces_are_returned() -> None:
    built = kernels.concat(((2, 3), (2, 4)), 1)
    extents, _ = ranges(built)
    assert isinstance(built.body, Join)
    assert piece_extents(built.body, extents) == (3, 4)


def test_select_guards_no_access() -> None:
    x = tensor("x", (4,))
    body = select(call("less", i, 4), x[i], 0.0)
    with pytest.raises(NotationError, match="expected at most 4, found 6"):
        ranges(body.by(i).where({i: 6}))


def test_broadcast_shape_of_symbols_has_the_larger_one_and_asks_for_equality() -> None:
    assert broadcast_shape((N, 1), (4,)) == ((N, 4), ())
    size, actual = broadcast_shape((N,), (M,))
    assert [str(n) for n in size] == ["max(M, N)"]
    assert [str(c) for c in actual] == ["M == N (broadcast axis -1)"]


@pytest.mark.parametrize("shapes", [("N", "M"), ("N", "M", "K"), ("N", "1", "M"), ("N", "3"), ("N", "0")])
def test_broadcast_dims_of_symbols_are_those_of_numpy_for_all_small_sizes(shapes: tuple[str, ...]) -> None:
    dims = [int(s) if s.isdigit() else symbol(s, 0) for s in shapes]
    (dim,), constraints = broadcast_shape(*[(d,) for d in dims])
    for sizes in itertools.product(range(5), repeat=3):
        values = dict(zip("NMK", sizes, strict=True))
        actual = [evaluate(d, values) for d in dims]
        try:
            expected = np.broadcast_shapes(*[(n,) for n in actual])
        except ValueError:
            assert not all(c.holds(values) for c in constraints)
        else:
            assert (evaluate(dim, values),) == expected


def test_a_broadcast_with_a_part_of_an_axis_has_the_dim_of_the_axis() -> None:
    """As positions of tokens, a slice of a table, are added to embeddings: what reads the sum needs no new symbol."""
    n = symbol("n", 0)
    (dim,), _ = broadcast_shape((n,), (smallest(n, 256),))
    assert dim == n


def test_index_ranges_of_any_rank_are_tuples() -> None:
    at = indices("s", 3)
    assert [str(a) for a in at] == ["s0", "s1", "s2"]
