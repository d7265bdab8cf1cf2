"""The text form of ONNX models as a format, read and written through their messages.

Limits: `Limits.max_text_bytes` for reading, `Limits.max_immediate_elements` for writing.
"""

from __future__ import annotations

import os
from pathlib import Path

from commonir.base.codes import OUTPUT_TOO_LARGE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import FILE_NOT_ACCESSIBLE, LIMIT_EXCEEDED, MALFORMED_ONNX_TEXT
from commonir.base.files import atomic_file
from commonir.base.limits import DEFAULT_LIMITS
from commonir.formats.format import Format
from commonir.formats.kinds import FileKind
from commonir.formats.onnx.format import outline, verify
from commonir.ir.module import Module
from commonir.ods import Dialects
from commonir.ods import verify as verify_operations


def read(path: str | os.PathLike[str], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """Reads a model in text form."""
    file = os.fspath(path)
    limit = DEFAULT_LIMITS.max_text_bytes
    try:
        with open(path, "rb") as stream:
            content = stream.read(limit + 1)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        return None, [Diagnostic(FILE_NOT_ACCESSIBLE, f"the system refused: {reason}", file=file)]
    return _read(content, dialects, file)


def _read(content: bytes, dialects: Dialects, file: str) -> tuple[Module | None, list[Diagnostic]]:
    # Finding the format of another file asks this module, which must not load protobuf for it.
    from commonir.formats.onnx.read import decoded  # noqa: PLC0415
    from commonir.formats.onnx_text.parser import parse_model  # noqa: PLC0415

    if len(content) > DEFAULT_LIMITS.max_text_bytes:
        text = f"the text has more than {DEFAULT_LIMITS.max_text_bytes:,} bytes"
        return None, [Diagnostic(LIMIT_EXCEEDED, text, file=file)]
    try:
        message = parse_model(content.decode("utf-8-sig"), file=file)
        return decoded(message, dialects, file)
    except UnicodeDecodeError as error:
        return None, [Diagnostic(MALFORMED_ONNX_TEXT, f"byte {error.start} of the text is not UTF-8", file=file)]
    except DiagnosticError as error:
        return None, [d.located(file=file) for d in error.diagnostics]


def loads(content: bytes, dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """The model of the bytes of a text."""
    return _read(content, dialects, "")


def check(path: str | os.PathLike[str], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """Reads and verifies a model in text form."""
    module, found = read(path, dialects)
    if module is None:
        return None, found
    wrong = [*verify_operations(module, dialects), *verify(module)]
    return module, [*found, *(d.located(file=os.fspath(path)) for d in wrong)]


def dumps(module: Module) -> bytes:
    """The text of a model.

    Raises: NOT_IN_FORMAT; OUTPUT_TOO_LARGE for more elements than text is good for.
    """
    from commonir.formats.onnx.write import message_of  # noqa: PLC0415  as above
    from commonir.formats.onnx_text.printer import print_model  # noqa: PLC0415

    count = sum(data.count for op in module.nested() if (data := op.constant_data()) is not None)
    if count > DEFAULT_LIMITS.max_immediate_elements:
        limit = DEFAULT_LIMITS.max_immediate_elements
        message = f"the constants have {count:,} elements, and a text takes {limit:,}"
        raise DiagnosticError(Diagnostic(OUTPUT_TOO_LARGE, message, help="write an .onnx file"))
    return print_model(message_of(module)).encode("utf-8", "surrogateescape")


def write(module: Module, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Writes the text of a model; an old file survives any failure.

    Raises: as `dumps`; CANNOT_WRITE, DISK_FULL, OUTPUT_IN_THE_WAY.
    """
    content = dumps(module)
    with atomic_file(path) as stream:
        stream.write(content)
    return (Path(path),)


FORMAT = Format(
    name="onnxtxt",
    dialect="onnx",
    suffixes=(".onnxtxt",),
    kinds=frozenset({FileKind.ONNX_TEXT}),
    read=read,
    check=check,
    verify=verify,
    write=write,
    loads=loads,
    dumps=dumps,
    outline=outline,
)
