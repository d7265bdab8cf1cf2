"""Common IR as a format."""

from __future__ import annotations

import os
from pathlib import Path

from commonir.base.diagnostics import Diagnostic
from commonir.formats.format import DEFAULT_WRITE_OPTIONS, Format, Outline, ReadOptions, WriteOptions
from commonir.formats.kinds import FileKind
from commonir.ir.module import Module
from commonir.ods import Dialects

# Finding the format of another file asks this module, which must not load the dialect or protobuf for it.


def _read(path: str | os.PathLike[str], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    from commonir.formats.common_ir.read import read  # noqa: PLC0415  as above

    return read(path, dialects)


def _read_with(
    path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions
) -> tuple[Module | None, list[Diagnostic]]:
    from commonir.formats.common_ir.read import read  # noqa: PLC0415  as above

    return read(path, dialects, options)


def _check_with(
    path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions
) -> tuple[Module | None, list[Diagnostic]]:
    from commonir.formats.common_ir.read import check  # noqa: PLC0415  as above

    return check(path, dialects, options)


def _check(path: str | os.PathLike[str], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    from commonir.formats.common_ir.read import check  # noqa: PLC0415  as above

    return check(path, dialects)


def _write(
    module: Module, path: str | os.PathLike[str], options: WriteOptions = DEFAULT_WRITE_OPTIONS
) -> tuple[Path, ...]:
    from commonir.formats.common_ir.write import write  # noqa: PLC0415  as above

    return write(module, path, options)


def _loads(content: bytes, dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    from commonir.formats.common_ir.read import loads  # noqa: PLC0415  as above

    return loads(content, dialects)


def _dumps(module: Module) -> bytes:
    from commonir.formats.common_ir.write import dumps  # noqa: PLC0415  as above

    return dumps(module)


def _left_behind(module: Module, path: str | os.PathLike[str]) -> list[Diagnostic]:
    from commonir.formats.common_ir.write import left_behind  # noqa: PLC0415  as above

    return left_behind(module, path)


def outline(module: Module) -> Outline:
    """What a file tells around its graph, or a library of itself."""
    from commonir.formats.common_ir.outline import outline as outline_of  # noqa: PLC0415  as above

    return outline_of(module)


FORMAT = Format(
    name="common_ir",
    dialect="common_ir",
    suffixes=(".cir", ".cir.json"),
    kinds=frozenset({FileKind.COMMON_IR}),
    read=_read,
    check=_check,
    read_with=_read_with,
    check_with=_check_with,
    write=_write,
    write_with=_write,
    loads=_loads,
    dumps=_dumps,
    outline=outline,
    left_behind=_left_behind,
)
