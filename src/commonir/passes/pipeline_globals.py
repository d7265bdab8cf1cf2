"""Forwards what is stored to a global to the loads after it, and drops stores that another one overwrites unread.

Blocks are looked at one by one: what a global holds where a block begins is not known, and what it holds where it ends
may be read by anyone. A call reads and writes what the function it leads to does, and so on. Works in place, on any
program with globals. Source: MLIR, pass `mlprogram-pipeline-globals`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from commonir.dialects.ml_program import Global, GlobalLoad, GlobalLoadGraph, GlobalStore, GlobalUse
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Op, traits
from commonir.passes.remove_unused_symbols import references_in


class Touched(NamedTuple):
    """The globals that an operation reads and those that it writes, None for all of them."""

    read: frozenset[Global] | None
    written: frozenset[Global] | None


_NOTHING = Touched(frozenset(), frozenset())
_EVERYTHING = Touched(None, None)


def pipeline_globals(module: Module) -> int:
    """Removes loads and stores that need not happen; how many went."""
    touched = _touched_by_functions(module)
    removed = 0
    for op in module.nested():
        for region in op.regions:
            if not isinstance(op, Op) or not op.has_trait(traits.GraphRegion):
                removed += sum(_pipeline(block, touched) for block in region.blocks if not isinstance(op, Module))
    return removed


def _pipeline(block: Block, touched: Mapping[Operation, Touched]) -> int:
    held: dict[Global, Value] = {}
    unread: dict[Global, GlobalStore] = {}
    removed = 0
    op = block.first
    while op is not None:
        following = op.next
        if isinstance(op, GlobalLoad | GlobalStore) and op.target is not None:
            removed += _access(op, op.target, held, unread)
        else:
            effects = _effects(op, touched)
            for target in list(held) if effects.written is None else effects.written:
                held.pop(target, None)
                # Who writes may do so only sometimes, so that what was stored before may still be read.
                unread.pop(target, None)
            for target in list(unread) if effects.read is None else effects.read:
                unread.pop(target, None)
        op = following
    return removed


def _access(
    op: GlobalLoad | GlobalStore, target: Global, held: dict[Global, Value], unread: dict[Global, GlobalStore]
) -> int:
    """One load or store; how many operations it made needless, which are gone then."""
    if isinstance(op, GlobalStore):
        overwritten = unread.get(target)
        held[target], unread[target] = op.value, op
        if overwritten is None:
            return 0
        overwritten.erase()
        return 1
    known = held.setdefault(target, op.results[0])
    if known is op.results[0] or known.type is not op.results[0].type:
        unread.pop(target, None)
        return 0
    op.results[0].replace_all_uses_with(known)
    op.erase()
    return 1


def _effects(op: Operation, touched: Mapping[Operation, Touched]) -> Touched:
    """What an operation does to globals, with everything that is in it and in the functions that it calls."""
    parts: list[Touched] = []
    for inner in op.walk():
        if isinstance(inner, GlobalUse) and inner.target is not None:
            only = frozenset({inner.target})
            is_load = not inner.operands or isinstance(inner, GlobalLoadGraph)
            parts.append(Touched(only, frozenset()) if is_load else Touched(frozenset(), only))
        elif isinstance(inner, Op) and inner.has_trait(traits.Pure):
            continue
        else:
            called = _called(inner)
            parts += [touched.get(f, _EVERYTHING) for f in called]
    return _together(parts)


def _called(op: Operation) -> list[Function]:
    """The functions that attributes of an operation refer to."""
    holders = [a for a in op.ancestors() if isinstance(a, Module)]
    out: list[Function] = []
    for path in references_in(op.attribute_dictionary.values()):
        for holder in holders:
            found = holder.symbols.get(path[-1])
            if found is not None:
                out += [found] if isinstance(found, Function) else []
                break
    return out


def _together(parts: list[Touched]) -> Touched:
    read: frozenset[Global] | None = frozenset()
    written: frozenset[Global] | None = frozenset()
    for part in parts:
        read = None if read is None or part.read is None else read | part.read
        written = None if written is None or part.written is None else written | part.written
    return Touched(read, written)


def _touched_by_functions(module: Module) -> dict[Operation, Touched]:
    """What each function does to globals; what a declaration does is not known."""
    functions = [op for op in module.nested() if isinstance(op, Function)]
    found: dict[Operation, Touched] = {f: _EVERYTHING if f.is_declaration else _NOTHING for f in functions}
    changed = True
    while changed:
        changed = False
        for f in functions:
            now = found[f] if f.is_declaration else _effects(f, found)
            if now != found[f]:
                found[f], changed = now, True
    return found


__all__ = ["pipeline_globals"]
