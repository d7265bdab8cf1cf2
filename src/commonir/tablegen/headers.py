"""Finds MLIR's TableGen files, which dialects include: those of an installed LLVM, else the prelude of this package.

Nothing is run: LLVM is searched for beside its programs on the path and in the usual folders.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from commonir.base.codes import UNKNOWN_REFERENCE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean

PRELUDE = Path(__file__).with_name("prelude")
_MARK = Path("mlir", "IR", "OpBase.td")
_PROGRAMS = ("llvm-config", "mlir-tblgen", "mlir-opt", *(f"llvm-config-{n}" for n in range(30, 17, -1)))
_USUAL = (
    "/usr/lib/llvm-*/include",
    "/opt/homebrew/opt/llvm*/include",
    "/usr/local/opt/llvm*/include",
    "/usr/local/include",
    "/usr/include",
)
NOT_INSTALLED = (
    "MLIR's files are not installed: install them (Debian libmlir-22-dev, Homebrew llvm, conda mlir), or give the "
    "folder that holds `mlir` with -I"
)
"""Help for files that only MLIR has: those of the prelude are not enough."""
_NAME = re.compile(r'let name = "([\w.]+)";')


@cache
def installed_headers() -> str | None:
    """Returns the include folder of an installed LLVM with MLIR, the newest of several; None without one."""
    candidates = [*_beside_programs(), *_in_conda(), *_in_usual_folders()]
    return next((str(folder) for folder in candidates if (folder / _MARK).is_file()), None)


def _beside_programs() -> Iterator[Path]:
    for name in _PROGRAMS:
        program = shutil.which(name)
        if program is not None:
            yield Path(os.path.realpath(program)).parent.parent / "include"


def _in_conda() -> Iterator[Path]:
    prefix = os.environ.get("CONDA_PREFIX")
    if prefix:
        yield Path(prefix, "include")


def _in_usual_folders() -> Iterator[Path]:
    for pattern in _USUAL:
        yield from sorted(Path("/").glob(pattern[1:]), key=_version, reverse=True)


def _version(folder: Path) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", str(folder))))


def with_headers(include_dirs: Sequence[str]) -> tuple[str, ...]:
    """Returns include folders in which MLIR's files are found, after those that were passed if they have none."""
    if any((Path(folder) / _MARK).is_file() for folder in include_dirs):
        return tuple(include_dirs)
    return (*include_dirs, installed_headers() or str(PRELUDE))


def dialect_file(name: str, include_dirs: Iterable[str], defined: Iterable[str] = ()) -> str:
    """Returns the TableGen file of the operations of an MLIR dialect; `defined` are dialects that need no file.

    Raises: DiagnosticError (E0904) for a dialect that MLIR does not have, and without its files.
    """
    known: dict[str, Path] = {}
    for folder in with_headers(tuple(include_dirs)):
        for dialect, path in _dialects(folder):
            known.setdefault(dialect, path)
    if name in known:
        return str(known[name])
    built_in = list(defined)
    if name in built_in:
        message = f"the dialect '{name}' is built in and needs no file"
        raise DiagnosticError(Diagnostic(UNKNOWN_REFERENCE, message, help=f"leave out '--dialect {name}'"))
    message = f"there is neither a file nor a dialect named '{name}'"
    dialects = f"dialects: {', '.join(sorted(known))}" if known else f"name a TableGen file. {NOT_INSTALLED}"
    help = did_you_mean(name, [*known, *built_in]) or dialects
    raise DiagnosticError(Diagnostic(UNKNOWN_REFERENCE, message, help=help))


def _dialects(folder: str) -> Iterator[tuple[str, Path]]:
    """Yields the dialects of MLIR's files in a folder with the file of the operations of each."""
    for own in sorted(Path(folder, "mlir", "Dialect").glob("*/IR")):
        operations = own / f"{own.parent.name}Ops.td"
        if operations.is_file():
            for path in sorted(own.glob("*.td")):
                text = path.read_text("utf-8", "replace")
                if re.search(r"\bdef \w+ : Dialect\b", text):
                    yield from ((name, operations) for name in _NAME.findall(text)[:1])
