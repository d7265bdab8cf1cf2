"""Packages that `tests.zoo` made, with inputs and expected outputs of each case, and how far others are from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.generic]]
Arrays: TypeAlias = Mapping[str, Array]

TOLERANCES = {"fp32": 1e-4, "fp16": 1e-2}


@dataclass(frozen=True)
class Sample:
    """A package with the inputs of each case and the outputs expected for them."""

    package: Path
    inputs: Mapping[str, Arrays]
    expected: Mapping[str, Arrays]
    are_steps: bool
    """True if the cases are steps of one sequence, which share states, from zeros."""
    tolerance: float
    beyond_onnx: str | None


def read_sample(folder: Path) -> Sample:
    """Return the sample in a folder that `tests.zoo` has made."""
    meta = json.loads((folder / "meta.json").read_text())
    with np.load(folder / "inputs.npz", allow_pickle=False) as stored:
        inputs = split_cases(dict(stored))
    with np.load(folder / "outputs.npz", allow_pickle=False) as stored:
        expected = split_cases(dict(stored))
    return Sample(
        folder / "model.mlpackage",
        # A program without inputs has a case none the less.
        inputs or {"": {}},
        expected,
        bool(meta.get("cases_are_steps")),
        meta.get("tolerance", TOLERANCES[meta["precision"]]),
        meta.get("beyond_onnx"),
    )


def split_cases(arrays: Arrays) -> dict[str, dict[str, Array]]:
    """Return arrays by case and feature: the keys of the files are `NAME`, `case1/NAME` and so on."""
    cases: dict[str, dict[str, Array]] = {}
    for key, array in arrays.items():
        case, _, feature = key.rpartition("/")
        cases.setdefault(case, {})[feature] = array
    return cases


def relative_error(actual: Arrays, expected: Arrays) -> float:
    """Return the worst output's largest difference over its largest magnitude; infinite when it has no meaning.

    Strings are equal or not; infinities and NaN must stand where they are expected.
    """
    worst = 0.0
    for name, reference in expected.items():
        array = actual.get(name)
        if array is None or array.shape != reference.shape:
            return float("inf")
        if reference.dtype.kind in "UO":
            worst = max(worst, 0.0 if np.array_equal(array.astype(str), reference.astype(str)) else float("inf"))
            continue
        result, expected_value = array.astype(np.float64), reference.astype(np.float64)
        is_finite = np.isfinite(expected_value)
        if (
            not np.array_equal(result[~is_finite], expected_value[~is_finite], equal_nan=True)
            or not np.isfinite(result[is_finite]).all()
        ):
            return float("inf")
        if not is_finite.any():
            continue
        difference = np.abs(result[is_finite] - expected_value[is_finite]).max()
        magnitude = np.abs(expected_value[is_finite]).max()
        if difference > 0.0:
            worst = max(worst, float(difference / magnitude) if magnitude > 0.0 else float("inf"))
    return worst


def worst_error(actual: Mapping[str, Arrays], expected: Mapping[str, Arrays]) -> float:
    """Return the error of the worst case."""
    return max(relative_error(actual[case], arrays) for case, arrays in expected.items())
