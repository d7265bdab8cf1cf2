"""Errors of a run that reaches a limit: one of its options, or the memory of the machine."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from math import prod

import numpy as np

from commonir.base.codes import EXECUTION_FAILED, RUN_LIMIT_EXCEEDED
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.limits import DEFAULT_LIMITS

_MOST_AXES = DEFAULT_LIMITS.max_rank
_MOST_BYTES = 2**63 - 1


class OutOfRange(Exception):
    """An index read from data is outside of the bounds of its tensor."""


@contextmanager
def reporting_out_of_range() -> Generator[None]:
    """Reports a position outside of a tensor. Raises: DiagnosticError (E0708)."""
    try:
        yield
    except OutOfRange as error:
        help = "other inputs may work; `--engine reference` names the operation"
        raise DiagnosticError(Diagnostic(EXECUTION_FAILED, str(error), help=help)) from None


def time_is_up() -> DiagnosticError:
    """Returns the error that the time limit of a run has passed."""
    return DiagnosticError(Diagnostic(RUN_LIMIT_EXCEEDED, "the time limit of the run has passed"))


def check_memory(size_bytes: int, limit_bytes: int | None, operation: str = "") -> None:
    """Checks the bytes that a run, or one of its operations, needs. Raises: DiagnosticError (E0711)."""
    if limit_bytes is not None and size_bytes > limit_bytes:
        named = f"{operation}: " if operation else ""
        message = f"{named}the run needs {size_bytes} bytes, the limit is {limit_bytes}"
        raise DiagnosticError(Diagnostic(RUN_LIMIT_EXCEEDED, message))


class MemoryUse:
    """The bytes of the values that a run holds, and their limit, if any."""

    def __init__(self, limit_bytes: int | None) -> None:
        self.limit_bytes = limit_bytes
        self._held_bytes = 0

    def check(self, size_bytes: int, operation: str) -> None:
        """Checks that there is room for more bytes. Raises: DiagnosticError (E0711)."""
        check_memory(self._held_bytes + size_bytes, self.limit_bytes, operation)

    def hold(self, values: Iterable[object]) -> None:
        """Counts values until the end of the block."""
        self._held_bytes += sum([v.nbytes for v in values if isinstance(v, np.ndarray)])

    @contextmanager
    def block(self) -> Generator[None]:
        """Returns a context for a block, at whose end its values are let go."""
        before = self._held_bytes
        try:
            yield
        finally:
            self._held_bytes = before


def check_array(shape: Sequence[int], item_bytes: int, what: str = "an array") -> None:
    """Checks that numpy has arrays of a shape; it counts the bytes as if no dim were zero.

    Raises: DiagnosticError (E0711).
    """
    if len(shape) > _MOST_AXES:
        message = f"{what} has {len(shape)} axes, and numpy takes {_MOST_AXES}"
    elif prod([max(n, 1) for n in shape]) * item_bytes > _MOST_BYTES:
        message = f"{what} of shape {list(shape)} is larger than memory can be"
    else:
        return
    raise DiagnosticError(Diagnostic(RUN_LIMIT_EXCEEDED, message))


def no_memory(error: MemoryError, operation: str = "") -> DiagnosticError:
    """Returns the error that a run, or one of its operations, is out of memory."""
    requested = str(error)
    message = "there is not enough memory" + (f": {requested[0].lower()}{requested[1:]}" if requested else "")
    named = f"{operation}: {message}" if operation else message
    return DiagnosticError(Diagnostic(RUN_LIMIT_EXCEEDED, named, help="give smaller inputs"))
