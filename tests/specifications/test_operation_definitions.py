"""The statements of the document on operation definitions, in `operation_definitions.toml`."""

from __future__ import annotations

from pathlib import Path

import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.ir.types import TensorType, f32
from commonir.text.loaded_definitions import load_dialects
from commonir.text.printer import Naming, print_module

from tests.specifications import definition_cases, rewriting_cases, statements

DOCUMENT = statements.read("operation_definitions")
OBEYS, BREAKS = dict(DOCUMENT.cases("obeys")), dict(DOCUMENT.cases("breaks"))


@pytest.mark.parametrize("name", OBEYS)
def test_case_that_obeys_is_accepted(name: str, tmp_path: Path) -> None:
    case = OBEYS[name]
    cases = definition_cases if definition_cases.is_about_definitions(case) else rewriting_cases
    cases.check_obeying(case, tmp_path)


@pytest.mark.parametrize("name", BREAKS)
def test_case_that_breaks_is_refused(name: str, tmp_path: Path) -> None:
    case = BREAKS[name]
    cases = definition_cases if definition_cases.is_about_definitions(case) else rewriting_cases
    result = cases.findings(case, tmp_path)
    assert any(case.message in finding for finding in result), result


def test_a_definition_has_accessors_and_two_builders(tmp_path: Path) -> None:
    path = tmp_path / "scale.td"
    path.write_text(DOCUMENT.bases["scale"])
    dialects = load_dialects([path])
    program = """
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %r = t.Scale %a by 2.0 : tensor<2xf32> to tensor<2xf32>
  return %r : tensor<2xf32>
}
"""
    module = cir.loads(program, format="mlir", dialects=dialects)
    [scale, _] = module.main.body.operations
    [x] = module.main.body.arguments
    definition = dialects[0].operations["t.Scale"][-1]
    assert isinstance(scale, definition)
    assert scale.x is x  # pyright: ignore[reportAttributeAccessIssue]  a field of the record
    assert scale.factor == 2.0  # pyright: ignore[reportAttributeAccessIssue]
    assert scale.result is scale.results[0]
    pair = TensorType(f32, (2,))
    assert definition(x, 3.0).results[0].type is pair
    assert definition(x=x, factor=3.0).results[0].type is pair
    assert definition.build({"x": x, "factor": 3.0}, [pair]).results[0].type is pair
    for wrong in ((), (x,), (x, 3.0, 4.0)):
        with pytest.raises(TypeError, match=r"t\.Scale"):
            definition(*wrong)
    with pytest.raises(DiagnosticError, match=r"'factor' of t\.Scale: expected a number, found 'z'"):
        definition(x, "z")


def test_unknown_operations_are_neither_merged_nor_removed() -> None:
    # mlir-opt --allow-unregistered-dialect --cse --canonicalize keeps both as well.
    program = """
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %r = "x.y"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %s = "x.y"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %s : tensor<2xf32>
}
"""
    module = cir.loads(program, format="mlir")
    assert [d.code.id for d in cir.verify(module)] == ["E0501", "E0501"]
    optimized = cir.optimize(module, passes=("cse", "canonicalize"))
    assert print_module(optimized, naming=Naming.MLIR).count('"x.y"(%arg0)') == 2
