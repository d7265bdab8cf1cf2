"""The outline of an ONNX file: what it records about its model beyond the graph."""

from __future__ import annotations

from commonir.dialects import onnx
from commonir.formats.format import Outline
from commonir.formats.onnx import unknown_fields
from commonir.formats.onnx.sharding import configurations
from commonir.ir.attributes import DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.interface import metadata_of
from commonir.ir.module import Module


def outline(module: Module) -> Outline:
    """Returns the metadata around the graph of a model."""
    declared = {name: value.value for name, value in module.extra.items() if isinstance(value, StringAttr)}
    producer = " ".join(filter(None, (declared.get(onnx.PRODUCER_NAME), declared.get(onnx.PRODUCER_VERSION))))
    about = metadata_of(module)
    texts = (*zip(about._fields[:-1], about[:-1], strict=True), *about.user_defined)
    metadata = {key: value for key, value in texts if value}
    for name, devices in configurations(module):
        metadata[f"devices of '{name}'"] = str(devices)
    holders = [op for op in module.body.operations if isinstance(op, onnx.Graph | onnx.LocalFunction)]
    opsets = {holder.symbol_name: _opsets_text(holder.opset_import) for holder in holders}
    ports = {
        (holder.symbol_name, name): "optional"
        for holder in holders
        for name, port in holder.input_ports.items()
        if port.is_optional
    }
    version = module.extra.get(onnx.IR_VERSION)
    title = f"ONNX model, IR version {version.value}" if isinstance(version, IntegerAttr) else "ONNX model"
    return Outline(title, producer, metadata, ports, opsets, annotations=_annotations(module))


def _annotations(module: Module) -> tuple[str, ...]:
    """Returns the device annotations of a model."""
    is_divided = any(unknown_fields.DEVICES in op.extra for op in module.nested())
    if not is_divided and unknown_fields.CONFIGURATION not in module.extra:
        return ()
    return ("how nodes are distributed over devices",)


def _opsets_text(opsets: DictionaryAttr) -> str:
    declared = [(domain or "ai.onnx", v.value) for domain, v in opsets.entries if isinstance(v, IntegerAttr)]
    return ", ".join([f"{domain} {version}" for domain, version in declared])
