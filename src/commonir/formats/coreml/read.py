"""Reads a Core ML model: its package, its description, and its program as a module of the mil dialect.

The module is one to one with the file. Weights stay on disk; only their metadata are read. Nothing is converted, and
nothing is written. A fault of one operation does not end reading: the operation is kept as it is as far as it can be,
and the fault is told with its place. What operations contradict in their definitions is found by `ods.verify`, what the
program contradicts in the format by `verify_program`; `check` puts all three together.

Limits: `Limits`, for every size and depth.
Source: MIL specification; facts on Core ML, sections 1 to 5.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from commonir.base.codes import FILE_NOT_ACCESSIBLE, NO_PROGRAM
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.dialects.mil.description import (
    FILES_ATTRIBUTE,
    MAIN,
    MANIFEST_ATTRIBUTE,
    MODEL_ATTRIBUTE,
    Description,
    description_of,
    read_description,
)
from commonir.formats.coreml.blobs import WeightFiles
from commonir.formats.coreml.package import ModelFiles, further_files, open_model
from commonir.formats.coreml.program import ProgramReader
from commonir.formats.coreml.verify import verify_program
from commonir.formats.coreml.wire import WireError, fields, parse
from commonir.ir.attributes import Attribute, DataAttr, DictionaryAttr, StringAttr
from commonir.ir.data import FileData, MappedFile
from commonir.ir.interface import set_metadata
from commonir.ir.module import Module
from commonir.ir.types import tensor, u8
from commonir.ods import Dialects, verify

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from commonir.formats.coreml.message_types import ProgramMessage

_PROGRAM = "mlProgram"


class ModelOutline(NamedTuple):
    """A model file without its program: its description and what type of model it is, such as `neuralNetwork`."""

    type: str
    description: Description


def read(path: str | os.PathLike[str], dialects: Dialects, limits: Limits = DEFAULT_LIMITS) -> Module:
    """Reads a package or a bare model file as a module of the mil dialect.

    Faults that leave something to return are not raised; `check` and `ods.verify` tell them.

    Raises: DiagnosticError when there is nothing to return (E01xx to E03xx).
    """
    module, found = read_with_findings(path, dialects, limits)
    if module is None:
        raise DiagnosticError(*found)
    return module


def read_with_findings(
    path: str | os.PathLike[str], dialects: Dialects, limits: Limits = DEFAULT_LIMITS
) -> tuple[Module | None, list[Diagnostic]]:
    """Reads a model and tells all that is wrong with it as far as reading shows; None stands for an unreadable one."""
    found = Diagnostics()
    try:
        module, _ = _read(path, dialects, limits, found)
    except DiagnosticError as error:
        return None, [*found, *error.diagnostics]
    return module, list(found)


def check(
    path: str | os.PathLike[str], dialects: Dialects, limits: Limits = DEFAULT_LIMITS
) -> tuple[Module | None, list[Diagnostic]]:
    """Reads and verifies a model: everything that is wrong with it, each fault once."""
    found = Diagnostics()
    try:
        module, faulty = _read(path, dialects, limits, found)
    except DiagnosticError as error:
        return None, [*found, *error.diagnostics]
    description = description_of(module)
    if description is not None:
        found.extend(verify_program(module, description))
    # What could not be read cannot be right either; telling both would tell the same fault twice.
    found.extend(d for d in verify(module, dialects) if d.where not in faulty)
    return module, [d.located(file=os.fspath(path)) for d in found]


def read_outline(path: str | os.PathLike[str], limits: Limits = DEFAULT_LIMITS) -> ModelOutline:
    """Reads what a model says about itself, of whatever type it is, without decoding the model.

    Raises: DiagnosticError when that cannot be read.
    """
    files = open_model(path, Diagnostics(), limits)
    outer = _outer(files)
    # Loads protobuf, which `import commonir` must not.
    from commonir.formats.coreml.model import decode_model  # noqa: PLC0415

    model = decode_model(outer.description, limits, os.fspath(files.model))
    return ModelOutline(outer.type, read_description(model.attribute)._replace(metadata=model.metadata))


def _read(
    path: str | os.PathLike[str], dialects: Dialects, limits: Limits, found: Diagnostics
) -> tuple[Module, Collection[str]]:
    """The module, and the places of operations with faults that reading found."""
    files = open_model(path, found, limits)
    file = os.fspath(files.model)
    outer = _outer(files)
    if outer.program is None:
        kind = f"it is of type '{outer.type}'" if outer.type else "it has no content"
        message = f"the model holds no ML Program: {kind}"
        raise DiagnosticError(Diagnostic(NO_PROGRAM, message, file=file))
    # Loads protobuf, which `import commonir` must not.
    from commonir.formats.coreml.messages import message_class  # noqa: PLC0415
    from commonir.formats.coreml.model import decode_model  # noqa: PLC0415

    model = decode_model(outer.description, limits, file)
    kind = message_class("MILSpec.Program")
    message = parse(kind, outer.program, limits, file=file, where=_PROGRAM)
    keeps_unknown = _had_unknown_fields(message)
    if keeps_unknown:
        message = parse(kind, outer.program, limits, file=file, where=_PROGRAM)
    program: ProgramMessage = message  # pyright: ignore[reportAssignmentType]  made at run time
    weights = WeightFiles(files)
    reader = ProgramReader(dialects, weights, limits, keeps_unknown=keeps_unknown)
    try:
        module = reader.module(program)
    finally:
        weights.close()
    module.entry = read_description(model.attribute).default_function or MAIN
    module.set_extra(MODEL_ATTRIBUTE, model.attribute)
    set_metadata(module, model.metadata)
    if files.manifest:
        module.set_extra(MANIFEST_ATTRIBUTE, StringAttr(files.manifest))
        _keep_further_files(module, files, [source.path for source in weights.sources()])
    found.extend(d.located(file=file) for d in reader.findings())
    return module, reader.faulty


def _keep_further_files(module: Module, files: ModelFiles, weights: list[str]) -> None:
    """Keeps what a package has beside its manifest, its model and the weights that constants lie in."""
    kept: list[tuple[str, Attribute]] = []
    for path, place in further_files(files.path, [os.fspath(files.model), *weights]).items():
        status = place.stat()
        content = MappedFile(os.fspath(place), status.st_size, status)
        kept.append((path, DataAttr(FileData(tensor(u8, status.st_size), content, 0))))
    if kept:
        module.set_extra(FILES_ATTRIBUTE, DictionaryAttr(tuple(kept)))


def _had_unknown_fields(message: Message) -> bool:
    """Whether a message has fields that the declarations do not know; if it had, it has lost them."""
    before = message.ByteSize()
    message.DiscardUnknownFields()
    return message.ByteSize() != before


class _Outer(NamedTuple):
    """The outermost message of a model file taken apart: its type, its program, and the rest of it."""

    type: str
    program: memoryview | None
    description: bytes


def _outer(files: ModelFiles) -> _Outer:
    """Takes the outermost message of a model file apart without decoding it.

    Raises: TRUNCATED_FILE, DAMAGED_MESSAGE, FILE_NOT_ACCESSIBLE.
    """
    # Loads protobuf, which `import commonir` must not.
    from commonir.formats.coreml.messages import message_class  # noqa: PLC0415

    file = os.fspath(files.model)
    types = {f.number: f.name for f in message_class("Model").DESCRIPTOR.oneofs_by_name["Type"].fields}
    kind = ""
    program: list[memoryview] = []
    rest: list[memoryview] = []
    try:
        buffer = MappedFile(file, files.model.stat().st_size)
        content = buffer.view(0, buffer.size_bytes)
        for field in fields(content):
            name = types.get(field.number, "")
            kind = name or kind
            if name == _PROGRAM:
                program.append(content[field.content : field.end])
            elif not name:
                rest.append(content[field.start : field.end])
    except WireError as error:
        message = f"the model file cannot be read: {error.reason}"
        raise DiagnosticError(Diagnostic(error.code, message, file=file, notes=(f"at byte {error.offset}",))) from None
    except (OSError, ValueError) as error:
        raise DiagnosticError(Diagnostic(FILE_NOT_ACCESSIBLE, f"cannot be read: {error}", file=file)) from error
    # Parts of one message that occur repeatedly are merged, which for bytes is putting them together.
    whole = program[0] if len(program) == 1 else memoryview(b"".join(program)) if program else None
    return _Outer(kind, whole, b"".join(rest))
