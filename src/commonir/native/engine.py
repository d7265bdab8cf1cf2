"""The native engine: graphs of kernels as machine code, compiled once for all sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from commonir.base.codes import MISSING_PACKAGE
from commonir.base.diagnostics import DiagnosticError
from commonir.base.plugins import warn
from commonir.ir.module import Module
from commonir.llvm.compiler import host_target
from commonir.llvm.scalar_functions import NotCompiled
from commonir.native.compiled_graph import CompiledGraph
from commonir.native.compiling import compiled
from commonir.native.kernels.expression_code import missing_code
from commonir.native.products.pair_products import PAIRS
from commonir.native.threads.workers import Workers, available_threads
from commonir.notation import Expr
from commonir.runtime.engine import DEFAULT_OPTIONS, EngineOptions, OperationTime
from commonir.runtime.kernel_graph.control import GraphProgram
from commonir.runtime.kernel_graph.execution import GraphExecutable
from commonir.runtime.kernel_graph.timing import RunTimes
from commonir.runtime.nesting import with_expansions
from commonir.runtime.seeding import with_seeds

Array = NDArray[Any]


class NativeEngine:
    """Runs programs as machine code."""

    name = "native"
    uses_communicator = True

    def __init__(self, *, falls_back: bool = False) -> None:
        self._falls_back = falls_back
        self._workers = Workers()

    def prepare(
        self, module: Module, function: str | None = None, options: EngineOptions = DEFAULT_OPTIONS
    ) -> GraphExecutable:
        """Prepares a function; see `Engine`."""
        prepared = with_expansions(with_seeds(module, options.seed, function), function).function(function)
        threads = min(options.threads, available_threads())
        code = MachineCode(options._replace(threads=threads), self._workers, falls_back=self._falls_back)
        return GraphExecutable(prepared, options, code)

    def operation_times(
        self, module: Module, function: str | None, inputs: Mapping[str, Array], options: EngineOptions, repeat: int
    ) -> Sequence[OperationTime]:
        """Returns the times of kernels, and of operations that run alone, in ordinary runs; see `TimingEngine`."""
        executable = self.prepare(module, function, options)
        executable.run(inputs)
        executable.times = times = RunTimes()
        for _ in range(repeat):
            times.start_run()
            executable.run(inputs)
        return times.operation_times()


class MachineCode:
    """Compiles programs for this machine, to run in some threads; see `BackEnd`."""

    def __init__(self, options: EngineOptions, workers: Workers, *, falls_back: bool = False) -> None:
        self._options = options
        self._workers = workers
        self._falls_back = falls_back
        # Memory for sizes that change is larger than they need.
        self.follows_data = options.memory_limit_bytes is None

    def missing(self, body: Expr) -> str:
        """Returns the part of the expression of a kernel that has no machine code, "" if all has."""
        return missing_code(body)

    def prepare(self, program: GraphProgram) -> CompiledGraph | None:
        """Returns a program as machine code; None for what the code generator does not know."""
        try:
            options = self._options
            target = host_target()._replace(fast_math=options.fast_math)
            if target.fast_math == "bf16" and not target.has(PAIRS):
                warn("this processor has no products of bfloat16; those of single precision are used")
            code = compiled(program, target)
            return CompiledGraph(code, options.threads, self._workers, options.memory_limit_bytes)
        except NotCompiled:
            return None
        except DiagnosticError as error:
            if not self._falls_back or any(d.code is not MISSING_PACKAGE for d in error.diagnostics):
                raise
            (finding, *_) = error.diagnostics
            warn(f"programs run without a compiler: {'; '.join([finding.message, *finding.notes])}")
            return None


ENGINE = NativeEngine()

AUTOMATIC = NativeEngine(falls_back=True)
"""The engine where none is named: where llvmlite does not work, it runs operation by operation."""
