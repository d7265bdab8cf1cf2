"""Removes symbols that nothing can refer to: private ones to which no reference leads from what stays.

Works on programs of any dialect, in place. Source: MLIR, pass `symbol-dce`.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.passes.symbols import Symbols, name_of


def remove_unused_symbols(root: Module) -> int:
    """Removes unused symbols of a module and of those in it; how many went.

    A symbol stays when something outside may refer to it, or something that stays does.
    """
    symbols = Symbols(root)
    # What is outside of any symbol but the modules around it is looked at with them.
    live: set[Operation] = {root, *[s for s in symbols if not symbols.is_private(s)]}
    pending = [s for s in (root, *symbols) if s in live]
    while pending:
        for target in _referred(pending.pop(), symbols):
            if target not in live:
                live.add(target)
                pending.append(target)
    gone = [s for s in symbols if s not in live]
    for symbol in gone:
        symbol.detach()
    return len(gone)


def _referred(op: Operation, symbols: Symbols) -> Iterator[Operation]:
    """The symbols to which references lead from an operation and from what is in it, symbols in it left out."""
    pending = [op]
    while pending:
        at = pending.pop()
        yield from symbols.referred(at)
        for region in at.regions:
            for block in region.blocks:
                pending += [c for c in block.operations if not name_of(c)]


__all__ = ["remove_unused_symbols"]
