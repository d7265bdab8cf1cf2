"""The `iree` engine, which compiles programs with IREE for the CPU, from linalg in MLIR text.

IREE is an optional package (extra `iree`), imported here only. Compiling takes seconds to minutes; a run takes little.
IREE fuses operations, and sums in any order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from commonir.base.arrays import dtype_of
from commonir.base.codes import EXECUTION_FAILED, MISSING_PACKAGE, UNSUPPORTED_EXECUTION
from commonir.base.collecting import end_with_search
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.conversions.core_to_linalg import core_to_linalg
from commonir.ir.module import Function, Module
from commonir.ir.types import TensorType, Type
from commonir.passes.canonicalize import without_inner_collections
from commonir.passes.select_function import select_function
from commonir.passes.thread_globals import Threaded, thread_globals
from commonir.runtime.binding.inputs import bind
from commonir.runtime.engine import DEFAULT_OPTIONS, EngineOptions, Executable, OperationTime
from commonir.runtime.interpreter.control import Globals, WithState
from commonir.runtime.seeding import with_seeds
from commonir.text.printer import print_lines

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]

_TARGET = "llvm-cpu"
_FLAGS = ("--iree-llvmcpu-target-cpu=host",)


class IreeEngine:
    """Runs programs compiled by IREE for this CPU."""

    name = "iree"

    def prepare(
        self, module: Module, function: str | None = None, options: EngineOptions = DEFAULT_OPTIONS
    ) -> Executable:
        """Compiles a function.

        Raises: DiagnosticError (E0705 without IREE, E0601 for what linalg cannot express, E0709 if IREE rejects the
            program or an option is not supported).
        """
        compiler, runtime = _package("iree.compiler"), _package("iree.runtime")
        # The library prints leaked objects to standard error at exit unless they are collected.
        end_with_search()
        for limit, what in ((options.memory_limit_bytes, "memory"), (options.time_limit_seconds, "time")):
            if limit is not None:
                message = f"the engine 'iree' has no {what} limit"
                raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, help="use the engine 'numpy'"))
        name = module.function(function).symbol_name
        passed, states = thread_globals(without_inner_collections(with_seeds(module, options.seed, name)), name)
        chosen = passed.function(name)
        converted = core_to_linalg(select_function(passed, name))
        compiled = _compiled(compiler, "\n".join(print_lines(converted, elide=None)))
        context = runtime.SystemContext(config=runtime.Config("local-sync" if options.threads == 1 else "local-task"))
        context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, compiled))
        return _Prepared(context.modules.module[name], module.function(name), chosen, states)

    def operation_times(
        self, module: Module, function: str | None, inputs: Mapping[str, Array], options: EngineOptions, repeat: int
    ) -> Sequence[OperationTime]:
        """Returns nothing: operations are compiled into each other. See `TimingEngine`."""
        del module, function, inputs, options, repeat
        return ()


def _package(name: str) -> Any:
    """Returns an imported package, which is untyped.

    Raises: DiagnosticError (E0705).
    """
    try:
        return import_module(name)
    except ImportError as error:
        message = "the engine 'iree' needs the packages iree-base-compiler and iree-base-runtime"
        help = "python -m pip install 'commonir[iree]'"
        raise DiagnosticError(Diagnostic(MISSING_PACKAGE, message, notes=[str(error)], help=help)) from error


def _compiled(compiler: Any, text: str) -> bytes:
    """Returns the compiled program. Raises: DiagnosticError (E0709)."""
    try:
        return compiler.compile_str(text, target_backends=[_TARGET], extra_args=list(_FLAGS))
    except compiler.CompilerToolError as error:
        reasons = [line for line in str(error).splitlines() if "error:" in line]
        message = "IREE cannot compile the program"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, notes=reasons[:3])) from error


class _Prepared(WithState):
    """A compiled function, and the states that are passed through it."""

    def __init__(self, call: Any, function: Function, threaded: Function, states: tuple[Threaded, ...]) -> None:
        super().__init__(Globals())
        self._call = call
        self._function = function
        self._inputs = tuple([v.name or f"input{n}" for n, v in enumerate(threaded.inputs)])
        self._names = tuple(threaded.output_names)
        self._types = tuple([v.type for v in threaded.outputs])
        self._states = states

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the outputs by name, for inputs by name.

        Raises: DiagnosticError (E0701 to E0703, E0707 when inputs do not fit; E0708 when the program fails).
        """
        arrays = bind(self._function, inputs, check_lower_bounds=False).arrays
        feeds = dict(zip(self._inputs, arrays, strict=False))
        feeds |= {s.input: self._globals.load(s.variable) for s in self._states}
        result = dict(zip(self._names, self._outputs([feeds[name] for name in self._inputs]), strict=True))
        for s in self._states:
            self._globals.store(s.variable, result.pop(s.output))
        return result

    def _outputs(self, arrays: Sequence[Array]) -> list[Array]:
        try:
            returned = self._call(*[_signless(a) for a in arrays])
        except (RuntimeError, ValueError) as error:
            message = "IREE failed on these values"
            reason = str(error).splitlines()[0]
            raise DiagnosticError(Diagnostic(EXECUTION_FAILED, message, notes=[reason])) from error
        values: Sequence[Any] = returned if len(self._types) != 1 else (returned,)
        return [_typed(v.to_host(), t) for v, t in zip(values, self._types, strict=True)]


def _signless(a: Array) -> Array:
    """Returns an array with its unsigned integers viewed as signed: the integers of MLIR programs are signless."""
    return a.view(f"i{a.dtype.itemsize}") if a.dtype.kind == "u" else a


def _typed(array: Array, type: Type) -> Array:
    """Returns an array viewed with the dtype of the declared type."""
    if not isinstance(type, TensorType):
        return array
    dtype = dtype_of(type.element.name)
    return array if array.dtype == dtype else array.view(dtype)


ENGINE = IreeEngine()
