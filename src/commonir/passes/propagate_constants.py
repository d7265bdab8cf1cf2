"""Sparse conditional constant propagation: what is the same constant whenever it is computed becomes that constant.

Follows branches only where they may be taken, and what blocks receive over all ways that are taken. Works on the
functions of programs of any dialect, in place; operations that become constants stay until something removes them.
Source: Wegman and Zadeck, Constant Propagation with Conditional Branches, 1991; MLIR, pass `sccp`.
"""

from __future__ import annotations

from enum import Enum, auto

from commonir.ir.data import Data, FileData
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ods import Dialects, Op, traits
from commonir.ods.branching import Branch
from commonir.passes.fold_to_constants import computed, constant_makers, held, is_computed
from commonir.passes.simplify import Evaluate
from commonir.rewrite.constants import ConstantPool

_COMPARED_BYTES = 1 << 12
"""Constants up to this size are compared by contents; larger ones are taken to differ."""


class _Varies(Enum):
    VARIES = auto()


_VARIES = _Varies.VARIES
Known = Data | _Varies


def propagate_constants(root: Operation, evaluate: Evaluate, dialects: Dialects) -> int:
    """Puts constants in the place of values that are always the same; how many values."""
    replaced = 0
    for op in [root, *root.walk()]:
        if isinstance(op, Op) and op.has_trait(traits.IsolatedFromAbove):
            for region in op.regions:
                replaced += _Analysis(region, evaluate).replace(dialects)
    return replaced


class _Analysis:
    """What is known of the values of one region and of those nested in it."""

    def __init__(self, region: Region, evaluate: Evaluate) -> None:
        self.region = region
        self.evaluate = evaluate
        self.known: dict[Value, Known] = {}
        self.reached: set[Block] = set()
        self.edges: set[tuple[Block, int]] = set()
        self.blocks: list[Block] = []
        self.changed: list[Value] = []
        if region.blocks:
            self._enter(region.blocks[0])
        self._settle()

    def _enter(self, block: Block) -> None:
        """The first block of a region: what it receives comes from outside."""
        for v in block.arguments:
            self._meet(v, _VARIES)
        self._reach(block)

    def _reach(self, block: Block) -> None:
        if block not in self.reached:
            self.reached.add(block)
            self.blocks.append(block)

    def _settle(self) -> None:
        while self.blocks or self.changed:
            if self.blocks:
                for op in self.blocks.pop().operations:
                    self._visit(op)
                continue
            for user in self.changed.pop().users:
                if user.parent in self.reached:
                    self._visit(user)

    def _visit(self, op: Operation) -> None:
        if op.regions:
            # What runs in it, and how often, only the operation knows.
            for v in op.results:
                self._meet(v, _VARIES)
            if not (isinstance(op, Op) and op.has_trait(traits.IsolatedFromAbove)):
                for region in op.regions:
                    for block in region.blocks:
                        self._enter(block)
            return
        if op.successors:
            self._branch(op)
        if op.results:
            self._compute(op)

    def _branch(self, op: Operation) -> None:
        block = op.parent
        numbers = range(len(op.successors))
        if isinstance(op, Branch):
            if any(v not in self.known for v in op.operands[:1]) and op.operands:
                return
            taken = op.taken(self._data)
            numbers = numbers if taken is None else (taken,)
        for n in numbers:
            target = op.successors[n]
            given = op.passed(n) if isinstance(op, Branch) else None
            for k, argument in enumerate(target.arguments):
                value = _VARIES if given is None or k >= len(given) else self.known.get(given[k])
                if value is not None:
                    self._meet(argument, value)
            if block is not None:
                self.edges.add((block, n))
            self._reach(target)

    def _data(self, value: Value) -> Data | None:
        found = self.known.get(value)
        return found if isinstance(found, Data) else None

    def _compute(self, op: Operation) -> None:
        found = self._results(op)
        for n, v in enumerate(op.results):
            self._meet(v, _VARIES if found is None else found[n])

    def _results(self, op: Operation) -> list[Known] | None:
        if not isinstance(op, Op):
            return None
        constant = op.constant_data() if op.has_trait(traits.ConstantLike) else None
        if constant is not None:
            return [constant]
        operands = [d for v in op.operands if (d := self._data(v)) is not None]
        if not operands or len(operands) < len(op.operands) or not is_computed(type(op)):
            return None
        data = computed(op, operands, self.evaluate)
        return None if data is None else list(data)

    def _meet(self, value: Value, now: Known) -> None:
        before = self.known.get(value)
        if before is _VARIES or (before is not None and _are_equal(before, now)):
            return
        self.known[value] = now if before is None else _VARIES
        self.changed.append(value)

    def replace(self, dialects: Dialects) -> int:
        """Puts constants where values are known; how many values."""
        pool = ConstantPool()
        replaced = 0
        for value, known in self.known.items():
            if not isinstance(known, Data) or not value.is_used:
                continue
            owner = value.owner
            if isinstance(owner, Op) and owner.has_trait(traits.ConstantLike):
                continue
            made = self._constant(value, known, dialects)
            if made is not None:
                value.replace_all_uses_with(pool.place(made, _near(value)))
                replaced += 1
        return replaced

    def _constant(self, value: Value, data: Data, dialects: Dialects) -> Op | None:
        """A constant of the dialect that computes a value, or of one that computes with it."""
        owner = value.owner
        makers = [owner] if isinstance(owner, Op) else [u for u in value.users if isinstance(u, Op)]
        makers += [op for op in self._constants if op.results[0].type is value.type]
        found = (held(constant_makers(type(op), dialects), data, value.type) for op in makers)
        return next((made.owner for made in found if made is not None and isinstance(made.owner, Op)), None)

    @property
    def _constants(self) -> list[Op]:
        return [v.owner for v in self.known if isinstance(v.owner, Op) and v.owner.has_trait(traits.ConstantLike)]


def _near(value: Value) -> Operation:
    owner = value.owner
    if isinstance(owner, Operation):
        return owner
    first = None if owner is None else owner.first
    if first is None:
        raise ValueError("a block without operations uses nothing")
    return first


def _are_equal(first: Known, second: Known) -> bool:
    if first is second:
        return True
    if not isinstance(first, Data) or not isinstance(second, Data):
        return False
    if first.element is not second.element or first.shape != second.shape or isinstance(first, FileData):
        return False
    return first.size_bytes <= _COMPARED_BYTES and repr(first.values()) == repr(second.values())


__all__ = ["propagate_constants"]
