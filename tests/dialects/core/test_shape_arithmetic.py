"""Shapes computed by a program: known as expressions before it runs, and equal to what running computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.dialects.mil import indexing
from commonir.dialects.mil import shape as shapes
from commonir.ir import Value, tensor
from commonir.ir.data import data_of
from commonir.ir.operation import Operation
from commonir.ir.types import ElementType, TensorType, boolean, f32, f64, i8, i32, i64
from commonir.ods import Op, known_data, known_dims, operations_behind
from commonir.passes.lower import lower
from commonir.runtime.engine import Engines
from commonir.symbolic import Dim, evaluate, largest, symbol

from tests.dialects.core.drawing import Draw
from tests.dialects.core.running import evaluator
from tests.runtime.programs import program

Array = NDArray[Any]

N, M = symbol("N"), symbol("M")
SOURCE = (N, 3, M, 8)


def value(*dims: Dim | None) -> Value:
    return Value(tensor(f32, *dims))


def vector(*numbers: int) -> Value:
    return core.vector(numbers)


def number(n: int) -> Value:
    return core.scalar(n, i64)


def known(v: Value) -> list[Dim] | None:
    """The known elements of a value."""
    dims = known_dims(v)
    return None if dims is None else list(dims)


# -- each step on its own


def test_sizes_are_known_as_symbols() -> None:
    x = value(*SOURCE)
    assert known(core.shape_of(x)) == [N, 3, M, 8]
    assert known(core.dim(x, -2)) == [M]
    assert known(core.shape_of(value(N, None))) is None
    assert known(core.dim(value(N, None), 0)) == [N]
    assert known(core.dim(value(N, None), 1)) is None


def test_slices_and_positions_count_from_the_end_when_negative() -> None:
    shape = core.shape_of(value(*SOURCE))
    assert known(core.slice(shape, (-3,), (-1,), (1,))) == [3, M]
    assert known(core.slice(shape, (-1,), (-9,), (-2,))) == [8, 3]
    assert known(core.slice(shape, (2,), (99,), (1,))) == [M, 8]
    assert known(core.gather(shape, vector(-1, 0), 0)) == [8, N]
    assert known(core.gather(shape, number(-2), 0)) == [M]
    assert known(core.gather(shape, vector(4), 0)) is None


def test_arithmetic_of_sizes_gives_expressions() -> None:
    n, m = core.dim(value(*SOURCE), 0), core.dim(value(*SOURCE), 2)
    assert known(core.add(core.mul(n, number(2)), m)) == [M + 2 * N]
    assert known(core.sub(n, n)) == [0]
    assert known(core.div(n, number(2))) == [N // 2]
    assert known(core.floor_div(core.neg(n), number(2))) == [-N // 2]
    assert known(core.mod(n, number(4))) == [N % 4]
    assert known(core.maximum(n, number(1))) == [N]
    assert known(core.minimum(n, number(0))) == [0]
    assert known(core.div(n, number(0))) is None


def test_integers_divide_toward_zero_and_their_rest_has_either_sign() -> None:
    for a, b in [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, -2)]:
        assert known(core.div(number(a), number(b))) == [int(a / b)]
        assert known(core.floor_div(number(a), number(b))) == [a // b]
        assert known(core.mod(number(a), number(b))) == [a % b]
    # A quotient toward zero is not a floor of what may be negative.
    assert known(core.div(core.neg(core.dim(value(N), 0)), number(2))) is None


def test_vectors_and_scalars_are_combined_element_by_element() -> None:
    shape = core.shape_of(value(N, M))
    assert known(core.mul(shape, number(2))) == [2 * N, 2 * M]
    assert known(core.add(vector(1), shape)) == [N + 1, M + 1]
    assert known(core.reduce_prod(shape)) == [M * N]
    assert known(core.reduce_sum(shape, (-1,), True)) == [M + N]
    assert known(core.reduce_max(core.concat((shape, vector(0)), 0))) == [largest(N, M)]
    assert known(core.broadcast_to(core.dim(value(N), 0), (3,))) == [N, N, N]


def test_matrices_are_not_taken_for_vectors() -> None:
    column, row = core.reshape(vector(1, 2), (2, 1)), core.reshape(vector(1, 2), (1, 2))
    assert known(core.add(column, row)) is None
    # In order of memory: each row of the first matrix, then that of the second.
    assert known(core.concat((column, column), 1)) == [1, 1, 2, 2]
    assert known(core.concat((row, row), 0)) == [1, 2, 1, 2]


def test_conversions_keep_integers_and_forget_what_does_not_fit() -> None:
    n = core.dim(value(N), 0)
    assert known(core.cast(core.floor(core.cast(n, f32)), i32)) == [N]
    assert known(core.cast(number(300), i64)) == [300]
    assert known(core.cast(number(300), i8)) is None
    assert known(core.div(core.cast(n, f32), core.scalar(2.0, f32))) is None
    assert known(core.div(core.scalar(7.0, f32), core.scalar(2.0, f32))) is None
    assert known(core.div(core.scalar(8.0, f32), core.scalar(2.0, f32))) == [4]


def test_comparisons_are_known_only_when_they_hold_for_every_size() -> None:
    n, m = core.dim(value(N), 0), core.dim(value(M), 0)
    assert known(core.greater(n, number(0))) == [1]
    assert known(core.equal(n, number(0))) == [0]
    assert known(core.equal(n, m)) is None
    assert known(core.select(core.equal(n, number(0)), number(1), n)) == [N]
    assert known(core.select(core.equal(n, m), number(1), n)) is None


def test_ranges_of_known_bounds_are_known() -> None:
    n = core.dim(value(N), 0)
    result = core.range(number(0), n, number(2))
    assert result.type is tensor(i64, -(-N // 2))
    assert known(core.range(number(3), number(0), number(-1))) == [3, 2, 1]
    assert core.range(number(0), Value(tensor(i64)), number(1)).type is tensor(i64, None)


# -- shapes of what is reshaped by computed sizes


def test_a_shape_that_is_data_stays_data() -> None:
    result = core.dynamic_reshape(value(N, 6), Value(tensor(i64, 3)))
    assert isinstance(result.owner, core.DynamicReshape)
    assert result.type is tensor(f32, None, None, None)


def test_the_rest_of_a_shape_is_a_quotient_that_must_be_whole() -> None:
    assert core.reshape(value(N, 6), (-1, 3)).type is tensor(f32, N * 2, 3)
    result = core.Reshape(value(N, 3), (2, -1))
    assert result.y.type is tensor(f32, 2, N * 3 // 2)
    with pytest.raises(DiagnosticError, match="C1: number of elements: expected 6, found 4"):
        core.reshape(value(2, 3), (4, -1))


def test_sizes_of_zero_are_sizes() -> None:
    assert core.reshape(value(0, 3), (3, 0)).type is tensor(f32, 3, 0)
    assert core.reshape(value(0, 3), (-1, 3)).type is tensor(f32, 0, 3)
    assert core.reshape(value(), (1, 1)).type is tensor(f32, 1, 1)


# -- folding


def test_operations_that_change_nothing_fold_to_their_operand() -> None:
    x = value(N, 4)
    same: list[Value] = [
        core.reshape(x, (N, 4)),
        core.cast(x, f32),
        core.transpose(x, (0, 1)),
        core.slice(x, (0, 0), (N, 4), (1, 1)),
        core.pad(x, (0, 0), (0, 0)),
        core.concat((x,), 0),
        core.broadcast_to(x, (N, 4)),
    ]
    for v in same:
        assert isinstance(v.owner, Op)
        assert v.owner.fold() is x, v.owner


def test_unknown_sizes_of_one_type_are_not_taken_to_be_equal() -> None:
    rows = core.non_zero(value(4, 4))
    assert rows.type is tensor(i64, None, 2)
    first = core.slice(rows, (0, 0), (1, 2), (1, 1))
    assert isinstance(first.owner, Op)
    assert first.owner.fold() is None


# -- chains


def _steps(draw: Draw, pool: list[Value]) -> Value:
    """One more operation on values of the pool."""
    v = draw.among(*pool)
    vectors = [u for u in pool if len(shape(u)) == 1]
    u = draw.among(*vectors)
    (count,) = shape(u)
    w = draw.among(*[t for t in pool if shape(t) in ((), shape(v))])
    binary = draw.among(core.add, core.sub, core.mul, core.maximum, core.minimum)
    divide = draw.among(core.div, core.floor_div, core.mod)
    choices: list[Callable[[], Value]] = [
        lambda: binary(v, w),
        lambda: divide(v, number(draw.among(1, 2, 3))),
        lambda: core.gather(u, number(draw.integer(-count, count - 1)), 0),
        lambda: core.gather(u, vector(*draw.integers(2, -count, count - 1)), 0),
        lambda: core.slice(u, (draw.integer(-count - 1, count),), (draw.integer(-count - 1, 9),), (draw.among(1, 2),)),
        lambda: core.concat((u, draw.among(*vectors)), 0),
        lambda: draw.among(core.reduce_sum, core.reduce_prod, core.reduce_max)(u, (0,), draw.flag()),
        lambda: core.neg(v),
        lambda: core.cast(core.cast(v, f32), i64),
        lambda: core.select(core.less(v, w), v, w),
        lambda: core.squeeze(core.unsqueeze(v, (0,)), (0,)),
    ]
    return draw.among(*choices)()


def shape(v: Value) -> tuple[int, ...]:
    assert isinstance(v.type, TensorType)
    return v.type.static_shape


@pytest.mark.parametrize("seed", range(40))
def test_chains_of_shape_arithmetic_are_what_running_computes(seed: int) -> None:
    draw = Draw("chain", seed)
    sizes = {"N": draw.integer(1, 6), "M": draw.integer(1, 6)}
    x = value(*SOURCE)
    pool = [core.shape_of(x), core.dim(x, 0), core.dim(x, 2), vector(2, 1), number(3)]
    for _ in range(12):
        built = _steps(draw, pool)
        if shape(built) != (0,) and len(shape(built)) < 2:
            pool.append(built)
    values: dict[Value, Array] = {x: np.zeros([evaluate(d, sizes) for d in SOURCE], np.float32)}
    count = 0
    for op in operations_behind(pool):
        values.update(zip(op.results, evaluator(**sizes).results(op, values), strict=True))
        dims = known_dims(op.results[0])
        if dims is not None and np.all(np.abs(values[op.results[0]]) < 2**24):
            count += 1
            assert [evaluate(d, sizes) for d in dims] == values[op.results[0]].ravel().tolist(), op
    assert count >= 5


# -- lowering


def _operations(module: Any) -> list[Operation]:
    return [op for op in module.main.walk() if op.name.startswith("core.")]


def _flexible_reshape(x: Value) -> Value:
    """Splits the last axis into heads, as attention does, by sizes that the program computes."""
    sizes = shapes.Shape(x).output
    batch = indexing.Gather(sizes, core.scalar(0, i32), 0).output
    length = indexing.Gather(sizes, core.scalar(1, i32), 0).output
    wide = shapes.ExpandDims(batch, (0,)).output, shapes.ExpandDims(length, (0,)).output
    expected = shapes.Concat((*wide, core.vector((2, -1), i32)), 0, False).output
    return shapes.Reshape(x, expected).output


def test_lowering_keeps_symbolic_sizes_through_computed_shapes() -> None:
    module = lower(program(_flexible_reshape, {"x": tensor(f32, None, None, 6)}))
    (reshape,) = _operations(module)
    assert isinstance(reshape, core.Reshape)
    assert reshape.y.type is tensor(f32, symbol("x_0"), symbol("x_1"), 2, 3)
    for engine in ("reference", "numpy"):
        executable = Engines().get(engine).prepare(module)
        for batch, length in ((1, 4), (2, 3), (5, 1)):
            x = np.arange(batch * length * 6, dtype=np.float32).reshape(batch, length, 6)
            assert np.array_equal(executable.run({"x": x})["y0"], x.reshape(batch, length, 2, 3))


def test_lowering_leaves_what_depends_on_data_to_running() -> None:
    def build(x: Value, expected: Value) -> Value:
        return shapes.Reshape(x, expected).output

    module = lower(program(build, {"x": tensor(f32, None, 6), "wanted": tensor(i32, 2)}))
    assert [op.name for op in _operations(module)][-1] == "core.dynamic_reshape"
    inputs = {"x": np.zeros((2, 6), np.float32), "wanted": np.asarray([3, -1], np.int32)}
    for engine in ("reference", "numpy"):
        assert Engines().get(engine).prepare(module).run(inputs)["y0"].shape == (3, 4)


def test_bools_of_sizes_choose_between_sizes() -> None:
    three, eight = core.slice(core.shape_of(value(*SOURCE)), (1,), (2,), (1,)), vector(8)
    are_equal = core.equal(three, eight)
    assert known(core.logical_not(are_equal)) == [1]
    divides = core.equal(core.mod(eight, three), vector(2))
    assert known(core.select(core.logical_and(core.logical_not(are_equal), divides), eight, three)) == [8]
    assert known(core.logical_or(are_equal, are_equal)) == [0]
    assert known(core.logical_xor(divides, are_equal)) == [1]


def test_constants_of_integers_and_bools_are_known_where_they_are_short() -> None:
    assert known(core.constant(data_of(boolean, (2,), (True, False)))) == [1, 0]
    assert known(core.constant(data_of(f32, (2,), (1.0, 2.5)))) is None
    assert known(core.constant(data_of(f32, (2,), (1.0, 2.0)))) == [1, 2]
    assert known(core.constant(data_of(i64, (5000,), [0] * 5000))) is None


@pytest.mark.parametrize(
    ("operation", "operands", "element"),
    [
        (core.add, (2**63 - 1, 1), i64),
        (core.sub, (-(2**31), 1), i32),
        (core.mul, (64, 2), i8),
        (core.neg, (-(2**63),), i64),
        (core.floor_div, (-(2**63), -1), i64),
        (core.div, (-(2**63), -1), i64),
    ],
)
def test_results_beyond_the_range_of_their_type_are_not_known(
    operation: Callable[..., Value], operands: tuple[int, ...], element: ElementType
) -> None:
    result = operation(*[core.dims((n,), element, True) for n in operands])
    assert known(result) is None


@pytest.mark.parametrize(("count", "expected"), [(4, (0.5, 1.5)), (3000, None)])
def test_a_constant_is_known_through_a_few_casts_and_unknown_after_many(
    count: int, expected: tuple[float, ...] | None
) -> None:
    value = core.constant(data_of(f32, (2,), (0.5, 1.5)))
    for n in range(count):
        value = core.cast(value, (f64, f32)[n % 2])
    data = known_data(value)
    assert (None if data is None else data.values()) == expected
