"""Operations without one of Core ML's own: shifts, running products; and what Core ML cannot hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import ELEMENT_TYPES, f32, i8, i32, tensor, u8

from tests.conversions.programs import core_module
from tests.conversions.running_mil import converted, load_in_coremltools, run_mil


def test_shift_to_the_left_drops_bits_beyond_the_width(tmp_path: Path) -> None:
    converted_model = converted(core_module(core.shift_left, {"x": tensor(u8, 4), "n": tensor(u8, 4)}))
    result = run_mil(converted_model, {"x": np.array([1, 255, 3, 200]), "n": np.array([7, 1, 0, 9])})
    np.testing.assert_array_equal(result[0], [128, 254, 3, 0])
    load_in_coremltools(converted_model, tmp_path)


def test_shift_by_all_bits_or_by_less_than_none_leaves_zeros_or_the_sign() -> None:
    inputs = {"x": tensor(i32, 4), "n": tensor(i32, 4)}
    arrays = {"x": np.array([-8, 8, -8, 1]), "n": np.array([31, 31, 40, -1])}
    np.testing.assert_array_equal(run_mil(converted(core_module(core.shift_left, inputs)), arrays)[0], [0, 0, 0, 0])
    np.testing.assert_array_equal(run_mil(converted(core_module(core.shift_right, inputs)), arrays)[0], [-1, 0, -1, 0])


def test_shift_to_the_left_by_31_moves_into_the_sign() -> None:
    result = converted(core_module(core.shift_left, {"x": tensor(i32, 2), "n": tensor(i32, 2)}))
    np.testing.assert_array_equal(
        run_mil(result, {"x": np.array([1, 3]), "n": np.array([31, 30])})[0], [-(2**31), -(2**30)]
    )


@pytest.mark.parametrize(
    ("is_exclusive", "is_reversed", "expected"),
    [
        (False, False, [[2, 6, -24], [5, 0, 0]]),
        (True, False, [[1, 2, 6], [1, 5, 0]]),
        (False, True, [[-24, -12, -4], [0, 0, 7]]),
        (True, True, [[-12, -4, 1], [0, 7, 1]]),
    ],
)
def test_running_products(is_exclusive: bool, is_reversed: bool, expected: list[list[int]], tmp_path: Path) -> None:
    def build(x: Value) -> Value:
        return core.cumprod(x, 1, is_exclusive, is_reversed)

    result = converted(core_module(build, {"x": tensor(f32, 2, 3)}))
    np.testing.assert_array_equal(run_mil(result, {"x": np.array([[2, 3, -4], [5, 0, 7]])})[0], expected)
    load_in_coremltools(result, tmp_path)


def test_running_products_of_narrow_integers_wrap_around() -> None:
    result = converted(core_module(lambda x: core.cumprod(x, 0), {"x": tensor(i8, 3)}))
    np.testing.assert_array_equal(run_mil(result, {"x": np.array([100, 3, 2])})[0], [100, 44, 88])


def test_powers_of_two_stand_for_the_numbers_of_a_type_that_core_ml_has_not() -> None:
    narrow = ELEMENT_TYPES["f8E8M0FNU"]
    converted_model = converted(core_module(lambda x: core.narrow_cast(x, narrow), {"x": tensor(f32, 5)}))
    result = run_mil(converted_model, {"x": np.array([1.0, 3.0, 0.75, 5.0, 0.3], np.float32)})
    np.testing.assert_array_equal(result[0], [1.0, 4.0, 1.0, 8.0, 0.5])


def test_bits_of_numbers_are_refused() -> None:
    with pytest.raises(DiagnosticError, match="bit_cast cannot be expressed"):
        converted(core_module(lambda x: core.bit_cast(x, i32), {"x": tensor(f32, 2)}))


def test_tensors_without_elements_are_refused() -> None:
    with pytest.raises(DiagnosticError, match="the input 'x' is empty"):
        converted(core_module(lambda x: core.reduce_sum(x, (1,)), {"x": tensor(f32, 2, 0)}))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_determinants_of_small_matrices(count: int, tmp_path: Path) -> None:
    result = converted(core_module(core.det, {"x": tensor(f32, 5, count, count)}))
    load_in_coremltools(result, tmp_path)
    x = np.random.default_rng(count).standard_normal((5, count, count)).astype(np.float32)
    np.testing.assert_allclose(run_mil(result, {"x": x})[0], np.linalg.det(x), rtol=1e-5, atol=1e-6)


def test_determinants_of_larger_matrices_are_refused() -> None:
    with pytest.raises(DiagnosticError, match="at most 4 rows"):
        converted(core_module(core.det, {"x": tensor(f32, 5, 5)}))
