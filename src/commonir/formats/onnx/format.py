"""ONNX as a format: written, not read yet."""

from __future__ import annotations

from commonir.dialects import onnx
from commonir.formats.format import Format, Outline
from commonir.formats.onnx.write import write
from commonir.formats.recognize import FileKind
from commonir.ir.attributes import DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.module import Module


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


FORMAT = Format(
    name="onnx",
    dialect="onnx",
    suffixes=(".onnx",),
    kinds=frozenset({FileKind.ONNX}),
    write=write,
    outline=outline,
)
