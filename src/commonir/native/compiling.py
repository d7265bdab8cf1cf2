"""Compiles graphs of kernels: layouts, code, and object code."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import release_pages
from commonir.base.tuples import NamedTuple
from commonir.llvm.compiler import object_code
from commonir.llvm.scalar_functions import NotCompiled
from commonir.llvm.target import Target
from commonir.native.byte_layouts import use_bytes
from commonir.native.control_code import limit_of
from commonir.native.graph_code import GraphCode, ProgramWriter
from commonir.native.lifetimes import MemoryOfProgram
from commonir.native.narrow_layouts import use_narrow_numbers
from commonir.native.products.integer_products import multiplies_integers
from commonir.native.program import CompiledProgram, LimitedSize, ProgramTensor
from commonir.runtime.kernel_graph.buffers import ALIGNMENT, PAGE_BYTES
from commonir.runtime.kernel_graph.column_groups import fuse_column_groups
from commonir.runtime.kernel_graph.control import GraphProgram, Loop, walk_parts
from commonir.runtime.kernel_graph.fusing import fuse_nodes
from commonir.runtime.kernel_graph.graph import KernelGraph
from commonir.runtime.kernel_graph.joined_memory import join_in_place
from commonir.runtime.kernel_graph.layouts import MemoryLayout, assign_layouts
from commonir.runtime.kernel_graph.quantized_factors import use_integer_products
from commonir.runtime.kernel_graph.splitting import split_folds
from commonir.runtime.kernel_graph.strips import use_strips
from commonir.runtime.kernel_graph.window_splitting import split_windows
from commonir.runtime.kernel_graph.window_strips import use_window_strips
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim, element_count, symbols

POOL_BYTES = 1 << 25
"""Bytes of a piece of memory for constants."""


class GeneratedProgram(NamedTuple):
    """A program whose object code is still to be made, and the text of its module."""

    text: str
    program: CompiledProgram


def compiled(program: GraphProgram, target: Target) -> CompiledProgram:
    """Returns a program as machine code; the nodes of its graphs are fused. Raises: NotCompiled."""
    generated = generated_program(program, target)
    return generated.program._replace(object_code=object_code(generated.text, target))


def generated_program(program: GraphProgram, target: Target) -> GeneratedProgram:
    """Returns the code of a program; the nodes of its graphs are fused. Raises: NotCompiled."""
    writer, changing = ProgramWriter(program, target), program.changing()
    for graph in program.graphs():
        for name in [n for n in graph.inputs if n in writer.constants]:
            # A graph before this one has computed it while fusing.
            graph.hold(name, writer.constants[name])
        before = list(dict.fromkeys(graph.outputs))
        graph.outputs = list(before)
        fuse_nodes(graph)
        fuse_column_groups(graph)
        if multiplies_integers(target):
            use_integer_products(graph)
        split_folds(graph)
        split_windows(graph)
        layouts = layouts_for(graph, target, changing)
        writer.add(graph, layouts, dict(zip(before, graph.outputs, strict=True)))
    code = writer.code()
    memory = MemoryOfProgram(program, code)
    result = CompiledProgram(
        target=target,
        object_code=b"",
        symbols=code.symbols,
        table=code.tensors,
        inputs=tuple([_tensor(program, name, name, code, memory) for name in program.inputs]),
        outputs=tuple([_tensor(program, name, code.tensor(name), code, memory) for name in program.outputs]),
        intermediates=memory.intermediates,
        constants=constants_of(code),
        scratch=code.scratch,
        checks=code.checks,
        calls=code.calls,
        has_loops=any(isinstance(part, Loop) for part in walk_parts(program.parts)),
        changing=tuple([LimitedSize(c.symbol, limit_of(c.symbol), c.initial, c.most) for c in changing.values()]),
        counts=_changing_counts(program, changing),
    )
    return GeneratedProgram(code.text, result)


def _changing_counts(program: GraphProgram, changing: Collection[str]) -> tuple[Dim, ...]:
    """Returns the numbers of elements of tensors that depend on sizes that change."""
    counts = [element_count(spec.shape) for spec in program.specs.values()]
    return tuple(dict.fromkeys([n for n in counts if any(s in changing for s in symbols(n))]))


def layouts_for(graph: KernelGraph, target: Target, changing: Collection[str] = ()) -> dict[str, MemoryLayout]:
    """Returns the layouts of all inputs and nodes of a graph, whose nodes are computed in strips where that pays.

    Where tensors begin depends on no size that is `changing`. Raises: NotCompiled.
    """
    layouts = assign_layouts(graph)
    use_strips(graph, layouts)
    use_window_strips(graph, layouts, target.lanes())
    use_bytes(graph, layouts, target)
    use_narrow_numbers(graph, layouts, target)
    join_in_place(graph, layouts, changing)
    for name, layout in layouts.items():
        if changing and layout.has_border and any(s in changing for s in symbols(layout.size)):
            raise NotCompiled(f"{name}: a border around a tensor whose size changes")
    return layouts


def constants_of(code: GraphCode) -> dict[str, NDArray[Any]]:
    """Returns the constants that the code reads and those that are outputs, each as it is read."""
    out = {n: _contiguous(code.constants[n]) for n in code.outputs if n in code.constants}
    pool = _Pool()
    for name, form in code.forms.items():
        sources = [code.constants[name] for name in form.sources]
        array = _contiguous(form.make(*sources))
        is_copy = bool(form.text) and array.flags.writeable
        out[name] = pool.placed(array) if is_copy else array
        if is_copy:
            for source in sources:
                release_pages(source)
    return out


class _Pool:
    """Memory for constants in large pieces, that is in few large pages, whose addresses the processor finds faster."""

    def __init__(self) -> None:
        self._piece = np.empty(0, np.uint8)
        self._used = 0

    def placed(self, array: NDArray[Any]) -> NDArray[Any]:
        """Returns a copy of an array in a piece; one that is as large as a piece is returned as it is.

        Of an array of its own a page or two at the ends would be small ones, a quarter of 8 MiB.
        """
        if array.nbytes >= POOL_BYTES:
            return array
        start = -(-self._used // ALIGNMENT) * ALIGNMENT
        if start + array.nbytes > self._piece.size:
            memory = np.empty(POOL_BYTES + PAGE_BYTES, np.uint8)
            self._piece = memory[-memory.ctypes.data % PAGE_BYTES :][:POOL_BYTES]
            start = 0
        self._used = start + array.nbytes
        place = self._piece[start : self._used].view(array.dtype).reshape(array.shape)
        place[...] = array
        return place


def _contiguous(array: NDArray[Any]) -> NDArray[Any]:
    """Returns an array in row-major order; numpy's function would give a scalar an axis."""
    return np.ascontiguousarray(array).reshape(array.shape)


def _tensor(program: GraphProgram, name: str, stored: str, code: GraphCode, memory: MemoryOfProgram) -> ProgramTensor:
    constant, spec = code.constants.get(stored), program.specs[name]
    dtype = compute_dtype(spec.element) if constant is None else constant.dtype
    return ProgramTensor(stored, dtype, spec.shape, memory.lifetime(stored))
