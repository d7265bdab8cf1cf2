"""Forwards what is stored to a global to the loads after it, and drops stores that another one overwrites unread.

Blocks are looked at one by one: what a global holds where a block begins is not known, and what it holds where it ends
may be read by anyone. A call reads and writes what the function it leads to does, and so on. Works in place, on any
program with globals. Source: MLIR, pass `mlprogram-pipeline-globals`.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonir.dialects.mlir.ml_program import Global, GlobalLoad, GlobalLoadGraph, GlobalStore, GlobalUse
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Op, traits
from commonir.passes.call_cycles import in_cycles
from commonir.passes.symbols import Symbols


class Touched:
    """The globals that an operation reads and those that it writes, None for all of them, and what it calls."""

    __slots__ = ("called", "read", "written")

    def __init__(self) -> None:
        self.read: set[Global] | None = set()
        self.written: set[Global] | None = set()
        self.called: dict[Function, None] = {}

    def add(self, other: Touched) -> None:
        """Does what another does, too."""
        self.read = None if self.read is None or other.read is None else self.read | other.read
        self.written = None if self.written is None or other.written is None else self.written | other.written
        self.called |= other.called


def pipeline_globals(module: Module) -> int:
    """Removes loads and stores that need not happen; how many went."""
    work = _Pipelining(module)
    removed = 0
    for op in list(module.nested()):
        is_ordered = not isinstance(op, Module) and not (isinstance(op, Op) and op.has_trait(traits.GraphRegion))
        removed += sum(work.pipeline(block) for region in op.regions for block in region.blocks if is_ordered)
    return removed


class _Pipelining:
    """One run of the pass."""

    def __init__(self, module: Module) -> None:
        self._symbols = Symbols(module)
        self._targets: dict[Operation, Global] = {}
        self._touched = self._by_operation(module)
        self._functions = self._by_function()

    def _by_operation(self, module: Module) -> Mapping[Operation, Touched]:
        """Returns the globals that each operation touches with its regions, without calls."""
        result: dict[Operation, Touched] = {}
        for op in reversed(list(module.walk())):
            own = self._own(op)
            if own is not None:
                result.setdefault(op, Touched()).add(own)
            holder = op.parent_op
            if op in result and holder is not None and not isinstance(op, Function):
                result.setdefault(holder, Touched()).add(result[op])
        return result

    def _own(self, op: Operation) -> Touched | None:
        """Returns the globals that an operation itself touches; None for none."""
        if isinstance(op, GlobalUse):
            target = next((g for g in self._symbols.along(op, op.global_) if isinstance(g, Global)), None)
            if target is not None:
                self._targets[op] = target
                out = Touched()
                is_load = not op.operands or isinstance(op, GlobalLoadGraph)
                (out.read, out.written) = ({target}, set()) if is_load else (set(), {target})
                return out
        if isinstance(op, Function) or (isinstance(op, Op) and op.has_trait(traits.Pure)):
            return None
        called = [f for f in self._symbols.referred(op) if isinstance(f, Function)]
        if not called:
            return None
        out = Touched()
        out.called = dict.fromkeys(called)
        return out

    def _by_function(self) -> Mapping[Function, Touched]:
        """Returns the globals that each function touches with its callees; those of a declaration are unknown."""
        functions = [f for f in self._symbols if isinstance(f, Function)]
        calls = {f: list(self._touched[f].called) if f in self._touched else [] for f in functions}
        result: dict[Function, Touched] = {}
        for cycle in in_cycles(functions, calls):
            together = Touched()
            for f in cycle:
                if f.is_declaration:
                    together.read = together.written = None
                elif f in self._touched:
                    together.add(self._touched[f])
                for callee in calls[f]:
                    if callee in result:
                        together.add(result[callee])
            result |= dict.fromkeys(cycle, together)
        return result

    def pipeline(self, block: Block) -> int:
        """Removes loads and stores of a block that need not happen; how many went."""
        content: dict[Global, Value] = {}
        unread: dict[Global, GlobalStore] = {}
        removed = 0
        for op in block.operations:
            target = self._targets.get(op)
            if isinstance(op, GlobalLoad | GlobalStore) and target is not None:
                removed += _access(op, target, content, unread)
                continue
            for touched in self._all_touched(op):
                for g in list(content) if touched.written is None else touched.written:
                    content.pop(g, None)
                    # Who writes may do so only sometimes, so that what was stored before may still be read.
                    unread.pop(g, None)
                for g in list(unread) if touched.read is None else touched.read:
                    unread.pop(g, None)
        return removed

    def _all_touched(self, op: Operation) -> list[Touched]:
        own = self._touched.get(op)
        return [] if own is None else [own, *[self._functions[f] for f in own.called]]


def _access(
    op: GlobalLoad | GlobalStore, target: Global, values: dict[Global, Value], unread: dict[Global, GlobalStore]
) -> int:
    """One load or store; how many operations it made needless, which are gone then."""
    if isinstance(op, GlobalStore):
        overwritten = unread.get(target)
        values[target], unread[target] = op.value, op
        if overwritten is None:
            return 0
        overwritten.erase()
        return 1
    known = values.setdefault(target, op.results[0])
    if known is op.results[0] or known.type is not op.results[0].type:
        unread.pop(target, None)
        return 0
    op.results[0].replace_all_uses_with(known)
    op.erase()
    return 1
