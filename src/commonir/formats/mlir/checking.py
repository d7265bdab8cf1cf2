"""Everything that is wrong with the programs of an MLIR text, with the lines it stands on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import partial

from commonir.base.codes import UNKNOWN_DIALECT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.formats.mlir.source import read_text
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ir.origins import TextLines, located_at
from commonir.ods import Dialects, Op, path_of, verify
from commonir.ods.traits import GraphRegion
from commonir.ods.unknown_dialects import ACCEPTING, UPSTREAM, how_to_provide
from commonir.text.lexer import caret_notes
from commonir.text.parser import parse_module
from commonir.text.pieces import Piece, pieces_of


def check_pieces(
    path: str | os.PathLike[str], dialects: Dialects, *, split: bool, expects: bool
) -> Iterator[tuple[Module | None, list[Diagnostic]]]:
    """Each program of a file, and what is wrong with it.

    `split`: the file holds several, parted by lines `// -----`. `expects`: only what differs from what comments of the
    text announce.

    Raises: DiagnosticError when the file cannot be read.
    """
    from commonir.text.expectations import unexpected  # noqa: PLC0415  few texts announce what is wrong with them

    file = os.fspath(path)
    text = read_text(path)
    for piece in pieces_of(text) if split else (Piece(text, 0),):
        module, diagnostics = check_piece(piece, file, dialects)
        yield module, unexpected(piece, diagnostics, file) if expects else diagnostics


def check_piece(piece: Piece, file: str, dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """The program of a text; what is wrong with its operations, with their order in subgraphs."""
    unknown: dict[str, int] = {}
    try:
        module = parse_module(piece.text, dialects, file=file, lines_before=piece.lines_before, unknown_forms=unknown)
    except DiagnosticError as error:
        return None, list(error.diagnostics)
    lines = TextLines(file, piece.lines_before)
    lines.set_text(piece.text, is_retained=True)
    diagnostics = verify(module, dialects, partial(_located, piece.text, lines))
    diagnostics = [*_unknown_forms(piece.text, lines, {} if dialects.allows_unregistered else unknown), *diagnostics]
    return module, diagnostics or _order_of(module)


def _unknown_forms(text: str, lines: TextLines, unknown: Mapping[str, int]) -> Iterator[Diagnostic]:
    """Yields errors for types and attributes of unknown dialects, except those of MLIR."""
    for name, offset in unknown.items():
        dialect = name[1:].partition(".")[0]
        if dialect in UPSTREAM:
            continue
        noun = "type" if name[0] == "!" else "attribute"
        help = f"{how_to_provide(dialect)}; {ACCEPTING}"
        result = Diagnostic(UNKNOWN_DIALECT, f"{noun} '{name}' of an unknown dialect", file=lines.file, help=help)
        result.line, result.column = lines.place(offset)
        result.notes = caret_notes(text, offset, result.line)
        yield result


def _order_of(module: Module) -> list[Diagnostic]:
    """Returns warnings about subgraphs that cannot run; few programs have any."""
    if not any(isinstance(op, Op) and op.has_trait(GraphRegion) for op in module.walk()):
        return []
    from commonir.passes.order_subgraphs import check_order  # noqa: PLC0415  loads all of the core

    return list(check_order(module, runs=False))


def _located(text: str, lines: TextLines, op: Operation, diagnostic: Diagnostic) -> Diagnostic:
    """A finding about an operation with its path in the program, and the line where its text begins."""
    result = located_at(diagnostic.located(where=path_of(op)), op.location)
    if result.line is not None and result.column is not None and result.file == lines.file:
        offset = lines.offset(result.line, result.column)
        result.notes = (*result.notes, *caret_notes(text, offset, result.line))
    return result.located(file=lines.file)
