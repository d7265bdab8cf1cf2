"""Reads ARK model files and verifies their operations; findings name the places in the files."""

from __future__ import annotations

import os
from collections.abc import Sequence

from commonir.base.collecting import no_collection
from commonir.base.diagnostics import Diagnostic
from commonir.base.file_codes import ARK_PADS, ARK_RANKS, MISSING_RANK
from commonir.formats.ark.read import Opened, read, read_files
from commonir.formats.ark.rules import broken_rules
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ir.origins import Location
from commonir.ods import Dialects, path_of, verify


def check(path: str | os.PathLike[str], dialects: Dialects) -> Opened:
    """The program of a file, or of the files of all ranks beside it, and what is wrong with them."""
    with no_collection():
        return _verified(read(path, dialects), dialects)


def check_files(paths: Sequence[str | os.PathLike[str]], dialects: Dialects) -> Opened:
    """The program of some files, one for each rank, and what is wrong with them."""
    with no_collection():
        return _verified(read_files(paths, dialects), dialects)


def _verified(opened: Opened, dialects: Dialects) -> Opened:
    module, result = opened
    if module is None:
        return module, result
    # Reading has reported pads, at their fields.
    wrong = [d for d in verify(module, dialects, located) if d.code is not ARK_PADS]
    is_verified = not any(d.is_error for d in wrong)
    result = [_as_error(d) if d.code is MISSING_RANK else d for d in result]
    return module, [*result, *wrong, *broken_rules(module, located, is_verified=is_verified)]


def _as_error(finding: Diagnostic) -> Diagnostic:
    """Returns a finding as an error: the program can be opened, but is not valid."""
    return Diagnostic(ARK_RANKS, finding.message, where=finding.where, file=finding.file, help=finding.help)


def verify_program(module: Module) -> list[Diagnostic]:
    """Returns findings about a program of ranks beyond its operations, ordered by location."""
    return broken_rules(module, lambda op, finding: finding.located(where=path_of(op)))


def located(op: Operation, finding: Diagnostic) -> Diagnostic:
    """A finding about an operation with its place in its file, or in the program where it is from no file."""
    origin = op.location
    if not isinstance(origin, Location) or not origin.file:
        return finding.located(where=path_of(op))
    return finding.located(file=origin.file, where=origin.name)
