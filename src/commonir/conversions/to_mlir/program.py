"""A whole program in dialects of MLIR, by the rules of a conversion."""

from __future__ import annotations

from collections.abc import Callable

from commonir.conversions.to_mlir.finish import finish
from commonir.ir.interface import neutral_attributes
from commonir.ir.module import Module
from commonir.ods import Dialects
from commonir.passes.inline_calls import inline_calls
from commonir.passes.remove_unused import remove_unused
from commonir.rewrite.legalize import Rules, Target, legalize


def converted(module: Module, rules: Rules, target: Target, finish: Callable[[Module], None] = finish) -> Module:
    """All functions of a lowered module as functions of a target; `finish` takes types to those of it, in place.

    Raises: DiagnosticError (E0601) with everything that cannot be expressed.
    """
    result = legalize(inline_calls(module), rules, Dialects(), target)
    for function in result.functions.values():
        remove_unused(function.body)
    finish(result)
    for key, attribute in neutral_attributes(module).items():
        result.set_extra(key, attribute)
    return result
