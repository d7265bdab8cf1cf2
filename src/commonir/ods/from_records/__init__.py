"""Definitions of operations from TableGen records, equivalent to definitions in Python.

Source: MLIR operation definitions.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from commonir import tablegen
from commonir.ods.dialect import Dialects
from commonir.ods.from_records.attributes import AttributeCheck
from commonir.ods.from_records.loading import Check, Loaded
from commonir.ods.from_records.operations import RecordOp, name_of
from commonir.ods.from_records.prelude import files_of, is_older, prelude_of
from commonir.tablegen import Records, Sources


def load(
    path: str | os.PathLike[str],
    include_dirs: Sequence[str] = (),
    defines: Iterable[str] = (),
    *,
    dialects: Dialects | None = None,
    sources: Sources | None = None,
    directives: AbstractSet[str] | None = None,
    check: Check | None = None,
) -> Loaded:
    """Returns the dialects that a TableGen file defines, in the current form or in the older one.

    `dialects` are those whose definitions it replaces, by default all installed ones. `directives` is as in
    `loaded`; `check` returns further faults of a definition.
    Raises: DiagnosticError as `tablegen.load`, and E0264.
    """
    sources = Sources() if sources is None else sources
    files = files_of(os.fspath(path), tablegen.with_headers(include_dirs), sources)
    before, declared = prelude_of(files) if is_older(files) else ("", ())
    records = tablegen.load(path, include_dirs, defines, sources=sources, prelude=before)
    return Loaded(records, Dialects() if dialects is None else dialects, directives, declared, check)


def loaded(records: Records, dialects: Dialects, directives: AbstractSet[str] | None = None) -> Loaded:
    """Returns the dialects that records define; they replace definitions of `dialects`.

    `directives` are the names of directives `custom<Name>(..)` with an implementation: definitions whose format has
    others only have the generic form. By default all are assumed to have one.

    Raises: DiagnosticError (E0264) with every record of an operation that has no valid definition.
    """
    return Loaded(records, dialects, directives)


__all__ = ["AttributeCheck", "Loaded", "RecordOp", "load", "loaded", "name_of"]
