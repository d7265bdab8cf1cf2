"""A program of graphs as numpy calls on fixed arrays, one plan for each set of sizes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import release_pages
from commonir.runtime.interpreter.array_functions import convert
from commonir.runtime.interpreter.evaluation import evaluation_bytes, may_exceed_bits
from commonir.runtime.kernel_graph.buffers import ALIGNMENT, Lifetime, arena_of
from commonir.runtime.kernel_graph.control import GraphProgram, names_read, walk_parts
from commonir.runtime.kernel_graph.execution import DIRECT_ELEMENTS
from commonir.runtime.kernel_graph.graph import KernelNode, evaluated
from commonir.runtime.kernel_graph.loop_kernel import loop_kernels
from commonir.runtime.kernel_graph.sizes import at_sizes
from commonir.runtime.kernel_graph.timing import OnKernel
from commonir.runtime.limits import check_array, check_memory
from commonir.runtime.numpy_engine.array_steps import Step
from commonir.runtime.numpy_engine.kernel_steps import kernel_steps
from commonir.runtime.numpy_engine.operands import Memory, NotPlanned
from commonir.runtime.numpy_engine.round_calls import Call, PartCalls, moving_tensors
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim, evaluate

Array = NDArray[Any]

MAX_SIZES = 8
"""The sets of sizes for which plans are kept."""


class PlannedGraph:
    """A program of graphs with the plans for the sizes that it ran with. One thread at a time may run it."""

    def __init__(self, program: GraphProgram, memory_limit_bytes: int | None) -> None:
        self._program = program
        self._limit = memory_limit_bytes
        self._symbols = sorted(program.symbols())
        constants = {**program.constants, **{n: a for g in program.graphs() for n, a in g.constants.items()}}
        used = {*program.outputs, *[n for part in walk_parts(program.parts) for n in names_read(part)]}
        used |= {r for g in program.graphs() for node in g.nodes.values() for r in node.reads}
        self._constants = {n: _as_computed(a) for n, a in constants.items() if n in used}
        self.is_output_new = [name not in self._constants for name in program.outputs]
        self._plans: OrderedDict[tuple[object, ...], GraphPlan] = OrderedDict()
        # The last sizes, and how many plans of small arrays in a row were made for new ones.
        self._last: object = None
        self._planned_in_a_row = 0

    @property
    def fallbacks(self) -> list[str]:
        """The kernels that the interpreter evaluates in the plans so far, and why."""
        return [label for plan in self._plans.values() for label in plan.fallbacks]

    def forget(self) -> None:
        """Makes the next run read all inputs: the caller may write into its arrays."""
        for plan in self._plans.values():
            plan.forget()

    def run(
        self, arrays: Sequence[Array], dims: Mapping[str, int], on_kernel: OnKernel | None = None
    ) -> list[Array] | None:
        """Returns the outputs; see `PreparedGraph`.

        In a loop whose values grow, each plan would be used once; for small arrays, making it takes longer than the
        operations do by themselves.
        """
        key = (tuple([dims[s] for s in self._symbols]), tuple([a.shape for a in arrays]))
        is_repeated, self._last = key == self._last, key
        plan = self._plans.get(key)
        if plan is not None:
            self._planned_in_a_row = 0
        elif self._planned_in_a_row >= MAX_SIZES and not is_repeated:
            return None
        else:
            shapes = {n: a.shape for n, a in zip(self._program.inputs, arrays, strict=True)}
            plan = self._plans[key] = GraphPlan(self._program, self._constants, shapes, dims, self._limit)
            self._planned_in_a_row = self._planned_in_a_row + 1 if plan.is_small else 0
            if len(self._plans) > MAX_SIZES:
                self._plans.popitem(last=False)
        return plan.run(arrays, on_kernel)


def _as_computed(array: Array) -> Array:
    """Returns a constant as BLAS and ufuncs read it: aligned, contiguous, and in single precision at least.

    Of a copied constant, what it shows of a mapped file need not stay in memory.
    """
    if array.dtype.kind in "fV" and array.dtype.itemsize < 4:
        out = np.empty(array.shape, np.float32)
        convert(array, out)
    elif array.flags.aligned and array.flags.c_contiguous:
        return array
    else:
        out = np.array(array, order="C")
    release_pages(array)
    return out


class GraphPlan:
    """The numpy calls of a program for one set of sizes, with the arrays that they read and write."""

    def __init__(
        self,
        program: GraphProgram,
        constants: Mapping[str, Array],
        input_shapes: Mapping[str, tuple[int, ...]],
        dims: Mapping[str, int],
        memory_limit_bytes: int | None,
    ) -> None:
        self._outputs = program.outputs
        self._constants = constants
        self._dims = dims
        arrays = {n: np.empty(s, compute_dtype(program.inputs[n].element)) for n, s in input_shapes.items()}
        self._inputs = list(arrays.values())
        for name, spec in moving_tensors(program).items():
            shape = tuple([evaluate(d, dims) for d in spec.shape])
            arrays[name] = np.empty(shape, compute_dtype(spec.element))
        nodes = {g: [at_sizes(node, dims) for node in g.nodes.values()] for g in program.graphs()}
        for graph, of_graph in nodes.items():
            arrays.update(_buffers(of_graph, graph.outputs, memory_limit_bytes))
        self._arrays = arrays
        self.is_small = all(a.size <= DIRECT_ELEMENTS for a in (*arrays.values(), *constants.values()))
        self._last: list[Array | None] = [None] * len(self._inputs)
        self._memory = memory = Memory(arrays, constants)
        self.fallbacks: list[str] = []
        calls = PartCalls({**constants, **arrays}, lambda graph: self._call_of(nodes[graph]), self._size)
        self._call = calls.of_parts(program.parts)
        held = sum([a.nbytes for a in (*arrays.values(), *constants.values())])
        self.size_bytes = memory.size_bytes + held
        check_memory(self.size_bytes, memory_limit_bytes)

    def _size(self, dim: Dim) -> int:
        return evaluate(dim, self._dims)

    def _call_of(self, nodes: Sequence[KernelNode]) -> Call:
        """Returns the call of a graph."""
        steps = [(node, self._steps_of(node, self._memory)) for node in nodes]
        plain = [step for _, of_node in steps for step in of_node]

        def all_steps(on_kernel: OnKernel | None) -> None:
            if on_kernel is None:
                for step in plain:
                    step()
                return
            for node, of_node in steps:
                for step in of_node:
                    step()
                on_kernel(node.name, node.origins)

        return all_steps

    def run(self, inputs: Sequence[Array], on_kernel: OnKernel | None = None) -> list[Array]:
        """Returns copies of the outputs.

        An array that is passed again is taken to be unchanged until `forget` is called: iterations of a loop share
        weights.
        """
        for n, array in enumerate(inputs):
            if array is not self._last[n]:
                convert(array, self._inputs[n])
                self._last[n] = array
        with np.errstate(all="ignore"):
            if on_kernel is not None:
                on_kernel("", ())
            self._call(on_kernel)
        return [self._output(name) for name in self._outputs]

    def forget(self) -> None:
        """Makes the next run read all inputs."""
        self._last = [None] * len(self._inputs)

    def _output(self, name: str) -> Array:
        return self._constants[name] if name in self._constants else np.array(self._arrays[name])

    def _steps_of(self, node: KernelNode, memory: Memory) -> list[Step]:
        """Returns the steps of a node."""
        memory.ranges.add(node.name, node.kernel.body)
        out = self._arrays[node.name]
        if out.size == 0:
            return []
        try:
            loops = [] if node.is_update else loop_kernels(node.kernel, node.extents)
            full = [k for k in loops if 0 not in k.extents.values()]
            if len(full) < len(loops) and any(k.folds() for k in loops):
                raise NotPlanned("a fold over nothing")
            steps: list[Step] = [s for k in full for s in kernel_steps(k, out, memory)]
            if node.is_update:
                steps = [self._evaluation(node, memory)]
        except NotPlanned as reason:
            self.fallbacks.append(f"{'+'.join(name for name, _ in node.origins)}: {reason}")
            steps = [self._evaluation(node, memory)]
        if may_exceed_bits(node.kernel):
            distance = np.asarray(8 * out.itemsize - node.kernel.dtype.bits, out.dtype)
            steps += [
                partial(np.left_shift, out, distance, out=out),
                partial(np.right_shift, out, distance, out=out),
            ]
        return steps

    def _evaluation(self, node: KernelNode, memory: Memory) -> Step:
        """Returns the evaluation of a node by the interpreter."""
        out = self._arrays[node.name]
        extents = {i: n for i, n in node.extents.items() if isinstance(n, int)}
        memory.size_bytes += evaluation_bytes(node.kernel, extents)
        return lambda: np.copyto(out, evaluated(node, {r: memory.tensor(r) for r in node.reads}), "unsafe")


def _buffers(nodes: Sequence[KernelNode], outputs: Sequence[str], memory_limit_bytes: int | None) -> dict[str, Array]:
    """Returns an array for each node; those that are not needed at the same time share memory."""
    lifetimes: dict[str, Lifetime] = {}
    for step, node in enumerate(nodes):
        lifetimes[node.name] = Lifetime(step, len(nodes) if node.name in outputs else step)
        for name in node.reads:
            if name in lifetimes and name not in outputs:
                lifetimes[name] = Lifetime(lifetimes[name].first, step)
    shapes = {n.name: tuple([d for d in n.spec.shape if isinstance(d, int)]) for n in nodes}
    dtypes = {n.name: compute_dtype(n.spec.element) for n in nodes}
    for node in nodes:
        check_array(shapes[node.name], dtypes[node.name].itemsize, node.origins[0][0])
    sizes = {name: int(np.prod(shape, dtype=np.int64)) * dtypes[name].itemsize for name, shape in shapes.items()}
    arena = arena_of(sizes, lifetimes)
    check_memory(arena.size_bytes, memory_limit_bytes)
    raw = np.empty(arena.size_bytes + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return {
        name: raw[start + at : start + at + sizes[name]].view(dtypes[name]).reshape(shapes[name])
        for name, at in arena.offsets.items()
    }
