"""What a format is to the rest of the program, and how one is found.

A format reads its files into its own dialect and writes that dialect; it never converts. Formats are found through the
entry points of installed packages (group `commonir.formats`), ours like anybody's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from commonir.base.codes import CANNOT_WRITE, UNKNOWN_OUTPUT_FORMAT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import UNKNOWN_FORMAT
from commonir.base.plugins import Plugins
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.formats.kinds import FileKind
from commonir.ir.module import Module
from commonir.ods import Dialects
from commonir.ods.dialect import OURS as OUR_DIALECTS

if TYPE_CHECKING:
    from pathlib import Path

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
    """What a user allows a reader beyond the model itself: folders of libraries, and the network."""

    library_path: tuple[str, ...] = ()
    allow_fetch: bool = False


DEFAULT_READ_OPTIONS = ReadOptions()


class WriteOptions(NamedTuple):
    """How a file is written, for formats that leave a choice.

    `external_data` says whether weights go to a file of their own beside the model; None leaves that to their size.
    """

    external_data: bool | None = None


DEFAULT_WRITE_OPTIONS = WriteOptions()

Read = Callable[[str | os.PathLike[str], Dialects], tuple[Module | None, list[Diagnostic]]]
ReadFiles = Callable[[Sequence[str | os.PathLike[str]], Dialects], tuple[Module | None, list[Diagnostic]]]
ReadWith = Callable[[str | os.PathLike[str], Dialects, ReadOptions], tuple[Module | None, list[Diagnostic]]]
Write: TypeAlias = "Callable[[Module, str | os.PathLike[str]], tuple[Path, ...]]"
WriteWith: TypeAlias = "Callable[[Module, str | os.PathLike[str], WriteOptions], tuple[Path, ...]]"
Loads = Callable[[bytes, Dialects], tuple[Module | None, list[Diagnostic]]]
Dumps = Callable[[Module], bytes]


class Outline(NamedTuple):
    """What a file says about its program beyond the program itself.

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


class Format(NamedTuple):
    """A file format and its dialect; "" for one that holds programs of any dialect.

    `read_with` and `check_with` are those of a format whose files refer to others, as far as the user allows;
    `write_with` is that of one whose weights may lie beside the model. `loads` and `dumps` are those of a format that
    is one file: they take and give its bytes. `read_files` and `check_files` are those of a format whose programs may
    be several files, of which all are given; `programs` tells which of some files are a program together.

    `read` gives the module, None when nothing can be read, and all that reading found. `check` also verifies what the
    format demands beyond its operations, which `verify` does for a module whose operations are right. `write` writes
    files atomically and returns their paths; `left_behind` warns of files that a module refers to and that are not
    there where it was written to. `outline` tells what the module has kept of the file besides the program.
    `show` is the text of a module for people to read, constants of more elements than a limit left out; None for a
    format that is no text.
    """

    name: str
    dialect: str
    suffixes: tuple[str, ...]
    kinds: frozenset[FileKind]
    read: Read | None = None
    check: Read | None = None
    verify: Callable[[Module], list[Diagnostic]] = lambda _: []
    read_files: ReadFiles | None = None
    check_files: ReadFiles | None = None
    programs: Callable[[Sequence[str | os.PathLike[str]]], list[tuple[str, ...]]] | None = None
    write: Write | None = None
    write_with: WriteWith | None = None
    loads: Loads | None = None
    dumps: Dumps | None = None
    read_with: ReadWith | None = None
    check_with: ReadWith | None = None
    outline: Callable[[Module], Outline] = lambda _: Outline()
    left_behind: Callable[[Module, str | os.PathLike[str]], list[Diagnostic]] = lambda _, __: []
    show: Callable[[Module, int | None], str] | None = None

    def opened(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions
    ) -> tuple[Module | None, list[Diagnostic]]:
        """What `read` gives, with what the user allows. Only for a format that is read."""
        if self.read_with is not None:
            return self.read_with(path, dialects, options)
        return self.read(path, dialects) if self.read is not None else (None, [])

    def written(self, module: Module, path: str | os.PathLike[str], options: WriteOptions) -> tuple[Path, ...]:
        """Writes a module as asked. Only for a format that is written.

        Raises: DiagnosticError (CANNOT_WRITE) for a choice that the format does not leave, and as `write`.
        """
        if options != DEFAULT_WRITE_OPTIONS and self.write_with is None:
            message = f"where weights lie cannot be chosen for files of the format '{self.name}'"
            raise DiagnosticError(Diagnostic(CANNOT_WRITE, message, file=os.fspath(path)))
        if self.write_with is not None:
            return self.write_with(module, path, options)
        return self.write(module, path) if self.write is not None else ()

    def checked(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions
    ) -> tuple[Module | None, list[Diagnostic]]:
        """What `check` gives, with what the user allows. Only for a format that is checked."""
        if self.check_with is not None:
            return self.check_with(path, dialects, options)
        return self.check(path, dialects) if self.check is not None else (None, [])


class Formats:
    """The formats in use."""

    def __init__(self, given: Iterable[Format] = (), *, discover: bool = True) -> None:
        self._plugins = Plugins(Format, ENTRY_POINTS, _OURS, given, discover=discover)

    def names(self) -> tuple[str, ...]:
        """Names of all formats that can be had, sorted."""
        return self._plugins.names()

    def working(self) -> Iterator[Format]:
        """All formats that can be had, but for plugins that fail to load."""
        return iter(self._plugins)

    def get(self, name: str) -> Format:
        """The format of a name. Raises: DiagnosticError (UNKNOWN_OUTPUT_FORMAT)."""
        found = self._plugins.get(name)
        if found is None:
            help = did_you_mean(name, self.names()) or f"formats: {', '.join(self.names())}"
            raise DiagnosticError(Diagnostic(UNKNOWN_OUTPUT_FORMAT, f"no format is called '{name}'", help=help))
        return found

    def of_file(self, path: str | os.PathLike[str]) -> Format:
        """The format of a file or folder, told from its content.

        Raises: DiagnosticError as `recognize`, and UNKNOWN_FORMAT for a kind that no format in use reads.
        """
        from commonir.formats.recognize import recognize  # noqa: PLC0415  for programs that no file holds, too much

        kind = recognize(path)
        for found in self._plugins:
            if kind in found.kinds and found.read is not None:
                return found
        raise DiagnosticError(
            Diagnostic(
                UNKNOWN_FORMAT,
                f"a file of this kind cannot be read yet: {kind.value}",
                file=os.fspath(path),
                help=f"formats that are read: {', '.join(sorted(f.name for f in self._plugins if f.read))}",
            )
        )

    def of_output(self, path: str | os.PathLike[str]) -> Format:
        """The format that the suffix of an output names.

        Raises: DiagnosticError (UNKNOWN_OUTPUT_FORMAT).
        """
        name = os.path.basename(os.path.normpath(path)).lower()
        suffix = os.path.splitext(name)[1]
        known: list[str] = []
        for found in self._plugins:
            if found.write is not None:
                known += found.suffixes
                if name.endswith(found.suffixes):
                    return found
        message = f"the suffix '{suffix}' names no format that can be written" if suffix else "the name has no suffix"
        help = f"use one of {', '.join(known)}, or name the format with --to"
        raise DiagnosticError(Diagnostic(UNKNOWN_OUTPUT_FORMAT, message, file=os.fspath(path), help=help))

    def of_module(self, module: Module) -> Format | None:
        """The format whose dialect the symbols of a module are in; None for the core and unknown dialects."""
        dialects = {s.name.partition(".")[0] for s in module.symbols.values()}
        # Looking for other packages costs more than most programs. They bring formats of dialects of their own.
        for found in self._plugins.own() if dialects <= OUR_DIALECTS.keys() else self._plugins:
            if found.dialect in dialects:
                return found
        return None
