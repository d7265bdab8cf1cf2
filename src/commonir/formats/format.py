"""The interface of a format, and the lookup of formats.

A format recognizes its files, reads them into its own dialect and writes that dialect; it never converts. Formats are
found through the entry points of installed packages (group `commonir.formats`), ours and those of plugins.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from commonir.base.codes import CANNOT_WRITE, NOT_IN_FORMAT, UNKNOWN_OUTPUT_FORMAT
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import UNREAD_FORMAT, WRONG_FORMAT
from commonir.base.plugins import Plugins, imported, warn
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.formats.content import FileContent, content_of
from commonir.formats.first_contact import (
    incomplete,
    not_a_package,
    not_accessible,
    other_format,
    placeholder,
    unknown_content,
)
from commonir.ir.module import Module
from commonir.ods import Dialects
from commonir.ods import verify as verify_operations
from commonir.ods.dialect import OURS as OUR_DIALECTS

if TYPE_CHECKING:
    from commonir.reports import DeclarationEntry

ENTRY_POINTS = "commonir.formats"

MLIR = "mlir"
"""The syntax that every program has."""

# In the order in which they are asked for a file: those that load most come last.
_OURS = {
    "coreml": "commonir.formats.coreml.format:FORMAT",
    "mil": "commonir.formats.mil_text.format:FORMAT",
    "mlir": "commonir.formats.mlir.format:FORMAT",
    "mlir-generic": "commonir.formats.mlir.format:GENERIC",
    "onnx": "commonir.formats.onnx.format:FORMAT",
    "onnxtxt": "commonir.formats.onnx_text.format:FORMAT",
    "common_ir": "commonir.formats.common_ir.format:FORMAT",
    "ark": "commonir.formats.ark.format:FORMAT",
}


class ReadOptions(NamedTuple):
    """Permissions of a reader beyond the model itself: folders of libraries, and the network."""

    library_path: tuple[str, ...] = ()
    allow_fetch: bool = False


DEFAULT_READ_OPTIONS = ReadOptions()


class WriteOptions(NamedTuple):
    """How a file is written, for formats that leave a choice.

    `external_data` says where weights are: True in one file beside the model, named after it, or in the one with a
    given name from its folder, `EACH` in one file for each, False in the model itself. None keeps what the file that
    was read had, and leaves the rest to their size. `external_threshold` is the least size of external weights in
    bytes.
    `findings` receives notes about data files.
    """

    external_data: bool | str | None = None
    external_threshold: int | None = None
    findings: Diagnostics | None = None


DEFAULT_WRITE_OPTIONS = WriteOptions()

EACH = "each"
"""The choice of one file for each external weight."""


class Outline(NamedTuple):
    """The facts in a file beyond its program.

    `title` is what people call the format, with its version. `ports` notes what types cannot say of an input, output or
    state, by function and name: sizes a dimension may have, images. `declarations` are the functions and operators that
    the file declares for nodes to call; `annotations` name what it says that changes no result, and that is lost where
    a program leaves its format.
    """

    title: str = ""
    producer: str = ""
    metadata: Mapping[str, str] = MappingProxyType({})
    ports: Mapping[tuple[str, str], str] = MappingProxyType({})
    opsets: Mapping[str, str] = MappingProxyType({})
    declarations: tuple[DeclarationEntry, ...] = ()
    annotations: tuple[str, ...] = ()


class Certainty(IntEnum):
    """How certain a format is that a file is one of its own: the most certain one reads it."""

    FIELDS = 1
    """The outermost fields of a message agree."""

    BEGINNING = 2
    """The text begins as many texts of the format do."""

    SUFFIX = 3
    """The name says so, and the content does not contradict it."""

    SYNTAX = 4
    """The content has what other formats do not have."""

    MARK = 5
    """The content begins with a mark of the format. Only this overrules what is said of JSON documents, archives and
    other well-known files that are not programs."""


class Recognition(NamedTuple):
    """A file as a format recognized it; `description` is the common name of such files.

    `missing_bytes` are those that a file which begins like one of the format lacks.
    """

    description: str
    certainty: Certainty
    missing_bytes: int = 0


Opened: TypeAlias = tuple[Module | None, list[Diagnostic]]
"""A module, None when nothing can be read, and all diagnostics of reading."""


_Method = TypeVar("_Method", bound=Callable[..., object])


def deferred(method: _Method, reference: str, count: int | None = None) -> _Method:
    """Returns an override of a method of `Format` that calls the function `module:function` with what follows the
    format.

    Finding the format of another file loads every format, which must load neither dialects nor protobuf for it.
    `count` is how many arguments the function takes; a format without options leaves them out.
    """

    @wraps(method)
    def call(_: Format, *arguments: object) -> object:
        function = imported(reference)
        assert callable(function), reference
        return function(*arguments[:count])

    return call  # pyright: ignore[reportReturnType]  what a reference names has a type only when it is loaded


class Format:
    """Base of a file format: a format overrides what it can do, and refuses the rest.

    `dialect` is that of its programs, "" for a format that holds programs of any dialect. `suffixes` are those of its
    files, the first one that of files that are written. `has_external_data`: users may choose whether weights lie
    beside the model. `reads_empty`: an empty file is a program.
    """

    name: str
    dialect: str = ""
    suffixes: tuple[str, ...] = ()
    shared_suffixes: tuple[str, ...] = ()
    """Suffixes that files of other formats have too: programs of this format may be written under them."""
    has_external_data: bool = False
    reads_empty: bool = False

    def can_hold(self, own: Format | None) -> bool:
        """Returns whether it can hold programs of a format, None for the core: those of its dialect, if it has one."""
        return not self.dialect or (own is not None and own.dialect == self.dialect)

    @property
    def is_readable(self) -> bool:
        """Whether files are read."""
        return type(self).read is not Format.read

    @property
    def is_writable(self) -> bool:
        """Whether files are written."""
        return type(self).write is not Format.write

    @property
    def has_bytes(self) -> bool:
        """Whether a program is one file, whose bytes `dumps` returns."""
        return type(self).dumps is not Format.dumps

    @property
    def has_text(self) -> bool:
        """Whether `show` returns a text for people."""
        return type(self).show is not Format.show

    def recognize(self, content: FileContent) -> Recognition | None:
        """Returns what is recognized in the content of a path; None when it is not of this format."""
        del content
        return None

    def read(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions = DEFAULT_READ_OPTIONS
    ) -> Opened:
        """Reads a file or folder."""
        del dialects, options
        return None, [not_read(self.name, path)]

    def check(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions = DEFAULT_READ_OPTIONS
    ) -> Opened:
        """Reads and verifies a file or folder: its operations, and what the format requires beyond them."""
        module, diagnostics = self.read(path, dialects, options)
        if module is None:
            return None, diagnostics
        wrong = [*verify_operations(module, dialects), *self.verify(module)]
        return module, [*diagnostics, *(d.located(file=os.fspath(path)) for d in wrong)]

    def verify(self, module: Module) -> list[Diagnostic]:
        """Returns what is wrong with a module of right operations by the rules of the format."""
        del module
        return []

    def read_files(self, paths: Sequence[str | os.PathLike[str]], dialects: Dialects) -> Opened:
        """Reads the files of one program. Raises: WRONG_FORMAT for a format whose programs are one file."""
        del dialects
        raise DiagnosticError(self._one_file(paths))

    def check_files(self, paths: Sequence[str | os.PathLike[str]], dialects: Dialects) -> Opened:
        """Reads and verifies the files of one program. Raises: as `read_files`."""
        del dialects
        raise DiagnosticError(self._one_file(paths))

    def _one_file(self, paths: Sequence[str | os.PathLike[str]]) -> Diagnostic:
        message = f"a program of the format '{self.name}' is one file, found {len(paths)}"
        return Diagnostic(WRONG_FORMAT, message, file=os.fspath(paths[0]))

    def programs(self, paths: Sequence[str | os.PathLike[str]]) -> list[tuple[str, ...]]:
        """Returns files, those of one program together."""
        return [(os.fspath(path),) for path in paths]

    def write(
        self, module: Module, path: str | os.PathLike[str], options: WriteOptions = DEFAULT_WRITE_OPTIONS
    ) -> tuple[Path, ...]:
        """Writes files, so that old ones survive any failure, and returns their paths. Raises: CANNOT_WRITE."""
        del module, options
        message = f"files of format '{self.name}' cannot be written"
        raise DiagnosticError(Diagnostic(CANNOT_WRITE, message, file=os.fspath(path)))

    def loads(self, content: bytes, dialects: Dialects) -> Opened:
        """Reads the bytes of a file. Raises: UNREAD_FORMAT for a format whose programs are not one file."""
        del content, dialects
        message = f"files of the format '{self.name}' are only read by their path"
        raise DiagnosticError(Diagnostic(UNREAD_FORMAT, message))

    def dumps(self, module: Module) -> bytes:
        """Returns the bytes of the file that `write` writes. Raises: CANNOT_WRITE."""
        del module
        raise DiagnosticError(Diagnostic(CANNOT_WRITE, f"a program of format '{self.name}' is not one file"))

    def outline(self, module: Module) -> Outline:
        """Returns the attributes that the module has kept of the file besides the program."""
        del module
        return Outline()

    def left_behind(self, module: Module, path: str | os.PathLike[str]) -> list[Diagnostic]:
        """Returns warnings of files that a module refers to and that are not there where it was written to."""
        del module, path
        return []

    def show(self, module: Module, elide: int | None) -> str:
        """Returns the text of a module for people, without constants of more than `elide` elements.

        Raises: NOT_IN_FORMAT for a format that is not text.
        """
        del module, elide
        raise DiagnosticError(Diagnostic(NOT_IN_FORMAT, f"programs of format '{self.name}' are not text"))


def not_read(format: str, path: str | os.PathLike[str]) -> Diagnostic:
    """Returns the diagnostic for files of a format that is not read."""
    return Diagnostic(UNREAD_FORMAT, f"files of format '{format}' cannot be read", file=os.fspath(path))


class Recognized(NamedTuple):
    """The format of a file, and what people call such a file."""

    format: Format
    description: str


class Formats:
    """The formats in use."""

    def __init__(self, items: Iterable[Format] = (), *, discover: bool = True) -> None:
        self._plugins = Plugins(Format, ENTRY_POINTS, _OURS, items, discover=discover)

    def names(self) -> tuple[str, ...]:
        """Names of all formats that can be had, sorted."""
        return self._plugins.names()

    def __contains__(self, name: str) -> bool:
        """Returns whether a format has a name."""
        return name in self._plugins

    def working(self) -> Iterator[Format]:
        """All formats that can be had, but for plugins that fail to load."""
        return iter(self._plugins)

    def get(self, name: str) -> Format:
        """The format of a name. Raises: DiagnosticError (UNKNOWN_OUTPUT_FORMAT)."""
        result = self._plugins.get(name)
        if result is None:
            help = did_you_mean(name, self.names()) or f"formats: {', '.join(self.names())}"
            raise DiagnosticError(Diagnostic(UNKNOWN_OUTPUT_FORMAT, f"no format is called '{name}'", help=help))
        return result

    def of_file(self, path: str | os.PathLike[str]) -> Format:
        """Returns the format of a file or folder. Raises: as `recognize`."""
        return self.recognize(path).format

    def recognize(self, path: str | os.PathLike[str]) -> Recognized:
        """Returns the format that is most certain of a file or folder.

        Raises: FILE_NOT_FOUND, FILE_NOT_ACCESSIBLE, EMPTY_FILE, LFS_POINTER, WEB_PAGE, ARCHIVE, TRUNCATED_FILE,
            NOT_A_PACKAGE, UNREAD_FORMAT, UNKNOWN_FORMAT.
        """
        content = content_of(path)
        try:
            return self.recognize_content(content)
        except OSError as error:
            raise DiagnosticError(not_accessible(Path(path), error)) from error

    def recognize_content(self, content: FileContent) -> Recognized:
        """Returns the format that is most certain of the content of a path. Raises: as `recognize`; OSError."""
        if not content.head and content.entries is None:
            empty = self._of_empty_file(content)
            if empty is not None:
                return empty
        if content.entries is None and (instead := placeholder(content.head, content.name)) is not None:
            raise DiagnosticError(instead)
        best = _most_certain(self._plugins.own(), content)
        # Looking for other packages costs more than most files: only where ours are not certain.
        if best is None or not _is_settled(*best, content):
            best = _most_certain(self._plugins.others(), content, best)
        if best is not None and best[1].certainty is Certainty.MARK:
            return Recognized(best[0], best[1].description)
        if content.entries is None and (foreign := other_format(content.head, content.name)) is not None:
            raise DiagnosticError(foreign)
        if best is None:
            raise DiagnosticError(_unknown(content))
        format, recognition = best
        if recognition.missing_bytes:
            raise DiagnosticError(
                incomplete(recognition.description, content.size_bytes, recognition.missing_bytes, content.name)
            )
        return Recognized(format, recognition.description)

    def _of_empty_file(self, content: FileContent) -> Recognized | None:
        """Returns the format that the suffix of an empty file names, where an empty file is a program."""
        for each in self._plugins.own():
            if each.reads_empty and content.name.lower().endswith(each.suffixes):
                return Recognized(each, "an empty file")
        return None

    def of_output(self, path: str | os.PathLike[str], own: Format | None = None) -> Format:
        """The format that the suffix of an output names, for a program whose format may be known, `own`.

        Raises: DiagnosticError (UNKNOWN_OUTPUT_FORMAT).
        """
        name = os.path.basename(os.path.normpath(path)).lower()
        suffix = os.path.splitext(name)[1]
        known: list[str] = []
        for result in self._plugins:
            if result.is_writable:
                known += result.suffixes
                if name.endswith(result.suffixes):
                    return result
        if own is not None and own.is_writable and name.endswith(own.shared_suffixes):
            return own
        message = f"the suffix '{suffix}' names no format that can be written" if suffix else "the name has no suffix"
        written = [each.name for each in self._plugins if each.is_writable]
        help = f"use one of {', '.join(known)}, or `--to FORMAT`: {', '.join(written)}"
        if own is not None and own.is_writable:
            help = f"the program keeps its format: use {' or '.join(own.suffixes)}; `cir convert` writes other formats"
        raise DiagnosticError(Diagnostic(UNKNOWN_OUTPUT_FORMAT, message, file=os.fspath(path), help=help))

    def of_module(self, module: Module) -> Format | None:
        """Returns the format that is recorded in a module, or whose dialect its symbols are in; None for the core and
        unknown dialects.
        """
        if module.format:
            return self._plugins.get(module.format)
        dialects = _dialects_of_symbols(module)
        # Looking for other packages costs more than most programs. They bring formats of dialects of their own.
        for result in self._plugins.own() if dialects <= OUR_DIALECTS.keys() else self._plugins:
            if result.dialect in dialects:
                return result
        return None


def described(own: Format | None) -> str:
    """Returns a description, for messages, of programs of a format; None for the core and unknown dialects."""
    return "a program without a file format of its own" if own is None else f"a program of format '{own.name}'"


def record_format(format: Format, module: Module) -> None:
    """Records the format of a module where the dialect of its symbols does not say so.

    MLIR text is not recorded: it holds programs of all formats.
    """
    dialects = _dialects_of_symbols(module)
    if format.name != MLIR and dialects and format.dialect not in dialects:
        module.format = format.name


def _dialects_of_symbols(module: Module) -> set[str]:
    return {s.name.partition(".")[0] for s in module.symbols.values()}


def _most_certain(
    formats: Iterable[Format], content: FileContent, best: tuple[Format, Recognition] | None = None
) -> tuple[Format, Recognition] | None:
    """Returns the most certain of `best` and further formats, the first of several: one that finds the file complete
    before others.
    """
    for each in formats:
        try:
            result = each.recognize(content)
        except (DiagnosticError, OSError):
            raise
        except Exception as error:
            if type(each).__module__.startswith(f"{__name__.partition('.')[0]}."):
                raise
            warn(f"the plugin '{each.name}' ({ENTRY_POINTS}) fails: {type(error).__name__}: {error}")
            continue
        if result is None:
            continue
        if result.certainty is Certainty.MARK:
            return each, result
        if best is None or _rank(result) > _rank(best[1]):
            best = each, result
    return best


def _rank(recognition: Recognition) -> tuple[bool, int]:
    return not recognition.missing_bytes, recognition.certainty


def _is_settled(format: Format, recognition: Recognition, content: FileContent) -> bool:
    """Returns whether no plugin needs to be asked: the format is certain, or the name says the same."""
    return recognition.certainty >= Certainty.SYNTAX or content.name.lower().endswith(format.suffixes)


def _unknown(content: FileContent) -> Diagnostic:
    """Returns the diagnostic for what no format recognizes."""
    if content.entries is not None:
        return not_a_package(Path(content.path), content.entries)
    fields = content.fields
    types = fields.wire_types if fields.is_protobuf else None
    return unknown_content(content.head, content.size_bytes, types, content.name)
