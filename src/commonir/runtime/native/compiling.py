"""Compiles graphs of kernels: layouts, code, and object code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import release_pages
from commonir.base.tuples import NamedTuple
from commonir.llvm.compiler import object_code
from commonir.llvm.target import Target
from commonir.runtime.kernel_graph.buffers import ALIGNMENT, LARGE_PAGES, Lifetime
from commonir.runtime.kernel_graph.column_groups import fuse_column_groups
from commonir.runtime.kernel_graph.fusing import fuse_nodes
from commonir.runtime.kernel_graph.graph import KernelGraph
from commonir.runtime.kernel_graph.layouts import MemoryLayout, assign_layouts
from commonir.runtime.kernel_graph.splitting import split_folds
from commonir.runtime.kernel_graph.strips import use_strips
from commonir.runtime.kernel_graph.window_strips import use_window_strips
from commonir.runtime.native.graph_code import GraphCode, code_of
from commonir.runtime.native.program import CompiledProgram, Intermediate, ProgramTensor
from commonir.runtime.values import compute_dtype

POOL_BYTES = 1 << 25
"""Bytes of a piece of memory for constants."""


class GeneratedProgram(NamedTuple):
    """A program whose object code is still to be made, and the text of its module."""

    text: str
    program: CompiledProgram


def compiled(graph: KernelGraph, target: Target) -> CompiledProgram:
    """Returns a graph as machine code; its nodes are fused. Raises: NotCompiled."""
    generated = generated_program(graph, target)
    return generated.program._replace(object_code=object_code(generated.text, target))


def generated_program(graph: KernelGraph, target: Target) -> GeneratedProgram:
    """Returns the code of a graph, whose nodes are fused. Raises: NotCompiled."""
    fuse_nodes(graph)
    fuse_column_groups(graph)
    split_folds(graph)
    layouts = assign_layouts(graph)
    use_strips(graph, layouts)
    use_window_strips(graph, layouts, target.lanes())
    code = code_of(graph, layouts, target)
    program = CompiledProgram(
        target=target,
        object_code=b"",
        symbols=code.symbols,
        table=code.tensors,
        inputs=tuple([_tensor(graph, name) for name in graph.inputs]),
        outputs=tuple([_tensor(graph, name) for name in graph.outputs]),
        intermediates=_intermediates(graph, layouts),
        constants=constants_of(graph, code),
        scratch=code.scratch,
        checks=code.checks,
        calls=code.calls,
    )
    return GeneratedProgram(code.text, program)


def constants_of(graph: KernelGraph, code: GraphCode) -> dict[str, NDArray[Any]]:
    """Returns the constants that the code reads and those that are outputs, each as it is read."""
    out = {n: _contiguous(graph.constants[n]) for n in graph.outputs if n in graph.constants}
    pool = _Pool()
    for name, form in code.forms.items():
        sources = [graph.constants[name] for name in form.sources]
        array = _contiguous(form.make(*sources))
        is_copy = bool(form.text) and array.flags.writeable
        out[name] = pool.placed(array) if is_copy else array
        if is_copy:
            for source in sources:
                release_pages(source)
    return out


class _Pool:
    """Memory for constants in large pieces. Each lies in few pages, whose addresses the processor finds faster."""

    def __init__(self) -> None:
        self._piece = np.empty(0, np.uint8)
        self._used = 0

    def placed(self, array: NDArray[Any]) -> NDArray[Any]:
        """Returns a copy of an array in a piece; a large array as it is."""
        if array.nbytes >= LARGE_PAGES:
            return array
        start = self._used + -(self._piece.ctypes.data + self._used) % ALIGNMENT
        if start + array.nbytes > self._piece.size:
            self._piece = np.empty(POOL_BYTES, np.uint8)
            start = -self._piece.ctypes.data % ALIGNMENT
        self._used = start + array.nbytes
        place = self._piece[start : self._used].view(array.dtype).reshape(array.shape)
        place[...] = array
        return place


def _contiguous(array: NDArray[Any]) -> NDArray[Any]:
    """Returns an array in row-major order; numpy's function would give a scalar an axis."""
    return np.ascontiguousarray(array).reshape(array.shape)


def _tensor(graph: KernelGraph, name: str) -> ProgramTensor:
    constant = graph.constants.get(name)
    if constant is not None:
        return ProgramTensor(name, constant.dtype, constant.shape)
    spec = graph.spec(name)
    return ProgramTensor(name, compute_dtype(spec.element), spec.shape)


def _intermediates(graph: KernelGraph, layouts: Mapping[str, MemoryLayout]) -> tuple[Intermediate, ...]:
    """Returns the nodes that are not outputs. Nothing else may be stored in a border, so its memory is kept always."""
    lifetimes = _lifetimes(graph)
    always = Lifetime(0, len(graph.nodes))
    out: list[Intermediate] = []
    # For each layout with a border the memories so far, and the last step that needs each.
    bordered: dict[tuple[MemoryLayout, np.dtype[Any]], dict[str, int]] = {}
    for name in [n for n in graph.nodes if n not in graph.outputs]:
        layout, dtype, lifetime = layouts[name], compute_dtype(graph.spec(name).element), lifetimes[name]
        memory = name
        if layout.has_border:
            known = bordered.setdefault((layout, dtype), {})
            memory = next((m for m, last in known.items() if last < lifetime.first), name)
            known[memory] = lifetime.last
            lifetime = always
        out.append(Intermediate(name, dtype, layout.size, layout.offset, lifetime, layout.has_border, memory))
    return tuple(out)


def _lifetimes(graph: KernelGraph) -> dict[str, Lifetime]:
    """Returns the steps in which each node's result is needed."""
    out: dict[str, Lifetime] = {}
    for step, node in enumerate(graph.nodes.values()):
        out[node.name] = Lifetime(step, step)
        for name in node.reads:
            if name in out:
                out[name] = Lifetime(out[name].first, step)
    return out
