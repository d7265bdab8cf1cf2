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
                out[c.limit] = 1 + largest(c.most, self._program, out)
        return None if any(largest(d, self._program, out) > MAX_ELEMENTS for d in self._program.counts) else out

    def enlarge(self) -> None:
        """Doubles the limits of sizes that nothing bounds."""
        self._limits = {name: 2 * n for name, n in self._limits.items()}
        self._known.clear()


def changes(shape: Sequence[Dim], program: CompiledProgram) -> bool:
    """Returns whether sizes depend on some that change."""
    if not program.changing:
        return False
    from commonir.symbolic import symbols  # noqa: PLC0415  as above

    changing = {c.symbol for c in program.changing}
    return any(s in changing for d in shape for s in symbols(d))


def largest(dim: Dim, program: CompiledProgram, dims: Mapping[str, int]) -> int:
    """Returns the value of an expression of sizes, or a bound of it for all values of those that change."""
    if isinstance(dim, int):
        return dim
    from commonir.symbolic import evaluate, extreme, index, substitute, symbols  # noqa: PLC0415  as above

    used = symbols(dim)
    changing = [c for c in program.changing if c.symbol in used]
    if not changing:
        return evaluate(dim, dims)
    values: dict[str, Dim] = {s: dims[s] for s in used}
    bound = extreme(
        substitute(dim, {**values, **{c.symbol: index(c.symbol) for c in changing}}),
        {c.symbol: dims[c.limit] for c in changing},
        upper=True,
    )
    assert isinstance(bound, int), "all symbols have a value or a limit"
    return bound
