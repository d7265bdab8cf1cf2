"""Graphs of kernels of one operation, and their code on arrays whose memory is guarded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from commonir.ir.module import Module
from commonir.llvm.code_loading import loaded_code
from commonir.llvm.compiler import host_target, object_code
from commonir.llvm.target import Target, target_of
from commonir.native.compiling import constants_of, layouts_for
from commonir.native.graph_code import code_of
from commonir.native.program import MAIN
from commonir.native.threads.team import Team
from commonir.native.threads.workers import Workers
from commonir.ods import Op
from commonir.ods.traits import Terminator
from commonir.runtime.kernel_graph.building import NotAKernel
from commonir.runtime.kernel_graph.column_groups import fuse_column_groups
from commonir.runtime.kernel_graph.fusing import fuse_nodes
from commonir.runtime.kernel_graph.graph import KernelGraph
from commonir.runtime.kernel_graph.layouts import memory_dtype
from commonir.runtime.kernel_graph.program_building import ProgramBuilder
from commonir.runtime.kernel_graph.quantized_factors import use_integer_products
from commonir.runtime.kernel_graph.splitting import split_folds
from commonir.runtime.kernel_graph.window_splitting import split_windows
from commonir.runtime.limits import OutOfRange
from commonir.symbolic import evaluate

from tests.native.guarded_memory import GuardedMemory, Side

Array = NDArray[Any]


def graph_of(module: Module) -> KernelGraph | None:
    """Returns the fused graph of the main function; None where it has operations that are not kernels."""
    function = module.main
    builder = ProgramBuilder()
    try:
        for v in function.inputs:
            builder.input(v)
        for op in function.body.operations:
            if isinstance(op, Op) and not op.has_trait(Terminator):
                builder.add(op)
    except NotAKernel:
        return None
    for v in function.outputs:
        builder.output(v)
    graph = builder.program().only_graph
    if graph is not None:
        fuse_nodes(graph)
        fuse_column_groups(graph)
        use_integer_products(graph)
        split_folds(graph)
        split_windows(graph)
    return graph


class GuardedCode:
    """The code of a graph, which runs on tensors with memory of their own and pages without access beside it."""

    def __init__(self, graph: KernelGraph, target: Target) -> None:
        self._graph = graph
        self.layouts = layouts_for(graph, target)
        self._code = code_of(graph, self.layouts, target)
        self._constants = constants_of(self._code)
        self._library = loaded_code(object_code(self._code.text, target), target)
        # Of the tensors that lie in no other one.
        self._memories: dict[str, Array] = {}

    def run(self, arrays: Mapping[str, Array], dims: Mapping[str, int], side: Side, threads: int = 1) -> list[Array]:
        """Returns the outputs. Raises: OutOfRange for a position read from data that is outside of its tensor."""
        code, graph = self._code, self._graph
        memory = GuardedMemory()
        tensors: dict[str, Array] = {}
        self._memories = {}
        table = np.zeros(len(code.tensors), np.int64)
        for n, name in enumerate(code.tensors):
            tensors[name] = self._tensor(name, arrays, dims, memory, side)
            table[n] = tensors[name].ctypes.data
        sizes = np.array([dims[s] for s in code.symbols], np.int64)
        faults = np.zeros(2, np.int64)
        scratch_bytes = max([evaluate(d, dims) for d in code.scratch], default=0)
        scratch = memory.array((threads * scratch_bytes,), np.dtype(np.uint8), side)
        at, fault, room = table.ctypes.data, faults.ctypes.data, scratch.ctypes.data
        if threads == 1:
            self._library.function(MAIN, 5)(at, sizes.ctypes.data, fault, room, 0)
        else:
            team = Team(self._library, len(sizes), len(table), threads, Workers())
            team.run((at, fault, room, scratch_bytes, 0), sizes, threads)
        if faults.any():
            raise OutOfRange(f"position {faults[1]}")
        return [self._result(name, tensors, arrays) for name in graph.outputs]

    def _tensor(
        self, name: str, arrays: Mapping[str, Array], dims: Mapping[str, int], memory: GuardedMemory, side: Side
    ) -> Array:
        if name in self._constants:
            return memory.copy(np.ascontiguousarray(self._constants[name]), side)
        if name not in self._graph.nodes:
            return memory.copy(arrays[name], side)
        spec, layout, whole = self._graph.nodes[name].spec, self.layouts[name], self._graph.memory_of(name)
        if whole not in self._memories:
            flat = memory.array((evaluate(layout.size, dims),), memory_dtype(layout, spec.element), side)
            border = self.layouts[whole].border_byte
            if border is not None:
                flat[...] = border
            self._memories[whole] = flat
        flat = self._memories[whole]
        steps = [evaluate(s, dims) * flat.itemsize for s in layout.strides]
        shape = [evaluate(d, dims) for d in spec.shape]
        return np.lib.stride_tricks.as_strided(flat[evaluate(layout.offset, dims) :], shape, steps)

    def _result(self, name: str, tensors: Mapping[str, Array], arrays: Mapping[str, Array]) -> Array:
        if name in tensors:
            return np.array(tensors[name])
        return self._graph.constants[name] if name in self._graph.constants else arrays[name]


def run_guarded(
    graph: KernelGraph,
    target: Target,
    arrays: Mapping[str, Array],
    dims: Mapping[str, int],
    side: Side,
    threads: int = 1,
) -> list[Array]:
    """Returns the outputs; every tensor has memory of its own with pages without access beside it."""
    return GuardedCode(graph, target).run(arrays, dims, side, threads)


Width = Literal["host", "avx2", "narrow"]


def available_widths() -> list[Width]:
    """Returns the widths of vectors that differ on this machine."""
    return ["host", "avx2", "narrow"] if host_target().vector_bits > 256 else ["host", "narrow"]


def of_width(target: Target, width: Width) -> Target:
    """Returns the host, a processor with AVX2 alone, or the host with vectors of 128 bits."""
    match width:
        case "host":
            return target
        case "avx2":
            return target_of(target.triple, "x86-64-v3", {"avx2": True, "bmi2": True, "f16c": True, "fma": True})
        case "narrow":
            return target._replace(vector_bits=128)
