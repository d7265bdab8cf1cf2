"""The message of a Common IR file, whatever its encoding: binary, JSON, or historic.

Reads no other file and decodes no program.
"""

from __future__ import annotations

from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import MALFORMED_JSON
from commonir.base.limits import Limits
from commonir.formats.common_ir import json_form
from commonir.formats.common_ir.stages import Document, Stage, read_document
from commonir.formats.first_contact import placeholder


def document_of(content: memoryview, limits: Limits, file: str, diagnostics: Diagnostics) -> Document:
    """The message of the bytes of a file; `found` receives what of a historic one has no meaning.

    Raises: DiagnosticError (E01xx, E02xx, E03xx) when there is none.
    """
    head = bytes(content[:4096])
    refused = placeholder(head, file)
    if refused is not None:
        raise DiagnosticError(refused)
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        return read_document(content, limits, file, diagnostics)
    try:
        text = str(content, "utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"byte {error.start} of the document is not UTF-8"
        raise DiagnosticError(Diagnostic(MALFORMED_JSON, message, file=file)) from None
    read = json_form.loads(text, file=file, limits=limits)
    return Document(Stage.MODEL if read.model is not None else Stage.LIBRARY, read.model, read.library)
