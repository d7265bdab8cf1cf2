"""Loops and branches as functions of Python that call those of their parts.

Every tensor is one array. A round copies the slices that it reads and the values that it passes on; nothing is looked
up or checked between rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.runtime.kernel_graph.control import (
    Branch,
    GraphProgram,
    Loop,
    Part,
    ReadSizes,
    Requirement,
    Slice,
    walk_parts,
)
from commonir.runtime.kernel_graph.graph import KernelGraph, TensorSpec
from commonir.runtime.kernel_graph.timing import OnKernel
from commonir.symbolic import Dim

Array = NDArray[Any]
Call = Callable[[OnKernel | None], None]
"""Computes a part; what it receives is called after each kernel and each round."""


def moving_tensors(program: GraphProgram) -> dict[str, TensorSpec]:
    """Returns the tensors that loops and branches write, which are not results of graphs."""
    names: list[str] = []
    for part in walk_parts(program.parts):
        match part:
            case Loop():
                names += [s.name for s in (*part.states, *part.read)] + [s.array for s in part.written]
            case Branch():
                names += [r.name for r in part.results]
            case KernelGraph() | ReadSizes() | Requirement():
                pass
    return {name: program.specs[name] for name in names}


class PartCalls:
    """Makes calls of parts: `of_graph` returns that of a graph, and `size` the value of a size."""

    def __init__(
        self, arrays: Mapping[str, Array], of_graph: Callable[[KernelGraph], Call], size: Callable[[Dim], int]
    ) -> None:
        self._arrays = arrays
        self._of_graph = of_graph
        self._size = size

    def of_parts(self, parts: Iterable[Part]) -> Call:
        """Returns the call of parts one after another."""
        calls = [self._of_part(part) for part in parts]
        if len(calls) == 1:
            return calls[0]

        def all_parts(on_kernel: OnKernel | None) -> None:
            for call in calls:
                call(on_kernel)

        return all_parts

    def _of_part(self, part: Part) -> Call:
        match part:
            case Loop():
                return self._of_loop(part)
            case Branch():
                return self._of_branch(part)
            case KernelGraph():
                return self._of_graph(part)
            case ReadSizes() | Requirement():
                # A program has such parts only where the back end takes sizes that change.
                raise TypeError(f"not a part of a program of this engine: {type(part).__name__}")

    def _pairs(self, names: Iterable[tuple[str, str]]) -> list[tuple[Array, Array]]:
        return [(self._arrays[to], self._arrays[source]) for to, source in names]

    def _of_branch(self, branch: Branch) -> Call:
        condition = self._arrays[branch.condition]
        then, orelse = self.of_parts(branch.then), self.of_parts(branch.orelse)
        of_then = self._pairs([(r.name, r.then) for r in branch.results])
        of_else = self._pairs([(r.name, r.orelse) for r in branch.results])

        def one_of_both(on_kernel: OnKernel | None) -> None:
            holds = bool(condition)
            (then if holds else orelse)(on_kernel)
            _copy(of_then if holds else of_else)

        return one_of_both

    def _of_loop(self, loop: Loop) -> Call:
        length = self._size(loop.length)
        body = self.of_parts(loop.body)
        initial = self._pairs([(s.name, s.initial) for s in loop.states])
        following = self._pairs([(s.name, s.written) for s in loop.states])
        read = [(self._arrays[s.name], s) for s in loop.read]
        written = [(s, self._arrays[s.name]) for s in loop.written]
        goes_on = self._rounds(loop, length)

        def rounds(on_kernel: OnKernel | None) -> None:
            _copy(initial)
            sources = [(target, self._slices(s, loop)) for target, s in read]
            targets = [(self._slices(s, loop), source) for s, source in written]
            for _ in goes_on(on_kernel):
                for target, slices in sources:
                    np.copyto(target, next(slices))
                body(on_kernel)
                for slices, source in targets:
                    np.copyto(next(slices), source)
                _copy(following)
                if on_kernel is not None:
                    on_kernel("", ())

        return rounds

    def _slices(self, s: Slice, loop: Loop) -> Iterator[Array]:
        array = self._arrays[s.array]
        order = range(len(array))
        return (array[n, ...] for n in (reversed(order) if loop.is_reversed else order))

    def _rounds(self, loop: Loop, length: int) -> Callable[[OnKernel | None], Iterable[object]]:
        """Returns a function whose result has an element for each round."""
        if not loop.condition:
            return lambda _: range(length)
        condition, test = self._arrays[loop.condition], self.of_parts(loop.test)

        def tested(on_kernel: OnKernel | None) -> Iterator[None]:
            test(on_kernel)
            while condition:
                yield
                test(on_kernel)

        return tested


def _copy(pairs: Sequence[tuple[Array, Array]]) -> None:
    for target, source in pairs:
        np.copyto(target, source)
