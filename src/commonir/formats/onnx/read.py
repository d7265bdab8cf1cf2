"""Reads ONNX files: their messages, and the contents of their tensors where these lie.

Source: onnx.proto of ONNX 1.23; ONNX external data.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from commonir.base.codes import FILE_NOT_ACCESSIBLE, MISSING_PART, PATH_OUTSIDE_MODEL
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.formats.onnx.decode import decode
from commonir.formats.onnx.messages import ModelProto, TensorProto, create
from commonir.formats.onnx.tensors import TensorError, read_contents
from commonir.formats.protobuf.wire import had_unknown_fields, parse
from commonir.ir.data import Data, FileData, MappedFile
from commonir.ir.module import Module
from commonir.ir.types import TensorType
from commonir.ods import Dialects, verify

if TYPE_CHECKING:
    from google.protobuf.message import Message

_EXTERNAL = 1


def read(
    path: str | os.PathLike[str], dialects: Dialects, limits: Limits = DEFAULT_LIMITS
) -> tuple[Module | None, list[Diagnostic]]:
    """Reads a model and tells what is wrong with it as far as reading shows; None stands for an unreadable one."""
    found = Diagnostics()
    file = os.fspath(path)
    try:
        message, unknown = _parsed(_content(file), limits, file)
        module = decode(message, dialects, found, _Contents(Path(file)), keeps_unknown=unknown, limits=limits)
    except DiagnosticError as error:
        return None, [d.located(file=file) for d in (*found, *error.diagnostics)]
    return module, [d.located(file=file) for d in found]


def check(path: str | os.PathLike[str], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """Reads and verifies a model: everything that is wrong with it."""
    module, found = read(path, dialects)
    if module is None:
        return None, found
    return module, [*found, *(d.located(file=os.fspath(path)) for d in verify(module, dialects))]


def loads(content: bytes, dialects: Dialects, limits: Limits = DEFAULT_LIMITS) -> tuple[Module, list[Diagnostic]]:
    """The module of the bytes of a model whose tensors are all in it.

    Raises: DiagnosticError when they are none.
    """
    found = Diagnostics()
    message, unknown = _parsed(memoryview(content), limits, "")
    return decode(message, dialects, found, keeps_unknown=unknown, limits=limits), list(found)


def _parsed(content: memoryview, limits: Limits, file: str) -> tuple[ModelProto, bool]:
    """The message of a model, and whether it has fields that the declarations do not know.

    Raises: DAMAGED_MESSAGE, TRUNCATED_FILE, LIMIT_EXCEEDED, NESTING_TOO_DEEP.
    """
    kind: type[Message] = type(create(ModelProto))  # pyright: ignore[reportAssignmentType]  made at run time
    message = parse(kind, content, limits, file=file, where="model")
    keeps_unknown = had_unknown_fields(message)
    if keeps_unknown:
        message = parse(kind, content, limits, file=file, where="model")
    return message, keeps_unknown  # pyright: ignore[reportReturnType]  as above


def _content(file: str) -> memoryview:
    """The bytes of a file. Raises: FILE_NOT_ACCESSIBLE."""
    try:
        mapped = MappedFile(file, os.stat(file).st_size)
        return mapped.view(0, mapped.size_bytes)
    except (OSError, ValueError) as error:
        raise DiagnosticError(Diagnostic(FILE_NOT_ACCESSIBLE, f"cannot be read: {error}", file=file)) from error


class _Contents:
    """Gives the contents of tensors, from the message or from files beside the model."""

    def __init__(self, model: Path) -> None:
        self._model = model
        self._files: dict[str, MappedFile] = {}

    def __call__(self, proto: TensorProto, kind: TensorType) -> Data:
        if proto.data_location != _EXTERNAL:
            return read_contents(proto, kind)
        entries = {entry.key: entry.value for entry in proto.external_data}
        file = self._file(entries.get("location", ""), proto.name)
        offset = int(entries.get("offset") or 0)
        size = kind.element.size_bytes(kind.count)
        if offset < 0 or offset + size > file.size_bytes:
            raise TensorError(f"bytes {offset} to {offset + size} leave the file, which has {file.size_bytes}")
        return FileData(kind, file, offset)

    def _file(self, location: str, name: str) -> MappedFile:
        if location not in self._files:
            folder = self._model.parent
            place = folder / location
            parts = Path(location).parts
            if not location or Path(location).is_absolute() or ".." in parts or place.is_symlink():
                message = f"external data of '{name}' lies outside of the model's folder"
                notes = (f'found: location "{location}"',)
                raise DiagnosticError(Diagnostic(PATH_OUTSIDE_MODEL, message, notes=notes))
            try:
                status = place.stat()
            except OSError as error:
                message = f"the file '{location}' with data of '{name}' is missing"
                raise DiagnosticError(Diagnostic(MISSING_PART, message)) from error
            self._files[location] = MappedFile(os.fspath(place), status.st_size, status)
        return self._files[location]
