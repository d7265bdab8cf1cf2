"""Test programs of StableHLO that say themselves what they compute: texts as StableHLO's repository has them."""

from __future__ import annotations

import numpy as np
import pytest

import commonir as cir
from commonir.ods import Dialects
from commonir.ods.verify import verify
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

_F = "tensor<3xf32>"
_FORMS = [
    f"check.expect_eq %a, %a : {_F}",
    f"check.expect_eq_const %a, dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : {_F}",
    f"check.expect_almost_eq %a, %a : {_F}",
    f"check.expect_almost_eq %a, %a, tolerance = 1.000000e-01 : {_F}",
    f"check.expect_almost_eq_const %a, dense<1.000000e+00> : {_F}, tolerance = 1.000000e-01",
    f"check.expect_close %a, %a, max_ulp_difference = 3 : {_F}, {_F}",
    f"check.expect_close %a, %a, max_ulp_difference = 3, min_ulp_difference = 1 : {_F}, {_F}",
    f'check.expect_serialized_eq %a, probe_id = "p", iter = 2 : {_F}',
    f"interpreter.print %a : {_F}",
    f'%0 = interpreter.probe %a, probe_id = "p" : {_F}',
]


@pytest.mark.parametrize("statement", _FORMS)
def test_statement_is_printed_as_it_is_written(statement: str) -> None:
    statement = statement.replace("%a", "%arg0")
    text = f"module {{\n  func.func @f(%arg0: {_F}) {{\n    {statement}\n    return\n  }}\n}}\n"
    module = parse_module(text, Dialects())
    assert [str(d) for d in verify(module, Dialects())] == []
    assert print_module(module, naming=Naming.MLIR).strip() == text.strip()


def _run(checks: str, type: str, a: str, engine: str) -> None:
    source = f"func.func @main() {{\n  %a = stablehlo.constant dense<{a}> : {type}\n  {checks}\n  return\n}}\n"
    cir.run(cir.loads(source, format="mlir"), {}, engine=engine)


_C = "tensor<1xcomplex<f32>>"
_HOLD = {
    "equal": ("check.expect_eq_const %a, dense<[-2, 0]> : tensor<2xi64>", "tensor<2xi64>", "[-2, 0]"),
    "zeros of either sign": ("check.expect_eq_const %a, dense<-0.0> : tensor<f32>", "tensor<f32>", "0.0"),
    "nan near nan": (
        "check.expect_almost_eq_const %a, dense<0x7FC00000> : tensor<f32>",
        "tensor<f32>",
        "0xFFC00001",
    ),
    "within the tolerance": ("check.expect_almost_eq_const %a, dense<5.0001> : tensor<f64>", "tensor<f64>", "5.0"),
    "infinities": ("check.expect_almost_eq_const %a, dense<0x7F800000> : tensor<f32>", "tensor<f32>", "0x7F800000"),
    "a wider tolerance": (
        "check.expect_almost_eq_const %a, dense<5.1> : tensor<f64>, tolerance = 0.11",
        "tensor<f64>",
        "5.0",
    ),
    "parts of complex numbers": (
        f"check.expect_almost_eq_const %a, dense<[(1.00005, 2.0)]> : {_C}",
        _C,
        "[(1.0, 2.00005)]",
    ),
    "numbers between": (
        (
            "%b = stablehlo.constant dense<5.01> : tensor<f16>\n"
            "check.expect_close %a, %b, max_ulp_difference = 3 : tensor<f16>, tensor<f16>"
        ),
        "tensor<f16>",
        "5.0",
    ),
    "across zero": (
        (
            "%b = stablehlo.constant dense<0x00000001> : tensor<f32>\n"
            "check.expect_close %a, %b, max_ulp_difference = 2, min_ulp_difference = 2 : tensor<f32>, tensor<f32>"
        ),
        "tensor<f32>",
        "0x80000001",
    ),
    "empty": ("check.expect_eq_const %a, dense<> : tensor<0xi32>", "tensor<0xi32>", ""),
}
_FAIL = {
    "one element": ("check.expect_eq_const %a, dense<[-2, 1]> : tensor<2xi64>", "tensor<2xi64>", "[-2, 0]"),
    "nan": ("check.expect_eq_const %a, dense<0x7FC00000> : tensor<f32>", "tensor<f32>", "0x7FC00000"),
    "an infinity": ("check.expect_almost_eq_const %a, dense<0x7F800000> : tensor<f32>", "tensor<f32>", "1.0"),
    "an imaginary part": (f"check.expect_eq_const %a, dense<[(1.0, 2.0)]> : {_C}", _C, "[(1.0, 3.0)]"),
    "beyond the tolerance": ("check.expect_almost_eq_const %a, dense<5.0003> : tensor<f64>", "tensor<f64>", "5.0"),
    "numbers between": (
        (
            "%b = stablehlo.constant dense<5.01> : tensor<f16>\n"
            "check.expect_close %a, %b, max_ulp_difference = 2 : tensor<f16>, tensor<f16>"
        ),
        "tensor<f16>",
        "5.0",
    ),
    "too near": (
        "check.expect_close %a, %a, max_ulp_difference = 2, min_ulp_difference = 1 : tensor<f32>, tensor<f32>",
        "tensor<f32>",
        "1.0",
    ),
    "infinity and the largest number": (
        (
            "%b = stablehlo.constant dense<0x7F7FFFFF> : tensor<f32>\n"
            "check.expect_close %a, %b, max_ulp_difference = 3 : tensor<f32>, tensor<f32>"
        ),
        "tensor<f32>",
        "0x7F800000",
    ),
}


@pytest.mark.parametrize("engine", ["reference", "numpy"])
@pytest.mark.parametrize("name", _HOLD)
def test_expectation_holds(name: str, engine: str) -> None:
    _run(*_HOLD[name], engine)


@pytest.mark.parametrize("engine", ["reference", "numpy"])
@pytest.mark.parametrize("name", _FAIL)
def test_expectation_that_does_not_hold_ends_the_run(name: str, engine: str) -> None:
    with pytest.raises(cir.DiagnosticError, match="is not the expected"):
        _run(*_FAIL[name], engine)


@pytest.mark.parametrize("engine", ["reference", "numpy"])
def test_half_precision_is_compared_as_it_is_stored(engine: str) -> None:
    add = "%s = stablehlo.add %a, %a : tensor<f16>\n%p = stablehlo.multiply %s, %a : tensor<f16>\n"
    expected = np.float16(np.float16(0.1) + np.float16(0.1)) * np.float16(0.1)
    bits = f"0x{expected.view(np.uint16):04X}"
    _run(f"{add}check.expect_eq_const %p, dense<{bits}> : tensor<f16>", "tensor<f16>", "0.1", engine)


_PARALLEL = """
func.func @one(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @two(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  return %x, %x : tensor<f32>, tensor<f32>
}
func.func @main(%a: tensor<f32>) {
  %0 = "interpreter.run_parallel"(%a) <{ATTRIBUTES}> : (tensor<f32>) -> tensor<f32>
  return
}
"""
_GRIDS = {
    "programs = [[@one]]": "",
    "programs = []": "C1: `programs` attribute cannot be empty",
    "programs = [[@one], [@one, @one]]": "C1: sizes of second dimension of `programs` should all match 1 but got 2",
    "programs = [[@missing]]": "C2: function 'missing' not found",
    "programs = [[@one, @one]]": "C3: number of inputs (1) should match the sum of the number of inputs",
    "infeed = [], programs = [[@one]]": "C4: infeed attribute is optional or should not be empty",
    "infeed = [@two], programs = [[@one]]": "C4: function 'two' should return 1 tensor but returns 2",
}


@pytest.mark.parametrize("attributes", _GRIDS)
def test_grid_of_programs_is_verified(attributes: str) -> None:
    source = _PARALLEL.replace("ATTRIBUTES", attributes)
    findings = [d.message for d in verify(parse_module(source, Dialects()), Dialects())]
    assert (not findings) if not _GRIDS[attributes] else any(_GRIDS[attributes] in m for m in findings), findings
