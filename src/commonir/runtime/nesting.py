"""Expands composites that contain control operations, for engines that run block by block."""

from __future__ import annotations

from commonir.base.diagnostics import InternalError
from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation
from commonir.ods import Form, Op, traits
from commonir.passes.select_function import with_called
from commonir.rewrite.expand import expand


def with_loops(module: Module, function: str | None = None) -> Module:
    """Returns the module with all composites expanded whose reference contains control operations.

    Returns the module itself if the function, by default the main one, has none.
    """
    # Only the functions that this one calls: others run separately.
    if not any(_is_nesting(op) for part in with_called(module.function(function)) for op in part.walk()):
        return module
    result = clone(module)
    pending = [op for op in result.walk() if _is_nesting(op)]
    while pending:
        pending += _expand(pending.pop())
    return result


def _is_nesting(op: Operation) -> bool:
    return isinstance(op, Op) and op.has_trait(traits.RunsNested) and op.form is Form.COMPOSITE


def _expand(op: Operation) -> list[Operation]:
    """Replaces an operation by its reference, and returns the new operations that must be expanded too."""
    block = op.parent
    if not isinstance(op, Op) or not isinstance(block, Block):
        raise InternalError(f"{op.name} is in no block")
    expansion = expand(op, op.operands)
    for new in expansion.operations:
        block.insert_before(op, new)
        new.location = new.location or op.location
    for old, new in zip(op.results, expansion.results, strict=True):
        new.name = new.name or old.name
        old.replace_all_uses_with(new)
    op.erase()
    return [inner for new in expansion.operations for inner in new.walk() if _is_nesting(inner)]
