"""Definitions out of MLIR's own TableGen files, against mlir-opt and against those that are written in Python."""

from __future__ import annotations

import pytest

from tests.mlir_programs.oracle import DIALECTS
from tests.ods.from_records.conformance import FILES, compare_all, table
from tests.ods.from_records.fields import differences, from_records

_LEAST = 0.95
"""The part of the operations of the dialects of machine learning that have to be read and printed."""


@pytest.mark.slow
def test_loaded_definitions_read_and_print_what_mlir_opt_prints() -> None:
    results = compare_all(count=1, seed=7)
    assert [each.detail for each in results.differences] == []
    assert [each.detail for each in results.judged] == []
    assert results.share >= _LEAST, table(results)


@pytest.mark.slow
def test_operations_without_a_form_are_those_that_have_none_upstream() -> None:
    results = compare_all(count=0, seed=7)
    assert results.without_form(in_cpp=True) == []
    assert results.without_form(in_cpp=False) == ["tosa.const", "shape.debug_print", "shape.split_at"]


_OURS_SAY_MORE = {
    # What upstream states as an interface, or not at all, definitions here state as a trait.
    "traits: ['Symbol'] here only, [] in the record only",
    "traits: ['Elementwise'] here only, [] in the record only",
    "traits: ['Commutative'] here only, [] in the record only",
    # Upstream does not move a division or a size of an axis that may not be there; removing one is right.
    "traits: ['Pure'] here only, [] in the record only",
    # Its five operands are all required: there is nothing to divide.
    "traits: [] here only, ['SameVariadicOperandSize'] in the record only",
    # C++ demands tensors of the results of all structured operations.
    "'result_tensors' refuses vector<4xf32> and 362 more, unlike 'shaped of any type values' of the record",
    # The record has the map in C++, which forms here compute.
    "attribute 'indexing_maps' is required, unlike in the record",
}


@pytest.mark.slow_cases("arith", "math", "linalg", "tosa", "shape")
@pytest.mark.parametrize("dialect", [name for name in FILES if DIALECTS.get(name) is not None])
def test_definitions_in_python_state_what_records_state(dialect: str) -> None:
    declared, own = from_records(dialect), DIALECTS.get(dialect)
    assert own is not None
    result = {
        name: wrong
        for name, versions in own.operations.items()
        if (wrong := [each for each in differences(versions[-1], declared[name]) if each not in _OURS_SAY_MORE])
    }
    assert result == {}
    assert declared.keys() - own.operations.keys() <= {"builtin.module"}
