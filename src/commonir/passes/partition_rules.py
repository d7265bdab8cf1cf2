"""Rules about operations that take parts of tensors and put parts together: slices, splits and concatenations.

All of them are exact: elements are moved in fewer steps, or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Op
from commonir.ods.operand_shapes import ranked_shape
from commonir.ods.rules import Editor
from commonir.passes.core_forms import CoreForm, CoreWriter, core_form, form_of_all_results, is_tensor, shared_form

_MOST_OPERANDS = 64
"""Slices and splits are compared with the operands of concatenations of up to this many."""


class _Part(NamedTuple):
    """Consecutive positions of a tensor along one axis."""

    of: Value
    axis: int
    start: int
    stop: int


def _sliced_part(form: CoreForm) -> _Part | None:
    """Returns the part that a slice takes, if it cuts one axis of a known size and skips no element in between."""
    op = form.op
    if not isinstance(op, core.Slice) or not is_tensor(form.x):
        return None
    part: _Part | None = None
    for axis, (size, a, b, step) in enumerate(zip(ranked_shape(form.x), op.starts, op.stops, op.steps, strict=True)):
        if (a, b, step) == (0, size, 1):
            continue
        if part is not None or step != 1 or not (isinstance(size, int) and isinstance(a, int) and isinstance(b, int)):
            return None
        taken = range(size)[a:b]
        part = _Part(form.x, axis, taken.start, max(taken.start, taken.stop))
    return part


def _split_parts(form: CoreForm) -> list[_Part] | None:
    """Returns the parts that a split into known sizes gives."""
    op = form.op
    if not isinstance(op, core.Split) or not is_tensor(form.x):
        return None
    axis, start, parts = op.axis % len(ranked_shape(form.x)), 0, list[_Part]()
    for size in op.sizes:
        if not isinstance(size, int):
            return None
        parts.append(_Part(form.x, axis, start, start + size))
        start += size
    return parts


# -- one split instead of slices


class SlicesToSplit:
    """Slices that together are all of a tensor, along one axis, become one split. Tensors are examined once."""

    def __init__(self) -> None:
        self._examined: set[Value] = set()

    def __call__(self, op: Op, form: CoreForm, writer: CoreWriter) -> Editor | None:
        """Replaces a slice, and the others of its tensor; returns None if there is nothing to do."""
        x = form.x
        if x in self._examined:
            return None
        self._examined.add(x)
        by_axis: dict[int, dict[int, tuple[_Part, Op]]] = {}
        for user in dict.fromkeys(x.users):
            part = self._slice_of(x, user, op.parent)
            if part is not None and isinstance(user, Op):
                by_axis.setdefault(part.axis, {}).setdefault(part.start, (part, user))
        for axis, by_start in by_axis.items():
            parts = sorted([p for p, _ in by_start.values()], key=lambda p: p.start)
            if len(parts) > 1 and _covers(parts, ranked_shape(x)[axis]):
                return _split(x, parts, [by_start[p.start][1] for p in parts], writer)
        return None

    @staticmethod
    def _slice_of(x: Value, user: Operation, block: Block | None) -> _Part | None:
        if user.parent is not block or not is_tensor(user.results[0] if user.results else x):
            return None
        form = core_form(user)
        is_slice = form is not None and isinstance(form.op, core.Slice) and form.x is x
        part = _sliced_part(form) if form is not None and is_slice else None
        return part if part is not None and part.stop > part.start else None


def _covers(parts: Sequence[_Part], size: object) -> bool:
    """Returns whether consecutive parts are all of an axis."""
    stops = [0, *[p.stop for p in parts]]
    return [p.start for p in parts] == stops[:-1] and stops[-1] == size


def _split(x: Value, parts: Sequence[_Part], slices: Sequence[Op], writer: CoreWriter) -> Editor | None:
    block = slices[0].parent
    owner = x.owner
    first = owner.next if isinstance(owner, Operation) else block.first if block is not None else None
    if first is None or first.parent is not block:
        return None
    pieces = core.split(x, parts[0].axis, tuple([p.stop - p.start for p in parts]))
    written = writer.all_written(pieces, 1, slices[0])
    if written is None:
        return None
    editor = Editor()
    for built in written.operations:
        editor.insert(built, first)
        built.location = slices[0].location
    for old, new in zip(slices, written.values, strict=True):
        new.retype(old.results[0].type)
        editor.replace(old, (new, *old.results[1:]))
    return editor


# -- parts that are put together again


def concatenated_parts(form: CoreForm, result: Value) -> Value | None:
    """Consecutive parts of a tensor that are put together again are the tensor, or one slice of it."""
    assert isinstance(form.op, core.Concat)
    (values,) = form.operands
    assert isinstance(values, tuple)
    rank = len(ranked_shape(result))
    axis = form.op.axis % rank if rank else 0
    finder = _PartFinder()
    merged: list[tuple[Value, _Part | None]] = []
    for v in values:
        part = finder.part_of(v)
        last = merged[-1][1] if merged else None
        if part is None or part.axis != axis:
            merged.append((v, None))
        elif last is not None and last.of is part.of and last.stop == part.start:
            merged[-1] = (v, last._replace(stop=part.stop))
        else:
            merged.append((v, part))
    whole = [p.of if p is not None and _covers([p], ranked_shape(p.of)[axis]) else None for _, p in merged]
    if len(merged) == 1:
        part = merged[0][1]
        if whole[0] is not None or part is None or len(values) == 1:
            return whole[0]
        # The parts that are put together must not be needed otherwise.
        return _slice(part) if finder.are_free(values) else None
    if len(merged) == len(values) or not any(whole):
        return None
    # Parts of a tensor that remain are put together one by one.
    out: list[Value] = []
    remaining = iter(values)
    for (last, _), x in zip(merged, whole, strict=True):
        run = [next(remaining)]
        while run[-1] is not last:
            run.append(next(remaining))
        out += run if x is None else [x]
    return core.concat(tuple(out), form.op.axis) if len(out) < len(values) else None


class _PartFinder:
    """Finds the parts that values are, with each operation examined once."""

    def __init__(self) -> None:
        self._parts: dict[Operation, list[_Part] | None] = {}

    def part_of(self, value: Value) -> _Part | None:
        """Returns the part of a tensor that a value is."""
        owner = value.owner
        if not isinstance(owner, Operation):
            return None
        if owner not in self._parts:
            form = form_of_all_results(owner)
            part = None if form is None or len(owner.results) != 1 else _sliced_part(form)
            parts = None if form is None else _split_parts(form)
            self._parts[owner] = [part] if part is not None else parts
        parts = self._parts[owner]
        return None if parts is None or value.index >= len(parts) else parts[value.index]

    def are_free(self, values: Sequence[Value]) -> bool:
        """Returns whether the operations that compute values have no other users than one."""
        used = {u for op in self._parts for r in op.results for u in r.users}
        return len(used) == 1 and all(len(v.users) == 1 for v in values)


def _slice(part: _Part) -> Value:
    sizes = [n for n in ranked_shape(part.of) if n is not None]
    starts = tuple([part.start if a == part.axis else 0 for a in range(len(sizes))])
    stops = tuple([part.stop if a == part.axis else n for a, n in enumerate(sizes)])
    return core.slice_(part.of, starts, stops, (1,) * len(sizes))


def _operand_parts(x: Value) -> list[tuple[_Part, Value]] | None:
    """Returns the parts of a concatenation that its operands are."""
    form = shared_form(x, core.Concat)
    if form is None or not isinstance(form.op, core.Concat) or not isinstance(form.operands[0], tuple):
        return None
    values = form.operands[0]
    if len(values) > _MOST_OPERANDS or not is_tensor(x) or not all(map(is_tensor, values)):
        return None
    axis, start, out = form.op.axis % len(ranked_shape(x)), 0, list[tuple[_Part, Value]]()
    for v in values:
        size = ranked_shape(v)[axis]
        if not isinstance(size, int):
            return None
        out.append((_Part(x, axis, start, start + size), v))
        start += size
    return out


def slice_of_operand(form: CoreForm, result: Value) -> Value | None:
    """A slice of a concatenation that lies within one operand is a slice of this one, or the operand."""
    part = _sliced_part(form)
    parts = None if part is None else _operand_parts(part.of)
    for (_, axis, start, stop), v in parts or ():
        if part is None or part.axis != axis or not start <= part.start < part.stop <= stop:
            continue
        if (part.start, part.stop) == (start, stop):
            return v if v.type is result.type else None
        return _slice(_Part(v, axis, part.start - start, part.stop - start))
    return None


def split_of_operands(op: Op, form: CoreForm) -> Editor | None:
    """The parts of a split that are operands of the concatenation before it are these operands."""
    parts = _split_parts(form)
    if not parts:
        return None
    operands = {(p.axis, p.start, p.stop): v for p, v in _operand_parts(form.x) or ()}
    editor = Editor()
    is_changed = False
    for r, part in zip(op.results, parts, strict=True):
        v = operands.get(part[1:])
        if v is not None and v.type is r.type and r.is_used:
            editor.replace_uses(r, v)
            is_changed = True
    return editor if is_changed else None
