"""Calls replaced by what they run."""

from __future__ import annotations

from commonir.passes.inline_calls import inline_calls
from commonir.text.parser import parse_module
from commonir.text.printer import print_module

PROGRAM = """
ml_program.func private @square(%v: tensor<2xf32>) -> tensor<2xf32> {
  %0 = core.mul %v, %v : tensor<2xf32>
  ml_program.return %0 : tensor<2xf32>
}
ml_program.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = core.exp %x : tensor<2xf32>
  ml_program.return %0 : tensor<2xf32>
}
"""


def test_module_without_calls_stays_itself() -> None:
    module = parse_module(PROGRAM)
    assert inline_calls(module) is module
    assert "@square" in print_module(module)
