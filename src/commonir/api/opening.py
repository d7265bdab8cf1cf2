"""Opens, checks and writes files of programs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from commonir.base.codes import CANNOT_WRITE, UNKNOWN_OUTPUT_FORMAT
from commonir.base.collecting import no_collection
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import WRONG_FORMAT
from commonir.base.file_contents import LARGEST_COPY_BYTES
from commonir.base.files import in_the_way
from commonir.base.output_locks import one_writer
from commonir.base.suggestions import did_you_mean
from commonir.formats.first_contact import placeholder
from commonir.formats.format import (
    MLIR,
    Format,
    Formats,
    ReadOptions,
    WriteOptions,
    described,
    not_read,
    record_format,
)
from commonir.ir.data import FileData
from commonir.ir.module import Module
from commonir.ir.origins import Location
from commonir.ir.unregistered import UnregisteredOperation
from commonir.ods import Dialect, Dialects
from commonir.ods import verify as verify_operations
from commonir.ods.weights import weights_of
from commonir.reports import Entries, FileEntry

Path_ = str | os.PathLike[str]


def load(
    path: Path_ | Sequence[Path_],
    *,
    format: str | None = None,
    findings: Diagnostics | None = None,
    lenient: bool = False,
    library_path: Sequence[Path_] = (),
    allow_fetch: bool = False,
    dialects: Sequence[Dialect] = (),
) -> Module:
    """Opens a model as a module of its format's dialect. Weights stay on disk until they are needed.

    Several paths must be the files of one program, such as the ranks of an ARK program. `findings` receives warnings,
    and with `lenient` also errors that do not prevent opening; `verify` reports errors of the operations. Libraries
    that a Common IR file imports are searched beside it and in the folders of `library_path`, and fetched only with
    `allow_fetch`. `dialects` are used in addition to the installed ones, such as those of `load_dialects`.

    Raises: DiagnosticError when the model cannot be opened, or has errors and `lenient` is not set.
    """
    formats = Formats()
    paths = (path,) if isinstance(path, str | os.PathLike) else tuple(path)
    chosen = _format_of(formats, paths) if format is None else formats.get(format)
    if not chosen.is_readable:
        raise DiagnosticError(not_read(chosen.name, paths[0]))
    for each in paths if format is not None else ():
        _require_format(formats, chosen, each)
    with no_collection():
        options = _read_options(library_path, allow_fetch=allow_fetch)
        if isinstance(path, str | os.PathLike):
            module, diagnostics = chosen.read(path, Dialects(dialects=dialects), options)
        else:
            module, diagnostics = chosen.read_files(paths, Dialects(dialects=dialects))
    if module is None or (not lenient and any(d.is_error for d in diagnostics)):
        raise DiagnosticError(*diagnostics)
    record_format(chosen, module)
    if findings is not None:
        findings.extend(diagnostics)
    return module


def read_model(path: Path_ | Sequence[Path_], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """Reads a model, or all files of one program; returns what could be read, and the diagnostics of reading only."""
    paths = (path,) if isinstance(path, str | os.PathLike) else tuple(path)
    chosen = _format_of(Formats(), paths)
    if not chosen.is_readable:
        raise DiagnosticError(not_read(chosen.name, paths[0]))
    single = isinstance(path, str | os.PathLike)
    module, diagnostics = chosen.read(path, dialects) if single else chosen.read_files(paths, dialects)
    if module is not None:
        record_format(chosen, module)
    return module, diagnostics


def load_dialects(paths: Path_ | Sequence[Path_], include_dirs: Sequence[Path_] = ()) -> tuple[Dialect, ...]:
    """Returns the dialects that TableGen files define, or those of an installed MLIR by name, such as `memref`.
    Included files are searched in the given folders.

    Raises: DiagnosticError (E0260 to E0264, E0307).
    """
    from commonir.text.loaded_definitions import load_dialects as load_files  # noqa: PLC0415  loads the TableGen reader

    files = (paths,) if isinstance(paths, str | os.PathLike) else paths
    return load_files(files, [os.fspath(folder) for folder in include_dirs])


def verify(module: Module, *, dialects: Sequence[Dialect] = (), allow_unregistered: bool = False) -> list[Diagnostic]:
    """Returns diagnostics for all errors in the operations of a program, in order, without changing it.

    If there are none, returns violations of further rules of its format. With `allow_unregistered`, operations of
    dialects that are not known are accepted.
    """
    result = verify_operations(module, Dialects(dialects=dialects, allows_unregistered=allow_unregistered))
    return result if any(d.is_error for d in result) else [*result, *_demanded(module)]


def _demanded(module: Module) -> list[Diagnostic]:
    """Returns violations of the rules of a program's format."""
    own = Formats().of_module(module)
    return [] if own is None else own.verify(module)


def check(
    path: Path_ | Sequence[Path_],
    *,
    library_path: Sequence[Path_] = (),
    allow_fetch: bool = False,
    dialects: Sequence[Dialect] = (),
    allow_unregistered: bool = False,
) -> tuple[Module | None, list[Diagnostic]]:
    """Opens and verifies a model; returns what could be opened of it, and all diagnostics without duplicates.

    Several paths must be the files of one program, as for `load`; `programs_of` groups them. `dialects` is as for
    `load`; their constraints in C++ are listed in notes. With `allow_unregistered`, operations, types and attributes
    of dialects that are not known are accepted, as with mlir-opt's `--allow-unregistered-dialect`.
    """
    used = Dialects(dialects=dialects, allows_unregistered=allow_unregistered)
    paths = (path,) if isinstance(path, str | os.PathLike) else tuple(path)
    chosen = _format_of(Formats(), paths)
    options = _read_options(library_path, allow_fetch=allow_fetch)
    if isinstance(path, str | os.PathLike):
        module, diagnostics = chosen.check(path, used, options)
    else:
        module, diagnostics = chosen.check_files(paths, used)
    if module is not None:
        record_format(chosen, module)
    if module is not None and chosen.name == MLIR and not any(d.is_error for d in diagnostics):
        # The syntax of all programs demands nothing of those of a format.
        diagnostics = [*diagnostics, *_demanded(module)]
    if module is not None and dialects:
        from commonir.text.loaded_definitions import not_evaluable  # noqa: PLC0415  as above

        diagnostics = [*diagnostics, *not_evaluable(module)]
    return module, diagnostics


def file_count(module: Module) -> int:
    """Returns how many files the functions of a program are from: one for each rank of an ARK program."""
    files = {f.location.file for f in module.functions.values() if isinstance(f.location, Location)}
    return max(len(files - {""}), 1)


def maps_weights(module: Module) -> bool:
    """Returns whether weights of a program are in files so large that they are mapped, and not read as a whole."""
    parts = [data for weight in weights_of(module) for data in weight.parts if isinstance(data, FileData)]
    return any(data.file.size_bytes > LARGEST_COPY_BYTES for data in parts)


def programs_of(paths: Sequence[Path_]) -> list[tuple[str, ...]]:
    """Returns the paths of models grouped by program, for programs of several files such as the ranks of an ARK
    program.

    A path of no known format is a program by itself.
    """
    formats = Formats()
    out: list[tuple[str, ...]] = []
    several: dict[Format, list[str]] = {}
    for path in dict.fromkeys([os.fspath(p) for p in paths]):
        try:
            chosen = formats.of_file(path)
        except DiagnosticError:
            out.append((path,))
            continue
        if Path(path).is_dir():
            out.append((path,))
        else:
            several.setdefault(chosen, []).append(path)
    for chosen, files in several.items():
        out += chosen.programs(files)
    first = {os.fspath(path): n for n, path in reversed(list(enumerate(paths)))}
    return sorted(out, key=lambda files: first[files[0]])


def is_model(path: Path_) -> bool:
    """Returns whether a path is a file or folder of a known format."""
    if not os.path.exists(path):
        return False
    try:
        return bool(Formats().of_file(path).name)
    except DiagnosticError:
        return False


def _format_of(formats: Formats, paths: Sequence[Path_]) -> Format:
    """Returns the format of a file, or of all of several. Raises: DiagnosticError (E0904) when they have not one."""
    if not paths:
        raise DiagnosticError(Diagnostic(WRONG_FORMAT, "no files are given"))
    result = formats.of_file(paths[0])
    for path in paths[1:]:
        other = formats.of_file(path)
        if other is not result and other.name != result.name:
            message = f"files of one program have one format, found '{result.name}' and '{other.name}'"
            raise DiagnosticError(Diagnostic(WRONG_FORMAT, message, file=os.fspath(path)))
    return result


def check_pieces(
    path: Path_,
    *,
    split: bool = True,
    expects: bool = False,
    dialects: Sequence[Dialect] = (),
    allow_unregistered: bool = False,
) -> Iterator[tuple[Module | None, list[Diagnostic]]]:
    """Returns the programs of an MLIR text with their diagnostics, as `check`. With `split`, lines `// -----` separate
    programs.

    With `expects`, the diagnostics are the differences from those announced by comments `// expected-error {{..}}`.

    Raises: DiagnosticError (E0904) for a file that is not MLIR text.
    """
    from commonir.formats.mlir.checking import check_pieces as checked_pieces  # noqa: PLC0415  loads the parser

    chosen = Formats().of_file(path)
    if chosen.name != MLIR:
        message = f"a file of format '{chosen.name}' is not MLIR text: it has no pieces and no comments"
        raise DiagnosticError(Diagnostic(WRONG_FORMAT, message, file=os.fspath(path)))
    used = Dialects(dialects=dialects, allows_unregistered=allow_unregistered)
    return checked_pieces(path, used, split=split, expects=expects)


def unregistered(module: Module) -> tuple[str, ...]:
    """Returns the names of the operations in a program that no dialect in use defines."""
    return tuple(dict.fromkeys([op.name for op in module.walk() if isinstance(op, UnregisteredOperation)]))


def loads(
    data: bytes | str, *, format: str, findings: Diagnostics | None = None, dialects: Sequence[Dialect] = ()
) -> Module:
    """Returns the module in the bytes or text of a file of a format. `findings` receives warnings; `dialects` is as for
    `load`.

    Raises: DiagnosticError when the contents have errors or another format, or the format consists of several files.
    """
    chosen = Formats().get(format)
    content = data.encode() if isinstance(data, str) else data
    # An empty text is a program of MLIR.
    instead = placeholder(content, "") if content or chosen.name != MLIR else None
    if instead is not None:
        raise DiagnosticError(instead)
    module, diagnostics = chosen.loads(content, Dialects(dialects))
    if module is None or any(d.is_error for d in diagnostics):
        raise DiagnosticError(*diagnostics)
    record_format(chosen, module)
    if findings is not None:
        findings.extend(diagnostics)
    return module


def dumps(module: Module, *, format: str | None = None) -> bytes:
    """Returns the bytes of the file that `save` would write, including weights.

    Raises: DiagnosticError (E08xx) when it cannot be written, or the format consists of several files.
    """
    target = Formats().get(format or writable_format(module))
    own = Formats().of_module(module)
    if not target.has_bytes:
        message = f"programs of the format '{target.name}' are not one file, whose bytes could be returned"
        help = "save it to a path, or take its MLIR text: `commonir.dumps(program, format='mlir')`"
        raise DiagnosticError(Diagnostic(CANNOT_WRITE, message, help=help))
    if not target.can_hold(own):
        message = f"{described(own)} has no bytes of the format '{target.name}'"
        help = f"convert it first: `cir convert M --to {target.name} -o OUT`"
        raise DiagnosticError(Diagnostic(CANNOT_WRITE, message, help=help))
    return target.dumps(module)


def save(
    module: Module,
    path: Path_,
    *,
    format: str | None = None,
    external_data: bool | str | None = None,
    external_threshold: int | None = None,
    findings: Diagnostics | None = None,
) -> Entries[FileEntry]:
    """Writes a module in its own format, or as MLIR text, and returns the paths of the files.

    `external_data` selects, for formats with that choice, where weights are: True for one file beside the model, the
    name of such a file, "each" for one file for each weight, or False for the model itself. By default weights stay as
    they were in the file that was read, and those of large models are in one file. `external_threshold` is the least
    size in bytes of weights that are external. An existing file survives any failure. `findings` receives warnings and
    notes, for example about data files, and imported libraries that are not in the folder.

    Raises: DiagnosticError (E08xx) when it cannot be written.
    """
    formats = Formats()
    own = formats.of_module(module)
    target = formats.of_output(path, own) if format is None else formats.get(format)
    if not target.is_writable or not target.can_hold(own):
        message = f"{described(own)} cannot be written as '{target.name}'"
        help = f"convert it first: `cir convert M --to {target.name} -o OUT`" if target.is_writable else None
        raise DiagnosticError(Diagnostic(CANNOT_WRITE, message, file=os.fspath(path), help=help))
    if (external_data, external_threshold) != (None, None) and not target.has_external_data:
        message = f"where weights lie cannot be chosen for files of the format '{target.name}'"
        raise DiagnosticError(Diagnostic(CANNOT_WRITE, message, file=os.fspath(path)))
    _refuse_own_weights(module, path)
    with one_writer(path):
        written = target.write(module, path, WriteOptions(external_data, external_threshold, findings))
        if findings is not None:
            findings.extend(target.left_behind(module, path))
        return Entries([FileEntry(str(p), _size_bytes(p)) for p in written])


def _refuse_own_weights(module: Module, path: Path_) -> None:
    """Raises: OUTPUT_IN_THE_WAY for a data file that has weights of the program."""
    if not os.path.isfile(path) or is_model(path):
        return
    place = os.path.realpath(path)
    parts = [data for weight in weights_of(module) for data in weight.parts if isinstance(data, FileData)]
    if any(os.path.realpath(file.path) == place for file in {data.file for data in parts}):
        raise DiagnosticError(in_the_way(path, "weights of the program are in the file in its place"))


def writable_format(module: Module) -> str:
    """Returns the name of the format in which a program is written by default."""
    own = Formats().of_module(module)
    return own.name if own is not None and own.is_writable else MLIR


def has_external_data(format: str) -> bool:
    """Returns whether users choose where the weights of files of a format are.

    Raises: DiagnosticError for an unknown format.
    """
    return Formats().get(format).has_external_data


def output_format(path: Path_) -> str:
    """Returns the name of the format for the suffix of an output path.

    Raises: DiagnosticError for an unknown suffix.
    """
    return Formats().of_output(path).name


def file_format(to: str) -> str:
    """Returns the name of the format in which a program is written after `convert` to a format or dialect.

    Raises: DiagnosticError for an unknown name.
    """
    from commonir.conversions.conversion import Conversions  # noqa: PLC0415

    if to in Formats():
        return to
    known = Conversions()
    if to in known.names():
        return known.get(to).format or Formats().get(to).name
    names = sorted({*known.names(), *Formats().names()})
    help = did_you_mean(to, names) or f"formats and dialects: {', '.join(names)}"
    raise DiagnosticError(Diagnostic(UNKNOWN_OUTPUT_FORMAT, f"no format or dialect is called '{to}'", help=help))


def _read_options(library_path: Sequence[Path_], *, allow_fetch: bool) -> ReadOptions:
    return ReadOptions(tuple([os.fspath(folder) for folder in library_path]), allow_fetch)


def _size_bytes(path: Path) -> int:
    """Returns the bytes of a file or of the files in a folder, without those that another process has replaced."""

    def size_of(file: Path) -> int:
        with suppress(FileNotFoundError):
            return file.stat().st_size
        return 0

    return sum([size_of(p) for p in path.rglob("*") if p.is_file()]) if path.is_dir() else size_of(path)


def _require_format(formats: Formats, expected: Format, path: Path_) -> None:
    """Checks the format of a file. Raises: DiagnosticError (WRONG_FORMAT)."""
    chosen = formats.recognize(path)
    if chosen.format.name != expected.name:
        message = f"the file is not of the format '{expected.name}'"
        notes = (f"found: {chosen.description}",)
        raise DiagnosticError(Diagnostic(WRONG_FORMAT, message, file=os.fspath(path), notes=notes))
