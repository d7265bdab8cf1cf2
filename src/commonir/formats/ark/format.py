"""ARK model files as a format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from commonir.base.diagnostics import Diagnostic
from commonir.formats.ark.files import programs
from commonir.formats.format import Format, Outline
from commonir.formats.kinds import FileKind
from commonir.ir.module import Module
from commonir.ods import Dialects

# Finding the format of another file asks this module, which must not load the dialect for it.


def _read(path: str | os.PathLike[str], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    from commonir.formats.ark.read import read  # noqa: PLC0415  as above

    return read(path, dialects)


def _check(path: str | os.PathLike[str], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    from commonir.formats.ark.checking import check  # noqa: PLC0415  as above

    return check(path, dialects)


def _read_files(paths: Sequence[str | os.PathLike[str]], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    from commonir.formats.ark.read import read_files  # noqa: PLC0415  as above

    return read_files(paths, dialects)


def _check_files(paths: Sequence[str | os.PathLike[str]], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    from commonir.formats.ark.checking import check_files  # noqa: PLC0415  as above

    return check_files(paths, dialects)


def _verify(module: Module) -> list[Diagnostic]:
    from commonir.formats.ark.checking import verify_program  # noqa: PLC0415  as above

    return verify_program(module)


def _write(module: Module, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    from commonir.formats.ark.write import write  # noqa: PLC0415  as above

    return write(module, path)


def _loads(content: bytes, dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    from commonir.formats.ark.read import loads  # noqa: PLC0415  as above

    return loads(content, dialects)


def _dumps(module: Module) -> bytes:
    from commonir.formats.ark.write import dumps  # noqa: PLC0415  as above

    return dumps(module)


def outline(module: Module) -> Outline:
    """The generation of the files."""
    from commonir.formats.ark.write import ranks_of  # noqa: PLC0415  as above

    ranks = ranks_of(module)
    generation = " ".join(dict.fromkeys([rank.generation for rank in ranks if rank.generation]))
    return Outline(title=f"ARK model {generation}".rstrip())


FORMAT = Format(
    name="ark",
    dialect="ark",
    suffixes=(".ark.json",),
    kinds=frozenset({FileKind.ARK}),
    read=_read,
    check=_check,
    verify=_verify,
    read_files=_read_files,
    check_files=_check_files,
    programs=programs,
    write=_write,
    loads=_loads,
    dumps=_dumps,
    outline=outline,
)
