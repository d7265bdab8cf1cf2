"""Forms and names of values that upstream's C++ gives to operations that only records define here.

Each program of `memref_globals.mlir`, `vector_forms.mlir` and `result_names.mlir` stands as mlir-opt prints it.
"""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest

from commonir.ods import Dialect, Dialects, verify
from commonir.text.loaded_definitions import load_dialects
from commonir.text.parser import parse_module
from commonir.text.pieces import pieces_of
from commonir.text.printer import Naming, print_module

from tests.oracles import mlir_opt
from tests.tablegen.oracle import mlir_include

_HERE = Path(__file__).parent
_FILES = {
    "memref_globals": ("MemRef/IR/MemRefOps.td",),
    "vector_forms": ("Vector/IR/VectorOps.td",),
    "result_names": ("Affine/IR/AffineOps.td", "GPU/IR/GPUOps.td", "SMT/IR/SMT.td", "Vector/IR/VectorOps.td"),
}


@cache
def _dialects(name: str) -> tuple[Dialect, ...]:
    files = [mlir_include() / "mlir/Dialect" / file for file in _FILES[name]]
    return load_dialects(files, [str(mlir_include())])


@pytest.fixture
def dialects(name: str) -> Dialects:
    return Dialects(dialects=_dialects(name))


def _programs(name: str) -> list[str]:
    return [piece.text.strip() for piece in pieces_of((_HERE / f"{name}.mlir").read_text())]


# Definitions of large dialects take long to load; `tests/mlir_programs/test_verdicts.py` reads the forms of vector.
@pytest.mark.slow_cases("result_names", "vector_forms")
@pytest.mark.parametrize("name", _FILES)
def test_programs_are_printed_as_mlir_opt_prints_them(name: str, dialects: Dialects) -> None:
    for text in _programs(name):
        module = parse_module(text, dialects)
        assert verify(module, dialects) == []
        assert print_module(module, naming=Naming.MLIR, elide=None).strip() == text


@pytest.mark.slow
@pytest.mark.parametrize("name", _FILES)
def test_mlir_opt_prints_them_so(name: str) -> None:
    command = [mlir_opt(), "--split-input-file", str(_HERE / f"{name}.mlir")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert [piece.text.strip() for piece in pieces_of(printed)] == _programs(name)


def test_multiples_of_vscale_have_names_without_the_definitions_of_vector() -> None:
    text = '%0 = "vector.vscale"() : () -> index\n%1 = arith.constant 4 : index\n%2 = arith.muli %0, %1 : index\n'
    module = parse_module(text, Dialects())
    assert "%c4_vscale = arith.muli %0, %c4 : index" in print_module(module, naming=Naming.MLIR)


@pytest.mark.slow
def test_a_masked_operation_defines_an_alias_for_its_location_and_does_not_use_it() -> None:
    text = """func.func @f(%a: vector<4xi1>, %b: vector<4xf32>) -> f32 {
  %0 = vector.mask %a { vector.reduction <add>, %b : vector<4xf32> into f32 } : vector<4xi1> -> f32
  return %0 : f32
}
"""
    command = [mlir_opt(), "--mlir-print-debuginfo"]
    expected = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    dialects = Dialects(dialects=_dialects("vector_forms"))
    module = parse_module(text, dialects, file="<stdin>")
    assert print_module(module, naming=Naming.MLIR, locations=True, elide=None).strip() == expected.strip()
