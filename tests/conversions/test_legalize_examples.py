"""The example of each operation of MLIR's dialects, legalized in part: mlir-opt accepts it, and its values stay.

All are slow; `test_legalize_to.py` has the fast ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import mlir
from commonir.ir.module import Module

from tests.conversions.running_mlir import check_with_mlir_opt, text_of

_DIALECTS = ("arith", "linalg", "scf", "tensor", "tosa", "stablehlo")
_FOLDER = Path(next(iter(mlir.__path__)))


def _examples() -> Iterator[Module]:
    for dialect in _DIALECTS:
        for text in (_FOLDER / dialect / "examples.mlir").read_text().split("// -----"):
            yield cir.loads(text, format="mlir")


def _outputs(module: Module, arrays: list[Any]) -> list[Any] | None:
    """Returns the outputs of a program; None if it cannot run, as with casts that no operation makes."""
    try:
        return list(cir.run(module, dict(zip([v.name for v in module.main.inputs], arrays, strict=True))).values())
    except DiagnosticError:
        return None


def _check_values(module: Module, result: Module) -> bool:
    try:
        arrays = list(cir.random_inputs(cir.lower(module, defer=True), seed=1).values())
    except DiagnosticError:
        return False
    before, after = _outputs(module, arrays), _outputs(result, arrays)
    if before is None or after is None:
        return False
    for one, other in zip(before, after, strict=True):
        # Integers of linalg and tosa have no sign, so that their bits decide.
        given, b = np.asarray(one), np.asarray(other)
        is_signless = given.dtype.kind == "u" and b.dtype.kind == "i" and given.itemsize == b.itemsize
        a = given.view(b.dtype) if is_signless else given
        np.testing.assert_allclose(b, a, rtol=1e-3, atol=1e-4, err_msg=str(module))
    return True


@pytest.mark.slow
@pytest.mark.parametrize(("to", "least"), [("linalg", 100), ("tosa", 95), ("stablehlo", 85)])
def test_examples_of_operations_are_legalized_in_part(to: str, least: int) -> None:
    compared = 0
    texts: list[str] = []
    for module in _examples():
        result = cir.legalize(module, to, partial=True)
        compared += _check_values(module, result)
        texts.append(text_of(result, generic=True))
    assert compared >= least
    # mlir-opt does not know the dialects of StableHLO.
    known = [text for text in texts if not any(f"{d}." in text for d in ("stablehlo", "chlo", "interpreter"))]
    assert to == "stablehlo" or len(known) > 80
    check_with_mlir_opt("\n// -----\n".join(known))
