"""The file beside a graph that holds its weights, in the safetensors format.

The graph refers to each weight by file, offset and length, as ONNX refers to external data; the header of the file
has the same information for tools that read safetensors. Weights are aligned to 64 bytes. The format does not allow
gaps, so padding is listed as tensors named `__padding_N__`. Types that safetensors lacks are listed by their bytes:
complex128 as F64 with a last axis of 2, everything else as U8. The graph has the actual type. Strings remain there.
Source: safetensors format description.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

from commonir.base.safe_paths import open_regular
from commonir.base.tuples import NamedTuple
from commonir.ir.data import Data
from commonir.ir.types import (
    ElementType,
    bf16,
    boolean,
    complex64,
    complex128,
    f8e4m3fn,
    f8e5m2,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)

ALIGNMENT_BYTES = 64
SUFFIX = ".safetensors"

_LENGTH_BYTES = 8
_MAX_HEADER_BYTES = 100_000_000
"""As much as the safetensors package reads."""
_GRAPH_KEY = "commonir.graph"
_TYPES: dict[ElementType, str] = {
    boolean: "BOOL",
    i8: "I8",
    i16: "I16",
    i32: "I32",
    i64: "I64",
    u8: "U8",
    u16: "U16",
    u32: "U32",
    u64: "U64",
    f16: "F16",
    bf16: "BF16",
    f32: "F32",
    f64: "F64",
    f8e4m3fn: "F8_E4M3",
    f8e5m2: "F8_E5M2",
    complex64: "C64",
}


class Placed(NamedTuple):
    """A weight in the file. Units: `offset` is in bytes from the start of the file."""

    data: Data
    offset: int


class Sidecar(NamedTuple):
    """A file to be written: its header, with what precedes it, and the weights in order."""

    header: bytes
    weights: tuple[Placed, ...]

    def write(self, stream: BinaryIO, copy: Callable[[Data, BinaryIO], None]) -> None:
        """Writes the file; `copy` appends the bytes of a weight to a stream."""
        stream.write(self.header)
        for weight in self.weights:
            stream.write(b"\0" * (weight.offset - stream.tell()))
            copy(weight.data, stream)


def graph_of(path: Path) -> str:
    """The name of the graph file that a file of weights says it belongs to; nothing where it says none."""
    try:
        with open_regular(path) as stream:
            size_bytes = int.from_bytes(stream.read(_LENGTH_BYTES), "little")
            header = json.loads(stream.read(min(size_bytes, _MAX_HEADER_BYTES)))
        return str(header["__metadata__"][_GRAPH_KEY])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return ""


def plan(weights: Iterable[tuple[str, Data]], graph: str = "") -> Sidecar:
    """Lays weights out one after another, each under its name, which must be unique; `graph` is the name of their graph
    file, which the header states.
    """
    entries: dict[str, object] = {"__metadata__": {_GRAPH_KEY: graph}} if graph else {}
    places: list[tuple[Data, int]] = []
    at = 0
    for name, data in weights:
        gap = -at % ALIGNMENT_BYTES
        if gap:
            entries[_padding_name(len(places), entries)] = _entry("U8", (gap,), at, gap)
            at += gap
        size_bytes = data.size_bytes
        entries[name] = _entry(*_shown(data), at, size_bytes)
        places.append((data, at))
        at += size_bytes
    text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-(_LENGTH_BYTES + len(text)) % ALIGNMENT_BYTES)
    header = len(text).to_bytes(_LENGTH_BYTES, "little") + text
    return Sidecar(header, tuple([Placed(data, len(header) + offset) for data, offset in places]))


def _padding_name(number: int, taken: dict[str, object]) -> str:
    name = f"__padding_{number}__"
    while name in taken:
        name += "_"
    return name


def _entry(dtype: str, shape: tuple[int, ...], offset: int, size_bytes: int) -> dict[str, object]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, offset + size_bytes]}


def _shown(data: Data) -> tuple[str, tuple[int, ...]]:
    """The type and shape that the header has for a weight."""
    if data.element is complex128:
        return "F64", (*data.shape, 2)
    known = _TYPES.get(data.element)
    return ("U8", (data.size_bytes,)) if known is None else (known, data.shape)
