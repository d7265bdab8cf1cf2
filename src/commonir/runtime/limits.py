"""Errors of a run that reaches a limit: one of its options, or the memory of the machine."""

from __future__ import annotations

from commonir.base.codes import RUN_LIMIT_EXCEEDED
from commonir.base.diagnostics import Diagnostic, DiagnosticError


def time_is_up() -> DiagnosticError:
    """Returns the error that the time limit of a run has passed."""
    return DiagnosticError(Diagnostic(RUN_LIMIT_EXCEEDED, "the time limit of the run has passed"))


def no_memory(error: MemoryError, operation: str = "") -> DiagnosticError:
    """Returns the error that a run, or one of its operations, is out of memory."""
    requested = str(error)
    message = "there is not enough memory" + (f": {requested[0].lower()}{requested[1:]}" if requested else "")
    named = f"{operation}: {message}" if operation else message
    return DiagnosticError(Diagnostic(RUN_LIMIT_EXCEEDED, named, help="give smaller inputs"))
