"""Parts of a program that threads share: ranges of its steps, and loops whose rounds they go through together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonir.native.control_code import Structure
from commonir.native.kernels.work_units import points_of
from commonir.native.program import KernelCall
from commonir.runtime.kernel_graph.control import Loop, Part, parts_in, walk_parts
from commonir.runtime.kernel_graph.graph import KernelGraph
from commonir.symbolic import Dim

LOOP_SHARED_COST = 1 << 18
"""The cost from which on steps in a loop are shared by threads, which meet before and after them in each round."""


class SharedParts:
    """The parts of a program that threads share, from the costs of its calls."""

    def __init__(self, calls: Sequence[KernelCall], structure: Structure) -> None:
        self._calls = calls
        self._structure = structure
        self.loops = list(self._loops_in(structure.program.parts))

    def has_steps(self, steps: range, depth: int) -> bool:
        """Returns whether threads share a range of steps that has so many loops around it."""
        return self._cost(steps) >= (LOOP_SHARED_COST if depth > 0 else 1)

    def rounds(self) -> list[Dim]:
        """Returns how often threads share each call in a run; a loop that depends on data has one round here."""
        out: list[Dim] = [0] * len(self._calls)
        self._count(self._structure.program.parts, 1, 0, out, is_shared=False)
        return out

    def _count(self, parts: Sequence[Part], rounds: Dim, depth: int, out: list[Dim], *, is_shared: bool) -> None:
        for part in parts:
            if isinstance(part, KernelGraph):
                steps = self._structure.steps[part]
                if is_shared or self.has_steps(steps, depth):
                    out[steps.start : steps.stop] = [rounds] * len(steps)
                continue
            inside = rounds * part.length if isinstance(part, Loop) and not part.condition else rounds
            together = is_shared or part in self.loops
            self._count(parts_in(part), inside, depth + isinstance(part, Loop), out, is_shared=together)

    def _loops_in(self, parts: Sequence[Part]) -> Iterator[Loop]:
        """Yields the loops that threads go through together, but for those in them."""
        for part in parts:
            if isinstance(part, Loop) and self._has_loop(part):
                yield part
            else:
                yield from self._loops_in(parts_in(part))

    def _has_loop(self, loop: Loop) -> bool:
        """Returns whether threads go through all rounds of a loop together: they are counted, and of some cost.

        Only loops with a condition have sizes that change.
        """
        inside = list(walk_parts([loop]))
        if any(not isinstance(p, KernelGraph) and (not isinstance(p, Loop) or p.condition) for p in inside):
            return False
        return (
            sum([self._cost(self._structure.steps[p]) for p in inside if isinstance(p, KernelGraph)])
            >= LOOP_SHARED_COST
        )

    def _cost(self, steps: range) -> int:
        """Returns the cost of steps whose work is divided."""
        calls = [c for c in self._calls[steps.start : steps.stop] if c.units != 1]
        return sum([points_of([c.units]) * c.unit_cost for c in calls])
