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
from collections.abc import Callable, Container, Iterable, Sequence
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
    return _Save(Path(path), linked, write).done(obsolete)


class _Save:
    """One output: files under temporary names, and the names that they get.

    `staged` are the names until the file that refers to them is replaced, `final` those after it. `first` refers to the
    staged names, `second` to the final ones; `record` is `first` under a name that lasts until all is done.
    """

    def __init__(
        self, target: Path, linked: Sequence[LinkedFile], write: Callable[[BinaryIO, Sequence[Path]], object]
    ) -> None:
        self.target = target
        self.linked = linked
        self.write = write
        self.final = [file.path for file in linked]
        _require_files(target, *self.final)
        self.names = {p.name.casefold() for p in (target, *self.final)}
        self.staged = [
            self._free_name(file) if not file.is_new and os.path.lexists(file.path) else file.path for file in linked
        ]
        self.temporaries = [sibling(p) for p in self.final]
        self.first, self.second, self.record = [sibling(target) for _ in range(3)]
        self.identities: list[_Identity | None] = []
        self.outputs: list[_Identity | None] = []

    def done(self, obsolete: Iterable[Path]) -> tuple[Path, ...]:
        """Writes everything; returns the names of the files. Raises: CANNOT_WRITE, DISK_FULL."""
        target, final = self.target, self.final
        try:
            self._write_files()
            self._take_names()
            for folder in {p.parent for p in self.staged}:
                sync_folder(folder)
            if self.is_staged:
                # What refers to the free names lasts as long as these: the next output finds there what to remove.
                with suppress(OSError, NotImplementedError):
                    os.link(self.first, self.record)
            reported(target, lambda: self.first.replace(target))
            sync_folder(target.parent)
            if self.is_staged:
                final = _settle(self.staged, final, self.second, target)
            for old in obsolete:
                with suppress(OSError):
                    old.unlink()
        finally:
            # An interrupt may come right after the step that makes the new files those of the output.
            unused = [n for n, own in zip(self.staged, self.identities, strict=False) if _identity(n) == own]
            unused = [] if _identity(target) in self.outputs else unused
            for leftover in (*unused, *self.temporaries, self.first, self.second, self.record):
                with suppress(OSError):
                    leftover.unlink()
        sync_folder(target.parent)
        remove_leftovers(target, *final)
        return tuple(final)

    @property
    def is_staged(self) -> bool:
        """Whether files have other names at first."""
        return self.staged != self.final

    def _free_name(self, file: LinkedFile) -> Path:
        result = free_name(file.path, self.names)
        self.names.add(result.name.casefold())
        return result

    def _write_files(self) -> None:
        for file, temporary in zip(self.linked, self.temporaries, strict=True):
            _create(file.path, temporary, file.write, file.clone)
        # All are written before the first is waited for: one commit of the file system then serves many.
        for file, temporary in zip(self.linked, self.temporaries, strict=True):
            _flush(file.path, temporary)
            self.identities.append(_identity(temporary))

    def _take_names(self) -> None:
        """Writes what refers to the files, and moves these to their names; changes names that others take meanwhile.

        Raises: CANNOT_WRITE, DISK_FULL.
        """
        pending = list(range(len(self.final)))
        while True:
            _create(self.target, self.first, lambda stream: self.write(stream, self.staged))
            if self.is_staged:
                _create(self.target, self.second, lambda stream: self.write(stream, self.final))
            for temporary in (self.first, self.second) if self.is_staged else (self.first,):
                _flush(self.target, temporary)
                self.outputs.append(_identity(temporary))
            take = [partial(_take_name, t, name) for t, name in zip(self.temporaries, self.staged, strict=True)]
            pending = [n for n in pending if not reported(self.target, take[n])]
            if not pending:
                return
            # What refers to files of others goes before anything else is done.
            for refused in (self.first, self.second):
                refused.unlink(missing_ok=True)
            for n in pending:
                self._rename(n)

    def _rename(self, n: int) -> None:
        """Gives a file another name, because something has been written under the one that was chosen."""
        is_final = self.staged[n] == self.final[n]
        if self.linked[n].is_fixed and is_final:
            raise DiagnosticError(in_the_way(self.final[n], "another output has just been written there"))
        self.staged[n] = self._free_name(self.linked[n])
        if is_final:
            self.final[n] = self.staged[n]


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


def free_name(path: Path, taken: Container[str] = ()) -> Path:
    """Returns a name beside a path that no file has, nor, case-folded, `taken`: `m.1.data` for `m.data`."""
    number = 0
    while True:
        number += 1
        result = path.with_name(f"{path.stem}.{number}{path.suffix}")
        if not os.path.lexists(result) and result.name.casefold() not in taken:
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
