"""Removes run-time assertions, for formats that have none."""

from __future__ import annotations

from commonir.base.codes import LOST_IN_CONVERSION
from commonir.base.diagnostics import Diagnostics
from commonir.dialects import core
from commonir.ir.cloning import clone
from commonir.ir.module import Module


def without_requirements(module: Module, lost: Diagnostics | None) -> Module:
    """Returns a lowered module without assertions, or the module itself if it has none; `lost` reports each."""
    if not any(isinstance(op, core.Require) for op in module.nested()):
        return module
    result = clone(module)
    drop_requirements(result, lost)
    return result


def drop_requirements(module: Module, lost: Diagnostics | None) -> None:
    """Erases the assertions of a lowered module; `lost` reports each."""
    messages: dict[str, None] = {}
    for op in list(module.nested()):
        if isinstance(op, core.Require):
            messages[op.message] = None
            op.erase()
    if lost is not None:
        for message in messages:
            lost.add(LOST_IN_CONVERSION, f"that the program ends where a condition does not hold: {message!r}")
