"""Weight files to be written: which constants go where.

A weight file that was read is copied as it is while the program uses all of it that it used before; new constants are
appended to the copy. Of a file of which a part is no longer used, the other constants are put into a new one in the
same order. Constants of equal contents share a place. Nothing is decoded or encoded: bytes are copied inside the kernel
from where they lie.

Source: coremltools 9, MILBlob.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import BinaryIO

from commonir.formats.coreml.blobs import (
    ALIGNMENT,
    BLOB_CODES,
    HEADER,
    METADATA,
    SENTINEL,
    VERSION,
    BlobData,
    WeightSource,
)
from commonir.formats.coreml.package import MODEL_PATH, relative_path
from commonir.formats.coreml.values import Blob
from commonir.ir.data import Data, FileData

DEFAULT_FILE = "weights/weight.bin"

# Two tensors are compared when so many bytes at their start are equal.
_SAMPLE_BYTES = 256
_CHUNK_BYTES = 2**20


class PlannedFile:
    """A weight file to be written, at `path` below the folder of the model: what is copied whole, and what follows."""

    __slots__ = ("_base", "_count", "_end_bytes", "_entries", "path")

    def __init__(self, path: str, base: WeightSource | None = None) -> None:
        self.path = path
        self._base = base
        self._count = 0
        self._end_bytes = HEADER.size if base is None else base.size_bytes
        self._entries: list[tuple[int, Data]] = []

    @property
    def name(self) -> str:
        """How a program refers to it."""
        return f"{MODEL_PATH}/{self.path}"

    @property
    def unchanged(self) -> WeightSource | None:
        """The file that this is a copy of."""
        return None if self._entries else self._base

    def can_grow(self) -> bool:
        """Whether constants can be appended: whether the file is one sequence of tensors up to its end."""
        if self._base is None or self._entries:
            return True
        # Read from the map: another file may have taken the place of the one that was read.
        self._count, _ = HEADER.unpack(self._base.view(0, HEADER.size))
        at = HEADER.size
        for _ in range(self._count):
            if at + METADATA.size > self._base.size_bytes:
                return False
            sentinel, _, size_bytes, start, _ = METADATA.unpack(self._base.view(at, METADATA.size))
            if sentinel != SENTINEL or start != at + METADATA.size:
                return False
            at = _aligned(start + size_bytes)
        return at == _aligned(self._base.size_bytes)

    def add(self, data: Data) -> int:
        """Appends a constant and returns the place of its metadata."""
        offset = _aligned(self._end_bytes)
        self._entries.append((offset, data))
        self._count += 1
        self._end_bytes = offset + METADATA.size + data.size_bytes
        return offset

    def write(self, stream: BinaryIO) -> None:
        """Writes the file."""
        end = HEADER.size
        if self._base is None:
            stream.write(HEADER.pack(self._count, VERSION))
        else:
            end = self._base.size_bytes
            self._base.copy_to(stream, 0, end)
            if self._entries:
                stream.seek(0)
                stream.write(HEADER.pack(self._count, VERSION))
                stream.seek(end)
        for offset, data in self._entries:
            size_bytes = data.size_bytes
            padding_bits = size_bytes * 8 - data.count * data.element.bits
            metadata = METADATA.pack(
                SENTINEL, BLOB_CODES[data.element], size_bytes, offset + METADATA.size, padding_bits
            )
            stream.write(bytes(offset - end) + metadata)
            if isinstance(data, FileData):
                data.file.copy_to(stream, data.offset, size_bytes)
            else:
                stream.write(data.buffer())
            end = offset + METADATA.size + size_bytes


def plan_weights(blobs: Sequence[Blob], taken: Collection[str] = ()) -> list[PlannedFile]:
    """Decides where constants go, and fills in the messages that refer to them. `taken` are paths of other files."""
    paths = set(taken)
    files: list[PlannedFile] = []
    by_source: dict[WeightSource, list[Blob]] = {}
    others: list[Blob] = []
    for blob in blobs:
        if isinstance(blob.data, BlobData):
            by_source.setdefault(blob.data.source, []).append(blob)
        else:
            others.append(blob)
    for source, used in by_source.items():
        files.append(_keep(source, used, paths))
    if others:
        growing = [f for f in files if f.can_grow()]
        target = next((f for f in growing if f.path == DEFAULT_FILE), growing[0] if growing else None)
        if target is None:
            target = PlannedFile(_free_path(DEFAULT_FILE, paths))
            files.append(target)
        _append(others, target)
    return files


def _keep(source: WeightSource, used: Sequence[Blob], paths: set[str]) -> PlannedFile:
    """Plans what stays of a file that was read."""
    places = {blob.data.metadata_offset: blob.data for blob in used if isinstance(blob.data, BlobData)}
    path = _free_path(relative_path(next(iter(places.values())).name), paths)
    is_whole = source.is_whole or source.referenced <= places.keys()
    result = PlannedFile(path, source if is_whole else None)
    moved = {} if is_whole else {offset: result.add(places[offset]) for offset in sorted(places)}
    for blob in used:
        if isinstance(blob.data, BlobData):
            name, offset = blob.data.name, blob.data.metadata_offset
            # As the program spells it, where that leads to the file.
            blob.reference.fileName = name if relative_path(name) == path else result.name
            blob.reference.offset = moved.get(offset, offset)
    return result


def _append(blobs: Iterable[Blob], target: PlannedFile) -> None:
    """Appends constants that were not read from a weight file, each content once."""
    known: dict[tuple[object, ...], list[tuple[int, Data]]] = {}
    for blob in blobs:
        data = blob.data
        candidates = known.setdefault(_sample(data), [])
        offset = next((o for o, other in candidates if other is data or _have_same_bytes(other, data)), None)
        if offset is None:
            offset = target.add(data)
            candidates.append((offset, data))
        blob.reference.fileName = target.name
        blob.reference.offset = offset


def _sample(data: Data) -> tuple[object, ...]:
    """Returns a key that equal constants share and that is cheap to read."""
    return (data.element, data.size_bytes, bytes(data.buffer()[:_SAMPLE_BYTES]))


def _have_same_bytes(a: Data, b: Data) -> bool:
    if isinstance(a, FileData) and isinstance(b, FileData) and (a.file, a.offset) == (b.file, b.offset):
        return True
    left, right = a.buffer(), b.buffer()
    starts = range(0, len(left), _CHUNK_BYTES)
    return all(bytes(left[n : n + _CHUNK_BYTES]) == bytes(right[n : n + _CHUNK_BYTES]) for n in starts)


def _free_path(path: str, taken: set[str]) -> str:
    """A path that no other file has; the first is the one asked for."""
    folder, slash, name = path.rpartition("/")
    result, n = path, 0
    while result in taken:
        n += 1
        result = f"{folder}{slash}{n}-{name}"
    taken.add(result)
    return result


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT
