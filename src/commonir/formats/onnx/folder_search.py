"""Finds which data files the models in a folder refer to, without reading the models.

What a tensor says of its external data is searched for in the bytes of each file: in the form of a message, where it
gives the location first as all tools do, and as a text in quotes. No file is changed, and nothing is opened by a name
that stands in a file.

Limits: files and bytes of one folder; beyond them nothing is known, which is said.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from mmap import ACCESS_READ, mmap
from pathlib import Path

from commonir.base.diagnostics import DiagnosticError
from commonir.base.files import is_temporary
from commonir.base.safe_paths import normal_path
from commonir.base.tuples import NamedTuple
from commonir.formats.content import content_of
from commonir.formats.onnx.external_data import LENGTH, LOCATION, OFFSET

_MARK = b"\x0a\x08" + LOCATION.encode() + b"\x12"
"""How an entry of external data begins: its key, and the tag of its value."""
_KEY, _VALUE, _ENTRY = 0x0A, 0x12, 0x6A
"""Tags of the fields of an entry, and of entries in a tensor."""
_MODEL_SUFFIXES = (".onnx", ".cir", ".json", ".onnxtxt", ".ort", ".pb")
_SMALL_BYTES = 2**24
"""Files of up to this size are searched whatever they are."""
_MAX_FILES = 1000
_MAX_BYTES = 2**34
_MOST_DIGITS = 20


class Reference(NamedTuple):
    """Bytes of a data file that a tensor refers to; `length` is None where the tensor does not say it."""

    location: str
    offset: int
    length: int | None


class Neighbours(NamedTuple):
    """Data files that other files in a folder refer to, each with the name of one of these.

    `is_complete` is False where the folder has more than is searched: then files that are not named may be referred to.
    """

    users: dict[str, str]
    is_complete: bool


def references_in(path: Path) -> list[Reference]:
    """Returns the data files that a model refers to, by their paths from its folder; empty where there is no model."""
    try:
        with path.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as content:
            return list(_references(content))
    except (OSError, ValueError):
        return []


def neighbours_of(model: Path, names: Collection[str]) -> Neighbours:
    """Returns which of some data files, by their paths from the folder of a model, other files there refer to."""
    wanted = {name.casefold(): name for name in names}
    users: dict[str, str] = {}
    remaining = _MAX_BYTES
    own = {model.name.casefold(), *wanted}
    try:
        with os.scandir(model.parent) as entries:
            searched = 0
            for entry in entries:
                if entry.name.casefold() in own or is_temporary(entry.name) or not entry.is_file():
                    continue
                size_bytes = entry.stat().st_size
                searched += 1
                if searched > _MAX_FILES or (_may_refer(entry.path, size_bytes) and size_bytes > remaining):
                    return Neighbours(users, is_complete=False)
                if size_bytes and _may_refer(entry.path, size_bytes):
                    remaining -= size_bytes
                    for name in _mentioned(Path(entry.path), wanted):
                        users.setdefault(wanted[name], entry.name)
    except (OSError, ValueError, DiagnosticError):
        return Neighbours(users, is_complete=False)
    return Neighbours(users, is_complete=True)


def _may_refer(path: str, size_bytes: int) -> bool:
    if size_bytes <= _SMALL_BYTES or path.lower().endswith(_MODEL_SUFFIXES):
        return True
    fields = content_of(path).fields
    return fields.is_protobuf and fields.may_be_onnx


def _mentioned(path: Path, names: Collection[str]) -> Iterator[str]:
    """Yields which of some names, in lower case, a file refers to. Raises: OSError."""
    with path.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as content:
        if content.find(LOCATION.encode()) < 0:
            return
        found = {reference.location.casefold() for reference in _references(content)}
        for name in names:
            if name in found or content.find(name.rpartition("/")[2].encode() + b'"') >= 0:
                yield name


def _references(content: mmap) -> Iterator[Reference]:
    at = content.find(_MARK)
    while at >= 0:
        end, value = _bytes_at(content, at + len(_MARK))
        entries = {LOCATION: value, **dict(_entries_after(content, end))}
        with suppress(DiagnosticError, UnicodeDecodeError):
            offset, length = (_number(entries.get(key)) for key in (OFFSET, LENGTH))
            yield Reference(normal_path(entries[LOCATION].decode()), offset or 0, length)
        at = content.find(_MARK, end)


def _entries_after(content: mmap, at: int) -> Iterator[tuple[str, bytes]]:
    """Yields the further entries of a tensor."""
    while at < len(content) and content[at] == _ENTRY:
        at, entry = _bytes_at(content, at + 1)
        if not entry or entry[0] != _KEY:
            continue
        place, key = _bytes_at(entry, 1)
        if place < len(entry) and entry[place] == _VALUE:
            yield key.decode(errors="replace"), _bytes_at(entry, place + 1)[1]


def _bytes_at(content: mmap | bytes, at: int) -> tuple[int, bytes]:
    """Returns the place after a field of bytes whose length is at a place, and the bytes."""
    length = shift = 0
    while at < len(content) and shift < 32:
        byte = content[at]
        length |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            break
    end = min(at + length, len(content))
    return end, content[at:end]


def _number(text: bytes | None) -> int | None:
    return int(text) if text and text.isdigit() and len(text) <= _MOST_DIGITS else None
