"""Every core operation gives what outside oracles give, over random shapes, attributes and element types."""

from __future__ import annotations

import numpy as np
import pytest

from commonir.dialects import core
from commonir.ir.types import TensorType
from commonir.ods import are_compatible
from commonir.runtime.operations import type_of

from tests.dialects.core.contraction_cases import CONTRACTION
from tests.dialects.core.drawing import Draw
from tests.dialects.core.elementwise_cases import ELEMENTWISE
from tests.dialects.core.indexing_cases import INDEXING
from tests.dialects.core.movement_cases import MOVEMENT
from tests.dialects.core.running import constant_result, evaluated, operation

MAKERS = {**ELEMENTWISE, **MOVEMENT, **INDEXING, **CONTRACTION}
STRUCTURAL = frozenset({"core.call", "core.if", "core.while", "core.yield"})
"""Operations on programs, tested in `test_control.py`."""

SAMPLES = 24


def test_every_core_operation_is_compared_with_an_oracle() -> None:
    assert MAKERS.keys() | STRUCTURAL == core.DIALECT.operations.keys()
    assert not MAKERS.keys() & STRUCTURAL


@pytest.mark.parametrize("name", MAKERS)
def test_results_agree_with_the_oracle(name: str) -> None:
    for number in range(SAMPLES):
        case = MAKERS[name](Draw(name, number))
        op = operation(name, case.operands, case.attributes)
        found = constant_result(op) or evaluated(op, case.operands)
        assert len(found) == len(case.expected)
        for y, result, expected in zip(found, op.results, case.expected, strict=True):
            where = f"sample {number}: {op.operands} {case.attributes}"
            assert (y.dtype, y.shape) == (expected.dtype, expected.shape), where
            assert isinstance(result.type, TensorType)
            assert are_compatible(result.type, type_of(y)), where
            wide, truth = (x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) for x in (y, expected))
            with np.errstate(invalid="ignore"):
                error = np.abs(wide - truth) / np.maximum(np.abs(truth), 1)
            same = (wide == truth) | (np.isnan(wide) & np.isnan(truth))
            assert np.all(same | (error <= case.tolerance)), f"{where}: {y} instead of {expected}"
