"""Replaces each call by the body of the function, for targets that have no calls.

Private functions are left out of the result. The source does not change.
"""

from __future__ import annotations

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.call_graph import CallGraph, cycle_text
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation
from commonir.passes.transcribe import Transcription, with_functions


def inline_calls(module: Module) -> Module:
    """Returns a lowered module without calls; the module itself when it has none.

    Raises: DiagnosticError (E0601) for functions that call themselves, (E0303) for calls that stand for too many
    operations.
    """
    if not any(isinstance(op, core.Call) for op in module.nested()):
        return module
    diagnostics = Diagnostics()
    functions = [op for op in module.body.operations if isinstance(op, ml_program.Func) and not op.is_declaration]
    inlined = [f for f in functions if f.sym_visibility in (None, ml_program.Visibility.PUBLIC) or f is module.main]
    calls = CallGraph(inlined, _called)
    for cycle in calls.cycles():
        text = cycle_text(cycle)
        message = f"'{text.partition(' -> ')[0]}' calls itself: {text}"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message))
    calls.check_count()
    result = with_functions(
        module, [_Inlining(f, diagnostics).function() for f in inlined], drop=[f for f in functions if f not in inlined]
    )
    diagnostics.raise_errors()
    return result


class _Inlining(Transcription):
    """The inlining of the calls of one function."""

    def inlined(self, op: Operation) -> Function | None:
        called = _called(op)
        if isinstance(op, core.Call) and (not isinstance(called, ml_program.Func) or called.is_declaration):
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, f"'{op.callee}' has no body to put here"))
        return called


def _called(op: Operation) -> Function | None:
    return op.function() if isinstance(op, core.Call) else None
