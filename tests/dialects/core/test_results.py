"""Every core operation gives what outside oracles give, over random shapes, attributes and element types."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from commonir.dialects import core
from commonir.ir import Value
from commonir.ir.types import TensorType
from commonir.ods import Op, are_compatible
from commonir.runtime.numpy_engine.engine import ENGINE as NUMPY

from tests.dialects.core.contraction_cases import CONTRACTION
from tests.dialects.core.conversion_cases import CONVERSION
from tests.dialects.core.drawing import Array, Case, Draw
from tests.dialects.core.elementwise_cases import ELEMENTWISE
from tests.dialects.core.indexing_cases import INDEXING
from tests.dialects.core.learning_cases import LEARNING
from tests.dialects.core.movement_cases import MOVEMENT
from tests.dialects.core.running import (
    built,
    constant_result,
    definition,
    evaluated,
    flat_arrays,
    grouped,
    operation,
    type_of,
)
from tests.dialects.core.sampling_cases import SAMPLING
from tests.dialects.core.sequence_cases import SEQUENCES
from tests.runtime.programs import program

MAKERS = {**ELEMENTWISE, **MOVEMENT, **INDEXING, **CONTRACTION, **SEQUENCES, **SAMPLING, **CONVERSION, **LEARNING}
STRUCTURAL = frozenset({"core.call", "core.if", "core.require", "core.while", "core.scan", "core.yield"})
"""Operations on programs, tested in `test_control.py`."""

BETWEEN_RANKS = frozenset({"core.send", "core.recv", "core.all_reduce", "core.barrier"})
"""Operations by which ranks exchange tensors, tested in `tests/runtime/ranks`."""

ON_TEXTS = frozenset(
    {
        "core.string_concat", "core.string_split", "core.string_normalize", "core.regex_full_match",
        "core.ngram_counts", "core.parse_numbers", "core.format_numbers",
    }
)  # fmt: skip
"""Operations on texts, tested in `test_texts.py`."""

ON_LISTS = frozenset(
    {
        "core.list_of", "core.list_empty", "core.list_length", "core.list_at", "core.list_insert", "core.list_erase",
        "core.list_concat", "core.split_to_list", "core.optional_of", "core.optional_none", "core.optional_has",
        "core.optional_get",
    }
)  # fmt: skip
"""Operations on lists and on values that may be absent, tested in `test_lists.py`."""

ON_MAPS = frozenset(
    {
        "core.map_of", "core.map_get", "core.map_has", "core.map_insert", "core.map_erase", "core.map_length",
        "core.map_keys", "core.map_values", "core.maps_of_rows",
    }
)  # fmt: skip
"""Operations on maps, tested in `test_maps.py`."""

ON_TUPLES = frozenset(
    {
        "core.tuple_of", "core.tuple_get", "core.tuple_length", "core.handle_of", "core.handle_value",
        "core.handle_equal",
    }
)  # fmt: skip
"""Operations on tuples and handles, tested in `test_tuples.py`."""

ON_SPARSE = frozenset(
    {
        "core.sparse_of", "core.to_sparse", "core.to_dense", "core.sparse_values", "core.sparse_indices",
        "core.sparse_shape", "core.sparse_length",
    }
)  # fmt: skip
"""Operations on sparse tensors, tested in `test_sparse.py`."""

ON_COLLECTIONS = ON_LISTS | ON_MAPS | ON_TUPLES | ON_SPARSE

DECOMPOSITIONS = frozenset({"core.eigh", "core.svd"})
"""Operations whose results have any sign, tested in `test_decompositions.py`."""

RANDOM = frozenset({"core.random_uniform", "core.random_normal"})
"""Operations whose random numbers no oracle draws equally; `tests/dialects/mil/test_random.py` tests distributions."""

SAMPLES = 24


def test_every_core_operation_is_compared_with_an_oracle() -> None:
    elsewhere = STRUCTURAL | RANDOM | DECOMPOSITIONS | ON_TEXTS | ON_COLLECTIONS | BETWEEN_RANKS
    assert MAKERS.keys() | elsewhere == core.DIALECT.operations.keys(), "add a case to tests/dialects/core/*_cases.py"
    assert not MAKERS.keys() & elsewhere


def check(case: Case, op: Op, actual: Sequence[Array], where: str) -> None:
    """Results have the inferred types and the expected elements."""
    for y, result, expected in zip(actual, op.results, case.expected, strict=True):
        assert (y.dtype, y.shape) == (expected.dtype, expected.shape), where
        assert isinstance(result.type, TensorType)
        assert are_compatible(result.type, type_of(y)), where
        widest = np.complex128 if expected.dtype.kind == "c" else np.float64
        wide, truth = y.astype(widest), expected.astype(widest)
        with np.errstate(invalid="ignore"):
            error = np.abs(wide - truth) / np.maximum(np.abs(truth), 1)
        same = (wide == truth) | (np.isnan(wide) & np.isnan(truth))
        assert np.all(same | (error <= case.tolerance)), f"{where}: {y} instead of {expected}"


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("name", MAKERS)
def test_reference_engine_agrees_with_the_oracle(name: str) -> None:
    for number in range(SAMPLES):
        case = MAKERS[name](Draw(name, number))
        op = operation(name, case.operands, case.attributes)
        result = constant_result(op) or evaluated(op, case.operands)
        check(case, op, result, f"sample {number}: {op.operands} {case.attributes}")


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("name", MAKERS)
def test_numpy_engine_agrees_with_the_oracle(name: str) -> None:
    for number in range(0, SAMPLES, 3):
        case = MAKERS[name](Draw(name, number))
        arrays = flat_arrays(case.operands)
        model: list[Op] = []

        def build(*values: Value, case: Case = case, ops: list[Op] = model) -> tuple[Value, ...]:
            ops.append(built(definition(name), grouped(values, case.operands), case.attributes))
            return ops[0].results

        inputs = {f"x{n}": x for n, x in enumerate(arrays)}
        module = program(build, {n: type_of(x) for n, x in inputs.items()})
        result = list(NUMPY.prepare(module).run(inputs).values())
        # Its own error function, and other orders of summation.
        loose = case._replace(tolerance=max(case.tolerance * 2, 1e-6))
        check(loose, model[0], result, f"sample {number}: {model[0].operands} {case.attributes}")
