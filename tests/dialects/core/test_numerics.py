"""Where numbers are difficult: written-out results of NaN, infinities, signs, rounding, half precision and empty
tensors.

Every program runs on both of our engines; a warning of numpy's would be an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.codes import EXECUTION_FAILED
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir import Value
from commonir.ir.types import ELEMENT_TYPES, boolean, f16, f32, i32
from commonir.runtime.engine import Engines

from tests.dialects.core.running import built, definition, type_of
from tests.runtime.programs import program

Array = NDArray[Any]

NAN, INF = float("nan"), float("inf")


class Runner:
    """Runs single operations on one engine."""

    def __init__(self, engine: str) -> None:
        self.engine = engine

    def __call__(self, name: str, *arrays: Array, **attributes: Any) -> Any:
        """The result of a core operation, or all of several."""

        def build(*values: Value) -> tuple[Value, ...]:
            return built(definition(f"core.{name}"), values, attributes).results

        inputs = {f"x{n}": type_of(x) for n, x in enumerate(arrays)}
        executable = Engines().get(self.engine).prepare(program(build, inputs))
        result = list(executable.run({f"x{n}": x for n, x in enumerate(arrays)}).values())
        return result[0] if len(result) == 1 else tuple(result)


@pytest.fixture(params=["reference", "numpy"])
def run(request: pytest.FixtureRequest) -> Runner:
    return Runner(request.param)


def array(values: Any, element: str = "f32") -> Array:
    return np.asarray(values, dtype_of(element))


def same(actual: Array, expected: Any) -> None:
    """Equal, signs of zeros and NaN included."""
    expected_value = np.asarray(expected).astype(actual.dtype)
    assert actual.shape == expected_value.shape
    assert_array_equal(actual, expected_value)
    if actual.dtype.kind == "f":
        assert_array_equal(np.signbit(actual[actual == 0]), np.signbit(expected_value[expected_value == 0]))


# -- NaN, infinities and signs of zero


def test_extremes_and_limits_keep_nan(run: Runner) -> None:
    a, b = array([NAN, 1, NAN, 2]), array([1, NAN, NAN, 3])
    same(run("maximum", a, b), [NAN, NAN, NAN, 3])
    same(run("minimum", a, b), [NAN, NAN, NAN, 2])
    same(run("clip", a, low=0.0, high=1.0), [NAN, 1, NAN, 1])
    same(run("relu", array([NAN, -1, INF, -INF])), [NAN, 0, INF, 0])
    same(run("sign", array([NAN, -3, 5])), [NAN, -1, 1])
    same(run("reduce_max", array([[1, NAN], [1, 2]]), axes=(1,)), [NAN, 2])


def test_comparisons_with_nan_are_false_but_for_not_equal(run: Runner) -> None:
    a, b = array([NAN, NAN, 1]), array([NAN, 1, 1])
    for name, last in (("equal", True), ("less", False), ("less_equal", True), ("greater_equal", True)):
        same(run(name, a, b), [False, False, last])
    same(run("not_equal", a, b), [True, True, False])


def test_zeros_keep_their_signs(run: Runner) -> None:
    same(run("neg", array([0.0, -0.0])), [-0.0, 0.0])
    same(run("abs", array([0.0, -0.0])), [0.0, 0.0])
    same(run("truncate", array([-0.5, 0.5])), [-0.0, 0.0])
    same(run("ceil", array([-0.5])), [-0.0])
    same(run("pad", array([-0.0]), before=(1,), after=(0,), value=-0.0), [-0.0, -0.0])


def test_halves_are_rounded_to_the_even_integer(run: Runner) -> None:
    same(run("round", array([-1.5, -0.5, 0.5, 1.5, 2.5, 3.4])), [-2, -0.0, 0, 2, 2, 3])


def test_division_by_zero_of_floats_is_infinite_or_nan(run: Runner) -> None:
    same(run("div", array([1, -1, 0]), array([0, 0, 0])), [INF, -INF, NAN])
    same(run("reciprocal", array([0.0, -0.0])), [INF, -INF])
    same(run("rsqrt", array([0.0, -1.0])), [INF, NAN])
    same(run("log", array([0.0, -1.0])), [-INF, NAN])
    same(run("sqrt", array([-1.0])), [NAN])


def test_half_precision_beyond_its_range_is_infinite(run: Runner) -> None:
    same(run("exp", array([12.0, -20.0], "f16")), [INF, 0.0])
    same(run("mul", array([300.0], "f16"), array([300.0], "f16")), [INF])


# -- integers


def test_integers_wrap(run: Runner) -> None:
    same(run("add", array([127], "i8"), array([1], "i8")), [-128])
    same(run("mul", array([2**30], "i32"), array([4], "i32")), [0])
    same(run("neg", array([-128], "i8")), [-128])
    same(run("abs", array([-128], "i8")), [-128])
    same(run("sub", array([0], "ui8"), array([1], "ui8")), [255])


def test_integer_quotients_and_rests_have_the_signs_their_names_say(run: Runner) -> None:
    a, b = array([7, -7, 7, -7, 6], "i32"), array([2, 2, -2, -2, -3], "i32")
    same(run("div", a, b), [3, -3, -3, 3, -2])
    same(run("floor_div", a, b), [3, -4, -4, 3, -2])
    same(run("mod", a, b), [1, 1, -1, -1, 0])
    same(run("remainder", a, b), [1, -1, 1, -1, 0])


def test_large_integers_are_divided_exactly(run: Runner) -> None:
    a, b = array([2**62 + 1, -(2**62) - 1], "i64"), array([3, 3], "i64")
    same(run("div", a, b), [1537228672809129301, -1537228672809129301])
    same(run("mod", a, b), [2, 1])


def test_float_rests_have_the_signs_their_names_say(run: Runner) -> None:
    a, b = array([7.5, -7.5, 7.5, -7.5]), array([2, 2, -2, -2])
    same(run("floor_div", a, b), [3, -4, -4, 3])
    same(run("mod", a, b), [1.5, 0.5, -0.5, -1.5])
    same(run("remainder", a, b), [1.5, -1.5, 1.5, -1.5])


def test_division_of_integers_by_zero_gives_something(run: Runner) -> None:
    for name in ("div", "floor_div", "mod", "remainder"):
        assert run(name, array([1, 0], "i32"), array([0, 0], "i32")).shape == (2,)


def test_conversions_drop_fractions_and_ask_for_zero(run: Runner) -> None:
    same(run("cast", array([-1.7, 1.7, -0.2]), to=i32), [-1, 1, 0])
    same(run("cast", array([0.0, -0.0, 0.1, NAN]), to=boolean), [False, False, True, True])
    same(run("cast", array([True, False], "i1"), to=f32), [1, 0])
    same(run("cast", array([65519.0, 65520.0, 1e9]), to=f16), [65504, INF, INF])
    # Half of a unit in the last place goes to the even neighbour, more than half up.
    same(run("cast", array([2049.0, 2051.0, 2049.001]), to=f16), [2048, 2052, 2050])


def test_integers_are_limited_by_fractions_and_infinities(run: Runner) -> None:
    x = array([-100, -1, 0, 1, 2, 3, 100], "i32")
    same(run("clip", x, low=-INF, high=2.0), [-100, -1, 0, 1, 2, 2, 2])
    same(run("clip", x, low=0.5, high=2.5), [1, 1, 1, 1, 2, 2, 2])
    same(run("clip", x, low=-INF, high=INF), x)
    same(run("clip", array([-100, 100], "i8"), low=-1e9, high=1e9), [-100, 100])
    same(run("clip", array([5], "ui8"), low=-3.0, high=4.0), [4])
    # The upper bound wins.
    same(run("clip", array([0.0, 9.0]), low=5.0, high=1.0), [1, 1])


# -- activations far from zero


def test_activations_do_not_overflow(run: Runner) -> None:
    x = array([-1000, -100, 0, 100, 1000])
    same(run("sigmoid", x), [0, 0, 0.5, 1, 1])
    same(run("softplus", x), [0, 0, np.log(np.float32(2)), 100, 1000])
    same(run("silu", x), [-0.0, -0.0, 0, 100, 1000])
    same(run("mish", x), [-0.0, -0.0, 0, 100, 1000])
    same(run("tanh", x), [-1, -1, 0, 1, 1])
    same(run("elu", x, alpha=2.0), [-2, -2, 0, 100, 1000])
    for form in core.GeluForm:
        same(run("gelu", x, approximation=form), [-0.0, -0.0, 0, 100, 1000])
    same(run("softsign", array([-INF, INF])), [NAN, NAN])


def test_softplus_is_accurate_where_its_argument_is_small(run: Runner) -> None:
    # ln(1 + e^-10) = 4.5398899e-05, absolute error below the distance of numbers near 1.
    assert_allclose(run("softplus", array([-10.0])), [4.5398899e-05], atol=1.2e-7)


def test_sigmoid_of_half_precision_reaches_its_least_numbers(run: Runner) -> None:
    # 1 / (1 + e^12) = 6.1441746e-06, 103 times the least number above zero.
    same(run("sigmoid", array([-12.0], "f16")), array([103 * 2.0**-24], "f16"))


def test_softmax_is_stable_and_gives_nan_where_everything_is_masked(run: Runner) -> None:
    x = array([[1000, 1000], [-INF, 0], [-INF, -INF], [INF, 0]])
    same(run("softmax", x), [[0.5, 0.5], [0, 1], [NAN, NAN], [NAN, NAN]])
    same(run("log_softmax", array([[0, -200.0]])), [[0, -200]])


def test_a_query_that_may_see_nothing_gets_nan(run: Runner) -> None:
    q, k, v = array([[1.0], [1.0]]), array([[1.0], [1.0]]), array([[3.0], [5.0]])
    mask = array([[True, False], [False, False]], "i1")
    same(run("attention", q, k, v, mask), [[3], [NAN]])


# -- half precision


def test_sums_of_half_precision_are_rounded_once(run: Runner) -> None:
    ones = np.ones((1, 4096), np.float16)
    # One after another in half precision, the sum would stay at 2048.
    same(run("reduce_sum", ones), 4096)
    same(run("reduce_mean", ones * 3), 3)
    same(run("matmul", ones, ones.T), [[4096]])
    same(run("linear", ones, ones), [[4096]])
    same(run("cumsum", ones, axis=1)[:, -1:], [[4096]])
    same(run("conv", np.ones((1, 1024, 2, 2), np.float16), np.ones((1, 1024, 2, 2), np.float16)), [[[[4096]]]])
    # 2049 lies between 2048 and 2050: half to even.
    same(run("reduce_sum", np.ones(2049, np.float16)), 2048)
    same(run("reduce_sum", np.ones(2051, np.float16)), 2052)


def test_sums_of_other_short_floats_are_rounded_once(run: Runner) -> None:
    ones = array(np.ones(512), "bf16")
    same(run("reduce_sum", ones).astype(np.float32), 512)
    same(run("matmul", ones, ones).astype(np.float32), 512)
    # One after another in 4 bits of precision, the sum would stay at 16.
    tiny = array(np.ones(32), "f8E4M3FN")
    same(run("reduce_sum", tiny).astype(np.float32), 32)
    same(run("linear", tiny, tiny.reshape(1, 32)).astype(np.float32), [32])


def test_normalizations_of_half_precision_do_not_overflow(run: Runner) -> None:
    x = array([[300, -300, 300, -300]], "f16")
    same(run("layer_norm", x), [[1, -1, 1, -1]])
    same(run("rms_norm", x), [[1, -1, 1, -1]])
    same(run("l2_norm", x, axes=(1,)), [[0.5, -0.5, 0.5, -0.5]])
    same(run("instance_norm", x.reshape(1, 1, 4)), [[[1, -1, 1, -1]]])
    same(run("group_norm", x.reshape(1, 2, 2)), [[[1, -1], [1, -1]]])


def test_attention_of_half_precision_forms_scores_in_single_precision(run: Runner) -> None:
    # The scores are 90000, beyond half precision, and equal.
    q, k = array([[300.0]], "f16"), array([[300.0], [300.0]], "f16")
    same(run("attention", q, k, array([[1.0], [2.0]], "f16")), [[1.5]])


# -- windows


def test_padding_does_not_win_over_negative_elements(run: Runner) -> None:
    x = array([[[-5, -3, -4]]])
    same(run("max_pool", x, kernel=(2,), pads=((1, 1),)), [[[-5, -3, -3, -4]]])
    same(run("max_pool", array([[[-5, -3]]], "i32"), kernel=(2,), pads=((1, 1),)), [[[-5, -3, -3]]])


def test_means_count_padding_only_on_request(run: Runner) -> None:
    x = array([[[2, 4, 6]]])
    window = {"kernel": (2,), "strides": (2,), "pads": ((1, 0),)}
    same(run("average_pool", x, **window), [[[2, 5]]])
    same(run("average_pool", x, **window, count_include_pad=True), [[[1, 5]]])
    # With ceil_mode the last window has one element within the padded input, which alone counts.
    whole = {"kernel": (2,), "strides": (2,), "ceil_mode": True}
    same(run("average_pool", x, **whole), [[[3, 6]]])
    same(run("average_pool", x, **whole, count_include_pad=True), [[[3, 6]]])


def test_a_window_does_not_start_in_the_padding_after_the_end(run: Runner) -> None:
    x = array([[[1, 2, 3, 4, 5]]])
    # Rounding up alone would give a fourth window, at position 6, which is padding.
    same(run("max_pool", x, kernel=(2,), strides=(2,), pads=((0, 1),), ceil_mode=True), [[[2, 4, 5]]])
    same(run("max_pool", x[..., :4], kernel=(1,), strides=(3,), pads=((0, 1),), ceil_mode=True), [[[1, 4]]])


# -- positions


def test_positions_outside_are_refused_when_running(run: Runner) -> None:
    x = array([1, 2, 3])
    for name, inputs in (
        ("gather", (x, array([3], "i64"))),
        ("gather", (x, array([-4], "i64"))),
        ("gather_elements", (x, array([3], "i64"))),
        ("gather_nd", (x, array([[-4]], "i64"))),
        ("scatter_elements", (x, array([3], "i64"), array([9]))),
        ("scatter_nd", (x, array([[-4]], "i64"), array([9]))),
    ):
        with pytest.raises(DiagnosticError) as caught:
            run(name, *inputs)
        assert caught.value.diagnostics[0].code is EXECUTION_FAILED


def test_updates_of_one_element_are_combined_in_order(run: Runner) -> None:
    x, at = array([10, 20, 30]), array([0, 0, -1], "i64")
    updates = array([2, 3, 5])
    expected = {
        "none": [3, 20, 5],
        "add": [15, 20, 35],
        "sub": [5, 20, 25],
        "mul": [60, 20, 150],
        "div": [10 / 6, 20, 6],
        "max": [10, 20, 30],
        "min": [2, 20, 5],
    }
    for reduction, expected_value in expected.items():
        result = run("scatter_elements", x, at, updates, reduction=core.Reduction(reduction))
        assert_allclose(result, array(expected_value), rtol=2e-7)
        result = run("scatter_nd", x, at[:, None], updates, reduction=core.Reduction(reduction))
        assert_allclose(result, array(expected_value), rtol=2e-7)


def test_integers_are_divided_toward_zero_by_updates(run: Runner) -> None:
    x, at = array([7, -7, 9], "i32"), array([0, 1, 2, 2], "i64")
    result = run("scatter_elements", x, at, array([2, 2, -2, -3], "i32"), reduction=core.Reduction.DIV)
    same(result, [3, -3, 1])


def test_of_equal_elements_the_first_is_chosen(run: Runner) -> None:
    x = array([[1, 3, 3, 1]])
    same(run("arg_max", x, axis=1), [1])
    same(run("arg_min", x, axis=1), [0])
    values, positions = run("top_k", x, k=3)
    same(values, [[3, 3, 1]])
    same(positions, [[1, 2, 0]])
    same(run("argsort", x, descending=True), [[1, 2, 0, 3]])


def test_nan_is_sorted_as_the_largest(run: Runner) -> None:
    x = array([2, NAN, INF, 1])
    same(run("argsort", x), [3, 0, 2, 1])
    same(run("argsort", x, descending=True), [1, 2, 0, 3])
    same(run("top_k", x, k=2)[1], [1, 2])


def test_a_class_outside_gets_no_one(run: Runner) -> None:
    result = run("one_hot", array([1, 2, -1], "i32"), array(5.0), array(0.5), depth=2)
    same(result, [[0.5, 5], [0.5, 0.5], [0.5, 0.5]])


# -- empty tensors, rank 0, negative axes


def test_reductions_of_nothing_give_what_changes_nothing(run: Runner) -> None:
    nothing = np.zeros((2, 0), np.float32)
    same(run("reduce_sum", nothing, axes=(1,)), [0, 0])
    same(run("reduce_prod", nothing, axes=(1,)), [1, 1])
    same(run("reduce_max", nothing, axes=(1,)), [-INF, -INF])
    same(run("reduce_min", nothing, axes=(1,)), [INF, INF])
    same(run("reduce_mean", nothing, axes=(1,)), [NAN, NAN])
    same(run("reduce_max", nothing.astype(np.int32), axes=(-1,), keep_dims=True), [[-(2**31)], [-(2**31)]])
    same(run("matmul", nothing, nothing.T), [[0, 0], [0, 0]])


def test_empty_tensors_pass_through(run: Runner) -> None:
    nothing = np.zeros((0, 3, 4, 4), np.float32)
    weight = np.zeros((5, 3, 2, 2), np.float32)
    for name, inputs, attributes, shape in (
        ("exp", (nothing,), {}, nothing.shape),
        ("softmax", (nothing,), {}, nothing.shape),
        ("layer_norm", (nothing,), {}, nothing.shape),
        ("conv", (nothing, weight), {}, (0, 5, 3, 3)),
        ("max_pool", (nothing,), {"kernel": (2, 2)}, (0, 3, 3, 3)),
        ("resize", (nothing,), {"sizes": (8, 8)}, (0, 3, 8, 8)),
        ("transpose", (nothing,), {"perm": (3, 0, 1, 2)}, (4, 0, 3, 4)),
        ("gather", (nothing, np.zeros(0, np.int64)), {"axis": 1}, (0, 0, 4, 4)),
        ("tile", (nothing,), {"repeats": (2, 1, 1, 0)}, (0, 3, 4, 0)),
        ("argsort", (nothing,), {}, nothing.shape),
        ("non_zero", (nothing,), {}, (0, 4)),
        ("reverse", (nothing,), {"axes": (0, 1)}, nothing.shape),
    ):
        assert run(name, *inputs, **attributes).shape == shape, name


def test_scalars_are_tensors(run: Runner) -> None:
    one = array(3.0)
    for name, attributes, expected in (
        ("reduce_sum", {}, 3.0),
        ("reduce_mean", {"keep_dims": True}, 3.0),
        ("transpose", {"perm": ()}, 3.0),
        ("reshape", {"shape": (1, -1)}, [[3.0]]),
        ("broadcast_to", {"shape": (2,)}, [3.0, 3.0]),
        ("slice", {"starts": (), "stops": (), "steps": ()}, 3.0),
        ("pad", {"before": (), "after": ()}, 3.0),
        ("non_zero", {}, np.zeros((1, 0), np.int64)),
        ("shape_of", {}, np.zeros(0, np.int64)),
    ):
        same(run(name, one, **attributes), expected)


@pytest.mark.parametrize(
    "name",
    ["softmax", "cumsum", "arg_max", "argsort", "reduce_sum", "dim", "gather", "concat", "split", "top_k", "reverse"],
)
def test_an_axis_outside_is_refused(name: str) -> None:
    x = Value(type_of(np.zeros((2, 3), np.float32)))
    positions = Value(type_of(np.zeros(1, np.int64)))
    arguments: dict[str, tuple[Any, ...]] = {
        "reduce_sum": (x, (2,)),
        "gather": (x, positions, -3),
        "concat": ((x, x), 2),
        "split": (x, -3, (1, 1)),
        "top_k": (x, 1, 2),
        "reverse": (x, (2,)),
    }
    with pytest.raises(DiagnosticError, match=rf"E0504.*core\.{name}.*axis (2|-3) of a tensor of rank 2"):
        definition(f"core.{name}")(*arguments.get(name, (x, 2)))


def test_constants_of_floats_are_rounded_to_their_element_type() -> None:
    for value, element, expected in ((1e30, "f16", INF), (-1e9, "f16", -INF), (0.1, "f16", 0.0999755859375)):
        data = core.scalar(value, ELEMENT_TYPES[element]).owner
        assert isinstance(data, core.Constant)
        assert data.value.values() == (expected,)
