"""Code of a graph of kernels: a function for each different kernel, and one that calls them in order.

`program.py` says what the latter receives. Nodes whose code is equal, as in layers of one shape, share a function.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.llvm.llvm_ir import Function, Module
from commonir.llvm.target import Target
from commonir.native.control_code import Structure, control_tensors, limit_of
from commonir.native.kernels.packed_codes import pack_codes
from commonir.native.kernels.strip_code import PartCall, StripCode, layouts_of_parts, strip_count
from commonir.native.kernels.work_units import (
    points_of,
)
from commonir.native.node_code import ConstantForm, NodeContext, NodeWriter, operands_of
from commonir.native.products.decoded_factors import decode_factors
from commonir.native.products.integer_products import (
    IntegerTerms,
)
from commonir.native.products.sparse_panels import is_sparse
from commonir.native.program import Check, KernelCall
from commonir.native.shared_parts import SharedParts
from commonir.native.steps_code import StepsWriter
from commonir.notation import Join
from commonir.runtime.kernel_graph.canonical import canonical_key
from commonir.runtime.kernel_graph.control import GraphProgram, program_of
from commonir.runtime.kernel_graph.graph import KernelGraph, KernelNode, Strips, TensorSpec
from commonir.runtime.kernel_graph.joined_memory import pieces_to_compute
from commonir.runtime.kernel_graph.layouts import MemoryLayout
from commonir.symbolic import Dim

Array = NDArray[Any]


class GraphCode(NamedTuple):
    """The text of a module, and what its main function expects.

    `outputs` are the names of its results, `tensors` those whose addresses are in its table, in order, and `symbols`
    those of sizes. `forms` are the constants among the tensors, by name, made from `constants`. `layouts` are those of
    the tensors of each graph, and `stored` the names of tensors under which graphs have stored them, where these
    differ.
    """

    text: str
    outputs: tuple[str, ...]
    tensors: tuple[str, ...]
    symbols: tuple[str, ...]
    checks: tuple[Check, ...]
    calls: tuple[KernelCall, ...]
    scratch: tuple[Dim, ...]
    forms: Mapping[str, ConstantForm]
    constants: Mapping[str, Array]
    layouts: Mapping[KernelGraph, Mapping[str, MemoryLayout]]
    stored: Mapping[str, str]

    def tensor(self, name: str) -> str:
        """Returns the name under which a tensor of the program is stored."""
        return self.stored.get(name, name)


def code_of(graph: KernelGraph, layouts: Mapping[str, MemoryLayout], target: Target) -> GraphCode:
    """Returns the code of a graph for layouts of its inputs and nodes. Raises: NotCompiled."""
    writer = ProgramWriter(program_of(graph), target)
    writer.add(graph, layouts, {})
    return writer.code()


class _KernelFunction(NamedTuple):
    """A function of the module: its symbols, the tensors it receives, as numbers in `_operands` or forms of what has
    such numbers, and work.
    """

    name: str
    symbols: tuple[str, ...]
    tensors: tuple[tuple[tuple[int, ...], ConstantForm | None], ...]
    units: Dim
    unit_cost: int
    prepares: bool
    scratch: tuple[Dim, ...]


class ProgramWriter:
    """Writes the code of a program, whose graphs are added in order. `constants` are those of all graphs so far."""

    def __init__(self, program: GraphProgram, target: Target) -> None:
        self._program = program
        self.graph = KernelGraph()
        self.layouts: dict[str, MemoryLayout] = {}
        self.specs: dict[str, TensorSpec] = {}
        self.constants = dict(program.constants)
        self.target = target
        self.module = Module(target.function_attributes)
        self.checks: list[Check] = []
        self.forms: dict[str, ConstantForm] = {}
        self.numbers: dict[Hashable, int] = {}
        self._calls: list[KernelCall] = []
        self._ranges: dict[KernelGraph, range] = {}
        self._layouts: dict[KernelGraph, Mapping[str, MemoryLayout]] = {}
        self._stored: dict[str, str] = {}
        self._functions: dict[str, str] = {}
        self._functions_by_key: dict[Hashable, _KernelFunction] = {}
        self._scratch: dict[Dim, None] = {}

    def add(self, graph: KernelGraph, layouts: Mapping[str, MemoryLayout], stored: Mapping[str, str]) -> None:
        """Adds the functions of a graph. `stored` are the names under which it stores its outputs.

        Raises: NotCompiled.
        """
        self.graph, self.layouts = graph, dict(layouts)
        self.specs = {name: graph.spec(name) for name in (*graph.inputs, *graph.nodes)}
        self.integer_terms = IntegerTerms(graph, self.layouts)
        decode_factors(graph, self.layouts, self.integer_terms, self.target)
        pack_codes(graph)
        first = len(self._calls)
        self._calls += [self._call(node) for node in graph.nodes.values() if self._is_computed(node)]
        self._ranges[graph] = range(first, len(self._calls))
        self._layouts[graph] = self.layouts
        self.constants.update(graph.constants)
        self._stored.update(stored)

    def code(self) -> GraphCode:
        """Returns the module with all functions."""
        structure = Structure(self._program, self._ranges, self._stored)
        control = control_tensors(structure)
        for name in control:
            if name in self.constants:
                self.forms.setdefault(name, ConstantForm((name,), "", np.asarray))
        tensors = tuple(dict.fromkeys([*[t for call in self._calls for t in call.tensors], *control]))
        symbols = tuple(sorted({*self._program.symbols(), *map(limit_of, self._program.changing())}))
        shared = SharedParts(self._calls, structure)
        StepsWriter(self.module, self.target, self._calls, tensors, symbols, structure, shared).add()
        calls = [c._replace(rounds=n) for c, n in zip(self._calls, shared.rounds(), strict=True)]
        return GraphCode(
            str(self.module),
            tuple([self._stored.get(name, name) for name in self._program.outputs]),
            tensors,
            symbols,
            tuple(self.checks),
            tuple(calls),
            tuple(self._scratch),
            self.forms,
            self.constants,
            self._layouts,
            self._stored,
        )

    @property
    def _context(self) -> NodeContext:
        return NodeContext(self.graph, self.layouts, self.specs, self.integer_terms, self.checks, self.numbers)

    def _is_computed(self, node: KernelNode) -> bool:
        """Returns whether there is anything to compute for a node: not for a join whose parts are in their places."""
        is_join = isinstance(node.kernel.body, Join) and node.strips is None
        return not is_join or bool(pieces_to_compute(self.graph, node, self.layouts))

    def _call(self, node: KernelNode) -> KernelCall:
        """Returns the call that computes a node; a function is added if no equal one is there."""
        if node.strips is not None:
            return self._call_of_strips(node, node.strips)
        function = self._function_of(node)
        self._scratch.update(dict.fromkeys(function.scratch))
        work = function.units, function.unit_cost
        tensors, origins = tuple(self._tensors(function, node)), _origins_of(node)
        symbols, prepares = function.symbols, function.prepares
        return KernelCall(function.name, node.name, tensors, symbols, *work, origins, prepares=prepares)

    def _function_of(self, node: KernelNode) -> _KernelFunction:
        """Returns the function that computes a node, which is added if no equal one is there."""
        storage = tuple([self._storage_key(name) for name in operands_of(node)])
        memory = self.graph.memory_of(node.name)
        inside = tuple([self.graph.memory_of(read) == memory for read in node.reads])
        key = canonical_key(node), storage, inside, self.integer_terms.in_kernel(node.kernel.body)
        function = self._functions_by_key.get(key)
        if function is None:
            checks = len(self.checks)
            function = self._written(node)
            if len(self.checks) == checks:
                # A check has a number of its own, so its code is not shared.
                self._functions_by_key[key] = function
        return function

    def _tensors(self, function: _KernelFunction, node: KernelNode) -> list[str]:
        """Returns the tensors that a function receives for a node."""
        tensors: list[str] = []
        for numbers, form in function.tensors:
            sources = tuple([operands_of(node)[n] for n in numbers])
            name = sources[0]
            if form is not None:
                own = form.of(sources)
                name = own.name
                self.forms.setdefault(name, own)
            tensors.append(self._stored.get(name, name))
        return tensors

    def _call_of_strips(self, node: KernelNode, strips: Strips) -> KernelCall:
        """Returns the call of a function that computes a node by strips, with functions for the parts."""
        layout = self.layouts[node.name]
        names_of_parts = [part.name for part in strips.parts]
        self.layouts.update(zip(names_of_parts, layouts_of_parts(layout, strips), strict=True))
        self.specs.update({part.name: part.spec for part in strips.parts})
        functions = [self._function_of(part) for part in strips.parts]
        tensors = [self._tensors(f, part) for f, part in zip(functions, strips.parts, strict=True)]
        calls = [PartCall(f.name, f.symbols, tuple(t)) for f, t in zip(functions, tensors, strict=True)]
        writer = StripCode(self.module, node.name, strips, layout, calls, self.target.lanes())
        inner = [scratch for f in functions for scratch in f.scratch] or [0]
        self._scratch.update(dict.fromkeys([writer.scratch_bytes + size for size in inner]))
        name = self._named(writer.function)
        units = strip_count(strips)
        cost = sum([f.unit_cost * points_of([f.units]) * n for f, n in zip(functions, _rounds_of(strips), strict=True)])
        return KernelCall(name, node.name, writer.tensors, writer.symbols, units, cost, _origins_of(node))

    def _named(self, function: Function) -> str:
        """Returns the name of a function, which is added to the module unless an equal one is there."""
        text = str(function)
        name = self._functions.get(text)
        if name is None:
            name = self._functions[text] = function.name = f"kernel{len(self._functions)}"
            self.module.functions.append(function)
        return name

    def _storage_key(self, name: str) -> Hashable:
        """Returns the properties of a tensor that the code of a node depends on, besides the kernel."""
        constant = self.graph.constants.get(name)
        if constant is not None:
            return constant.shape, constant.dtype, is_sparse(constant)
        return self.layouts[name], self.specs[name].element

    def _written(self, node: KernelNode) -> _KernelFunction:
        """Returns the function of a node, which is added unless its code is that of another one."""
        writer = NodeWriter(self.module, self.target, self._context, node)
        name = self._named(writer.function)
        operands = operands_of(node)
        forms = [((n,) if form is None else form.sources, form) for n, form in writer.tensors.items()]
        tensors = tuple([(tuple(map(operands.index, sources)), form) for sources, form in forms])
        work = writer.division.units, writer.unit_cost, writer.division.prepares
        return _KernelFunction(name, tuple(writer.symbols), tensors, *work, tuple(writer.scratch.sizes))


def _rounds_of(strips: Strips) -> list[int]:
    """Returns how often a strip computes each of its parts."""
    blocks, rounds = strips.blocks, [1] * len(strips.parts)
    if blocks is not None:
        rounds[blocks.start : blocks.stop] = [blocks.rounds] * (blocks.stop - blocks.start)
    return rounds


def _origins_of(node: KernelNode) -> tuple[tuple[str, str], ...]:
    """Returns the operations that a node computes, with the names of their values, in order."""
    return tuple([(o.operation, o.value) for o in reversed(node.origins)])
