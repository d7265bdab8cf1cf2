"""Times of the kernels of graphs, and of operations that run alone, in ordinary runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from statistics import median

from commonir.ir.operation import Operation
from commonir.runtime.engine import OperationTime

OnKernel = Callable[[str, tuple[tuple[str, str], ...]], None]
"""Receives the node that a kernel has computed, and its operations with the names of their values.

Before the first kernel it is called with the name "" and no operations.
"""


class RunTimes:
    """The times of several runs. An operation with regions, such as a loop, is one; what it runs is not measured."""

    def __init__(self) -> None:
        self._is_inside = False
        self._runs: list[dict[Hashable, float]] = []
        self._origins: dict[Hashable, tuple[tuple[str, str], ...]] = {}
        self._notes: dict[Hashable, str] = {}

    def start_run(self) -> None:
        """Begins a run: what follows is of it."""
        self._runs.append({})

    def of_kernels(self, graph: Hashable) -> OnKernel | None:
        """Returns the timer of the kernels of a graph from now on; None inside of an operation that is measured."""
        if self._is_inside:
            return None
        last = time.perf_counter()

        def on_kernel(node: str, origins: tuple[tuple[str, str], ...]) -> None:
            nonlocal last
            now = time.perf_counter()
            if node:
                self._add((graph, node), origins, now - last)
            last = time.perf_counter()

        return on_kernel

    @contextmanager
    def of_operation(self, op: Operation) -> Generator[None]:
        """Measures an operation."""
        if self._is_inside:
            yield
            return
        self._is_inside = True
        start = time.perf_counter()
        try:
            yield
        finally:
            self._is_inside = False
        value = next((v.name for v in op.results if v.name), "")
        self._notes[op] = "block by block" if op.regions else "not compiled"
        self._add(op, ((op.name, value),), time.perf_counter() - start)

    def _add(self, key: Hashable, origins: tuple[tuple[str, str], ...], seconds: float) -> None:
        self._origins[key] = origins
        self._runs[-1][key] = self._runs[-1].get(key, 0.0) + seconds

    def operation_times(self) -> tuple[OperationTime, ...]:
        """Returns the times, in the order of the first run."""
        out: list[OperationTime] = []
        for key, origins in self._origins.items():
            seconds = [run[key] for run in self._runs if key in run]
            operations = " + ".join(dict.fromkeys([operation for operation, _ in origins]))
            value = origins[-1][1] if origins else ""
            note = self._notes.get(key, "")
            out.append(OperationTime(value, operations, value, median(seconds), min(seconds), 0, origins, note))
        return tuple(out)
