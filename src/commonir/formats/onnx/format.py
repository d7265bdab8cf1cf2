"""ONNX as a format."""

from __future__ import annotations

import os
from pathlib import Path

from commonir.base.collecting import no_collection
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.formats.format import DEFAULT_WRITE_OPTIONS, Format, Outline, WriteOptions
from commonir.formats.kinds import FileKind
from commonir.ir.module import Module
from commonir.ods import Dialects

# Finding the format of another file asks this module, which must not load the dialect or protobuf for it.


def read(path: str | os.PathLike[str], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """Reads a model."""
    from commonir.formats.onnx.read import read as read_model  # noqa: PLC0415  as above

    return read_model(path, dialects)


def check(path: str | os.PathLike[str], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """Reads and verifies a model."""
    from commonir.formats.onnx.read import check as check_model  # noqa: PLC0415  as above

    return check_model(path, dialects)


def verify(module: Module) -> list[Diagnostic]:
    """What the format demands of a module beyond its operations."""
    from commonir.formats.onnx.verify import verify_model  # noqa: PLC0415  as above

    return verify_model(module)


def loads(content: bytes, dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """Reads the bytes of a model."""
    from commonir.formats.onnx.read import loads as load_bytes  # noqa: PLC0415  as above

    try:
        return load_bytes(content, dialects)
    except DiagnosticError as error:
        return None, list(error.diagnostics)


def write(module: Module, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Writes a model."""
    return write_with(module, path, DEFAULT_WRITE_OPTIONS)


def write_with(module: Module, path: str | os.PathLike[str], options: WriteOptions) -> tuple[Path, ...]:
    """Writes a model, its weights where the user wants them."""
    with no_collection():
        from commonir.formats.onnx.write import Where, write  # noqa: PLC0415  as above
        from commonir.formats.onnx.write import WriteOptions as ModelOptions  # noqa: PLC0415

        places: dict[bool | None, Where] = {None: "auto", True: "always", False: "never"}
        return write(module, path, ModelOptions(places[options.external_data]))


def dumps(module: Module) -> bytes:
    """The bytes of a model."""
    from commonir.formats.onnx.write import dumps as dump_model  # noqa: PLC0415  as above

    return dump_model(module)


def outline(module: Module) -> Outline:
    """What a model tells around its graph."""
    from commonir.formats.onnx.outline import outline as outline_of  # noqa: PLC0415  as above

    return outline_of(module)


FORMAT = Format(
    name="onnx",
    dialect="onnx",
    suffixes=(".onnx",),
    kinds=frozenset({FileKind.ONNX}),
    read=read,
    check=check,
    verify=verify,
    write=write,
    write_with=write_with,
    loads=loads,
    dumps=dumps,
    outline=outline,
)
