"""Progress on standard error: shown on terminals after half a second, removed at the end."""

from __future__ import annotations

from threading import Lock, Timer
from types import TracebackType
from typing import TYPE_CHECKING, Self

from commonir.base.text import escape
from commonir.cli.terminal import Terminal

if TYPE_CHECKING:
    from commonir.cli.pretty import ProgressDisplay

_DELAY_SECONDS = 0.5


class Progress:
    """Shows the stage of a command that takes longer than half a second."""

    __slots__ = ("_display", "_done", "_err", "_is_shown", "_label", "_lock", "_timer", "_total")

    def __init__(self, err: Terminal, label: str, *, total: int | None = None, is_shown: bool) -> None:
        self._err = err
        self._label = escape(label)
        self._total = total
        self._done = 0
        self._is_shown = is_shown and err.is_terminal
        self._lock = Lock()
        self._timer: Timer | None = None
        self._display: ProgressDisplay | None = None

    def step(self, label: str) -> None:
        """Begins another stage."""
        with self._lock:
            self._label = escape(label)
            if self._display:
                self._display.update(self._label, self._done)

    def advance(self) -> None:
        """Counts one step as done."""
        with self._lock:
            self._done += 1
            if self._display:
                self._display.update(self._label, self._done)

    def _show(self) -> None:
        # rich is imported here, in the timer's thread, while the command goes on.
        from commonir.cli.pretty import ProgressDisplay  # noqa: PLC0415

        with self._lock:
            if self._timer:
                self._display = ProgressDisplay(
                    self._err.stream, self._label, self._total, self._done, has_colour=self._err.has_colour
                )

    def __enter__(self) -> Self:
        if self._is_shown:
            self._timer = Timer(_DELAY_SECONDS, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        with self._lock:
            if self._timer:
                self._timer.cancel()
                self._timer = None
            if self._display:
                self._display.stop()
                self._display = None
