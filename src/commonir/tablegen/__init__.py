"""The TableGen language: from text to records, without LLVM.

It knows nothing of operations; `ods` builds definitions from the records. Source: TableGen Programmer's Reference.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import NESTING_TOO_DEEP
from commonir.tablegen.headers import dialect_file, installed_headers, with_headers
from commonir.tablegen.json_form import json_text, records_json
from commonir.tablegen.lexer import Sources, TokenStream
from commonir.tablegen.parser import Parser
from commonir.tablegen.records import Record, Records

__all__ = [
    "Record",
    "Records",
    "Sources",
    "dialect_file",
    "installed_headers",
    "json_text",
    "load",
    "records_json",
    "with_headers",
]


def load(
    path: str | os.PathLike[str],
    include_dirs: Sequence[str] = (),
    defines: Iterable[str] = (),
    *,
    sources: Sources | None = None,
    prelude: str = "",
) -> Records:
    """Returns the records that a file and those that it includes define.

    Files are included from the folders of `include_dirs`, and from that of the file. MLIR's files that these lack are
    those of an installed LLVM, or those of the prelude of this package (`headers.py`).
    Loads with the same `sources` read shared files once. `prelude` is text that precedes the file.

    Raises: MALFORMED_TABLEGEN, TABLEGEN_RULE, TABLEGEN_INCLUDE, TABLEGEN_ASSERTION, INCLUDE_OUTSIDE, FILE_NOT_FOUND,
    FILE_NOT_ACCESSIBLE, NESTING_TOO_DEEP, LIMIT_EXCEEDED.
    """
    records = Records()
    try:
        tokens = TokenStream(path, with_headers(include_dirs), defines, sources or Sources(), prelude)
        Parser(tokens, records).parse()
    except RecursionError:
        message = "values or records need each other too deeply"
        raise DiagnosticError(Diagnostic(NESTING_TOO_DEEP, message, file=os.fspath(path))) from None
    if records.diagnostics:
        raise DiagnosticError(*records.diagnostics)
    records.files = tokens.included
    return records
