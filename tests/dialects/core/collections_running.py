"""Runs small core programs whose inputs and outputs need not be tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import commonir as cir
from commonir.ir import Value
from commonir.ir.types import Type

from tests.runtime.programs import program

ENGINES = ("reference", "numpy")


def outputs(
    build: Callable[..., Value | tuple[Value, ...]], types: Mapping[str, Type], inputs: Mapping[str, Any], engine: str
) -> list[Any]:
    """The outputs of a program for inputs in the order of its types, of the second of two runs, as Python values."""
    executable = cir.prepare(program(build, dict(types)), engine=engine)
    executable.run(inputs)
    return [plain(v) for v in executable.run(inputs).values()]


def plain(value: Any) -> Any:
    """Arrays as nested lists, sparse tensors as their three parts."""
    match value:
        case cir.SparseArray():
            return value.values.tolist(), value.indices.tolist(), value.shape
        case np.ndarray():
            return value.tolist()
        case tuple():
            return tuple(map(plain, value))
        case list():
            return list(map(plain, value))
        case _:
            return value
