"""The threads of the BLAS library that numpy brings; the one place that knows threadpoolctl."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Protocol

from threadpoolctl import ThreadpoolController


class _Library(Protocol):
    """A library that is loaded."""

    user_api: str

    @property
    def num_threads(self) -> int: ...


@cache
def _controller() -> ThreadpoolController:
    """Looks for the libraries once: it reads the list of everything that is loaded."""
    return ThreadpoolController()


@cache
def _libraries() -> tuple[_Library, ...]:
    """Returns those for linear algebra."""
    found: list[_Library] = _controller().lib_controllers  # pyright: ignore[reportUnknownMemberType]  it is untyped
    return tuple([library for library in found if library.user_api == "blas"])


def limited_threads(threads: int) -> AbstractContextManager[object]:
    """While it is entered, BLAS uses at most this many threads."""
    if all(library.num_threads == threads for library in _libraries()):
        # Asking takes a tenth of the time of setting and putting back.
        return nullcontext()
    limited: AbstractContextManager[object] = _controller().limit(limits=threads, user_api="blas")  # pyright: ignore[reportUnknownMemberType]  it is untyped
    return limited
