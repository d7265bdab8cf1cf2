"""Removes run-time assertions, for formats that have none."""

from __future__ import annotations

from commonir.base.codes import LOST_IN_CONVERSION
from commonir.base.diagnostics import Diagnostics
from commonir.dialects import core
from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ods import Op, traits
from commonir.ods.data_dependent_dims import defined_dims


def without_requirements(module: Module, lost: Diagnostics | None) -> Module:
    """Returns a lowered module without assertions, or the module itself if it has none; `lost` reports each."""
    if not any(isinstance(op, core.Require) for op in module.nested()):
        return module
    result = clone(module)
    drop_requirements(result, lost)
    return result


def drop_requirements(module: Module, lost: Diagnostics | None) -> None:
    """Erases the assertions of a lowered module, and what only they use; `lost` reports each."""
    messages: dict[str, None] = {}
    for op in list(module.nested()):
        if isinstance(op, core.Require):
            messages[op.message] = None
            pending = op.erase()
            while pending:
                unused = pending.pop()
                if _is_removable(unused):
                    pending += unused.erase()
    if lost is not None:
        for message in messages:
            lost.add(
                LOST_IN_CONVERSION,
                f"the check that ends the program where a condition does not hold is left out: {message!r}",
            )


def _is_removable(op: Operation) -> bool:
    """Returns whether nothing needs an operation: no value, no effect, no dim."""
    is_pure = isinstance(op, Op) and op.has_trait(traits.Pure)
    return is_pure and not any(r.is_used for r in op.results) and not any(defined_dims(op))
