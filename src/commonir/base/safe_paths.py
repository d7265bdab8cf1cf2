"""Opens files to be read: regular ones only, and those that a model names never outside of the model's folder.

A name in a model is a relative path. It is refused if it is absolute, if its `..` lead out of the folder, if a part of
it is a symbolic link, or if the file has a hard link that is not beside it, and so may be outside. The parts of a path
are opened one after another, each relative to the folder opened before, so that exchanging one leads nowhere else. A
symbolic link is only followed to a file below the folder, opened in the same way, and in a cache of the Hugging Face
hub: there, the files of a model are links to files directly in one folder `blobs`.

Where the system cannot open relative to a folder (Windows), the path is resolved and compared before and after opening.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import PATH_OUTSIDE_MODEL
from commonir.base.text import escape

_BLOBS, _SNAPSHOTS = "blobs", "snapshots"
_MOST_COUNTS = 5
"""How often the names of a file are counted while processes change them."""

_BY_PARTS = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Opens a file for reading.

    Raises: OSError, also for a pipe or a device: opening one may wait forever, and reading it may not end.
    """
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    mode = os.fstat(fd).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(fd, "rb")
    os.close(fd)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise OSError(errno.EINVAL, "it is a pipe or a device", os.fspath(path))


def normal_path(name: str) -> str:
    """Returns a relative path as written by a file, with `/` between its parts and without `.` and `..`.

    Raises: PATH_OUTSIDE_MODEL when it is absolute or leads out of the folder that it starts from.
    """
    is_strange = not name or "\0" in name or "\\" in name or (len(name) > 1 and name[1] == ":")
    path = posixpath.normpath(name)
    if is_strange or name.startswith("/") or path == ".." or path.startswith("../") or path == ".":
        raise DiagnosticError(_outside(name, "it must be a relative path that stays below the folder of the model"))
    return path


def open_inside(folder: str | os.PathLike[str], name: str) -> BinaryIO:
    """Opens a file by a path relative to a folder that it must lie below.

    Raises: PATH_OUTSIDE_MODEL; OSError, such as FileNotFoundError, as `open`.
    """
    path = normal_path(name)
    stream = _opened_by_parts(folder, path, name) if _BY_PARTS else _opened_and_compared(folder, path, name)
    status = os.fstat(stream.fileno())
    reason = ""
    if not stat.S_ISREG(status.st_mode):
        reason = "it is not a regular file"
    elif status.st_nlink > 1 and status.st_nlink != _names_of(status, Path(folder, path).parent):
        reason = "the file has another name, which may be anywhere"
    if reason:
        stream.close()
        raise DiagnosticError(_outside(name, reason))
    return stream


def open_beside(folder: str | os.PathLike[str], name: str) -> tuple[Path, BinaryIO]:
    """Opens a file as `open_inside`, through links that stay below the folder or lead to a blob of a hub's cache.

    Returns the path that it has without links, and the open file. Raises: as `open_inside`.
    """
    try:
        return Path(folder, normal_path(name)), open_inside(folder, name)
    except DiagnosticError:
        root = Path(os.path.realpath(folder))
        target = Path(os.path.realpath(root / normal_path(name)))
        if target != root / normal_path(name) and target.is_relative_to(root):
            return target, open_inside(root, target.relative_to(root).as_posix())
        if is_blob_of(target, root):
            return target, open_inside(target.parent, target.name)
        raise


def is_blob_of(target: Path, folder: Path) -> bool:
    """Returns whether a file is directly in the folder `blobs` of the hub's cache that has a folder among its
    snapshots. Both paths have no links.
    """
    return target.parent.name == _BLOBS and folder.is_relative_to(target.parent.with_name(_SNAPSHOTS))


def has_name_outside(path: Path, folders: Iterable[Path]) -> bool:
    """Returns whether a file has another name that is in or below none of some folders."""
    inner = dict.fromkeys([Path(below) for folder in folders for below, _, _ in os.walk(folder)])
    for _ in range(_MOST_COUNTS):
        try:
            file = path.stat()
        except OSError:
            return False
        # A process that replaces the file gives it another name for a moment, which may end while names are counted.
        if file.st_nlink <= 1 or file.st_nlink == sum([_names_of(file, folder) for folder in inner]):
            return False
    return True


def _names_of(file: os.stat_result, folder: Path) -> int:
    """Returns how many names of a file are in a folder."""
    count = 0
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            # One that is removed meanwhile is not a name.
            with suppress(FileNotFoundError):
                count += entry.inode() == file.st_ino and os.path.samestat(entry.stat(follow_symlinks=False), file)
    return count


def _opened_by_parts(folder: str | os.PathLike[str], path: str, name: str) -> BinaryIO:
    *folders, last = path.split("/")
    folder_fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in folders:
            _refuse_link(part, folder_fd, name)
            next_fd = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder_fd)
            os.close(folder_fd)
            folder_fd = next_fd
        _refuse_link(last, folder_fd, name)
        # A pipe in the place of a file would wait forever.
        return os.fdopen(os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder_fd), "rb")
    finally:
        os.close(folder_fd)


def _refuse_link(part: str, folder: int, name: str) -> None:
    """Refuses a symbolic link with a message of its own; opening one fails in any case."""
    if stat.S_ISLNK(os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode):
        raise DiagnosticError(_outside(name, "a part of it is a symbolic link"))


def _opened_and_compared(folder: str | os.PathLike[str], path: str, name: str) -> BinaryIO:
    full_path = Path(folder, path)
    if Path(os.path.realpath(full_path)) != Path(os.path.realpath(folder), path):
        raise DiagnosticError(_outside(name, "a part of it is a symbolic link"))
    stream = full_path.open("rb")
    if not os.path.samestat(os.fstat(stream.fileno()), full_path.lstat()):
        stream.close()
        raise DiagnosticError(_outside(name, "it was exchanged while it was opened"))
    return stream


def _outside(name: str, reason: str) -> Diagnostic:
    message = f"the path '{escape(name)}' is refused: {reason}"
    return Diagnostic(PATH_OUTSIDE_MODEL, message, help="put the file next to the model, under a plain relative name")
