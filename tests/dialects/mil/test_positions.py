"""Positions that are data, from iOS 17: refused when running where the program asks for it."""

from __future__ import annotations

import numpy as np
import pytest

from commonir.base.codes import EXECUTION_FAILED
from commonir.base.diagnostics import DiagnosticError

from tests.conversions.running import converted, run_onnx
from tests.dialects.mil.single_operations import Given, Program, definition_of, f32, i32
from tests.oracles import oracle

ENGINES = pytest.mark.parametrize("engine", ["reference", "numpy"])
_X = f32([[1, 2, 3], [4, 5, 6]])
_KINDS: dict[str, tuple[dict[str, Given], str]] = {
    "gather": ({"x": _X, "axis": 1}, "indices"),
    "gather_along_axis": ({"x": _X, "axis": 1}, "indices"),
    "gather_nd": ({"x": _X}, "indices"),
    "scatter": ({"data": _X, "axis": 1, "updates": f32([[7], [8]])}, "indices"),
    "scatter_along_axis": ({"data": _X, "axis": 1, "updates": f32([[7], [8]])}, "indices"),
    "scatter_nd": ({"data": _X, "updates": f32([7, 8])}, "indices"),
}


def _indices(name: str, position: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    if name in ("gather", "scatter"):
        return i32([position])
    return i32([[0, position], [1, 2]]) if name.endswith("_nd") else i32([[position], [2]])


def program(name: str, position: int, *, validates: bool, flexible: bool = False) -> Program:
    inputs, field = _KINDS[name]
    inputs = {**inputs, field: _indices(name, position), "validate_indices": validates}
    if name == "scatter":
        inputs["updates"] = f32([[7], [8]])
    return Program(definition_of(name, "CoreML7"), inputs, computed=("indices",), flexible=flexible)


@ENGINES
@pytest.mark.parametrize("flexible", [False, True], ids=["fixed", "flexible"])
@pytest.mark.parametrize("name", _KINDS)
def test_negative_positions_are_refused_where_they_are_validated(name: str, flexible: bool, engine: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        program(name, -1, validates=True, flexible=flexible).results(engine)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is EXECUTION_FAILED
    assert diagnostic.message == "core.checked_positions: position -1 is not one of an axis of size 3"


@ENGINES
@pytest.mark.parametrize("name", _KINDS)
def test_positions_past_the_end_are_refused(name: str, engine: str) -> None:
    for validates in (False, True):
        with pytest.raises(DiagnosticError, match=r"E0708.*3"):
            program(name, 3, validates=validates).results(engine)


@ENGINES
@pytest.mark.parametrize("name", _KINDS)
def test_positions_inside_give_the_same_validated_or_not(name: str, engine: str) -> None:
    (plain,) = program(name, 2, validates=False).results(engine)
    (checked,) = program(name, 2, validates=True).results(engine)
    # Not validated, a negative position counts from the end.
    (negative,) = program(name, -1, validates=False).results(engine)
    assert plain.tolist() == checked.tolist() == negative.tolist()


@pytest.mark.parametrize("name", _KINDS)
def test_validated_positions_in_onnx(name: str) -> None:
    ort = oracle("onnxruntime")
    for position in (1, 2):
        built = program(name, position, validates=True)
        (expected,) = program(name, position, validates=True).results("reference")
        assert run_onnx(converted(built.lowered()), built.inputs)[0].tolist() == expected.tolist()
    built = program(name, -1, validates=True)
    errors = ort.capi.onnxruntime_pybind11_state
    with pytest.raises((errors.InvalidArgument, errors.Fail)):
        run_onnx(converted(built.lowered()), built.inputs)
