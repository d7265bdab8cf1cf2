"""Core operations on maps: what they give and of which type, written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir import Value, tensor
from commonir.ir.types import ListType, MapType, TensorType, Type, f32, i64, string
from commonir.symbolic import symbol

OF_TEXTS = Value(MapType(string, f32))
OF_SCALARS = Value(MapType(i64, tensor(f32)))


def _type(op: core.CoreOp) -> Type:
    return op.results[0].type


def test_keys_and_values_are_in_ascending_order_of_the_keys() -> None:
    inputs: Any = {"b": 1.5, "a": 2.5}
    keys, values = core.MapKeys(OF_TEXTS), core.MapValues(OF_TEXTS)
    assert keys.reference(inputs).tolist() == ["a", "b"]
    result = values.reference(inputs)
    assert (result.dtype, result.tolist()) == (np.float32, [2.5, 1.5])
    assert _type(keys) is TensorType(string, (None,))
    assert _type(values) is TensorType(f32, (None,))


def test_values_may_be_tensors_of_one_element() -> None:
    inputs: Any = {7: np.array(1.5, np.float32), 3: np.array(0.5, np.float32)}
    assert core.MapValues(OF_SCALARS).reference(inputs).tolist() == [0.5, 1.5]
    assert core.MapKeys(OF_SCALARS).reference(inputs).tolist() == [3, 7]


def test_a_map_for_each_row_has_the_elements_of_its_columns() -> None:
    keys, x = np.array(["n", "y"], object), np.array([[1, 2], [3, 4]], np.float32)
    op = core.MapsOfRows(Value(tensor(string, 2)), Value(tensor(f32, symbol("N"), 2)))
    assert op.reference(keys, x) == [{"n": 1.0, "y": 2.0}, {"n": 3.0, "y": 4.0}]
    assert _type(op) is ListType(MapType(string, tensor(f32)), symbol("N"))


def test_what_is_not_a_map_of_scalars_is_refused() -> None:
    with pytest.raises(DiagnosticError) as error:
        core.MapKeys(Value(tensor(f32, 2)))
    assert "expected a map from scalars to scalars, found tensor<2xf32>" in error.value.diagnostics[0].message
