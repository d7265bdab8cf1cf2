"""Nested array programs: branches and loops as steps of a plan.

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
    """A nested program: its arguments, the values of the enclosing program that it reads, by index, and its outputs."""

    arguments: tuple[Input, ...]
    outer: tuple[tuple[Input, int], ...]
    outputs: tuple[Node, ...]

    def plan(self, arguments: Sequence[Array], inputs: Sequence[Array], memory_limit_bytes: int | None) -> ArrayPlan:
        """Returns the plan of the program, bound to the arrays that it reads."""
        arrays = {node.id: array for node, array in zip(self.arguments, arguments, strict=True)}
        arrays.update({node.id: inputs[n] for node, n in self.outer})
        return ArrayPlan((), self.outputs, memory_limit_bytes, arrays)

    def buffers(self) -> list[Array]:
        """Returns an array for each argument."""
        return [np.empty(n.shape, n.dtype) for n in self.arguments]


class Branches(NestedProgram):
    """One of two programs, by a bool, which is the first input."""

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
    """A program that is run again and again on its own results: while a condition on them holds, or once for each slice
    of some inputs along their first axis.

    The first inputs are the initial states, then come the sequences. The results are the last states, then what is
    stacked of each round, which only a loop over slices has.
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
        found = self._plan.outputs
        self._initial = list(zip(states, inputs, strict=False))
        self._slices = list(zip(buffers[count:], inputs[count:], strict=False))
        self._stacks = [(out, x) for out, x in zip(outs[count:], found[count:], strict=True) if out is not None]
        # A state may be given on as another one, whose place is written before it is read.
        parts = [x.copy() if _is_read_late(n, x, states) else x for n, x in enumerate(found[:count])]
        self._saved = [(a, b) for a, b in zip(parts, found, strict=False) if a is not b]
        self._next = [(state, x) for state, x in zip(states, parts, strict=True) if state is not x]
        self._last = [(out, state) for out, state in zip(outs, states, strict=False) if out is not None]

    def __call__(self) -> None:
        for state, arguments in self._initial:
            np.copyto(state, arguments)
        if self._condition is None:
            for n in self._rounds:
                for part, whole in self._slices:
                    part[...] = whole[n]
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


def _is_read_late(number: int, array: Array, states: Sequence[Array]) -> bool:
    """Returns whether the next value of a state lies where another state is."""
    return any(np.may_share_memory(array, s) for n, s in enumerate(states) if n != number)
