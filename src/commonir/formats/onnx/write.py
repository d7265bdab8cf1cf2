"""Writes modules of the onnx dialect as ONNX files, weights copied inside the kernel.

A small model is one file. Beyond a size, or when asked, weights go to a second file beside it, `NAME.onnx.data`, at
aligned offsets. Both replace an old output together, or not at all. The message of a model is never built with its
weights: their bytes are put between the messages around them, so memory stays small whatever the size of the model.

Writes what it is given: never converts, never fixes. Source: ONNX external data, onnx.proto.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from commonir.base.codes import OUTPUT_TOO_LARGE
from commonir.base.collecting import no_collection
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.files import atomic_file, atomic_files
from commonir.base.varints import varint
from commonir.formats.format import DEFAULT_WRITE_OPTIONS, WriteOptions
from commonir.formats.onnx.encode import Encoded, encode
from commonir.formats.onnx.graph_writing import Weight
from commonir.formats.onnx.messages import GraphProto, Message, ModelProto, TensorProto, create, field_number
from commonir.formats.onnx.tensors import is_fixed, typed_field, write_typed
from commonir.ir.data import Data, copy_data
from commonir.ir.module import Module

# Protobuf runtimes refuse messages of 2 GiB and more.
_MAX_MESSAGE_BYTES = 2**31 - 1
# Above this, data are external where options leave it open: far enough below the limit for tools that add to the model.
_AUTO_BYTES = 3 * 2**29
# Tensors of at most this size are always in the message: shapes and scalars, which tools want to see.
_EXTERNAL_ABOVE_BYTES = 1024
# Large tensors begin at a page, so that they can be mapped one by one; small ones at a cache line.
_PAGE_BYTES, _PAGE_ALIGNED_FROM_BYTES, _LINE_BYTES = 4096, 2**16, 64
_EXTERNAL = 1
_LENGTH_DELIMITED = 2


@no_collection()
def write(
    module: Module, path: str | os.PathLike[str], options: WriteOptions = DEFAULT_WRITE_OPTIONS
) -> tuple[Path, ...]:
    """Writes a module to a file, and its weights beside it when they are external; returns the files written.

    An old output survives any failure.
    Raises: NOT_IN_FORMAT, OUTPUT_TOO_LARGE, CANNOT_WRITE, DISK_FULL, OUTPUT_IN_THE_WAY.
    """
    encoded = encode(module)
    external = _external(encoded.weights, options)
    if not external:
        layout = _ExternalLayout(encoded, frozenset())
        with atomic_file(path) as stream:
            layout.write(stream)
        return (Path(path),)
    location = f"{Path(os.path.realpath(path)).name}.data"
    offset = 0
    for n in external:
        header, data, _ = encoded.weights[n]
        size_bytes = 0 if data is None else data.size_bytes
        offset = _aligned(offset, size_bytes)
        refer_to_file(header, location, offset, size_bytes)
        offset += size_bytes
    layout = _ExternalLayout(encoded, frozenset(external))
    beside = Path(os.path.realpath(path)).with_name(location)
    with atomic_files(beside, path) as (data_stream, stream):
        for n in external:
            data = encoded.weights[n].data
            if data is None:
                continue
            data_stream.write(b"\0" * (_aligned(data_stream.tell(), data.size_bytes) - data_stream.tell()))
            copy_data(data, data_stream)
        layout.write(stream)
    return (Path(path), beside)


def dumps(module: Module) -> bytes:
    """The bytes of a model with its weights in it.

    Raises: NOT_IN_FORMAT, OUTPUT_TOO_LARGE.
    """
    layout = _ExternalLayout(encode(module), frozenset())
    stream = io.BytesIO()
    layout.write(stream)
    return stream.getvalue()


def message_of(module: Module) -> ModelProto:
    """The message of a model with its weights in it.

    Raises: NOT_IN_FORMAT, OUTPUT_TOO_LARGE.
    """
    message = create(ModelProto)
    message.ParseFromString(dumps(module))
    return message


def _external(weights: Sequence[Weight], options: WriteOptions) -> list[int]:
    """Which weights go to the second file."""
    large = [n for n, w in enumerate(weights) if w.data is not None and w.data.size_bytes > _EXTERNAL_ABOVE_BYTES]
    is_external = options.external_data
    if is_external is None:
        is_external = sum(w.data.size_bytes for w in weights if w.data is not None) > _AUTO_BYTES
    return large if is_external else []


def _aligned(offset: int, size_bytes: int) -> int:
    """The first place from an offset on where a tensor may begin."""
    unit = _PAGE_BYTES if size_bytes >= _PAGE_ALIGNED_FROM_BYTES else _LINE_BYTES
    return -(-offset // unit) * unit


def refer_to_file(header: TensorProto, location: str, offset: int, length: int) -> None:
    """Has a tensor refer to bytes of a file."""
    header.data_location = _EXTERNAL
    for key, value in (("location", location), ("offset", str(offset)), ("length", str(length))):
        entry = header.external_data.add()
        entry.key, entry.value = key, value


class _ExternalLayout:
    """The bytes of a model: pieces of messages, and weights between them.

    Fields of a message may come in any order, so the weights are written after the rest of the graph, and the graph
    after the rest of the model.
    """

    def __init__(self, encoded: Encoded, external: frozenset[int]) -> None:
        self._pieces: list[tuple[bytes, Data | None]] = []
        for n, (header, data, is_typed) in enumerate(encoded.weights):
            inside = None if n in external else data
            field = "raw_data"
            if inside is not None and is_typed:
                if is_fixed(inside.element):
                    field = typed_field(inside.element)
                else:
                    write_typed(inside, header)
                    inside = None
            content = header.SerializeToString()
            size_bytes = 0 if inside is None else inside.size_bytes
            if inside is not None:
                content += _start_of(TensorProto, field, size_bytes)
            self._pieces.append((_start_of(GraphProto, "initializer", len(content) + size_bytes) + content, inside))
        weights = sum(len(head) + (0 if data is None else data.size_bytes) for head, data in self._pieces)
        graph = encoded.graph.SerializeToString()
        model = encoded.model.SerializeToString()
        self._head = model + _start_of(ModelProto, "graph", len(graph) + weights) + graph
        total = len(self._head) + weights
        if total > _MAX_MESSAGE_BYTES:
            raise DiagnosticError(
                Diagnostic(
                    OUTPUT_TOO_LARGE,
                    f"the model takes {total:,} bytes in one message, of {_MAX_MESSAGE_BYTES:,} possible",
                    help="write it to a file with external data",
                )
            )

    def write(self, stream: BinaryIO) -> None:
        """Writes the model."""
        stream.write(self._head)
        for head, data in self._pieces:
            stream.write(head)
            if data is not None:
                copy_data(data, stream)


def _start_of(declared: type[Message], field: str, length: int) -> bytes:
    """The bytes before the contents of a length-delimited field."""
    return varint(field_number(declared, field) << 3 | _LENGTH_DELIMITED) + varint(length)
