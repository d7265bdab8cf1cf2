"""The text of an MLIR file.

Limits: `Limits.max_text_bytes`.
"""

from __future__ import annotations

import os

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import FILE_NOT_ACCESSIBLE, LIMIT_EXCEEDED
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.safe_paths import open_regular


def read_text(path: str | os.PathLike[str]) -> str:
    """Returns the text of a file. Raises: FILE_NOT_ACCESSIBLE, LIMIT_EXCEEDED."""
    limit = DEFAULT_LIMITS.max_text_bytes
    name = os.fspath(path)
    try:
        with open_regular(path) as stream:
            content = stream.read(limit + 1)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise DiagnosticError(Diagnostic(FILE_NOT_ACCESSIBLE, f"the system refused: {reason}", file=name)) from None
    return decoded(content, name)


def decoded(content: bytes, name: str) -> str:
    """Returns the text of the bytes of a file; bytes that are not UTF-8 become surrogates. Raises: LIMIT_EXCEEDED."""
    limit = DEFAULT_LIMITS.max_text_bytes
    if len(content) > limit:
        raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, f"the text has more than {limit:,} bytes", file=name))
    return content.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
