"""Writes a module of the mil dialect as a package, or as a bare model file.

A package that was read is written as it was: the same manifest, model and weights as far as the program is the same,
and whatever else was in it. Weights are copied inside the kernel, never decoded. The new package is made beside its
place and renamed when it is complete, so the old one survives every failure, and may be the one that is being read. A
bare model file holds all constants itself. Equal modules give equal bytes.

Writes what it is given: never converts, never fixes.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import PATH_OUTSIDE_MODEL
from commonir.base.files import atomic_directory, atomic_file, in_the_way, reported
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.text import escape
from commonir.base.tuples import NamedTuple
from commonir.dialects.mil.description import FILES_ATTRIBUTE, MANIFEST_ATTRIBUTE
from commonir.formats.coreml.package import DATA, MANIFEST, NEWEST_FORMAT, Manifest, is_inside, read_manifest
from commonir.formats.source_files import from_source, hold
from commonir.ir.attributes import DataAttr, DictionaryAttr, StringAttr
from commonir.ir.data import Data, FileData, MappedFile, copy_data
from commonir.ir.module import Module

if TYPE_CHECKING:
    from commonir.formats.coreml.messages import ModelMessage
    from commonir.formats.coreml.values import Blob
    from commonir.formats.coreml.weights import PlannedFile

BARE_SUFFIX = ".mlmodel"

_AUTHOR = "com.apple.CoreML"
_MODEL_FILE = f"{_AUTHOR}/model.mlmodel"
_WEIGHTS_FOLDER = f"{_AUTHOR}/weights"
_MODEL_TEXT = "CoreML Model Specification"
_WEIGHTS_TEXT = "CoreML Model Weights"


class _Encoded(NamedTuple):
    """A model file, and the weight files that it refers to."""

    content: bytes
    weights: list[PlannedFile]


def write(module: Module, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Writes a module and returns what was written: a package, or a file where the suffix is `.mlmodel`.

    An old output survives any failure.
    Raises: NOT_IN_FORMAT, WRONG_ATTRIBUTE, OUTPUT_TOO_LARGE, CANNOT_WRITE, DISK_FULL, OUTPUT_IN_THE_WAY.
    """
    if Path(path).suffix.lower() == BARE_SUFFIX:
        content = from_source("", lambda: _encode(module, None)).content
        with atomic_file(path) as stream:
            stream.write(content)
        return (Path(path),)
    manifest = _kept_manifest(module)
    model_path = _MODEL_FILE if manifest is None else manifest.model_path
    others = _further_files(module)
    folder = PurePosixPath(DATA, model_path).parent
    encoded = _encode(module, _below(folder, [f"{DATA}/{model_path}", *others]))
    text = _manifest_text(manifest, encoded)
    output = _Package(path)
    hold(d.file for d in others.values() if isinstance(d, FileData))
    _refuse_other_files(Path(path), others)
    with atomic_directory(path, marker=MANIFEST) as package:
        for planned in encoded.weights:
            output.put(package / folder / planned.path, planned.write, planned.unchanged)
        for place, data in others.items():
            output.put(package / place, lambda stream, data=data: copy_data(data, stream), _whole_file(data))
        output.put(package / DATA / model_path, lambda stream: stream.write(encoded.content))
        output.put(package / MANIFEST, lambda stream: stream.write(text.encode()))
        for item in read_manifest(text, MANIFEST).items.values():
            # Folders without files leave no other trace.
            place = package / DATA / item["path"]
            if not place.exists():
                reported(path, lambda folder=place: folder.mkdir(parents=True))
    return (Path(path),)


def _refuse_other_files(path: Path, others: Iterable[str]) -> None:
    """Checks that a folder that is to be replaced is a package and holds nothing else, which would be lost.

    Raises: OUTPUT_IN_THE_WAY.
    """
    manifest = path / MANIFEST
    if not manifest.is_file():
        return
    try:
        read_manifest(manifest.read_text("utf-8"), MANIFEST)
    except (DiagnosticError, OSError, UnicodeDecodeError):
        reason = f"the folder in its place is not a package: its '{MANIFEST}' is another one"
        raise DiagnosticError(in_the_way(path, reason)) from None
    known = {MANIFEST, DATA, *[PurePosixPath(other).parts[0] for other in others]}
    stray = sorted([p.name for p in path.iterdir() if p.name not in known and not p.name.startswith(".")])
    if stray:
        raise DiagnosticError(in_the_way(path, f"the package in its place also has '{escape(stray[0])}'"))


def _encode(module: Module, taken: Iterable[str] | None) -> _Encoded:
    """The model file, and what goes into weight files. `taken` are paths of other files, None for no weight files.

    Raises: NOT_IN_FORMAT, WRONG_ATTRIBUTE, OUTPUT_TOO_LARGE.
    """
    # All of these load protobuf, which `import commonir` must not.
    from google.protobuf.message import EncodeError  # noqa: PLC0415

    from commonir.formats.coreml.messages import message_class  # noqa: PLC0415
    from commonir.formats.coreml.values import too_large  # noqa: PLC0415
    from commonir.formats.coreml.weights import plan_weights  # noqa: PLC0415

    diagnostics = Diagnostics()
    message = message_class("Model")()
    model: ModelMessage = message  # pyright: ignore[reportAssignmentType]  made at run time
    blobs: list[Blob] = []
    _fill_model(module, model, diagnostics, None if taken is None else blobs)
    diagnostics.raise_errors()
    hold(blob.data.file for blob in blobs if isinstance(blob.data, FileData))
    weights = plan_weights(blobs, set(taken or ()))
    try:
        content = message.SerializeToString()
    except EncodeError as error:
        raise too_large(str(error)) from None
    if len(content) > DEFAULT_LIMITS.max_message_bytes:
        raise too_large(f"{len(content):,} bytes")
    return _Encoded(content, weights)


def _fill_model(module: Module, model: ModelMessage, diagnostics: Diagnostics, blobs: list[Blob] | None) -> None:
    """Fills the message of a model with its program, or with the models of a pipeline.

    Raises: NOT_IN_FORMAT, WRONG_ATTRIBUTE.
    """
    # All of these load protobuf, which `import commonir` must not.
    from commonir.formats.coreml.encode import ProgramEncoder  # noqa: PLC0415
    from commonir.formats.coreml.model import encode_model  # noqa: PLC0415

    model.MergeFromString(encode_model(module).SerializeToString())
    match model.WhichOneof("Type"):
        case None:
            model.mlProgram.SetInParent()
            ProgramEncoder(module, diagnostics, model.specificationVersion, blobs).encode(model.mlProgram)
            return
        case "pipeline":
            pipeline = model.pipeline
        case "pipelineClassifier":
            pipeline = model.pipelineClassifier.pipeline
        case "pipelineRegressor":
            pipeline = model.pipelineRegressor.pipeline
        case _:
            return
    for part in module.modules:
        _fill_model(part, pipeline.models.add(), diagnostics, blobs)


# -- packages


def _kept_manifest(module: Module) -> Manifest | None:
    """The manifest of the package that was read.

    Raises: MALFORMED_MANIFEST when it was changed into something else.
    """
    stored = module.extra.get(MANIFEST_ATTRIBUTE)
    if not isinstance(stored, StringAttr):
        return None
    manifest = read_manifest(stored.value, MANIFEST)
    for item in manifest.items.values():
        _require_inside(item["path"])
    return manifest


def _further_files(module: Module) -> Mapping[str, Data]:
    """The other files of the package that was read, by their paths in it."""
    stored = module.extra.get(FILES_ATTRIBUTE)
    entries = stored.entries if isinstance(stored, DictionaryAttr) else ()
    out = {path: content.data for path, content in entries if isinstance(content, DataAttr)}
    for path in out:
        _require_inside(path)
    return out


def _require_inside(path: str) -> None:
    if not is_inside(path):
        message = f"the path '{escape(path)}' leads out of the package"
        raise DiagnosticError(Diagnostic(PATH_OUTSIDE_MODEL, message))


def _below(folder: PurePosixPath, paths: Iterable[str]) -> Iterable[str]:
    """The paths below a folder, from there."""
    relative = map(PurePosixPath, paths)
    return [p.relative_to(folder).as_posix() for p in relative if p.is_relative_to(folder)]


def _manifest_text(stored: Manifest | None, encoded: _Encoded) -> str:
    """The manifest: the one that was read as long as it lists what is written. New identifiers come of the content."""
    if stored is None:
        version = ".".join(map(str, NEWEST_FORMAT))
        root = _identifier(encoded, _MODEL_FILE)
        items = {root: _item(_MODEL_FILE, _MODEL_TEXT)}
        items[_identifier(encoded, _WEIGHTS_FOLDER)] = _item(_WEIGHTS_FOLDER, _WEIGHTS_TEXT)
        return _json({"fileFormatVersion": version, "itemInfoEntries": items, "rootModelIdentifier": root})
    folder = PurePosixPath(stored.model_path).parent
    listed = {PurePosixPath(item["path"]) for item in stored.items.values()}
    paths = [PurePosixPath(planned.path) for planned in encoded.weights]
    unlisted = [path for path in paths if listed.isdisjoint((folder / path, *(folder / path).parents))]
    if not unlisted:
        return stored.text
    content = json.loads(stored.text)
    for path in sorted({(folder / path.parts[0]).as_posix() for path in unlisted}):
        content["itemInfoEntries"][_identifier(encoded, path)] = _item(path, _WEIGHTS_TEXT)
    return _json(content)


def _item(path: str, description: str) -> dict[str, str]:
    return {"author": _AUTHOR, "description": description, "name": PurePosixPath(path).name, "path": path}


def _identifier(encoded: _Encoded, path: str) -> str:
    """An identifier in the form of a random one, made of the content of the model and the path of the item."""
    digest = hashlib.sha256(path.encode() + b"\0" + encoded.content).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


def _json(value: object) -> str:
    return json.dumps(value, indent=4) + "\n"


# -- files


class _Package:
    """The package to be written, and what of it is in files of the one that it takes the place of."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._target = Path(os.path.realpath(path))

    def put(self, place: Path, write: Callable[[BinaryIO], object], source: MappedFile | None = None) -> None:
        """Makes a file, which may be the same as `source`. One that is about to go away anyway is not copied."""
        reported(self._path, lambda: place.parent.mkdir(parents=True, exist_ok=True))
        if source is not None and ((self._replaces(source) and source.link_to(place)) or source.clone_to(place)):
            return
        with reported(self._path, lambda: open(place, "xb")) as stream:
            # A full disk and other write errors are reported here; the sources were opened before.
            reported(self._path, lambda: write(stream))

    def _replaces(self, file: MappedFile) -> bool:
        return Path(os.path.realpath(file.path)).is_relative_to(self._target)


def _whole_file(data: Data) -> MappedFile | None:
    """The file that holds just these elements."""
    if isinstance(data, FileData) and data.offset == 0 and data.size_bytes == data.file.size_bytes:
        return data.file
    return None
