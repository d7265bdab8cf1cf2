"""Garbage collection put off while many objects that stay are made, and left out where the process ends anyway."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Generator
from contextlib import contextmanager

# Loading all that a command needs makes about 100,000; so many take about 20 MiB.
_OBJECTS = 200_000


@contextmanager
def no_collection() -> Generator[None]:
    """Puts off the search for cycles: making a program makes objects by the million, none of which is garbage, and the
    search goes over all of them again and again.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def search_rarely() -> None:
    """Makes the search for cycles wait for many more objects than usual: nearly all that a command makes stays until it
    ends, and loading code alone makes them by the ten thousand.

    For a process of our own only.
    """
    gc.set_threshold(_OBJECTS)


def end_without_search() -> None:
    """Makes the process end without a last search for cycles: the system takes the memory back at once.

    For a process of our own only, because what a cycle holds is not closed then.
    """
    atexit.register(gc.freeze)


def end_with_search() -> None:
    """Restores the usual end of the process, for a library that reports leaked objects at exit."""
    atexit.unregister(gc.freeze)
