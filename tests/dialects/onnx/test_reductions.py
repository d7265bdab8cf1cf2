"""Types of reductions whose axes are operands, as far as these are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import onnx
from commonir.ir import Value, tensor
from commonir.ir.data import data_of
from commonir.ir.types import TensorType, f32, i64
from commonir.symbolic import Dim, symbol

from tests.conversions.running import run_onnx
from tests.dialects.onnx.onnx_programs import assert_same, run_here

N, M = symbol("N"), symbol("M")
X = Value(tensor(f32, N, 3, M))


def _axes(*values: int) -> Value:
    return onnx.Initializer(data_of(i64, (len(values),), values)).output


@pytest.mark.parametrize(
    ("axes", "attributes", "shape"),
    [
        (_axes(1), {}, (N, 1, M)),
        (_axes(-1, 0), {"keepdims": False}, (3,)),
        (_axes(), {}, (1, 1, 1)),
        (_axes(), {"noop_with_empty_axes": True}, (N, 3, M)),
        (None, {"keepdims": False}, ()),
        (Value(tensor(i64, 1)), {}, (None, None, None)),
        (Value(tensor(i64, 1)), {"keepdims": False}, (None, None)),
        (Value(tensor(i64, 3)), {}, (None, None, None)),
        (Value(tensor(i64, 2)), {"keepdims": False}, None),
        (_axes(0, -3), {}, (1, 3, M)),
        (Value(tensor(i64, 0)), {"keepdims": False}, ()),
        (Value(tensor(i64, N)), {"keepdims": False}, None),
    ],
)
def test_the_number_of_axes_gives_the_rank(
    axes: Value | None, attributes: dict[str, Any], shape: tuple[Dim | None, ...] | None
) -> None:
    assert onnx.ReduceSum(X, axes, **attributes).reduced.type is TensorType(f32, shape)
    assert onnx.ReduceL2(X, axes, **attributes).reduced.type is TensorType(f32, shape)


def test_all_elements_of_a_tensor_of_unknown_rank_are_one() -> None:
    x = Value(TensorType(f32, None))
    assert onnx.ReduceMax(x, None, keepdims=False).reduced.type is tensor(f32)
    assert onnx.ReduceMax(x, None).reduced.type is TensorType(f32, None)


def test_axes_that_are_not_there_are_refused() -> None:
    with pytest.raises(DiagnosticError) as error:
        onnx.ReduceSum(X, _axes(3))
    assert error.value.diagnostics[0].message == "onnx.ReduceSum: axis 3 of a tensor of rank 3"


@pytest.mark.parametrize("axes", [(0, -3), (0, 0, 1), (1, 1, 1)])
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("is_constant", [False, True])
def test_axes_named_twice_are_reduced_once(axes: tuple[int, ...], keepdims: int, *, is_constant: bool) -> None:
    """As in onnxruntime, also where they are known only when running."""
    x, values = np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.array(axes, np.int64)
    stored = [numpy_helper.from_array(values, "axes")] if is_constant else []
    arguments = [helper.make_tensor_value_info("x", 1, x.shape)]
    if not is_constant:
        arguments.append(helper.make_tensor_value_info("axes", 7, values.shape))
    node = helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=keepdims)
    graph = helper.make_graph([node], "g", arguments, [helper.make_tensor_value_info("y", 1, None)], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    inputs = {"x": x} if is_constant else {"x": x, "axes": values}
    expected = run_onnx(model.SerializeToString(), inputs)
    for engine in ("numpy", "reference"):
        assert_same(run_here(model, inputs, engine), expected)
