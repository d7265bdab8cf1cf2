"""Contents of constants: packed bytes, Python values and arrays say the same."""

from __future__ import annotations

from time import process_time

import ml_dtypes
import numpy as np
import pytest

from commonir.base.arrays import bytes_of_array, name_of
from commonir.ir.attributes import DenseArrayAttr
from commonir.ir.data import InlineData, Scalar, data_of
from commonir.ir.types import ElementType, TensorType, bf16, boolean, f4e2m1fn, f8e5m2, f16, i4, i16, u3, u4, u6

CASES: list[tuple[ElementType, list[Scalar], str]] = [
    (boolean, [True, False], "0100"),
    (i4, [-8, 7, -1], "780f"),
    (u4, [1, 2, 15], "210f"),
    # 1, 2, 3 in three bits each: 0b011_010_001.
    (u3, [1, 2, 3], "d100"),
    (u6, [63, 1], "7f00"),
    (i16, [-2], "feff"),
    (f16, [1.0, -2.0], "003c00c0"),
    (bf16, [1.0, -2.0], "803f00c0"),
    (f8e5m2, [1.0, -2.0], "3cc0"),
    # 0.5, 1, -6 have the codes 1, 2, 15.
    (f4e2m1fn, [0.5, 1.0, -6.0], "210f"),
]


@pytest.mark.parametrize(("element", "values", "packed"), CASES, ids=[element.name for element, _, _ in CASES])
def test_values_are_packed_the_first_in_the_least_significant_bits(
    element: ElementType, values: list[Scalar], packed: str
) -> None:
    data = data_of(element, (len(values),), values)
    assert bytes(data.buffer()).hex() == packed
    assert list(data.values()) == values
    assert data.array().astype(np.float64).tolist() == values
    assert bytes_of_array(data.array(), element.bits).hex() == packed


def test_more_than_eight_narrow_elements_follow_each_other_without_a_gap() -> None:
    values = list(range(8)) * 3
    data = data_of(u3, (24,), values)
    assert list(data.values()) == values
    assert data.array().tolist() == values
    assert data.size_bytes == 9


@pytest.mark.slow
def test_unpacking_takes_time_in_proportion_to_the_number_of_elements() -> None:
    data = InlineData(TensorType(u4, (2_000_000,)), b"\xa5" * 1_000_000)
    start = process_time()
    assert data.values()[:2] == (5, 10)
    # A hundred times what it takes; in proportion to the square it would be an hour.
    assert process_time() - start < 60


def test_dtype_without_an_element_type_is_a_key_error() -> None:
    assert name_of(np.dtype(ml_dtypes.bfloat16)) == "bf16"
    with pytest.raises(KeyError):
        name_of(np.dtype("datetime64[s]"))


def test_bools_of_an_array_are_bools_whatever_equal_array_exists() -> None:
    numbers = DenseArrayAttr(boolean, (1, 0))
    assert [type(v) for v in (*numbers.values, *DenseArrayAttr(boolean, (True, False)).values)] == [bool] * 4
