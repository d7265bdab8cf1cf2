"""Builds programs of graphs from operations: those that are kernels, and loops and branches of such operations.

Values of a loop keep their type from round to round, but for sizes if the back end changes them (`round_sizes.py`),
and those of a branch have one type. Others are not built.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from commonir.dialects import core
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import i64
from commonir.notation import Access, Constraint, Kernel, Tensor, walk
from commonir.ods import Form, Op, SizedByData
from commonir.ods.data_dependent_dims import defined_dims
from commonir.ods.traits import Terminator
from commonir.runtime.interpreter.control import check_depth
from commonir.runtime.kernel_graph.building import GraphBuilder, Missing, NotAKernel, spec_of
from commonir.runtime.kernel_graph.control import (
    Branch,
    ChangingSize,
    Choice,
    GraphProgram,
    Loop,
    Part,
    ReadSizes,
    Requirement,
    Slice,
    State,
    changing_sizes,
    names_read,
    walk_parts,
)
from commonir.runtime.kernel_graph.graph import KernelGraph, Origin, TensorSpec, copying_node
from commonir.runtime.kernel_graph.round_sizes import LoopSizes, loop_sizes
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim, DimExpr, symbols

T = TypeVar("T")


def operations_of(block: Block) -> list[Operation]:
    """Returns the operations of a block without the one that ends it."""
    return [op for op in block.operations if not (isinstance(op, Op) and op.has_trait(Terminator))]


def yielded(block: Block) -> tuple[Value, ...]:
    """Returns the values that a block yields."""
    last = block.last
    return last.values if isinstance(last, core.Yield) else ()


class ProgramBuilder(GraphBuilder):
    """Adds operations to a program. Data decide of sizes, and of what is required, only if the back end says so."""

    def __init__(self, missing: Missing = lambda _: "", *, follows_data: bool = False) -> None:
        super().__init__(missing)
        self._follows_data = follows_data
        self._parts: list[Part] = [self.graph]
        self._outputs: list[str] = []
        self._depth = 0
        # Names that stand for one tensor or another, which has a name of its own.
        self._moving: set[str] = set()

    def changing(self) -> dict[str, ChangingSize]:
        """Returns the symbols that change while the program so far runs."""
        return changing_sizes(self._parts)

    def output(self, value: Value) -> None:
        """Makes a value a result of the program; one from outside may be one too."""
        name = self._operand(value)
        self._outputs.append(self._copied(name) if name in self._moving else name)

    def program(self) -> GraphProgram:
        """Returns the program of all operations; none are added after that."""
        parts = _without_empty(self._parts) or [self.graph]
        inputs = {self._names[v]: spec_of(v) for v in self.inputs}
        needed = {name for part in walk_parts(parts) for name in names_read(part)} | {*self._outputs}
        # Graphs have the constants that they read, and let go of others.
        specs = {n: spec for n, spec in self._specs.items() if n in needed or n not in self._constants}
        self._constants = {n: array for n, array in self._constants.items() if n in needed}
        program = GraphProgram(tuple(parts), inputs, self._outputs, self._constants, specs)
        changing = program.changing()
        if changing:
            tested = [c for c in self.constraints if any(s in changing for s in c.symbols)]
            program = program._replace(constraints=tuple(tested))
        if program.only_graph is not None:
            program.only_graph.outputs = self._outputs
            return program
        for graph in program.graphs():
            graph.outputs = [name for name in graph.nodes if name in needed]
        return program

    def add(self, op: Operation) -> None:
        """Adds an operation. Raises: NotAKernel; then nothing added before reads what was added."""
        sized = self._sized_by_data(op)
        if isinstance(op, core.Require) and self._follows_data:
            self._add_part(Requirement(self._stored(op.condition)))
            return
        if sized is None and not isinstance(op, core.Scan | core.While | core.If):
            super().add(op)
            return
        before = self.graph, self._parts, dict(self._names), list(self.inputs), dict(self.constraints)
        depth, fixed = self._depth, dict(self._fixed)
        self._parts = list(self._parts)
        try:
            self._add_parts(op, sized)
        except NotAKernel:
            self.graph, self._parts, self._names, self.inputs, self.constraints = before
            self._depth, self._fixed = depth, fixed
            raise

    def _add_parts(self, op: Operation, sized: SizedByData | None) -> None:
        """Adds an operation that is more than nodes of the graph."""
        for v in (*op.operands, *op.results):
            spec_of(v)
        match op:
            case core.If():
                self._add_part(self._branch(op))
            case core.Scan() | core.While():
                self._add_part(self._loop(op))
            case _ if sized is not None:
                self._add_sized_by_data(op, sized)
            case _:
                raise NotAKernel(op.name)

    def _add_part(self, part: Part) -> None:
        self.graph = KernelGraph()
        self._parts += [part, self.graph]

    # -- sizes that depend on data

    def _sized_by_data(self, op: Operation) -> SizedByData | None:
        """Returns the kernel of an operation of whose sizes data decide, which reads its operands by their names."""
        if not self._follows_data or not isinstance(op, Op) or op.form is not Form.ALGORITHM or op.regions:
            return None
        if type(op).sized_by_data is Op.sized_by_data:
            return None
        specs = [spec_of(v) for v in (*op.operands, *op.results)]
        given = zip(op.operands, specs, strict=False)
        return op.sized_by_data(self._new_name("n"), *[Tensor(self._operand(v), s.shape, s.element) for v, s in given])

    def _add_sized_by_data(self, op: Operation, sized: SizedByData) -> None:
        spec = spec_of(op.results[0])
        numbers = [
            (symbol, self._node(op.name, Kernel((), expression), TensorSpec((), i64)), most)
            for symbol, (expression, most) in sized.numbers.items()
        ]
        defined = {d.axis: d.name for d in defined_dims(op)}
        self._add_part(ReadSizes(tuple(numbers), tuple([(name, sized.sizes[a]) for a, name in defined.items()])))
        for e in walk(sized.kernel.body):
            if isinstance(e, Access):
                self._read(e.tensor.name)
        kernel, sizes = sized.kernel, enumerate(zip(sized.sizes, spec.shape, strict=True))
        self._require([Constraint(n, "==", d, "the size of a result") for a, (n, d) in sizes if a not in defined])
        extents = {i: d for i, d in zip(kernel.axes, spec.shape, strict=True) if isinstance(i, DimExpr)}
        name = self._node(op.name, kernel.where(extents), spec)
        self._names[op.results[0]] = name
        node = self.graph.nodes.get(name)
        if node is not None:
            node.origins = (Origin(op.name, op.results[0].name),)

    # -- regions

    def _region(
        self, block: Block, arguments: Sequence[str], stored: Callable[[list[str]], T]
    ) -> tuple[tuple[Part, ...], T]:
        """Returns the parts of a block, with names of its arguments, and what a function makes of the values it yields.

        The function may add copies to the parts.
        """
        outer, names = (self.graph, self._parts), dict(self._names)
        self._depth += 1
        check_depth(self._depth)
        self.graph = KernelGraph()
        self._parts = [self.graph]
        self._names.update(zip(block.arguments, arguments, strict=True))
        for op in operations_of(block):
            self.add(op)
        result = stored([self._stored(v) for v in yielded(block)])
        parts = _without_empty(self._parts)
        # What was computed here, also of constants, is unknown outside.
        inputs = set(self.inputs)
        self._names = {**names, **{v: n for v, n in self._names.items() if v in inputs or n in self._constants}}
        self.graph, self._parts = outer
        self._depth -= 1
        return tuple(parts), result

    def _stored(self, value: Value) -> str:
        """Returns the tensor of a value as kernels store it; constants may be of other types."""
        name = self._operand(value)
        array = self._constants.get(name)
        is_stored = array is None or array.dtype == compute_dtype(self._specs[name].element)
        return name if is_stored else self._copied(name)

    def _copied(self, name: str) -> str:
        """Returns a new tensor with the elements of another one."""
        spec = self._specs[name]
        copy = self._new_tensor("v", spec)
        self.graph.add(copying_node(copy, self._read(name), spec))
        return copy

    # -- branches

    def _branch(self, op: core.If) -> Branch:
        for values in zip(op.ys, yielded(op.then.block), yielded(op.orelse.block), strict=True):
            if len({spec_of(v) for v in values}) > 1:
                raise NotAKernel("a branch with results of different types")
        condition = self._stored(op.condition)
        (then, yes), (orelse, no) = [self._region(r.block, (), list[str]) for r in (op.then, op.orelse)]
        results = [Choice(self._new_tensor("t", spec_of(v)), a, b) for v, a, b in zip(op.ys, yes, no, strict=True)]
        self._moving.update([r.name for r in results])
        self._names.update(zip(op.ys, [r.name for r in results], strict=True))
        return Branch(condition, then, orelse, tuple(results))

    # -- loops

    def _loop(self, op: core.Scan | core.While) -> Loop:
        block, count = op.body.block, len(op.initial)
        sequences = op.sequences if isinstance(op, core.Scan) else ()
        length, sizes = self._checked_length(op, sequences)
        initial = [self._stored(v) for v in op.initial]
        specs = [spec_of(a) for a in block.arguments[:count]]
        # States that stay the same need none.
        is_kept = [v is a for v, a in zip(yielded(block)[:count], block.arguments[:count], strict=True)]
        names = [
            n if kept else self._new_tensor("t", spec) for n, kept, spec in zip(initial, is_kept, specs, strict=True)
        ]
        read = tuple(
            [
                Slice(self._new_tensor("t", spec_of(a)), self._stored(v), spec_of(v))
                for v, a in zip(sequences, block.arguments[count:], strict=True)
            ]
        )
        self._moving.update([n for n, kept in zip(names, is_kept, strict=True) if not kept])
        test, condition = (), ""
        if isinstance(op, core.While):
            test, (condition,) = self._region(op.condition.block, names, list[str])

        def stored(given: list[str]) -> tuple[list[str], list[Slice]]:
            stacks = [spec_of(y) for y in op.ys[count:]]
            return self._passed_on(given[:count], is_kept, given[count:], stacks)

        body, (following, written) = self._region(block, [*names, *[s.name for s in read]], stored)
        inner = changing_sizes((*test, *body))
        if any(n in inner for s in (*read, *written) for d in s.spec.shape for n in symbols(d)):
            raise NotAKernel(f"{op.name}: slices whose sizes change in a loop inside")
        self._names.update(zip(op.ys, [*names, *[s.array for s in written]], strict=True))
        states = [State(*s) for s in zip(names, initial, following, strict=True) if s[2]]
        is_reversed = isinstance(op, core.Scan) and op.reverse
        return Loop(body, tuple(states), read, tuple(written), length, is_reversed, test, condition, *sizes)

    def _checked_length(self, op: core.Scan | core.While, sequences: Sequence[Value]) -> tuple[Dim, LoopSizes]:
        """Returns the number of rounds of a scan, 0 for other loops, and the sizes that change.

        Raises: NotAKernel when types change otherwise.
        """
        block, count = op.body.block, len(op.initial)
        if isinstance(op, core.While) and self._follows_data:
            return 0, loop_sizes(op, yielded(block))
        given, lengths = yielded(block), [spec_of(v).shape[0] for v in sequences]
        self._require([Constraint(n, "==", lengths[0], "length of a sequence") for n in lengths[1:] if n != lengths[0]])
        kept = [op.initial, block.arguments[:count], given[:count], op.ys[:count]]
        if isinstance(op, core.While):
            kept.append(op.condition.block.arguments)
        pairs = [(spec_of(v), spec_of(a)) for values in kept for v, a in zip(op.initial, values, strict=True)]
        pairs += [(_slice(spec_of(v)), spec_of(a)) for v, a in zip(sequences, block.arguments[count:], strict=True)]
        pairs += [(_slice(spec_of(y)), spec_of(v)) for y, v in zip(op.ys[count:], given[count:], strict=True)]
        if any(a != b for a, b in pairs) or any(spec_of(y).shape[0] not in lengths for y in op.ys[count:]):
            raise NotAKernel(f"{op.name}: values whose types change")
        return lengths[0] if lengths else 0, LoopSizes((), ())

    def _passed_on(
        self, given: Sequence[str], is_kept: Sequence[bool], slices: Sequence[str], stacks: Sequence[TensorSpec]
    ) -> tuple[list[str], list[Slice]]:
        """Returns the tensors that rounds store for the states, and the slices that they write, of yielded ones."""
        taken = set[str]()
        written: dict[str, Slice] = {}
        out: list[Slice] = []
        for name, stack in zip(slices, stacks, strict=True):
            out.append(Slice(self._own(name, taken), self._new_tensor("t", stack), stack))
            written.setdefault(name, out[-1])
        following = [
            "" if kept else written[name].name if name in written else self._own(name, taken)
            for name, kept in zip(given, is_kept, strict=True)
        ]
        return following, out

    def _own(self, name: str, taken: set[str]) -> str:
        """Returns a tensor that a kernel or a loop here stores and that nothing has taken, or a copy."""
        graphs = [p for p in self._parts if isinstance(p, KernelGraph)]
        stacks = [s.array for p in self._parts if isinstance(p, Loop) for s in p.written]
        if name in taken or not (name in stacks or any(name in g.nodes for g in graphs)):
            name = self._copied(name)
        taken.add(name)
        for graph in graphs:
            if name in graph.nodes:
                graph.written.add(name)
        return name


def _slice(spec: TensorSpec) -> TensorSpec:
    return spec._replace(shape=spec.shape[1:])


def _without_empty(parts: Sequence[Part]) -> list[Part]:
    return [p for p in parts if not isinstance(p, KernelGraph) or p.nodes]
