"""Reads Common IR files: graphs and libraries, in binary form, as JSON, or historic, with the libraries they import.

Weights stay on disk. Other files are read only as `imports.py` and external data allow. Nothing is converted.
Source: Common IR specification.
"""

from __future__ import annotations

import os

from commonir.base.codes import DUPLICATE_NAME, UNDEFINED_VALUE
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import FILE_NOT_ACCESSIBLE, MALFORMED_PROGRAM, NEWER_FORMAT, PATH_OUTSIDE_MODEL
from commonir.base.file_contents import contents_of
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.safe_paths import open_regular
from commonir.base.tuples import NamedTuple
from commonir.dialects.common_ir import rules
from commonir.formats.common_ir.decode import CommonIrDecoder
from commonir.formats.common_ir.document import document_of
from commonir.formats.common_ir.fetch import OpenUrl
from commonir.formats.common_ir.imports import closure_of
from commonir.formats.common_ir.stages import EXTENSION_VERSION, Document
from commonir.formats.common_ir.verify import calls_into_libraries_missing, verify_file
from commonir.formats.format import DEFAULT_READ_OPTIONS, ReadOptions
from commonir.formats.onnx.contents import Contents
from commonir.formats.onnx.cutting import Cut
from commonir.ir.module import Module
from commonir.ods import Dialects, path_of, verify


class _Read(NamedTuple):
    """A module, what is wrong with it, the places of operations with findings, and whether all imports were found."""

    module: Module | None
    diagnostics: list[Diagnostic]
    faulty: set[str]
    is_complete: bool = True


def read(
    path: str | os.PathLike[str],
    dialects: Dialects,
    options: ReadOptions = DEFAULT_READ_OPTIONS,
    limits: Limits = DEFAULT_LIMITS,
    open_url: OpenUrl | None = None,
) -> tuple[Module | None, list[Diagnostic]]:
    """Reads a file and returns the module and all errors found while reading; None if it is unreadable.

    `open_url` opens addresses in the place of the network.
    """
    result = _read(path, dialects, options, limits, open_url)
    return result.module, result.diagnostics


def check(
    path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions = DEFAULT_READ_OPTIONS
) -> tuple[Module | None, list[Diagnostic]]:
    """Reads and verifies a file: everything that is wrong with it, each fault once."""
    module, diagnostics, faulty, is_complete = _read(path, dialects, options, DEFAULT_LIMITS, None)
    if module is None:
        return None, diagnostics
    more = [*verify(module, dialects), *verify_file(module, dialects)]
    if not is_complete:
        # What a library would declare that cannot be had is not known.
        faulty |= {path_of(op) for op in calls_into_libraries_missing(module)}
    # The rule reports undefined names: of nodes at the node, of outputs at the graph.
    undefined = {d.where for d in more if rules.DEFINED_INPUTS.is_reported_by(d)}
    reported = {*undefined, *(place.removesuffix(".outputs") for place in undefined)}
    once = [d for d in more if d.where not in faulty and not (d.code is UNDEFINED_VALUE and d.where in reported)]
    # The reader reports repeated names of values; the rule reports those of other things.
    twice = {f"{rules.UNIQUE_NAMES.label}: {d.message.split()[0]} is " for d in diagnostics if d.code is DUPLICATE_NAME}
    once = [d for d in once if not d.message.startswith(tuple(twice))]
    # A path that imports must not have is refused before the rule can report it.
    refused = {_quoted(d) for d in diagnostics if d.code is PATH_OUTSIDE_MODEL}
    once = [d for d in once if not (rules.IMPORT_FORM.is_reported_by(d) and _quoted(d) in refused)]
    return module, [*diagnostics, *(d.located(file=os.fspath(path)) for d in once)]


def _quoted(diagnostic: Diagnostic) -> str:
    """Returns the first quoted text of a message."""
    return diagnostic.message.partition("'")[2].partition("'")[0]


def loads(content: bytes, dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """The module of the bytes of a file that has everything in it: it may import nothing that lies elsewhere."""
    diagnostics = Diagnostics()
    try:
        result = _decoded(memoryview(content), "", dialects, DEFAULT_READ_OPTIONS, DEFAULT_LIMITS, diagnostics, None)
    except DiagnosticError as error:
        return None, [*diagnostics, *error.diagnostics]
    return result.module, list(diagnostics)


def _read(
    path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions, limits: Limits, open_url: OpenUrl | None
) -> _Read:
    diagnostics = Diagnostics()
    file = os.fspath(path)
    try:
        result = _decoded(_content(file), file, dialects, options, limits, diagnostics, open_url)
    except DiagnosticError as error:
        return _Read(None, [d.located(file=file) for d in (*diagnostics, *error.diagnostics)], set())
    return result._replace(diagnostics=[d.located(file=file) for d in diagnostics])


def _decoded(
    content: memoryview,
    file: str,
    dialects: Dialects,
    options: ReadOptions,
    limits: Limits,
    diagnostics: Diagnostics,
    open_url: OpenUrl | None,
) -> _Read:
    """Decodes the content of a file; bytes have no file name. Findings go to `found`.

    Raises: DiagnosticError when there is nothing to return.
    """
    document = document_of(content, limits, file, diagnostics)
    if document.model is not None and not document.model.HasField("graph"):
        raise DiagnosticError(Diagnostic(MALFORMED_PROGRAM, "the model has no graph"))
    # Large contents are in files beside the graph, so nothing is cut out of it.
    contents = Contents(Cut(content, (), b""), content, file)
    decoder = CommonIrDecoder(dialects, diagnostics, contents, limits=limits)
    root = document.model.graph if document.model is not None else document.library
    _check_extensions(document, diagnostics)
    imports = [] if root is None else list(root.imported_libraries)
    reported = len(diagnostics)
    closure = closure_of(imports, file, options, limits, diagnostics, open_url)
    is_complete = len(diagnostics) == reported
    module = None
    if document.model is not None:
        module = decoder.graph_file(document.model, closure)
    elif document.library is not None:
        module = decoder.library_file(document.library, closure)
    return _Read(module, [], decoder.faulty, is_complete)


def _check_extensions(document: Document, diagnostics: Diagnostics) -> None:
    """Reports extensions of ONNX that are newer than those that are known."""
    message = document.model if document.model is not None else document.library
    version = 0 if message is None else message.common_ir_version
    if version > EXTENSION_VERSION:
        text = f"version {version} of the Common IR extensions is not known yet: {EXTENSION_VERSION} is the newest"
        diagnostics.add(NEWER_FORMAT, text, where="common_ir_version")


def _content(file: str) -> memoryview:
    """The bytes of a file. Raises: FILE_NOT_ACCESSIBLE."""
    try:
        # The size is that of the file that is open: another one may take its place at any time.
        with open_regular(file) as stream:
            return memoryview(contents_of(stream))
    except (OSError, ValueError) as error:
        raise DiagnosticError(Diagnostic(FILE_NOT_ACCESSIBLE, f"cannot be read: {error}", file=file)) from error
