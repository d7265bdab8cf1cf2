"""Splits inputs of a program that runs several steps, and stacks its outputs, along a new first axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.codes import WRONG_INPUT
from commonir.base.diagnostics import Diagnostics
from commonir.base.tuples import NamedTuple
from commonir.ir.module import Function
from commonir.runtime.binding.ports import named_inputs
from commonir.runtime.values import is_array

Array = NDArray[Any]


class Steps(NamedTuple):
    """The inputs of the first step, the outputs of all steps, and the engine that ran them."""

    inputs: dict[str, Array]
    outputs: dict[str, Array]
    engine: str


def inputs_by_step(function: Function, inputs: Mapping[str, Array], steps: int) -> list[dict[str, Array]]:
    """Returns the inputs of each step: a slice of arrays with one more axis than their input, else the same array.

    Raises: DiagnosticError (E0703) when the size of that axis is not the number of steps.
    """
    ranks = {name: len(type.shape) for name, type, _ in named_inputs(function) if type.shape is not None}
    diagnostics = Diagnostics()
    stepped: set[str] = set()
    for name, array in inputs.items():
        if name in ranks and np.ndim(array) == ranks[name] + 1:
            stepped.add(name)
            if np.shape(array)[0] != steps:
                message = f"input '{name}' has size {np.shape(array)[0]} along its first axis for {steps} steps"
                diagnostics.add(WRONG_INPUT, message)
    diagnostics.raise_errors()
    return [{name: x[n] if name in stepped else x for name, x in inputs.items()} for n in range(steps)]


def joined(outputs: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """Returns the outputs of all steps: one array for each, or `stepN/NAME` for what is not a tensor of one shape."""
    out: dict[str, Array] = {}
    for name in outputs[0]:
        parts = [step_outputs[name] for step_outputs in outputs]
        if all(map(is_array, parts)) and len({x.shape for x in parts}) == 1:
            out[name] = np.stack(parts)
        else:
            out |= {f"step{n}/{name}": x for n, x in enumerate(parts)}
    return out
