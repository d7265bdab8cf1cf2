"""Names of nodes, as files have them, select operations and values."""

from __future__ import annotations

import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.ir.lookup import find_operations, find_value, suggested_value
from commonir.ir.module import Module

FUSED = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.abs %a : (tensor<4xf32>) -> tensor<4xf32> loc("layer1/abs")
  %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32> loc(fused["layer2/exp", "f.py":3:4])
  %2 = tosa.exp %1 : (tensor<4xf32>) -> tensor<4xf32> loc("again")
  %3 = tosa.exp %2 : (tensor<4xf32>) -> tensor<4xf32> loc("again")
  return %3 : tensor<4xf32>
}
"""


def read(text: str) -> Module:
    return cir.loads(text, format="mlir")


@pytest.mark.parametrize(
    ("name", "operations"),
    [
        ("layer1/abs", ["tosa.abs"]),
        ("layer2/exp", ["tosa.exp"]),
        ("again", ["tosa.exp", "tosa.exp"]),
        ("tosa.abs", ["tosa.abs"]),
        ("exp", ["tosa.exp", "tosa.exp", "tosa.exp"]),
    ],
)
def test_names_of_locations_and_types_select_operations(name: str, operations: list[str]) -> None:
    assert [op.name for op in find_operations(read(FUSED), name)] == operations


def test_an_unknown_name_gets_the_nearest_name_of_a_node() -> None:
    with pytest.raises(DiagnosticError) as caught:
        find_operations(read(FUSED), "layer1/bas")
    (found,) = caught.value.diagnostics
    assert (found.code.id, found.help) == ("E0401", "did you mean 'layer1/abs' or 'layer2/exp'?")


def test_a_node_stands_for_the_value_that_it_computes() -> None:
    main = read(FUSED).main
    value = find_value(main, "layer2/exp")
    assert value is not None
    assert value.defining_op is list(main.body.operations)[1]
    assert find_value(main, "layer3") is None
    assert suggested_value(main, "layer2/exq") == "did you mean 'layer2/exp' or 'layer1/abs'?"


def test_a_name_of_several_nodes_is_ambiguous() -> None:
    with pytest.raises(DiagnosticError) as caught:
        find_value(read(FUSED).main, "again")
    (found,) = caught.value.diagnostics
    assert (found.code.id, found.message) == ("E0407", "2 nodes are called 'again'")
