"""Limits of sizes that change while a program runs, such as the length of a sequence that a loop appends to.

Memory is laid out for the limits. Code stops where a size reaches its limit; the run is then repeated with larger
ones, which later runs begin with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from commonir.native.program import CompiledProgram
from commonir.runtime.kernel_graph.buffers import MAX_ELEMENTS

if TYPE_CHECKING:
    from commonir.symbolic import Dim

Ranges = Mapping[str, tuple[int, int]]
"""The least and the largest value of each symbol."""

LEAST_LIMIT = 64
"""The first limit of a size that begins small."""

MAX_KNOWN = 64
"""The sets of sizes for which limits are kept."""

MAX_LIMIT = 1 << 20
"""The largest limit of a size that nothing bounds: products of three sizes and a number have 64 bits."""


class SizeLimits:
    """The limits of a program for its next run."""

    def __init__(self, program: CompiledProgram) -> None:
        self._program = program
        self._limits = {c.limit: LEAST_LIMIT for c in program.changing if c.most is None}
        self._known: dict[tuple[int | None, ...], dict[str, int] | None] = {}

    def sizes(self, dims: Mapping[str, int]) -> dict[str, int] | None:
        """Returns values for all symbols, of which those that change have none yet; None if they become too large."""
        key = tuple([dims.get(s) for s in self._program.symbols])
        if key not in self._known:
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known[key] = self._sizes_for(dims)
        return self._known[key]

    def _sizes_for(self, dims: Mapping[str, int]) -> dict[str, int] | None:
        from commonir.symbolic import evaluate, symbols  # noqa: PLC0415  only programs of unknown sizes need it

        for c in self._program.changing:
            if c.most is None and all(s in dims for s in symbols(c.initial)):
                first = evaluate(c.initial, dims)
                while self._limits[c.limit] <= first + first // 2:
                    self._limits[c.limit] *= 2
        if any(n > MAX_LIMIT for n in self._limits.values()):
            return None
        out = {**dims, **{c.symbol: 0 for c in self._program.changing}, **self._limits}
        for c in self._program.changing:
            if c.most is not None:
                out[c.limit] = 1 + largest(c.most, ranges_of(self._program, out))
        ranges = ranges_of(self._program, out)
        return None if any(largest(d, ranges) > MAX_ELEMENTS for d in self._program.counts) else out

    def enlarge(self) -> bool:
        """Doubles the limits of sizes that nothing bounds; returns whether there are such."""
        self._limits = {name: 2 * n for name, n in self._limits.items()}
        self._known.clear()
        return bool(self._limits)


def changes(shape: Sequence[Dim], program: CompiledProgram) -> bool:
    """Returns whether sizes depend on some that change."""
    if not program.changing:
        return False
    from commonir.symbolic import symbols  # noqa: PLC0415  as above

    changing = {c.symbol for c in program.changing}
    return any(s in changing for d in shape for s in symbols(d))


def ranges_of(program: CompiledProgram, dims: Mapping[str, int], *, least: int | None = None) -> Ranges:
    """Returns the values of symbols, or all that they may have: those that change those below their limits.

    Others may be between `least` and the given value, if it is not None.
    """
    out = {name: (size if least is None else least, size) for name, size in dims.items()}
    return {**out, **{c.symbol: (0, dims[c.limit] - 1) for c in program.changing if c.limit in dims}}


def largest(dim: Dim, ranges: Ranges) -> int:
    """Returns a bound of an expression of sizes."""
    if isinstance(dim, int):
        return dim
    from commonir.symbolic import range_within  # noqa: PLC0415  as above

    return range_within(dim, ranges)[1]


def with_room(size: int) -> int:
    """Returns a size that is up to a quarter larger, but 16 at least, the same for many sizes."""
    step = max(16, 1 << max(size.bit_length() - 3, 0))
    return -(-size // step) * step
