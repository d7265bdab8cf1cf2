"""Operators that move elements move those of every type that the standard lets them take, as numpy does.

Sparse constants, which no other operator takes, are here too, with what they stand for written out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, defs, helper, numpy_helper

from commonir.base.diagnostics import DiagnosticError

from tests.dialects.onnx.onnx_programs import program, run_here

Array = NDArray[Any]


def _longs(*values: Any) -> Array:
    return np.asarray(values, np.int64)


MOVEMENTS: list[tuple[str, str, dict[str, Array], Callable[[Array], Array]]] = [
    ("Transpose", "z = Transpose(x)", {}, lambda x: x.T),
    ("Reshape", "z = Reshape(x, s)", {"s": _longs(3, 2)}, lambda x: x.reshape(3, 2)),
    ("Flatten", "z = Flatten(x)", {}, lambda x: x),
    ("Concat", "z = Concat<axis = 0>(x, x)", {}, lambda x: np.concatenate([x, x])),
    ("Slice", "z = Slice(x, s, e, a, t)",
     {"s": _longs(2), "e": _longs(-9), "a": _longs(1), "t": _longs(-1)}, lambda x: x[:, ::-1]),
    ("Gather", "z = Gather<axis = 1>(x, i)", {"i": _longs(2, 0)}, lambda x: x[:, [2, 0]]),
    ("GatherElements", "z = GatherElements(x, i)", {"i": _longs([1, 0, 1])}, lambda x: x[[1, 0, 1], [0, 1, 2]][None]),
    ("GatherND", "z = GatherND(x, i)", {"i": _longs([1, 2])}, lambda x: x[1, 2:3]),
    ("ScatterElements", "z = ScatterElements(x, i, x)", {"i": _longs([1, 0, 1], [0, 1, 0])}, lambda x: x[
        [[1, 0, 1], [0, 1, 0]], [0, 1, 2]]),
    ("Tile", "z = Tile(x, r)", {"r": _longs(1, 2)}, lambda x: np.tile(x, (1, 2))),
    ("Expand", "z = Expand(x, s)", {"s": _longs(2, 1, 1)}, lambda x: np.stack([x, x])),
    ("Pad", 'z = Pad<mode = "edge">(x, p)', {"p": _longs(0, 1, 0, -1)}, lambda x: x[:, [0, 0, 1]]),
    ("Unsqueeze", "z = Unsqueeze(x, a)", {"a": _longs(0)}, lambda x: x[None]),
    ("Compress", "z = Compress<axis = 1>(x, c)", {"c": np.array([True, False, True])}, lambda x: x[:, [0, 2]]),
    ("Where", "z = Where(c, x, x)", {"c": np.array([True, False, True])}, lambda x: x),
    ("Identity", "z = Identity(x)", {}, lambda x: x),
    ("SequenceConstruct", "s = SequenceConstruct(x) z = SequenceAt(s, i)", {"i": np.asarray(0)}, lambda x: x),
    ("Shape", "z = Shape(x)", {}, lambda x: np.asarray(x.shape)),
]  # fmt: skip


def _values(name: str) -> Array:
    if name == "STRING":
        return np.array([["a", "b", ""], ["d", "é", "f"]], object)
    dtype = helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(name))
    return np.array([[1, 2, 1], [1, 1, 2]] if name == "FLOAT8E8M0" else [[1, 0, 1], [1, 1, 0]]).astype(dtype)


def _takes(operator: str, name: str) -> bool:
    """Returns whether the newest version of an operator takes tensors of an element type."""
    schema = defs.get_schema(operator, 28)
    spelled = helper.tensor_dtype_to_string(TensorProto.DataType.Value(name)).rpartition(".")[2].lower()
    return any(f"tensor({spelled})" in c.allowed_type_strs for c in schema.type_constraints)


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("engine", ["numpy", "reference"])
@pytest.mark.parametrize("name", TensorProto.DataType.keys()[1:])
def test_elements_of_every_type_are_moved(name: str, engine: str) -> None:
    x = _values(name)
    for operator, body, others, expected in MOVEMENTS:
        if not _takes(operator, name):
            continue
        inputs = {"x": x, **others}
        (result,) = run_here(program(28, body, inputs, ("z",), ir_version=14), inputs, engine)
        expected_value = expected(x)
        assert result.dtype == expected_value.dtype, (operator, result)
        assert result.tolist() == expected_value.tolist(), (operator, result)


def _sparse(indices: Array, dims: list[int]) -> ModelProto:
    values = numpy_helper.from_array(np.array([2.5, -1], np.float32), "values")
    stored = helper.make_sparse_tensor(values, numpy_helper.from_array(indices, "indices"), dims)
    node = helper.make_node("Constant", [], ["z"], sparse_value=stored)
    output = helper.make_tensor_value_info("z", TensorProto.FLOAT, dims)
    graph = helper.make_graph([node], "sparse", [], [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.parametrize("indices", [_longs(1, 5), _longs([0, 1], [1, 2])], ids=["flat", "by axis"])
def test_sparse_constants_are_zero_where_they_have_no_value(indices: Array) -> None:
    (result,) = run_here(_sparse(indices, [2, 3]), {}, "numpy")
    assert result.tolist() == [[0, 2.5, 0], [0, 0, -1]]


@pytest.mark.parametrize(
    ("indices", "dims", "reason"),
    [
        (_longs(9, 5), [2, 3], "has no position 9"),
        (_longs([0, 9], [1, 2]), [2, 3], "has no position 9"),
        (_longs(1, 5), [10**6, 10**6], "is not made dense"),
    ],
)
def test_sparse_constants_outside_of_their_shape_are_refused(indices: Array, dims: list[int], reason: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        run_here(_sparse(indices, dims), {}, "numpy")
    assert reason in str(caught.value)
