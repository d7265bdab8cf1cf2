"""Calculations in order, on values in numbered places: what programs become that are run as they stand.

Inputs have the first places, constants and results those that follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from numpy.typing import NDArray

from commonir.ir.operation import Value
from commonir.runtime.reference import Evaluator

Array = NDArray[Any]


class StepEvaluator(Evaluator):
    """Evaluates what is no step, and counts how often blocks of operations were run."""

    rounds = 0


Calculation = Callable[[Sequence[Array], StepEvaluator], Sequence[Array]]
"""What gives the results for arrays of the operands."""


class Steps:
    """Calculations in order; together they are one on arrays of the inputs.

    Units: `elements` are those of the grids of all of them.
    """

    __slots__ = ("_outputs", "_start", "_steps", "elements", "inputs")

    def __init__(
        self,
        inputs: tuple[Value, ...],
        start: list[Array | None],
        steps: list[tuple[Calculation, tuple[int, ...], tuple[int, ...]]],
        outputs: list[int],
        elements: int,
    ) -> None:
        self.inputs = inputs
        self.elements = elements
        # What is in each place before anything is computed: constants, and nothing.
        self._start = start
        # Each with the places of its operands and results.
        self._steps = steps
        self._outputs = outputs

    def __len__(self) -> int:
        return len(self._steps)

    def __call__(self, arrays: Sequence[Array], evaluator: StepEvaluator) -> Sequence[Array]:
        at: list[Any] = self._start.copy()
        at[: len(arrays)] = arrays
        for calculate, operands, results in self._steps:
            found = calculate([at[n] for n in operands], evaluator)
            if len(results) == 1:
                at[results[0]] = found[0]
                continue
            # Optional results need not be asked for.
            for n, x in zip(results, found, strict=False):
                at[n] = x
        return [at[n] for n in self._outputs]

    def calculation(self) -> Calculation:
        """The same without what is around a single calculation on all inputs."""
        if len(self._steps) == 1:
            calculate, operands, results = self._steps[0]
            if operands == tuple(range(len(self.inputs))) and list(results) == self._outputs:
                return calculate
        return self

    def put_into(self, builder: StepsBuilder, given: Sequence[int]) -> list[int]:
        """Adds the calculations to others, on values in given places; returns the places of what they give."""
        count = len(given)
        places = [*given, *builder.place(self._start[count:])]
        for calculate, operands, results in self._steps:
            builder.append(calculate, tuple([places[n] for n in operands]), tuple([places[n] for n in results]))
        return [places[n] for n in self._outputs]


class StepsBuilder:
    """Collects calculations on values of a program.

    With `is_kept`, what they consist of is put among them: that takes longer to make, and less to run.
    """

    def __init__(self, inputs: Iterable[Value], *, is_kept: bool = False) -> None:
        self.elements = 0
        self._inputs = tuple(inputs)
        self._is_kept = is_kept
        self._places = {v: n for n, v in enumerate(self._inputs)}
        self._start: list[Array | None] = [None] * len(self._inputs)
        self._steps: list[tuple[Calculation, tuple[int, ...], tuple[int, ...]]] = []

    def has(self, values: Iterable[Value]) -> bool:
        """Whether values are inputs or computed before."""
        places = self._places
        for v in values:  # noqa: SIM110  `all` takes three times as long for the one or two operands that there are
            if v not in places:
                return False
        return True

    def place(self, contents: Sequence[Array | None]) -> range:
        """New places for constants, and for what will be computed."""
        first = len(self._start)
        self._start += contents
        return range(first, len(self._start))

    def append(self, calculate: Calculation, operands: tuple[int, ...], results: tuple[int, ...]) -> None:
        """Adds a calculation on places."""
        self._steps.append((calculate, operands, results))

    def constant(self, value: Value, array: Array) -> None:
        """Makes a value known."""
        self._places[value] = self.place([array])[0]

    def same(self, values: Sequence[Value], others: Sequence[Value]) -> None:
        """Makes values be others that are known."""
        self._places.update(zip(values, [self._places[v] for v in others], strict=False))

    def add(
        self, calculate: Calculation, operands: Sequence[Value], results: Sequence[Value], elements: int = 0
    ) -> None:
        """Adds what computes some values of known ones. Units: `elements` of its grids."""
        self.elements += elements
        places = self._places
        given = tuple([places[v] for v in operands])
        if self._is_kept and isinstance(calculate, Steps):
            places.update(zip(results, calculate.put_into(self, given), strict=False))
            return
        made = tuple(self.place((None,) * len(results)))
        places.update(zip(results, made, strict=True))
        self._steps.append((calculate, given, made))

    def steps(self, outputs: Iterable[Value]) -> Steps:
        """What was added, to give some values."""
        places = [self._places[v] for v in outputs]
        return Steps(self._inputs, self._start, self._steps, places, self.elements)
