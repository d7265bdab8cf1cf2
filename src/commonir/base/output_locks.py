"""Lets one process at a time, and one of its threads, write an output and the files that belong to it.

Who replaces an output decides by the old one which files beside it are kept, replaced and removed, so that no other
one may replace it meanwhile. A writer holds the lock of a hidden file beside the output. The system gives the lock back
however the process ends, and who holds it removes the file: one that a killed process has left does not matter.
Where files cannot be locked, writers do not wait.

Readers never wait. It never decides what is written.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from commonir.base.codes import OUTPUT_IN_USE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.files import hidden_name, unwound_by_signals

_WAIT_S = 60.0
# Between two attempts: a save of a small model takes some milliseconds.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.001, 0.05
_SUFFIX = "lock.tmp"
_HELD = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}


@contextmanager
def one_writer(path: str | os.PathLike[str], wait_s: float = _WAIT_S) -> Generator[None]:
    """Keeps other writers from an output while the block runs, and waits until those before have ended.

    Nothing is locked for a device or a pipe. Units: the longest wait is in seconds.
    Raises: OUTPUT_IN_USE.
    """
    with unwound_by_signals(), ExitStack() as held:
        deadline = time.monotonic() + wait_s
        for place in _places_of(Path(path)):
            held.enter_context(_locked(place, path, deadline))
        yield


def _places_of(path: Path) -> Iterator[Path]:
    """Yields the places of the lock files of an output, in the same order for all writers: a link may be replaced, or
    what it leads to.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        mode = stat.S_IFREG
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        places = {Path(os.path.realpath(path))}
        if path.is_symlink():
            places.add(Path(os.path.realpath(path.parent), path.name))
        for place in sorted(places):
            yield place.with_name(f"{hidden_name(place)}{_SUFFIX}")


@contextmanager
def _locked(place: Path, output: str | os.PathLike[str], deadline: float) -> Generator[None]:
    """Holds the lock of a file, which exists as long as that. Raises: OUTPUT_IN_USE."""
    fd = _acquired(place, output, deadline)
    try:
        yield
    finally:
        if fd is not None:
            _release(fd, place)


def _acquired(place: Path, output: str | os.PathLike[str], deadline: float) -> int | None:
    """Returns the descriptor of a file that is locked; None where files cannot be. Raises: OUTPUT_IN_USE."""
    pause_s = _FIRST_PAUSE_S
    while True:
        fd = _opened(place)
        if fd is None:
            return None
        is_done = False
        try:
            is_locked = _lock(fd)
            # A file that has gone was removed by the one who held it: only the one in its place counts now.
            is_done = is_locked and _is_at(fd, place)
        except OSError:
            with suppress(OSError):
                place.unlink()
            return None
        finally:
            if not is_done:
                os.close(fd)
        if is_done:
            return fd
        if time.monotonic() >= deadline:
            raise DiagnosticError(_in_use(output))
        if not is_locked:
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def _in_use(output: str | os.PathLike[str]) -> Diagnostic:
    return Diagnostic(
        OUTPUT_IN_USE, "the output is not written: others have been writing it all the time", file=os.fspath(output)
    )


def _opened(place: Path) -> int | None:
    """Opens a file to lock it, and creates it where there is none; None where that is not possible, nor an output."""
    flags = os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    # One that another user has left may be readable only, which is enough on most file systems.
    for access in (os.O_RDWR, os.O_RDONLY):
        with suppress(OSError):
            return os.open(place, flags | access, 0o666)
    return None


def _is_at(fd: int, place: Path) -> bool:
    """Returns whether a descriptor is of the file at a place."""
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(place))
    except OSError:
        return False


def _release(fd: int, place: Path) -> None:
    """Removes a file and gives its lock back, also where a forked process has the descriptor, too."""
    try:
        if sys.platform != "win32":
            with suppress(OSError):
                place.unlink()
        with suppress(OSError):
            _unlock(fd)
    finally:
        os.close(fd)
        if sys.platform == "win32":
            # Refused while it is open elsewhere.
            with suppress(OSError):
                place.unlink()


def _lock(fd: int) -> bool:
    """Locks a file; returns False when another writer holds the lock. Raises: OSError where files cannot be locked."""
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415  only on Windows

            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415  not on Windows

            # Of the open file and not of the process: threads have one each.
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:
            return False
        raise
    return True


def _unlock(fd: int) -> None:
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415  only on Windows

        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
    else:
        import fcntl  # noqa: PLC0415  not on Windows

        fcntl.flock(fd, fcntl.LOCK_UN)
