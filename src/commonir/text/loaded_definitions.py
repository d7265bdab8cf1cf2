"""Loads definitions of dialects from TableGen files for reading and writing text.

An invalid assembly format is an error; an operation with a directive that needs C++ has its generic form only.
Source: MLIR operation definitions.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from commonir.base.diagnostics import Diagnostic
from commonir.base.file_codes import NOT_EVALUABLE, WRONG_DEFINITION_RECORD
from commonir.ir.operation import Operation
from commonir.ods import Dialect, Dialects, Op
from commonir.ods.from_records import RecordOp, load
from commonir.tablegen import Sources, dialect_file
from commonir.text.directives import DIRECTIVES
from commonir.text.format_parser import FormatFault
from commonir.text.formats import checked_elements


def load_dialects(
    paths: Iterable[str | os.PathLike[str]],
    include_dirs: Sequence[str] = (),
    given: Iterable[Dialect] = (),
    *,
    sources: Sources | None = None,
) -> tuple[Dialect, ...]:
    """Returns the dialects that TableGen files define, and the `given` ones. A path may be the name of a dialect of an
    installed MLIR. Definitions of one dialect in several
    files are joined; the last definition of an operation wins. Loads with the same `sources` read shared files once.

    Raises: DiagnosticError as `ods.from_records.load`, and E0264 for an invalid format.
    """
    sources = Sources() if sources is None else sources
    dialects = {dialect.name: dialect for dialect in given}
    for path in paths:
        built = load(
            dialect_file(name, include_dirs, Dialects().names()) if _is_name(name := os.fspath(path)) else path,
            include_dirs,
            dialects=Dialects(dialects=dialects.values()),
            sources=sources,
            directives=frozenset(DIRECTIVES),
            check=faults_of_format,
        )
        dialects |= {dialect.name: dialect for dialect in built.dialects}
    return tuple(dialects.values())


def _is_name(path: str) -> bool:
    """Returns whether a path is the name of a dialect of MLIR instead, such as `memref`."""
    return path.replace("_", "a").isalnum() and not os.path.exists(path)


def faults_of_format(definition: type[Op]) -> Iterator[Diagnostic]:
    """Yields the fault (E0264) of the assembly format that the record of a definition has."""
    if not issubclass(definition, RecordOp) or definition.declared_format is None:
        return
    try:
        checked_elements(definition, definition.declared_format)
    except FormatFault as error:
        place = None if definition.format_place is None else definition.format_place(error.offset)
        yield definition.finding(WRONG_DEFINITION_RECORD, str(error), place)


def not_evaluable(root: Operation) -> Iterator[Diagnostic]:
    """Yields a diagnostic for each definition with constraints in C++, which are not checked."""
    used = dict.fromkeys([type(op) for op in root.walk() if isinstance(op, RecordOp) and op.unknown])
    for definition in used:
        shown = "; ".join(definition.unknown)
        yield definition.finding(NOT_EVALUABLE, f"{definition.name}: not checked: {shown}")
