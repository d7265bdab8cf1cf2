"""The number of threads of numpy's BLAS library. Nothing else uses threadpoolctl."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Protocol

from threadpoolctl import ThreadpoolController


class _Library(Protocol):
    """A loaded library."""

    user_api: str

    @property
    def num_threads(self) -> int: ...


@cache
def _controller() -> ThreadpoolController:
    """Returns the loaded libraries, which are looked up once."""
    return ThreadpoolController()


@cache
def _libraries() -> tuple[_Library, ...]:
    """Returns the loaded BLAS libraries."""
    loaded: list[_Library] = _controller().lib_controllers  # pyright: ignore[reportUnknownMemberType]  it is untyped
    return tuple([library for library in loaded if library.user_api == "blas"])


def limited_threads(threads: int) -> AbstractContextManager[object]:
    """Returns a context in which BLAS uses at most this many threads."""
    if all(library.num_threads == threads for library in _libraries()):
        # Checking takes a tenth of the time of setting and restoring.
        return nullcontext()
    limited: AbstractContextManager[object] = _controller().limit(limits=threads, user_api="blas")  # pyright: ignore[reportUnknownMemberType]  it is untyped
    return limited
