"""MLIR text as a format: programs of every dialect, with the elements of all constants.

Limits: `Limits.max_text_bytes`, and those of `text/parser.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import FILE_NOT_ACCESSIBLE, LIMIT_EXCEEDED
from commonir.base.limits import DEFAULT_LIMITS
from commonir.formats.format import Format, Outline
from commonir.formats.kinds import FileKind
from commonir.ir.locations import LocationAttr
from commonir.ir.module import Function, Module
from commonir.ods import Dialects

if TYPE_CHECKING:
    from pathlib import Path


def read(path: str | os.PathLike[str], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """The program of a text."""
    try:
        text = content_of(path)
    except DiagnosticError as error:
        return None, list(error.diagnostics)
    return _parsed(text, os.fspath(path), dialects)


def loads(content: bytes, dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """The program of the bytes of a text."""
    try:
        text = _decoded(content, "")
    except DiagnosticError as error:
        return None, list(error.diagnostics)
    return _parsed(text, "", dialects)


def _parsed(text: str, name: str, dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    # Finding the format of another file asks this module, which must not load a parser for it.
    from commonir.text.parser import parse_module  # noqa: PLC0415

    try:
        return parse_module(text, dialects, file=name), []
    except DiagnosticError as error:
        return None, list(error.diagnostics)


def content_of(path: str | os.PathLike[str]) -> str:
    """The text of a file. Raises: FILE_NOT_ACCESSIBLE, LIMIT_EXCEEDED."""
    limit = DEFAULT_LIMITS.max_text_bytes
    name = os.fspath(path)
    try:
        with open(path, "rb") as stream:
            content = stream.read(limit + 1)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise DiagnosticError(Diagnostic(FILE_NOT_ACCESSIBLE, f"the system refused: {reason}", file=name)) from None
    return _decoded(content, name)


def _decoded(content: bytes, name: str) -> str:
    """The text of the bytes of a file; bytes that are no UTF-8 stand as in strings of bytes. Raises: LIMIT_EXCEEDED."""
    limit = DEFAULT_LIMITS.max_text_bytes
    if len(content) > limit:
        raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, f"the text has more than {limit:,} bytes", file=name))
    return content.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def check(path: str | os.PathLike[str], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """The program of a text, and what is wrong with its operations and with their order in subgraphs."""
    from commonir.formats.mlir.checking import check_piece  # noqa: PLC0415  as above
    from commonir.text.pieces import Piece  # noqa: PLC0415

    try:
        text = content_of(path)
    except DiagnosticError as error:
        return None, list(error.diagnostics)
    return check_piece(Piece(text, 0), os.fspath(path), dialects)


def write(module: Module, path: str | os.PathLike[str], *, generic: bool = False) -> tuple[Path, ...]:
    """Writes a program with all of its constants; an old file survives any failure.

    `generic`: every operation in the form that all operations have.

    Programs of MLIR as mlir-opt prints them, with locations when their text stated any; others with their own names.

    Raises: CANNOT_WRITE, DISK_FULL, OUTPUT_IN_THE_WAY.
    """
    from pathlib import Path  # noqa: PLC0415  most programs are read and not written

    from commonir.base.files import atomic_file  # noqa: PLC0415

    with atomic_file(path) as stream:
        for line in _lines(module, generic=generic):
            stream.write(line.encode())
            stream.write(b"\n")
    return (Path(path),)


def dumps(module: Module) -> bytes:
    """The bytes of the file that `write` writes."""
    return b"".join([line.encode() + b"\n" for line in _lines(module)])


def _lines(module: Module, *, generic: bool = False) -> Iterator[str]:
    from commonir.text.printer import Naming, naming_of, print_lines  # noqa: PLC0415  as above

    naming = Naming.OWN if any(_names_results(f) for f in module.functions.values()) else naming_of(module)
    is_own = naming is Naming.OWN
    locations = not is_own and any(isinstance(op.location, LocationAttr) for op in module.walk())
    return iter(print_lines(module, generic=generic, elide=None, names=is_own, locations=locations, naming=naming))


def _names_results(function: Function) -> bool:
    """Whether a function says what its results are called: those converted from other formats do, and keep names."""
    names = function.extra.get("result_names") or getattr(function, "result_names", ())
    return bool(names)


def _outline(module: Module) -> Outline:
    del module
    return Outline(title="MLIR text")


FORMAT = Format(
    name="mlir",
    dialect="",
    suffixes=(".mlir",),
    kinds=frozenset({FileKind.MLIR_TEXT}),
    read=read,
    check=check,
    write=write,
    loads=loads,
    dumps=dumps,
    outline=_outline,
)

GENERIC = Format(
    name="mlir-generic",
    dialect="",
    suffixes=(),
    kinds=frozenset(),
    write=partial(write, generic=True),
    outline=FORMAT.outline,
)
"""The same, in the form that does not change from one version of MLIR to the next."""
