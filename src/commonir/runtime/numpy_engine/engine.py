"""The engine for single runs: graphs of kernels as numpy calls, planned once for each set of sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakSet

from numpy.typing import NDArray

from commonir.ir.module import Function, Module
from commonir.notation import Expr
from commonir.runtime.blas import limited_threads
from commonir.runtime.engine import DEFAULT_OPTIONS, EngineOptions
from commonir.runtime.kernel_graph.control import GraphProgram
from commonir.runtime.kernel_graph.execution import GraphExecutable
from commonir.runtime.kernel_graph.fusing import Fusion, fuse_nodes
from commonir.runtime.nesting import with_expansions
from commonir.runtime.numpy_engine.graph_plan import PlannedGraph
from commonir.runtime.seeding import with_seeds

Array = NDArray[Any]


class NumpyEngine:
    """Runs programs with numpy."""

    name = "numpy"
    uses_communicator = True

    def prepare(
        self, module: Module, function: str | None = None, options: EngineOptions = DEFAULT_OPTIONS
    ) -> NumpyExecutable:
        """Prepares a function; see `Engine`."""
        prepared = with_expansions(with_seeds(module, options.seed, function), function)
        return NumpyExecutable(prepared.function(function), options)


class NumpyExecutable(GraphExecutable):
    """A prepared function, whose runs limit the threads of BLAS."""

    def __init__(self, function: Function, options: EngineOptions) -> None:
        self._calls = NumpyCalls(options.memory_limit_bytes)
        super().__init__(function, options, self._calls)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the outputs by name; see `Executable`."""
        try:
            with limited_threads(self.options.threads):
                return super().run(inputs)
        finally:
            self._calls.forget()


class NumpyCalls:
    """Plans graphs as numpy calls; see `BackEnd`. A plan is for fixed sizes."""

    follows_data = False

    def __init__(self, memory_limit_bytes: int | None) -> None:
        self._limit = memory_limit_bytes
        self.graphs: WeakSet[PlannedGraph] = WeakSet()

    def forget(self) -> None:
        """Makes all graphs read all of their inputs in the next run."""
        for graph in self.graphs:
            graph.forget()

    def missing(self, body: Expr) -> str:  # noqa: ARG002  the interpreter evaluates what has no numpy calls
        """Returns that all of any expression can be computed."""
        return ""

    def prepare(self, program: GraphProgram) -> PlannedGraph:
        """Returns a graph that is planned when it first runs with some sizes."""
        for graph in program.graphs():
            fuse_nodes(graph, Fusion(epilogues=False, repeats=False))
        result = PlannedGraph(program, self._limit)
        self.graphs.add(result)
        return result


ENGINE = NumpyEngine()
