"""Makes compiled models for tests: a folder as Apple's compiler writes it, from parts that tests state.

There is no compiler outside of macOS, so these are not real samples. The layout of `coremldata.bin` is stated here
independently of the reader: numbers as they were seen in files of compiler versions 3520 and 3600.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

Message = Any


def model_data(content: Message, *, functions: int = 1) -> bytes:
    """`coremldata.bin` for a `Model` message: type, version, a target, and the description between lengths."""
    description = content.description.SerializeToString()
    version = content.specificationVersion
    head = struct.pack("<II", 502, version) + bytes(20) + struct.pack("<Q", 7) + b"generic"
    middle = bytes([version]) + bytes(31)
    return head + middle + struct.pack("<Q", len(description)) + description + struct.pack("<I12x", 502) * functions


def pipeline_data(content: Message) -> bytes:
    """`coremldata.bin` for a `Model` message with a pipeline, as it was seen in files of compiler version 3600."""
    models = content.pipeline.models
    targets = "".join(f"generic.model{n}v{m.specificationVersion}.0.0" for n, m in enumerate(models))
    target = f"{targets}generic".encode()
    description = content.description.SerializeToString()
    head = struct.pack("<II12xII", 202, 1, 1, 0) + struct.pack("<Q", len(target)) + target
    middle = bytes([content.specificationVersion]) + bytes(31)
    trailer = struct.pack("<QII", len(models), 202, 0)
    return head + middle + struct.pack("<Q", len(description)) + description + trailer


def names_data(*names: str) -> bytes:
    """`modelNames/coremldata.bin`: the names of the models of a pipeline."""
    parts = [struct.pack("<Q", len(name.encode())) + name.encode() for name in names]
    return struct.pack("<Q", len(names)) + b"".join(parts)


def schema(**inputs: object) -> str:
    """`metadata.json`."""
    declared = {
        "metadataOutputVersion": "3.0",
        "specificationVersion": 9,
        "inputSchema": [],
        "outputSchema": [],
        "stateSchema": [],
        "userDefinedMetadata": {},
        "modelType": {"name": "MLModelType_mlProgram"},
        "method": "predict",
    }
    return json.dumps([{**declared, **inputs}], indent=2)


def save(
    folder: Path,
    text: str | None,
    *,
    data: bytes | None = None,
    metadata: str | None = None,
    weights: bytes | None = None,
    name: str = "net.mlmodelc",
) -> Path:
    """Writes a compiled model below a folder and returns its path."""
    bundle = folder / name
    (bundle / "analytics").mkdir(parents=True)
    (bundle / "analytics" / "coremldata.bin").write_bytes(b"\x19" + bytes(40))
    for part, content in (("model.mil", text), ("metadata.json", metadata)):
        if content is not None:
            (bundle / part).write_text(content, encoding="utf-8")
    if data is not None:
        (bundle / "coremldata.bin").write_bytes(data)
    if weights is not None:
        (bundle / "weights").mkdir()
        (bundle / "weights" / "weight.bin").write_bytes(weights)
    return bundle
