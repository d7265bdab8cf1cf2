"""Divisions of axes: through reshapes, and of constants. The oracle numbers elements by the rank that has them."""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from commonir.ir.data import Data, FileData, InlineData, MappedFile, SplatData, data_of
from commonir.ir.types import TensorType, f32, i32
from commonir.passes.shard.layout import Split, reshaped, shard_of, shard_type
from commonir.symbolic import symbol

from tests.passes.shard.programs import Array


def owners(shape: tuple[int, ...], split: Split, ranks: int) -> Array:
    """The rank that has each element: blocks of a period along an axis are given to ranks in equal parts."""
    at = np.arange(shape[split.axis]) % split.period // (split.period // ranks)
    return np.broadcast_to(at.reshape([-1 if n == split.axis else 1 for n in range(len(shape))]), shape)


@st.composite
def divisions(draw: st.DrawFn) -> tuple[tuple[int, ...], Split, tuple[int, ...], int]:
    """A shape, a division of it, another shape of as many elements, and a number of ranks."""
    ranks = draw(st.sampled_from([2, 3, 4]))
    factors = draw(st.lists(st.sampled_from([1, 2, 2, 3, ranks]), min_size=1, max_size=6))

    def shape() -> tuple[int, ...]:
        cuts = sorted(draw(st.lists(st.integers(0, len(factors)), max_size=3)))
        return tuple([prod(factors[a:b]) for a, b in zip([0, *cuts], [*cuts, len(factors)], strict=True)])

    source, target = shape(), shape()
    axis = draw(st.integers(0, len(source) - 1))
    periods = [p for p in range(ranks, source[axis] + 1, ranks) if source[axis] % p == 0]
    return source, Split(axis, draw(st.sampled_from(periods)) if periods else 0), target, ranks


@given(divisions())
def test_division_survives_a_reshape_only_where_each_rank_keeps_its_elements(
    drawn: tuple[tuple[int, ...], Split, tuple[int, ...], int],
) -> None:
    source, split, target, ranks = drawn
    if split.period == 0:
        return
    result = reshaped(split, source, target, ranks)
    if result is not None:
        assert target[result.axis] % result.period == 0
        assert result.period % ranks == 0
        assert_array_equal(owners(source, split, ranks).reshape(target), owners(target, result, ranks))
        assert reshaped(result, target, source, ranks) is not None


@pytest.mark.parametrize(
    ("split", "source", "target", "expected"),
    [
        (Split(1, 8), (3, 8), (3, 4, 2), Split(1, 4)),
        (Split(1, 4), (3, 4, 2), (3, 8), Split(1, 8)),
        (Split(1, 8), (6, 8), (2, 3, 8), Split(2, 8)),
        (Split(1, 8), (2, 24), (2, 3, 8), Split(2, 8)),
        (Split(0, 4), (4, 3, 2), (4, 6), Split(0, 4)),
        (Split(1, 2), (2, 2, 3), (4, 3), Split(0, 2)),
        (Split(1, 8), (3, 8), (3, 1, 8), Split(2, 8)),
        (Split(1, 8), (3, 8), (24,), Split(0, 8)),
        (Split(1, 2), (3, 2), (6,), Split(0, 2)),
        (Split(0, 6), (6, 4), (4, 6), Split(0, 4)),
        (Split(0, 6), (6, 4), (3, 8), None),
    ],
)
def test_reshape_of_a_division_among_two(
    split: Split, source: tuple[int, ...], target: tuple[int, ...], expected: Split | None
) -> None:
    assert reshaped(split, source, target, 2) == expected


def test_sizes_that_are_not_known_may_stand_around_what_is_divided() -> None:
    batch, length = symbol("batch", 1), symbol("length", 1)
    assert reshaped(Split(1, 8), (batch, 8, length, 3), (batch, 4, 2, length, 3), 4) == Split(1, 4)
    assert reshaped(Split(2, 8), (batch, length, 8), (batch, length, 4, 2), 4) == Split(2, 4)
    assert reshaped(Split(2, 8), (batch, length, 8), (batch * length, 8), 4) == Split(1, 8)
    assert reshaped(Split(1, 8), (batch, 8, length), (batch, 8 * length), 4) is None


def test_half_a_head_cannot_be_carried_by_heads() -> None:
    assert reshaped(Split(1, 8), (3, 8), (3, 2, 4), 4) is None


@pytest.mark.parametrize("split", [Split(0, 4), Split(1, 6), Split(1, 2), Split(0, 2)])
@pytest.mark.parametrize("rank", [0, 1])
def test_part_of_a_constant_is_what_the_rank_has(split: Split, rank: int) -> None:
    array = np.arange(24, dtype=np.int32).reshape(4, 6)
    data = data_of(i32, (4, 6), array.ravel().tolist())
    part = shard_of(data, split, rank, 2).array()
    assert_array_equal(part.ravel(), array[owners((4, 6), split, 2) == rank])
    assert TensorType(i32, part.shape) is shard_type(data.type, split, 2)


def test_rows_of_a_constant_in_a_file_stay_in_the_file(tmp_path: Path) -> None:
    array = np.arange(12, dtype=np.float32).reshape(4, 3)
    path = tmp_path / "weights"
    path.write_bytes(b"head" + array.tobytes())
    data: Data = FileData(TensorType(f32, (4, 3)), MappedFile(str(path), 52), 4)
    part = shard_of(data, Split(0, 4), 1, 2)
    assert isinstance(part, FileData)
    assert part.offset == 4 + 24
    assert_array_equal(part.array(), array[2:])


def test_rows_of_a_constant_in_memory_share_it() -> None:
    data = InlineData(TensorType(f32, (4, 3)), np.arange(12, dtype=np.float32).tobytes())
    part = shard_of(data, Split(0, 4), 1, 2)
    assert isinstance(part, InlineData)
    assert_array_equal(part.array(), np.arange(6, 12, dtype=np.float32).reshape(2, 3))


def test_part_of_a_constant_of_one_number_is_one() -> None:
    part = shard_of(SplatData(TensorType(f32, (4, 6)), np.float32(2).tobytes()), Split(1, 6), 0, 2)
    assert isinstance(part, SplatData)
    assert part.shape == (4, 3)
