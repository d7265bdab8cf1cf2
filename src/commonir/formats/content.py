"""The content of a path as formats look at it to recognize their files: first bytes, text, outermost fields.

It reads a few kilobytes and the outermost tags of a protobuf message, whatever the size of the file; it never parses a
program.
"""

from __future__ import annotations

import os
import stat
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from commonir.base import file_codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_contents import contents_of, identity_of
from commonir.base.text import escape
from commonir.formats.first_contact import not_accessible, not_found, placeholder
from commonir.formats.protobuf.outer_fields import OuterFields, outer_fields

if TYPE_CHECKING:
    from mmap import mmap

_HEAD_BYTES = 4096
# How often a folder is listed that is replaced each time.
_LISTINGS = 10
# Bytes with which no text begins, but most binary models do.
_NOT_TEXT = frozenset(range(9))
_LAYOUT = "\t\r\n"
_NO_LAYOUT = dict.fromkeys(map(ord, _LAYOUT))
_CONTROL_BYTES = bytes(byte for byte in range(ord(" ")) if chr(byte) not in _LAYOUT)


class FileContent:
    """The content of a file, or the names in a folder."""

    def __init__(self, path: str | os.PathLike[str], head: bytes, entries: tuple[str, ...] | None = None) -> None:
        self.path = path
        self.name = os.fspath(path)
        self.head = head
        self.entries = entries
        """The names in a folder, sorted; None for a file."""

    @property
    def size_bytes(self) -> int:
        """The size of a file."""
        return len(self._bytes)

    @cached_property
    def _bytes(self) -> bytes | mmap:
        if len(self.head) < _HEAD_BYTES:
            return self.head
        with open(self.path, "rb") as stream:
            return contents_of(stream)

    @cached_property
    def text(self) -> str | None:
        """The beginning of the file as text, without a byte order mark; None when it is not UTF-8."""
        if not self.head or self.head[0] in _NOT_TEXT:
            return None
        try:
            text = self.head.decode("utf-8")
        except UnicodeDecodeError as error:
            # The head may end within a character.
            if error.start < len(self.head) - 3:
                return None
            text = self.head[: error.start].decode("utf-8")
        return text.removeprefix("\ufeff")

    @cached_property
    def is_binary(self) -> bool:
        """Returns whether the beginning has control characters, which text in no encoding has."""
        return len(self.head.translate(None, _CONTROL_BYTES)) < len(self.head)

    @cached_property
    def code(self) -> str | None:
        """The text without leading spaces and `//` comments; None for what is not printable text."""
        if self.text is None or not self.text.translate(_NO_LAYOUT).isprintable():
            return None
        rest = self.text.lstrip()
        while rest.startswith("//"):
            rest = rest.partition("\n")[2].lstrip()
        return rest

    @cached_property
    def fields(self) -> OuterFields:
        """The outermost fields of the file as a protobuf message; none of a folder."""
        return outer_fields(self._bytes, 0, self.size_bytes)

    def inner_fields(self, number: int) -> OuterFields:
        """The fields of the message in an outermost field, which must be there."""
        return outer_fields(self._bytes, *self.fields.spans[number])


def content_of(path: str | os.PathLike[str]) -> FileContent:
    """Returns what a path holds.

    Raises: FILE_NOT_FOUND, FILE_NOT_ACCESSIBLE.
    """
    file = os.fspath(path)
    try:
        if _is_folder(file):
            return FileContent(path, b"", _names_in(file))
        # A buffer would save nothing: all that is read is the head.
        with open(file, "rb", buffering=0) as stream:
            head = _head_of(stream)
    except FileNotFoundError as error:
        raise DiagnosticError(not_found(Path(path))) from error
    except OSError as error:
        raise DiagnosticError(not_accessible(Path(path), error)) from error
    return FileContent(path, head)


def _names_in(folder: str) -> tuple[str, ...]:
    """Returns the names in a folder, sorted.

    A folder that is replaced as it is listed is listed again: what was listed may already have been emptied.
    """
    names: list[str] = []
    for _ in range(_LISTINGS):
        before = identity_of(os.stat(folder))
        names = os.listdir(folder)
        if identity_of(os.stat(folder)) == before:
            break
    return tuple(sorted(names))


def _head_of(stream: BinaryIO) -> bytes:
    head = stream.read(_HEAD_BYTES)
    while len(head) < _HEAD_BYTES and (more := stream.read(_HEAD_BYTES - len(head))):
        head += more
    return head


def require_content(path: str | os.PathLike[str], *, where: str = "") -> None:
    """Checks that a file of a model holds content and not a placeholder for it; `where` says what refers to it.

    Raises: MISSING_PART, FILE_NOT_ACCESSIBLE, EMPTY_FILE, LFS_POINTER, WEB_PAGE.
    """
    place = Path(path)
    try:
        _is_folder(os.fspath(path))
        with place.open("rb") as stream:
            result = placeholder(stream.read(_HEAD_BYTES), os.fspath(path))
    except FileNotFoundError as error:
        message = f"the file '{escape(place.name)}' is missing"
        help = "copy the model together with its data files, under their original names"
        raise DiagnosticError(
            Diagnostic(file_codes.MISSING_PART, message, where=where, file=os.fspath(path), help=help)
        ) from error
    except DiagnosticError as error:
        raise DiagnosticError(*(d.located(where=where) for d in error.diagnostics)) from None
    except OSError as error:
        raise DiagnosticError(not_accessible(place, error).located(where=where)) from error
    if result:
        raise DiagnosticError(result.located(where=where))


def _is_folder(file: str) -> bool:
    """Returns whether there is a folder. Refuses pipes and devices before they are opened: reading one may block.

    Raises: FILE_NOT_ACCESSIBLE; OSError as `stat`.
    """
    mode = os.stat(file).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        message = "cannot read the file: it is a pipe or a device"
        help = "save the model to a file, or pass it on standard input: `-`"
        raise DiagnosticError(Diagnostic(file_codes.FILE_NOT_ACCESSIBLE, message, file=file, help=help))
    return stat.S_ISDIR(mode)
