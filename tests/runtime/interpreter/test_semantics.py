"""Numeric and structural edge cases that engines must agree on; expected values are written out."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from commonir.base.arrays import name_of
from commonir.base.codes import EXECUTION_FAILED
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import ELEMENT_TYPES, ElementType, TensorType, bf16, f16, f32, i32, tensor
from commonir.runtime.engine import Engine
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.numpy_engine.engine import ENGINE as NUMPY

from tests.runtime.drawing import Array, Build
from tests.runtime.programs import program

ENGINES = pytest.mark.parametrize("engine", [REFERENCE, NUMPY], ids=lambda e: e.name)


def run(engine: Engine, build: Build, /, **arrays: Array) -> Array:
    types = {n: TensorType(ELEMENT_TYPES[name_of(a.dtype)], a.shape) for n, a in arrays.items()}
    return engine.prepare(program(build, types)).run(arrays)["y0"]


def f(*values: float) -> Array:
    return np.array(values, np.float32)


@ENGINES
def test_softmax_of_a_row_of_minus_infinities_is_nan_and_leaves_other_rows_alone(engine: Engine) -> None:
    inf = np.inf
    x = np.array([[-inf, -inf], [0, -inf], [0, 0]], np.float32)
    result = run(engine, core.softmax, x=x)
    np.testing.assert_array_equal(result, np.array([[np.nan, np.nan], [1, 0], [0.5, 0.5]], np.float32))


@ENGINES
def test_maximum_minimum_relu_and_clip_keep_nan(engine: Engine) -> None:
    nan = np.nan
    x, y = f(nan, 1, 2), f(1, nan, 3)
    assert np.isnan(run(engine, core.maximum, a=x, b=y)).tolist() == [True, True, False]
    assert np.isnan(run(engine, core.minimum, a=x, b=y)).tolist() == [True, True, False]
    many = np.full(8192, nan, np.float32)  # long enough for the loop of clip
    assert np.isnan(run(engine, core.relu, x=many)).all()
    assert np.isnan(run(engine, lambda v: core.clip(v, 0.0, 6.0), x=many)).all()
    assert np.isnan(run(engine, lambda v: core.reduce_max(v, (0,)), x=x))


@ENGINES
def test_integer_division_and_remainders_take_their_signs_as_stated(engine: Engine) -> None:
    a, b = np.array([7, -7, 7, -7], np.int32), np.array([2, 2, -2, -2], np.int32)
    assert run(engine, core.div, a=a, b=b).tolist() == [3, -3, -3, 3]
    assert run(engine, core.floor_div, a=a, b=b).tolist() == [3, -4, -4, 3]
    assert run(engine, core.mod, a=a, b=b).tolist() == [1, 1, -1, -1]
    assert run(engine, core.remainder, a=a, b=b).tolist() == [1, -1, 1, -1]


@ENGINES
def test_integers_wrap(engine: Engine) -> None:
    top = np.array([2**31 - 1], np.int32)
    assert run(engine, lambda v: core.add(v, core.splat(1, v)), x=top).tolist() == [-(2**31)]


@ENGINES
def test_round_goes_to_the_even_neighbour_and_casts_drop_the_fraction(engine: Engine) -> None:
    x = f(0.5, 1.5, 2.5, -0.5, -1.7)
    assert run(engine, core.round, x=x).tolist() == [0, 2, 2, 0, -2]
    assert run(engine, lambda v: core.cast(v, i32), x=x).tolist() == [0, 1, 2, 0, -1]


@ENGINES
def test_folds_over_nothing_give_their_identity(engine: Engine) -> None:
    x = np.zeros((2, 0), np.float32)
    assert run(engine, lambda v: core.reduce_sum(v, (1,)), x=x).tolist() == [0, 0]
    assert run(engine, lambda v: core.reduce_max(v, (1,)), x=x).tolist() == [-np.inf, -np.inf]
    assert run(engine, core.matmul, a=x, b=np.zeros((0, 3), np.float32)).tolist() == [[0] * 3] * 2


@ENGINES
def test_empty_results_have_their_shape(engine: Engine) -> None:
    x = np.zeros((2, 0, 3), np.float32)
    assert run(engine, lambda v: core.transpose(core.add(v, v), (2, 1, 0)), x=x).shape == (3, 0, 2)
    assert run(engine, lambda v: core.concat((v, v), 1), x=x).shape == (2, 0, 3)
    assert run(engine, lambda v: core.reshape(v, (3, 0)), x=x).shape == (3, 0)


@ENGINES
def test_position_outside_of_a_tensor_is_reported_with_its_value(engine: Engine) -> None:
    with pytest.raises(DiagnosticError) as error:
        run(engine, core.gather, x=f(1, 2, 3), p=np.array([0, 3]))
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code is EXECUTION_FAILED
    assert "position 3" in diagnostic.message
    assert "size 3" in diagnostic.message


@ENGINES
def test_operands_that_are_views_of_one_array_are_not_overwritten_while_read(engine: Engine) -> None:
    x = np.arange(9, dtype=np.float32).reshape(3, 3)

    def build(v: Value) -> Value:
        doubled = core.add(v, v)
        return core.add(doubled, core.transpose(doubled, (1, 0)))

    np.testing.assert_array_equal(run(engine, build, x=x), 2 * x + 2 * x.T)


def half(element: ElementType, dtype: type, build: Build, *shape: int) -> tuple[Array, Array, Array]:
    m = program(build, {"x": tensor(element, *shape)})
    x = np.random.default_rng(3).standard_normal(shape).astype(dtype)
    return x, REFERENCE.prepare(m).run({"x": x})["y0"], NUMPY.prepare(m).run({"x": x})["y0"]


def test_half_precision_results_have_the_declared_type_and_agree_within_rounding() -> None:
    for element, dtype, tolerance in ((f16, np.float16, 2e-3), (bf16, ml_dtypes.bfloat16, 2e-2)):
        _, reference, fast = half(element, dtype, lambda v: core.gelu(core.softmax(core.matmul(v, v))), 8, 8)
        assert reference.dtype == fast.dtype == dtype
        np.testing.assert_allclose(reference.astype(np.float32), fast.astype(np.float32), atol=tolerance)


def test_reference_rounds_half_precision_per_operation_and_numpy_at_outputs() -> None:
    # 2048 + 1 is not a value of f16, so the reference engine loses the 1 that the numpy engine keeps.
    m = program(lambda v: core.sub(core.add(v, core.splat(1.0, v)), v), {"x": tensor(f16, 1)})
    x = np.array([2048], np.float16)
    assert REFERENCE.prepare(m).run({"x": x})["y0"].tolist() == [0]
    assert NUMPY.prepare(m).run({"x": x})["y0"].tolist() == [1]


@ENGINES
@pytest.mark.parametrize("size", [3, 40_000])
def test_conversion_to_half_precision_rounds(engine: Engine, size: int) -> None:
    x = np.resize(np.array([2049, 1 + 2**-9, 70_000], np.float32), size)
    for element, expected in ((f16, [2048, 1.001953125, np.inf]), (bf16, [2048, 1, 70_144])):
        result = run(engine, lambda v, e=element: core.cast(core.cast(v, e), f32), x=x)
        np.testing.assert_array_equal(result, np.resize(np.array(expected, np.float32), size))
    # From double precision there is one rounding: in single precision this would lie in the middle.
    near = np.full(size, 1 + 2.0**-11 + 2.0**-40)
    result = run(engine, lambda v: core.cast(core.cast(v, f16), f32), x=near)
    np.testing.assert_array_equal(result, np.full(size, 1 + 2.0**-10))


def test_half_precision_is_rounded_before_it_becomes_an_integer() -> None:
    m = program(lambda v: core.cast(core.add(v, core.splat(1.0, v)), i32), {"x": tensor(f16, 1)})
    assert NUMPY.prepare(m).run({"x": np.array([2048], np.float16)})["y0"].tolist() == [2048]


@ENGINES
def test_value_that_is_not_finite_stays_in_the_windows_that_read_it(engine: Engine) -> None:
    x = np.ones((1, 4, 9, 9), np.float32)
    x[0, 1, 4, 4] = np.inf
    x[0, 2, 0, 8] = np.nan
    weights = core.constant(data_of(f32, (4, 1, 3, 3), [1.0] * 36))
    result = run(engine, lambda v: core.conv(v, weights, pads=((1, 1), (1, 1)), groups=4), x=x)
    expected = np.zeros((1, 4, 9, 9), bool)
    expected[0, 1, 3:6, 3:6] = True
    expected[0, 2, 0:2, 7:9] = True
    np.testing.assert_array_equal(~np.isfinite(result), expected)
