"""Compiles programs ahead of time, and loads what was compiled."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from commonir.api.opening import Path_
from commonir.api.programs import lower
from commonir.base.output_locks import one_writer
from commonir.dialects.mlir.function_operations import FunctionOp
from commonir.ir.module import Function, Module
from commonir.reports import Compilation, FileEntry

if TYPE_CHECKING:
    from commonir.ahead_of_time.loading import CompiledLibrary


def compile(
    module: Module,
    path: Path_,
    *,
    functions: Iterable[str] | None = None,
    sizes: Mapping[str, int] | None = None,
    name: str | None = None,
    target: str | None = None,
    cpu: str | None = None,
    embed: bool = False,
    static_workspace: bool = False,
) -> Compilation:
    """Compiles functions of a program to machine code that needs no Python, and returns what was written.

    A path that ends in `.so`, `.dylib` or `.dll` is a shared library, which `load_compiled` also runs; any other one is
    a folder, which gets an object file, a C header, the weights and an example in C. `functions` are all public ones by
    default. `sizes` are the largest values of dynamic dims, where the program states none. `name` begins the names of
    all symbols of C, by default that of the path. `target` is a system, such as `aarch64-linux-gnu`, and `cpu` a
    processor by LLVM's name; by default they are those of this machine. With `embed` the object has the weights, with
    `static_workspace` the memory for intermediate tensors.

    Raises: DiagnosticError (E0705 without llvmlite or a linker, E0707 for a size without a limit, E0720 for what cannot
    be compiled, E08xx when it cannot be written).
    """
    from commonir.ahead_of_time.compiling import CompileOptions, chosen_target  # noqa: PLC0415
    from commonir.ahead_of_time.cpu_check import enabled_features  # noqa: PLC0415
    from commonir.ahead_of_time.writing import default_prefix, write_compiled  # noqa: PLC0415

    output = Path(path)
    chosen = chosen_target(target, cpu)
    lowered = lower(module, defer=True)
    options = CompileOptions(name or default_prefix(output), chosen, sizes or {}, embed, static_workspace)
    with one_writer(output):
        written = write_compiled(_compiled_functions(lowered, functions), output, options)
    program = written.program
    return Compilation(
        os.fspath(path),
        tuple([FileEntry(str(p), p.stat().st_size) for p in written.files]),
        tuple([f.entry.name for f in program.functions]),
        program.target.triple,
        program.target.cpu,
        enabled_features(program.target),
        program.workspace_bytes,
        program.undefined,
    )


def _compiled_functions(lowered: Module, names: Iterable[str] | None) -> list[Function]:
    """Returns the functions of some names, by default all public ones, the entry function first.

    Operations that consist of loops are expanded in them.
    """
    from commonir.runtime.nesting import with_expansions  # noqa: PLC0415

    if names is None:
        private = ("private", "nested")
        found = [
            f.symbol_name
            for f in lowered.defined_functions.values()
            if not (isinstance(f, FunctionOp) and f.sym_visibility is not None and f.sym_visibility.value in private)
        ]
        names = sorted(found, key=lambda n: n != lowered.entry)
    else:
        names = list(names)
    for n in names:
        lowered = with_expansions(lowered, n)
    return [lowered.function(n) for n in names]


def load_compiled(path: Path_) -> CompiledLibrary:
    """Loads a shared library that `compile` has written. Its `run` takes and returns arrays by name; it needs no
    compiler.

    Raises: DiagnosticError (E0721) for another file, a damaged one, or one for another system or processor.
    """
    from commonir.ahead_of_time.loading import CompiledLibrary  # noqa: PLC0415

    return CompiledLibrary(Path(path).absolute())
