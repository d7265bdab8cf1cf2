"""Replaces a file together with the files that it refers to by name, so that a reader finds the old or the new ones.

Two names cannot be exchanged in one step. So new files get free names first, and the file that refers to them is
renamed over the old one: from this step on, the new output is there. Then the new files get the names of the old ones,
by a link that lasts until the file that refers to them is replaced once more. A process killed at any point leaves a
file whose names all lead to its own data, and a temporary that refers to the other names, by which the next output
finds what to remove; in the last step, which takes no copying, the data may have two names, which the checker of onnx
refuses. Where the file system has no links, the new files keep their free names.

A new file never replaces one of another writer that has chosen the same name meanwhile: it gets another name.

It never decides what is written, and never follows a name found inside a model.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from commonir.base.copying import clone_file
from commonir.base.diagnostics import DiagnosticError
from commonir.base.files import (
    full_disk_reported,
    in_the_way,
    keep_mode,
    leftovers_of,
    remove_leftovers,
    reported,
    sibling,
    sync_file,
    sync_folder,
    unwound_by_signals,
)
from commonir.base.tuples import NamedTuple


class LinkedFile(NamedTuple):
    """A file to be written: its path, which may be that of an old file that nothing but the old output refers to.

    `is_new` says that nothing was at the path when it was chosen: what is there now is of another writer. `is_fixed`
    says that the file has this name or none. `clone` creates the file under a name if that takes no copying, and
    returns whether it did.
    """

    path: Path
    write: Callable[[BinaryIO], object]
    clone: Callable[[Path], bool] = lambda _: False
    is_new: bool = False
    is_fixed: bool = False


class _Identity(NamedTuple):
    """The identity of a file, the same under any of its names."""

    device: int
    number: int


@unwound_by_signals()
def replace_together(
    path: str | os.PathLike[str],
    linked: Sequence[LinkedFile],
    write: Callable[[BinaryIO, Sequence[Path]], object],
    obsolete: Iterable[Path] = (),
) -> tuple[Path, ...]:
    """Writes files, and the file at `path` that refers to them, and returns the paths of the files.

    `write` writes the one that refers to the others, which are at the given paths then; it is called after these are
    written, and more than once if an old file is replaced or a name taken. `obsolete` are files that only the old
    output refers to: they are removed. A symbolic link at `path` is replaced, as names in a file start from where it is
    found.

    Raises: CANNOT_WRITE, DISK_FULL. Other exceptions of the functions pass through.
    """
    target = Path(path)
    final = [file.path for file in linked]
    _require_files(target, *final)
    staged = list(final)
    for n, file in enumerate(linked):
        if not file.is_new and os.path.lexists(file.path):
            staged[n] = free_name(file.path, [p.name for p in (target, *staged)])
    temporaries = [sibling(p) for p in (*final, target, target, target)]
    first, second, record = temporaries[len(final) :]
    identities: list[_Identity | None] = []
    outputs: list[_Identity | None] = []
    try:
        for file, temporary in zip(linked, temporaries, strict=False):
            _create(file.path, temporary, file.write, file.clone)
        # All are written before the first is waited for: one commit of the file system then serves many.
        for file, temporary in zip(linked, temporaries, strict=False):
            _flush(file.path, temporary)
            identities.append(_identity(temporary))
        _take_names(target, linked, staged, final, temporaries, write, outputs)
        for folder in {p.parent for p in staged}:
            sync_folder(folder)
        if staged != final:
            # What refers to the free names lasts as long as these: the next output finds there what to remove.
            with suppress(OSError, NotImplementedError):
                os.link(first, record)
        reported(target, lambda: first.replace(target))
        sync_folder(target.parent)
        if staged != final:
            final = _settle(staged, final, second, target)
        for old in obsolete:
            with suppress(OSError):
                old.unlink()
    finally:
        # An interrupt may come right after the step that makes the new files those of the output.
        unused = [name for name, own in zip(staged, identities, strict=False) if _identity(name) == own]
        unused = [] if _identity(target) in outputs else unused
        for leftover in (*unused, *temporaries):
            with suppress(OSError):
                leftover.unlink()
    sync_folder(target.parent)
    remove_leftovers(target, *final)
    return tuple(final)


def _take_names(
    target: Path,
    linked: Sequence[LinkedFile],
    staged: list[Path],
    final: list[Path],
    temporaries: Sequence[Path],
    write: Callable[[BinaryIO, Sequence[Path]], object],
    outputs: list[_Identity | None],
) -> None:
    """Writes what refers to the files, and moves these to their names; changes names that others take meanwhile.

    Raises: CANNOT_WRITE, DISK_FULL.
    """
    first, second = temporaries[len(final) : len(final) + 2]
    pending = list(range(len(final)))
    while True:
        _create(target, first, lambda stream: write(stream, staged))
        if staged != final:
            _create(target, second, lambda stream: write(stream, final))
        for temporary in (first, second) if staged != final else (first,):
            _flush(target, temporary)
            outputs.append(_identity(temporary))
        pending = [n for n in pending if not reported(target, partial(_take_name, temporaries[n], staged[n]))]
        if not pending:
            return
        # What refers to files of others goes before anything else is done.
        for refused in (first, second):
            refused.unlink(missing_ok=True)
        for n in pending:
            if linked[n].is_fixed and staged[n] == final[n]:
                raise DiagnosticError(in_the_way(final[n], "another output has just been written there"))
            chosen = free_name(linked[n].path, [p.name for p in (target, *staged)])
            final[n] = chosen if staged[n] == final[n] else final[n]
            staged[n] = chosen


def _take_name(temporary: Path, name: Path) -> bool:
    """Moves a file to a name that nothing has; returns False where something has it. Raises: OSError."""
    try:
        os.link(temporary, name)
    except FileExistsError:
        return False
    except (OSError, NotImplementedError):
        # Without links, an empty file takes the name.
        try:
            name.open("xb").close()
        except FileExistsError:
            return False
        try:
            temporary.replace(name)
        except BaseException:
            name.unlink()
            raise
    else:
        temporary.unlink()
    return True


def _identity(path: Path) -> _Identity | None:
    """Returns the identity of a file; None where there is none."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return _Identity(status.st_dev, status.st_ino)


def _require_files(*places: Path) -> None:
    """Raises: OUTPUT_IN_THE_WAY."""
    for place in places:
        if os.path.lexists(place) and not place.is_file():
            raise DiagnosticError(in_the_way(place, "something that is not a file is in its place"))


def _flush(path: Path, temporary: Path) -> None:
    """Waits until a temporary is on the disk. Raises: CANNOT_WRITE, DISK_FULL, about the path that it becomes."""
    with full_disk_reported(path):
        reported(path, lambda: sync_file(temporary))


def named_by_leftovers(target: Path, places: Iterable[Path]) -> list[Path]:
    """Returns those of some files below the folder of an output that a killed process wrote, or replaced, for it: the
    temporaries that it left refer to them.
    """
    contents = [leftover.read_bytes() for leftover in leftovers_of(target) if is_plain_file(leftover)]
    return [p for p in places if any(p.relative_to(target.parent).as_posix().encode() in text for text in contents)]


def free_name(path: Path, taken: Iterable[str] = ()) -> Path:
    """Returns a name beside a path that no file and nothing of `taken` has: `m.1.data` for `m.data`."""
    known = {name.casefold() for name in taken}
    number = 0
    while True:
        number += 1
        result = path.with_name(f"{path.stem}.{number}{path.suffix}")
        if not os.path.lexists(result) and result.name.casefold() not in known:
            return result


def _create(
    path: Path, temporary: Path, write: Callable[[BinaryIO], object], clone: Callable[[Path], bool] = lambda _: False
) -> None:
    """Writes a file under a temporary name."""
    with full_disk_reported(path):
        if clone(temporary):
            keep_mode(path, temporary)
            return
        with reported(path, lambda: temporary.open("xb")) as stream:
            keep_mode(path, temporary)
            write(stream)
            reported(path, stream.flush)


def _settle(staged: Sequence[Path], final: Sequence[Path], main: Path, target: Path) -> list[Path]:
    """Gives new files the names of the old ones, and returns the names that they have then."""
    pairs = [(name, path) for name, path in zip(staged, final, strict=True) if name != path]
    links: list[Path] = []
    try:
        for name, path in pairs:
            links.append(sibling(path))
            _share(name, links[-1])
            links[-1].replace(path)
        main.replace(target)
    except (OSError, NotImplementedError):
        # The output is complete under the names that it has.
        pass
    finally:
        is_settled = not os.path.lexists(main)
        sync_folder(target.parent)
        for leftover in (*links, *[name if is_settled else path for name, path in pairs]):
            with suppress(OSError):
                leftover.unlink()
    return list(final if is_settled else staged)


def _share(path: Path, other: Path) -> None:
    """Gives a file a second name, of its own where the file system shares blocks. Raises: OSError."""
    with path.open("rb") as stream:
        if not clone_file(stream.fileno(), other):
            os.link(path, other)


def is_plain_file(path: str | os.PathLike[str]) -> bool:
    """Returns whether there is a regular file, not a symbolic link, at a path."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False
