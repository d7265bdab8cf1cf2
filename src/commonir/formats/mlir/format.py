"""MLIR text as a format: programs of every dialect, with the elements of all constants.

Limits: those of `text/parser.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from commonir.base.diagnostics import DiagnosticError
from commonir.formats.content import FileContent
from commonir.formats.format import (
    DEFAULT_READ_OPTIONS,
    DEFAULT_WRITE_OPTIONS,
    Certainty,
    Format,
    Opened,
    Outline,
    ReadOptions,
    Recognition,
    WriteOptions,
)
from commonir.formats.mlir.source import decoded, read_text
from commonir.ir.locations import LocationAttr
from commonir.ir.module import Function, Module
from commonir.ods import Dialects

_BEGINNINGS = ("module", "builtin.module", '"builtin.module"', "func.func", "ml_program.", "#", "!", "{-#", "%", "^")
_SUFFIX = ".mlir"


class MlirFormat(Format):
    """MLIR text."""

    name = "mlir"
    suffixes = (_SUFFIX,)
    reads_empty = True

    def recognize(self, content: FileContent) -> Recognition | None:
        if content.entries is not None:
            return None
        is_named = content.name.endswith(_SUFFIX)
        if content.code is not None:
            is_own = is_named or content.code.startswith(_BEGINNINGS)
        else:
            # Strings and comments may hold any bytes.
            is_own = is_named and content.text is None and not content.is_binary
        return Recognition("MLIR text", Certainty.BEGINNING) if is_own else None

    def read(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions = DEFAULT_READ_OPTIONS
    ) -> Opened:
        try:
            text = read_text(path)
        except DiagnosticError as error:
            return None, list(error.diagnostics)
        return _parsed(text, os.fspath(path), dialects)

    def check(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions = DEFAULT_READ_OPTIONS
    ) -> Opened:
        """Reads and verifies a text: its operations, and their order in subgraphs."""
        from commonir.formats.mlir.advice import advised  # noqa: PLC0415  as below
        from commonir.formats.mlir.checking import check_piece  # noqa: PLC0415
        from commonir.text.pieces import Piece  # noqa: PLC0415

        try:
            text = read_text(path)
        except DiagnosticError as error:
            return None, list(error.diagnostics)
        module, diagnostics = check_piece(Piece(text, 0), os.fspath(path), dialects)
        return module, advised(text, diagnostics, dialects)

    def loads(self, content: bytes, dialects: Dialects) -> Opened:
        try:
            text = decoded(content, "")
        except DiagnosticError as error:
            return None, list(error.diagnostics)
        return _parsed(text, "", dialects)

    def write(
        self, module: Module, path: str | os.PathLike[str], options: WriteOptions = DEFAULT_WRITE_OPTIONS
    ) -> tuple[Path, ...]:
        """Writes a program with all of its constants; an old file survives any failure.

        Programs of MLIR as mlir-opt prints them, with locations when their text stated any; others with their own
        names.

        Raises: CANNOT_WRITE, DISK_FULL, OUTPUT_IN_THE_WAY.
        """
        return _written(module, path, generic=False)

    def dumps(self, module: Module) -> bytes:
        return b"".join([line.encode() + b"\n" for line in _lines(module)])

    def outline(self, module: Module) -> Outline:
        return Outline(title="MLIR program")


class GenericMlirFormat(Format):
    """MLIR text in the form that does not change from one version of MLIR to the next."""

    name = "mlir-generic"

    def write(
        self, module: Module, path: str | os.PathLike[str], options: WriteOptions = DEFAULT_WRITE_OPTIONS
    ) -> tuple[Path, ...]:
        return _written(module, path, generic=True)

    def outline(self, module: Module) -> Outline:
        return Outline(title="MLIR program")


def _parsed(text: str, name: str, dialects: Dialects) -> Opened:
    # Finding the format of another file asks this module, which must not load a parser for it.
    from commonir.text.parser import parse_module  # noqa: PLC0415

    try:
        return parse_module(text, dialects, file=name), []
    except DiagnosticError as error:
        from commonir.formats.mlir.advice import advised  # noqa: PLC0415  most texts are right

        return None, advised(text, error.diagnostics, dialects)


def _written(module: Module, path: str | os.PathLike[str], *, generic: bool) -> tuple[Path, ...]:
    from commonir.base.files import atomic_file  # noqa: PLC0415  most programs are read and not written

    with atomic_file(path) as stream:
        for line in _lines(module, generic=generic):
            stream.write(line.encode())
            stream.write(b"\n")
    return (Path(path),)


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


FORMAT = MlirFormat()
GENERIC = GenericMlirFormat()
