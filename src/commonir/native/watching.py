"""Functions of Python that generated code calls while it runs: for limits of time, times of kernels, and signals."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator

import numpy as np

EVENTS = 1 << 12
"""Kernels and rounds of loops after which Python has a say: it raises KeyboardInterrupt then."""

_Function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


class Watch:
    """A function that generated code calls after kernels, with their number, and after rounds of loops, with -1."""

    def __init__(self) -> None:
        words = np.zeros(3, np.int64)
        self._words, self._address = words.data, words.ctypes.data
        self._on_event: Callable[[int], None] | None = None
        self._error: BaseException | None = None
        self._function = self._new_function()

    def started(self, on_event: Callable[[int], None] | None) -> int:
        """Returns the address that code receives, for a run with a function that is called after each event."""
        self._on_event = on_event
        self._words[1] = self._words[2] = EVENTS if on_event is None else 1
        return self._address

    def raise_error(self) -> None:
        """Raises what a call has raised, which ended the run."""
        error, self._error, self._on_event = self._error, None, None
        if error is not None:
            self._function = self._new_function()
            raise error

    def _new_function(self) -> object:
        calls = self._calls()
        next(calls)
        function = _Function(calls.send)
        self._words[0] = ctypes.cast(function, ctypes.c_void_p).value or 0
        return function

    def _calls(self) -> Generator[int, int]:
        """Receives events, and yields whether the run ends.

        Signals raise exceptions where a function begins or a generator goes on, which is inside of `try` here.
        """
        try:
            while True:
                step = yield 0
                if self._on_event is not None:
                    self._on_event(step)
        except GeneratorExit:
            return
        except BaseException as error:  # noqa: BLE001  it is raised when the code has returned
            self._error = error
        while True:
            # A round may end after the kernel that was the last one.
            yield 1
