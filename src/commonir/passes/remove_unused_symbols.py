"""Removes unused symbols: private ones that nothing refers to, except from other unused symbols.

Works on programs of any dialect, in place. Source: MLIR, pass `symbol-dce`.
"""

from __future__ import annotations

from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.passes.symbols import Symbols


def remove_unused_symbols(root: Module) -> int:
    """Removes unused symbols of a module and of nested ones; returns their number."""
    symbols = Symbols(root)
    referred = symbols.references()
    # What is outside of any symbol but the modules around it is looked at with them.
    live: set[Operation] = {root, *[s for s in symbols if not symbols.is_private(s)]}
    pending = list(live)
    while pending:
        for target in referred.get(pending.pop(), ()):
            if target not in live:
                live.add(target)
                pending.append(target)
    unused = [s for s in symbols if s not in live]
    for symbol in unused:
        symbol.detach()
    return len(unused)
