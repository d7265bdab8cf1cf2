"""Shards the inputs of a program for its ranks, and joins the shards of its outputs.

An input or output whose type on each rank is smaller along one axis is sharded along it, in the order of ranks. All
others are replicated; the replicated output of the first rank is returned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.codes import WRONG_INPUT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.inputs.adaptation import adapted_inputs, renamed_outputs
from commonir.ir.module import Function
from commonir.ir.operation import Value
from commonir.ir.types import Type
from commonir.runtime.engine import Executable
from commonir.runtime.interpreter.control import Globals, WithState
from commonir.runtime.ranks.program import Ranks, full_name, part_of, shape_of
from commonir.runtime.state import State

Array = NDArray[Any]


def shard_inputs(before: Function, ranks: Ranks, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Returns the inputs of all ranks by full name, from the inputs of the original program.

    Raises: DiagnosticError (E0703) for an array that cannot be sharded as declared.
    """
    out: dict[str, Array] = {}
    for rank, f in enumerate(ranks.functions):
        adapted = adapted_inputs(before, f, inputs)
        for v in f.inputs:
            if v.name in adapted:
                out[full_name(rank, v.name)] = _shard(v.name, adapted[v.name], v.type, rank, ranks.world_size)
    return out


class ShardedExecutable(WithState):
    """A sharded program that runs with the inputs and outputs of the original program.

    Each rank has all states of the program; `state` has those of the first rank.
    """

    def __init__(self, before: Function, ranks: Ranks, executable: Executable) -> None:
        super().__init__(Globals())
        self._before = before
        self._ranks = ranks
        self._executable = executable
        self._running = Lock()

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the outputs of the program; see `Executable`. Runs of several threads take turns."""
        with self._running:
            return self._run(inputs)

    def _run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        shards = shard_inputs(self._before, self._ranks, inputs)
        every = range(self._ranks.world_size)
        states_by_rank = {full_name(rank, name): array for name, array in self.state.items() for rank in every}
        self._executable.state = State(states_by_rank)
        result = unshard_outputs(self._before, self._ranks, self._executable.run(shards))
        first = full_name(0, "")
        states = {name: array for name, array in self._executable.state.items() if name.startswith(first)}
        self.state.clear()
        self.state.update({name.removeprefix(first): array for name, array in states.items()})
        return result


def _shard(name: str, array: Array, type: Type, rank: int, ranks: int) -> Array:
    shape = shape_of(type)
    out = part_of(array, shape, rank, ranks)
    if shape is None or len(shape) != array.ndim:
        return out
    if any(isinstance(dim, int) and dim != actual for dim, actual in zip(shape, out.shape, strict=True)):
        message = f"input '{name}' has the shape {list(array.shape)}, which is not {ranks} times {type} along an axis"
        raise DiagnosticError(Diagnostic(WRONG_INPUT, message))
    return out


def unshard_outputs(before: Function, ranks: Ranks, outputs: Mapping[str, Array]) -> dict[str, Array]:
    """Returns the outputs of the original program from those of all ranks.

    An output of which some shards are missing is returned as its shards, by full name.
    """
    names = ranks.functions[0].output_names
    types = dict(zip(before.output_names, [v.type for v in before.outputs], strict=True))
    by_position = list(types.values())
    out: dict[str, Array] = {}
    unjoined: dict[str, Array] = {}
    for n, name in enumerate(names):
        shards = {rank: outputs[full] for rank in range(ranks.world_size) if (full := full_name(rank, name)) in outputs}
        type = types.get(name, by_position[n] if n < len(by_position) else None)
        axis = _sharded_axis(list(shards.values()), type, ranks.world_size)
        if shards and axis is None:
            out[name] = shards[min(shards)]
        elif len(shards) == ranks.world_size and axis is not None:
            out[name] = np.concatenate([shards[rank] for rank in sorted(shards)], axis)
        else:
            unjoined |= {full_name(rank, name): array for rank, array in shards.items()}
    return renamed_outputs(before, out) | unjoined


def shard_outputs(before: Function, ranks: Ranks, outputs: Mapping[str, Array]) -> dict[str, Array]:
    """Returns the part of each rank of the outputs of the original program, by full name; the whole of one that is not
    sharded as ranks declare it.
    """
    return {
        full_name(rank, name): part_of(outputs[source], shape_of(value.type), rank, ranks.world_size)
        for rank, f in enumerate(ranks.functions)
        for name, value, source in _with_sources(before, f)
        if source in outputs
    }


def output_sources(before: Function, ranks: Ranks) -> dict[str, str]:
    """Returns the names of outputs of the original program by the full names of those of ranks: equal ones, else those
    of the same position.
    """
    return {
        full_name(rank, name): source
        for rank, f in enumerate(ranks.functions)
        for name, _, source in _with_sources(before, f)
    }


def shard_expected(ranks: Ranks, expected: Mapping[str, Array], actual: Mapping[str, Array]) -> dict[str, Array]:
    """Returns expected arrays with those of all ranks by full name: what each has of one that has the plain name."""
    parts = {
        full: part_of(expected[name], actual[full].shape, rank, ranks.world_size)
        for rank, f in enumerate(ranks.functions)
        for name in f.output_names
        if name in expected and (full := full_name(rank, name)) in actual and full not in expected
    }
    used = {name for rank, f in enumerate(ranks.functions) for name in f.output_names if full_name(rank, name) in parts}
    return {name: array for name, array in expected.items() if name not in used} | parts


def _with_sources(before: Function, after: Function) -> Iterator[tuple[str, Value, str]]:
    known = before.output_names
    unmatched = iter([name for name in known if name not in after.output_names])
    for name, value in zip(after.output_names, after.outputs, strict=True):
        source = name if name in known else next(unmatched, None)
        if source is not None:
            yield name, value, source


def _sharded_axis(shards: Sequence[Array], type: Type | None, ranks: int) -> int | None:
    """Returns the axis along which arrays are shards of a value of a type; None for other arrays."""
    shape = shape_of(type)
    if not shards or shape is None or len(shape) != shards[0].ndim:
        return None
    dims = zip(shape, shards[0].shape, strict=True)
    sharded = [(n, dim, actual) for n, (dim, actual) in enumerate(dims) if isinstance(dim, int) and dim != actual]
    return sharded[0][0] if len(sharded) == 1 and sharded[0][1] == ranks * sharded[0][2] else None
