"""Removes unneeded region-carried values of an operation.

It applies to all definitions with known control flow whose last operands are forwarded.

Source: MLIR, canonicalization patterns of operations that branch into their regions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from commonir.base.tuples import NamedTuple
from commonir.ir.data import Data
from commonir.ir.operation import Operation, Region, Value
from commonir.ir.types import Type
from commonir.ods.branching import RegionBranch
from commonir.ods.fields import FieldKind
from commonir.ods.operation import Op
from commonir.ods.rules import Editor


class _Edge(NamedTuple):
    """An edge of control flow: the last operands of an operation become results, or arguments of a block."""

    end: Op
    values: tuple[Value, ...]
    inputs: tuple[Value, ...]


def _nothing(_: Value) -> Data | None:
    return None


def _edges(op: Op) -> list[_Edge]:
    """Returns all edges into, between and out of the regions of an operation; none where they are not known."""
    if not isinstance(op, RegionBranch):
        return []
    successors = [(op, edge) for edge in op.entry_successors(_nothing)]
    for n, region in enumerate(op.regions):
        for block in region.blocks:
            last = block.last
            if not isinstance(last, Op):
                return []
            if not last.successors:
                successors += [(last, edge) for edge in op.region_successors(n, last, _nothing)]
    out: list[_Edge] = []
    for end, (target, values) in successors:
        inputs = op.results if target is None else op.regions[target].block.arguments if values else ()
        # An edge without values, to a target that expects some, is not taken.
        if values and len(values) <= len(inputs):
            out.append(_Edge(end, values, inputs[len(inputs) - len(values) :]))
    return out if all(end.operands[-len(values) :] == values for end, values, _ in out) else []


def replace_by_entry_values(op: Op, editor: Editor) -> bool:
    """Replaces region arguments that always equal one value defined before the operation by that value."""
    sources: dict[Value, list[Value]] = defaultdict(list)
    readers: dict[Value, list[Value]] = defaultdict(list)
    for _, values, inputs in _edges(op):
        for value, received in zip(values, inputs, strict=True):
            sources[received].append(value)
            readers[value].append(received)
    changed = False
    for received, value in _only_origins(sources, readers).items():
        if value is not None and received.is_used and not _is_inside(value, op):
            editor.replace_uses(received, value)
            editor.touch(op)
            changed = True
    return changed


def _only_origins(
    sources: Mapping[Value, Sequence[Value]], readers: Mapping[Value, Sequence[Value]]
) -> dict[Value, Value | None]:
    """Returns for each received value its only origin; None if there are several."""
    result: dict[Value, Value | None] = {}
    pending = [(received, value) for value in readers if value not in sources for received in readers[value]]
    worklist: list[tuple[Value, Value | None]] = [*pending]
    while worklist:
        received, value = worklist.pop()
        if received in result and (result[received] is value or result[received] is None):
            continue
        result[received] = None if received in result else value
        worklist += [(next_, result[received]) for next_ in readers.get(received, ())]
    return result


def _is_inside(value: Value, op: Operation) -> bool:
    """Returns whether a value is defined by an operation or in its regions."""
    owner = value.owner
    if owner is op:
        return True
    block = owner.parent if isinstance(owner, Operation) else owner
    while block is not None and block.parent is not None:
        parent = block.parent.parent
        if parent is op:
            return True
        block = None if parent is None else parent.parent
    return False


def merge_equal_values(op: Op, editor: Editor) -> bool:
    """Merges region-carried values that are always equal."""
    positions: dict[Value, list[Value]] = defaultdict(list)
    for _, values, inputs in _edges(op):
        for value, received in zip(values, inputs, strict=True):
            positions[received].append(value)
    first: dict[tuple[object, ...], Value] = {}
    changed = False
    for received, values in positions.items():
        same = first.setdefault((received.owner, *values), received)
        if same is not received and received.is_used:
            editor.replace_uses(received, same)
            editor.touch(op)
            changed = True
    return changed


def drop_unused_values(op: Op, editor: Editor) -> bool:
    """Drops region-carried values without uses in any region."""
    edges = _edges(op)
    groups = _Groups()
    for end, values, inputs in edges:
        first = len(end.operands) - len(values)
        for n, received in enumerate(inputs):
            groups.join(received, (end, first + n))
    received = dict.fromkeys([v for edge in edges for v in edge.inputs])
    used = {groups.of(v) for v in received if v.is_used}
    dead = {v for v in received if groups.of(v) not in used}

    def remaining_operands(end: Op) -> list[int]:
        return [n for n in range(len(end.operands)) if not groups.has((end, n)) or groups.of((end, n)) in used]

    if not dead:
        return False
    ends = dict.fromkeys([edge.end for edge in edges if edge.end is not op])
    for end in ends:
        remaining = remaining_operands(end)
        if len(remaining) < len(end.operands):
            editor.substitute(end, _with_less(end, remaining, [r.type for r in end.results]))
    for region in op.regions:
        for block in region.blocks[:1]:
            block.keep_arguments([n for n, a in enumerate(block.arguments) if a not in dead])
    results = [r for r in op.results if r not in dead]
    built = _with_less(op, remaining_operands(op), [r.type for r in results])
    editor.insert(built, op)
    for old, new in zip(results, built.results, strict=True):
        editor.replace_uses(old, new)
    editor.erase(op)
    return True


class _Groups:
    """A union-find of items."""

    def __init__(self) -> None:
        self._parents: dict[Hashable, Hashable] = {}

    def has(self, item: Hashable) -> bool:
        return item in self._parents

    def of(self, item: Hashable) -> Hashable:
        """Returns the representative of an item's group."""
        parents = self._parents
        while (parent := parents.setdefault(item, item)) != item:
            parents[item] = item = parents[parent]
        return item

    def join(self, a: Hashable, b: Hashable) -> None:
        self._parents[self.of(a)] = self.of(b)


def _with_less(op: Op, remaining: Sequence[int], types: Sequence[Type]) -> Op:
    """Returns the operation with only the `remaining` ones of its last operands, and with its regions."""
    arguments: dict[str, Any] = {f.name: op.field_value(f) for f in op.layout.arguments}
    for field in op.layout.arguments:
        if field.kind is FieldKind.REGION:
            values = arguments[field.name]
            arguments[field.name] = tuple([r.take() for r in values]) if field.variadic else _taken(values)
    dropped = len(op.operands) - len(remaining)
    if dropped:
        name = op.layout.inputs[-1].name
        count = len(arguments[name]) - dropped
        arguments[name] = tuple([op.operands[n] for n in remaining[len(remaining) - count :]])
    result = type(op).build(arguments, types)
    result.update_extra(op.extra)
    return result


def _taken(region: Region | None) -> Region | None:
    return None if region is None else region.take()


REGION_CARRIED_VALUES = (replace_by_entry_values, merge_equal_values, drop_unused_values)
"""The rules for operations that branch into their regions."""
