"""Computes what a program computes from constants alone, so that others need not.

Only what is small is computed, and what grows by that stays as it is, for files keep constants. Values are those of the
reference engine. Compressed constants stay compressed.
"""

from __future__ import annotations

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core, ml_program
from commonir.ir.data import ArrayData, Data
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import FunctionType, TensorType
from commonir.ods import Op, known_data, traits
from commonir.ods.local_sizes import symbols_stated
from commonir.passes.remove_unused import remove_unused
from commonir.runtime.reference import ENGINE as REFERENCE

LARGEST_BYTES = 1 << 20
"""Constants up to this size are computed with."""

_SMALL_BYTES = 4096
"""Results up to this size are kept even where they are larger than what they are computed from."""


def fold_constants(module: Module) -> None:
    """Replaces values of a lowered module that depend on small constants alone by constants, in place."""
    for op in module.body.operations:
        if isinstance(op, ml_program.Func) and not op.is_declaration:
            _fold(op)
            remove_unused(op.body)


def _fold(function: ml_program.Func) -> None:
    known: set[Value] = set()
    order: list[Op] = []
    for op in function.walk():
        if _contents(op) is not None:
            if _size_bytes(op.results[0]) <= LARGEST_BYTES:
                known.update(op.results)
        elif isinstance(op, Op) and _is_computed(op, known):
            known.update(op.results)
            order.append(op)
    computed = set(order)
    wanted = [r for op in order if not isinstance(op, core.BroadcastTo) for r in op.results if _is_border(r, computed)]
    for value, data in _evaluated(wanted).items():
        _replace(value, data)


def _contents(op: Operation) -> Data | None:
    """What a constant holds."""
    return known_data(op.results[0]) if len(op.results) == 1 else None


def _size_bytes(value: Value) -> int:
    kind = value.type
    return kind.element.size_bytes(kind.count) if isinstance(kind, TensorType) and kind.is_static else LARGEST_BYTES + 1


def _is_computed(op: Op, known: set[Value]) -> bool:
    """Whether the results of an operation follow from what is known, and are small."""
    if op.regions or not op.results or not all(v in known for v in op.operands):
        return False
    if not op.has_trait(traits.Pure) or op.has_trait(traits.Random) or op.has_trait(traits.Terminator):
        return False
    if isinstance(op, core.Decoded) or next(iter(symbols_stated(op)), None) is not None:
        return False
    if not all(isinstance(r.type, TensorType) and r.type.is_static and r.type.element.bits >= 8 for r in op.results):
        return False
    allowed = max(_SMALL_BYTES, sum(_size_bytes(v) for v in op.operands))
    return sum(_size_bytes(r) for r in op.results) <= min(allowed, LARGEST_BYTES)


def _is_border(value: Value, computed: set[Op]) -> bool:
    """Whether something that is not computed uses a value; what only repeats it is left to do so."""
    return any(user not in computed or isinstance(user, core.BroadcastTo) for user in value.users)


def _evaluated(wanted: list[Value]) -> dict[Value, ArrayData]:
    """The contents of values; none at all when one cannot be computed, which running will tell."""
    if not wanted:
        return {}
    block, made = Block(), dict[Value, Value]()
    for op in _behind(wanted):
        data = _contents(op)
        copy = op.clone_shallow(tuple([made[v] for v in op.operands]), ()) if data is None else core.Constant(data)
        block.append(copy)
        made.update(zip(op.results, copy.results, strict=True))
    block.append(ml_program.Return(tuple([made[v] for v in wanted])))
    names = tuple([f"y{n}" for n in range(len(wanted))])
    function = ml_program.Func("main", FunctionType((), tuple([v.type for v in wanted])), Region([block]), names)
    module = Module()
    module.body.append(function)
    try:
        arrays = REFERENCE.prepare(module).run({})
    except DiagnosticError:
        return {}
    return {
        v: ArrayData(v.type, a) for v, a in zip(wanted, arrays.values(), strict=True) if isinstance(v.type, TensorType)
    }


def _behind(wanted: list[Value]) -> list[Operation]:
    """The operations that compute values, each after those that it needs."""
    found: dict[Operation, None] = {}
    pending = [v.owner for v in wanted]
    while pending:
        op = pending.pop()
        if not isinstance(op, Operation) or op in found:
            continue
        needed = [] if _contents(op) is not None else [v.owner for v in op.operands if v.owner not in found]
        if needed:
            pending += [op, *needed]
        else:
            found[op] = None
    return list(found)


def _replace(value: Value, data: ArrayData) -> None:
    op = value.owner
    assert isinstance(op, Operation)
    block = op.parent
    assert isinstance(block, Block)
    constant = core.Constant(data)
    constant.location = op.location
    block.insert_before(op, constant)
    constant.y.name = value.name
    value.replace_all_uses_with(constant.y)
