"""Sparse conditional constant propagation: replaces values that are the same constant in all executions.

Branches, regions and calls are followed only if they may be taken; block arguments, regions and functions have the
values of all paths that may be taken. Works on programs of any dialect, in place; branches stay. Source: Wegman and
Zadeck, Constant Propagation with Conditional Branches, 1991; MLIR, pass `sccp`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum, auto

from commonir.base.tuples import NamedTuple
from commonir.ir.data import Data, FileData
from commonir.ir.module import Function, Invocation, Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ods import Dialects, Op, traits
from commonir.ods.branching import Branch, RegionBranch, RegionSuccessor
from commonir.ods.effects import is_unneeded
from commonir.passes.fold_to_constants import build_constant, constant_definitions
from commonir.passes.folding import Folder
from commonir.passes.simplify import Evaluate
from commonir.passes.symbols import Symbols
from commonir.rewrite.constants import ConstantPool

_COMPARED_BYTES = 1 << 12
"""Constants up to this size are compared by contents; larger ones are taken to differ."""


class _Varies(Enum):
    VARIES = auto()


_VARIES = _Varies.VARIES


class _Constant(NamedTuple):
    """The constant contents of a value, and the operation whose dialect builds constants of it."""

    data: Data
    origin: type[Op]


_LatticeValue = _Constant | _Varies


def propagate_constants(root: Operation, evaluate: Evaluate, dialects: Dialects) -> int:
    """Replaces values that are always the same constant; returns their number."""
    return _Replacement(_Analysis(root, Folder(evaluate, dialects)).lattice, dialects).run(root)


class _Analysis:
    """The lattice of the values of a program. A value without an entry is not computed on any path seen so far."""

    def __init__(self, root: Operation, folder: Folder) -> None:
        self.lattice: dict[Value, _LatticeValue] = {}
        self._folder = folder
        self._symbols = Symbols(root)
        self._reached: set[Block] = set()
        self._blocks: list[Block] = []
        self._changed: list[Value] = []
        self._calls: dict[Function, list[Operation]] = {}
        self._ends: dict[Function, list[Operation]] = {}
        self._open = self._functions_with_unknown_calls(root)
        self._enter_all(root)
        self._settle()

    def _functions_with_unknown_calls(self, root: Operation) -> set[Function]:
        result = {f for f in self._symbols if isinstance(f, Function) and not self._symbols.is_private(f)}
        for op in root.walk():
            if not isinstance(op, Invocation):
                result.update(f for f in self._symbols.referred(op) if isinstance(f, Function))
        return result

    def _settle(self) -> None:
        while self._blocks or self._changed:
            if self._blocks:
                for op in self._blocks.pop().operations:
                    self._visit(op)
                continue
            for user in self._changed.pop().users:
                if user.parent in self._reached:
                    self._visit(user)

    def _visit(self, op: Operation) -> None:
        if isinstance(op, Function):
            if op in self._open:
                self._enter_all(op)
            return
        if isinstance(op, RegionBranch):
            self._follow(op, op.entry_successors(self._data))
        elif isinstance(op, Invocation):
            self._call(op)
        else:
            if op.regions:
                self._enter_all(op)
            if op.results:
                self._compute(op)
        if op.successors:
            self._branch(op)
        elif isinstance(op, Op) and op.has_trait(traits.Terminator):
            self._leave(op)

    # -- where control goes

    def _enter_all(self, op: Operation) -> None:
        """Marks all regions of an operation as reachable any number of times."""
        for region in op.regions:
            for block in region.blocks[:1] if isinstance(op, Op | Module) else region.blocks:
                for v in block.arguments:
                    self._meet(v, _VARIES)
                self._reach(block)

    def _reach(self, block: Block) -> None:
        if block not in self._reached:
            self._reached.add(block)
            self._blocks.append(block)

    def _branch(self, op: Operation) -> None:
        numbers: Iterable[int] = range(len(op.successors))
        if isinstance(op, Branch):
            if any(v not in self.lattice for v in op.selector_operands()):
                return
            successor = op.taken_successor(self._data)
            numbers = numbers if successor is None else (successor,)
        for n in numbers:
            target = op.successors[n]
            self._pass(op.successor_operands(n) if isinstance(op, Branch) else (), target.arguments)
            self._reach(target)

    def _follow(self, op: Operation, ways: Iterable[RegionSuccessor]) -> None:
        for way in ways:
            if way.target is None:
                self._pass(way.values, op.results)
                continue
            blocks = op.regions[way.target].blocks
            if blocks:
                self._pass(way.values, blocks[0].arguments)
                self._reach(blocks[0])

    def _leave(self, op: Operation) -> None:
        """Propagates the operands of a terminator to the parent operation of its region."""
        region = None if op.parent is None else op.parent.parent
        holder = None if region is None else region.parent
        if isinstance(holder, RegionBranch):
            self._follow(holder, holder.region_successors(holder.regions.index(region), op, self._data))
        elif isinstance(holder, Function):
            ends = self._ends.setdefault(holder, [])
            if op not in ends:
                ends.append(op)
            for call in self._calls.get(holder, ()):
                self._pass(op.operands, call.results)

    def _call(self, op: Operation) -> None:
        called = self._symbols.called(op) if isinstance(op, Invocation) else None
        entry = called.regions[0].blocks[:1] if called is not None and called.regions else []
        if called is None or not entry or len(entry[0].arguments) != len(op.operands):
            for v in op.results:
                self._meet(v, _VARIES)
            return
        if called not in self._open:
            self._pass(op.operands, entry[0].arguments)
            self._reach(entry[0])
        calls = self._calls.setdefault(called, [])
        if op not in calls:
            calls.append(op)
        for end in self._ends.get(called, ()):
            self._pass(end.operands, op.results)

    # -- what values are

    def _data(self, value: Value) -> Data | None:
        result = self.lattice.get(value)
        return result.data if isinstance(result, _Constant) else None

    def _pass(self, values: Sequence[Value], targets: Sequence[Value]) -> None:
        """Propagates values to the last of some targets; the targets before them vary."""
        first = len(targets) - len(values)
        for n, target in enumerate(targets):
            result = self.lattice.get(values[n - first]) if n - first >= 0 else _VARIES
            if result is not None:
                self._meet(target, result)

    def _compute(self, op: Operation) -> None:
        if not isinstance(op, Op) or op.regions:
            result = None
        elif op.has_trait(traits.ConstantLike):
            data = op.constant_data()
            result = None if data is None else [_Constant(data, type(op))]
        else:
            if any(v not in self.lattice for v in op.operands):
                return
            result = self._folded(op)
        for n, v in enumerate(op.results):
            self._meet(v, _VARIES if result is None else result[n])

    def _folded(self, op: Op) -> list[_LatticeValue] | None:
        results = self._folder.fold(op, [self._data(v) for v in op.operands])
        if results is None:
            return None
        return [
            self.lattice.get(r, _VARIES) if isinstance(r, Value) else _VARIES if r is None else _Constant(r, type(op))
            for r in results
        ]

    def _meet(self, value: Value, now: _LatticeValue) -> None:
        before = self.lattice.get(value)
        if before is _VARIES or (before is not None and _are_equal(before, now)):
            return
        self.lattice[value] = now if before is None else _VARIES
        self._changed.append(value)


class _Replacement:
    """Replaces known values by constants."""

    def __init__(self, lattice: dict[Value, _LatticeValue], dialects: Dialects) -> None:
        self._lattice = lattice
        self._dialects = dialects
        self._pool = ConstantPool()
        self._replaced = 0

    def run(self, root: Operation) -> int:
        """Replaces values in an operation; returns their number."""
        pending = _blocks_reversed(root.regions)
        while pending:
            block = pending.pop()
            for op in block.operations:
                replaced = [self._replace(r, op) for r in op.results]
                if replaced and all(replaced) and is_unneeded(op):
                    op.erase()
                else:
                    pending += _blocks_reversed(op.regions)
            for argument in block.arguments:
                if block.first is not None:
                    self._replace(argument, block.first)
        return self._replaced

    def _replace(self, value: Value, near: Operation) -> bool:
        built = self._constant(value)
        if built is None:
            return False
        constant = self._pool.place(built, near)
        self._replaced += value.is_used
        value.replace_all_uses_with(constant)
        return True

    def _constant(self, value: Value) -> Op | None:
        """Returns a constant operation for a value; a copy if the value is a constant already."""
        owner = value.owner
        if isinstance(owner, Op) and owner.has_trait(traits.ConstantLike) and not (owner.discardable or owner.operands):
            return owner.clone_shallow((), ())
        constant = self._lattice.get(value)
        if not isinstance(constant, _Constant):
            return None
        result = build_constant(constant_definitions(constant.origin, self._dialects), constant.data, value.type)
        return result.owner if result is not None and isinstance(result.owner, Op) else None


def _blocks_reversed(regions: Iterable[Region]) -> list[Block]:
    return [block for region in regions for block in reversed(region.blocks)]


def _are_equal(first: _LatticeValue, second: _LatticeValue) -> bool:
    if not isinstance(first, _Constant) or not isinstance(second, _Constant):
        return first is second
    a, b = first.data, second.data
    if a is b:
        return True
    if a.type is not b.type or isinstance(a, FileData) or isinstance(b, FileData):
        return False
    return a.size_bytes <= _COMPARED_BYTES and a.contents() == b.contents()
