"""A graph of kernels that is ready to run: its code in memory, and buffers for each set of sizes so far."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.runtime.interpreter.evaluation import OutOfRange
from commonir.runtime.kernel_graph.graph import KernelGraph, TensorSpec
from commonir.runtime.kernel_graph.layouts import assign_layouts
from commonir.runtime.native.buffers import ALIGNMENT, Lifetime, arena_of
from commonir.runtime.native.compiler import Library, object_code
from commonir.runtime.native.graph_code import MAIN, code_of
from commonir.runtime.native.target import Target
from commonir.runtime.values import compute_dtype
from commonir.symbolic import evaluate

Array = NDArray[Any]

MAX_SIZES = 8
"""The sets of sizes for which buffers are kept."""


class _Buffers(NamedTuple):
    """Memory for one set of sizes: the table of addresses, with those of inputs and outputs still open."""

    table: Array
    sizes: Array
    arena: Array
    shapes: Mapping[str, tuple[int, ...]]


class CompiledGraph:
    """A graph as machine code. One thread at a time may run it."""

    def __init__(self, graph: KernelGraph, target: Target) -> None:
        self._layouts = assign_layouts(graph)
        code = code_of(graph, self._layouts, target)
        self._graph = graph
        self._calls = code.calls
        self._symbols = code.symbols
        self._checks = code.checks
        self._numbers = {name: n for n, name in enumerate(code.tensors)}
        self._library = Library([object_code(code.text, target)], target)
        self._main = self._library.function(MAIN, 3)
        used = {*code.tensors, *graph.outputs}
        self._constants = {n: np.ascontiguousarray(a) for n, a in graph.constants.items() if n in used}
        self._computed = [n for n in graph.nodes if n not in graph.outputs]
        self._lifetimes = _lifetimes(graph)
        always = Lifetime(0, len(graph.nodes))
        self._lifetimes.update({n: always for n in self._computed if self._layouts[n].has_border})
        self._buffers: OrderedDict[tuple[int, ...], _Buffers] = OrderedDict()
        self._faults = np.zeros(2, np.int64)

    def run(self, arrays: Sequence[Array], dims: Mapping[str, int]) -> list[Array]:
        """Returns the outputs for arrays of the inputs and values of the symbols.

        Raises: OutOfRange when a position read from data is outside of its tensor.
        """
        buffers = self._buffers_for(tuple([dims[s] for s in self._symbols]))
        inputs = dict(zip(self._graph.inputs, arrays, strict=True))
        outputs = {n: self._output(n, buffers, inputs) for n in self._graph.outputs}
        # Keeps copies alive until the end of the run.
        kept = {n: np.ascontiguousarray(a) for n, a in inputs.items()}
        for name, array in {**kept, **outputs}.items():
            number = self._numbers.get(name)
            if number is not None:
                buffers.table[number] = array.ctypes.data
        self._main(buffers.table.ctypes.data, buffers.sizes.ctypes.data, self._faults.ctypes.data)
        if self._faults[0]:
            self._raise_fault(buffers)
        return list(outputs.values())

    def _raise_fault(self, buffers: _Buffers) -> None:
        number, position = [int(v) for v in self._faults]
        self._faults[:] = 0
        check = self._checks[number - 1]
        size = evaluate(check.size, dict(zip(self._symbols, [int(v) for v in buffers.sizes], strict=True)))
        raise OutOfRange(f"position {position} on axis {check.axis} of '{check.tensor}', which has size {size}")

    def _output(self, name: str, buffers: _Buffers, inputs: Mapping[str, Array]) -> Array:
        if name in self._constants:
            return self._constants[name]
        if name in inputs:
            return inputs[name]
        return np.empty(buffers.shapes[name], compute_dtype(self._graph.spec(name).element))

    def _buffers_for(self, key: tuple[int, ...]) -> _Buffers:
        result = self._buffers.get(key)
        if result is None:
            result = self._buffers[key] = self._new_buffers(key)
            if len(self._buffers) > MAX_SIZES:
                self._buffers.popitem(last=False)
        return result

    def _new_buffers(self, key: tuple[int, ...]) -> _Buffers:
        dims = dict(zip(self._symbols, key, strict=True))
        shapes = {n: _shape(node.spec, dims) for n, node in self._graph.nodes.items()}
        items = {n: compute_dtype(self._graph.spec(n).element).itemsize for n in self._computed}
        sizes = {n: evaluate(self._layouts[n].size, dims) * item for n, item in items.items()}
        assigned = arena_of(sizes, self._lifetimes)
        # Borders are zeros from the start, and nothing else is stored there.
        arena = np.zeros(assigned.size_bytes + 2 * ALIGNMENT, np.uint8)
        start = -(-arena.ctypes.data // ALIGNMENT) * ALIGNMENT
        table = np.full(len(self._numbers), start, np.int64)
        for name, offset in assigned.offsets.items():
            table[self._numbers[name]] = start + offset + evaluate(self._layouts[name].offset, dims) * items[name]
        for name, array in self._constants.items():
            if name in self._numbers:
                table[self._numbers[name]] = array.ctypes.data
        return _Buffers(table, np.array(key, np.int64), arena, shapes)


def _shape(spec: TensorSpec, dims: Mapping[str, int]) -> tuple[int, ...]:
    return tuple([d if isinstance(d, int) else evaluate(d, dims) for d in spec.shape])


def _lifetimes(graph: KernelGraph) -> dict[str, Lifetime]:
    """Returns the steps in which each node's result is needed."""
    out: dict[str, Lifetime] = {}
    for step, node in enumerate(graph.nodes.values()):
        out[node.name] = Lifetime(step, step)
        for name in node.reads:
            if name in out:
                out[name] = Lifetime(out[name].first, step)
    return out
