"""A sample of the TableGen files of MLIR against llvm-tblgen; `python -m tests.tablegen` compares all of them."""

from __future__ import annotations

import pytest

from tests.tablegen.conformance import Outcome, compare
from tests.tablegen.oracle import mlir_include

SAMPLE = (
    "mlir/IR/OpBase.td",
    "mlir/Dialect/Arith/IR/ArithOps.td",
    "mlir/Dialect/MLProgram/IR/MLProgramOps.td",
    "mlir/Dialect/Tosa/IR/TosaOps.td",
    "mlir/Dialect/Linalg/IR/LinalgStructuredOps.td",
    "mlir/Dialect/OpenMP/OpenMPOps.td",
    "mlir/Dialect/SPIRV/IR/SPIRVAtomicOps.td",
    "mlir/Dialect/SMT/IR/SMTIntOps.td",
)


@pytest.mark.slow_cases("*ArithOps.td", "*TosaOps.td", "*LinalgStructuredOps.td", "*OpenMPOps.td", "*SPIRVAtomicOps.td")
@pytest.mark.parametrize("name", SAMPLE)
def test_file_of_mlir_gives_the_records_of_llvm_tblgen(name: str) -> None:
    result = compare(mlir_include(), name)
    assert result.outcome in (Outcome.EQUAL, Outcome.BOTH_REFUSE), result.detail
