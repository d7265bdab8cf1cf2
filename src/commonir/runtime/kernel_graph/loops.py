"""Loops whose body is one graph: how the results of a round become what the next one reads.

A back end runs such a loop without leaving its code. Other loops, such as those whose values change their shapes or
whose body has operations that are not kernels, run round by round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import TensorType
from commonir.runtime.interpreter.runtime_dims import block_dims
from commonir.runtime.values import compute_dtype, computed
from commonir.symbolic import evaluate

Array = NDArray[Any]


class State(NamedTuple):
    """A value that each round passes to the next one: its number among inputs of the graph and the test, and outputs.

    Each is None where the value is not there; without an output it stays the same.
    """

    read: int | None
    tested: int | None
    written: int | None


class Slice(NamedTuple):
    """An input or output of a graph, by its number, that is one slice of an array in each round."""

    number: int
    array: Array


class Test(NamedTuple):
    """A graph that is run before each round; its only output says whether there is one."""

    graph: RepeatableGraph
    inputs: Sequence[Array]


class Rounds(NamedTuple):
    """Runs of a graph one after another, at most `most` of them.

    `initial` are the values of `states` before the first one, and `inputs` all arrays that the graph receives then.
    Slices are taken from the end on if `is_reversed`. Rounds end where a test, or the state with the number
    `condition`, is false.
    """

    inputs: Sequence[Array]
    states: Sequence[State]
    initial: Sequence[Array]
    read: Sequence[Slice]
    written: Sequence[Slice]
    most: int
    is_reversed: bool = False
    test: Test | None = None
    condition: int | None = None


@runtime_checkable
class RepeatableGraph(Protocol):
    """A prepared graph that can run many times without leaving its code."""

    def repeat(self, rounds: Rounds, dims: Mapping[str, int], check: Callable[[], None]) -> list[Array] | None:
        """Returns the last values of all states, or None if it cannot; `check` is called now and then.

        Raises: OutOfRange when a position read from data is outside of its tensor.
        """
        ...


class Body(Protocol):
    """A block that is one graph, with the values that it reads and returns."""

    @property
    def graph(self) -> object:
        """The graph, which the back end may be able to repeat."""
        ...

    @property
    def inputs(self) -> tuple[Value, ...]:
        """The values that the graph reads."""
        ...

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The values that the graph computes for others."""
        ...

    def fits(self, arrays: Sequence[Array], dims: Mapping[str, int]) -> bool:
        """Returns whether the graph computes the operations for inputs of these shapes and these sizes."""
        ...


class Loop(NamedTuple):
    """A loop that a back end may run; `condition` is the one of a while loop, if it is computed."""

    op: core.Scan | core.While
    body: Body
    condition: Body | None

    def run(
        self, values: Mapping[Value, Array], dims: Mapping[str, int], check: Callable[[], None]
    ) -> tuple[Array, ...] | None:
        """Returns the results of the loop, or None if the back end cannot run it."""
        op, block = self.op, self.op.body.block
        count = len(op.initial)
        initial = [np.asarray(computed(values[v], v.type), order="C") for v in op.initial]
        sequences = [np.asarray(computed(values[v], v.type), order="C") for v in self._sequences]
        if isinstance(op, core.Scan) and len(sequences[0]) == 0:
            return None
        known = {**values, **dict(zip(block.arguments, [*initial, *[x[0, ...] for x in sequences]], strict=True))}
        dims = block_dims(block, known, dims)
        slices = dict(zip(block.arguments[count:], sequences, strict=True))
        stacks = self._stacks(block, dims, len(sequences[0]) if sequences else 0)
        rounds = Rounds(
            [computed(known[v], v.type) for v in self.body.inputs],
            self._states(block),
            initial,
            [Slice(n, slices[v]) for n, v in enumerate(self.body.inputs) if v in slices],
            stacks,
            len(sequences[0]) if sequences else 1 << 62,
            isinstance(op, core.Scan) and op.reverse,
            *self._test(values, initial),
        )
        if not self.body.fits(rounds.inputs, dims):
            return None
        test, condition = rounds.test, self.condition
        if test is not None and condition is not None and not condition.fits(test.inputs, dims):
            return None
        graph = self.body.graph
        last = graph.repeat(rounds, dims, check) if isinstance(graph, RepeatableGraph) else None
        return None if last is None else (*last, *[s.array for s in stacks])

    @property
    def _sequences(self) -> tuple[Value, ...]:
        return self.op.sequences if isinstance(self.op, core.Scan) else ()

    def _stacks(self, block: Block, dims: Mapping[str, int], length: int) -> list[Slice]:
        out: list[Slice] = []
        for v in _yielded(block)[len(self.op.initial) :]:
            assert isinstance(v.type, TensorType)
            shape = (length, *[evaluate(d, dims) for d in v.type.shape or () if d is not None])
            out.append(Slice(self.body.outputs.index(v), np.empty(shape, compute_dtype(v.type.element))))
        return out

    def _states(self, block: Block) -> list[State]:
        tested = self.op.condition.block.arguments if isinstance(self.op, core.While) else ()
        out: list[State] = []
        for n, v in enumerate(_yielded(block)[: len(self.op.initial)]):
            argument = block.arguments[n]
            asked = _number(self.condition.inputs, tested[n]) if self.condition is not None else None
            written = None if v is argument else self.body.outputs.index(v)
            out.append(State(_number(self.body.inputs, argument), asked, written))
        return out

    def _test(self, values: Mapping[Value, Array], initial: Sequence[Array]) -> tuple[Test | None, int | None]:
        op, condition = self.op, self.condition
        if not isinstance(op, core.While):
            return None, None
        arguments = op.condition.block.arguments
        if condition is None:
            return None, arguments.index(_yielded(op.condition.block)[0])
        known = {**values, **dict(zip(arguments, initial, strict=True))}
        assert isinstance(condition.graph, RepeatableGraph)
        return Test(condition.graph, [computed(known[v], v.type) for v in condition.inputs]), None


def _number(values: Sequence[Value], value: Value) -> int | None:
    return values.index(value) if value in values else None


def _yielded(block: Block) -> tuple[Value, ...]:
    last = block.last
    return last.values if isinstance(last, core.Yield) else ()


def loop_of(op: Operation, body_of: Callable[[Block], Body | None]) -> Loop | None:
    """Returns a loop if each round is one graph, and passes on values of the same types; None for others."""
    if not isinstance(op, core.Scan | core.While):
        return None
    block = op.body.block
    body = body_of(block)
    given, count = _yielded(block), len(op.initial)
    if body is None or not isinstance(body.graph, RepeatableGraph):
        return None
    if isinstance(op, core.While) and len(given) > count:
        return None
    for argument, v in zip(block.arguments[:count], given[:count], strict=True):
        if v.type is not argument.type or not _has_known_rank(v) or (v not in body.outputs and v is not argument):
            return None
    if not all(v in body.outputs and _has_known_rank(v) for v in given[count:]):
        return None
    if not isinstance(op, core.While):
        return Loop(op, body, None)
    (answer,) = _yielded(op.condition.block)
    condition = body_of(op.condition.block)
    if answer in op.condition.block.arguments:
        return Loop(op, body, None)
    if condition is None or condition.outputs != (answer,) or not isinstance(condition.graph, RepeatableGraph):
        return None
    return Loop(op, body, condition)


def _has_known_rank(v: Value) -> bool:
    return isinstance(v.type, TensorType) and v.type.shape is not None and None not in v.type.shape
