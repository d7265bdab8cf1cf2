"""MIL text as a format: a program of its own, and the program of a compiled model."""

from __future__ import annotations

from commonir.formats.coreml.format import outline
from commonir.formats.coreml.verify import verify_model
from commonir.formats.format import Format
from commonir.formats.mil_text.read import check, read_with_findings
from commonir.formats.mil_text.write import write
from commonir.formats.recognize import FileKind

FORMAT = Format(
    name="mil",
    dialect="mil",
    suffixes=(".mil",),
    kinds=frozenset({FileKind.MIL_TEXT, FileKind.COREML_BUNDLE}),
    read=read_with_findings,
    check=check,
    verify=verify_model,
    write=write,
    outline=outline,
)
