"""Definitions of dialects out of TableGen files, ready for reading and writing texts.

A format that has no meaning is refused at once; a directive that needs C++ leaves an operation its generic form.
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
    """The dialects that TableGen files define, in addition to those given. What files say of one dialect is joined; of
    one operation the last definition holds. With the same `sources`, loads read files that they share once.

    Raises: DiagnosticError as `ods.from_records.load`, and E0264 for a format that has no meaning.
    """
    sources = Sources() if sources is None else sources
    found = {dialect.name: dialect for dialect in given}
    for path in paths:
        built = load(
            path,
            include_dirs,
            dialects=Dialects(dialects=found.values()),
            sources=sources,
            directives=frozenset(DIRECTIVES),
        )
        check_formats(built)
        found |= {dialect.name: dialect for dialect in built.dialects}
    return tuple(found.values())


def check_formats(loaded: Loaded) -> None:
    """Raises: DiagnosticError (E0264) with every format of loaded definitions that has no meaning."""
    wrong = [found for d in loaded.definitions.values() if (found := _wrong_format(d)) is not None]
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
    """What is not checked of the operations of a program, because their definitions state it in C++."""
    used = dict.fromkeys([type(op) for op in root.walk() if isinstance(op, RecordOp) and op.unknown])
    for definition in used:
        shown = "; ".join(definition.unknown)
        yield definition.finding(NOT_EVALUABLE, f"{definition.name}: not checked: {shown}")
