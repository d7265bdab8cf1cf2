"""Weight files: blob storage version 2.

Of a tensor only its 64 bytes of metadata are read when the model is opened; the elements stay in the file. Everything
the metadata says is checked before anything is mapped: sentinel, alignment, element type, bounds, size and padding.
Source: coremltools 9, MILBlob.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import FILE_NOT_ACCESSIBLE, MALFORMED_WEIGHTS, NEWER_FORMAT
from commonir.base.text import escape
from commonir.base.tuples import NamedTuple
from commonir.formats.content import require_content
from commonir.formats.coreml.package import ModelFiles
from commonir.ir.data import FileData, MappedFile
from commonir.ir.types import (
    ElementType,
    TensorType,
    bf16,
    f8e4m3fn,
    f8e5m2,
    f16,
    f32,
    i4,
    i8,
    i16,
    i32,
    u1,
    u2,
    u3,
    u4,
    u6,
    u8,
    u16,
    u32,
)

ALIGNMENT = 64
VERSION = 2
SENTINEL = 0xDEADBEEF
HEADER = struct.Struct("<II56x")
"""Number of entries, version, zeros."""
METADATA = struct.Struct("<IIQQQ32x")
"""Sentinel, type, size in bytes, place of the data, number of unused bits; what is reserved may hold anything."""

BLOB_TYPES: Mapping[int, ElementType] = MappingProxyType(
    {
        1: f16,
        2: f32,
        3: u8,
        4: i8,
        5: bf16,
        6: i16,
        7: u16,
        8: i4,
        9: u1,
        10: u2,
        11: u4,
        12: u3,
        13: u6,
        14: i32,
        15: u32,
        16: f8e4m3fn,
        17: f8e5m2,
    }
)
"""Element types by their number in metadata."""
BLOB_CODES: Mapping[ElementType, int] = MappingProxyType({e: n for n, e in BLOB_TYPES.items()})
"""Numbers in metadata by element type."""


class BlobEntry(NamedTuple):
    """The metadata of one tensor. Units: bytes, but `padding_bits` are bits."""

    offset: int
    type_code: int
    size_bytes: int
    data_offset: int
    padding_bits: int


class WeightSource(MappedFile):
    """A weight file that constants lie in.

    `referenced` are the places of metadata that its program refers to. `is_whole` says that the file must be kept as it
    is, because the program also refers to it in ways that could not be understood.
    """

    __slots__ = ("is_whole", "referenced")

    def __init__(self, path: str, status: os.stat_result) -> None:
        super().__init__(path, status.st_size, status)
        self.referenced: set[int] = set()
        self.is_whole = False


class BlobData(FileData):
    """A tensor of a weight file, and how its program refers to it: `name` of the file and place of the metadata."""

    __slots__ = ("metadata_offset", "name", "source")

    def __init__(self, type: TensorType, source: WeightSource, offset: int, name: str, metadata_offset: int) -> None:
        super().__init__(type, source, offset)
        self.source = source
        self.name = name
        self.metadata_offset = metadata_offset


class WeightFile:
    """One weight file. `count` is the number of tensors that its header announces.

    Metadata are read with small reads of their own, which on a cold disk is ten times faster than touching pages of the
    map; the data of all tensors share one map, made when the first of them is used.
    """

    __slots__ = ("_stream", "count", "file")

    def __init__(self, path: str) -> None:
        """Opens the file and reads its header.

        Raises: MALFORMED_WEIGHTS, NEWER_FORMAT, MISSING_PART, FILE_NOT_ACCESSIBLE, and what stands in place of a file.
        """
        require_content(path)
        try:
            self._stream = open(path, "rb", buffering=0)  # noqa: SIM115  closed by `close`
            self.file = WeightSource(path, os.fstat(self._stream.fileno()))
        except OSError as error:
            raise _unreadable(path, error) from error
        try:
            version = self._read_header()
        except DiagnosticError:
            self.close()
            raise
        if version != VERSION:
            self.close()
            message = f"the weight file has blob storage version {version}, expected {VERSION}"
            code = NEWER_FORMAT if version > VERSION else MALFORMED_WEIGHTS
            raise DiagnosticError(Diagnostic(code, message, file=path))

    def _read_header(self) -> int:
        """Reads the header and returns the version."""
        if self.file.size_bytes < HEADER.size:
            raise _fault(f"a weight file begins with {HEADER.size} bytes of header, found {self.file.size_bytes}")
        self.count, version = HEADER.unpack(self._read(0, HEADER.size))
        return version

    def close(self) -> None:
        """Ends reading metadata; tensors stay usable."""
        self._stream.close()

    def _read(self, offset: int, length: int) -> bytes:
        try:
            self._stream.seek(offset)
            content = self._stream.read(length)
        except OSError as error:
            raise _unreadable(self.file.path, error) from error
        if len(content) != length:
            raise _fault(f"the weight file ends before byte {offset + length}")
        return content

    def entry(self, offset: int) -> BlobEntry:
        """The metadata at a place.

        Raises: MALFORMED_WEIGHTS.
        """
        file_bytes = self.file.size_bytes
        if offset % ALIGNMENT:
            raise _fault(f"offset {offset} is not a multiple of {ALIGNMENT}")
        if offset < HEADER.size or offset + METADATA.size > file_bytes:
            raise _fault(f"offset {offset} leaves no room for metadata in a weight file of {file_bytes} bytes")
        sentinel, type_code, size_bytes, data_offset, padding_bits = METADATA.unpack(self._read(offset, METADATA.size))
        if sentinel != SENTINEL:
            raise _fault(
                f"there is no metadata at offset {offset}",
                f"expected: sentinel {SENTINEL:#010x}",
                f"found: {sentinel:#010x}",
            )
        if type_code not in BLOB_TYPES:
            raise _fault(f"the metadata at offset {offset} has the unknown element type {type_code}")
        if data_offset < HEADER.size or data_offset + size_bytes > file_bytes:
            raise _fault(
                f"the data of the tensor at offset {offset} leave the weight file",
                f"found: {size_bytes} bytes at offset {data_offset}, in a file of {file_bytes}",
            )
        return BlobEntry(offset, type_code, size_bytes, data_offset, padding_bits)

    def data(self, offset: int, type: TensorType, name: str = "") -> BlobData:
        """The tensor whose metadata lie at a place. `name` is how the program refers to the file.

        Raises: MALFORMED_WEIGHTS when they are not what the declared type demands.
        """
        entry = self.entry(offset)
        element = BLOB_TYPES[entry.type_code]
        if element is not type.element:
            raise _fault(f"the tensor at offset {offset} holds {element}, but {type} is declared")
        expected = element.size_bytes(type.count)
        if entry.size_bytes != expected:
            raise _fault(f"the tensor at offset {offset} has {entry.size_bytes} bytes, but {type} takes {expected}")
        padding = expected * 8 - type.count * element.bits
        # Of whole bytes none is unused, and coremltools 7 left there what was in memory.
        if element.bits % 8 and entry.padding_bits != padding:
            raise _fault(
                f"the tensor at offset {offset} states {entry.padding_bits} unused bits, but {type} leaves {padding}"
            )
        self.file.referenced.add(offset)
        return BlobData(type, self.file, entry.data_offset, name, offset)

    def entries(self) -> Iterator[BlobEntry]:
        """Every tensor of the file, in order.

        Raises: MALFORMED_WEIGHTS.
        """
        offset = HEADER.size
        for _ in range(self.count):
            entry = self.entry(offset)
            yield entry
            end = entry.data_offset + entry.size_bytes
            if end <= offset:
                raise _fault(f"the data of the tensor at offset {offset} lie before it")
            offset = -(-end // ALIGNMENT) * ALIGNMENT


class UnusableWeightsError(DiagnosticError):
    """A weight file cannot be read at all: one fault, however many constants refer to the file."""

    def __init__(self, name: str, cause: DiagnosticError) -> None:
        notes = (f"weight file: '{escape(name)}'",)
        super().__init__(
            *(
                Diagnostic(d.code, d.message, file=d.file, notes=(*d.notes, *notes), help=d.help)
                for d in cause.diagnostics
            )
        )
        self.name = name


class WeightFiles:
    """The weight files of a model, each opened when first referred to."""

    __slots__ = ("_by_path", "_files", "_opened", "_unusable")

    def __init__(self, files: ModelFiles) -> None:
        self._files = files
        self._opened: dict[str, WeightFile] = {}
        self._by_path: dict[str, WeightFile] = {}
        self._unusable: dict[str, UnusableWeightsError] = {}

    def data(self, name: str, offset: int, type: TensorType) -> BlobData:
        """The tensor at a place of the file that the program refers to by a name.

        Raises: MALFORMED_WEIGHTS; UnusableWeightsError.
        """
        opened = self._opened.get(name)
        if not name:
            raise _fault("the constant names no weight file")
        if opened is None:
            opened = self._opened[name] = self._open(name)
        try:
            return opened.data(offset, type, name)
        except DiagnosticError:
            opened.file.is_whole = True
            raise

    def sources(self) -> Iterator[WeightSource]:
        """The files that constants lie in."""
        return (opened.file for opened in self._by_path.values() if opened.file.referenced)

    def close(self) -> None:
        """Ends reading metadata; tensors stay usable."""
        for opened in self._by_path.values():
            opened.close()

    def _open(self, name: str) -> WeightFile:
        if name not in self._unusable:
            try:
                path = os.fspath(self._files.weight_file(name))
                if path not in self._by_path:
                    self._by_path[path] = WeightFile(path)
                return self._by_path[path]
            except DiagnosticError as error:
                self._unusable[name] = UnusableWeightsError(name, error)
        raise self._unusable[name]


def _fault(message: str, *notes: str) -> DiagnosticError:
    return DiagnosticError(Diagnostic(MALFORMED_WEIGHTS, message, notes=notes))


def _unreadable(path: str, error: OSError) -> DiagnosticError:
    reason = (error.strerror or type(error).__name__).lower()
    return DiagnosticError(Diagnostic(FILE_NOT_ACCESSIBLE, f"the weight file cannot be read: {reason}", file=path))
