"""The call graph of a program: functions in the order of calls, cycles, and the operations that calls stand for.

Each function is visited once, however often it is called. Source of the order: Tarjan, Depth-First Search and Linear
Graph Algorithms, 1972.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from commonir.base.diagnostics import DiagnosticError
from commonir.base.limits import DEFAULT_LIMITS
from commonir.ir.module import Invocation, Symbol, too_many_inlined
from commonir.ir.operation import Operation

_F = TypeVar("_F", bound=Operation)

_SHORT_CYCLE = 16
"""The most functions of a cycle that each report it."""

_SHOWN = 16
"""The functions of a cycle that a message names."""

_FEW = 2_000
"""So many operations may be inlined in any program, however small."""

_MOST_FOR_EACH = 8
"""How many times the operations of a program may be inlined while each function still has a copy of all it calls."""


class CallGraph:
    """The functions that some functions reach by calls; `called_by` returns the one that an operation calls."""

    def __init__(
        self, roots: Iterable[Operation], called_by: Callable[[Operation], Operation | None] | None = None
    ) -> None:
        called_by = invoked_by if called_by is None else called_by
        self._roots = tuple(roots)
        self._calls: dict[Operation, list[Operation]] = {}
        self._own: dict[Operation, int] = {}
        pending = list(self._roots)
        while pending:
            at = pending.pop()
            if at in self._calls:
                continue
            called = self._calls[at] = []
            self._own[at] = 0
            for op in at.walk():
                # What ends a block is not copied, nor is the function itself.
                self._own[at] += op is not at and op.next is not None
                function = called_by(op)
                called += [] if function is None else [function]
            pending += [f for f in dict.fromkeys(called) if f not in self._calls]
        self._components = list(in_cycles(self._calls, self._calls))

    def in_order(self) -> list[Operation]:
        """Returns the functions, callees before callers."""
        return [f for component in self._components for f in component]

    def cycles(self) -> Iterator[list[Operation]]:
        """Yields the functions of each cycle, each calling the next, and the last one the first."""
        for component in self._components:
            first = component[0]
            if len(component) > 1 or first in self._calls[first]:
                yield self._path_back(first, set(component))

    def _path_back(self, start: Operation, within: set[Operation]) -> list[Operation]:
        before: dict[Operation, Operation] = {}
        pending = [start]
        for at in pending:
            for called in self._calls[at]:
                if called is start:
                    path = [at]
                    while path[-1] is not start:
                        path.append(before[path[-1]])
                    return path[::-1]
                if called in within and called not in before:
                    before[called] = at
                    pending.append(called)
        return [start]

    def inlined_counts(self) -> Mapping[Operation, int]:
        """Returns the number of operations of each function with those that its calls stand for; those of a cycle
        count once.
        """
        out: dict[Operation, int] = {}
        for component in self._components:
            counts = {f: self._own[f] + sum([out.get(c, 0) for c in self._calls[f]]) for f in component}
            out |= counts
        return out

    def called(self) -> set[Operation]:
        """Returns the functions that others call."""
        return {f for called in self._calls.values() for f in called}

    def are_few(self) -> bool:
        """Returns whether the calls of the roots stand for few operations together, compared with those of the program.

        In a chain of functions, each stands for all that follow, and together they stand for a quadratic number.
        """
        few = max(_FEW, _MOST_FOR_EACH * sum(self._own.values()))
        return sum(self._added().values()) <= min(few, DEFAULT_LIMITS.max_inlined_operations)

    def check_count(self) -> None:
        """Checks how many operations the calls of the roots stand for together.

        Raises: DiagnosticError (E0303) when they are too many.
        """
        added = self._added()
        if sum(added.values()) > DEFAULT_LIMITS.max_inlined_operations:
            raise DiagnosticError(too_many_inlined(_name_of(max(added, key=lambda f: added[f]))))

    def _added(self) -> Mapping[Operation, int]:
        """Returns the number of operations that the calls of each root stand for."""
        counts = self.inlined_counts()
        return {f: counts[f] - self._own[f] for f in self._roots}


class Cycles:
    """The cycles of functions of a program, which are found once for all of them."""

    def __init__(self) -> None:
        self._cycles: dict[Operation, list[Operation]] | None = None

    def through(self, function: Operation, functions: Callable[[], Iterable[Operation]]) -> list[Operation]:
        """Returns the cycle through one of some functions, from it; nothing where there is none.

        Of a long cycle, only the first function has it.
        """
        if self._cycles is None:
            self._cycles = {}
            for cycle in CallGraph(functions()).cycles():
                for n, f in enumerate(cycle if len(cycle) <= _SHORT_CYCLE else cycle[:1]):
                    self._cycles[f] = [*cycle[n:], *cycle[:n]]
        return self._cycles.get(function, [])


def _name_of(function: Operation) -> str:
    return function.symbol_name if isinstance(function, Symbol) else function.name


def invoked_by(op: Operation) -> Operation | None:
    """Returns the function that an operation runs, as the program has it; None if there is none."""
    try:
        return op.definition if isinstance(op, Invocation) else None
    except DiagnosticError:  # reported where it runs
        return None


def cycle_text(functions: Sequence[Operation]) -> str:
    """Returns the names of the functions of a cycle: `f -> g -> f`."""
    names = [_name_of(f) for f in functions]
    if len(names) > _SHOWN:
        names[_SHOWN - 1 :] = [f"{len(names) - _SHOWN + 1:,} more"]
    return " -> ".join([*names, _name_of(functions[0])])


def in_cycles(functions: Iterable[_F], calls: Mapping[_F, Sequence[_F]]) -> Iterator[list[_F]]:
    """Yields the strongly connected components of the call graph, callees first."""
    number: dict[_F, int] = {}
    lowest: dict[_F, int] = {}
    open_functions: dict[_F, None] = {}
    for start in functions:
        if start in number:
            continue
        pending = [(start, iter(calls.get(start, ())))]
        number[start] = lowest[start] = len(number)
        open_functions[start] = None
        while pending:
            current, following = pending[-1]
            called = next(following, None)
            if called is None:
                pending.pop()
                if pending:
                    lowest[pending[-1][0]] = min(lowest[pending[-1][0]], lowest[current])
                if lowest[current] == number[current]:
                    yield _closed(current, open_functions)
            elif called not in number:
                number[called] = lowest[called] = len(number)
                open_functions[called] = None
                pending.append((called, iter(calls.get(called, ()))))
            elif called in open_functions:
                lowest[current] = min(lowest[current], number[called])


def _closed(root: _F, open_functions: dict[_F, None]) -> list[_F]:
    out: list[_F] = []
    while not out or out[-1] is not root:
        last = next(reversed(open_functions))
        del open_functions[last]
        out.append(last)
    return out[::-1]
