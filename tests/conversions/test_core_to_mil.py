"""Every core operation through the rules to Core ML, checked by coremltools' program loader and by expected values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commonir.base.arrays import name_of
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.conversions.conversion import ImageInput
from commonir.conversions.core_to_mil.images import with_images
from commonir.dialects import core
from commonir.dialects.mil.description import Dictionary, Image, MultiArray, Scalar, State, description_of
from commonir.dialects.mlir import ml_program
from commonir.ir.attributes import DataAttr
from commonir.ir.data import ArrayData, data_of
from commonir.ir.interface import ColorSpace, DimRange, Port, port_attributes
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import (
    ELEMENT_TYPES,
    ElementType,
    FunctionType,
    TensorType,
    boolean,
    f16,
    f32,
    f64,
    i4,
    i8,
    i32,
    i64,
    string,
    tensor,
    u8,
)
from commonir.ods import operations_behind
from commonir.passes.convert_elements import convert_elements
from commonir.passes.half_precision import HalfPrecision
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.symbolic import symbol

from tests.conversions.programs import Build, core_module
from tests.conversions.running_mil import converted, load_in_coremltools, operations, run_mil
from tests.dialects.core.single_models import onnx_result, onnx_results
from tests.runtime.cases import CASES

Array = np.ndarray[Any, Any]
_SEEDS = range(4)
_N = symbol("n")
# The numbers of random operations are those of the generator of each runtime.
_RANDOM = ("core.random_uniform", "core.random_normal")
# What Core ML has no form of.
_REFUSED = ("core.decode_image", "core.region_max_pool")


# coremltools infers the shape of this one from the contents of a weight, which need not be constant from iOS 17 on.
_NOT_LOADED = ("core.conv_transpose",)


def _types(arrays: Mapping[str, Array]) -> dict[str, TensorType]:
    return {name: tensor(ELEMENT_TYPES[name_of(a.dtype)], *a.shape) for name, a in arrays.items()}


@pytest.mark.fast_every(2)
@pytest.mark.slow_cases("*-iOS18")
@pytest.mark.parametrize("target", [None, "iOS17", "iOS18"])
@pytest.mark.parametrize("name", [n for n in CASES if n not in (*_RANDOM, *_REFUSED)])
def test_converted_operation_gives_the_expected_values(name: str, target: str | None, tmp_path: Path) -> None:
    for seed in _SEEDS:
        case = CASES[name](np.random.default_rng(seed))
        module = core_module(case.build, _types(case.arrays))
        expected_value = case.expected() if case.expected else list(REFERENCE.prepare(module).run(case.arrays).values())
        expected = [expected_value] if isinstance(expected_value, (np.ndarray, np.generic)) else expected_value
        if any(0 in np.shape(w) for w in expected):
            continue  # Core ML has no tensors without elements
        result = converted(module, target)
        for g, w in zip(run_mil(result, case.arrays), expected, strict=True):
            assert g.shape == np.shape(w)
            np.testing.assert_allclose(g, w, rtol=2e-4, atol=2e-5, err_msg=f"seed {seed}")
        if seed == 0 and name not in _NOT_LOADED:
            load_in_coremltools(result, tmp_path)


def _data(values: object, element: ElementType = f32) -> Value:
    array = np.asarray(values)
    kind = tensor(element, *array.shape)
    return core.constant(
        ArrayData(kind, array.astype({"f32": np.float32, "f16": np.float16, "i8": np.int8}[element.name]))
    )


# -- what users of coremltools expect


def test_product_with_a_constant_and_a_sum_are_one_layer() -> None:
    w, b = np.arange(6.0).reshape(3, 2), np.array([10.0, 20.0])
    result = converted(core_module(lambda x: core.add(core.matmul(x, _data(w)), _data(b)), {"x": tensor(f32, 2, 3)}))
    assert operations(result) == ["linear"]
    x = np.array([[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(run_mil(result, {"x": x})[0], x @ w + b)


def test_inverse_hyperbolic_cosine_is_nan_below_one() -> None:
    x = np.array([-40.0, -3.0, -1.2, -1.0, 0.0, 0.5, 1.0, 1.5, 2.5, 1e30], np.float32)
    converted_model = converted(core_module(core.acosh, {"x": tensor(f32, 10)}))
    (result,) = run_mil(converted_model, {"x": x})
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(result, np.arccosh(x), rtol=1e-6)


def test_normalization_after_a_convolution_is_folded_into_it() -> None:
    r = np.random.default_rng(0)
    w, mean, scale, shift = r.normal(size=(4, 3, 2, 2)), r.normal(size=4), r.normal(size=4), r.normal(size=4)
    variance = r.uniform(0.5, 2, 4)

    def build(x: Value) -> Value:
        y = core.conv(x, _data(w), None, (), (), (), 1)
        return core.batch_norm(y, _data(mean), _data(variance), _data(scale), _data(shift), 1e-3)

    module = core_module(build, {"x": tensor(f32, 1, 3, 5, 5)})
    result = converted(module)
    assert operations(result) == ["conv"]
    x = r.normal(size=(1, 3, 5, 5)).astype(np.float32)
    np.testing.assert_allclose(run_mil(result, {"x": x})[0], REFERENCE.prepare(module).run({"x": x})["y0"], rtol=1e-4)


def test_bias_of_channels_becomes_that_of_the_convolution() -> None:
    w, b = np.ones((2, 1, 1, 1)), np.array([1.0, 2.0]).reshape(2, 1, 1)
    module = core_module(
        lambda x: core.add(core.conv(x, _data(w), None, (), (), (), 1), _data(b)), {"x": tensor(f32, 1, 1, 2, 2)}
    )
    result = converted(module)
    assert operations(result) == ["conv"]
    np.testing.assert_array_equal(run_mil(result, {"x": np.zeros((1, 1, 2, 2))})[0][0, :, 0, 0], [1, 2])


def test_padding_is_interleaved() -> None:
    w = np.ones((1, 1, 1, 1))
    module = core_module(
        lambda x: core.conv(x, _data(w), None, (), (), ((1, 0), (0, 2)), 1), {"x": tensor(f32, 1, 1, 2, 2)}
    )
    (y,) = run_mil(converted(module), {"x": np.ones((1, 1, 2, 2))})
    np.testing.assert_array_equal(y[0, 0], [[0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0]])


def test_attention_is_one_operation_from_ios_18_on() -> None:
    kind = tensor(f32, 1, 2, 4, 8)
    module = core_module(core.attention, {"q": kind, "k": kind, "v": kind})
    assert operations(converted(module, "iOS18")) == ["scaled_dot_product_attention"]
    assert operations(converted(module)) == ["mul", "matmul", "softmax", "matmul"]


def test_power_of_the_constant_2_is_exp2() -> None:
    module = core_module(lambda x: core.pow(core.splat(2.0, x), x), {"x": tensor(f32, 3)})
    assert operations(converted(module)) == ["exp2"]


def test_negative_positions_are_guarded_from_ios_17_on() -> None:
    module = core_module(core.gather, {"x": tensor(f32, 4), "p": tensor(i32, 2)})
    assert operations(converted(module, "iOS16")) == ["gather"]
    result = converted(module, "iOS17")
    assert operations(result) == ["greater_equal", "add", "select", "gather"]
    np.testing.assert_array_equal(run_mil(result, {"x": np.arange(4), "p": np.array([-1, 1])})[0], [3, 1])


def test_constant_positions_are_counted_from_the_front_beforehand() -> None:
    module = core_module(lambda x: core.gather(x, core.vector((-1, 0))), {"x": tensor(f32, 4)})
    result = converted(module, "iOS17")
    assert operations(result) == ["gather"]
    np.testing.assert_array_equal(run_mil(result, {"x": np.arange(4)})[0], [3, 0])


def test_replaced_slice_is_slice_update_from_ios_18_on() -> None:
    def build(x: Value, u: Value, at: Value) -> Value:
        flat = core.reshape(x, (-1,))
        every = core.reshape(core.iota((24,), 0, i32), (4, 6))
        stop = core.add(at, core.vector((2, 6), i32))
        part = core.dynamic_slice(every, at, stop, (1, 1))
        result = core.scatter_elements(flat, core.reshape(part, (-1,)), core.reshape(u, (-1,)))
        return core.reshape(result, (4, 6))

    kinds = {"x": tensor(f32, 4, 6), "u": tensor(f32, 2, 6), "at": tensor(i32, 2)}
    result = converted(core_module(build, kinds), "iOS18")
    assert "slice_update" in operations(result)
    assert "scatter_along_axis" not in operations(result)
    x, u = np.arange(24.0).reshape(4, 6), -np.ones((2, 6))
    expected = x.copy()
    expected[1:3] = u
    np.testing.assert_array_equal(run_mil(result, {"x": x, "u": u, "at": np.array([1, 0])})[0], expected)


# -- types


def test_other_types_at_the_border_become_those_of_core_ml() -> None:
    lost = Diagnostics()
    kinds = {"ids": tensor(i64, 2), "flag": tensor(boolean, 2), "wide": tensor(f64, 2)}
    result = converted(core_module(lambda a, b, c: (a, core.logical_not(b), core.neg(c)), kinds), None, lost)
    assert [v.type for v in result.main.inputs] == [tensor(i32, 2), tensor(i32, 2), tensor(f32, 2)]
    assert [v.type for v in result.main.outputs] == [tensor(i32, 2), tensor(i32, 2), tensor(f32, 2)]
    assert len(lost) == 6
    assert "the input 'ids' of 'main' changes from i64 to i32" in [d.message for d in lost]
    got = run_mil(result, {"ids": np.array([5, -7]), "flag": np.array([0, 3]), "wide": np.array([1.5, 2])})
    np.testing.assert_array_equal(got[0], [5, -7])
    np.testing.assert_array_equal(got[1], [1, 0])
    np.testing.assert_array_equal(got[2], [-1.5, -2])


def test_half_precision_at_the_border_needs_ios_16() -> None:
    module = core_module(core.neg, {"x": tensor(f16, 2)})
    assert converted(module).main.inputs[0].type is tensor(f16, 2)
    old = converted(module, "iOS15")
    assert old.main.inputs[0].type is tensor(f32, 2)
    assert operations(old) == ["cast", "mul", "cast"]


def test_arithmetic_of_narrow_integers_wraps_around() -> None:
    module = core_module(core.add, {"a": tensor(u8, 3), "b": tensor(u8, 3)})
    got = run_mil(converted(module), {"a": np.array([250, 1, 255]), "b": np.array([10, 2, 255])})
    np.testing.assert_array_equal(got[0], [4, 3, 254])


@pytest.mark.parametrize("name", _REFUSED)
def test_operation_that_core_ml_has_no_form_of_is_refused(name: str) -> None:
    case = CASES[name](np.random.default_rng(0))
    with pytest.raises(DiagnosticError, match=f"E0601.*{name} cannot be expressed in Core ML for iOS"):
        converted(core_module(case.build, _types(case.arrays)))


def test_constant_beyond_32_bits_is_refused() -> None:
    module = core_module(lambda x: core.add(x, core.scalar(2**40, i64)), {"x": tensor(i64, 2)})
    with pytest.raises(DiagnosticError, match="which 32 bits do not hold"):
        converted(module)


def test_bools_are_compared_as_such() -> None:
    module = core_module(core.equal, {"a": tensor(boolean, 3), "b": tensor(boolean, 3)})
    got = run_mil(converted(module), {"a": np.array([1, 0, 1]), "b": np.array([1, 1, 0])})
    np.testing.assert_array_equal(got[0], [1, 0, 0])


# -- ranks


def test_windows_of_rank_6_are_moved_in_steps(tmp_path: Path) -> None:
    def build(x: Value) -> Value:
        apart = core.reshape(x, (2, 2, 3, 2, 5, 4))
        return core.reshape(core.transpose(apart, (0, 1, 3, 2, 4, 5)), (8, 15, 4))

    result = converted(core_module(build, {"x": tensor(f32, 2, 6, 10, 4)}))
    x = np.arange(480.0).reshape(2, 6, 10, 4)
    expected = x.reshape(2, 2, 3, 2, 5, 4).transpose(0, 1, 3, 2, 4, 5).reshape(8, 15, 4)
    np.testing.assert_array_equal(run_mil(result, {"x": x})[0], expected)
    load_in_coremltools(result, tmp_path)


@pytest.mark.parametrize("perm", [(5, 4, 3, 2, 1, 0), (1, 0, 3, 2, 5, 4), (0, 2, 4, 1, 3, 5), (3, 4, 5, 0, 1, 2)])
def test_any_order_of_six_axes(perm: tuple[int, ...]) -> None:
    shape = (2, 3, 2, 3, 2, 2)
    module = core_module(
        lambda x: core.reshape(core.transpose(core.reshape(x, shape), perm), (-1,)), {"x": tensor(f32, 144)}
    )
    x = np.arange(144.0)
    np.testing.assert_array_equal(run_mil(converted(module), {"x": x})[0], x.reshape(shape).transpose(perm).reshape(-1))


def test_operations_on_six_axes_have_forms_of_few(tmp_path: Path) -> None:
    shape = (2, 1, 2, 3, 2, 2)

    def build(x: Value, y: Value) -> Sequence[Value]:
        a, b = core.reshape(x, shape), core.reshape(y, (1, 3, 1, 3, 1, 2))
        summed = core.add(a, b)
        return (
            core.reduce_max(summed, (1, 3, 4), False),
            core.reshape(core.softmax(summed, 2), (-1,)),
            core.reshape(core.slice(summed, (0,) * 6, (1, 3, 2, 3, 2, 2), (1, 2, 1, 1, 1, 1)), (-1,)),
            core.reshape(core.concat((summed, core.exp(summed)), 4), (-1,)),
            core.arg_max(core.reduce_sum(summed, (0,), False), 1),
            core.reduce_sum(
                core.one_hot(
                    core.cast(core.reduce_max(summed, (5,), False), i32), core.splat(1.0, x), core.splat(0.0, x), 3, 2
                ),
                (0, 1, 3, 4, 5),
                False,
            ),
        )

    result = converted(core_module(build, {"x": tensor(f32, 48), "y": tensor(f32, 18)}))
    r = np.random.default_rng(0)
    x, y = r.normal(size=48).astype(np.float32), r.normal(size=18).astype(np.float32)
    s = x.reshape(shape) + y.reshape(1, 3, 1, 3, 1, 2)
    powers = np.exp(s - s.max(2, keepdims=True))
    expected = [
        s.max((1, 3, 4)),
        (powers / powers.sum(2, keepdims=True)).reshape(-1),
        s[:1, ::2].reshape(-1),
        np.concatenate([s, np.exp(s)], 4).reshape(-1),
        s.sum(0).argmax(1),
        [(np.trunc(s.max(5)) == n).sum() for n in range(3)],
    ]
    for g, e in zip(run_mil(result, {"x": x, "y": y}), expected, strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-5, atol=1e-6)
    load_in_coremltools(result, tmp_path)


def test_input_of_rank_6_is_refused() -> None:
    module = core_module(core.neg, {"x": tensor(f32, 1, 1, 1, 1, 1, 2)})
    with pytest.raises(DiagnosticError, match="has rank 6, and Core ML has tensors of rank at most 5"):
        converted(module)


# -- names


def test_names_become_identifiers_and_are_reported() -> None:
    lost = Diagnostics()
    result = converted(core_module(core.neg, {"input.1": tensor(f32, 2)}, ["float/out"]), None, lost)
    assert [v.name for v in result.main.inputs] == ["input_1"]
    assert result.main.output_names == ("float_out",)
    assert [d.message for d in lost] == [
        "the input 'input.1' of 'main' is called 'input_1'",
        "the output 'float/out' of 'main' is called 'float_out'",
    ]


def test_reserved_words_and_names_in_use_are_avoided() -> None:
    result = converted(core_module(core.add, {"tensor": tensor(f32), "x": tensor(f32)}, ["x"]))
    assert [v.name for v in result.main.inputs] == ["_tensor", "x"]
    assert result.main.output_names == ("x_1",)


def test_inputs_constants_and_values_returned_twice_are_copied(tmp_path: Path) -> None:
    def build(x: Value) -> Sequence[Value]:
        y = core.neg(x)
        return x, y, y, core.vector((1, 2), i32)

    result = converted(core_module(build, {"x": tensor(f32, 2)}))
    got = run_mil(result, {"x": np.array([1, -2])})
    np.testing.assert_array_equal(np.stack(got), [[1, -2], [-1, 2], [-1, 2], [1, 2]])
    load_in_coremltools(result, tmp_path)


# -- sizes


def _ranged(module: Module, ranges: tuple[DimRange, ...]) -> Module:
    function = module.main
    assert isinstance(function, ml_program.Func)
    result = Module()
    result.body.append(function.with_attributes(arg_attrs=port_attributes([Port(ranges=ranges)])))
    return result


def test_flexible_sizes_are_described_and_computed(tmp_path: Path) -> None:
    def build(x: Value) -> Value:
        return core.broadcast_to(core.reshape(x, (_N * 3, 1)), (_N * 3, _N))

    module = _ranged(core_module(build, {"x": tensor(f32, _N, 3)}), (DimRange(1, 8), DimRange(3, 3)))
    result = converted(module)
    description = description_of(result)
    assert description is not None
    array = description.interfaces[0].inputs[0].type
    assert array == MultiArray(f32, (1, 3), (), (DimRange(1, 8), DimRange(3, 3)))
    assert result.main.inputs[0].type is tensor(f32, None, 3)
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(run_mil(result, {"x": x})[0], np.broadcast_to(x.reshape(6, 1), (6, 2)))
    load_in_coremltools(result, tmp_path)


def test_numbers_along_a_computed_axis_are_not_repeated_along_it(tmp_path: Path) -> None:
    module = core_module(lambda x: core.iota((_N, _N + 1), 1, i32), {"x": tensor(f32, _N, 3)})
    result = converted(_ranged(module, (DimRange(1, 8), DimRange(3, 3))))
    np.testing.assert_array_equal(run_mil(result, {"x": np.zeros((2, 3))})[0], [[0, 1, 2], [0, 1, 2]])
    load_in_coremltools(result, tmp_path)


def test_size_without_end_is_refused_with_a_remedy() -> None:
    with pytest.raises(DiagnosticError, match="the input 'x' has no largest size 'n'") as caught:
        converted(core_module(core.neg, {"x": tensor(f32, _N, 3)}))
    assert "`--range n=1..16`" in (caught.value.diagnostics[0].help or "")


def test_size_known_only_when_running_is_used(tmp_path: Path) -> None:
    result = converted(core_module(lambda x: core.gather_nd(x, core.non_zero(x)), {"x": tensor(f32, 2, 2)}))
    np.testing.assert_array_equal(run_mil(result, {"x": np.array([[0, 5], [7, 0]])})[0], [5, 7])
    load_in_coremltools(result, tmp_path)


# -- operation sets


def test_oldest_sufficient_operation_set_is_chosen() -> None:
    assert converted(core_module(core.neg, {"x": tensor(f32)})).main.body.label == "CoreML5"
    assert converted(core_module(core.neg, {"x": tensor(f32)}), "macOS14").main.body.label == "CoreML7"


def test_unknown_system_is_refused() -> None:
    with pytest.raises(DiagnosticError, match="ML Programs need iOS 15 / macOS 12 or later, not 'iOS14'"):
        converted(core_module(core.neg, {"x": tensor(f32)}), "iOS14")
    with pytest.raises(DiagnosticError, match="Core ML has no system or operation set 'iOS19'"):
        converted(core_module(core.neg, {"x": tensor(f32)}), "iOS19")


def test_all_that_cannot_be_expressed_is_reported() -> None:
    def build(x: Value, w: Value) -> Value:
        return core.conv(core.conv(x, w), w)

    with pytest.raises(DiagnosticError) as caught:
        converted(core_module(build, {"x": tensor(i32, 1, 1, 5), "w": tensor(i32, 1, 1, 2)}))
    assert [d.message for d in caught.value.diagnostics] == [
        "core.conv cannot be expressed in Core ML for iOS 18 / macOS 15"
    ] * 2


# -- programs


def _function(name: str, build: Build, kinds: Mapping[str, TensorType], **more: Any) -> ml_program.Func:
    block = Block(kinds.values(), tuple(kinds))
    returned = build(*block.arguments)
    outputs = (returned,) if isinstance(returned, Value) else tuple(returned)
    for op in operations_behind(outputs):
        block.append(op)
    block.append(ml_program.Return(outputs))
    signature = FunctionType(tuple(kinds.values()), tuple(v.type for v in outputs))
    return ml_program.Func(name, signature, Region([block]), tuple(f"y{n}" for n in range(len(outputs))), **more)


def test_several_functions_make_a_model_of_several(tmp_path: Path) -> None:
    module = Module(entry="one")
    for name, build in (("one", core.neg), ("two", core.exp)):
        module.body.append(_function(name, build, {"x": tensor(f32, 2)}))
    result = converted(module)
    description = description_of(result)
    assert description is not None
    assert (description.specification_version, description.default_function) == (9, "one")
    np.testing.assert_array_equal(run_mil(result, {"x": np.array([1, 2])}, "one")[0], [-1, -2])
    load_in_coremltools(result, tmp_path)


def test_calls_are_put_in_place() -> None:
    module = Module()
    private = ml_program.Visibility.PRIVATE
    module.body.append(_function("twice", lambda x: core.add(x, x), {"x": tensor(f32, 2)}, sym_visibility=private))

    def build(x: Value) -> Value:
        (once,) = core.call("twice", (tensor(f32, 2),), (x,))
        return core.call("twice", (tensor(f32, 2),), (once,))[0]

    module.body.append(_function("main", build, {"x": tensor(f32, 2)}))
    result = converted(module)
    assert list(result.functions) == ["main"]
    np.testing.assert_array_equal(run_mil(result, {"x": np.array([1, 2])})[0], [4, 8])


def test_only_function_is_called_main_as_core_ml_asks() -> None:
    module = Module()
    module.body.append(_function("main_graph", core.neg, {"x": tensor(f32, 2)}))
    result = converted(module)
    assert list(result.functions) == ["main"]
    np.testing.assert_array_equal(run_mil(result, {"x": np.array([1, 2])})[0], [-1, -2])


def test_function_that_calls_itself_is_refused() -> None:
    module = Module()
    kind = tensor(f32, 2)
    module.body.append(_function("main", lambda x: core.call("main", (kind,), (x,))[0], {"x": kind}))
    with pytest.raises(DiagnosticError, match="'main' calls itself"):
        converted(module)


def _region(types: Sequence[TensorType], build: Build) -> Region:
    block = Block(types)
    returned = build(*block.arguments)
    outputs = (returned,) if isinstance(returned, Value) else tuple(returned)
    for op in operations_behind(outputs):
        block.append(op)
    block.append(core.Yield(outputs))
    return Region([block])


def test_branches_and_loops_are_cond_and_while_loop(tmp_path: Path) -> None:
    def build(x: Value, n: Value) -> Value:
        positive = core.greater(core.squeeze(n, (0,)), core.scalar(0, i32))
        (start,) = core.if_(positive, _region([], lambda: core.neg(x)), _region([], lambda: x))
        kinds = (tensor(i32), tensor(f32, 2))
        condition = _region(kinds, lambda i, v: core.less(i, core.squeeze(n, (0,))))
        body = _region(kinds, lambda i, v: (core.add(i, core.splat(1, i)), core.add(v, v)))
        return core.while_((core.scalar(0, i32), start), condition, body)[1]

    result = converted(core_module(build, {"x": tensor(f32, 2), "n": tensor(i32, 1)}))
    assert operations(result) == ["squeeze", "greater", "cond", "while_loop"]
    for n, expected in ((3, [-8, -16]), (0, [1, 2])):
        np.testing.assert_array_equal(run_mil(result, {"x": np.array([1, 2]), "n": np.array([n])})[0], expected)
    load_in_coremltools(result, tmp_path)


def test_dilated_windows_take_a_slice_for_each_row_and_column() -> None:
    x = np.random.default_rng(0).standard_normal((1, 2, 20, 30)).astype(np.float32)
    result = converted(core_module(lambda x: core.max_pool(x, (6, 5), (2, 3), (3, 4)), {"x": tensor(f32, *x.shape)}))
    assert operations(result).count("slice_by_index") == 6 + 5
    windows = np.lib.stride_tricks.sliding_window_view(x, (16, 17), (2, 3))[:, :, ::2, ::3, ::3, ::4]
    np.testing.assert_array_equal(run_mil(result, {"x": x})[0], windows.max((4, 5)))


def test_branches_whose_sizes_differ_are_refused() -> None:
    def build(x: Value, n: Value) -> Value:
        positive = core.greater(core.squeeze(n, (0,)), core.scalar(0, i32))
        return core.if_(positive, _region([], lambda: x), _region([], lambda: core.concat((x, x), 0)))[0]

    # coremltools' `cond`: "true branch output ... mismatch false branch output"
    with pytest.raises(DiagnosticError, match=r"the branches return tensor<2xf32> and tensor<4xf32>"):
        converted(core_module(build, {"x": tensor(f32, 2), "n": tensor(i32, 1)}))


def test_what_a_loop_of_open_length_stacks_goes_into_lists(tmp_path: Path) -> None:
    def build(x: Value, n: Value) -> Sequence[Value]:
        kinds = (tensor(i32), tensor(f32, 2))
        condition = _region(kinds, lambda i, v: core.less(i, core.squeeze(n, (0,))))
        body = _region(
            kinds,
            lambda i, v: (
                core.add(i, core.splat(1, i)),
                core.add(v, v),
                core.mul(v, v),
                i,
                core.greater(v, core.scalar(7.0, f32)),
            ),
        )
        return core.while_((core.scalar(0, i32), x), condition, body)[1:]

    converted_model = converted(core_module(build, {"x": tensor(f32, 2), "n": tensor(i32, 1)}))
    load_in_coremltools(converted_model, tmp_path)
    for n in (1, 4):
        powers = np.outer(2.0 ** np.arange(n), [1, 3])
        result = run_mil(converted_model, {"x": np.array([1, 3]), "n": np.array([n])})
        expected = (2.0**n * np.array([1, 3]), powers**2, np.arange(n), powers > 7)
        for one, other in zip(result, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_loop_over_a_sequence_counts(tmp_path: Path) -> None:
    def build(x: Value) -> Sequence[Value]:
        kinds = (tensor(f32, 2), tensor(f32, 2))
        body = _region(kinds, lambda s, v: (core.add(s, v), core.mul(s, v)))
        return core.scan((core.constant(data_of(f32, (2,), (1.0, 2.0))),), (x,), body, True)

    result = converted(core_module(build, {"x": tensor(f32, 3, 2)}))
    x = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    state, rows = np.array([1, 2], np.float32), [np.zeros(2, np.float32)] * 3
    for n in reversed(range(3)):
        rows[n] = state * x[n]
        state = state + x[n]
    got = run_mil(result, {"x": x})
    np.testing.assert_array_equal(got[0], state)
    np.testing.assert_array_equal(got[1], np.stack(rows))
    load_in_coremltools(result, tmp_path)


@pytest.mark.parametrize("element", [f16, f32])
def test_mutable_globals_are_states_of_half_precision(element: ElementType, tmp_path: Path) -> None:
    module = Module()
    kind = tensor(element, 2)
    stored = ml_program.Global("total", kind, DataAttr(data_of(element, (2,), (0.0, 0.0))), is_mutable=True)
    module.body.append(stored)
    block = Block([kind], ["x"])
    before = block.append(ml_program.GlobalLoad.of(stored)).result
    after = block.append(core.Add(before, block.arguments[0])).y
    block.append(ml_program.GlobalStore.to(stored, after))
    block.append(ml_program.Return((after,)))
    module.body.append(ml_program.Func("main", FunctionType((kind,), (kind,)), Region([block]), ("y",)))
    result = converted(module)
    description = description_of(result)
    assert description is not None
    assert result.main.body.label == "CoreML8"
    assert [(s.name, s.type) for s in description.interfaces[0].states] == [("total", State(MultiArray(f16, (2,))))]
    load_in_coremltools(result, tmp_path)


def test_labels_make_a_classifier(tmp_path: Path) -> None:
    def build(x: Value) -> Sequence[Value]:
        labels = core.constant(data_of(string, (3,), ("cat", "dog", "owl")))
        scores = core.reshape(core.softmax(x, -1), (-1,))
        return core.gather(labels, core.arg_max(scores, 0), 0), scores

    result = converted(core_module(build, {"x": tensor(f32, 1, 3)}, ["kind", "scores"]))
    assert operations(result)[-1] == "classify"
    description = description_of(result)
    assert description is not None
    interface = description.interfaces[0]
    assert (interface.label_name, interface.probabilities_name) == ("kind", "scores")
    assert [o.type for o in interface.outputs] == [Scalar(string), Dictionary(string)]
    label, _ = run_mil(result, {"x": np.array([[1.0, 3.0, 2.0]])})
    assert label.item() == "dog"
    load_in_coremltools(result, tmp_path)


def test_image_input_is_scaled_and_shifted(tmp_path: Path) -> None:
    module = core_module(core.neg, {"photo": tensor(f32, 1, 3, 2, 2)})
    images = {"photo": ImageInput(ColorSpace.BGR, 0.5, (1.0, 2.0, 3.0))}
    result = converted(module, images=images)
    description = description_of(result)
    assert description is not None
    assert description.interfaces[0].inputs[0].type == Image(2, 2, "BGR")
    (y,) = run_mil(result, {"photo": np.full((1, 3, 2, 2), 10.0)})
    np.testing.assert_array_equal(y[0, :, 0, 0], [-6, -7, -8])
    assert [v.name for op in result.main.body.operations for v in op.results if "photo" in v.name][
        -1
    ] == "photo__biased__"
    load_in_coremltools(result, tmp_path)


def test_images_of_one_name_have_the_layouts_of_their_functions() -> None:
    """An input, an output, and the input of another function, all called `photo`."""

    def first(photo: Value) -> Value:
        return core.transpose(photo, (0, 2, 3, 1))

    module = Module()
    for name, build, shape in (("first", first, (1, 3, 2, 5)), ("second", core.neg, (1, 2, 5, 3))):
        function = _function(name, build, {"photo": tensor(f32, *shape)})
        arguments = port_attributes([Port(shape=shape)])
        module.body.append(function.with_attributes(result_names=("photo",), arg_attrs=arguments))
    imaged = with_images(module, {"photo": ImageInput(ColorSpace.RGB)})
    for function in imaged.functions.values():
        inside = function.input_ports["photo"], function.output_ports["photo"]
        assert [port.image for port in inside] == [ColorSpace.RGB] * 2
        assert function.input_ports["photo"].shape == (1, 3, 2, 5)
        assert [str(v.type) for v in (*function.inputs, *function.outputs)] == ["tensor<1x3x2x5xf32>"] * 2


def test_input_that_is_not_an_image_is_refused() -> None:
    module = core_module(core.neg, {"x": tensor(f32, 1, 2, 2, 2)})
    with pytest.raises(DiagnosticError, match="is not an image in rgb"):
        converted(module, images={"x": ImageInput(ColorSpace.RGB)})


# -- compressed weights


def _compressed(element: ElementType) -> Module:
    def build(x: Value) -> Value:
        data = core.constant(data_of(element, (2, 2), (1, -2, 3, -4)))
        scale = core.constant(data_of(f32, (2, 1), (0.5, 2.0)))
        return core.linear(x, core.dequantize(data, scale, None))

    return core_module(build, {"x": tensor(f32, 1, 2)})


@pytest.mark.parametrize(
    ("element", "version", "operation"),
    [(i8, "CoreML6", "constexpr_affine_dequantize"), (i4, "CoreML8", "constexpr_blockwise_shift_scale")],
)
def test_compressed_weight_stays_compressed(element: ElementType, version: str, operation: str, tmp_path: Path) -> None:
    result = converted(_compressed(element))
    assert result.main.body.label == version
    assert operations(result) == [operation, "linear"]
    np.testing.assert_array_equal(run_mil(result, {"x": np.array([[2.0, 1.0]])})[0], [[0.0, 4.0]])
    load_in_coremltools(result, tmp_path)


def test_compressed_weight_is_stored_plainly_where_the_form_lacks() -> None:
    lost = Diagnostics()
    result = converted(_compressed(i8), "iOS15", lost)
    assert operations(result) == ["linear"]
    assert [d.code.id for d in lost] == ["W0601"]
    np.testing.assert_array_equal(run_mil(result, {"x": np.array([[2.0, 1.0]])})[0], [[0.0, 4.0]])


# -- half precision


def test_half_precision_keeps_inputs_and_outputs() -> None:
    module = core_module(lambda x: core.exp(core.neg(x)), {"x": tensor(f32, 2)})
    result = converted(convert_elements(module, HalfPrecision()))
    assert operations(result) == ["cast", "mul", "exp", "cast"]
    assert result.main.inputs[0].type is tensor(f32, 2)
    assert result.main.outputs[0].type is tensor(f32, 2)
    np.testing.assert_allclose(run_mil(result, {"x": np.array([1, 2])})[0], np.exp([-1, -2]), rtol=2e-3)


def test_half_precision_saturates_what_stands_for_infinity_and_keeps_small_numbers() -> None:
    def build(x: Value) -> Value:
        return core.mul(core.add(x, core.scalar(-3.4e38, f32)), core.scalar(1e-12, f32))

    result = converted(convert_elements(core_module(build, {"x": tensor(f32)}), HalfPrecision()))
    np.testing.assert_allclose(run_mil(result, {"x": np.array(0.0)})[0], -65504 * 2.0**-24, rtol=1e-3)


def test_operation_with_a_constant_beyond_half_precision_stays_in_single() -> None:
    module = core_module(lambda x: core.neg(core.add(x, core.scalar(1e6, f32))), {"x": tensor(f32, 2)})
    result = converted(convert_elements(module, HalfPrecision()))
    assert operations(result) == ["add", "cast", "mul", "cast"]


def test_ngrams_of_numbers_are_counted_as_onnxruntime_counts_them(tmp_path: Path) -> None:
    columns, pool = tuple(range(7)), (2, 3, 5, 4, 5, 6, 7, 8, 6, 7)
    rows = np.random.default_rng(1).integers(2, 9, (3, 12)).astype(np.int64)

    def build(x: Value) -> Value:
        return core.ngram_counts(x, (0, 4), columns, pool, None, 1, 2, 2)

    result = converted(core_module(build, {"x": tensor(i64, 3, 12)}))
    load_in_coremltools(result, tmp_path)
    expected = onnx_result(
        "TfIdfVectorizer", [rows], min_gram_length=1, max_gram_length=2, max_skip_count=2, mode="TF",
        ngram_counts=[0, 4], ngram_indexes=list(columns), pool_int64s=list(pool),
    )  # fmt: skip
    np.testing.assert_array_equal(run_mil(result, {"x": rows})[0], expected)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("ascending", [True, False])
def test_what_is_unique_is_found_by_comparing_pairs(axis: int | None, ascending: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    x = rng.integers(0, 2, (5, 6)).astype(np.float32) if axis is not None else rng.integers(0, 9, (5, 6)) * 0.5
    result = converted(core_module(lambda v: core.unique(v, axis, ascending), {"x": tensor(f32, 5, 6)}))
    load_in_coremltools(result, tmp_path)
    inputs = [np.asarray(x, np.float32)]
    expected = onnx_results("Unique", inputs, 4, sorted=int(ascending), axis=axis)
    for one, other in zip(run_mil(result, {"x": x}), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_fourier_transform_of_half_precision_rounds_its_results_only(tmp_path: Path) -> None:
    """Of equal numbers all frequencies but the first are zero, which sums with rounded cosines miss."""
    result = converted(core_module(lambda x: core.dft(x, 7, 1), {"x": tensor(f16, 1, 7, 1)}))
    load_in_coremltools(result, tmp_path)
    (y,) = run_mil(result, {"x": np.full((1, 7, 1), 100, np.float16)})
    np.testing.assert_allclose(y[0, 0], [700, 0], atol=1e-3)
    np.testing.assert_allclose(y[0, 1:], 0, atol=1e-3)
