"""Writes modules of the onnx dialect as ONNX files, weights copied inside the kernel.

Weights are in the message of the model, or in files beside it (`external_layout.py`). All files replace an old output
together, or not at all. The message of a model is never built with its weights: their bytes are put between the
messages around them, so memory stays small whatever the size of the model.

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
from commonir.base.files import atomic_file, created_folders
from commonir.base.linked_files import LinkedFile, replace_together
from commonir.base.varints import varint
from commonir.formats.format import DEFAULT_WRITE_OPTIONS, WriteOptions
from commonir.formats.onnx.encode import Encoded, encode
from commonir.formats.onnx.external_layout import ExternalLayout
from commonir.formats.onnx.messages import GraphProto, Message, ModelProto, TensorProto, bytes_of, create, field_number
from commonir.formats.onnx.tensors import is_fixed, typed_field, write_contents, write_typed
from commonir.formats.source_files import copy_from_source, hold_replaced
from commonir.ir.data import Data
from commonir.ir.module import Module

# Protobuf runtimes refuse messages of 2 GiB and more.
_MAX_MESSAGE_BYTES = 2**31 - 1
_LENGTH_DELIMITED = 2


@no_collection()
def write(
    module: Module, path: str | os.PathLike[str], options: WriteOptions = DEFAULT_WRITE_OPTIONS
) -> tuple[Path, ...]:
    """Writes a module to a file, and its weights beside it when they are external; returns the files written.

    An old output survives any failure. It is replaced by a new one in one step; what it alone referred to is removed.
    Raises: NOT_IN_FORMAT, OUTPUT_TOO_LARGE, CANNOT_WRITE, DISK_FULL, OUTPUT_IN_THE_WAY, PATH_OUTSIDE_MODEL.
    """
    encoded = encode(module)
    layout = ExternalLayout(encoded.weights, encoded.nested, path, options)
    for weight in encoded.nested:
        if id(weight) not in layout.external and weight.data is not None:
            write_contents(weight.data, weight.header)
    replaced = [Path(path), *layout.obsolete, *[Path(path).parent / file.location for file in layout.written]]
    hold_replaced([weight.data for weight in (*encoded.weights, *encoded.nested)], replaced)
    for planned in layout.files:
        planned.refer(planned.location)
    written = _written(encoded, path, layout)
    layout.note_files()
    if options.findings is not None:
        options.findings.extend(layout.notes)
    return written


def _written(encoded: Encoded, path: str | os.PathLike[str], layout: ExternalLayout) -> tuple[Path, ...]:
    """Writes the files of a model and returns those that were written, the model first."""
    if not layout.files and not layout.obsolete:
        pieces = _Pieces(encoded, layout.external)
        with atomic_file(path) as stream:
            pieces.write(stream)
        return (Path(path),)
    folder = Path(path).parent
    planned = layout.written

    def write_model(stream: BinaryIO, places: Sequence[Path]) -> None:
        for file, place in zip(planned, places, strict=True):
            file.refer(place.relative_to(folder).as_posix())
        _Pieces(encoded, layout.external).write(stream)

    _Pieces(encoded, layout.external).check()
    linked = [
        LinkedFile(folder / f.location, f.write, f.clone, f.is_new, layout.is_requested(f.location)) for f in planned
    ]
    with created_folders(*dict.fromkeys(file.path.parent for file in linked)):
        return (Path(path), *replace_together(path, linked, write_model, layout.obsolete))


def dumps(module: Module) -> bytes:
    """The bytes of a model with its weights in it.

    Raises: NOT_IN_FORMAT, OUTPUT_TOO_LARGE.
    """
    encoded = encode(module)
    for weight in encoded.nested:
        if weight.data is not None:
            write_contents(weight.data, weight.header)
    stream = io.BytesIO()
    _Pieces(encoded, frozenset()).write(stream)
    return stream.getvalue()


def message_of(module: Module) -> ModelProto:
    """The message of a model with its weights in it.

    Raises: NOT_IN_FORMAT, OUTPUT_TOO_LARGE.
    """
    message = create(ModelProto)
    message.ParseFromString(dumps(module))
    return message


class _Pieces:
    """The bytes of a model: pieces of messages, and weights between them.

    Fields of a message may come in any order, so the weights are written after the rest of the graph, and the graph
    after the rest of the model.
    """

    def __init__(self, encoded: Encoded, external: frozenset[int]) -> None:
        self._pieces: list[tuple[bytes, Data | None]] = []
        for weight in encoded.weights:
            header, data, is_typed = weight
            inside = None if id(weight) in external else data
            field = "raw_data"
            if inside is not None and is_typed:
                if is_fixed(inside.element):
                    field = typed_field(inside.element)
                else:
                    write_typed(inside, header)
                    inside = None
            content = bytes_of(header, is_packed=encoded.is_packed)
            size_bytes = 0 if inside is None else inside.size_bytes
            if inside is not None:
                content += _start_of(TensorProto, field, size_bytes)
            self._pieces.append((_start_of(GraphProto, "initializer", len(content) + size_bytes) + content, inside))
        weights = sum(len(head) + (0 if data is None else data.size_bytes) for head, data in self._pieces)
        graph = bytes_of(encoded.graph, is_packed=encoded.is_packed)
        model = bytes_of(encoded.model, is_packed=encoded.is_packed)
        self._head = model + _start_of(ModelProto, "graph", len(graph) + weights) + graph
        self._total = len(self._head) + weights

    def check(self) -> None:
        """Raises: OUTPUT_TOO_LARGE."""
        total = self._total
        if total > _MAX_MESSAGE_BYTES:
            raise DiagnosticError(
                Diagnostic(
                    OUTPUT_TOO_LARGE,
                    f"the model takes {total:,} bytes in one message, of {_MAX_MESSAGE_BYTES:,} possible",
                    help="write it to a file with external data",
                )
            )

    def write(self, stream: BinaryIO) -> None:
        """Writes the model. Raises: OUTPUT_TOO_LARGE."""
        self.check()
        stream.write(self._head)
        for head, data in self._pieces:
            stream.write(head)
            if data is not None:
                copy_from_source(data, stream)


def _start_of(declared: type[Message], field: str, length: int) -> bytes:
    """The bytes before the contents of a length-delimited field."""
    return varint(field_number(declared, field) << 3 | _LENGTH_DELIMITED) + varint(length)
