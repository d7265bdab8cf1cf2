"""Rounds of a loop as calls of numpy on fixed arrays.

A round copies the slices that it reads and what the round before wrote into the arrays of its inputs, and runs the
steps of a plan. Nothing is checked or looked up between rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice, repeat
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from commonir.runtime.kernel_graph.loops import Rounds, Slice
from commonir.runtime.numpy_engine.array_steps import Step

Array = NDArray[Any]


class Plan(Protocol):
    """Steps between fixed arrays."""

    @property
    def inputs(self) -> Sequence[Array]:
        """The arrays that steps read the inputs from."""
        ...

    @property
    def outputs(self) -> Sequence[Array]:
        """The arrays that steps write the outputs to."""
        ...

    @property
    def calls(self) -> Sequence[Step]:
        """The steps in order."""
        ...

    def load(self, inputs: Sequence[Array]) -> None:
        """Copies inputs into the arrays that steps read."""
        ...

    def forget_input(self, number: int) -> None:
        """States that the array of an input has other contents than were loaded."""
        ...


class Repetition:
    """Rounds of a plan, and of the plan of the test before each of them if there is one."""

    def __init__(self, body: Plan, test: Plan | None, rounds: Rounds) -> None:
        self._rounds = rounds
        self._body, self._test = body, test
        self._outputs = list(body.outputs)
        self._copies = self._copies_of_states()

    def _copies_of_states(self) -> list[tuple[Array, Array]]:
        """Returns what is copied after a round, the targets first."""
        out: list[tuple[Array, Array]] = []
        for state in self._rounds.states:
            if state.written is None:
                continue
            if state.read is not None:
                out.append((self._body.inputs[state.read], self._outputs[state.written]))
            if state.tested is not None and self._test is not None:
                out.append((self._test.inputs[state.tested], self._outputs[state.written]))
        return out

    def run(self, check: Callable[[], None]) -> list[Array]:
        """Returns the last values of all states; `check` is called after each round."""
        rounds, test = self._rounds, self._test
        self._body.load(rounds.inputs)
        if test is not None and rounds.test is not None:
            test.load(rounds.test.inputs)
        try:
            with np.errstate(all="ignore"):
                ran = self._run(check)
        finally:
            self._forget()
        return [self._last(n, ran) for n in range(len(rounds.states))]

    def _run(self, check: Callable[[], None]) -> int:
        """Returns the number of rounds that ran."""
        copy, rounds, steps, copies = np.copyto, self._rounds, self._body.calls, self._copies
        read = [(self._body.inputs[s.number], self._slices(s)) for s in rounds.read]
        written = [(self._slices(s), self._outputs[s.number]) for s in rounds.written]
        goes_on, ran = self._condition(), 0
        for ran in islice(count(), rounds.most):
            if not goes_on():
                return ran
            for target, slices in read:
                copy(target, next(slices))
            for step in steps:
                step()
            for slices, source in written:
                copy(next(slices), source)
            for target, source in copies:
                copy(target, source)
            check()
        return rounds.most

    def _slices(self, s: Slice) -> Iterator[Array]:
        array = s.array[::-1] if self._rounds.is_reversed else s.array
        return (array[n, ...] for n in range(len(array)))

    def _condition(self) -> Callable[[], bool]:
        """Returns a function that says whether there is a round."""
        condition, test = self._rounds.condition, self._test
        if test is not None:
            steps, (answer,) = test.calls, test.outputs

            def tested() -> bool:
                for step in steps:
                    step()
                return bool(answer)

            return tested
        if condition is None:
            return repeat(True).__next__
        first, written = self._rounds.initial[condition], self._rounds.states[condition].written
        # The first round depends on the initial value, others on the output of the one before.
        values = first if written is None else self._outputs[written]
        before = iter([first])
        return lambda: bool(next(before, values))

    def _forget(self) -> None:
        """States which arrays of inputs rounds have changed."""
        for s in self._rounds.read:
            self._body.forget_input(s.number)
        for state in self._rounds.states:
            if state.read is not None:
                self._body.forget_input(state.read)
            if state.tested is not None and self._test is not None:
                self._test.forget_input(state.tested)

    def _last(self, n: int, ran: int) -> Array:
        written = self._rounds.states[n].written
        return self._rounds.initial[n] if written is None or ran == 0 else np.array(self._outputs[written])
