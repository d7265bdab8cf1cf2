"""The surface: what is refused before a room below sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonir import api
from commonir.base.diagnostics import Diagnostic, DiagnosticError

MODELS = Path(__file__).parent / "models"
PACKAGE = MODELS / "resnet_fp32" / "model.mlpackage"


def _refused(path: Path, format: str) -> Diagnostic:
    with pytest.raises(DiagnosticError) as refused:
        api.load(path, format=format)
    (diagnostic,) = refused.value.diagnostics
    return diagnostic


def test_file_of_another_format_than_the_one_asked_for_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    api.save(api.convert(api.load(PACKAGE, format="coreml"), "onnx"), path)
    result = _refused(path, "coreml")
    assert (result.code.id, result.message) == ("E0112", "the file is not of the format 'coreml'")
    assert result.notes == ("found: ONNX model",)


def test_weights_are_listed_with_their_places_largest_first() -> None:
    weights = api.summarize(api.load(PACKAGE), with_weights=True).weights
    assert weights is not None
    sizes = [w.size_bytes for w in weights]
    assert sizes == sorted(sizes, reverse=True)
    first = weights[0]
    assert first.file.endswith("weight.bin")
    assert first.offset is not None
    assert first.type.startswith("tensor<")
    content = Path(first.file).read_bytes()
    # The metadata of a blob lie 64 bytes before its data and say where these are.
    assert int.from_bytes(content[first.offset - 48 : first.offset - 40], "little") == first.offset


# -- declarations and blocks of MLIR

DECLARED = """
func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %e = math.exp %x : tensor<4xf32>
  cf.cond_br %c, ^then(%e : tensor<4xf32>), ^end(%x : tensor<4xf32>)
^then(%y: tensor<4xf32>):
  %s = math.sqrt %y : tensor<4xf32>
  cf.br ^end(%s : tensor<4xf32>)
^end(%z: tensor<4xf32>):
  return %z : tensor<4xf32>
}
"""


def test_summaries_count_what_all_blocks_compute_and_nothing_for_declarations() -> None:
    functions = api.summarize(api.loads(DECLARED, format="mlir")).functions
    assert [(f.name, f.operations) for f in functions] == [("other", {}), ("main", {"math.exp": 1, "math.sqrt": 1})]


def test_shapes_are_those_of_the_values_of_all_blocks_of_functions_that_have_any() -> None:
    entries = api.shapes(api.loads(DECLARED, format="mlir"))
    assert [(e.function, e.name) for e in entries] == [("main", v) for v in ("x", "c", "e", "y", "s", "z")]


def test_programs_with_declarations_are_simplified() -> None:
    simpler = api.optimize(api.loads(DECLARED, format="mlir"))
    assert list(simpler.functions) == ["other", "main"]
    assert simpler.functions["other"].is_declaration


def test_modules_nest_to_any_depth_in_summaries() -> None:
    program = api.loads("module {\n" * 5_000 + "func.func @f() { return }" + "}" * 5_000, format="mlir")
    (function,) = api.summarize(program).functions
    assert function.name == "modules[0]." * 4_999 + "f"
