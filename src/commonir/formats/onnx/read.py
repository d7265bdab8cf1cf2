"""Reads ONNX files: the message of a model, with the contents of its tensors where they lie.

The module is one to one with the file. Nothing is converted, and nothing is written. A fault of one node or tensor does
not end reading: the valid parts are read, and the error is reported with its location.

Limits: `Limits`, for every size and depth. Source: onnx.proto of ONNX 1.23; ONNX external data.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import FILE_NOT_ACCESSIBLE
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.safe_paths import open_regular
from commonir.base.tuples import NamedTuple
from commonir.formats.onnx.contents import Contents
from commonir.formats.onnx.cutting import WHOLE_BYTES, Cut, cut
from commonir.formats.onnx.decode import ModelDecoder
from commonir.formats.onnx.messages import ModelProto, create
from commonir.formats.onnx.unknown_fields import PACKED
from commonir.formats.onnx.verify import verify_model
from commonir.formats.protobuf.wire import WireError, had_unknown_fields, parse
from commonir.ir.attributes import UnitAttr
from commonir.ir.data import MappedFile
from commonir.ir.module import Module
from commonir.ods import Dialects, verify

if TYPE_CHECKING:
    from google.protobuf.message import Message


class _Read(NamedTuple):
    """A module, the places in it of which something is wrong, and what gave the contents of its tensors."""

    module: Module
    faulty: set[str]
    contents: Contents


def read(
    path: str | os.PathLike[str], dialects: Dialects, limits: Limits = DEFAULT_LIMITS
) -> tuple[Module | None, list[Diagnostic]]:
    """Reads a model and returns the module and all errors found while reading; None if it is unreadable."""
    diagnostics = Diagnostics()
    file = os.fspath(path)
    try:
        module = _read(file, dialects, limits, diagnostics).module
    except DiagnosticError as error:
        return None, [d.located(file=file) for d in (*diagnostics, *error.diagnostics)]
    return module, [d.located(file=file) for d in diagnostics]


def check(
    path: str | os.PathLike[str], dialects: Dialects, limits: Limits = DEFAULT_LIMITS
) -> tuple[Module | None, list[Diagnostic]]:
    """Reads and verifies a model: everything that is wrong with it, each fault once."""
    diagnostics = Diagnostics()
    file = os.fspath(path)
    try:
        result = _read(file, dialects, limits, diagnostics)
    except DiagnosticError as error:
        return None, [d.located(file=file) for d in (*diagnostics, *error.diagnostics)]
    diagnostics.extend(result.contents.wrong_checksums())
    # Verifying what could not be read would report the same error twice.
    wrong = [*verify(result.module, dialects), *verify_model(result.module)]
    diagnostics.extend(d for d in wrong if d.where not in result.faulty)
    return result.module, [d.located(file=file) for d in diagnostics]


def loads(content: bytes, dialects: Dialects, limits: Limits = DEFAULT_LIMITS) -> tuple[Module, list[Diagnostic]]:
    """The module of the bytes of a model whose tensors are all in it.

    Raises: DiagnosticError when they are none.
    """
    diagnostics = Diagnostics()
    whole = memoryview(content)
    remaining = _cut(whole, limits, "")
    module = _decode(remaining, Contents(remaining, whole), dialects, limits, diagnostics, "").module
    return module, list(diagnostics)


def decoded(message: ModelProto, dialects: Dialects, file: str) -> tuple[Module, list[Diagnostic]]:
    """The module of a message whose file is, or would be, at a path, and what is wrong with it."""
    diagnostics = Diagnostics()
    contents = Contents(Cut(b"", (), b""), memoryview(b""), file)
    module = ModelDecoder(dialects, diagnostics, contents).module(message)
    return module, [d.located(file=file or None) for d in diagnostics]


def _read(file: str, dialects: Dialects, limits: Limits, diagnostics: Diagnostics) -> _Read:
    whole, mapped = _content(file)
    remaining = _cut(whole, limits, file)
    return _decode(remaining, Contents(remaining, whole, file, mapped), dialects, limits, diagnostics, file)


def _content(file: str) -> tuple[memoryview, MappedFile | None]:
    """The bytes of a file, which is mapped when there may be something to cut out of it.

    Raises: FILE_NOT_ACCESSIBLE.
    """
    try:
        with open_regular(file) as stream:
            status = os.fstat(stream.fileno())
            if status.st_size < WHOLE_BYTES:
                return memoryview(stream.read()), None
        mapped = MappedFile(file, status.st_size, status)
        return mapped.view(0, mapped.size_bytes), mapped
    except (OSError, ValueError) as error:
        raise DiagnosticError(Diagnostic(FILE_NOT_ACCESSIBLE, f"cannot be read: {error}", file=file)) from error


def _decode(
    remaining: Cut, contents: Contents, dialects: Dialects, limits: Limits, diagnostics: Diagnostics, file: str
) -> _Read:
    message, keeps_unknown = _parsed(remaining.content, limits, file)
    decoder = ModelDecoder(dialects, diagnostics, contents, keeps_unknown=keeps_unknown, limits=limits)
    module = decoder.module(message)
    # Numbers that are not packed, and nothing else, make a message longer than its file.
    if message.ByteSize() > len(remaining.content):
        module.set_extra(PACKED, UnitAttr())
    return _Read(module, decoder.faulty, contents)


def _cut(whole: memoryview, limits: Limits, file: str) -> Cut:
    """Raises: DAMAGED_MESSAGE, TRUNCATED_FILE, NESTING_TOO_DEEP."""
    try:
        return cut(whole, limits)
    except WireError as error:
        message = f"the model cannot be read: {error.reason}"
        raise DiagnosticError(Diagnostic(error.code, message, file=file, notes=(f"at byte {error.offset}",))) from None


def _parsed(content: bytes | memoryview, limits: Limits, file: str) -> tuple[ModelProto, bool]:
    """The message of a model, and whether it has fields that the declarations do not know.

    Raises: DAMAGED_MESSAGE, TRUNCATED_FILE, LIMIT_EXCEEDED, NESTING_TOO_DEEP.
    """
    kind: type[Message] = type(create(ModelProto))  # pyright: ignore[reportAssignmentType]  made at run time
    view = memoryview(content)
    message = parse(kind, view, limits, file=file, where="")
    keeps_unknown = had_unknown_fields(message)
    if keeps_unknown:
        message = parse(kind, view, limits, file=file, where="")
    return message, keeps_unknown  # pyright: ignore[reportReturnType]  as above
