"""Common IR as a format."""

from __future__ import annotations

import os
from pathlib import Path

from commonir.base.diagnostics import Diagnostic
from commonir.dialects import common_ir, onnx
from commonir.formats.format import Format, Outline, ReadOptions
from commonir.formats.onnx.format import outline as onnx_outline
from commonir.formats.recognize import FileKind
from commonir.ir.attributes import StringAttr
from commonir.ir.module import Module
from commonir.ods import Dialects

# Finding the format of another file asks this module, which must not load protobuf for it.


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


def _write(module: Module, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    from commonir.formats.common_ir.write import write  # noqa: PLC0415  as above

    return write(module, path)


def outline(module: Module) -> Outline:
    """What a file tells around its graph, or a library of itself."""
    about = onnx_outline(module)
    texts = {key: value.value for key, value in module.extra.items() if isinstance(value, StringAttr)}
    named = {"author": texts.get(common_ir.MODEL_AUTHOR), "license": texts.get(common_ir.MODEL_LICENSE)}
    metadata = {**{k: v for k, v in named.items() if v}, **about.metadata}
    is_library = not any(isinstance(op, onnx.Graph) for op in module.body.operations)
    title = "Common IR library" if is_library else "Common IR graph"
    return Outline(title=title, producer=about.producer, metadata=metadata, opsets=about.opsets)


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
    outline=outline,
)
