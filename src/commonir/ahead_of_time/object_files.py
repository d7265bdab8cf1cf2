"""Object files for a named processor: LLVM's part of compiling ahead of time.

Modules of one file are linked, and every function but the entry points becomes internal. What a processor can do is
asked of LLVM: a function is only inlined into one that has all of its features.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Container, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from commonir.ahead_of_time.cpu_check import checked_features
from commonir.base.codes import WRONG_USAGE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.llvm.compiler import emitted, llvm_binding, machine_of, parsed
from commonir.llvm.target import Target, target_of

_TARGETS = ("x86_64-linux-gnu", "aarch64-linux-gnu", "arm64-apple-macosx", "x86_64-pc-windows-msvc")
_PROCESSORS = MappingProxyType(
    {
        "x86_64": ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "skylake-avx512", "znver4"),
        "aarch64": ("generic", "cortex-a76", "neoverse-n1", "neoverse-v1", "apple-m1"),
    }
)
"""Some of LLVM's names, for messages; the first one is the oldest processor of the architecture."""


def named_target(triple: str, cpu: str | None) -> Target:
    """Returns a processor by LLVM's names; without a name of the processor the oldest of its architecture.

    Raises: DiagnosticError (E0901 for names that LLVM does not know, or pointers of less than 64 bits).
    """
    llvm = llvm_binding()
    try:
        chosen = llvm.Target.from_triple(triple)
    except RuntimeError as error:
        raise _unknown(
            "target", triple, ("x86_64-linux-gnu", "aarch64-linux-gnu", "arm64-apple-macosx"), error
        ) from error
    architecture = triple.split("-", maxsplit=1)[0]
    if "64" not in architecture:
        message = f"'{triple}' is not a target of 64 bits"
        raise DiagnosticError(Diagnostic(WRONG_USAGE, message, help="programs are compiled for x86_64 and aarch64"))
    cpu = cpu or _PROCESSORS.get(architecture, _PROCESSORS["aarch64"])[0]
    if not _is_processor(chosen, cpu):
        raise _unknown("processor", cpu, _PROCESSORS.get(architecture, _PROCESSORS["aarch64"]))
    return target_of(triple, cpu, _features_of(triple, cpu))


def _unknown(what: str, name: str, known: Sequence[str], error: Exception | None = None) -> DiagnosticError:
    help = did_you_mean(name, known) or f"such as {', '.join(known)}"
    notes = [] if error is None else [str(error)]
    return DiagnosticError(Diagnostic(WRONG_USAGE, f"LLVM has no {what} named '{name}'", notes=notes, help=help))


def _is_processor(chosen: Any, cpu: str) -> bool:
    """Returns whether LLVM knows a processor: it uses another one in place of it, and only prints that."""
    with tempfile.TemporaryFile() as printed:
        standard = os.dup(2)
        try:
            os.dup2(printed.fileno(), 2)
            chosen.create_target_machine(cpu=cpu)
        finally:
            os.dup2(standard, 2)
            os.close(standard)
        printed.seek(0)
        return b"not a recognized processor" not in printed.read()


def _features_of(triple: str, cpu: str) -> Mapping[str, bool]:
    """Returns which of the features that code may rely on a processor has."""
    features = checked_features(triple)
    callees = [
        f"define internal void @f{n}() #{n + 1} {{\ncall void @g{n}()\nret void\n}}\ndeclare void @g{n}()\n"
        for n in range(len(features))
    ]
    calls = "".join(f"call void @f{n}()\n" for n in range(len(features)))
    attributes = [f'attributes #{n + 1} = {{ "target-features"="+{name}" }}\n' for n, name in enumerate(features)]
    caller = f'define void @all() #0 {{\n{calls}ret void\n}}\nattributes #0 = {{ "target-cpu"="{cpu}" }}\n'
    module = parsed("".join([*callees, caller, *attributes]))
    llvm, machine = llvm_binding(), machine_of(Target(triple, cpu, "", 128, 16))
    module.triple = triple
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes.getModulePassManager().run(module, passes)
    body = str(module).split("@all()")[1].split("}")[0]
    return {name: f"@g{n}()" in body for n, name in enumerate(features)}


def object_file(
    modules: Mapping[str, str],
    target: Target,
    exported: Container[str],
    plain: Iterable[str] = (),
    *,
    is_shared: bool = False,
) -> bytes:
    """Returns one object file of modules.

    The functions of a module get its name before theirs. `plain` are modules whose names stay. Only `exported` symbols
    are visible to other files; in a library of Windows they are exported.
    """
    linked = parsed("")
    for prefix, text in modules.items():
        module = parsed(text)
        for f in list(module.functions):
            if not f.is_declaration:
                f.name = f"{prefix}{f.name}"
        linked.link_in(module)
    for text in plain:
        linked.link_in(parsed(text))
    for symbol in (*linked.functions, *linked.global_variables):
        if symbol.is_declaration:
            continue
        if symbol.name not in exported:
            symbol.linkage = "internal"
        elif is_shared and "windows" in target.triple:
            symbol.storage_class = "dllexport"
    machine = machine_of(target, reloc="pic", codemodel="default")
    linked.data_layout = str(machine.target_data)
    # The functions for teams of threads, which nothing here calls.
    passes = llvm_binding().create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(linked, llvm_binding().create_pass_builder(machine, llvm_binding().create_pipeline_tuning_options()))
    return emitted(linked, target, machine)
