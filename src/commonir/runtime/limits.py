"""What is said when a run reaches a limit that it was given."""

from __future__ import annotations

from commonir.base.codes import RUN_LIMIT_EXCEEDED
from commonir.base.diagnostics import Diagnostic, DiagnosticError


def time_is_up() -> DiagnosticError:
    """The finding that the time limit of a run has passed."""
    return DiagnosticError(Diagnostic(RUN_LIMIT_EXCEEDED, "the time limit of the run has passed"))
