"""Where the contents of tensors lie, and how they are had: in the message, in the model's file, or in files beside it.

Contents in files are mapped when something first needs them. A name of a file in a model is never trusted: it must lead
to a regular file below the folder of the model which has no second name elsewhere, see `base.safe_paths`.

Limits: sizes of tensors are compared with those of files before anything is read. Source: ONNX external data.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import FILE_NOT_ACCESSIBLE, MALFORMED_WEIGHTS, MISSING_PART
from commonir.base.safe_paths import normal_path, open_beside
from commonir.base.suggestions import did_you_mean
from commonir.base.text import escape
from commonir.formats.first_contact import placeholder
from commonir.formats.onnx.cutting import Cut
from commonir.formats.onnx.external_data import EXTERNAL, DataFile, External, ExternalData, digest, external_of
from commonir.formats.onnx.messages import TensorProto
from commonir.formats.onnx.tensors import InMessage, TensorError, ToldError, is_fixed, packed_contents, read_contents
from commonir.ir.data import Data, FileData, InlineData, MappedFile
from commonir.ir.types import TensorType, string

_HEAD_BYTES = 4096


class Contents(InMessage):
    """Gives the contents of the tensors of a model. `model` is its file; without, everything must be in the message."""

    def __init__(self, cut: Cut, whole: memoryview, model: str = "", file: MappedFile | None = None) -> None:
        self._cut = cut
        self._whole = whole
        self._model = model
        self._file = file
        self._files: dict[str, DataFile | None] = {}
        self._checksums: dict[tuple[str, str], str] = {}

    def __call__(self, proto: TensorProto, type: TensorType) -> Data:
        if proto.data_location == EXTERNAL:
            return self._external(proto, type)
        place = self._cut.place_of(proto.raw_data)
        if place is None:
            return read_contents(proto, type)
        first = place.pieces[0].offset
        if place.is_typed:
            built = packed_contents(
                type, place.field, [self._whole[p.offset : p.offset + p.length] for p in place.pieces]
            )
            is_mapped = self._file is not None and is_fixed(type.element) and len(place.pieces) == 1
            return FileData(type, self._file, first) if is_mapped and self._file is not None else built
        if type.element is string or type.element.size_bytes(type.count) != place.length:
            expected = type.element.size_bytes(type.count)
            raise TensorError(f"{type} takes {expected} bytes, found {place.length}")
        if self._file is not None:
            return FileData(type, self._file, first)
        return InlineData(type, self._whole[first : first + place.length])

    def is_typed(self, proto: TensorProto, present: set[int]) -> bool:
        place = self._cut.place_of(proto.raw_data)
        return super().is_typed(proto, present) if place is None else place.is_typed

    def _external(self, proto: TensorProto, type: TensorType) -> Data:
        external = external_of(proto)
        if type.element is string:
            raise TensorError("strings cannot lie in a file of their own")
        size_bytes = type.element.size_bytes(type.count)
        if external.length is not None and external.length != size_bytes:
            raise TensorError(
                f"{type} takes {size_bytes} bytes, but the length of its external data is {external.length}"
            )
        file = self._opened(external)
        if external.offset + size_bytes > file.size_bytes:
            end = external.offset + size_bytes
            text = f"its external data end at byte {end:,}, but '{escape(external.location)}' has {file.size_bytes:,}"
            raise TensorError(text)
        if external.checksum:
            self._checksums.setdefault((external.location, external.checksum), proto.name)
        file.referenced.add((external.offset, size_bytes))
        return ExternalData(type, file, external.offset, tuple([(e.key, e.value) for e in proto.external_data]))

    def _opened(self, external: External) -> DataFile:
        """The file of a location, opened once. Raises: DiagnosticError for the first tensor in it, ToldError after."""
        key = external.location
        if key not in self._files:
            self._files[key] = None
            self._files[key] = self._open(external)
        result = self._files[key]
        if result is None:
            raise ToldError
        return result

    def _open(self, external: External) -> DataFile:
        location = external.location
        if not self._model:
            message = f"'{escape(location)}' cannot be read: the model is not a file"
            raise DiagnosticError(Diagnostic(MISSING_PART, message, help="load the model by its path"))
        try:
            name, place, stream = self._stream(external)
        except FileNotFoundError as error:
            message = f"the file '{escape(location)}' is missing"
            near = did_you_mean(location, _names_beside(Path(self._model)))
            help = near or "copy the model together with its data files, under their original names"
            raise DiagnosticError(Diagnostic(MISSING_PART, message, help=help)) from error
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            message = f"'{escape(location)}' cannot be read: {reason}"
            raise DiagnosticError(Diagnostic(FILE_NOT_ACCESSIBLE, message)) from error
        with stream:
            status = os.fstat(stream.fileno())
            refused = placeholder(stream.read(_HEAD_BYTES), name) if status.st_size else None
        if refused is not None:
            raise DiagnosticError(refused)
        return DataFile(name, status, self._model, place)

    def _stream(self, external: External) -> tuple[str, str, BinaryIO]:
        """The file of a location, opened: its path, and that from the folder of the model.

        Raises: PATH_OUTSIDE_MODEL; OSError.
        """
        folder = Path(self._model).parent
        place = normal_path(external.location)
        try:
            path, stream = open_beside(folder, external.location)
        except FileNotFoundError:
            if not external.basepath:
                raise
            inside = f"{external.basepath}/{external.location}"
            place = normal_path(inside)
            path, stream = open_beside(folder, inside)
        return os.fspath(path), place, stream

    def wrong_checksums(self) -> Iterator[Diagnostic]:
        """Compares files with the checksums that tensors state of them; reads each file once."""
        digests: dict[str, str] = {}
        for (location, declared), tensor in self._checksums.items():
            file = self._files.get(location)
            if file is None:
                continue
            if location not in digests:
                digests[location] = digest(file)
            if digests[location] != declared.lower():
                message = f"the checksum of '{escape(location)}' is not the one that '{escape(tensor)}' states"
                notes = (f"expected: {escape(declared)}", f"found: {digests[location]}")
                yield Diagnostic(MALFORMED_WEIGHTS, message, notes=notes, help="fetch the file again")


def _names_beside(model: Path) -> list[str]:
    try:
        return [name for name in os.listdir(model.parent) if name != model.name]
    except OSError:
        return []
