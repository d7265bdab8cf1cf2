"""Inputs of a program for the ranks that it was divided among, and their outputs as those of the program.

Types tell what is to be done: an input or output of which ranks have less along one axis is divided along it, in the
order of ranks; any other is the same on all ranks, and the first one is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.codes import WRONG_INPUT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.module import Function
from commonir.ir.types import TensorType, Type
from commonir.runtime.adaptation import adapted_inputs, renamed_outputs
from commonir.runtime.engine import Executable
from commonir.runtime.interpreter.control import Globals, WithState
from commonir.runtime.ranks.program import Ranks, full_name
from commonir.runtime.state import State

Array = NDArray[Any]


def parts_of_inputs(before: Function, ranks: Ranks, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Returns the inputs of a program for the ranks, under their names.

    Raises: DiagnosticError (E0703) for an array that cannot be divided as the ranks ask.
    """
    out: dict[str, Array] = {}
    for rank, f in enumerate(ranks.functions):
        given = adapted_inputs(before, f, inputs)
        for v in f.inputs:
            if v.name in given:
                out[full_name(rank, v.name)] = _part(v.name, given[v.name], v.type, rank, ranks.world_size)
    return out


class DividedExecutable(WithState):
    """A program divided among ranks, ready to run as the one that it was made from.

    Each rank keeps the states of the program; those of the first rank are shown.
    """

    def __init__(self, before: Function, ranks: Ranks, executable: Executable) -> None:
        super().__init__(Globals())
        self._before = before
        self._ranks = ranks
        self._executable = executable

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the outputs of the program; see `Executable`."""
        given = parts_of_inputs(self._before, self._ranks, inputs)
        every = range(self._ranks.world_size)
        kept = {full_name(rank, name): array for name, array in self.state.items() for rank in every}
        self._executable.state = State(kept)
        result = whole_outputs(self._before, self._ranks, self._executable.run(given))
        first = full_name(0, "")
        states = {name: array for name, array in self._executable.state.items() if name.startswith(first)}
        self.state.clear()
        self.state.update({name.removeprefix(first): array for name, array in states.items()})
        return result


def _part(name: str, array: Array, kind: Type, rank: int, ranks: int) -> Array:
    shape = kind.shape if isinstance(kind, TensorType) else None
    if shape is None or len(shape) != array.ndim:
        return array
    less = [n for n, (size, have) in enumerate(zip(shape, array.shape, strict=True)) if size not in (None, have)]
    less = [n for n in less if isinstance(shape[n], int)]
    if not less:
        return array
    size = shape[less[0]]
    if len(less) > 1 or not isinstance(size, int) or size * ranks != array.shape[less[0]]:
        message = f"input '{name}' has the shape {list(array.shape)}, which is not {ranks} times {kind} along an axis"
        raise DiagnosticError(Diagnostic(WRONG_INPUT, message))
    return np.take(array, range(rank * size, (rank + 1) * size), axis=less[0])


def whole_outputs(before: Function, ranks: Ranks, outputs: Mapping[str, Array]) -> dict[str, Array]:
    """Returns the outputs of ranks as outputs of the program that they were made from, under its names.

    What only some ranks have given stays under the names of ranks, unless each has the whole.
    """
    names = ranks.functions[0].output_names
    kinds = dict(zip(before.output_names, [v.type for v in before.outputs], strict=True))
    by_position = list(kinds.values())
    out: dict[str, Array] = {}
    rest: dict[str, Array] = {}
    for n, name in enumerate(names):
        own = {rank: outputs[full] for rank in range(ranks.world_size) if (full := full_name(rank, name)) in outputs}
        kind = kinds.get(name, by_position[n] if n < len(by_position) else None)
        axis = _divided_axis(list(own.values()), kind, ranks.world_size)
        if own and axis is None:
            out[name] = own[min(own)]
        elif len(own) == ranks.world_size and axis is not None:
            out[name] = np.concatenate([own[rank] for rank in sorted(own)], axis)
        else:
            rest |= {full_name(rank, name): array for rank, array in own.items()}
    return renamed_outputs(before, out) | rest


def _divided_axis(parts: Sequence[Array], kind: Type | None, ranks: int) -> int | None:
    """Returns the axis along which arrays are parts of a value of a type."""
    shape = kind.shape if isinstance(kind, TensorType) else None
    if not parts or shape is None or len(shape) != parts[0].ndim:
        return None
    sizes = zip(shape, parts[0].shape, strict=True)
    less = [n for n, (size, have) in enumerate(sizes) if isinstance(size, int) and size != have]
    return less[0] if len(less) == 1 and shape[less[0]] == ranks * parts[0].shape[less[0]] else None
