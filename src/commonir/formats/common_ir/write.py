"""Writes modules of the common_ir dialect: binary or JSON by the suffix, weights in a safetensors file beside it.

The graph and its weights replace old files together, or not at all, and no file but those of an old output. Weights of
at most 1,024 bytes, and texts, are in the graph. Writes what it is given: never converts, never fixes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import BinaryIO

from commonir.base.codes import CANNOT_WRITE, NOT_IN_FORMAT, OUTPUT_IN_THE_WAY
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import LIBRARY_LEFT_BEHIND
from commonir.base.files import atomic_file
from commonir.base.linked_files import LinkedFile, replace_together
from commonir.base.safe_paths import normal_path
from commonir.base.varints import varint
from commonir.dialects.common_ir import Import, Library
from commonir.formats.common_ir import json_form
from commonir.formats.common_ir.encode import encode_file
from commonir.formats.common_ir.imports import is_relative
from commonir.formats.common_ir.sidecar import SUFFIX, graph_of, plan
from commonir.formats.format import DEFAULT_WRITE_OPTIONS, EACH, WriteOptions
from commonir.formats.onnx.declaring import Message
from commonir.formats.onnx.encode import Encoded
from commonir.formats.onnx.external_data import entries_of, refer_to_file
from commonir.formats.onnx.messages import GraphProto, LibraryProto, ModelProto, create, field_number
from commonir.formats.onnx.tensors import write_contents, write_typed
from commonir.formats.protobuf.wire import length_delimited
from commonir.formats.source_files import copy_from_source, hold_replaced
from commonir.ir.module import Module

INLINE_BYTES = 1024
"""Weights of more bytes are in the file beside the graph."""
JSON_SUFFIX = ".json"

_EXTERNAL = 1


def write(
    module: Module, path: str | os.PathLike[str], options: WriteOptions = DEFAULT_WRITE_OPTIONS
) -> tuple[Path, ...]:
    """Writes a module, and its weights beside it; returns the files written. An old output survives any failure.

    With `external_data` False all weights are in the graph; a text names the file of the others.
    Raises: NOT_IN_FORMAT, CANNOT_WRITE, DISK_FULL, OUTPUT_IN_THE_WAY.
    """
    is_json = os.fspath(path).lower().endswith(JSON_SUFFIX)
    encoded = encode_file(module)
    if encoded.graph is None:
        assert encoded.library is not None
        with atomic_file(path) as stream:
            stream.write(_bytes(encoded.library, LibraryProto, is_json=is_json))
        return (Path(path),)
    if options.external_data == EACH:
        message = "the weights of a Common IR file are in one file"
        raise DiagnosticError(Diagnostic(CANNOT_WRITE, message, file=os.fspath(path)))
    least = INLINE_BYTES + 1 if options.external_threshold is None else max(options.external_threshold, 1)
    outside = [] if options.external_data is False else _large_weights(encoded.graph, least)
    _write_inline(encoded.graph, outside)
    target = _target_of(path)
    if not outside:
        with atomic_file(path) as stream:
            stream.write(_model_bytes(encoded.graph, is_json=is_json))
        return (Path(path),)
    beside = _place_of_weights(target, options.external_data)
    chosen = [encoded.graph.weights[n] for n in outside]
    sidecar = plan([(w.header.name, w.data) for w in chosen if w.data is not None], target.name)
    hold_replaced([w.data for w in encoded.graph.weights], [beside])

    graph = encoded.graph

    def write_graph(stream: BinaryIO, places: Sequence[Path]) -> None:
        for weight, placed in zip(chosen, sidecar.weights, strict=True):
            refer_to_file(weight.header, entries_of(places[0].name, placed.offset, placed.data.size_bytes))
        stream.write(_model_bytes(graph, is_json=is_json))

    def write_weights(stream: BinaryIO) -> None:
        sidecar.write(stream, copy_from_source)

    return (Path(path), *replace_together(target, [LinkedFile(beside, write_weights)], write_graph))


def left_behind(module: Module, path: str | os.PathLike[str]) -> list[Diagnostic]:
    """Warns of libraries that a module imports by relative paths and that are not there beside a file of it."""
    folder = Path(path).parent
    holders = [op for op in module.body.operations if isinstance(op, Library) and not op.uri and not op.is_embedded]
    blocks = [module.body, *[library.body for library in holders]]
    uris = dict.fromkeys([op.uri for block in blocks for op in block.operations if isinstance(op, Import)])
    return [
        Diagnostic(
            LIBRARY_LEFT_BEHIND,
            f"the library '{uri}' is not there beside the output, which imports it",
            file=os.fspath(path),
            notes=(f"looked for: {folder / uri}",),
            help="copy it there, open the output with --library-path, or write one file of all: `cir bundle M -o OUT`",
        )
        for uri in uris
        if is_relative(uri) and not (folder / uri).exists()
    ]


def dumps(module: Module, *, is_json: bool = False) -> bytes:
    """The bytes of a file with everything in it.

    Raises: NOT_IN_FORMAT.
    """
    encoded = encode_file(module)
    if encoded.graph is None:
        assert encoded.library is not None
        return _bytes(encoded.library, LibraryProto, is_json=is_json)
    _write_inline(encoded.graph)
    return _model_bytes(encoded.graph, is_json=is_json)


def _place_of_weights(target: Path, name: bool | str | None) -> Path:
    """Returns where the weights of an output go: beside it, replacing no file but the weights of the old output.

    A file `model.safetensors` beside `model.onnx` may belong to the user or to another form of the same graph: where
    the short name is taken, the suffix is appended to the whole name of the output. `name` may be one that users give.
    """
    names = [name] if isinstance(name, str) else [_without_suffix(target.name) + SUFFIX, target.name + SUFFIX]
    places = [target.with_name(normal_path(each)) for each in names]
    for place in places:
        # An older output that had no weights outside leaves those of the one before it, which say whose they are.
        if not os.path.lexists(place) or _mentions(target, place.name) or graph_of(place) == target.name:
            return place
    message = "the output is not written: the file for its weights is there, and not that of an older output"
    help = "choose another name, or remove what is there"
    raise DiagnosticError(Diagnostic(OUTPUT_IN_THE_WAY, message, file=os.fspath(places[-1]), help=help))


def _target_of(path: str | os.PathLike[str]) -> Path:
    """Where an output goes: where it is a link, to what that leads to, and the weights lie beside that."""
    return Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)


def _without_suffix(name: str) -> str:
    for suffix in (".cir.json", ".cir", JSON_SUFFIX):
        if name.lower().endswith(suffix):
            return name[: -len(suffix)]
    return name


def _mentions(file: Path, name: str) -> bool:
    """Whether a file, if there is one, has a name in it as a text of its own; one that cannot be read has none."""
    try:
        with file.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as content:
            # As a message has it, after its length, or as JSON has it.
            stored = name.encode()
            forms = (b"\x12" + varint(len(stored)) + stored, json.dumps(name, ensure_ascii=False).encode())
            return any(content.find(form) >= 0 for form in forms)
    except (OSError, ValueError):
        return False


def _large_weights(encoded: Encoded, least: int) -> list[int]:
    """The numbers of the weights that stand outside of the graph."""
    result = enumerate(encoded.weights)
    return [n for n, w in result if w.data is not None and w.data.size_bytes >= least]


def _write_inline(encoded: Encoded, outside: Iterable[int] = ()) -> None:
    """Puts the contents of weights into their messages, but for those that stand outside."""
    skipped = frozenset(outside)
    for n, weight in enumerate(encoded.weights):
        if weight.data is None or n in skipped:
            continue
        if weight.is_typed:
            write_typed(weight.data, weight.header)
        else:
            write_contents(weight.data, weight.header)


def _model_bytes(encoded: Encoded, *, is_json: bool) -> bytes:
    """The bytes of a model whose weights are complete: the graph last, as it is in ONNX files."""
    headers = [weight.header.SerializeToString() for weight in encoded.weights]
    initializer = field_number(GraphProto, "initializer")
    graph = encoded.graph.SerializeToString() + b"".join([length_delimited(initializer, h) for h in headers])
    content = encoded.model.SerializeToString() + length_delimited(field_number(ModelProto, "graph"), graph)
    if not is_json:
        return content
    whole = create(ModelProto)
    whole.ParseFromString(content)
    return _bytes(whole, ModelProto, is_json=True)


def _bytes(message: ModelProto | LibraryProto, declared: type[Message], *, is_json: bool) -> bytes:
    if not is_json:
        return message.SerializeToString()
    try:
        return json_form.dumps(message, declared).encode()
    except ValueError as error:
        raise DiagnosticError(Diagnostic(NOT_IN_FORMAT, str(error))) from None
