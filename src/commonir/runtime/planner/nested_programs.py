"""Runs nested array programs, the branches and loops of a plan.

Their plans have buffers of their own, but read values of the enclosing program in place. Shapes and dtypes of
loop-carried values must be the same in every iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.runtime.planner.array_graph import Input, Node
from commonir.runtime.planner.array_plan import ArrayPlan, BoundProgram, NestedProgram

Array = NDArray[Any]


class Body(NamedTuple):
    """A nested program: its arguments, its captured inputs with their indices among the inputs of the node, and its
    outputs.
    """

    arguments: tuple[Input, ...]
    captured: tuple[tuple[Input, int], ...]
    outputs: tuple[Node, ...]

    def plan(self, arguments: Sequence[Array], inputs: Sequence[Array], memory_limit_bytes: int | None) -> ArrayPlan:
        """Returns the plan of the program, bound to the arrays that it reads."""
        arrays = {node.id: array for node, array in zip(self.arguments, arguments, strict=True)}
        arrays.update({node.id: inputs[n] for node, n in self.captured})
        return ArrayPlan((), self.outputs, memory_limit_bytes, arrays)

    def buffers(self) -> list[Array]:
        """Returns an array for each argument."""
        return [np.empty(n.shape, n.dtype) for n in self.arguments]


class Branches(NestedProgram):
    """One of two programs, chosen by a bool, which is the first input."""

    def __init__(self, then: Body, orelse: Body, memory_limit_bytes: int | None) -> None:
        self._bodies = (then, orelse)
        self._limit = memory_limit_bytes

    def bound(self, inputs: Sequence[Array], outs: Sequence[Array | None]) -> BoundProgram:
        """See `NestedProgram`."""
        return _BoundBranches(inputs[0], [b.plan((), inputs, self._limit) for b in self._bodies], outs)


class _BoundBranches(BoundProgram):
    def __init__(self, condition: Array, plans: Sequence[ArrayPlan], outs: Sequence[Array | None]) -> None:
        self.plans = tuple(plans)
        self._condition = condition
        self._outs = outs

    def __call__(self) -> None:
        plan = self.plans[0 if self._condition else 1]
        plan.compute()
        for out, results in zip(self._outs, plan.outputs, strict=True):
            if out is not None:
                np.copyto(out, results)


class Loop(NestedProgram):
    """A program that runs repeatedly on its own results: while a condition holds, or for each slice of some inputs.

    The first inputs are the initial states, followed by the sequences, which are sliced along their first axis. The
    results are the last states, followed by stacked results, which only a loop over slices has.
    """

    def __init__(
        self,
        body: Body,
        states: int,
        memory_limit_bytes: int | None,
        *,
        condition: Body | None = None,
        rounds: range = range(0),
    ) -> None:
        self.body = body
        self.states = states
        self.condition = condition
        self.rounds = rounds
        self.memory_limit_bytes = memory_limit_bytes

    def bound(self, inputs: Sequence[Array], outs: Sequence[Array | None]) -> BoundProgram:
        """See `NestedProgram`."""
        return _BoundLoop(self, inputs, outs)


class _BoundLoop(BoundProgram):
    def __init__(self, loop: Loop, inputs: Sequence[Array], outs: Sequence[Array | None]) -> None:
        count, limit = loop.states, loop.memory_limit_bytes
        buffers = loop.body.buffers()
        states = buffers[:count]
        self._plan = loop.body.plan(buffers, inputs, limit)
        self._condition = None if loop.condition is None else loop.condition.plan(states, inputs, limit)
        self.plans = tuple([p for p in (self._condition, self._plan) if p is not None])
        self._rounds = loop.rounds
        results = self._plan.outputs
        self._initial = list(zip(states, inputs, strict=False))
        self._slices = list(zip(buffers[count:], inputs[count:], strict=False))
        self._stacks = [(out, x) for out, x in zip(outs[count:], results[count:], strict=True) if out is not None]
        # The next value of a state may be the buffer of another state, which would be overwritten before it is read.
        next_states = [x.copy() if _overlaps_other_state(n, x, states) else x for n, x in enumerate(results[:count])]
        self._saved = [(a, b) for a, b in zip(next_states, results, strict=False) if a is not b]
        self._next = [(state, x) for state, x in zip(states, next_states, strict=True) if state is not x]
        self._last = [(out, state) for out, state in zip(outs, states, strict=False) if out is not None]

    def __call__(self) -> None:
        for state, initial in self._initial:
            np.copyto(state, initial)
        if self._condition is None:
            for n in self._rounds:
                for slice_buffer, sequence in self._slices:
                    slice_buffer[...] = sequence[n]
                self._plan.compute()
                for stack, results in self._stacks:
                    stack[n] = results
                self._advance()
        else:
            self._repeat(self._condition)
        for out, state in self._last:
            np.copyto(out, state)

    def _repeat(self, condition: ArrayPlan) -> None:
        (answer,) = condition.outputs
        condition.compute()
        while answer:
            self._plan.compute()
            self._advance()
            condition.compute()

    def _advance(self) -> None:
        for saved, results in self._saved:
            np.copyto(saved, results)
        for state, results in self._next:
            np.copyto(state, results)


def _overlaps_other_state(number: int, array: Array, states: Sequence[Array]) -> bool:
    """Returns whether the next value of a state shares memory with another state."""
    return any(np.may_share_memory(array, s) for n, s in enumerate(states) if n != number)
