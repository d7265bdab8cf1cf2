"""Opening files that a model names, never outside of the folder that they must lie in.

A name is a relative path. It is refused when it is absolute, when its `..` lead out of the folder, when a part of it is
a symbolic link, and when the file has a second name somewhere else, which may be outside. The parts of a path are
opened one after another, each in the folder opened before, so that exchanging one meanwhile leads nowhere else.

Where the system has no such opening of parts (Windows), the path is resolved and compared before and after opening.
"""

from __future__ import annotations

import os
import posixpath
import stat
from pathlib import Path
from typing import BinaryIO

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import PATH_OUTSIDE_MODEL
from commonir.base.text import escape

_BY_PARTS = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


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
    elif status.st_nlink > 1:
        reason = "the file has another name, which may be anywhere"
    if reason:
        stream.close()
        raise DiagnosticError(_outside(name, reason))
    return stream


def _opened_by_parts(folder: str | os.PathLike[str], path: str, name: str) -> BinaryIO:
    *folders, last = path.split("/")
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in folders:
            _refuse_link(part, at, name)
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = inner
        _refuse_link(last, at, name)
        # A pipe in the place of a file would wait forever.
        return os.fdopen(os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at), "rb")
    finally:
        os.close(at)


def _refuse_link(part: str, folder: int, name: str) -> None:
    """Says of a link that it is one; should it become one later, opening it fails."""
    if stat.S_ISLNK(os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode):
        raise DiagnosticError(_outside(name, "a part of it is a symbolic link"))


def _opened_and_compared(folder: str | os.PathLike[str], path: str, name: str) -> BinaryIO:
    place = Path(folder, path)
    if Path(os.path.realpath(place)) != Path(os.path.realpath(folder), path):
        raise DiagnosticError(_outside(name, "a part of it is a symbolic link"))
    stream = place.open("rb")
    if not os.path.samestat(os.fstat(stream.fileno()), place.lstat()):
        stream.close()
        raise DiagnosticError(_outside(name, "it was exchanged while it was opened"))
    return stream


def _outside(name: str, reason: str) -> Diagnostic:
    message = f"the path '{escape(name)}' is refused: {reason}"
    return Diagnostic(PATH_OUTSIDE_MODEL, message, help="put the file next to the model, under a plain relative name")
