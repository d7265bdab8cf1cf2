"""Code of a node: the loops and schedules of its kernels, and the forms in which they read constants."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.llvm.llvm_ir import I64, POINTER, Function, LlvmValue, Module
from commonir.llvm.target import Target
from commonir.native.kernels.expression_code import Buffer, Scratch
from commonir.native.kernels.kernel_code import KernelCode
from commonir.native.kernels.transposed_reads import turned_expressions
from commonir.native.kernels.work_units import (
    WorkDivision,
    cost_of,
    is_worth_dividing,
    points_of,
    term_cost_of,
)
from commonir.native.products.contraction_plan import Plan, plan_of
from commonir.native.products.integer_products import (
    IntegerPlan,
    IntegerTerms,
    Terms,
    integer_plan,
)
from commonir.native.products.pair_products import (
    multiplies_in_place,
    uses_pairs,
)
from commonir.native.products.product_schedules import INTEGER_SCHEDULES, NARROW_PAIRS, ProductSchedule, schedule_of
from commonir.native.products.product_tiles import SHORTEST_VECTOR, Tile
from commonir.native.products.residues import split_residues, with_residue_axes
from commonir.native.products.stored_factors import Part, StoredFactor, Table, decoded_arrays
from commonir.native.products.winograd_code import (
    WinogradCode,
    WinogradPlan,
    transformed_weights,
    winograd_plan,
)
from commonir.native.program import Check
from commonir.notation import Access, Expr, Tensor, Update, walk
from commonir.runtime.kernel_graph.graph import KernelGraph, KernelNode, TensorSpec
from commonir.runtime.kernel_graph.joined_memory import pieces_to_compute
from commonir.runtime.kernel_graph.layouts import MemoryLayout, layout_of, memory_dtype
from commonir.runtime.kernel_graph.loop_kernel import LoopKernel, simplified, vector_axis
from commonir.symbolic import names, symbols

Array = NDArray[Any]

_STORAGE = {"bool": "i8", "float16": "half", "bfloat16": "bfloat", "float32": "float", "float64": "double"}


def storage_of(dtype: np.dtype[Any]) -> str:
    """Returns the LLVM type of the elements of an array in memory."""
    return _STORAGE.get(dtype.name) or f"i{8 * dtype.itemsize}"


class ConstantForm(NamedTuple):
    """A constant as code reads it: `make` returns its elements from those of constants of the graph, its `sources`.

    `text` distinguishes the forms of the same constants; it is "" for a constant itself.
    """

    sources: tuple[str, ...]
    text: str
    make: Callable[..., Array]

    @property
    def name(self) -> str:
        """The name of the tensor that has this form."""
        return " ".join([*self.sources, self.text]) if self.text else self.sources[0]

    def of(self, sources: tuple[str, ...]) -> ConstantForm:
        """Returns the same form of other constants."""
        return ConstantForm(sources, self.text, self.make)


def operands_of(node: KernelNode) -> list[str]:
    """Returns the tensors of a node, its result first."""
    return [node.name, *node.reads]


class NodeContext(NamedTuple):
    """The graph of some nodes, with what their code depends on: layouts, specs and terms of products of integers.

    Found `checks` are appended, and stored factors get `numbers` in the order in which they are found.
    """

    graph: KernelGraph
    layouts: dict[str, MemoryLayout]
    specs: Mapping[str, TensorSpec]
    integer_terms: IntegerTerms
    checks: list[Check]
    numbers: dict[Hashable, int]


class _Part(NamedTuple):
    """Loops of a node, as they are and simplified, the plan of a contraction if they are one, and their cost."""

    loops: LoopKernel
    kernel: LoopKernel
    plan: Plan | None
    integers: IntegerPlan | None
    cost: int


class NodeWriter:
    """Writes the function of a node.

    Its parameters are faults, scratch memory, the range of units to do, sizes, and the tensors in the order of first
    use.
    """

    def __init__(self, module: Module, target: Target, context: NodeContext, node: KernelNode) -> None:
        self._target = target
        self._graph = context.graph
        self._specs = context.specs
        self._layouts = context.layouts
        self._checks = context.checks
        self._numbers = context.numbers
        self._integer_terms = context.integer_terms
        # A part of a joined tensor has the steps of the whole, whose sizes need not be those of the kernel.
        places = [self._layouts[name] for name in operands_of(node) if name not in self._graph.constants]
        steps = [d for place in places for d in (*place.strides, place.offset)]
        self.symbols = sorted(node.symbols().union(*map(symbols, steps)))
        self.function = Function(module, "NAME", [POINTER, POINTER, I64, I64, *[I64] * len(self.symbols)])
        module.functions.pop()
        self._faults, scratch, first, last, *sizes = self.function.arguments
        self.scratch = Scratch(scratch)
        self._sizes = dict(zip(self.symbols, sizes, strict=True))
        self.tensors: dict[str, ConstantForm | None] = {}
        self._pointers: dict[str, LlvmValue] = {}
        out = self._buffer(node.name)
        pieces = pieces_to_compute(self._graph, node, self._layouts)
        update = node.kernel.body
        if isinstance(update, Update):
            pieces = [piece._replace(body=update.start) for piece in pieces]
        parts = [part for piece in pieces for part in self._parts(piece, node.reads)]
        cost = sum([part.cost for part in parts])
        # Updates come after all of what they change.
        is_divided = is_worth_dividing(cost) and not node.is_update
        self.division = WorkDivision(first, last, is_divided=is_divided)
        for part in parts:
            self._emit(part, node.reads, out)
        if isinstance(update, Update):
            self._emit_updates(node, update, pieces[0], out)
        self.unit_cost = -(-cost // points_of([self.division.units]))
        self.function.add_line("ret void")

    def _parts(self, piece: LoopKernel, reads: Sequence[str]) -> list[_Part]:
        """Returns loops with their schedules; several where a kernel differs by residues of positions."""
        at_once = with_residue_axes(piece)
        if at_once is not None:
            part = self._part(at_once, reads)
            if part.plan is not None and self._is_packed(part.plan) and self._has_plain_products(part.plan):
                return [part]
        return [self._part(loops, reads) for loops in split_residues(piece)]

    def _has_plain_products(self, plan: Plan) -> bool:
        """Returns whether one element of a batch, if it was alone, would have no schedule that knows no batch."""
        alone = plan._replace(batch=())
        return not uses_pairs(alone, self._target) and winograd_plan(alone, self._target) is None

    def _part(self, loops: LoopKernel, reads: Sequence[str]) -> _Part:
        """Returns loops of a node with the schedule that is chosen for them."""
        layouts = {name: self._layout(name) for name in reads}
        kernel = simplified(loops, layouts)
        plan = self._plan_of(kernel, layouts)
        if plan is None:
            # Columns of groups, of which a vector has several.
            groups = simplified(loops, layouts, SHORTEST_VECTOR)
            plan = self._plan_of(groups, layouts)
            kernel = kernel if plan is None else groups
        integers = integer_plan(kernel, layouts, self._integer_terms, self._target)
        planned = plan if integers is None else integers.plan
        if planned is None:
            return _Part(loops, kernel, plan, integers, cost_of(kernel))
        term_cost = term_cost_of([kernel.extents[i] for i in planned.rows])
        return _Part(loops, kernel, plan, integers, cost_of(kernel, planned.folds, term_cost))

    def _plan_of(self, kernel: LoopKernel, layouts: Mapping[str, MemoryLayout]) -> Plan | None:
        """Returns the plan of loops that tiles pay for."""
        plan = plan_of(kernel, layouts, self._graph.constants, self._target)
        return plan if plan is not None and self._is_computable(plan) else None

    def _is_computable(self, plan: Plan) -> bool:
        """Returns whether a schedule computes a contraction from factors that lie as they do."""
        if self._has_narrow_factors(plan):
            return multiplies_in_place(plan, is_constant=plan.right.name in self._graph.constants)
        return plan.stored is not None or self._is_packed(plan) or (_has_columns(plan) and not plan.others)

    def _has_narrow_factors(self, plan: Plan) -> bool:
        layouts = [self._layouts.get(name) for name in (plan.left.name, plan.right.name)]
        return any(layout is not None and layout.is_narrow for layout in layouts)

    def _emit(self, part: _Part, reads: Sequence[str], out: Buffer) -> None:
        """Adds the loops of a part: tiles for a contraction, else a loop for each axis."""
        kernel, plan = part.kernel, part.plan
        if part.integers is not None:
            self._emit_integers(part.integers, out)
            return
        if plan is None:
            layouts = {name: self._layout(name) for name in reads}
            forms = _forms_along_vectors(kernel, layouts, self._graph.constants, self._target.lanes())
            buffers = {name: self._buffer(name, forms.get(name)) for name in reads}
            code = self._code(buffers)
            code.emit(simplified(part.loops, code.layouts), out)
            return
        packs = self._is_packed(plan)
        used = plan.reads_beside() if packs or plan.stored is not None else reads
        code = self._code({name: self._buffer(name) for name in reads if name in used})
        code.start(kernel)
        schedule = self._schedule_of(plan)
        winograd = winograd_plan(plan, self._target) if packs and schedule is not NARROW_PAIRS else None
        if winograd is not None:
            tiles = WinogradCode(code, self.function, self._target, winograd, out)
            tiles.emit(self._transformed(winograd, tiles.tile))
            return
        contraction = schedule.code(code, self.function, self._target, plan, out)
        if plan.stored is not None:
            contraction.emit(self._stored(plan.stored, contraction.tile))
        else:
            contraction.emit(self._packed(plan, schedule, contraction.tile) if packs else None)

    def _emit_updates(self, node: KernelNode, update: Update, kernel: LoopKernel, out: Buffer) -> None:
        """Adds the loops that change elements."""
        target = Access(Tensor("result", node.spec.shape, node.kernel.dtype), update.at)
        buffers = {name: self._buffer(name) for name in node.reads}
        self._code({**buffers, target.tensor.name: out}).emit_updates(kernel, update, target)

    def _emit_integers(self, integers: IntegerPlan, out: Buffer) -> None:
        """Adds the tiles of a contraction of integers."""
        plan, lanes = integers.plan, self._target.lanes()
        code = self._code({name: self._buffer(name) for name in sorted(plan.reads_beside())})
        code.start(plan.kernel)
        contraction = INTEGER_SCHEDULES[integers.terms](code, self.function, self._target, plan, out)
        number = self._numbers.setdefault((plan.factor, plan.sums, plan.column), len(self._numbers))

        def panels(*arrays: Array) -> Array:
            named = dict(zip(integers.sources, arrays, strict=True))
            return integers.panels(decoded_arrays(named), contraction.tile, lanes)

        form = f"{integers.run_length} from {integers.base}" if integers.terms is Terms.STORED else ""
        text = f"integers {number} {integers.terms.value} {form} {contraction.tile}"
        contraction.emit(self._form(ConstantForm(integers.sources, text, panels)))

    def _code(self, buffers: Mapping[str, Buffer]) -> KernelCode:
        return KernelCode(
            self.function,
            self._target,
            buffers,
            self._sizes,
            self._faults,
            self._checks,
            self.scratch,
            self.division,
        )

    def _is_packed(self, plan: Plan) -> bool:
        """Returns whether the right factor is read in panels: constants are, but batches that are read in place."""
        if plan.right.name not in self._graph.constants or any(not isinstance(d, int) for d in plan.right_form):
            return False
        return not plan.right_batch or plan.right.steps[plan.column] != 1

    def _schedule_of(self, plan: Plan) -> ProductSchedule:
        is_narrow, packs = self._has_narrow_factors(plan), self._is_packed(plan)
        return schedule_of(plan, self._target, is_narrow=is_narrow, is_packed=packs)

    def _packed(self, plan: Plan, schedule: ProductSchedule, tile: Tile) -> LlvmValue:
        """Returns the pointer to a constant factor in panels."""
        lanes = self._target.lanes()
        text = f"{schedule.panels} {plan.right_form} {tile}"

        def make(array: Array) -> Array:
            return schedule.pack(plan, array, tile, lanes)

        return self._form(ConstantForm((plan.right.name,), text, make))

    def _stored(self, factor: StoredFactor, tile: Tile) -> dict[Part | Table, LlvmValue]:
        """Returns the pointers to the parts of a constant factor, and to its tables."""
        number, lanes = self._numbers.setdefault(factor.key, len(self._numbers)), self._target.lanes()
        out: dict[Part | Table, LlvmValue] = {}
        for n, part in enumerate(factor.parts):

            def panels(*arrays: Array, part: Part = part) -> Array:
                return factor.panels(part, dict(zip(part.sources, arrays, strict=True)), tile.vectors, lanes)

            out[part] = self._form(ConstantForm(part.sources, f"part {number}.{n} {tile}", panels))
        for n, table in enumerate(factor.tables):
            # A table of numbers alone has no source; any constant stands for it.
            sources = table.sources or table.code.sources

            def numbers(*arrays: Array, table: Table = table, sources: tuple[str, ...] = sources) -> Array:
                return table.numbers(dict(zip(sources, arrays, strict=True)))

            out[table] = self._form(ConstantForm(sources, f"table {number}.{n}", numbers))
        return out

    def _transformed(self, winograd: WinogradPlan, tile: Tile) -> LlvmValue:
        """Returns the pointer to a constant factor that is transformed for tiles of results."""
        plan, lanes = winograd.plan, self._target.lanes()
        text = f"transformed {winograd.transform.size} {winograd.transform.step} {plan.right_form} {tile}"

        def make(array: Array) -> Array:
            return transformed_weights(winograd, array, tile.vectors, lanes)

        return self._form(ConstantForm((plan.right.name,), text, make))

    def _form(self, form: ConstantForm) -> LlvmValue:
        """Returns the pointer to a form of a constant."""
        return self._pointer(form.name, form)

    def _pointer(self, name: str, form: ConstantForm | None = None) -> LlvmValue:
        if name not in self._pointers:
            self.tensors[name] = form
            self._pointers[name] = self.function.parameter(POINTER)
        return self._pointers[name]

    def _layout(self, name: str) -> MemoryLayout:
        constant = self._graph.constants.get(name)
        return self._layouts[name] if constant is None else layout_of(constant.shape)

    def _buffer(self, name: str, order: tuple[int, ...] | None = None) -> Buffer:
        """Returns a tensor; a constant with its axes in another order if one is given."""
        array = self._graph.constants.get(name)
        if array is None:
            dtype = memory_dtype(self._layouts[name], self._specs[name].element)
            return Buffer(self._pointer(name), storage_of(dtype), self._layouts[name])

        def make(array: Array) -> Array:
            return array if order is None else array.transpose(order)

        form = ConstantForm((name,), "" if order is None else f"ordered {order}", make)
        return Buffer(self._form(form), storage_of(array.dtype), layout_of(array.shape, order))


def _forms_along_vectors(
    kernel: LoopKernel, layouts: Mapping[str, MemoryLayout], constants: Mapping[str, Array], lanes: int
) -> dict[str, tuple[int, ...]]:
    """Returns orders of the axes of constants in which vectors read neighbours, unless these are turned with others."""
    last = vector_axis(kernel, layouts)
    turned = turned_expressions(kernel, layouts, lanes)
    tensors = (
        []
        if turned is None
        else [{a.tensor.name for a in walk(e) if isinstance(a, Access)} for e in turned.expressions]
    )
    with_others = {name for of_expression in tensors if not of_expression <= constants.keys() for name in of_expression}
    out: dict[str, tuple[int, ...]] = {}
    for a in kernel.accesses():
        if last is None or a.tensor.name not in constants or a.tensor.name in with_others or a.tensor.steps:
            continue
        along = [n for n, p in enumerate(a.at) if not isinstance(p, Expr) and last in names(p)]
        if len(along) == 1:
            others = [n for n in range(len(a.at)) if n not in along]
            out.setdefault(a.tensor.name, (*others, *along))
    return out


def _has_columns(plan: Plan) -> bool:
    """Returns whether the columns of the right factor are contiguous, or are to be transposed."""
    return plan.right.steps[plan.column] == 1 or plan.is_transposable
