"""Disables garbage collection while many long-lived objects are created, and skips it at exit."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Generator
from contextlib import contextmanager

# Loading all that a command needs makes about 100,000; so many take about 20 MiB.
_OBJECTS = 200_000


@contextmanager
def no_collection() -> Generator[None]:
    """Returns a context without garbage collection: building a program creates millions of objects, none of which is
    garbage, and each collection would visit all of them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if gc.get_threshold()[0] == _OBJECTS:
                # Moves all objects to the oldest generation: the next collection would visit each of the program.
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def search_rarely() -> None:
    """Makes garbage collection rarer, because nearly all objects of a command live until it ends. Only for our own
    process.
    """
    gc.set_threshold(_OBJECTS)


def end_without_search() -> None:
    """Skips the last garbage collection of the process. Only for our own process, because objects in cycles are not
    closed then.
    """
    atexit.register(gc.freeze)


def end_with_search() -> None:
    """Restores the garbage collection at exit, for a library that reports leaked objects."""
    atexit.unregister(gc.freeze)
