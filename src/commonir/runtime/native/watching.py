"""Functions of Python that generated code calls while it runs: for limits of time, times of kernels, and signals."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

EVENTS = 1 << 12
"""Kernels and rounds of loops after which Python has a say: it raises KeyboardInterrupt then."""

_Function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


class Watch:
    """What generated code calls after kernels, with their number, and after rounds of loops, with -1."""

    def __init__(self) -> None:
        self._function = _Function(self._called)
        self._words = np.zeros(3, np.int64)
        self._words[0] = ctypes.cast(self._function, ctypes.c_void_p).value or 0
        self._on_event: Callable[[int], None] | None = None
        self._error: BaseException | None = None

    def started(self, on_event: Callable[[int], None] | None) -> int:
        """Returns the address that code receives, for a run with a function that is called after each event."""
        self._on_event, self._error = on_event, None
        self._words[1:] = EVENTS if on_event is None else 1
        return self._words.ctypes.data

    def raise_error(self) -> None:
        """Raises what a call has raised, which ended the run."""
        error, self._error, self._on_event = self._error, None, None
        if error is not None:
            raise error

    def _called(self, step: int) -> int:
        try:
            if self._on_event is not None:
                self._on_event(step)
        except BaseException as error:  # noqa: BLE001  it is raised when the code has returned
            self._error = error
            return 1
        return 0
