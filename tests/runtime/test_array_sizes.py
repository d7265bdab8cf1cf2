"""Shapes that no array can have are refused with the reason, and equal elements stay one element."""

from __future__ import annotations

import pytest

import commonir
from commonir.base.diagnostics import DiagnosticError
from commonir.ir.data import SplatData
from commonir.ods import Dialects
from commonir.text.parser import parse_module
from commonir.text.printer import print_module

_ADD = """func.func @main(%a: tensor<{0}xf32>) -> tensor<{0}xf32> {{
  %0 = stablehlo.add %a, %a : tensor<{0}xf32>
  return %0 : tensor<{0}xf32>
}}"""
_HUGE = "0x1099511627776x1099511627776"


def test_an_input_that_memory_cannot_address_is_refused() -> None:
    module = parse_module(_ADD.format(_HUGE), Dialects())
    with pytest.raises(DiagnosticError, match=r"input 'a' of shape .* is larger than memory can be"):
        commonir.run(module)


def test_a_padded_result_that_memory_cannot_address_is_refused() -> None:
    module = parse_module(
        """func.func @main(%a: tensor<4xf32>) -> tensor<4611686018427387908xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %c, low = [4611686018427387904], high = [0], interior = [0]
      : (tensor<4xf32>, tensor<f32>) -> tensor<4611686018427387908xf32>
  return %0 : tensor<4611686018427387908xf32>
}""",
        Dialects(),
    )
    with pytest.raises(DiagnosticError, match=r"core\.pad of shape .* is larger than memory can be"):
        commonir.run(module)


def test_a_constant_of_4_tib_of_equal_elements_is_read_and_printed_as_one() -> None:
    text = "%0 = arith.constant dense<1.5> : tensor<1048576x1048576xf32>"
    module = parse_module(f"func.func @main() {{\n  {text}\n  return\n}}", Dialects())
    constant = next(iter(module.main.body.operations))
    assert isinstance(constant.constant_data(), SplatData)
    assert text in print_module(module)
