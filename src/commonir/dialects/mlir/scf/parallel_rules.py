"""Simpler forms of the loops of the scf dialect whose rounds may run in any order.

Source: MLIR scf dialect, canonicalization patterns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonir.dialects.mlir.scf.parallel import Forall, InParallel, Parallel, Reduce, mixed
from commonir.ir.operation import Operation, Value
from commonir.ir.types import DYNAMIC
from commonir.ods import Op, known_integer
from commonir.ods.rules import Editor, Simplification


def _number(value: int | Value) -> int | None:
    return value if isinstance(value, int) else known_integer(value)


def _rounds(low: int | Value, high: int | Value, step: int | Value) -> int | None:
    """Returns the trip count of an axis; None where it is not known."""
    first, end, width = _number(low), _number(high), _number(step)
    if low is high or (first is not None and end is not None and first >= end):
        return 0
    if first is None or end is None or width is None or width <= 0:
        return None
    return -((first - end) // width)


def _changed(op: Forall | Parallel, fields: Mapping[str, object], kept: Sequence[int], editor: Editor) -> Op:
    """Puts an operation with other fields before one, with its region and some of its results."""
    arguments = {f.name: op.field_value(f) for f in op.layout.arguments}
    result = type(op).build({**arguments, **fields, "region": op.region.take()}, [op.results[n].type for n in kept])
    result.update_extra(op.extra)
    editor.insert(result, op)
    return result


# -- scf.parallel


def _no_rounds(op: Parallel, editor: Editor) -> bool:
    """Removes a parallel loop without iterations."""
    if all(_rounds(*bounds) != 0 for bounds in zip(op.lowerBound, op.upperBound, op.step, strict=True)):
        return False
    editor.replace(op, op.initVals)
    return True


def _one_round(op: Parallel, editor: Editor) -> bool:
    """Replaces the induction variables of axes with one iteration by constants."""
    bounds = list(zip(op.lowerBound, op.upperBound, op.step, strict=True))
    kept = [n for n, each in enumerate(bounds) if _rounds(*each) != 1]
    last = op.region.block.last
    if len(kept) == len(bounds) or not isinstance(last, Reduce):
        return False
    if not kept:
        return _inlined(op, last, editor)
    for n, position in enumerate(op.region.block.arguments):
        if n not in kept:
            editor.replace_uses(position, op.lowerBound[n])
    op.region.block.keep_arguments(kept)
    names = ("lowerBound", "upperBound", "step")
    fields = {name: tuple([bounds[n][place] for n in kept]) for place, name in enumerate(names)}
    built = _changed(op, fields, range(len(op.results)), editor)
    editor.replace(op, built.results)
    return True


def _inlined(op: Parallel, last: Reduce, editor: Editor) -> bool:
    """Puts the only round of a loop in its place."""
    reductions = [region.take() for region in last.reductions]
    given = editor.inline(op.region.block, op, op.lowerBound)
    values: list[Value] = []
    for region, before, value in zip(reductions, op.initVals, given, strict=True):
        values += editor.inline(region.block, op, (before, value))
    editor.replace(op, values)
    return True


def _merged(op: Parallel, editor: Editor) -> bool:
    """Merges a parallel loop that is all of the body of another one into it."""
    block = op.region.block
    inner = block.first
    if not isinstance(inner, Parallel) or inner.next is not block.last or op.initVals or inner.initVals:
        return False
    given = {*inner.lowerBound, *inner.upperBound, *inner.step}
    if any(a in given for a in block.arguments):
        return False
    outer = block.arguments
    inside = inner.region.block
    arguments = inside.add_arguments([a.type for a in outer])
    count = len(inside.arguments) - len(outer)
    inside.keep_arguments([*range(count, count + len(outer)), *range(count)])
    for old, new in zip(outer, arguments, strict=True):
        editor.replace_uses(old, new)
    fields = {
        "lowerBound": (*op.lowerBound, *inner.lowerBound),
        "upperBound": (*op.upperBound, *inner.upperBound),
        "step": (*op.step, *inner.step),
    }
    built = Parallel.build({**fields, "region": inner.region.take()}, ())
    return editor.substitute(op, built)


# -- scf.forall

_BOUNDS = ("LowerBound", "UpperBound", "Step")


def _fields_of(bounds: Sequence[Sequence[int | Value]]) -> dict[str, object]:
    """Lower bounds, upper bounds and steps as fields hold them."""
    fields: dict[str, object] = {}
    for name, given in zip(_BOUNDS, bounds, strict=True):
        fields[f"dynamic{name}"] = tuple([n for n in given if isinstance(n, Value)])
        fields[f"static{name}"] = tuple([n if isinstance(n, int) else DYNAMIC for n in given])
    return fields


def _bounds_of(op: Forall) -> list[list[int | Value]]:
    return [
        mixed(op.staticLowerBound, op.dynamicLowerBound),
        mixed(op.staticUpperBound, op.dynamicUpperBound),
        mixed(op.staticStep, op.dynamicStep),
    ]


def _known_bounds(op: Forall, editor: Editor) -> bool:
    """Makes constant bounds and steps static."""
    bounds = _bounds_of(op)
    reported = [[n if (known := _number(n)) is None else known for n in given] for given in bounds]
    if reported == bounds:
        return False
    built = _changed(op, _fields_of(reported), range(len(op.results)), editor)
    editor.replace(op, built.results)
    return True


def _few_positions(op: Forall, editor: Editor) -> bool:
    """Removes a parallel loop without iterations, or axes with one iteration."""
    if op.mapping is not None:
        return False
    axes = op.bounds
    rounds = [_rounds(*axis) for axis in axes]
    if 0 in rounds:
        editor.replace(op, op.outputs)
        return True
    kept = [n for n, count in enumerate(rounds) if count != 1]
    if not kept or len(kept) == len(axes):
        return False
    block = op.region.block
    for n, axis in enumerate(axes):
        low = axis[0]
        position = low if isinstance(low, Value) else editor.index_constant(low, op) if n not in kept else None
        if n not in kept:
            if position is None:
                return False
            editor.replace_uses(block.arguments[n], position)
    block.keep_arguments([*kept, *range(len(axes), len(block.arguments))])
    bounds = [[given[n] for n in kept] for given in _bounds_of(op)]
    built = _changed(op, _fields_of(bounds), range(len(op.results)), editor)
    editor.replace(op, built.results)
    return True


def _known_position(op: Forall, editor: Editor) -> bool:
    """Replaces the induction variable of an axis with one iteration by a constant."""
    changed = False
    for argument, axis in zip(op.region.block.arguments, op.bounds, strict=False):
        low = axis[0]
        if isinstance(low, int) and argument.is_used and _rounds(*axis) == 1:
            position = editor.index_constant(low, op)
            if position is not None:
                editor.replace_uses(argument, position)
                changed = True
    return changed


def _share_less(op: Forall, editor: Editor) -> bool:
    """Removes shared tensors that are unused, or that no iteration changes."""
    block = op.region.block
    last = block.last
    if not isinstance(last, InParallel) or len(last.region.blocks) != 1:
        return False
    first = len(block.arguments) - len(op.outputs)
    shared = block.arguments[first:]
    writers: dict[Value, list[Operation]] = {argument: [] for argument in shared}
    for inner in last.region.block.operations:
        for value in inner.operands:
            if value in writers:
                writers[value].append(inner)
    kept = [n for n, a in enumerate(shared) if op.results[n].is_used and writers[a]]
    if len(kept) == len(shared):
        return False
    for n, argument in enumerate(shared):
        if n not in kept:
            for writer in dict.fromkeys(writers[argument]):
                editor.erase(writer)
            editor.replace_uses(argument, op.outputs[n])
            editor.replace_uses(op.results[n], op.outputs[n])
    block.keep_arguments([*range(first), *[first + n for n in kept]])
    built = _changed(op, {"outputs": tuple([op.outputs[n] for n in kept])}, kept, editor)
    for n, result in zip(kept, built.results, strict=True):
        editor.replace_uses(op.results[n], result)
    editor.erase(op)
    return True


PARALLEL: Mapping[type[Op], tuple[Simplification, ...]] = {
    Parallel: (_no_rounds, _one_round, _merged),
    Forall: (_known_bounds, _few_positions, _known_position, _share_less),
}
