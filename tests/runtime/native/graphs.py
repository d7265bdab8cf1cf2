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
from commonir.ods import Op
from commonir.ods.traits import Terminator
from commonir.runtime.kernel_graph.building import GraphBuilder, NotAKernel
from commonir.runtime.kernel_graph.column_groups import fuse_column_groups
from commonir.runtime.kernel_graph.fusing import fuse_nodes
from commonir.runtime.kernel_graph.graph import KernelGraph
from commonir.runtime.kernel_graph.layouts import assign_layouts
from commonir.runtime.kernel_graph.splitting import split_folds
from commonir.runtime.kernel_graph.strips import use_strips
from commonir.runtime.kernel_graph.window_strips import use_window_strips
from commonir.runtime.native.compiling import constants_of
from commonir.runtime.native.graph_code import code_of
from commonir.runtime.native.program import MAIN
from commonir.runtime.native.team import Team
from commonir.runtime.native.workers import Workers
from commonir.runtime.values import compute_dtype
from commonir.symbolic import evaluate

from tests.runtime.native.guarded_memory import GuardedMemory, Side

Array = NDArray[Any]


def graph_of(module: Module) -> KernelGraph | None:
    """Returns the fused graph of the main function; None where it has operations that are not kernels."""
    function = module.main
    builder = GraphBuilder()
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
    fuse_nodes(builder.graph)
    fuse_column_groups(builder.graph)
    split_folds(builder.graph)
    return builder.graph


def run_guarded(
    graph: KernelGraph,
    target: Target,
    arrays: Mapping[str, Array],
    dims: Mapping[str, int],
    side: Side,
    threads: int = 1,
) -> list[Array]:
    """Returns the outputs; every tensor has memory of its own with pages without access beside it."""
    layouts = assign_layouts(graph)
    use_strips(graph, layouts)
    use_window_strips(graph, layouts, target.lanes())
    code = code_of(graph, layouts, target)
    constants = constants_of(code)
    memory = GuardedMemory()
    tensors: dict[str, Array] = {}
    table = np.zeros(len(code.tensors), np.int64)
    for n, name in enumerate(code.tensors):
        if name in graph.nodes:
            spec, layout = graph.nodes[name].spec, layouts[name]
            flat = memory.array((evaluate(layout.size, dims),), compute_dtype(spec.element), side)
            if layout.has_border:
                flat[...] = 0
            steps = [evaluate(s, dims) * flat.itemsize for s in layout.strides]
            shape = [evaluate(d, dims) for d in spec.shape]
            start = evaluate(layout.offset, dims)
            tensors[name] = np.lib.stride_tricks.as_strided(flat[start:], shape, steps)
        elif name in constants:
            tensors[name] = memory.copy(np.ascontiguousarray(constants[name]), side)
        else:
            tensors[name] = memory.copy(arrays[name], side)
        table[n] = tensors[name].ctypes.data
    sizes = np.array([dims[s] for s in code.symbols], np.int64)
    faults = np.zeros(2, np.int64)
    library = loaded_code(object_code(code.text, target), target)
    scratch_bytes = max([evaluate(d, dims) for d in code.scratch], default=0)
    scratch = memory.array((threads * scratch_bytes,), np.dtype(np.uint8), side)
    if threads == 1:
        library.function(MAIN, 5)(table.ctypes.data, sizes.ctypes.data, faults.ctypes.data, scratch.ctypes.data, 0)
    else:
        arguments = (table.ctypes.data, faults.ctypes.data, scratch.ctypes.data, scratch_bytes, 0)
        Team(library, len(sizes), Workers()).run(arguments, sizes, threads)
    assert not faults.any()
    return [_result(name, tensors, graph, arrays) for name in graph.outputs]


def _result(name: str, tensors: Mapping[str, Array], graph: KernelGraph, arrays: Mapping[str, Array]) -> Array:
    if name in tensors:
        return np.array(tensors[name])
    return graph.constants[name] if name in graph.constants else arrays[name]


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
