"""Finds the libraries that a Common IR file imports, directly and indirectly.

A relative path is resolved in the folder of the importing file and must stay below the folder of the model. If the file
does not exist, the path is resolved in each folder of the library path and must stay below it. An absolute URI must be
https, and is fetched only if allowed (`fetch.py`). A relative path in a fetched library is resolved on its server.
`commonir:D` is the library of the dialect `D` and needs no file.

Every library is read once. Cycles are reported as a whole. Limits: `MAX_DEPTH`, `MAX_LIBRARIES`, and `fetch.MAX_BYTES`
for each file.
Source: Common IR specification, importing libraries.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping, Sequence
from urllib.parse import urljoin, urlsplit

from commonir.base.codes import DUPLICATE_NAME
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import (
    CYCLIC_IMPORT,
    FILE_NOT_ACCESSIBLE,
    LIMIT_EXCEEDED,
    NESTING_TOO_DEEP,
    NETWORK_REFUSED,
    NOT_A_LIBRARY,
    UNRESOLVED_IMPORT,
    WRONG_DIGEST,
)
from commonir.base.limits import Limits
from commonir.base.safe_paths import open_inside
from commonir.base.text import escape
from commonir.base.tuples import NamedTuple
from commonir.formats.common_ir.document import document_of
from commonir.formats.common_ir.fetch import MAX_BYTES, OpenUrl, fetch, require_digest
from commonir.formats.format import ReadOptions
from commonir.formats.onnx.messages import LibraryProto

MAX_DEPTH = 32
MAX_LIBRARIES = 256
OWN_SCHEME = "commonir"
"""The scheme of the URIs of dialects of this program."""

NOWHERE = "\0"
"""The folder of bytes that do not come from a file."""

_DIGEST = re.compile(r"sha256=([0-9a-fA-F]{64})")
_ANY_DIGEST = "#sha256="


class ImportUri(NamedTuple):
    """An import as a file says it: where the library is, and its digest in hexadecimal digits, "" for none."""

    uri: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.uri}#sha256={self.sha256}" if self.sha256 else self.uri


def parse_import(text: str) -> ImportUri:
    """Takes an import apart; a fragment that is not a digest is part of the URI."""
    uri, hash_, fragment = text.partition("#")
    match = _DIGEST.fullmatch(fragment)
    return ImportUri(uri, match[1]) if hash_ and match else ImportUri(text, "")


def is_relative(uri: str) -> bool:
    """Whether an import is a path, from the folder of the file that says it."""
    return not urlsplit(uri).scheme


class SourcePosition(NamedTuple):
    """Where a file lies: a path relative to a folder that it stays below, or an address, for which that is empty."""

    folder: str
    path: str

    def __str__(self) -> str:
        return "" if self.folder == NOWHERE else os.path.join(self.folder, self.path)


class Imported(NamedTuple):
    """A library of the closure of imports. `uri` is where it is, as seen from the root."""

    uri: str
    library: LibraryProto


def closure_of(
    imports: Sequence[str],
    file: str,
    options: ReadOptions,
    limits: Limits,
    diagnostics: Diagnostics,
    open_url: OpenUrl | None = None,
) -> tuple[Imported, ...]:
    """The libraries that a file and what it imports need, each after those that it imports itself.

    Bytes without a file (`file` is empty) have no folder beside which anything could lie.
    `found` receives what is wrong with each; a library that cannot be had is left out.
    """
    folder, name = os.path.split(os.path.abspath(file)) if file else (NOWHERE, "")
    named = {os.path.abspath(f): f for f in options.library_path} | {folder: os.path.dirname(file)}
    resolving = _Resolving(options, limits, diagnostics, open_url, named)
    resolving.all(imports, SourcePosition(folder, name), ())
    return tuple(resolving.done)


class _Resolving:
    """The resolution of the imports of one root. `named` has what the user calls folders, by their absolute paths."""

    def __init__(
        self,
        options: ReadOptions,
        limits: Limits,
        diagnostics: Diagnostics,
        open_url: OpenUrl | None,
        named: Mapping[str, str],
    ) -> None:
        self.done: list[Imported] = []
        self._options = options
        self._limits = limits
        self._found = diagnostics
        self._open_url = open_url
        self._named = named
        self._known: set[SourcePosition] = set()
        self._is_full = False
        self._names: dict[str, Imported] = {}

    def all(self, imports: Sequence[str], importer: SourcePosition, chain: tuple[SourcePosition, ...]) -> None:
        """Resolves the imports of one file; `chain` are the files that led to it, outermost first."""
        for text in imports:
            if urlsplit(text).scheme == OWN_SCHEME:
                continue
            try:
                self._one(parse_import(text), importer, (*chain, importer))
            except DiagnosticError as error:
                self._found.extend(d.located(file=self._name_of(importer)) for d in error.diagnostics)

    def _one(self, expected: ImportUri, importer: SourcePosition, chain: tuple[SourcePosition, ...]) -> None:
        place, content = self._content(expected, importer)
        if place in chain:
            cycle = [*chain[chain.index(place) :], place]
            text = "libraries import each other in a cycle"
            notes = (" -> ".join(escape(self._shown(p)) for p in cycle),)
            raise DiagnosticError(Diagnostic(CYCLIC_IMPORT, text, notes=notes))
        if place in self._known:
            return
        if len(chain) > MAX_DEPTH:
            raise DiagnosticError(Diagnostic(NESTING_TOO_DEEP, f"imports lead more than {MAX_DEPTH} libraries deep"))
        if len(self._known) >= MAX_LIBRARIES:
            if self._is_full:
                return
            self._is_full = True
            raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, f"more than {MAX_LIBRARIES} libraries are imported"))
        self._known.add(place)
        library = self._library(content, place)
        self.all(list(library.imported_libraries), place, chain)
        built = Imported(self._shown(place), library)
        if self._is_new(built):
            self.done.append(built)

    def _library(self, content: bytes, place: SourcePosition) -> LibraryProto:
        library = document_of(memoryview(content), self._limits, self._name_of(place), self._found).library
        if library is None:
            message = f"'{escape(self._shown(place))}' has a graph, and only libraries can be imported"
            raise DiagnosticError(Diagnostic(NOT_A_LIBRARY, message))
        return library

    def _is_new(self, imported: Imported) -> bool:
        """Returns whether a library is new; reports two different libraries with one name."""
        name = f"{imported.library.domain}.{imported.library.name}"
        before = self._names.setdefault(name, imported)
        if before is imported:
            return True
        if before.library.SerializeToString() != imported.library.SerializeToString():
            text = f"two different libraries are called '{escape(name)}'"
            self._found.add(
                DUPLICATE_NAME, text, notes=(f"found: '{escape(before.uri)}' and '{escape(imported.uri)}'",)
            )
        return False

    def _name_of(self, place: SourcePosition) -> str:
        """Returns the name by which the user knows a file."""
        return str(place._replace(folder=self._named.get(place.folder, place.folder)) if place.folder else place)

    def _shown(self, place: SourcePosition) -> str:
        """A place as seen from the root, which is the folder of the model for what lies in it."""
        return place.path

    # -- contents

    def _content(self, expected: ImportUri, importer: SourcePosition) -> tuple[SourcePosition, bytes]:
        """Where a library is found, and its bytes.

        Raises: UNRESOLVED_IMPORT, NETWORK_REFUSED, WRONG_DIGEST, PATH_OUTSIDE_MODEL, LIMIT_EXCEEDED.
        """
        if _ANY_DIGEST in expected.uri:
            uri, _, digest = expected.uri.partition(_ANY_DIGEST)
            message = f"the import of '{escape(uri)}' has a digest that is none: '{escape(digest)}'"
            raise DiagnosticError(Diagnostic(WRONG_DIGEST, message, help="give 64 hexadecimal digits after `#sha256=`"))
        if urlsplit(expected.uri).scheme or not importer.folder:
            url = urljoin(importer.path, expected.uri) if not importer.folder else expected.uri
            if urlsplit(url).scheme != "https":
                message = f"the library '{escape(url)}' is not read: a URI must be https"
                help = "for a file beside the model, give the relative path alone"
                raise DiagnosticError(Diagnostic(NETWORK_REFUSED, message, help=help))
            allowed = self._options.allow_fetch
            return SourcePosition("", url), fetch(url, expected.sha256, allowed=allowed, open_url=self._open_url)
        beside = posixpath.join(posixpath.dirname(importer.path.replace(os.sep, "/")), expected.uri)
        tried = [] if importer.folder == NOWHERE else [SourcePosition(importer.folder, beside)]
        tried += [SourcePosition(os.path.abspath(folder), expected.uri) for folder in self._options.library_path]
        for place in tried:
            content = self._file(place)
            if content is not None:
                require_digest(content, expected.sha256, expected.uri)
                return SourcePosition(place.folder, posixpath.normpath(place.path)), content
        message = f"the library '{escape(expected.uri)}' is not found"
        notes = [f"looked for: {escape(self._name_of(place))}" for place in tried]
        help = "put it there, or name its folder with `--library-path`"
        raise DiagnosticError(Diagnostic(UNRESOLVED_IMPORT, message, notes=notes, help=help))

    def _file(self, place: SourcePosition) -> bytes | None:
        """The bytes of a file; None when there is none. Raises: PATH_OUTSIDE_MODEL, LIMIT_EXCEEDED."""
        try:
            with open_inside(place.folder, place.path) as stream:
                content = stream.read(MAX_BYTES + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            message = f"the library '{escape(place.path)}' cannot be read: {reason}"
            raise DiagnosticError(Diagnostic(FILE_NOT_ACCESSIBLE, message)) from error
        if len(content) > MAX_BYTES:
            message = f"the library '{escape(place.path)}' has more than {MAX_BYTES:,} bytes"
            raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, message))
        return content
