"""Shared libraries from object files, by a linker of the system: a C compiler, or `ld` and those of LLVM."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from commonir.base.codes import CANNOT_WRITE, MISSING_PACKAGE
from commonir.base.diagnostics import Diagnostic, DiagnosticError

SUFFIXES = (".so", ".dylib", ".dll")
"""How names of shared libraries end."""

_SHOWN_LINES = 6


def suffix_for(triple: str) -> str:
    """Returns how the name of a library for a system ends."""
    if "windows" in triple:
        return ".dll"
    return ".dylib" if "apple" in triple else ".so"


def link(object_path: Path, output: Path, triple: str, host: str, *, needs_math: bool) -> None:
    """Links an object file to a shared library.

    Raises: DiagnosticError (E0705 without a linker for the system, E0801 when it fails).
    """
    commands = [c for c in _commands(triple, host, needs_math=needs_math) if shutil.which(c[0])]
    if not commands:
        message = f"no linker for {triple} is installed"
        help = "install clang and lld, or a C compiler for the target; `-o FOLDER/` writes an object file instead"
        raise DiagnosticError(Diagnostic(MISSING_PACKAGE, message, help=help))
    failed: list[str] = []
    for command in commands:
        words = [w.format(object=object_path, output=output, name=output.name) for w in command]
        # The linker of a package must not take options from the environment of ours.
        ended = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603
        if ended.returncode == 0 and output.is_file():
            return
        lines = (ended.stderr or ended.stdout).strip().splitlines()[:_SHOWN_LINES]
        failed += [f"{command[0]}: {line}" for line in lines or [f"exit status {ended.returncode}"]]
    raise DiagnosticError(Diagnostic(CANNOT_WRITE, "the library cannot be linked", notes=failed))


def _commands(triple: str, host: str, *, needs_math: bool) -> list[Sequence[str]]:
    """Returns the command lines that may link a library, best first."""
    architecture = triple.split("-", maxsplit=1)[0]
    math = ["-lm"] if needs_math else []
    plain = ["-shared", "-o", "{output}", "{object}"]
    if "windows" in triple:
        gnu = [[f"{architecture}-w64-mingw32-gcc", *plain]]
        lld = ["lld-link", "/dll", "/noentry", "/nodefaultlib", "/out:{output}", "{object}"]
        return [*gnu, lld] if "gnu" in triple else [lld, *gnu]
    clang = ["clang", f"--target={triple}", "-fuse-ld=lld", *plain, *math]
    if "apple" in triple:
        own = (
            [["cc", "-arch", "arm64", "-dynamiclib", "-o", "{output}", "{object}"]] if sys.platform == "darwin" else []
        )
        return [*own, clang]
    is_here = _same_system(triple, host)
    cc = [[name, *plain, *math] for name in (["cc", "gcc"] if is_here else [f"{architecture}-linux-gnu-gcc"])]
    ld = [] if needs_math else [["ld.lld", *plain], *([["ld", *plain]] if is_here else [])]
    return [*cc, clang, *ld]


def _same_system(triple: str, host: str) -> bool:
    a, b = triple.split("-"), host.split("-")
    return a[0] == b[0] and ("linux" in triple) == ("linux" in host) and os.name == "posix"
