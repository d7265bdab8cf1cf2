"""Core operations on sparse tensors, compared with numpy, or with values that are written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir import Value, tensor
from commonir.ir.types import SparseTensorType, TensorType, Type, boolean, f16, f32, i32, i64, string
from commonir.symbolic import symbol

from tests.dialects.core.collections_running import ENGINES, outputs
from tests.dialects.core.drawing import Draw
from tests.dialects.core.running import type_of
from tests.runtime.programs import program

Array = NDArray[Any]
N = symbol("N")
X = np.array([[0, 1, 0], [2, 0, -3]], np.float32)
PARTS = ([1, 2, -3], [[0, 1], [1, 0], [1, 2]], (2, 3))


def _type(op: core.CoreOp) -> Type:
    return op.results[0].type


def test_types_have_the_dims_of_the_dense_tensor() -> None:
    x = Value(tensor(f32, N, 3))
    sparse = core.ToSparse(x)
    assert _type(sparse) is SparseTensorType(f32, (N, 3))
    assert _type(core.ToDense(sparse.y)) is x.type
    assert _type(core.SparseValues(sparse.y)) is TensorType(f32, (None,))
    assert _type(core.SparseIndices(sparse.y)) is TensorType(i64, (None, 2))
    assert _type(core.SparseIndices(sparse.y, True)) is TensorType(i64, (None,))
    assert _type(core.SparseLength(sparse.y)) is tensor(i64)
    assert core.SparseShape(sparse.y).constant_dims() == (N, 3)
    values, indices = Value(tensor(f32, N)), Value(tensor(i64, N))
    assert _type(core.SparseOf(values, indices, core.vector((4, 5)))) is SparseTensorType(f32, (4, 5))
    assert _type(core.SparseOf(values, indices, Value(tensor(i64, 2)))) is SparseTensorType(f32, (None, None))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("number", range(6))
def test_dense_to_sparse_and_back_is_what_numpy_gives(engine: str, number: int) -> None:
    draw = Draw("sparse", number)
    element = draw.among("f32", "f16", "i8", "i1", "complex<f32>")
    x = draw.array(draw.maybe_empty(), element, -1, 1) * draw.array((), element, 1, 1)
    x = np.where(draw.array(x.shape, "i1"), x, np.zeros((), x.dtype))

    def build(x: Value) -> tuple[Value, ...]:
        sparse = core.to_sparse(x)
        parts = core.sparse_values(sparse), core.sparse_indices(sparse), core.sparse_indices(sparse, True)
        return (*parts, core.sparse_shape(sparse), core.sparse_length(sparse), core.to_dense(sparse))

    expected = [x[x != 0], np.argwhere(x), np.flatnonzero(x), np.array(x.shape), np.count_nonzero(x), x]
    result = outputs(build, {"x": type_of(x)}, {"x": x}, engine)
    assert result == [np.asarray(v).tolist() for v in expected]


@pytest.mark.parametrize("engine", ENGINES)
def test_texts_that_are_not_stored_are_empty(engine: str) -> None:
    x = np.array(["", "a", ""], object)
    build = lambda x: (core.to_sparse(x), core.to_dense(core.to_sparse(x)))  # noqa: E731
    assert outputs(build, {"x": tensor(string, 3)}, {"x": x}, engine) == [(["a"], [[1]], (3,)), ["", "a", ""]]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("indices", "expected"),
    [
        ([[0, 1], [1, 0], [1, 2]], ([1, 2, 3], [[0, 1], [1, 0], [1, 2]])),
        ([1, 3, 5], ([1, 2, 3], [[0, 1], [1, 0], [1, 2]])),
        ([5, 3, 1], ([3, 2, 1], [[0, 1], [1, 0], [1, 2]])),
        ([[1, 2], [0, 0], [1, 2]], ([2, 3], [[0, 0], [1, 2]])),
    ],
)
def test_elements_are_put_in_order_and_the_last_of_equal_indices_counts(
    engine: str, indices: list[Any], expected: Any
) -> None:
    dense = np.zeros((2, 3), np.float32)
    for at, value in zip(*reversed(expected), strict=True):
        dense[tuple(at)] = value

    def build(v: Value, i: Value, shape: Value) -> tuple[Value, ...]:
        sparse = core.sparse_of(v, i, shape)
        return sparse, core.to_dense(sparse)

    given = {"v": np.array([1, 2, 3], np.float32), "i": np.array(indices, np.int32), "shape": np.array([2, 3])}
    types = {"v": tensor(f32, N), "i": tensor(i32, N, *np.shape(indices)[1:]), "shape": tensor(i64, 2)}
    assert outputs(build, types, given, engine) == [(*expected, (2, 3)), dense.tolist()]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("indices", [[[2, 0]], [[0, -1]], [6], [-1]])
def test_an_index_out_of_range_is_an_error(engine: str, indices: list[Any]) -> None:
    build = lambda i: core.sparse_of(core.constant(_ones(1)), i, core.vector((2, 3)))  # noqa: E731
    with pytest.raises(DiagnosticError, match=r"E0708.*core.sparse_of: a tensor of shape \[2, 3\] has no position"):
        outputs(build, {"i": tensor(i64, *np.shape(indices))}, {"i": np.array(indices)}, engine)


def _ones(count: int) -> Any:
    from commonir.ir.data import data_of  # noqa: PLC0415  of this function only

    return data_of(f32, (count,), [1.0] * count)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sparse_tensor_is_an_input_and_an_output(engine: str) -> None:
    build = lambda s: (core.to_dense(s), s, core.sparse_length(s))  # noqa: E731
    given = cir.SparseArray.of_dense(X)
    assert outputs(build, {"s": SparseTensorType(f32, (N, 3))}, {"s": given}, engine) == [X.tolist(), PARTS, 3]


def test_a_stored_zero_stays() -> None:
    given = cir.SparseArray(np.zeros(1, np.float16), [[1]], (3,))
    build = lambda s: (core.sparse_length(s), core.to_dense(s), s)  # noqa: E731
    result = outputs(build, {"s": SparseTensorType(f16, (3,))}, {"s": given}, "numpy")
    assert result == [1, [0, 0, 0], ([0], [[1]], (3,))]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (X, "E0703.*input 's': expected a commonir.SparseArray .*, found an array"),
        (cir.SparseArray.of_dense(X.T), "E0703.*axis 1 of input 's': expected 3, found 2"),
        (
            cir.SparseArray.of_dense(X.astype(np.float64) * 1e300),
            "E0703.*expected element type f32, found f64; .* does not fit",
        ),
    ],
)
def test_what_is_not_the_declared_sparse_tensor_is_refused(given: Any, message: str) -> None:
    module = program(core.to_dense, {"s": SparseTensorType(f32, (N, 3))})
    with pytest.raises(DiagnosticError, match=message):
        cir.run(module, {"s": given})


def test_random_sparse_tensors_store_some_elements() -> None:
    module = program(core.to_dense, {"s": SparseTensorType(f32, (N, 3))})
    drawn: Any = cir.random_inputs(module, dims={"N": 5})["s"]
    assert drawn.shape == (5, 3)
    assert 0 < len(drawn.values) < 15


@pytest.mark.parametrize(
    ("values", "indices", "shape", "message"),
    [
        ([1.0], [[0, 0]], (2,), "indices of shape .1, 2. in a tensor of rank 1"),
        ([1.0, 2.0], [0], (2,), "values of shape .2. and indices of shape .1."),
        ([[1.0]], [0], (2,), "values of shape .1, 1."),
        ([1.0], [0], (-2,), "-2 is not a dim"),
        ([1.0], [2], (2,), "a tensor of shape .2. has no position 2"),
    ],
)
def test_parts_that_contradict_each_other_are_errors(values: Any, indices: Any, shape: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cir.SparseArray(values, indices, shape)


def test_a_scalar_may_be_sparse() -> None:
    assert cir.SparseArray([2.0], np.zeros((1, 0), np.int64), ()).dense().tolist() == 2.0
    assert cir.SparseArray.of_dense(np.array(0.0)).values.tolist() == []


def test_bools_are_sparse_too() -> None:
    dense = np.array([True, False])
    build = lambda s: core.to_dense(s)  # noqa: E731, PLW0108  a composite of its own
    given = cir.SparseArray.of_dense(dense)
    assert outputs(build, {"s": SparseTensorType(boolean, (2,))}, {"s": given}, "numpy") == [[True, False]]
