"""Expands `core.all_reduce` into sends, receives and additions.

Each rank sends its tensor to the others, and adds what it receives in the order of `core.all_reduce_steps`. The k-th
all-reduces of all ranks belong together, and their messages have an unused tag. Works in place, on programs with a core
function for each rank.
"""

from __future__ import annotations

from itertools import count

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import bf16, f16, f32
from commonir.ods import path_of


def expand_all_reduce(module: Module) -> int:
    """Expands the all-reduces of a program of ranks and returns how many each rank had.

    Raises: DiagnosticError (E0601) when ranks are missing, and when they do not have the same all-reduces.
    """
    ranks = core.ranks_of(module)
    values = [[op for op in function.walk() if isinstance(op, core.AllReduce)] for function in ranks]
    used = {op.tag for op in module.nested() if isinstance(op, core.Send | core.Recv)}
    tags = (tag for tag in count() if tag not in used)
    if not any(values):
        return 0
    if not core.are_all_ranks(ranks):
        message = "an all-reduce cannot be expanded: the functions are not those of all ranks"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, where=path_of(ranks[0])))
    _check(values)
    for together in zip(*values, strict=True):
        tag = next(tags)
        for function, op in zip(ranks, together, strict=True):
            rank, world_size = core.rank_of(function) or (0, 1)
            _expand(op, rank, world_size, tag)
    return len(values[0])


def _check(values: list[list[core.AllReduce]]) -> None:
    first = values[0]
    for op in first:
        if _static_shape(op) is None:
            message = f"an all-reduce of {op.x.type} cannot be expanded: its sizes are not known"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, where=path_of(op)))
    for ops in values[1:]:
        other = next((n for n, (a, b) in enumerate(zip(first, ops, strict=False)) if a.x.type is not b.x.type), None)
        if other is not None:
            message = f"all-reduce {other} is of {ops[other].x.type}, that of the first rank of {first[other].x.type}"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, where=path_of(ops[other])))
        if len(ops) != len(first):
            op = max(first, ops, key=len)[min(len(first), len(ops))]
            message = f"one rank has {len(first)} all-reduces, another one {len(ops)}"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, where=path_of(op)))


def _static_shape(op: core.AllReduce) -> tuple[int, ...] | None:
    """Returns the shape of the operand of an all-reduce; None if it is not static."""
    shape = core.as_tensor(op.x.type).shape
    dims = tuple([dim for dim in shape or () if isinstance(dim, int)])
    return dims if shape is not None and len(dims) == len(shape) else None


def _expand(op: core.AllReduce, rank: int, world_size: int, tag: int) -> None:
    block = op.parent
    assert block is not None
    content = core.as_tensor(op.x.type)
    shape = _static_shape(op)
    assert shape is not None
    total = op.x
    for step in core.all_reduce_steps(rank, world_size):
        block.insert_before(op, core.Send(op.x, step.destination, tag))
        received = block.insert_before(op, core.Recv(step.source, tag, shape, content.element))
        total = _add(op, total, received.result)
    if world_size > 1:
        total.name = op.result.name
    op.replace_and_erase(total)


def _add(anchor: core.AllReduce, a: Value, b: Value) -> Value:
    """Returns the rounded sum: engines that compute half precision in single precision round at casts."""
    block, element = anchor.parent, core.as_tensor(a.type).element
    assert block is not None
    if element not in (f16, bf16):
        return block.insert_before(anchor, core.Add(a, b)).result
    wide = [block.insert_before(anchor, core.Cast(v, f32)).result for v in (a, b)]
    total = block.insert_before(anchor, core.Add(wide[0], wide[1]))
    return block.insert_before(anchor, core.Cast(total.result, element)).result
