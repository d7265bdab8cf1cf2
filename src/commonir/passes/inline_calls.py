"""Replaces each call by the body of the function, for targets that have no calls.

Private functions are left out of the result. The source does not change.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Module
from commonir.ir.operation import Operation, Region, Value
from commonir.passes.transcribe import Transcription, copied, with_functions


def inline_calls(module: Module) -> Module:
    """Returns a lowered module without calls; the module itself when it has none.

    Raises: DiagnosticError (E0601) for functions that call themselves.
    """
    if not any(isinstance(op, core.Call) for op in module.nested()):
        return module
    diagnostics = Diagnostics()
    functions = [op for op in module.body.operations if isinstance(op, ml_program.Func) and not op.is_declaration]
    inlined = [f for f in functions if f.sym_visibility in (None, ml_program.Visibility.PUBLIC) or f is module.main]
    result = with_functions(
        module, [_Inlining(f, diagnostics).function() for f in inlined], drop=[f for f in functions if f not in inlined]
    )
    diagnostics.raise_errors()
    return result


class _Inlining(Transcription):
    """The inlining of the calls of one function."""

    def __init__(self, source: ml_program.Func, diagnostics: Diagnostics) -> None:
        super().__init__(source, diagnostics)
        self._running: list[ml_program.Func] = [source]

    def rewritten(self, op: Operation, operands: tuple[Value, ...], regions: tuple[Region, ...]) -> Sequence[Value]:
        if not isinstance(op, core.Call):
            return self.place(copied(op, operands, regions)).results
        called = op.function()
        if not isinstance(called, ml_program.Func) or called.is_declaration:
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, f"'{op.callee}' has no body to put here"))
        if called in self._running:
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, f"'{op.callee}' calls itself"))
        self._running.append(called)
        block = self.block
        self.values.update(zip(called.inputs, operands, strict=True))
        self.fill(block, called.body)
        self.block = block
        self._running.pop()
        return tuple([self.values[v] for v in called.outputs])
