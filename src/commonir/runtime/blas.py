"""The threads of the BLAS library that numpy brings; the one place that knows threadpoolctl."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    """Looks for the libraries once: it reads the list of everything that is loaded."""
    return ThreadpoolController()


def limited_threads(threads: int) -> AbstractContextManager[object]:
    """While it is entered, BLAS uses at most this many threads."""
    limited: AbstractContextManager[object] = _controller().limit(limits=threads, user_api="blas")  # pyright: ignore[reportUnknownMemberType]  it is untyped
    return limited
