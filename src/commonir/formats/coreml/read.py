"""Reads a Core ML model: its package, its description, and its program as a module of the mil dialect.

The module corresponds one to one to the file. Weights stay on disk; only their metadata are read. An error in one
operation does not end reading: the valid parts of the operation are read, and the error is reported with its location.
`ods.verify` checks operations against their definitions, `verify_program` checks the rules of the format, and `check`
does all three.

Limits: `Limits`, for every size and depth.
Source: MIL specification.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import FILE_NOT_ACCESSIBLE, NESTING_TOO_DEEP, NO_PROGRAM, TRUNCATED_FILE
from commonir.base.file_contents import contents_of
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.safe_paths import open_regular
from commonir.dialects.mil.description import (
    FILES_ATTRIBUTE,
    MAIN,
    MANIFEST_ATTRIBUTE,
    MODEL_ATTRIBUTE,
    read_description,
)
from commonir.formats.coreml.blobs import WeightFiles
from commonir.formats.coreml.envelope import PIPELINES, PROGRAM, Outer, take_apart
from commonir.formats.coreml.package import ModelFiles, further_files, open_model
from commonir.formats.coreml.program import ProgramReader
from commonir.formats.coreml.verify import verify_model
from commonir.formats.protobuf.wire import WireError, had_unknown_fields, parse
from commonir.ir.attributes import Attribute, DataAttr, DictionaryAttr, StringAttr
from commonir.ir.data import FileData, MappedFile
from commonir.ir.interface import set_metadata
from commonir.ir.module import Module
from commonir.ir.types import tensor, u8
from commonir.ods import Dialects, verify

if TYPE_CHECKING:
    from commonir.formats.coreml.messages import ProgramMessage


def read(path: str | os.PathLike[str], dialects: Dialects, limits: Limits = DEFAULT_LIMITS) -> Module:
    """Reads a package or a bare model file as a module of the mil dialect.

    Errors that leave something to return are not raised; `check` and `ods.verify` report them.

    Raises: DiagnosticError when there is nothing to return (E01xx to E03xx).
    """
    module, diagnostics = read_with_findings(path, dialects, limits)
    if module is None:
        raise DiagnosticError(*diagnostics)
    return module


def read_with_findings(
    path: str | os.PathLike[str], dialects: Dialects, limits: Limits = DEFAULT_LIMITS
) -> tuple[Module | None, list[Diagnostic]]:
    """Reads a model and returns the module and all errors found while reading; None if it is unreadable."""
    diagnostics = Diagnostics()
    try:
        module, _ = _read(path, dialects, limits, diagnostics)
    except DiagnosticError as error:
        return None, [*diagnostics, *error.diagnostics]
    return module, list(diagnostics)


def check(
    path: str | os.PathLike[str], dialects: Dialects, limits: Limits = DEFAULT_LIMITS
) -> tuple[Module | None, list[Diagnostic]]:
    """Reads and verifies a model: everything that is wrong with it, each fault once."""
    diagnostics = Diagnostics()
    try:
        module, faulty = _read(path, dialects, limits, diagnostics)
    except DiagnosticError as error:
        return None, [*diagnostics, *error.diagnostics]
    diagnostics.extend(verify_model(module))
    # Verifying what could not be read would report the same error twice.
    diagnostics.extend(d for d in verify(module, dialects) if d.where not in faulty)
    return module, [d.located(file=os.fspath(path)) for d in diagnostics]


def _read(
    path: str | os.PathLike[str], dialects: Dialects, limits: Limits, diagnostics: Diagnostics
) -> tuple[Module, Collection[str]]:
    """The module, and the places of operations with faults that reading found."""
    files = open_model(path, diagnostics, limits)
    content = _content(files)
    reading = _ModelReading(files, dialects, limits, diagnostics)
    try:
        module = reading.model(content, "")
    finally:
        reading.weights.close()
    if files.manifest:
        module.set_extra(MANIFEST_ATTRIBUTE, StringAttr(files.manifest))
        _keep_further_files(module, files, [source.path for source in reading.weights.sources()])
    return module, reading.faulty


def _keep_further_files(module: Module, files: ModelFiles, weights: list[str]) -> None:
    """Keeps what a package has beside its manifest, its model and the weights that constants lie in."""
    preserved: list[tuple[str, Attribute]] = []
    for path, place in further_files(files.path, [os.fspath(files.model), *weights]).items():
        status = place.stat()
        content = MappedFile(os.fspath(place), status.st_size, status)
        preserved.append((path, DataAttr(FileData(tensor(u8, status.st_size), content, 0))))
    if preserved:
        module.set_extra(FILES_ATTRIBUTE, DictionaryAttr(tuple(preserved)))


class _ModelReading:
    """Reads the models of one file: one, or a pipeline with those inside of it."""

    def __init__(self, files: ModelFiles, dialects: Dialects, limits: Limits, diagnostics: Diagnostics) -> None:
        self.file = os.fspath(files.model)
        self.weights = WeightFiles(files)
        self.faulty: set[str] = set()
        self._dialects = dialects
        self._limits = limits
        self._found = diagnostics

    def model(self, content: memoryview, place: str, depth: int = 0) -> Module:
        """The module of a `Model` message; `place` is where it stands in the module around it, "" for outermost.

        Raises: DiagnosticError when there is nothing to return.
        """
        # Loads protobuf, which `import commonir` must not.
        from commonir.formats.coreml.composition import compose_pipeline, compose_stage  # noqa: PLC0415
        from commonir.formats.coreml.model import decode_model  # noqa: PLC0415

        outer = _apart(content, self.file)
        if not place and outer.program is None and outer.type not in PIPELINES:
            type = f"it is of type '{outer.type}'" if outer.type else "it has no content"
            message = f"the model holds no ML Program: {type}"
            raise DiagnosticError(Diagnostic(NO_PROGRAM, message, file=self.file))
        if depth > self._limits.max_nesting_depth:
            message = f"pipelines are nested more than {self._limits.max_nesting_depth} deep"
            raise DiagnosticError(Diagnostic(NESTING_TOO_DEEP, message, file=self.file))
        model = decode_model(outer.rest, self._limits, self.file)
        module = Module() if outer.program is None else self._program(outer.program, place)
        module.entry = read_description(model.attribute).default_function or MAIN
        module.set_extra(MODEL_ATTRIBUTE, model.attribute)
        set_metadata(module, model.metadata)
        if outer.program is not None:
            return module
        if outer.type not in PIPELINES:
            compose_stage(module, outer.type)
            return module
        for n, part in enumerate(outer.models):
            module.body.append(self.model(part, f"{place}modules[{n}].", depth + 1))
        unconnected = Diagnostics()
        compose_pipeline(module, unconnected)
        self._report(unconnected, place)
        return module

    def _program(self, content: memoryview, place: str) -> Module:
        # Loads protobuf, which `import commonir` must not.
        from commonir.formats.coreml.messages import message_class  # noqa: PLC0415

        kind = message_class("MILSpec.Program")
        message = parse(kind, content, self._limits, file=self.file, where=f"{place}{PROGRAM}")
        keeps_unknown = had_unknown_fields(message)
        if keeps_unknown:
            message = parse(kind, content, self._limits, file=self.file, where=f"{place}{PROGRAM}")
        program: ProgramMessage = message  # pyright: ignore[reportAssignmentType]  made at run time
        reader = ProgramReader(self._dialects, self.weights, self._limits, keeps_unknown=keeps_unknown)
        module = reader.module(program)
        self._report(reader.findings(), place)
        self.faulty.update(f"{place}{p}" for p in reader.faulty)
        return module

    def _report(self, findings: Iterable[Diagnostic], place: str) -> None:
        where = place.removesuffix(".")
        self._found.extend(d.located(file=self.file, where=where) for d in findings)


def _content(files: ModelFiles) -> memoryview:
    """The bytes of a model file.

    Raises: FILE_NOT_ACCESSIBLE.
    """
    file = os.fspath(files.model)
    try:
        # The size is that of the file that is open: another one may take its place at any time.
        with open_regular(file) as stream:
            return memoryview(contents_of(stream))
    except (OSError, ValueError) as error:
        raise DiagnosticError(Diagnostic(FILE_NOT_ACCESSIBLE, f"cannot be read: {error}", file=file)) from error


def _apart(content: memoryview, file: str, *, with_content: bool = True) -> Outer:
    """Takes the outermost message of a model apart without decoding it.

    Raises: TRUNCATED_FILE, DAMAGED_MESSAGE.
    """
    try:
        return take_apart(content, with_content=with_content)
    except WireError as error:
        message = f"the model file cannot be read: {error.reason}"
        help = "fetch it again, and compare its size with the original" if error.code is TRUNCATED_FILE else None
        notes = (f"at byte {error.offset}",)
        raise DiagnosticError(Diagnostic(error.code, message, file=file, notes=notes, help=help)) from None
