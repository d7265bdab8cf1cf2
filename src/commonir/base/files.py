"""Writes files so that an old output survives every failure.

An output is written under a temporary name in the same folder, flushed to disk, and renamed over the old one when it is
complete. If anything fails before that (an error, an interrupt, a full disk, SIGTERM, SIGHUP), the old output is
unchanged and the temporary is removed; a process killed by SIGKILL leaves the temporary, never half an output, and the
next output of that name removes it.

It never decides what is written, and never follows a name found inside a model.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import BinaryIO, ParamSpec, TypeVar
from zlib import crc32

from commonir.base import codes, file_codes
from commonir.base.copying import NO_SPACE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.lazy import lazy_pattern
from commonir.base.suggestions import did_you_mean_file

P = ParamSpec("P")
T = TypeVar("T")

# A temporary names the process that writes it, so that another one removes it when that one has ended.
_HOST = f"{crc32(os.fsencode(os.uname().nodename)) if os.name == 'posix' else 0:08x}"
_PROCESS = os.urandom(4).hex()
_LEFTOVER = lazy_pattern(r"([0-9a-f]{8})-(\d{1,10})-([0-9a-f]{8})-[0-9a-f]{12}(\.ready)?\.tmp")
_READY, _TEMPORARY = ".ready", ".tmp"
_NAME_BYTES = 100

_BY_SIGNAL = 128
"""The difference between the exit status in a shell and the number of the signal that ended a process."""

# Of `renameat2` of Linux: names are relative to the working folder; the two are swapped.
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


@contextmanager
def unwound_by_signals() -> Generator[None]:
    """Lets SIGTERM and SIGHUP, where they would end the process at once, end it by an exception in the block, so that
    what it has begun is removed. Changes nothing outside of the main thread.
    """

    def unwind(number: int, frame: object) -> None:
        del frame
        raise SystemExit(_BY_SIGNAL + number)

    changed: list[int] = []
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            with suppress(ValueError):
                signal.signal(number, unwind)
                changed.append(number)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


def _unwinding(
    manager: Callable[P, AbstractContextManager[T]],
) -> Callable[P, AbstractContextManager[T]]:
    """Makes a context also end its block when a signal ends the process."""

    @wraps(manager)
    @contextmanager
    def unwound(*args: P.args, **kwargs: P.kwargs) -> Generator[T]:
        with unwound_by_signals(), manager(*args, **kwargs) as result:
            yield result

    return unwound


@_unwinding
@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Generator[BinaryIO]:
    """Opens a file for writing that replaces `path` when the block ends without an exception.

    A link is followed, and its target replaced. A device or pipe is written directly.

    Raises: CANNOT_WRITE, DISK_FULL, OUTPUT_IN_THE_WAY. Other exceptions of the block pass through.
    """
    # SourceCall of the name as given: `/dev/stdout` leads to a pipe that has no path of its own.
    requested = Path(path)
    mode = reported(path, lambda: _mode_of(requested))
    if stat.S_ISDIR(mode):
        raise DiagnosticError(in_the_way(path, "a folder is in its place"))
    if mode and not stat.S_ISREG(mode):
        with full_disk_reported(path), reported(path, lambda: requested.open("wb")) as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    temporary = sibling(target)
    try:
        with full_disk_reported(path):
            with reported(path, lambda: temporary.open("xb")) as stream:
                keep_mode(target, temporary)
                yield stream
                reported(path, lambda: sync_stream(stream))
            reported(path, lambda: temporary.replace(target))
    finally:
        # After the rename there is nothing left under this name.
        with suppress(OSError):
            temporary.unlink()
    sync_folder(target.parent)
    remove_leftovers(target)


@_unwinding
@contextmanager
def atomic_files(
    *files: str | os.PathLike[str], beside: Iterable[str | os.PathLike[str]] = ()
) -> Generator[tuple[BinaryIO, ...]]:
    """Opens regular files for writing that together replace old ones when the block ends without an exception.

    They are replaced in order. If one cannot be replaced, those before it are restored. Those `beside` are found by
    names that follow from those of the others, and come last. Old ones are set aside before the others are replaced,
    and new ones get their names after it: a process killed in between leaves none that belongs to another file, and
    `is_unfinished` says why it is missing. Of several that are replaced, `is_replaced_in_part` says whether all were.

    Raises: CANNOT_WRITE, DISK_FULL, OUTPUT_IN_THE_WAY. Other exceptions of the block pass through.
    """
    paths = (*files, *beside)
    targets = [Path(os.path.realpath(path)) for path in paths]
    for path, target in zip(paths, targets, strict=True):
        if os.path.lexists(target) and not target.is_file():
            raise DiagnosticError(in_the_way(path, "something that is not a file is in its place"))
    temporaries = [sibling(target) for target in targets]
    try:
        with ExitStack() as opened:
            for path in paths:
                opened.enter_context(full_disk_reported(path))
            streams: list[BinaryIO] = []
            for path, target, temporary in zip(paths, targets, temporaries, strict=True):
                streams.append(opened.enter_context(reported(path, lambda opening=temporary: opening.open("xb"))))
                keep_mode(target, temporary)
            yield tuple(streams)
            for path, stream in zip(paths, streams, strict=True):
                reported(path, lambda opening=stream: sync_stream(opening))
        reported(paths[-1], lambda: _take_places(temporaries, targets, len(files)))
    finally:
        for temporary in temporaries:
            with suppress(OSError):
                temporary.unlink()
    for folder in {target.parent for target in targets}:
        sync_folder(folder)
    remove_leftovers(*targets)


@_unwinding
@contextmanager
def atomic_directory(path: str | os.PathLike[str], *, marker: str) -> Generator[Path]:
    """Creates an empty folder that replaces `path` when the block ends without an exception.

    Only an empty folder, or one that contains a file named `marker`, is replaced, so that a wrong output name cannot
    delete a folder of the user's. Linux swaps the two in one step. Elsewhere two renames replace a folder: a process
    killed between them leaves the old one whole, under a hidden name beside it.

    Raises: CANNOT_WRITE, DISK_FULL, OUTPUT_IN_THE_WAY. Other exceptions of the block pass through.
    """
    target = Path(os.path.realpath(path))
    refuse_other_folder(target, marker)
    temporary = sibling(target)
    try:
        with full_disk_reported(path):
            reported(path, temporary.mkdir)
            yield temporary
            for folder, _, names in os.walk(temporary):
                for name in names:
                    sync_file(Path(folder, name))
                sync_folder(Path(folder))
            reported(path, lambda: _take_place(temporary, target))
    finally:
        if temporary.exists():
            shutil.rmtree(temporary, ignore_errors=True)
    sync_folder(target.parent)
    remove_leftovers(target)


def refuse_other_folder(path: str | os.PathLike[str], marker: str) -> None:
    """Checks that a path is free for a folder: nothing is there, or an empty folder, or one with a file named `marker`.

    Raises: OUTPUT_IN_THE_WAY.
    """
    if not os.path.lexists(path):
        return
    if not os.path.isdir(path):
        raise DiagnosticError(in_the_way(path, "a file is in its place"))
    if not Path(path, marker).is_file() and any(Path(path).iterdir()):
        raise DiagnosticError(in_the_way(path, f"the folder in its place has files but no '{marker}'"))


@contextmanager
def created_folders(*paths: str | os.PathLike[str]) -> Generator[None]:
    """Creates missing folders and their parents; if the block raises an exception, they are removed again.

    Raises: CANNOT_WRITE, DISK_FULL. Other exceptions of the block pass through.
    """
    created: list[Path] = []
    try:
        for path in map(Path, paths):
            for missing in reversed([p for p in (path, *path.parents) if not p.is_dir()]):
                reported(missing, missing.mkdir)
                created.append(missing)
        yield
    except BaseException:
        for folder in reversed(created):
            with suppress(OSError):
                folder.rmdir()
        raise


def sibling(target: Path) -> Path:
    """Returns a free hidden name in the same folder, so that renaming never crosses file systems."""
    return target.with_name(f"{hidden_name(target)}{_HOST}-{os.getpid()}-{_PROCESS}-{os.urandom(6).hex()}.tmp")


def hidden_name(target: Path) -> str:
    """Returns how the names of the temporaries of a file begin."""
    return f".{os.fsencode(target.name)[:_NAME_BYTES].decode(errors='ignore')}."


def leftovers_of(target: Path) -> list[Path]:
    """Returns the temporaries of a file whose processes, on this machine, have ended."""
    return _leftovers_among(target, _names_in(target.parent))


def _leftovers_among(target: Path, names: Iterable[str]) -> list[Path]:
    return [target.with_name(name) for name, match in _temporaries_of(target, names) if _has_ended(match)]


def _names_in(folder: Path) -> list[str]:
    """Returns the names of the temporaries in a folder."""
    try:
        return [name for name in os.listdir(folder) if is_temporary(name)]
    except OSError:
        return []


def is_unfinished(target: Path) -> bool:
    """Returns whether a process has replaced what a file is beside, and has not given it its name yet."""
    return any(match[4] for _, match in _temporaries_of(target, _names_in(target.parent)))


def is_replaced_in_part(targets: Sequence[Path]) -> bool:
    """Returns whether a process has replaced some of the files that belong together, and not yet the others."""
    real = [Path(os.path.realpath(target)) for target in targets]
    if not any(_names_in(folder) for folder in {t.parent for t in real}):
        return False
    return len({is_unfinished(target) for target in real}) > 1


def _temporaries_of(target: Path, names: Iterable[str]) -> Iterator[tuple[str, re.Match[str]]]:
    start = hidden_name(target)
    for name in names:
        match = _LEFTOVER.fullmatch(name[len(start) :]) if name.startswith(start) else None
        if match is not None:
            yield name, match


def _has_ended(match: re.Match[str]) -> bool:
    host, process, own = match[1], int(match[2]), match[3]
    if host != _HOST or os.name != "posix":
        return False
    if process == os.getpid():
        # The number of a process that has ended, in a container perhaps the number of every one.
        return own != _PROCESS
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass
    return False


def remove_leftovers(*targets: Path) -> None:
    """Removes what processes that were killed have left of outputs."""
    # Each folder is listed once, since there may be thousands of outputs.
    names = {folder: _names_in(folder) for folder in {target.parent for target in targets}}
    for target in targets:
        for leftover in _leftovers_among(target, names[target.parent]):
            if leftover.is_dir() and not leftover.is_symlink():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                with suppress(OSError):
                    leftover.unlink()


def is_temporary(name: str) -> bool:
    """Returns whether a file has a name of a file that is being written, or was when a process was killed."""
    return name.startswith(".") and name.endswith(".tmp")


def _mode_of(path: Path) -> int:
    """Returns the mode of the file at a path, links followed; 0 when there is none."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


def keep_mode(old: Path, new: Path) -> None:
    """Gives a new file the mode of an old one, where there is one."""
    with suppress(OSError):
        new.chmod(stat.S_IMODE(old.stat().st_mode))


def _take_place(new: Path, target: Path) -> None:
    if _exchange(new, target):
        shutil.rmtree(new, ignore_errors=True)
        return
    aside = sibling(target)
    try:
        if target.exists():
            target.rename(aside)
        new.rename(target)
    except BaseException:
        if aside.exists() and not target.exists():
            aside.rename(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _exchange(a: Path, b: Path) -> bool:
    """Swaps two names in one step; returns False if the system cannot, or one of them does not exist."""
    if sys.platform != "linux":
        return False
    # Only needed to replace a folder.
    import ctypes  # noqa: PLC0415

    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    return rename(_AT_FDCWD, os.fsencode(a), _AT_FDCWD, os.fsencode(b), _RENAME_EXCHANGE) == 0


def _keep(target: Path, aside: Path) -> None:
    """Gives a file a second name; where the file system has no links, another one."""
    try:
        os.link(target, aside)
    except (OSError, NotImplementedError):
        target.rename(aside)


def _take_places(new: list[Path], targets: Sequence[Path], first_beside: int) -> None:
    """Renames files over others, all or none of them; those from `first_beside` on are set aside first."""
    replaced: list[tuple[Path, Path | None]] = []

    def set_aside(target: Path, keep: Callable[[Path, Path], object]) -> None:
        aside = sibling(target) if target.exists() else None
        replaced.append((target, aside))
        if aside is not None:
            keep(target, aside)

    try:
        for n, target in enumerate(targets):
            if n < first_beside == 1:
                continue
            ready = new[n].with_name(new[n].name.removesuffix(_TEMPORARY) + _READY + _TEMPORARY)
            new[n].rename(ready)
            new[n] = ready
            if n >= first_beside:
                set_aside(target, Path.rename)
        for built, target in list(zip(new, targets, strict=True))[:first_beside]:
            set_aside(target, _keep)
            built.replace(target)
        for built, target in list(zip(new, targets, strict=True))[first_beside:]:
            built.rename(target)
    except BaseException:
        for target, aside in reversed(replaced):
            if aside is None:
                target.unlink(missing_ok=True)
            elif aside.exists():
                aside.replace(target)
        raise
    for _, aside in replaced:
        if aside is not None:
            aside.unlink()


def sync_stream(stream: BinaryIO) -> None:
    """Flushes an open file to disk."""
    stream.flush()
    os.fsync(stream.fileno())


def sync_file(path: Path) -> None:
    """Flushes a file to disk."""
    # Windows flushes only descriptors opened for writing.
    fd = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_folder(path: Path) -> None:
    """Makes a rename durable, where folders can be flushed at all."""
    with suppress(OSError):
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


@contextmanager
def full_disk_reported(path: str | os.PathLike[str]) -> Generator[None]:
    """Turns a full disk inside the block into a diagnostic about the output."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        raise DiagnosticError(output_fault(path, error)) from error


def reported(path: str | os.PathLike[str], action: Callable[[], T]) -> T:
    """Calls a function, and turns an error of the operating system into a diagnostic about the output.

    Raises: CANNOT_WRITE, DISK_FULL.
    """
    try:
        return action()
    except OSError as error:
        raise DiagnosticError(output_fault(path, error)) from error


def unread_file(path: str, error: OSError, contents: str) -> DiagnosticError:
    """Returns the error of a file that cannot be read; `contents` says what is in it, such as "an input"."""
    if isinstance(error, FileNotFoundError):
        message, help = f"cannot read {contents}: no such file", did_you_mean_file(path)
        return DiagnosticError(Diagnostic(file_codes.FILE_NOT_FOUND, message, file=path, help=help))
    message = f"cannot read {contents}: {(error.strerror or type(error).__name__).lower()}"
    return DiagnosticError(Diagnostic(file_codes.FILE_NOT_ACCESSIBLE, message, file=path))


def output_fault(path: str | os.PathLike[str] | None, error: OSError) -> Diagnostic:
    """Returns the diagnostic for an error of the operating system in writing to a path; None is standard output."""
    reason = (error.strerror or type(error).__name__).lower()
    file = "<standard output>" if path is None else os.fspath(path)
    if error.errno in NO_SPACE:
        free = None if path is None else _free_bytes(Path(path))
        notes = (f"free on that disk: {free:,} bytes",) if free is not None else ()
        return Diagnostic(codes.DISK_FULL, f"no room to write the output: {reason}", file=file, notes=notes)
    is_missing = isinstance(error, FileNotFoundError)
    help = "create the folder first" if is_missing else "check that the folder may be written"
    return Diagnostic(
        codes.CANNOT_WRITE, f"cannot write the output: {reason}", file=file, help=None if path is None else help
    )


def _free_bytes(path: Path) -> int | None:
    try:
        return shutil.disk_usage(path.absolute().parent).free
    except OSError:
        return None


def in_the_way(path: str | os.PathLike[str], reason: str) -> Diagnostic:
    """Returns the diagnostic about something that an output does not replace."""
    return Diagnostic(
        codes.OUTPUT_IN_THE_WAY,
        f"the output is not written: {reason}",
        file=os.fspath(path),
        help="choose another name, or remove what is there",
    )
