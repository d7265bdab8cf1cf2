"""Finds a small part of a function for which a condition still holds, such as that a tool fails on it.

The search cuts with `extract`: first the end (the condition still holds for all operations up to one), then the
beginning, then it drops outputs, and last turns single operations into inputs. Each candidate is tried once, in an
order that depends on the program only. A part that cannot be cut out is not tried.

Bisection assumes that the condition holds for all parts that have the operations at fault. The linear search assumes
nothing, and tries the ends and the beginnings one after another, smallest parts first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from commonir.base.diagnostics import DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.comparing.piecewise import is_constant
from commonir.inspection.faults.isolating import sized
from commonir.ir.lookup import named_values
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation, Value
from commonir.ods import Op, traits
from commonir.passes.extract import extract

Array = NDArray[np.generic]


class Mode(Enum):
    """How ends and beginnings are searched."""

    BISECT = "bisect"
    LINEAR = "linear"


class Part(NamedTuple):
    """A part of the program with values of its inputs, those that could be computed."""

    module: Module
    inputs: Mapping[str, Array]
    operations: tuple[str, ...]


Condition = Callable[[Module, Mapping[str, Array]], bool]
Values = Callable[[Sequence[str]], Mapping[str, Array]]


class Reducer:
    """A search; `best` is the smallest part so far for which the condition holds, `runs` counts the trials."""

    def __init__(
        self,
        module: Module,
        holds: Condition,
        values: Values,
        *,
        function: str | None = None,
        on_progress: Callable[[str], None] = lambda _: None,
        on_smaller: Callable[[Part], object] = lambda _: None,
    ) -> None:
        """`values` computes values inside by name; it leaves out what it cannot compute."""
        self.runs = 0
        self.best: Part | None = None
        self._module, self._holds, self._values = module, holds, values
        self._function = module.function(function)
        self._on_progress, self._on_smaller = on_progress, on_smaller
        self._names = {v: n for n, v in reversed(named_values(self._function).items())}
        self._operations = counted_operations(self._function)
        self._tried: dict[tuple[tuple[str, ...], tuple[str, ...]], bool] = {}

    @property
    def count(self) -> int:
        """The number of operations, without constants."""
        return len(self._operations)

    def run(self, mode: Mode) -> Part | None:
        """Searches and returns the smallest part; None if the condition does not hold for the whole program."""
        self._on_progress("trying the whole program")
        inputs = tuple([n for v in self._function.inputs if (n := self._names.get(v))])
        self.runs += 1
        whole = Part(self._module, self._values(inputs), self._listed(self._operations))
        if not self._holds(whole.module, whole.inputs):
            return None
        self.best = whole
        last = self._first_true(lambda n: self._try(0, n), self.count - 1, mode)
        first = last - self._first_true(lambda n: self._try(last - n, last), last, mode)
        sources, targets = self._ends(first, last)
        targets = self._fewer_targets(sources, targets)
        self._fewer_operations(sources, targets)
        return self.best

    def _first_true(self, holds: Callable[[int], bool], known: int, mode: Mode) -> int:
        """Returns the smallest number up to a known one for which something holds."""
        if mode is Mode.LINEAR:
            return next((n for n in range(known) if holds(n)), known)
        low, high = 0, known
        while low < high:
            middle = (low + high) // 2
            if holds(middle):
                high = middle
            else:
                low = middle + 1
        return high

    def _ends(self, first: int, last: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Returns the inputs and outputs of consecutive operations."""
        inside = self._operations[first : last + 1]
        results = {v for op in inside for v in op.results}
        used = dict.fromkeys(v for op in inside for v in op.values_used if v not in results and not is_constant(v))
        later = {v for op in self._operations[last + 1 :] for v in op.values_used}
        returned = {*self._function.outputs}
        made = [v for op in inside for v in op.results if v in later or v in returned]
        # Results that nothing uses are the reason to keep an operation where there are no others.
        made = made or list(inside[-1].results)
        return self._named(used), self._named(made)

    def _named(self, values: Sequence[Value] | Mapping[Value, None]) -> tuple[str, ...]:
        return tuple([self._names[v] for v in values if v in self._names])

    def _try(self, first: int, last: int) -> bool:
        return self._try_part(*self._ends(first, last))

    def _try_part(self, sources: tuple[str, ...], targets: tuple[str, ...]) -> bool:
        """Returns whether the condition holds for a part, and keeps it if it is the smallest so far."""
        key = sources, targets
        if key not in self._tried:
            self._tried[key] = self._is_smaller(sources, targets)
        return self._tried[key]

    def _is_smaller(self, sources: tuple[str, ...], targets: tuple[str, ...]) -> bool:
        arrays = self._values(sources)
        module = self._cut(sources, targets)
        if module is None:
            return False
        operations = counted_operations(module.main)
        self.runs += 1
        self._on_progress(f"run {self.runs}: {len(operations)} of {self.count} operations")
        inputs = {v.name: arrays[v.name] for v in module.main.inputs if v.name in arrays}
        missing = [v.name for v in module.main.inputs if v.name not in inputs]
        inputs |= self._values(missing) if missing else {}
        if not self._holds(module, inputs):
            return False
        if self.best is None or len(operations) <= len(self.best.operations):
            self.best = Part(module, inputs, self._listed(operations))
            self._on_smaller(self.best)
        return True

    def _cut(self, sources: Sequence[str], targets: Sequence[str]) -> Module | None:
        name = self._function.symbol_name
        try:
            return extract(self._module, sources, targets, function=name)
        except DiagnosticError:
            pass
        try:
            # Sizes that no input of the part has are those of the inputs of the whole.
            inputs = self._values(tuple([v.name for v in self._function.inputs]))
            return extract(sized(self._module, name, inputs), sources, targets, function=name)
        except DiagnosticError:
            return None

    def _fewer_targets(self, sources: tuple[str, ...], targets: tuple[str, ...]) -> tuple[str, ...]:
        for target in targets if len(targets) > 1 else ():
            if self._try_part(self._needed(sources, (target,)), (target,)):
                return (target,)
        for target in targets[:-1]:
            fewer = tuple([t for t in targets if t != target])
            if self._try_part(self._needed(sources, fewer), fewer):
                targets = fewer
        return targets

    def _needed(self, sources: Sequence[str], targets: Sequence[str]) -> tuple[str, ...]:
        """Returns the sources from which targets are computed."""
        return self._reached(set(sources), targets)[0]

    def _reached(self, sources: set[str], targets: Sequence[str]) -> tuple[tuple[str, ...], list[Operation]]:
        """Returns the sources and the operations from which targets are computed, in program order."""
        values = {n: v for v, n in self._names.items()}
        pending, used, operations = [values[t] for t in targets], set[str](), set[Operation]()
        while pending:
            value = pending.pop()
            name = self._names.get(value, "")
            owner = value.owner
            if name in sources and name not in targets:
                used.add(name)
            elif isinstance(owner, Operation) and owner not in operations:
                operations.add(owner)
                pending += owner.values_used
        ordered = [op for op in self._operations if op in operations]
        return tuple([n for n in self._names.values() if n in used]), ordered

    def _fewer_operations(self, sources: tuple[str, ...], targets: tuple[str, ...]) -> None:
        """Turns the results of single operations into inputs, those next to the targets first."""
        for op in reversed(self._reached(set(sources), targets)[1]):
            kept, inside = self._reached(set(sources), targets)
            results = self._named(op.results)
            if op not in inside or len(inside) == 1 or set(results) & set(targets):
                continue
            candidate = self._needed((*kept, *results), targets)
            if self._try_part(candidate, targets):
                sources = candidate

    def _listed(self, operations: Sequence[Operation]) -> tuple[str, ...]:
        return tuple([_described(op) for op in operations])


def _described(op: Operation) -> str:
    node = f" of node '{op.source_name}'" if op.source_name and op.source_name != op.first_name else ""
    return f"{op.name} '{op.first_name}'{node}" if op.first_name else f"{op.name}{node}"


def planned_runs(count: int, mode: Mode) -> int:
    """Returns how many trials find the end and the beginning among some operations at most, with the first one on the
    whole program. Dropping outputs and single operations of what is found takes one more for each.

    Example:
        >>> planned_runs(161, Mode.BISECT), planned_runs(161, Mode.LINEAR)
        (17, 323)
    """
    return 1 + (2 * ceil(log2(max(count, 1))) if mode is Mode.BISECT else 2 * count)


def counted_operations(function: Function) -> list[Operation]:
    """Returns the operations in the body of a function, without constants and its end."""

    def is_counted(op: Operation) -> bool:
        return not (isinstance(op, Op) and (op.has_trait(traits.Terminator) or op.has_trait(traits.ConstantLike)))

    return [op for op in function.body.operations if is_counted(op)]
