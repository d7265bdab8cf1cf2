"""Types of reductions whose axes are operands, as far as these are known."""

from __future__ import annotations

from typing import Any

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import onnx
from commonir.ir import Value, tensor
from commonir.ir.data import data_of
from commonir.ir.types import TensorType, f32, i64
from commonir.symbolic import Dim, symbol

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
        (Value(tensor(i64, 3)), {}, (1, 1, 1)),
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


@pytest.mark.parametrize(
    ("axes", "message"), [((0, -3), "axes [0, -3] name one axis twice"), ((3,), "axis 3 of a tensor of rank 3")]
)
def test_axes_that_are_not_there_or_twice_are_refused(axes: tuple[int, ...], message: str) -> None:
    with pytest.raises(DiagnosticError) as error:
        onnx.ReduceSum(X, _axes(*axes))
    assert error.value.diagnostics[0].message == f"onnx.ReduceSum: {message}"
