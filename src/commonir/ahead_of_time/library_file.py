"""Where a compiled library has its description, and how its file is checked: see `description.py` for what it says.

The text stands between a mark and its end, with the size of the whole file and a checksum of it: a library that is
damaged or incomplete is found before the system loads it. Mach-O files have signatures of their own instead.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from commonir.base.codes import WRONG_LIBRARY
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.files import unread_file
from commonir.base.strict_json import Json, JsonError, parse
from commonir.base.tuples import NamedTuple

SCHEMA = "commonir.library/1"
MARK = b"commonir compiled library\n"
_SUM_BYTES = 32
_NO_SUM = b"\0" * _SUM_BYTES
COMPARED_BYTES = 128
"""Bytes at the start of a description that differ between libraries; every description has more."""
_MAX_BYTES = 1 << 24
"""Descriptions are small: names, types and limits of functions."""


def marked(description: Mapping[str, Json]) -> bytes:
    """Returns the bytes that describe a library, without its checksum."""
    content = json.dumps(description, separators=(",", ":")).encode()
    return MARK + _NO_SUM + struct.pack("<Q", len(content)) + content


def seal(path: Path) -> None:
    """Writes the checksum of a library into it."""
    data = path.read_bytes()
    if data.startswith(b"\xcf\xfa\xed\xfe"):
        return
    at = data.index(MARK) + len(MARK)
    with path.open("r+b") as stream:
        stream.seek(at)
        stream.write(sha256(data).digest())


class FoundDescription(NamedTuple):
    """The description in a library, and all its bytes, with those of the mark and the checksum."""

    entries: Mapping[str, Json]
    content: bytes


def description_of(path: Path) -> FoundDescription:
    """Returns the description in a library. Raises: DiagnosticError (E0101, E0102, E0721)."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unread_file(str(path), error, "a compiled library") from error
    at = data.find(MARK)
    start = at + len(MARK) + _SUM_BYTES + 8
    if at < 0 or len(data) < start:
        raise _wrong(path, "it was not written by `cir compile`, or is incomplete")
    found = data[at + len(MARK) : at + len(MARK) + _SUM_BYTES]
    (size,) = struct.unpack_from("<Q", data, start - 8)
    is_signed = data.startswith(b"\xcf\xfa\xed\xfe") and found == _NO_SUM
    if not is_signed:
        digest = sha256(memoryview(data)[: at + len(MARK)])
        digest.update(_NO_SUM)
        digest.update(memoryview(data)[at + len(MARK) + _SUM_BYTES :])
        if digest.digest() != found:
            raise _wrong(path, "it is damaged or incomplete: its checksum is another one")
    end = start + min(size, _MAX_BYTES)
    try:
        result = parse(data[start:end].decode())
    except (JsonError, UnicodeDecodeError) as error:
        raise _wrong(path, "its description is damaged") from error
    if not isinstance(result, dict):
        raise _wrong(path, "its description is damaged")
    return FoundDescription(result, data[at:end])


def _wrong(path: Path, reason: str) -> DiagnosticError:
    return DiagnosticError(Diagnostic(WRONG_LIBRARY, f"the library cannot be loaded: {reason}", file=str(path)))
