"""Expands calls, and composites that contain control operations, for engines that compile blocks or run them in turn.

A call stays if the function calls itself, if the program's calls stand for too many operations, or if its types do not
follow from those of the call: what such a call runs has sizes of its own.
"""

from __future__ import annotations

from commonir.base.diagnostics import InternalError
from commonir.base.limits import DEFAULT_LIMITS
from commonir.dialects import core
from commonir.ir.call_graph import CallGraph
from commonir.ir.cloning import clone
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation
from commonir.ir.types import TensorType, symbols_of
from commonir.ods import Form, Op, traits
from commonir.ods.data_dependent_dims import symbols_mentioned
from commonir.ods.specialize import specialize, specialized_type
from commonir.passes.select_function import with_called
from commonir.rewrite.expand import Expansion, expand
from commonir.symbolic import Dim, DimExpr, at_least, plain_symbol
from commonir.symbolic.dims import symbols_in


def with_expansions(module: Module, function: str | None = None) -> Module:
    """Returns the module with calls, and all composites whose reference contains control operations, expanded.

    Returns the module itself if the function, by default the main one, has none.
    """
    # Only the functions that this one calls: others run separately.
    if not any(_is_nesting(op) for part in with_called(module.function(function)) for op in part.walk()):
        return module
    result = clone(module)
    calls = CallGraph([result.function(function)], _called)
    stay = {f for cycle in calls.cycles() for f in cycle}
    counts = calls.inlined_counts()
    stay |= {f for f in counts if counts[f] > DEFAULT_LIMITS.max_inlined_operations}
    for caller in calls.in_order():
        pending = [op for op in caller.walk() if _is_nesting(op)]
        while pending:
            op = pending.pop()
            called = _called(op)
            if called is None:
                pending += _expand(op)
            elif caller not in stay and called not in stay and called.parent is caller.parent:
                # The operations of the function are expanded already.
                _inline(op, called)
    return result


def _is_nesting(op: Operation) -> bool:
    return _called(op) is not None or (
        isinstance(op, Op) and op.has_trait(traits.RunsNested) and op.form is Form.COMPOSITE
    )


def _called(op: Operation) -> Function | None:
    return op.function() if isinstance(op, core.Call) else None


def _expand(op: Operation) -> list[Operation]:
    """Replaces an operation by its reference, and returns the new operations that must be expanded too."""
    assert isinstance(op, Op)
    expansion = expand(op, op.operands)
    _replace(op, expansion)
    return [inner for new in expansion.operations for inner in new.walk() if _is_nesting(inner)]


def _inline(op: Operation, called: Function) -> None:
    """Replaces a call by the operations of the function, unless the call must stay."""
    dims = _dims_of_call(op, called)
    if dims is None or called.is_declaration:
        return
    copy = clone(called)
    specialize(copy.body, dims)
    values = dict(zip(copy.inputs, op.operands, strict=True))
    results = tuple([values.get(v, v) for v in copy.outputs])
    for argument, value in values.items():
        argument.replace_all_uses_with(value)
    *operations, _ = copy.body.operations
    for inner in operations:
        inner.detach()
    _replace(op, Expansion(results, operations))


def _dims_of_call(op: Operation, called: Function) -> dict[str, Dim] | None:
    """Returns the dims that symbols of a function have in a call; None if these do not make the types the same."""
    own, given = (*called.inputs, *called.outputs), (*op.operands, *op.results)
    dims: dict[str, Dim] = {}
    for type, other in zip([v.type for v in own], [v.type for v in given], strict=True):
        if isinstance(type, TensorType) and isinstance(other, TensorType):
            for d, size in zip(type.shape or (), other.shape or (), strict=False):
                if size is not None and isinstance(d, DimExpr) and plain_symbol(d) is not None:
                    (symbol,) = symbols_in(d)
                    if at_least(size, symbol.least):
                        dims.setdefault(symbol.name, size)
    if any(specialized_type(v.type, dims) != other.type for v, other in zip(own, given, strict=True)):
        return None
    return dims if _symbols_inside(called) <= {*dims} else None


def _symbols_inside(function: Function) -> set[str]:
    """Returns the symbols of all types and attributes in a function."""
    blocks = [block for op in function.walk() for region in op.regions for block in region.blocks]
    values = [v for block in blocks for v in (*block.arguments, *[r for op in block.operations for r in op.results])]
    return {
        *symbols_of([v.type for v in values]),
        *[s for b in blocks for op in b.operations for s in symbols_mentioned(op)],
    }


def _replace(op: Operation, expansion: Expansion) -> None:
    """Replaces an operation by others."""
    block = op.parent
    if not isinstance(block, Block):
        raise InternalError(f"{op.name} is in no block")
    for new in expansion.operations:
        block.insert_before(op, new)
        new.location = new.location or op.location
    for old, new in zip(op.results, expansion.results, strict=True):
        new.name = new.name or old.name
        old.replace_all_uses_with(new)
    op.erase()
