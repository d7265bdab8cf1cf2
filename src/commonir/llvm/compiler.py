"""LLVM through llvmlite: text to object code, and object code to functions in memory.

llvmlite is an optional package (extra `native`), imported here only. LLVM ends the process when it generates code from
malformed IR, so every module is verified first.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

from commonir.base.codes import MISSING_PACKAGE
from commonir.base.diagnostics import Diagnostic, DiagnosticError, InternalError
from commonir.llvm.compiled_cache import cached_object_code
from commonir.llvm.target import Target, target_of

_PASSES = ("sroa", "simplify_cfg", "loop_rotate", "instruction_combine", "new_gvn", "aggressive_dce", "simplify_cfg")
"""The passes before code is generated. Vectors, unrolled loops and what moves out of loops are chosen before: LLVM's O2
takes twice as long, for code that is as fast within 3 % on eight networks.
"""


LLVM_VERSION = 22
"""The version whose text form is generated; that of other versions differs."""


@cache
def llvm_binding() -> Any:
    """Returns the binding of LLVM, which is untyped, ready for all processors. Raises: DiagnosticError (E0705)."""
    try:
        llvm: Any = import_module("llvmlite.binding")
    except (ImportError, OSError, RuntimeError) as error:
        # Its library may be one for another system.
        raise _no_llvm(str(error)) from error
    if llvm.llvm_version_info[0] != LLVM_VERSION:
        found = ".".join(map(str, llvm.llvm_version_info))
        raise _no_llvm(f"it has LLVM {found}; code is generated for LLVM {LLVM_VERSION}")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.initialize_native_asmparser()
    return llvm


def _no_llvm(reason: str) -> DiagnosticError:
    message = "the engine 'native' needs the package llvmlite"
    help = "python -m pip install 'commonir[native]'"
    return DiagnosticError(Diagnostic(MISSING_PACKAGE, message, notes=[reason], help=help))


@cache
def host_target() -> Target:
    """Returns the processor that this process runs on. Raises: DiagnosticError (E0705 without llvmlite)."""
    llvm = llvm_binding()
    return target_of(llvm.get_process_triple(), llvm.get_host_cpu_name(), dict(llvm.get_host_cpu_features()))


def object_code(text: str, target: Target) -> bytes:
    """Returns the object code of a module, from the cache if it is there.

    Raises: InternalError when the text is not a valid module.
    """
    generator = f"LLVM {llvm_binding().llvm_version_info} {_PASSES} no strength reduction {_memory_options(target)}"
    return cached_object_code(text, target, generator, lambda: emitted(parsed(text), target, machine_of(target)))


def parsed(text: str) -> Any:
    """Returns LLVM's module of a text. Raises: InternalError when it is not valid."""
    try:
        module = llvm_binding().parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise InternalError(f"generated code is not valid: {error}") from error
    return module


def emitted(module: Any, target: Target, machine: Any) -> bytes:
    """Returns the object code of a module, which is optimized in place."""
    llvm = llvm_binding()
    module.triple = target.triple
    passes = llvm.create_new_module_pass_manager()
    for name in _PASSES:
        getattr(passes, f"add_{name}_pass")()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    with _without_strength_reduction():
        return machine.emit_object(module)


@contextmanager
def _without_strength_reduction() -> Generator[None]:
    """Generates code without a pass over addresses in loops, which takes 40 % of the time: it weighs all ways to step
    through them, and tiles have many that are simple. Code is as fast within 2 % on four networks.

    LLVM has this as an option of the process only.
    """
    llvm_binding().set_option("commonir", "--disable-lsr=true")
    try:
        yield
    finally:
        llvm_binding().set_option("commonir", "--disable-lsr=false")


def machine_of(target: Target, **options: str) -> Any:
    """Returns LLVM's code generator for a processor; for code in memory by default."""
    chosen = llvm_binding().Target.from_triple(target.triple)
    options = {**_memory_options(target), **options}
    return chosen.create_target_machine(cpu=target.cpu, features=target.features, opt=2, **options)


def _memory_options(target: Target) -> dict[str, str]:
    """Returns how code refers to addresses: where it becomes an image, by distances."""
    is_image = target.triple.startswith("x86_64") and "linux" in target.triple
    return {"reloc": "pic", "codemodel": "small"} if is_image else {"codemodel": "jitdefault"}


class Library:
    """Machine code in memory: its functions can be called while it lives."""

    def __init__(self, objects: Iterable[bytes], target: Target) -> None:
        llvm = llvm_binding()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine_of(target))
        for data in objects:
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(data))
        self._engine.finalize_object()

    def function(self, name: str, parameters: int) -> Callable[..., None]:
        """Returns a function whose parameters are addresses and integers of 64 bits."""
        prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * parameters)
        return prototype(self._engine.get_function_address(name))
