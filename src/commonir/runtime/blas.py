"""The number of threads of numpy's BLAS library. Nothing else uses threadpoolctl.

The number is one for the whole process. While several threads run programs, it is the least that one of them permits;
the number from before is restored when the last of them ends.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from threading import Lock
from typing import Protocol

from threadpoolctl import ThreadpoolController


class _Library(Protocol):
    """A loaded library."""

    user_api: str

    @property
    def num_threads(self) -> int: ...

    def set_num_threads(self, num_threads: int) -> object: ...


class _Limits:
    """The limits that are in force, and the libraries that they apply to."""

    def __init__(self) -> None:
        loaded: list[_Library] = ThreadpoolController().lib_controllers  # pyright: ignore[reportUnknownMemberType]  it is untyped
        self._libraries = [library for library in loaded if library.user_api == "blas"]
        self._lock = Lock()
        self._active: list[int] = []
        self._before: list[int] = []
        self._least = 0

    def add(self, threads: int) -> None:
        with self._lock:
            if not self._active:
                # Most often it is the number already: asking takes a third of the time of setting.
                self._before = [library.num_threads for library in self._libraries]
                self._least = threads if self._before.count(threads) == len(self._before) else 0
            self._active.append(threads)
            self._apply()

    def remove(self, threads: int) -> None:
        with self._lock:
            self._active.remove(threads)
            self._apply()

    def _apply(self) -> None:
        """Sets the numbers of threads where they change."""
        if not self._active:
            if self._before.count(self._least) < len(self._before):
                self._set(self._before)
        elif self._least not in self._active or len(self._active) > 1:
            self._least = min(self._active)
            self._set([self._least] * len(self._libraries))

    def _set(self, numbers: list[int]) -> None:
        for library, number in zip(self._libraries, numbers, strict=True):
            if library.num_threads != number:
                library.set_num_threads(number)


class _Limited:
    """A context in which a limit is in force. It is entered for each run, so it is not a generator."""

    __slots__ = ("_limits", "_threads")

    def __init__(self, limits: _Limits, threads: int) -> None:
        self._limits = limits
        self._threads = threads

    def __enter__(self) -> None:
        self._limits.add(self._threads)

    def __exit__(self, *_: object) -> None:
        self._limits.remove(self._threads)


@cache
def _limits() -> _Limits:
    """Returns the limits of this process; the libraries are looked up once."""
    return _Limits()


def limited_threads(threads: int) -> AbstractContextManager[None]:
    """Returns a context in which BLAS uses at most this many threads."""
    return _Limited(_limits(), threads)
