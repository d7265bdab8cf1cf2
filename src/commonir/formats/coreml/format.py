"""Core ML as a format."""

from __future__ import annotations

import os
from pathlib import Path

from commonir.base.diagnostics import Diagnostic
from commonir.formats.format import Format, Outline
from commonir.formats.kinds import FileKind
from commonir.ir.module import Module
from commonir.ods import Dialects

# Finding the format of another file asks this module, which must not load the dialect for it.


def read(path: str | os.PathLike[str], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """Reads a model."""
    from commonir.formats.coreml.read import read_with_findings  # noqa: PLC0415  as above

    return read_with_findings(path, dialects)


def check(path: str | os.PathLike[str], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """Reads and verifies a model."""
    from commonir.formats.coreml.read import check as check_model  # noqa: PLC0415  as above

    return check_model(path, dialects)


def verify(module: Module) -> list[Diagnostic]:
    """What the format demands of a module beyond its operations."""
    from commonir.formats.coreml.verify import verify_model  # noqa: PLC0415  as above

    return verify_model(module)


def write(module: Module, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Writes a model."""
    from commonir.formats.coreml.write import write as write_model  # noqa: PLC0415  as above

    return write_model(module, path)


def outline(module: Module) -> Outline:
    """What the description of a model tells besides the types of its program."""
    from commonir.formats.coreml.outline import outline as outline_of  # noqa: PLC0415  as above

    return outline_of(module)


FORMAT = Format(
    name="coreml",
    dialect="mil",
    suffixes=(".mlpackage", ".mlmodel"),
    kinds=frozenset({FileKind.COREML_PACKAGE, FileKind.COREML_MODEL}),
    read=read,
    check=check,
    verify=verify,
    write=write,
    outline=outline,
)
