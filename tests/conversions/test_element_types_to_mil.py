"""Core operations of every element type and rank in Core ML, against the oracles of the core."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from commonir.base.arrays import name_of
from commonir.base.diagnostics import DiagnosticError
from commonir.conversions.core_to_mil import core_to_mil
from commonir.dialects import core
from commonir.ir import Value
from commonir.ir.data import data_of
from commonir.ir.types import ELEMENT_TYPES, f32, i64, string, tensor

from tests.conversions.programs import Build, core_module
from tests.conversions.running_mil import run_mil
from tests.dialects.core.drawing import Draw
from tests.dialects.core.running import built, definition, flat_arrays, grouped
from tests.dialects.core.test_results import MAKERS

SAMPLES = 8
_REFUSALS = (
    "no tensors without elements",
    "no convolution of integers",
    "Core ML has no elements of type complex",
    "tensors of rank at most 5",
    "the operation set has no such compression",
    "the operands are not constant",
    "the mask is not constant",
    "mil.pad takes floats only",
    "mil.resize takes floats",
    "mil.resize rounds positions to the nearest element",
)
"""Messages for everything that Core ML has no form for."""

_NOT_IN_CORE_ML = frozenset(
    f"core.{name}"
    for name in (
        "bit_cast",
        "decode_image",
        "det",
        "dft",
        "grid_sample",
        "lookup",
        "max_pool_with_positions",
        "narrow_cast",
        "pairwise_coupling",
        "region_align",
        "region_max_pool",
        "tree_ensemble",
        "unique",
    )
)
"""Operations that Core ML has not, or not in every form: the refusal names them."""


@pytest.mark.fast_every(3)
@pytest.mark.slow_cases("core.[a-l]*")
@pytest.mark.parametrize("name", MAKERS)
def test_values_are_those_of_the_oracle_or_refused(name: str) -> None:
    for number in range(SAMPLES):
        case = MAKERS[name](Draw(name, number))
        arrays = {f"x{n}": a for n, a in enumerate(flat_arrays(case.operands))}
        types = {key: tensor(ELEMENT_TYPES[name_of(a.dtype)], *a.shape) for key, a in arrays.items()}

        def build(*values: Value) -> Sequence[Value]:
            return built(definition(name), grouped(values, case.operands), case.attributes).results  # noqa: B023

        module = core_module(build, types)
        try:
            result = core_to_mil(module)
        except DiagnosticError as error:
            named = f"{name} cannot be expressed" in str(error) and name in _NOT_IN_CORE_ML
            assert named or any(refusal in str(error) for refusal in _REFUSALS), error
            continue
        for y, expected in zip(run_mil(result, arrays), case.expected, strict=True):
            assert y.shape == expected.shape
            wide, truth = y.astype(np.float64), expected.astype(np.float64)
            with np.errstate(invalid="ignore"):
                error_size = np.abs(wide - truth) / np.maximum(np.abs(truth), 1)
            same = (wide == truth) | (np.isnan(wide) & np.isnan(truth))
            assert np.all(same | (error_size <= max(case.tolerance, 2e-6))), f"{number}: {y} instead of {expected}"


_MOST, _LEAST = 2**63 - 1, -(2**63)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x, n: core.maximum(x, core.scalar(_LEAST, i64)), [4, 1, 5, 2]),
        (lambda x, n: core.minimum(x, core.scalar(_MOST, i64)), [4, 1, 5, 2]),
        (lambda x, n: core.dynamic_slice(x, n, core.vector((_MOST,)), (1,)), [1, 5, 2]),
        (lambda x, n: core.dynamic_slice(x, n, core.dims((_LEAST,), i64), (-1,)), [1, 4]),
    ],
)
def test_bounds_beyond_32_bits_are_the_nearest_ones(build: Build, expected: list[int]) -> None:
    result = core_to_mil(core_module(build, {"x": tensor(i64, 4), "n": tensor(i64, 1)}))
    (y,) = run_mil(result, {"x": np.array([4, 1, 5, 2]), "n": np.array([1])})
    assert y.tolist() == expected


def test_other_constants_beyond_32_bits_are_refused() -> None:
    module = core_module(lambda x: core.add(x, core.scalar(_MOST, i64)), {"x": tensor(i64, 4)})
    with pytest.raises(DiagnosticError, match="32 bits do not hold"):
        core_to_mil(module)


@pytest.mark.parametrize("what", ["input", "output"])
def test_strings_at_the_border_are_refused(what: str) -> None:
    # Source: coremltools, whose array features have floats and integers only.
    text = data_of(string, (1,), ["a"])

    def build(x: Value, *_: Value) -> Sequence[Value]:
        return (core.neg(x),) if what == "input" else (core.neg(x), core.constant(text))

    inputs = {"x": tensor(f32, 4)} | ({"s": tensor(string, 4)} if what == "input" else {})
    module = core_module(build, inputs)
    with pytest.raises(DiagnosticError, match=f"the {what} '.*' has strings"):
        core_to_mil(module)
