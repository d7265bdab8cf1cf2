"""A bounded folder of files that can be made again, each under a key.

An entry has a JSON description and sections of bytes, which are mapped. It is written under another name and renamed,
so readers see all of it or nothing; one that is damaged, or that another user could have written, is never returned.
Nothing here raises for the file system: a cache that does not work costs time.

An entry begins with a line, the number of bytes of the description, and its SHA-256. Sections follow at multiples of
`ALIGNMENT`; the description has their places and digests.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from commonir.base.tuples import NamedTuple

ALIGNMENT = 64
"""Bytes that sections are aligned to in a file: a line of the processor's cache."""

_HEAD = struct.Struct("<20sQ32s")
_MAGIC = b"commonir cache 1\n\0\0\0"
_SUFFIX, _TEMPORARY = ".entry", ".tmp"
_MAX_DESCRIPTION_BYTES = 1 << 26
_HASHED_BYTES = 1 << 20
_PART_WORDS = 1 << 13
_ABANDONED_SECONDS = 3600
"""The age from which on a temporary file is that of a process that has ended."""

Write = Callable[[BinaryIO], object]


class Entry(NamedTuple):
    """An entry: its description, and its sections by name, which are valid while this lives."""

    description: Mapping[str, Any]
    sections: Mapping[str, memoryview]


class FileCache:
    """Entries of at most some bytes together, of which those go first that were not used for longest."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder = folder
        self._most_bytes = most_bytes

    def read(self, key: str) -> Entry | None:
        """Returns the entry of a key; None if there is none, or a damaged one, which is removed."""
        path = self._path(key)
        try:
            with path.open("rb") as file:
                if not _is_own(os.fstat(file.fileno())):
                    return None
                content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except (OSError, ValueError):
            return None
        entry = _entry_of(content, key)
        with suppress(OSError):
            if entry is None:
                path.unlink()
            else:
                # The time of the last use.
                os.utime(path)
        return entry

    def write(self, key: str, description: Mapping[str, Any], sections: Mapping[str, Write]) -> None:
        """Stores an entry in place of an old one, if the folder can be written."""
        temporary = self._folder / f"{key}-{os.getpid()}-{os.urandom(4).hex()}{_TEMPORARY}"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with temporary.open("x+b") as file:
                _write_entry(file, key, description, sections)
            temporary.chmod(0o600)
            temporary.replace(self._path(key))
        except OSError:
            with suppress(OSError):
                temporary.unlink()
            return
        self._trim()

    def files(self) -> list[tuple[Path, os.stat_result]]:
        """Returns all entries with their status, those first that were not used for longest."""
        out = [(path, status) for path, status in self._all() if path.suffix == _SUFFIX]
        return sorted(out, key=lambda item: item[1].st_mtime_ns)

    def clear(self) -> None:
        """Removes all entries."""
        for path, _ in self._all():
            with suppress(OSError):
                path.unlink()

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}{_SUFFIX}"

    def _all(self) -> Iterator[tuple[Path, os.stat_result]]:
        try:
            paths = [p for p in self._folder.iterdir() if p.suffix in (_SUFFIX, _TEMPORARY)]
        except OSError:
            return
        for path in paths:
            with suppress(OSError):
                yield path, path.stat(follow_symlinks=False)

    def _trim(self) -> None:
        """Removes old entries until the rest has few enough bytes, and what ended processes left behind."""
        now = time.time()
        for path, status in self._all():
            if path.suffix == _TEMPORARY and now - status.st_mtime > _ABANDONED_SECONDS:
                with suppress(OSError):
                    path.unlink()
        files = self.files()
        total = sum([status.st_size for _, status in files])
        for path, status in files:
            if total <= self._most_bytes:
                return
            total -= status.st_size
            with suppress(OSError):
                path.unlink()


def _is_own(status: os.stat_result) -> bool:
    """Returns whether only this user can write a file; there may be code in it."""
    return os.name != "posix" or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


def _write_entry(file: BinaryIO, key: str, description: Mapping[str, Any], sections: Mapping[str, Write]) -> None:
    """Writes sections, and then, in front of them, the description: room for it is found by writing it twice."""
    places: dict[str, tuple[int, int, str]] = dict.fromkeys(sections, (1 << 62, 1 << 62, "0" * 64))
    room = len(_description_bytes(key, description, places))
    file.seek(_HEAD.size + room)
    for name, write in sections.items():
        file.seek(-file.tell() % ALIGNMENT, os.SEEK_CUR)
        start = file.tell()
        write(file)
        size = file.tell() - start
        file.seek(start)
        # In parts: as a whole it would be in memory besides what was written.
        places[name] = (start, size, _digest(size, iter(lambda: memoryview(file.read(_HASHED_BYTES)), b"")))
    file.truncate()
    text = _description_bytes(key, description, places).ljust(room)
    file.seek(0)
    file.write(_HEAD.pack(_MAGIC, room, hashlib.sha256(text).digest()) + text)


def _description_bytes(key: str, description: Mapping[str, Any], places: Mapping[str, tuple[int, int, str]]) -> bytes:
    return json.dumps({"key": key, "sections": places, "description": description}).encode()


def _entry_of(content: memoryview, key: str) -> Entry | None:
    """Returns the entry in the bytes of a file; None if anything in it is wrong."""
    if len(content) < _HEAD.size:
        return None
    magic, size, digest_of_text = _HEAD.unpack_from(content)
    if magic != _MAGIC or size > min(_MAX_DESCRIPTION_BYTES, len(content) - _HEAD.size):
        return None
    text = content[_HEAD.size : _HEAD.size + size]
    if hashlib.sha256(text).digest() != digest_of_text:
        return None
    head = json.loads(bytes(text))
    if head["key"] != key:
        return None
    sections: dict[str, memoryview] = {}
    for name, (start, length, expected) in head["sections"].items():
        sections[name] = content[start : start + length]
        if start + length > len(content) or _digest(length, (sections[name],)) != expected:
            return None
    return Entry(head["description"], sections)


def _digest(size: int, blocks: Iterable[memoryview]) -> str:
    """Returns the SHA-256 of contents in blocks of `_HASHED_BYTES`, or in one; for large ones that of the sums of their
    parts.

    Sums take a fifteenth of the time, and find every change of a bit, and blocks that were lost or moved.
    """
    result, part_bytes = hashlib.sha256(), 8 * _PART_WORDS
    for block in blocks:
        whole = 0 if size < _HASHED_BYTES else len(block) // part_bytes * part_bytes
        sums = np.frombuffer(block[:whole], np.uint64).reshape(-1, _PART_WORDS).sum(axis=1, dtype=np.uint64)
        result.update(sums.tobytes())
        result.update(block[whole:])
    return result.hexdigest()
