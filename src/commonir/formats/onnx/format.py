"""ONNX as a format."""

from __future__ import annotations

import os

from commonir.base.diagnostics import Diagnostic
from commonir.dialects import onnx
from commonir.formats.format import Format, Outline
from commonir.formats.onnx.write import write
from commonir.formats.recognize import FileKind
from commonir.ir.attributes import DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.module import Module
from commonir.ods import Dialects


def outline(module: Module) -> Outline:
    """What a model tells around its graph."""
    texts = {name: value.value for name, value in module.extra.items() if isinstance(value, StringAttr)}
    producer = " ".join(filter(None, (texts.get(onnx.PRODUCER_NAME), texts.get(onnx.PRODUCER_VERSION))))
    entries = module.extra.get(onnx.METADATA)
    metadata = {
        key: value.value
        for key, value in (entries.entries if isinstance(entries, DictionaryAttr) else ())
        if isinstance(value, StringAttr)
    }
    opsets = {
        domain or "ai.onnx": str(version.value)
        for graph in module.body.operations
        if isinstance(graph, onnx.Graph)
        for domain, version in graph.opset_import.entries
        if isinstance(version, IntegerAttr)
    }
    return Outline(title="ONNX model", producer=producer, metadata=metadata, opsets=opsets)


def read(path: str | os.PathLike[str], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """Reads a model."""
    # Loads protobuf, which finding the format of another file must not.
    from commonir.formats.onnx.read import read as read_model  # noqa: PLC0415

    return read_model(path, dialects)


def check(path: str | os.PathLike[str], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """Reads and verifies a model."""
    from commonir.formats.onnx.read import check as check_model  # noqa: PLC0415  as above

    return check_model(path, dialects)


def verify(module: Module) -> list[Diagnostic]:
    """What the format demands of a module beyond its operations."""
    from commonir.formats.onnx.verify import verify_model  # noqa: PLC0415  as above

    return verify_model(module)


FORMAT = Format(
    name="onnx",
    dialect="onnx",
    suffixes=(".onnx",),
    kinds=frozenset({FileKind.ONNX}),
    read=read,
    check=check,
    verify=verify,
    write=write,
    outline=outline,
)
