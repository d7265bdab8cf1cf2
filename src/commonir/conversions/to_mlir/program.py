"""A whole program in dialects of MLIR, by the rules of a conversion."""

from __future__ import annotations

from collections.abc import Callable

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.conversions.conversion import ConversionOptions
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


def refuse_choices(options: ConversionOptions) -> None:
    """Raises: DiagnosticError (E0601) for choices that MLIR has no place for."""
    if options.opset is not None or options.target is not None or options.images:
        message = "a program for a compiler has no place for an opset, a system or images"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message))
