"""Forwards values stored to globals to later loads, and removes stores that are overwritten without being read.

Blocks are handled separately: the contents of a global at the start of a block are unknown, and may be read after its
end. A call reads and writes what its callees do. Works in place, on any program with globals. Source: MLIR, pass
`mlprogram-pipeline-globals`.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonir.dialects.mlir.ml_program import Global, GlobalLoad, GlobalLoadGraph, GlobalStore, GlobalUse
from commonir.ir.call_graph import in_cycles
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Op, traits
from commonir.passes.symbols import Symbols


class GlobalAccesses:
    """The globals that an operation reads and writes, None for all of them, and the functions that it calls."""

    __slots__ = ("called", "read", "written")

    def __init__(self) -> None:
        self.read: set[Global] | None = set()
        self.written: set[Global] | None = set()
        self.called: dict[Function, None] = {}

    def add(self, other: GlobalAccesses) -> None:
        """Adds the accesses of another operation."""
        self.read = None if self.read is None or other.read is None else self.read | other.read
        self.written = None if self.written is None or other.written is None else self.written | other.written
        self.called |= other.called


def pipeline_globals(module: Module) -> int:
    """Removes unnecessary loads and stores; returns their number."""
    pipelining = _Pipelining(module)
    removed = 0
    for op in list(module.nested()):
        is_ordered = not isinstance(op, Module) and not (isinstance(op, Op) and op.has_trait(traits.GraphRegion))
        removed += sum(pipelining.pipeline(block) for region in op.regions for block in region.blocks if is_ordered)
    return removed


class _Pipelining:
    """One run of the pass."""

    def __init__(self, module: Module) -> None:
        self._symbols = Symbols(module)
        self._targets: dict[Operation, Global] = {}
        self._accesses = self._by_operation(module)
        self._functions = self._by_function()

    def _by_operation(self, module: Module) -> Mapping[Operation, GlobalAccesses]:
        """Returns the globals that each operation accesses, with its regions, without calls."""
        result: dict[Operation, GlobalAccesses] = {}
        for op in reversed(list(module.walk())):
            direct = self._direct_accesses(op)
            if direct is not None:
                result.setdefault(op, GlobalAccesses()).add(direct)
            holder = op.parent_op
            if op in result and holder is not None and not isinstance(op, Function):
                result.setdefault(holder, GlobalAccesses()).add(result[op])
        return result

    def _direct_accesses(self, op: Operation) -> GlobalAccesses | None:
        """Returns the globals that an operation itself accesses; None if there are none."""
        if isinstance(op, GlobalUse):
            target = next((g for g in self._symbols.along(op, op.global_) if isinstance(g, Global)), None)
            if target is not None:
                self._targets[op] = target
                out = GlobalAccesses()
                is_load = not op.operands or isinstance(op, GlobalLoadGraph)
                (out.read, out.written) = ({target}, set()) if is_load else (set(), {target})
                return out
        if isinstance(op, Function) or (isinstance(op, Op) and op.has_trait(traits.Pure)):
            return None
        called = [f for f in self._symbols.referred(op) if isinstance(f, Function)]
        if not called:
            return None
        out = GlobalAccesses()
        out.called = dict.fromkeys(called)
        return out

    def _by_function(self) -> Mapping[Function, GlobalAccesses]:
        """Returns the globals that each function accesses, with its callees; those of a declaration are unknown."""
        functions = [f for f in self._symbols if isinstance(f, Function)]
        calls = {f: list(self._accesses[f].called) if f in self._accesses else [] for f in functions}
        result: dict[Function, GlobalAccesses] = {}
        for cycle in in_cycles(functions, calls):
            together = GlobalAccesses()
            for f in cycle:
                if f.is_declaration:
                    together.read = together.written = None
                elif f in self._accesses:
                    together.add(self._accesses[f])
                for callee in calls[f]:
                    if callee in result:
                        together.add(result[callee])
            result |= dict.fromkeys(cycle, together)
        return result

    def pipeline(self, block: Block) -> int:
        """Removes unnecessary loads and stores of a block; returns their number."""
        content: dict[Global, Value] = {}
        unread: dict[Global, GlobalStore] = {}
        removed = 0
        for op in block.operations:
            target = self._targets.get(op)
            if isinstance(op, GlobalLoad | GlobalStore) and target is not None:
                removed += _access(op, target, content, unread)
                continue
            for accesses in self._all_accesses(op):
                for g in list(content) if accesses.written is None else accesses.written:
                    content.pop(g, None)
                    # Who writes may do so only sometimes, so that what was stored before may still be read.
                    unread.pop(g, None)
                for g in list(unread) if accesses.read is None else accesses.read:
                    unread.pop(g, None)
        return removed

    def _all_accesses(self, op: Operation) -> list[GlobalAccesses]:
        accesses = self._accesses.get(op)
        return [] if accesses is None else [accesses, *[self._functions[f] for f in accesses.called]]


def _access(
    op: GlobalLoad | GlobalStore, target: Global, values: dict[Global, Value], unread: dict[Global, GlobalStore]
) -> int:
    """Handles a load or store; returns the number of operations that it made unnecessary and that were removed."""
    if isinstance(op, GlobalStore):
        overwritten = unread.get(target)
        values[target], unread[target] = op.value, op
        if overwritten is None:
            return 0
        overwritten.erase()
        return 1
    value = values.setdefault(target, op.results[0])
    if value is op.results[0] or value.type is not op.results[0].type:
        unread.pop(target, None)
        return 0
    op.results[0].replace_all_uses_with(value)
    op.erase()
    return 1
