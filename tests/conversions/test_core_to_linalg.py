"""Every core operation through the rules to linalg: accepted by mlir-opt, compiled and run by IREE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from commonir.base.arrays import dtype_of
from commonir.base.diagnostics import DiagnosticError
from commonir.conversions.core_to_linalg import core_to_linalg
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.data import data_of
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import ElementType, FunctionType, TensorType, boolean, f16, f32, i4, i32, i64, tensor, u8, u32
from commonir.ods import operations_behind
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.symbolic import Dim, floor_div, modulo, symbol

from tests.conversions.programs import core_module, running_total, yielding
from tests.conversions.running_mlir import assert_near, check_with_mlir_opt, joined, run, text_of, types_of
from tests.dialects.core.test_results import BETWEEN_RANKS, ON_COLLECTIONS, ON_TEXTS
from tests.iree import Compiled
from tests.runtime.cases import CASES as FIRST_CASES
from tests.runtime.drawing import Case
from tests.runtime.sequence_cases import CASES as SEQUENCE_CASES

Array = np.ndarray[Any, Any]

_ALL = {**FIRST_CASES, **SEQUENCE_CASES}
_SEEDS = range(2)
_BATCH = 16

# Operations of the core that linalg does not say here, with the findings.
REFUSED = {
    "core.random_uniform": "not defined in index notation",
    "core.random_normal": "not defined in index notation",
    "core.decode_image": "not defined in index notation",
    "core.dynamic_resize": "not defined in index notation",
    "core.non_max_suppression": "not defined in index notation",
    "core.region_max_pool": "not defined in index notation",
}
_CONVERTED = sorted(set(_ALL) - set(REFUSED))
_BATCHES = [_CONVERTED[n : n + _BATCH] for n in range(0, len(_CONVERTED), _BATCH)]


def _wanted(case: Case, module: Module) -> Any:
    return case.expected() if case.expected else list(REFERENCE.prepare(module).run(case.arrays).values())


@pytest.mark.slow
@pytest.mark.parametrize("names", _BATCHES, ids=lambda names: f"{names[0]}-{names[-1]}")
def test_converted_operations_give_the_expected_values_in_iree(names: Sequence[str]) -> None:
    result: dict[str, tuple[Case, Module]] = {}
    texts: list[str] = []
    for name in names:
        for seed in _SEEDS:
            case = _ALL[name](np.random.default_rng(seed))
            key = f"{name.removeprefix('core.')}_{seed}"
            module = core_module(case.build, types_of(case.arrays), name=key)
            try:
                converted = core_to_linalg(module)
            except DiagnosticError as error:
                assert _is_refused_use(name, error), [(d.message, d.notes) for d in error.diagnostics]
                continue
            texts.append(text_of(converted))
            result[key] = case, module
    check_with_mlir_opt("// -----\n".join(texts))
    program = Compiled(joined(texts))
    for key, (case, module) in result.items():
        assert_near(program.run(key, list(case.arrays.values())), _wanted(case, module), key)


def _is_refused_use(name: str, error: DiagnosticError) -> bool:
    """Uses of a converted operation that are refused: padding whose amounts are data and that repeats elements."""
    notes = {note for d in error.diagnostics for note in d.notes}
    return name == "core.dynamic_pad" and "tensor.pad does not repeat elements" in notes


@pytest.mark.parametrize("name", REFUSED)
def test_operation_without_a_form_is_refused_by_name(name: str) -> None:
    case = _ALL[name](np.random.default_rng(0))
    with pytest.raises(DiagnosticError) as caught:
        core_to_linalg(core_module(case.build, types_of(case.arrays)))
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code.id, diagnostic.message) == ("E0601", f"{name} cannot be expressed in linalg")
    assert REFUSED[name] in diagnostic.notes[-1]


_STRUCTURAL = {"core.if", "core.require", "core.while", "core.call", "core.yield", *BETWEEN_RANKS}
_BELOW = {"core.bit_cast", "core.narrow_cast", "core.complex", "core.real", "core.imag"}
_NEVER = {
    *ON_TEXTS, *ON_COLLECTIONS,  # MLIR has no tensors of texts, no lists and no maps
    "core.unique", "core.det", "core.eigh", "core.svd", "core.pairwise_coupling",
}  # fmt: skip
_OF_KNOWN_TABLES = {"core.lookup", "core.tree_ensemble"}  # in test_learning_to_mlir


def test_every_core_operation_has_a_case_or_is_named() -> None:
    named = {*_CONVERTED, *REFUSED, *_STRUCTURAL, *_BELOW, *_NEVER, *_OF_KNOWN_TABLES}
    assert set(core.DIALECT.operations) == named, "add a case to tests/runtime/cases.py"


# -- element types


def _one(build: Callable[..., Any], *arrays: Array, **typed: Any) -> Array:
    (result,) = run(core_to_linalg, build, *arrays, **typed)
    return result


@pytest.mark.slow
def test_bits_of_numbers_are_kept() -> None:
    x = np.array([1.0, -2.5, np.inf], np.float32)
    np.testing.assert_array_equal(_one(lambda x: core.bit_cast(x, i32), x), x.view(np.int32))


@pytest.mark.slow
def test_narrow_integers_keep_the_low_bits() -> None:
    x = np.array([20.7, -9.2, 5.0, 0.0], np.float32)
    assert _one(lambda x: core.cast(core.narrow_cast(x, i4), i32), x).tolist() == [4, 7, 5, 0]


@pytest.mark.slow
def test_complex_numbers_are_made_multiplied_and_taken_apart() -> None:
    a, b = np.array([1.0, 2.0], np.float32), np.array([3.0, -1.0], np.float32)

    def build(a: Value, b: Value) -> tuple[Value, ...]:
        z = core.make_complex(a, b)
        squared = core.mul(z, z)
        return core.real(squared), core.imag(squared)

    squared = (a + 1j * b) ** 2
    assert_near(run(core_to_linalg, build, a, b), [squared.real, squared.imag])


@pytest.mark.slow
def test_unsigned_integers_divide_compare_and_convert_as_such() -> None:
    x, y = np.array([250, 7, 200], np.uint8), np.array([3, 2, 200], np.uint8)

    def build(x: Value, y: Value) -> tuple[Value, ...]:
        return core.div(x, y), core.less(x, y), core.cast(x, f32), core.maximum(x, y), core.cast(x, i32)

    result = run(core_to_linalg, build, x, y)
    expected = [x // y, x < y, x.astype(np.float32), np.maximum(x, y), x.astype(np.int32)]
    assert_near(result, expected)


@pytest.mark.slow
@pytest.mark.parametrize("amount", [-1, 0, 5, 32, 40])
def test_shifts_by_the_width_or_more_leave_zeros_or_the_sign(amount: int) -> None:
    x = np.array([-17, 17], np.int32)
    y = np.full(2, amount, np.int32)
    result = run(core_to_linalg, lambda x, y: (core.shift_left(x, y), core.shift_right(x, y)), x, y)
    left = {-1: [0, 0], 0: [-17, 17], 5: [-544, 544], 32: [0, 0], 40: [0, 0]}[amount]
    right = {-1: [-1, 0], 0: [-17, 17], 5: [-1, 0], 32: [-1, 0], 40: [-1, 0]}[amount]
    assert [f.tolist() for f in result] == [left, right]


@pytest.mark.slow
def test_half_precision_is_summed_in_single_precision() -> None:
    x = np.full((1, 3000), 1.0, np.float16)
    result = _one(lambda x: core.matmul(x, core.transpose(x, (1, 0))), x)
    assert (result.dtype, result.tolist()) == (np.float16, [[3000.0]])


@pytest.mark.slow
def test_bools_go_in_and_out() -> None:
    x = np.array([True, False])
    result = _one(core.logical_not, x)
    assert (result.dtype, result.tolist()) == (np.bool_, [False, True])


@pytest.mark.slow
def test_constants_of_all_types_are_written() -> None:
    def build(x: Value) -> Sequence[Value]:
        constants = [
            data_of(u8, (2,), (200, 3)),
            data_of(i64, (2,), (-5, 2**40)),
            data_of(f16, (2,), (0.5, 65504.0)),
            data_of(boolean, (2,), (True, False)),
            data_of(u32, (2,), (2**32 - 1, 0)),
        ]
        return [x, *map(core.constant, constants)]

    result = run(core_to_linalg, build, np.zeros(1, np.float32))[1:]
    assert result[0].view(np.uint8).tolist() == [200, 3]
    assert result[1].tolist() == [-5, 2**40]
    assert result[2].tolist() == [0.5, 65504.0]
    assert result[3].tolist() == [True, False]
    assert result[4].view(np.uint32).tolist() == [2**32 - 1, 0]


# -- symbolic sizes

_N, _M = symbol("n"), symbol("m")


@pytest.mark.slow
def test_sizes_that_are_expressions_are_computed_from_those_of_inputs() -> None:
    rows: list[tuple[Dim, int]] = [
        (_N, 7),
        (_N + 3, 10),
        (_N * _M - 2, 19),
        (floor_div(_N + 1, 2), 4),
        (floor_div(_N - 10, 4), -1),
        (modulo(_N - 10, 4), 1),
        (_N * _N * 2 + _M, 101),
        (5, 5),
        (-_N, -7),
        (3 - _N, -4),
    ]
    dims = tuple([dim for dim, _ in rows])
    x = np.zeros((7, 3), np.float32)
    result = _one(lambda x: core.dims(dims), x, x=tensor(f32, _N, _M))
    assert result.tolist() == [expected for _, expected in rows]


def test_unknown_size_is_refused() -> None:
    with pytest.raises(DiagnosticError) as caught:
        core_to_linalg(core_module(lambda x: core.dims((_M,)), {"x": tensor(f32, _N)}))
    (diagnostic,) = caught.value.diagnostics
    assert "no input has the dimension 'm' as the size of an axis" in diagnostic.notes


def test_operation_on_a_tensor_of_unknown_rank_is_refused() -> None:
    with pytest.raises(DiagnosticError) as caught:
        core_to_linalg(core_module(core.neg, {"x": TensorType(f32, None)}))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.notes == ("core.neg on operands of which the ranks are not known",)


def _reshapes(x: Value) -> tuple[Value, ...]:
    shapes: list[tuple[Dim, ...]] = [
        (_N * _M, 4),
        (_N, _M * 4),
        (_N * _M * 4,),
        (_M, _N, 4),
        (1, _N, 1, _M, 2, 2, 1),
        (2, _N, _M, 2),
    ]
    return tuple([core.reshape(x, shape) for shape in shapes])


@pytest.mark.slow
def test_reshapes_of_symbolic_sizes() -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    shapes = [(6, 4), (2, 12), (24,), (3, 2, 4), (1, 2, 1, 3, 2, 2, 1), (2, 2, 3, 2)]
    result = run(core_to_linalg, _reshapes, x, x=tensor(f32, _N, _M, 4))
    assert_near(result, [x.reshape(shape) for shape in shapes])


def test_program_of_symbolic_sizes_runs_for_several() -> None:
    def build(x: Value, w: Value) -> Value:
        y = core.softmax(core.matmul(x, w), -1)
        return core.concat((core.pad(y, (1, 0), (0, 2)), core.slice(y, (0, 0), (1, 5), (1, 1))), 1)

    with pytest.raises(DiagnosticError):
        core_to_linalg(core_module(build, {"x": tensor(f32, _N, _M), "w": tensor(f32, _M, 3)}))


@pytest.mark.slow
def test_products_and_sums_of_symbolic_sizes_run_for_several() -> None:
    def build(x: Value, w: Value) -> tuple[Value, ...]:
        y = core.softmax(core.matmul(x, w), -1)
        return core.pad(y, (1, 0), (0, 2)), core.reduce_sum(y, (0,)), core.concat((y, y), 0)

    text = text_of(core_to_linalg(core_module(build, {"x": tensor(f32, _N, _M), "w": tensor(f32, _M, 3)})))
    check_with_mlir_opt(text)
    program = Compiled(text)
    for n, m in ((2, 3), (1, 5), (4, 1)):
        x, w = np.random.default_rng(n).standard_normal((2, max(n, m), max(n, m, 3))).astype(np.float32)
        x, w = x[:n, :m], w[:m, :3]
        powers = np.exp(x @ w)
        y = powers / powers.sum(-1, keepdims=True)
        assert_near(program.run("main", [x, w]), [np.pad(y, ((1, 0), (0, 2))), y.sum(0), np.concatenate([y, y])])


# -- nested programs and states


@pytest.mark.slow
def test_if_runs_the_branch_of_its_condition() -> None:
    def build(c: Value, x: Value) -> Sequence[Value]:
        then, orelse = yielding(lambda: [core.neg(x)]), yielding(lambda: [core.add(x, core.splat(1.0, x))])
        return core.if_(c, then, orelse)

    x = np.array([1, 2], np.float32)
    assert_near(run(core_to_linalg, build, np.array(True), x), [-x])
    assert_near(run(core_to_linalg, build, np.array(False), x), [x + 1])


@pytest.mark.slow
def test_branches_may_give_different_sizes() -> None:
    def build(c: Value, x: Value) -> Sequence[Value]:
        then, orelse = yielding(lambda: [core.concat((x, x), 0)]), yielding(lambda: [x])
        return core.if_(c, then, orelse)

    x = np.array([1, 2], np.float32)
    assert_near(run(core_to_linalg, build, np.array(True), x), [np.array([1, 2, 1, 2], np.float32)])
    assert_near(run(core_to_linalg, build, np.array(False), x), [x])


@pytest.mark.slow
def test_program_ends_where_a_requirement_does_not_hold() -> None:
    block = Block([tensor(f32)], ["x"])
    (x,) = block.arguments
    for op in operations_behind([condition := core.greater(x, core.scalar(0.0, f32))]):
        block.append(op)
    block.append(core.Require(condition, "x is positive", ()))
    block.append(ml_program.Return((x,)))
    module = Module()
    kind = FunctionType((tensor(f32),), (tensor(f32),))
    module.body.append(ml_program.Func("main", kind, Region([block]), ("y",)))
    text = text_of(core_to_linalg(module))
    check_with_mlir_opt(text)
    assert "cf.assert" in text
    program = Compiled(text)
    assert_near(program.run("main", [np.array(1, np.float32)]), [np.float32(1)])
    with pytest.raises(RuntimeError, match="x is positive"):
        program.run("main", [np.array(-1, np.float32)])


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "expected"), [(3, (3, 8.0)), (0, (0, 1.0))])
def test_while_asks_its_condition_before_each_round(limit: int, expected: tuple[int, float]) -> None:
    counter, value = tensor(i32), tensor(f32)

    def build(limit: Value, x: Value) -> Sequence[Value]:
        condition = yielding(lambda n, _: [core.less(n, limit)], counter, value)
        body = yielding(lambda n, v: [core.add(n, core.splat(1, n)), core.add(v, v)], counter, value)
        return core.while_((core.scalar(0, i32), x), condition, body)

    result = run(core_to_linalg, build, np.array(limit, np.int32), np.array(1, np.float32))
    assert tuple(v.item() for v in result) == expected


@pytest.mark.slow
def test_what_a_loop_stacks_has_a_slice_for_each_round() -> None:
    counter = tensor(i32)

    def build(limit: Value) -> Sequence[Value]:
        condition = yielding(lambda n: [core.less(n, limit)], counter)
        body = yielding(lambda n: [core.add(n, core.splat(1, n)), core.cast(n, f32)], counter)
        return core.while_((core.scalar(0, i32),), condition, body)

    result = run(core_to_linalg, build, np.array(3, np.int32))
    assert [v.tolist() for v in result] == [3, [0.0, 1.0, 2.0]]


@pytest.mark.slow
def test_states_are_globals_that_persist() -> None:
    module = running_total()
    text = text_of(core_to_linalg(module))
    check_with_mlir_opt(text)
    program = Compiled(text)
    x = np.array([1, 2], np.float32)
    assert_near(program.run("main", [x]), [x])
    assert_near(program.run("main", [x]), [2 * x])


# -- what is written


def _operations(build: Any, **types: Any) -> list[str]:
    function = core_to_linalg(core_module(build, types)).main
    skipped = {"arith.constant", "tensor.empty", "linalg.fill", "func.return"}
    return [op.name for op in function.body.operations if op.name not in skipped]


def test_moves_are_operations_of_tensor() -> None:
    x = tensor(f32, 2, 3, 4)
    assert _operations(lambda x: core.reshape(x, (6, 4)), x=x) == ["tensor.collapse_shape"]
    assert _operations(lambda x: core.reshape(x, (2, 3, 2, 2)), x=x) == ["tensor.expand_shape"]
    assert _operations(lambda x: core.unsqueeze(x, (0,)), x=x) == ["tensor.expand_shape"]
    assert _operations(lambda x: core.transpose(x, (2, 0, 1)), x=x) == ["linalg.transpose"]
    assert _operations(lambda x: core.slice(x, (0, 1, 0), (2, 3, 4), (1, 1, 2)), x=x) == ["tensor.extract_slice"]
    assert _operations(lambda x: core.concat((x, x), 1), x=x) == ["tensor.concat"]
    assert _operations(lambda x: core.pad(x, (0, 1, 0), (0, 0, 2)), x=x) == ["tensor.pad"]


def test_products_of_matrices_have_names() -> None:
    a, b = tensor(f32, 2, 3), tensor(f32, 3, 4)
    assert _operations(core.matmul, a=a, b=b) == ["linalg.matmul"]
    assert _operations(core.matmul, a=tensor(f32, 5, 2, 3), b=tensor(f32, 5, 3, 4)) == ["linalg.batch_matmul"]


def test_names_of_inputs_and_outputs_are_kept() -> None:
    converted = core_to_linalg(core_module(core.neg, {"image": tensor(f32, 2)}, ["logits"]))
    assert [v.name for v in converted.main.inputs] == ["image"]
    assert converted.main.output_names == ("logits",)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "axis", "exclusive", "reverse"),
    [
        ((1000,), 0, False, False),
        ((3, 129), 1, True, False),
        ((2, 257, 3), 1, False, True),
        ((200, 2), 0, True, True),
    ],
)
@pytest.mark.parametrize("fn", [core.cumsum, core.cumprod])
def test_long_axes_are_cumulated_in_rounds_as_numpy_cumulates_them(
    shape: tuple[int, ...], axis: int, exclusive: bool, reverse: bool, fn: Callable[..., Value]
) -> None:
    x = np.random.default_rng(0).uniform(0.9, 1.1, shape).astype(np.float32)
    combined = np.cumsum if fn is core.cumsum else np.cumprod
    turned = np.flip(x, axis) if reverse else x
    result = combined(turned.astype(np.float64), axis=axis)
    if exclusive:
        before = np.full_like(np.take(result, [0], axis), 0 if fn is core.cumsum else 1)
        result = np.concatenate([before, np.take(result, range(shape[axis] - 1), axis)], axis)
    expected = np.flip(result, axis) if reverse else result
    build = lambda value: fn(value, axis, exclusive, reverse)  # noqa: E731
    text = text_of(core_to_linalg(core_module(build, types_of({"x": x}), name="f")))
    check_with_mlir_opt(text)
    assert text.count("scf.for") == 1
    assert '"reduction"' not in text
    assert_near(Compiled(joined([text])).run("f", [x]), expected.astype(np.float32))


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1024,), (5, 7, 11)])
@pytest.mark.parametrize("density", [0, 0.3])
def test_positions_in_many_elements_are_found_in_rounds_as_numpy_finds_them(
    shape: tuple[int, ...], density: float
) -> None:
    x = (np.random.default_rng(0).random(shape) < density).astype(np.int32)
    text = text_of(core_to_linalg(core_module(core.non_zero, types_of({"x": x}), name="f")))
    check_with_mlir_opt(text)
    assert text.count("scf.for") == 2
    assert '"reduction"' not in text
    (result,) = Compiled(joined([text])).run("f", [x])
    assert np.array_equal(result, np.argwhere(x))


_LONG = [((1000,), 0, False, f32), ((3, 513, 2), 1, True, i32), ((2, 129), -1, False, f32), ((2, 300), 1, True, f16)]


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "axis", "descending", "element"), _LONG)
def test_long_axes_are_sorted_by_a_network_as_numpy_sorts_them(
    shape: tuple[int, ...], axis: int, descending: bool, element: ElementType
) -> None:
    x = np.random.default_rng(0).integers(-20, 20, shape).astype(dtype_of(element.name))
    if element.is_float and not descending:
        x.reshape(-1)[::17] = np.nan
    expected = np.argsort(np.negative(x) if descending else x, axis=axis, kind="stable")

    def build(value: Value) -> tuple[Value, ...]:
        result = core.top_k(value, k=7, axis=axis, largest=descending)
        return (core.argsort(value, axis=axis, descending=descending), *result)

    text = text_of(core_to_linalg(core_module(build, types_of({"x": x}), name="f")))
    check_with_mlir_opt(text)
    # No operation goes through all pairs: there is a loop of rounds, and each is over the elements.
    assert text.count("scf.for") == 2
    assert '"reduction"' not in text
    order, values, positions = Compiled(joined([text])).run("f", [x])
    assert np.array_equal(order, expected)
    first = np.take(expected, range(7), axis=axis)
    assert np.array_equal(positions, first)
    assert np.array_equal(values, np.take_along_axis(x, first, axis), equal_nan=True)


@pytest.mark.slow
def test_a_read_at_a_position_that_is_read_at_a_computed_position() -> None:
    x, p, q = np.arange(10, 20, dtype=np.int32), np.array([3, 0, 2, 1], np.int64), np.array([2, 3, 1, 0], np.int64)

    def build(values: Value, first: Value, second: Value) -> Value:
        return core.gather(values, core.gather(first, second, axis=0), axis=0)

    text = text_of(core_to_linalg(core_module(build, types_of({"x": x, "p": p, "q": q}), name="f")))
    check_with_mlir_opt(text)
    assert np.array_equal(Compiled(joined([text])).run("f", [x, p, q])[0], x[p[q]])
