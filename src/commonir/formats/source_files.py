"""Files that outputs are copied from, which stay what they are while an output is written, also one in their place."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import FILE_NOT_ACCESSIBLE
from commonir.ir.data import Data, FileData, MappedFile, copy_data

T = TypeVar("T")


def hold(files: Iterable[MappedFile]) -> None:
    """Opens files that are copied from, so that they stay what they were while they are replaced, by us or by others.

    Raises: FILE_NOT_ACCESSIBLE.
    """
    for file in dict.fromkeys(files):
        from_source(file.path, file.ensure_mapped)


def from_source(path: str, action: Callable[[], T]) -> T:
    """Calls a function, and turns the loss of a file that it reads into a diagnostic about that file.

    Raises: FILE_NOT_ACCESSIBLE.
    """
    try:
        return action()
    except (OSError, ValueError) as error:
        raise _lost(path, error) from error


def copy_from_source(data: Data, stream: BinaryIO) -> None:
    """Appends the bytes of data to a stream. Raises: FILE_NOT_ACCESSIBLE; OSError of the stream."""
    try:
        copy_data(data, stream)
    except (OSError, ValueError) as error:
        # Only opening a file says which one it is about.
        if not isinstance(data, FileData) or (isinstance(error, OSError) and error.filename is None):
            raise
        raise _lost(data.file.path, error) from error


def hold_replaced(constants: Iterable[Data | None], places: Iterable[Path]) -> None:
    """Opens the files of constants that are at some places, where they are about to be replaced or removed, so that the
    program can be used after that; as many as the system allows.
    """
    gone = set(map(os.path.realpath, places))
    for file in dict.fromkeys([data.file for data in constants if isinstance(data, FileData)]):
        if os.path.realpath(file.path) in gone:
            with suppress(DiagnosticError):
                file.ensure_mapped()


def _lost(path: str, error: OSError | ValueError) -> DiagnosticError:
    reason = (error.strerror or type(error).__name__).lower() if isinstance(error, OSError) else str(error)
    file = error.filename if isinstance(error, OSError) and error.filename else path
    return DiagnosticError(Diagnostic(FILE_NOT_ACCESSIBLE, f"cannot be read: {reason}", file=file))
