"""How a tensor refers to contents in a file beside the model, read and written.

Source: ONNX external data.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable

from commonir.base.text import escape
from commonir.base.tuples import NamedTuple
from commonir.formats.onnx.messages import TensorProto
from commonir.formats.onnx.tensors import TensorError
from commonir.ir.data import Data, FileData, MappedFile
from commonir.ir.types import TensorType

EXTERNAL = 1
"""The value of `data_location` of a tensor whose contents are in another file."""
LOCATION = "location"
OFFSET, LENGTH, CHECKSUM, BASEPATH = "offset", "length", "checksum", "basepath"
_KEYS = (LOCATION, OFFSET, LENGTH, CHECKSUM, BASEPATH)

Entries = tuple[tuple[str, str], ...]
"""The external data of a tensor, as the file states it."""

_MOST_DIGITS = 20
_HASH_BYTES = 2**20


class External(NamedTuple):
    """The location of a tensor's contents in another file. Units: bytes."""

    location: str
    offset: int
    length: int | None
    checksum: str
    basepath: str


class DataFile(MappedFile):
    """A file that the tensors of a model are in, at `location` from the folder of `model`.

    `referenced` are the offsets and lengths in bytes that the model refers to.
    """

    __slots__ = ("location", "model", "referenced")

    def __init__(self, path: str, status: os.stat_result, model: str, location: str) -> None:
        super().__init__(path, status.st_size, status)
        self.model = model
        self.location = location
        self.referenced: set[tuple[int, int]] = set()


class ExternalData(FileData):
    """Elements in a file beside a model, with what the model says of where they are."""

    __slots__ = ("entries",)

    def __init__(self, type: TensorType, file: DataFile, offset: int, entries: Entries) -> None:
        super().__init__(type, file, offset)
        self.entries = entries


def source_of(data: Data | None) -> DataFile | None:
    """Returns the file beside a model that a constant is in."""
    return data.file if isinstance(data, FileData) and isinstance(data.file, DataFile) else None


def external_of(proto: TensorProto) -> External:
    """Returns the location of a tensor's external data.

    Raises: TensorError for what is not known, or no number.
    """
    entries: dict[str, str] = {}
    for entry in proto.external_data:
        if entry.key not in _KEYS:
            raise TensorError(f"external data have no '{escape(entry.key)}': {', '.join(_KEYS)} are known")
        if entry.key in entries:
            raise TensorError(f"'{entry.key}' of its external data is given twice")
        entries[entry.key] = entry.value
    location = entries.get(LOCATION, "")
    if not location:
        raise TensorError("its external data have no location")
    offset, length = (_whole(entries.get(key, ""), key) for key in (OFFSET, LENGTH))
    return External(location, offset or 0, length, entries.get(CHECKSUM, ""), entries.get(BASEPATH, ""))


def _whole(text: str, key: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > _MOST_DIGITS:
        raise TensorError(f"the {key} of its external data must be an integer of bytes, found '{escape(text)}'")
    return int(text)


def entries_of(location: str, offset: int, length: int, checksum: str = "") -> Entries:
    """Returns the entries of a tensor for bytes of a file."""
    entries = ((LOCATION, location), (OFFSET, str(offset)), (LENGTH, str(length)))
    return (*entries, (CHECKSUM, checksum)) if checksum else entries


def refer_to_file(header: TensorProto, entries: Iterable[tuple[str, str]]) -> None:
    """Makes a tensor refer to bytes of a file, and to no others."""
    header.data_location = EXTERNAL
    header.ClearField("external_data")
    for key, value in entries:
        entry = header.external_data.add()
        entry.key, entry.value = key, value


def digest(file: MappedFile) -> str:
    """Returns the SHA-1 of a file, which is what the format says; it guards against damage, not against malice."""
    result = hashlib.sha1(usedforsecurity=False)
    for start in range(0, file.size_bytes, _HASH_BYTES):
        result.update(file.view(start, min(_HASH_BYTES, file.size_bytes - start)))
    return result.hexdigest()
