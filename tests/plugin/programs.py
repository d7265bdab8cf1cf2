"""Programs of the plugin: in text, and in the format that it adds."""

from __future__ import annotations

PROGRAM = """
ml_program.func @main(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>) {
  %blend = demo.blend %a, %b {weight = 2.500000e-01 : f64} : tensor<2x3xf32>, tensor<3xf32>
  %outer = "demo.outer"(%blend, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3x3xf32>
  %median = "demo.median"(%outer) : (tensor<2x3x3xf32>) -> tensor<2x3xf32>
  %last = "demo.median"(%median) : (tensor<2x3xf32>) -> tensor<2xf32>
  ml_program.return %median, %last : tensor<2x3xf32>, tensor<2xf32>
}
"""

DEMO = "#demo 1\ninput a 2x3\ninput b 2x3\nt = total a b\nu = total t b\noutput u\n"
