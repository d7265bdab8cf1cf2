"""Loads definitions of dialects from TableGen files for reading and writing text.

An invalid assembly format is an error; an operation with a directive that needs C++ has its generic form only.
Source: MLIR operation definitions.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from commonir.base.diagnostics import Diagnostic, DiagnosticError, InternalError
from commonir.base.file_codes import NOT_EVALUABLE, WRONG_DEFINITION_RECORD
from commonir.ir.operation import Operation
from commonir.ods import Dialect, Dialects, Op
from commonir.ods.from_records import Loaded, RecordOp, load
from commonir.tablegen import Sources
from commonir.text.assembly import format_of
from commonir.text.directives import DIRECTIVES


def load_dialects(
    paths: Iterable[str | os.PathLike[str]],
    include_dirs: Sequence[str] = (),
    given: Iterable[Dialect] = (),
    *,
    sources: Sources | None = None,
) -> tuple[Dialect, ...]:
    """Returns the dialects that TableGen files define, and the `given` ones. Definitions of one dialect in several
    files are joined; the last definition of an operation wins. Loads with the same `sources` read shared files once.

    Raises: DiagnosticError as `ods.from_records.load`, and E0264 for an invalid format.
    """
    sources = Sources() if sources is None else sources
    dialects = {dialect.name: dialect for dialect in given}
    for path in paths:
        built = load(
            path,
            include_dirs,
            dialects=Dialects(dialects=dialects.values()),
            sources=sources,
            directives=frozenset(DIRECTIVES),
        )
        check_formats(built)
        dialects |= {dialect.name: dialect for dialect in built.dialects}
    return tuple(dialects.values())


def check_formats(loaded: Loaded) -> None:
    """Raises DiagnosticError (E0264) with every invalid format of loaded definitions."""
    wrong = [finding for d in loaded.definitions.values() if (finding := _wrong_format(d)) is not None]
    if wrong:
        raise DiagnosticError(*wrong)


def _wrong_format(definition: type[Op]) -> Diagnostic | None:
    if not definition.assembly or not issubclass(definition, RecordOp):
        return None
    try:
        format_of(definition)
    except InternalError as error:
        return definition.finding(WRONG_DEFINITION_RECORD, str(error))
    return None


def not_evaluable(root: Operation) -> Iterator[Diagnostic]:
    """Yields a diagnostic for each definition with constraints in C++, which are not checked."""
    used = dict.fromkeys([type(op) for op in root.walk() if isinstance(op, RecordOp) and op.unknown])
    for definition in used:
        shown = "; ".join(definition.unknown)
        yield definition.finding(NOT_EVALUABLE, f"{definition.name}: not checked: {shown}")
