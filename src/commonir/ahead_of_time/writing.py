"""Writes compiled programs: a folder for C, or a shared library. Old files survive every failure."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from commonir.ahead_of_time.c_example import example
from commonir.ahead_of_time.c_header import CProgram, header, identifiers, needs_math
from commonir.ahead_of_time.compiling import CompiledObject, CompileOptions, compile_functions
from commonir.ahead_of_time.library_file import seal
from commonir.ahead_of_time.linking import SUFFIXES, link
from commonir.base.files import atomic_files, created_folders
from commonir.base.tuples import NamedTuple
from commonir.ir.module import Function
from commonir.llvm.compiler import host_target


class WrittenProgram(NamedTuple):
    """The files of a compiled program, the most important one first, and what their sources say."""

    files: tuple[Path, ...]
    program: CProgram


def default_prefix(output: Path) -> str:
    """Returns the prefix of names for an output: its name as an identifier."""
    return identifiers([output.name.split(".")[0]])[0]


def is_library(output: Path) -> bool:
    """Returns whether the name of an output is that of a shared library."""
    return output.suffix.lower() in SUFFIXES


def write_compiled(functions: Sequence[Function], output: Path, options: CompileOptions) -> WrittenProgram:
    """Compiles functions of a lowered program, and writes a library, or a folder with C sources.

    Raises: DiagnosticError (E0705, E0707, E0720, E08xx).
    """
    if is_library(output):
        return _write_library(functions, output, options._replace(is_shared=True))
    compiled = compile_functions(functions, options)
    p = options.prefix
    contents: dict[str, Iterable[bytes | memoryview]] = {
        f"{p}.o": [compiled.data],
        f"{p}.h": [header(compiled.program).encode()],
        "main.c": [example(compiled.program).encode()],
    }
    if compiled.program.takes_weights:
        contents[f"{p}.weights"] = compiled.weights.parts()
    with created_folders(output):
        return _written(compiled, {output / name: parts for name, parts in contents.items()})


def _write_library(functions: Sequence[Function], output: Path, options: CompileOptions) -> WrittenProgram:
    weights = output.with_suffix(".weights")
    compiled = compile_functions(functions, options, weights.name)
    with tempfile.TemporaryDirectory(prefix="cir-") as folder:
        object_path, linked = Path(folder, f"{options.prefix}.o"), Path(folder, output.name)
        object_path.write_bytes(compiled.data)
        link(object_path, linked, options.target.triple, host_target().triple, needs_math=needs_math(compiled.program))
        seal(linked)
        contents: dict[Path, Iterable[bytes | memoryview]] = {output: [linked.read_bytes()]}
    if compiled.program.takes_weights:
        contents[weights] = compiled.weights.parts()
    return _written(compiled, contents)


def _written(compiled: CompiledObject, contents: dict[Path, Iterable[bytes | memoryview]]) -> WrittenProgram:
    with atomic_files(*contents) as streams:
        for stream, parts in zip(streams, contents.values(), strict=True):
            for part in parts:
                stream.write(part)
    return WrittenProgram(tuple(contents), compiled.program)
