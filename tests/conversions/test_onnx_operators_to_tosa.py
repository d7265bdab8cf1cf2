"""Cases of onnx's backend suite through tosa: accepted by mlir-opt, and run here with the values that onnx expects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import commonir as cir

from tests.conversions.running_mlir import check_with_mlir_opt
from tests.onnx_suite.cases import Case, data_sets_of, load_cases, quiet
from tests.onnx_suite.conversion_routes import choices_of_fixed, with_fixed

_OPERATORS = {
    "ConvTranspose", "CumSum", "DequantizeLinear", "GatherElements", "GatherND", "GRU", "LSTM", "QuantizeLinear",
    "Resize", "RNN", "Scan", "ScatterElements", "ScatterND", "TopK",
}  # fmt: skip
# The operators that have cases tosa cannot say, and why.
_REFUSED = {
    "CumSum": "tosa has no f64",
    "QuantizeLinear": "core.narrow_cast is not defined in index notation",
    "TopK": "tosa computes with no unsigned integers",
}
# Of scales that divide no axis into whole elements, onnx reads other positions than the sizes imply.
_OTHER_POSITIONS = {
    "test_resize_downsample_scales_cubic_align_corners",
    "test_resize_downsample_scales_linear_align_corners",
}


@pytest.mark.slow_cases(
    "ConvTranspose", "CumSum", "DequantizeLinear", "GRU", "LSTM", "QuantizeLinear", "RNN", "Resize", "Scan",
    "ScatterElements", "ScatterND", "TopK",
)  # fmt: skip
@pytest.mark.parametrize("operator", sorted(_OPERATORS))
def test_cases_of_an_operator_give_what_onnx_expects(operator: str, tmp_path: Path) -> None:
    texts: list[str] = []
    refused: set[str] = set()
    count = 0
    for case in load_cases(["node"]):
        if case.operator != operator or case.is_expanded or case.name in _OTHER_POSITIONS:
            continue
        try:
            texts.append(_through_tosa(case, tmp_path))
        except cir.DiagnosticError as error:
            refused.update([note for d in error.diagnostics for note in d.notes])
        else:
            count += 1
    assert count
    check_with_mlir_opt("// -----\n".join(texts))
    assert refused == ({_REFUSED[operator]} if operator in _REFUSED else set())


def _through_tosa(case: Case, folder: Path) -> str:
    """The text of a case as tosa, which gives the expected values here.

    Raises: DiagnosticError when it cannot be converted with any inputs fixed.
    """
    (data, *_) = data_sets_of(case)
    proto = onnx.load(case.model)
    *tries, last = choices_of_fixed(proto, data.inputs)
    for fixed in tries:
        try:
            return _with_fixed(case, proto, fixed, folder)
        except cir.DiagnosticError:
            continue
    return _with_fixed(case, proto, last, folder)


def _with_fixed(case: Case, proto: onnx.ModelProto, fixed: tuple[str, ...], folder: Path) -> str:
    (data, *_) = data_sets_of(case)
    model, result = folder / "model.onnx", folder / "model.mlir"
    onnx.save(with_fixed(proto, {name: data.inputs[name] for name in fixed}), model)
    cir.save(cir.convert(cir.load(model), "tosa"), result, format="mlir-generic")
    inputs = {name: _signless(np.asarray(v)) for name, v in data.inputs.items() if name not in fixed}
    with quiet():
        outputs = list(cir.run(cir.load(result), inputs).values())
    for f, w in zip(outputs, data.outputs, strict=True):
        expected = np.asarray(w)
        assert f.shape == expected.shape, case.name
        ours = f.view(expected.dtype) if f.dtype.itemsize == expected.dtype.itemsize else f
        as_floats = [a.astype(np.float64) for a in (ours, expected)]
        np.testing.assert_allclose(*as_floats, rtol=max(case.rtol, 1e-4), atol=max(case.atol, 1e-5), err_msg=case.name)
    return result.read_text()


def _signless(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bits of integers, as programs of MLIR take them."""
    return a.view(a.dtype.name[1:]) if a.dtype.name.startswith("uint") else a
