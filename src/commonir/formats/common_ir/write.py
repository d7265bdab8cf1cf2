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
from commonir.base.linked_files import LinkedFile, named_by_leftovers, replace_together
from commonir.base.varints import varint
from commonir.dialects.common_ir import Import, Library
from commonir.formats.common_ir import json_form
from commonir.formats.common_ir.encode import encode_file
from commonir.formats.common_ir.imports import is_relative
from commonir.formats.common_ir.sidecar import SUFFIX, Sidecar, graph_of, plan
from commonir.formats.format import DEFAULT_WRITE_OPTIONS, EACH, WriteOptions
from commonir.formats.onnx.declaring import Message
from commonir.formats.onnx.encode import Encoded
from commonir.formats.onnx.external_data import entries_of, refer_to_file, source_of
from commonir.formats.onnx.external_layout import notes_of, stated_location
from commonir.formats.onnx.folder_search import neighbours_of, references_in
from commonir.formats.onnx.messages import GraphProto, LibraryProto, ModelProto, create, field_number
from commonir.formats.onnx.tensors import write_contents, write_typed
from commonir.formats.protobuf.wire import length_delimited
from commonir.formats.source_files import copy_from_source, hold_replaced
from commonir.ir.data import FileData
from commonir.ir.module import Module

INLINE_BYTES = 1024
"""Weights of more bytes are in the file beside the graph."""
JSON_SUFFIX = ".json"


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
    old = _old_weights(target)
    if not outside and not old:
        with atomic_file(path) as stream:
            stream.write(_model_bytes(encoded.graph, is_json=is_json))
        return (Path(path),)
    files = _write_with_weights(encoded.graph, outside, target, old, options)
    return (Path(path), *files)


def _write_with_weights(
    graph: Encoded, outside: Sequence[int], target: Path, old: Sequence[Path], options: WriteOptions
) -> tuple[Path, ...]:
    """Writes a graph and, where they are not there already, its weights beside it; returns the files of weights that
    were written. `old` are files of weights that only the old output has.
    """
    chosen = [graph.weights[n] for n in outside]
    sidecar = plan([(w.header.name, w.data) for w in chosen if w.data is not None], target.name)
    beside, is_new = _place_of_weights(target, options.external_data) if outside else (None, False)
    is_kept = beside is not None and _is_there(sidecar, beside)
    hold_replaced([w.data for w in graph.weights], [target, *old])

    def write_graph(stream: BinaryIO, places: Sequence[Path]) -> None:
        for place in places or [beside]:
            for weight, placed in zip(chosen, sidecar.weights, strict=True):
                if place is not None:
                    location = place.relative_to(target.parent).as_posix()
                    refer_to_file(weight.header, entries_of(location, placed.offset, placed.data.size_bytes))
        stream.write(_model_bytes(graph, is_json=os.fspath(target).lower().endswith(JSON_SUFFIX)))

    def write_weights(stream: BinaryIO) -> None:
        sidecar.write(stream, copy_from_source)

    linked: list[LinkedFile] = []
    if beside is not None and not is_kept:
        linked.append(LinkedFile(beside, write_weights, is_new=is_new, is_fixed=isinstance(options.external_data, str)))
    obsolete = [place for place in old if place != beside]
    written = replace_together(target, linked, write_graph, obsolete)
    if options.findings is not None:
        kept = {beside.name: beside.stat().st_size} if beside is not None and is_kept else {}
        options.findings.extend(notes_of(target, kept, obsolete))
    return written


def _is_there(sidecar: Sidecar, place: Path) -> bool:
    """Returns whether a file of weights is at a place already, byte for byte, because the weights were read from it."""
    sources = {source_of(placed.data) for placed in sidecar.weights}
    source = next(iter(sources))
    if source is None or len(sources) > 1 or not source.is_at(place):
        return False
    offsets = [(p.data.offset, p.offset) for p in sidecar.weights if isinstance(p.data, FileData)]
    last = sidecar.weights[-1]
    is_same = source.size_bytes == last.offset + last.data.size_bytes and all(a == b for a, b in offsets)
    return is_same and bytes(source.view(0, len(sidecar.header))) == sidecar.header


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
            help="copy it there, open it with `--library-path`, or write one file of all: `cir bundle M -o OUT`",
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


def _place_of_weights(target: Path, name: bool | str | None) -> tuple[Path, bool]:
    """Returns where the weights of an output go: beside it, replacing no file but the weights of the old output; and
    whether nothing is there.

    A file `model.safetensors` beside `model.onnx` may belong to the user or to another form of the same graph: where
    the short name is taken, the suffix is appended to the whole name of the output. `name` may be one that users give.
    """
    places = [target.parent / stated_location(target, name)] if isinstance(name, str) else _usual_places(target)
    for place in places:
        # An older output that had no weights outside leaves those of the one before it, which say whose they are.
        if not os.path.lexists(place):
            return place, True
        if _mentions(target, place.name) or graph_of(place) == target.name:
            return place, False
    message = "the output is not written: the file for its weights is there, and not that of an older output"
    help = "choose another name, or remove what is there"
    raise DiagnosticError(Diagnostic(OUTPUT_IN_THE_WAY, message, file=os.fspath(places[-1]), help=help))


def _old_weights(target: Path) -> list[Path]:
    """Returns the files of weights that say that they are of the old output, and that no other file refers to."""
    if not target.is_file():
        return []
    names = {reference.location for reference in references_in(target)}
    names |= {place.name for place in named_by_leftovers(target, target.parent.glob(f"*{SUFFIX}"))}
    names |= {place.name for place in _usual_places(target) if _mentions(target, place.name)}
    own = sorted(name for name in names if graph_of(target.with_name(name)) == target.name)
    others = neighbours_of(target, own)
    return [target.with_name(name) for name in own if others.is_complete and name not in others.users]


def _usual_places(target: Path) -> list[Path]:
    """Returns where the weights of a graph are where users do not say it, the first choice first."""
    return [target.with_name(name + SUFFIX) for name in (_without_suffix(target.name), target.name)]


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
