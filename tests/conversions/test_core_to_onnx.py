"""Every core operation through the rules to ONNX, checked by the onnx package and run by onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from commonir.base.arrays import dtype_of, name_of
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.conversions.conversion import DEFAULT_OPTIONS
from commonir.conversions.core_to_onnx import core_to_onnx
from commonir.conversions.onnx import CONVERSION
from commonir.dialects import core
from commonir.dialects.onnx import Initializer
from commonir.ir.data import ArrayData, data_of
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import ELEMENT_TYPES, bf16, boolean, f16, f32, i32, i64, tensor
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.symbolic import Dim, floor_div, modulo, symbol

from tests.conversions.programs import core_module, yielding
from tests.conversions.running import converted, run_onnx
from tests.dialects.core.test_results import BETWEEN_RANKS, ON_COLLECTIONS, ON_TEXTS
from tests.oracles import oracle
from tests.runtime.cases import CASES as FIRST_CASES
from tests.runtime.sequence_cases import CASES as SEQUENCE_CASES

Array = np.ndarray[Any, Any]
_SEEDS = range(4)


def _operators(module: Module, opset: int = 18) -> list[str]:
    graph = core_to_onnx(module, opset).main
    return [op.name.removeprefix("onnx.") for op in graph.body.operations if op.name not in _STRUCTURE]


_STRUCTURE = {"onnx.initializer", "onnx.return"}


def _types(arrays: Mapping[str, Array]) -> dict[str, Any]:
    return {name: tensor(ELEMENT_TYPES[name_of(a.dtype)], *a.shape) for name, a in arrays.items()}


# Runtimes draw other numbers: `tests/dialects/mil/test_random.py` tests how they are distributed.
_RANDOM = {"core.random_uniform", "core.random_normal"}
CASES = {name: draw for name, draw in {**FIRST_CASES, **SEQUENCE_CASES}.items() if name not in _RANDOM}


# What onnxruntime 1.31 has no implementation of, from these opsets on.
_NOT_IMPLEMENTED = {"core.region_align": 22, "core.region_max_pool": 22, "core.decode_image": 20}


@pytest.mark.fast_every(2)
@pytest.mark.parametrize("opset", [18, 23])
@pytest.mark.parametrize("name", CASES)
def test_converted_operation_gives_the_expected_values(name: str, opset: int) -> None:
    if opset >= _NOT_IMPLEMENTED.get(name, opset + 1):
        pytest.skip(f"onnxruntime has no implementation of {name} in opset {opset}")
    if name == "core.decode_image":
        pytest.skip("onnx.ImageDecoder came with opset 20")
    for seed in _SEEDS:
        case = CASES[name](np.random.default_rng(seed))
        module = core_module(case.build, _types(case.arrays))
        got = run_onnx(converted(module, opset), case.arrays)
        expected = case.expected() if case.expected else list(REFERENCE.prepare(module).run(case.arrays).values())
        for g, w in zip(got, [expected] if isinstance(expected, (np.ndarray, np.generic)) else expected, strict=True):
            assert g.shape == np.shape(w)
            np.testing.assert_allclose(g, w, rtol=2e-4, atol=2e-5, err_msg=f"seed {seed}")


def test_half_precision_updates_are_combined_where_onnxruntime_can() -> None:
    arrays = {"x": np.zeros(4, np.float16), "p": np.array([1, 3], np.int32), "u": np.array([0.5, 2.0], np.float16)}
    module = core_module(lambda x, p, u: core.scatter_elements(x, p, u, 0, core.Reduction.ADD), _types(arrays))
    (got,) = run_onnx(converted(module, 18), arrays)
    assert got.dtype == np.float16
    assert got.tolist() == [0.0, 0.5, 0.0, 2.0]


_STRUCTURAL = {"core.if", "core.while", "core.call", "core.yield", *BETWEEN_RANKS}
_CONVERTED_ELSEWHERE = {
    # `test_texts_and_lists_to_onnx.py`
    *ON_TEXTS, *ON_COLLECTIONS, "core.narrow_cast", "core.bit_cast", "core.unique",
    # `test_learning_to_onnx.py`; for those on maps, and pairwise coupling, ONNX has no operator.
    "core.det", "core.lookup", "core.tree_ensemble", "core.pairwise_coupling",
    # ONNX decomposes no matrices.
    "core.eigh", "core.svd",
    # ONNX computes with no complex numbers.
    "core.complex", "core.real", "core.imag",
    # It computes nothing, and is left out with a warning.
    "core.require",
}  # fmt: skip


def test_every_core_operation_that_is_not_structure_has_a_case() -> None:
    without = set(core.DIALECT.operations) - set(CASES)
    assert without == {*_STRUCTURAL, *_RANDOM, *_CONVERTED_ELSEWHERE}, "add a case to tests/runtime/cases.py"


# -- names


def test_names_of_inputs_outputs_and_values_are_kept() -> None:
    def build(x: Value) -> Value:
        hidden = core.exp(x)
        hidden.name = "hidden"
        return core.neg(hidden)

    onnx = oracle("onnx")
    model = onnx.load_from_string(converted(core_module(build, {"x": tensor(f32, 2)}, ["result"]), 18))
    assert [(list(n.input), list(n.output)) for n in model.graph.node] == [
        (["x"], ["hidden"]),
        (["hidden"], ["result"]),
    ]


def test_input_returned_and_value_returned_twice_get_names_of_their_own() -> None:
    def build(x: Value) -> Sequence[Value]:
        y = core.neg(x)
        return x, y, y

    module = core_module(build, {"x": tensor(f32, 2)}, ["same", "negative", "again"])
    got = run_onnx(converted(module, 18), {"x": np.array([1, -2], np.float32)})
    np.testing.assert_array_equal(got, [[1, -2], [-1, 2], [-1, 2]])


def test_constant_can_be_returned() -> None:
    module = core_module(lambda: core.vector((1, 2)), {}, ["v"])
    np.testing.assert_array_equal(run_onnx(converted(module, 18), {})[0], [1, 2])


# -- symbolic dimensions

_N, _M = symbol("n"), symbol("m")


@pytest.mark.parametrize(
    ("dim", "expected"),
    [
        (_N, 7),
        (_N + 3, 10),
        (_N * _M - 2, 19),
        (floor_div(_N + 1, 2), 4),
        (floor_div(_N - 10, 4), -1),
        (modulo(_N - 10, 4), 1),
        (_N * _N * 2 + _M, 101),
        (5, 5),
    ],
    ids=str,
)
def test_dimension_is_computed_from_the_shape_of_an_input(dim: Dim, expected: int) -> None:
    module = core_module(lambda x: core.dims((dim, 2)), {"x": tensor(f32, _N, _M)})
    got = run_onnx(converted(module, 18), {"x": np.zeros((7, 3), np.float32)})
    np.testing.assert_array_equal(got[0], [expected, 2])


def test_symbol_is_found_in_a_linear_size() -> None:
    module = core_module(lambda x: core.dims((_N,)), {"x": tensor(f32, _N * 2 + 1)})
    np.testing.assert_array_equal(run_onnx(converted(module, 18), {"x": np.zeros(9, np.float32)})[0], [4])


def test_symbol_that_no_input_has_is_refused() -> None:
    with pytest.raises(DiagnosticError) as caught:
        core_to_onnx(core_module(lambda x: core.dims((_M,)), {"x": tensor(f32, _N)}))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code.id == "E0601"
    assert diagnostic.message == "core.dims cannot be expressed in onnx opset18"
    assert diagnostic.notes == ("no input has the dimension 'm' as the size of an axis",)


def test_reshape_with_kept_and_inferred_sizes_computes_no_shape() -> None:
    module = core_module(lambda x: core.reshape(x, (_N, _M * 4)), {"x": tensor(f32, _N, _M, 4)})
    assert _operators(module) == ["Reshape"]
    got = run_onnx(converted(module, 18), {"x": np.arange(24, dtype=np.float32).reshape(2, 3, 4)})
    np.testing.assert_array_equal(got[0], np.arange(24).reshape(2, 12))


def test_reshape_by_two_expressions_computes_its_shape() -> None:
    module = core_module(lambda x: core.reshape(x, (_M, _N, 1)), {"x": tensor(f32, _N, _M)})
    got = run_onnx(converted(module, 18), {"x": np.arange(6, dtype=np.float32).reshape(2, 3)})
    np.testing.assert_array_equal(got[0], np.arange(6).reshape(3, 2, 1))


def test_symbolic_sizes_of_inputs_and_outputs_are_kept() -> None:
    onnx = oracle("onnx")
    module = core_module(lambda x: core.concat((x, x), 0), {"x": tensor(f32, symbol("batch size"), 3)})
    graph = onnx.load_from_string(converted(module, 18)).graph
    params = [v.type.tensor_type.shape.dim[0].dim_param for v in (*graph.input, *graph.output)]
    assert params == ["batch size", "2*'batch size'"]


# -- operators chosen


def test_gelu_is_one_operator_from_opset_20_and_the_form_that_is_fused_before() -> None:
    module = core_module(core.gelu, {"x": tensor(f32, 4)})
    assert _operators(module, 20) == ["Gelu"]
    assert _operators(module, 19) == ["Div", "Erf", "Add", "Mul", "Mul"]


def test_linear_of_matrices_is_gemm_else_matmul_with_transposed_weight() -> None:
    weights = {"w": tensor(f32, 5, 3), "b": tensor(f32, 5)}
    assert _operators(core_module(_linear, {"x": tensor(f32, 2, 3), **weights})) == ["Gemm"]
    deep = core_module(_linear, {"x": tensor(f32, 1, 2, 3), **weights})
    assert _operators(deep) == ["Transpose", "MatMul", "Add"]


def _linear(x: Value, w: Value, b: Value) -> Value:
    return core.Linear(x, w, b).y


def test_mean_over_images_is_global_average_pool() -> None:
    module = core_module(lambda x: core.reduce_mean(x, (2, 3), False), {"x": tensor(f32, 1, 2, 3, 4)})
    assert _operators(module) == ["GlobalAveragePool", "Squeeze"]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2"])
def test_reductions_of_narrow_integers_wrap_around(dtype: str) -> None:
    x = np.array([[100, 100, 127], [2, 3, 5]], dtype)
    of_rows = {core.reduce_sum: np.sum, core.reduce_prod: np.prod, core.reduce_max: np.max, core.reduce_min: np.min}
    module = core_module(lambda x: tuple([reduced(x, (1,)) for reduced in of_rows]), _types({"x": x}))
    for got, expected in zip(run_onnx(converted(module, 18), {"x": x}), of_rows.values(), strict=True):
        exact = expected(x.astype("i8"), axis=1)
        np.testing.assert_array_equal(got, exact.astype(dtype), strict=True)


def test_layer_norm_of_leading_axes_is_decomposed() -> None:
    x = {"x": tensor(f32, 2, 3, 4)}
    assert _operators(core_module(lambda x: core.layer_norm(x, None, None, (1, 2)), x)) == ["LayerNormalization"]
    assert "LayerNormalization" not in _operators(core_module(lambda x: core.layer_norm(x, None, None, (1,)), x))


@pytest.mark.parametrize("element", [f16, bf16])
def test_type_that_a_version_lacks_is_computed_in_single_precision(element: Any) -> None:
    module = core_module(core.sin, {"x": tensor(element, 4)})
    assert _operators(module, 18) == (["Sin"] if element is f16 else ["Cast", "Sin", "Cast"])
    assert _operators(module, 22) == ["Sin"]


def test_weights_keep_their_bytes() -> None:
    data = np.arange(15, dtype=np.float32).reshape(5, 3)
    stored = ArrayData(tensor(f32, 5, 3), data)
    module = core_module(lambda x: core.Linear(x, core.constant(stored)).y, {"x": tensor(f32, 1, 2, 3)})
    initializers = [op for op in core_to_onnx(module).main.body.operations if isinstance(op, Initializer)]
    assert [op.value for op in initializers] == [stored]


# -- nested programs


def test_if_runs_the_branch_of_its_condition() -> None:
    def build(c: Value, x: Value) -> Sequence[Value]:
        then, orelse = yielding(lambda: [core.neg(x)]), yielding(lambda: [core.add(x, core.splat(1.0, x))])
        return core.if_(c, then, orelse)

    content = converted(core_module(build, {"c": tensor(boolean), "x": tensor(f32, 2)}), 18)
    x = np.array([1, 2], np.float32)
    np.testing.assert_array_equal(run_onnx(content, {"c": np.array(True), "x": x})[0], [-1, -2])
    np.testing.assert_array_equal(run_onnx(content, {"c": np.array(False), "x": x})[0], [2, 3])


def test_branches_that_compute_nothing_return_copies() -> None:
    def build(c: Value, x: Value) -> Sequence[Value]:
        def ones() -> Value:
            return core.constant(data_of(f32, (2,), (1.0, 1.0)))

        return core.if_(c, yielding(lambda: [x, x, ones()]), yielding(lambda: [ones(), core.neg(x), x]))

    content = converted(core_module(build, {"c": tensor(boolean), "x": tensor(f32, 2)}), 18)
    x = np.array([1, 2], np.float32)
    np.testing.assert_array_equal(run_onnx(content, {"c": np.array(True), "x": x}), [[1, 2], [1, 2], [1, 1]])
    np.testing.assert_array_equal(run_onnx(content, {"c": np.array(False), "x": x}), [[1, 1], [-1, -2], [1, 2]])


def test_loop_that_hands_values_on_returns_copies() -> None:
    counter, value = tensor(i32), tensor(f32)

    def build(limit: Value, x: Value) -> Sequence[Value]:
        condition = yielding(lambda n, *_: [core.less(n, limit)], counter, value, value)
        body = yielding(lambda n, a, _: [core.add(n, core.splat(1, n)), x, a], counter, value, value)
        return core.while_((core.scalar(0, i32), core.neg(x), x), condition, body)

    content = converted(core_module(build, {"limit": counter, "x": value}), 18)
    got = run_onnx(content, {"limit": np.array(1, np.int32), "x": np.array(3, np.float32)})
    assert [v.item() for v in got] == [1, 3.0, -3.0]


def test_loop_with_a_condition_that_never_changes_converts() -> None:
    def build(c: Value, x: Value) -> Sequence[Value]:
        body = yielding(lambda v: [core.add(v, v)], tensor(f32))
        return core.while_((x,), yielding(lambda _: [c], tensor(f32)), body)

    content = converted(core_module(build, {"c": tensor(boolean), "x": tensor(f32)}), 18)
    assert run_onnx(content, {"c": np.array(False), "x": np.array(3, np.float32)})[0].item() == 3.0


@pytest.mark.parametrize(("limit", "expected"), [(3, (3, 8.0)), (0, (0, 1.0))])
def test_while_asks_its_condition_before_each_round(limit: int, expected: tuple[int, float]) -> None:
    counter, value = tensor(i32), tensor(f32)

    def build(limit: Value, x: Value) -> Sequence[Value]:
        condition = yielding(lambda n, _: [core.less(n, limit)], counter, value)
        body = yielding(lambda n, v: [core.add(n, core.splat(1, n)), core.add(v, v)], counter, value)
        return core.while_((core.scalar(0, i32), x), condition, body)

    content = converted(core_module(build, {"limit": counter, "x": value}), 18)
    got = run_onnx(content, {"limit": np.array(limit, np.int32), "x": np.array(1, np.float32)})
    assert tuple(v.item() for v in got) == expected


# -- losses and refusals


def test_functions_that_are_left_out_are_reported() -> None:
    module = core_module(core.neg, {"x": tensor(f32, 2)})
    other = core_module(core.abs, {"x": tensor(f32, 2)}, name="other").main
    other.detach()
    module.body.append(other)
    lost = Diagnostics()
    assert list(CONVERSION.convert(module, DEFAULT_OPTIONS, lost).functions) == ["main"]
    assert [(d.code.id, d.message) for d in lost] == [
        ("W0601", "the function 'other' is left out: an ONNX model has one function")
    ]


def test_opset_out_of_range_is_refused_with_the_range() -> None:
    with pytest.raises(DiagnosticError) as caught:
        core_to_onnx(core_module(core.neg, {"x": tensor(f32, 2)}), 6)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code.id, diagnostic.help) == ("E0601", "choose one from 7 to 28")


def test_integers_given_as_i32_positions_stay_or_become_i64() -> None:
    x = {"x": tensor(f32, 4), "p": tensor(i32, 2)}
    assert _operators(core_module(core.gather, x)) == ["Gather"]
    nd = {"x": tensor(f32, 4), "p": tensor(i32, 2, 1)}
    assert _operators(core_module(core.gather_nd, nd)) == ["Cast", "GatherND"]


def test_half_precision_inputs_run() -> None:
    x = np.array([0.5, 1.5], dtype_of("f16"))
    got = run_onnx(converted(core_module(core.sqrt, {"x": tensor(f16, 2)}), 18), {"x": x})
    np.testing.assert_allclose(got[0], np.sqrt(x), rtol=1e-3)
    assert got[0].dtype == np.float16


@pytest.mark.parametrize("opset", [13, 18])
def test_fourier_transform_of_half_precision_rounds_its_results_only(opset: int) -> None:
    """Of equal numbers all frequencies but the first are zero, which sums with rounded cosines miss."""
    module = core_module(lambda x: core.dft(x, 7, 1), {"x": tensor(f16, 1, 7, 1)})
    (y,) = run_onnx(converted(module, opset), {"x": np.full((1, 7, 1), 100, np.float16)})
    np.testing.assert_allclose(y[0, 0], [700, 0], atol=1e-3)
    np.testing.assert_allclose(y[0, 1:], 0, atol=1e-3)


def test_positions_are_i64_where_onnx_demands_it() -> None:
    module = core_module(lambda x: core.slice(x, (1,), (3,), (1,)), {"x": tensor(i64, 4)})
    np.testing.assert_array_equal(run_onnx(converted(module, 18), {"x": np.arange(4)})[0], [1, 2])
