"""Code of one kernel: loops over the axes of its result, and expressions computed where it is first possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from commonir.llvm.llvm_ir import F32, Function, LlvmValue, Variable
from commonir.llvm.scalar_functions import applied, combined
from commonir.llvm.target import Target
from commonir.native.kernels.expression_code import Buffer, ExpressionCode, Scratch, widest_bits
from commonir.native.kernels.loop_order import (
    ACCUMULATORS,
    KeptElements,
    LoopOrder,
    interior_of,
    is_small,
    kept_elements,
    loop_order,
    with_range,
)
from commonir.native.kernels.position_code import LoopScope
from commonir.native.kernels.running_values import (
    RunningFold,
    RunningValues,
    elements_of,
    running_updates,
    with_running_values,
)
from commonir.native.kernels.transposed_reads import TurnedExpressions, transposed, turned_expressions
from commonir.native.kernels.work_units import Units, WorkDivision, axes_of_units, rounds_of_unit
from commonir.native.program import Check
from commonir.notation import Access, Expr, Fold, Join, Update, free, walk
from commonir.runtime.kernel_graph.loop_kernel import SHORT, LoopKernel, read_of, vector_axis
from commonir.symbolic import Dim, ceil_div, element_count, index, linear_in


class KernelCode(ExpressionCode):
    """Adds the code of a kernel to a function.

    `buffers` are the operands by name, `sizes` the symbols. Positions in vectors have 32 bits, so no tensor may have
    2^31 elements or more. Found `checks` are appended to the list. `division` says which part of the work is done.
    """

    def __init__(
        self,
        function: Function,
        target: Target,
        buffers: Mapping[str, Buffer],
        sizes: Mapping[str, LlvmValue],
        faults: LlvmValue,
        checks: list[Check],
        scratch: Scratch,
        division: WorkDivision,
    ) -> None:
        super().__init__(function, target, buffers, sizes, faults, checks)
        self._division = division
        self.scratch = scratch
        self._kept: tuple[KeptElements, Buffer] | None = None

    def emit(self, kernel: LoopKernel, out: Buffer) -> None:
        """Adds loops that compute the elements of a kernel. Units of work are rounds of the outermost loops."""
        kernel, running = with_running_values(kernel)
        self.start(kernel)
        if running is not None:
            self._emit_running(kernel, running, out)
            return
        across = turned_expressions(kernel, self.layouts, self._lanes)
        if across is not None:
            self._emit_transposed(kernel, across, out)
            return
        if self._has_pairs(kernel):
            self._emit_pairs(kernel, out)
            return
        order = loop_order(kernel, self.layouts)
        over = axes_of_units(order.outer, kernel.extents)
        inner = order.outer[len(over) :]

        kept = kept_elements(kernel, order) if out.storage == F32.scalar or out.layout.is_narrow else None

        def element() -> None:
            if self._kept is not None and kept is not None:
                # The fold stores them, so its code is first.
                self.value(kept.fold)
                self.assume(kept.element, self.reload(kernel, out))
            self.store(self.value(kernel.body), kernel, out)

        last = order.last
        if last is None:
            self._over_units(over, self.units(over), lambda _: self._nested(inner, element))
            return
        rounds = 0 if inner else rounds_of_unit(kernel, over, last, order.vectors * self._lanes)
        if kept is not None and not rounds:
            self._kept = kept, out

        def vectors(units: Units) -> None:
            for scopes in self._vector_groups(last, order.vectors, units, rounds):
                if order.points > 1:
                    self._windows(kernel, order, scopes, out)
                    continue
                self._fold_together(kernel, scopes)
                self._nested_together(order.inner, scopes, lambda _, __: element())

        self._over_vectors(over, inner, last, rounds * order.vectors, vectors)

    def emit_updates(self, kernel: LoopKernel, update: Update, target: Access) -> None:
        """Adds loops that change elements of a result: of what it is so far, at the positions of the target.

        Vectors run along an index that numbers neighbours in the result: each of their elements is another one.
        """
        self._extents, self._lanes = kernel.extents, self._target.lanes(widest_bits(update.body))
        out, along = self.buffer(target.tensor.name), self._along_target(update, target)
        running = running_updates(update, kernel.extents)
        if running and along == update.over[0]:
            along = None

        def change() -> None:
            read = self._read(target)
            x = self.value(update.body)
            if update.fn is not None:
                before = self._loaded(out, read, [], target.dtype)
                x = self._in_bits(applied(self._f, update.fn, target.dtype, (before, x)), target.dtype)
            self.store_at(x, read.address, target.dtype, out)

        def changes() -> None:
            if along is None:
                change()
                return
            for _ in self._vectors(along, 1):
                change()

        inner = [i for i in update.over if i != along]
        if not running:
            self._nested(inner, changes)
            return
        values = [self._f.variable(start.type, start) for start in [self._start(r.fold, 1) for r in running]]

        def step() -> None:
            self._advance(running, values)
            self._nested(inner[1:], changes)

        self._nested(inner[:1], step)

    def _along_target(self, update: Update, target: Access) -> str | None:
        """Returns the index of updates of neighbouring elements; None if there is none."""
        read = read_of(target, self.layouts, self._extents)
        data = {i for d in read.data for i in free(d.value)}
        for i in reversed(update.over):
            extent = self._extents[i]
            if (
                i not in data
                and linear_in(read.address, i)[0] == 1
                and not (isinstance(extent, int) and extent < SHORT)
            ):
                return i
        return None

    def _emit_transposed(self, kernel: LoopKernel, across: TurnedExpressions, out: Buffer) -> None:
        """Adds loops over squares of the axis that reads are contiguous along and the last one."""
        outer = tuple([a for a in kernel.axes if a not in (across.along, across.last)])
        over = axes_of_units(outer, kernel.extents)
        inner = outer[len(over) :]
        rounds = 0 if inner else rounds_of_unit(kernel, over, across.last, self._lanes)

        def squares(units: Units) -> None:
            for (scope,) in self._vector_groups(across.last, 1, units, rounds):
                self._squares(kernel, across, scope, out)

        self._over_vectors(over, inner, across.last, rounds, squares)

    def _squares(self, kernel: LoopKernel, across: TurnedExpressions, scope: LoopScope, out: Buffer) -> None:
        """Adds a loop over the squares of a vector of the last axis; the last square overlaps the one before it."""
        f, lanes = self._f, self._lanes
        extent = self._extents[across.along]
        assert isinstance(extent, int)
        with f.loop(f.integer(0), f.integer(-(-extent // lanes))) as n:
            first = f.intrinsic("smin", n * lanes, f.integer(extent - lanes))
            columns = [self._turned(e, across, scope, first) for e in across.expressions]
            for n_of_column in range(lanes):
                position = first + n_of_column
                with self.bound(across.along, position), self.bound(across.last, scope.value, lanes, scope.mask):
                    for e, of_expression in zip(across.expressions, columns, strict=True):
                        self.assume(e, of_expression[n_of_column])
                    self.store(self.value(kernel.body), kernel, out)

    def _turned(self, e: Expr, across: TurnedExpressions, scope: LoopScope, first: LlvmValue) -> list[LlvmValue]:
        """Returns vectors along the last axis of an expression that is computed along another one, in some rows."""
        lanes, computed, total = self._lanes, list[LlvmValue](), self._extents[across.last]
        assert isinstance(total, int)
        assert scope.value is not None
        rows = lanes if scope.mask is None else total % lanes
        for row in range(rows):
            with self.bound(across.last, scope.value + row), self.bound(across.along, first, lanes):
                computed.append(self._f.splat(self.value(e), lanes))
        return transposed(self._f, [*computed, *[computed[-1]] * (lanes - rows)])

    def _has_pairs(self, kernel: LoopKernel) -> bool:
        """Returns whether the result has pairs of neighbours, and enough of them side by side for a vector."""
        if kernel.steps[-2:] != (2, 1) or kernel.folds():
            return False
        along, pair = [kernel.extents[a] for a in kernel.axes[-2:]]
        return pair == 2 and isinstance(along, int) and along >= self._lanes

    def _emit_pairs(self, kernel: LoopKernel, out: Buffer) -> None:
        """Adds loops that compute the first elements of pairs and the second ones as vectors, and interleave them."""
        f, lanes = self._f, self._lanes
        *outer, along, pair = kernel.axes
        over = axes_of_units(tuple(outer), kernel.extents)
        extent = kernel.extents[along]
        assert isinstance(extent, int)

        def vectors() -> None:
            with f.loop(f.integer(0), f.integer(-(-extent // lanes))) as n:
                start, halves = f.part_start(n, lanes, extent), list[LlvmValue]()
                for half in range(2):
                    with self.bound(pair, f.integer(half)), self.bound(along, start, lanes):
                        x = f.splat(self.value(kernel.body), lanes)
                        halves.append(self.in_memory(x, kernel.body.dtype, out))
                first, second = halves
                both = f.interleaved(first, second, [n // 2 + lanes * (n % 2) for n in range(2 * lanes)])
                with self.bound(pair, f.integer(0)), self.bound(along, start):
                    f.store(both, f.element(out.pointer, self.size(kernel.address), out.storage))

        self._over_units(over, self.units(over), lambda _: self._nested(outer[len(over) :], vectors))

    def _windows(self, kernel: LoopKernel, order: LoopOrder, scopes: Sequence[LoopScope], out: Buffer) -> None:
        """Adds rows of windows: those that are inside of their tensors, and in other code those that may not be."""
        row = order.outer[-1] if order.outer else None
        inside = None if row is None else interior_of(kernel, row, self.layouts)
        if row is None or inside is None:
            self._row(kernel, order, scopes, out)
            return
        f = self._f
        position = self._index_value(row)
        from_start = position - inside.start
        is_inside = from_start.compare("ult", len(inside))
        with f.when(is_inside):
            self._row(with_range(kernel, row, inside), order, self._inside(scopes, row, from_start), out)
        with f.when(is_inside ^ True):
            self._row(kernel, order, self._inside(scopes, row, position), out)

    def _index_value(self, name: str) -> LlvmValue:
        return self.size(index(name))

    def _inside(self, scopes: Sequence[LoopScope], name: str, value: LlvmValue) -> list[LoopScope]:
        """Returns scopes in the branch here, in which an index has another value; vectors are the same."""
        f, out = self._f, list[LoopScope]()
        for s in scopes:
            around = LoopScope(s.parent, f.region, name, value)
            out.append(LoopScope(around, f.region, s.index, s.value, s.lanes, s.mask, is_aligned=s.is_aligned))
        return out

    def _row(self, kernel: LoopKernel, order: LoopOrder, scopes: Sequence[LoopScope], out: Buffer) -> None:
        """Adds the windows along the innermost axis, several at once where all are inside."""
        (axis,) = order.inner
        extent = kernel.extents[axis]
        inside = interior_of(kernel, axis, self.layouts)
        if inside is None or not isinstance(extent, int):
            self._points(kernel, order, scopes, out)
            return
        for part in (range(inside.start), inside, range(inside.stop, extent)):
            if part:
                self._points(with_range(kernel, axis, part), order, scopes, out)

    def _points(self, kernel: LoopKernel, order: LoopOrder, scopes: Sequence[LoopScope], out: Buffer) -> None:
        """Adds a loop over the innermost axis; what windows of a round have in common is computed once."""
        f, (axis,) = self._f, order.inner
        before, self._extents = self._extents, kernel.extents
        extent, start = kernel.extents[axis], f.integer(0)
        size = self.size(extent)
        for step in (order.points, 1):
            if isinstance(extent, int) and extent - (start.number or 0) < step:
                continue
            copies = [with_range(kernel, axis, range(n, n + 1)) for n in range(step)]
            stop = size if step == 1 else self._whole_steps(size, step)
            with f.loop(start, stop, step) as i:
                for scope in scopes:
                    with self._entered(LoopScope(scope, f.region, axis, i)):
                        for copy in copies:
                            self.store(self.value(copy.body), copy, out)
            start = stop
        self._extents = before

    def keep(self, e: Fold, x: LlvmValue) -> None:
        if self._kept is not None and self._kept[0].fold is e:
            kept, out = self._kept
            self.store(x, kept.kernel, out)

    def _emit_running(self, kernel: LoopKernel, running: RunningValues, out: Buffer) -> None:
        """Adds loops with passes along an axis."""
        along = vector_axis(elements_of(kernel, running), self.layouts)
        outer = tuple([a for a in kernel.axes if a not in (along, running.axis)])
        over = axes_of_units(outer, kernel.extents)

        def passes() -> None:
            if along == running.axis:
                self._pass_along_vectors(kernel, running, out)
                return
            groups = [[self._scope]] if along is None else self._vector_groups(along, ACCUMULATORS)
            for scopes in groups:
                self._pass(kernel, running, scopes, out)

        inner = outer[len(over) :]
        self._over_units(over, self.units(over), lambda _: self._nested(inner, passes))

    def _pass(self, kernel: LoopKernel, running: RunningValues, scopes: Sequence[LoopScope], out: Buffer) -> None:
        """Adds a pass for each of several vectors, or for one number."""
        f = self._f
        values = [[f.variable(start.type, start) for start in self._starts(running, s.lanes)] for s in scopes]

        def step(n: int, _: int) -> None:
            self._advance(running.folds, values[n])
            self.store(self.value(kernel.body), kernel, out)

        self._nested_together((running.axis,), scopes, step)

    def _advance(self, running: Sequence[RunningFold], values: Sequence[Variable]) -> None:
        """Combines running values with the elements of a position, where they are known then."""
        f = self._f
        for r, running_value in zip(running, values, strict=True):
            before = running_value.get()
            x = f.splat(self.value(r.element), before.type.lanes)
            after = combined(f, r.fold.fn, r.fold.dtype, before, x)
            running_value.set(after)
            self.assume(r.fold, before if r.is_exclusive else after)

    def _pass_along_vectors(self, kernel: LoopKernel, running: RunningValues, out: Buffer) -> None:
        """Adds a pass of vectors along the axis: values within a vector by halves, then those before it."""
        f, lanes = self._f, self._lanes
        before = [f.variable(start.type, start) for start in self._starts(running, 1)]
        for _ in self._vectors(running.axis, 1):
            for r, carried, start in zip(running.folds, before, self._starts(running, lanes), strict=True):
                fn, dtype = r.fold.fn, r.fold.dtype
                x = f.splat(self.value(r.element), lanes)
                if self._scope.mask is not None:
                    x = f.select(self._scope.mask, x, start)
                by = 1
                while by < lanes:
                    x = combined(f, fn, dtype, f.moved_up(x, by, start), x)
                    by *= 2
                carry = carried.get()
                inside = f.moved_up(x, 1, start) if r.is_exclusive else x
                self.assume(r.fold, combined(f, fn, dtype, carry, inside))
                carried.set(combined(f, fn, dtype, carry, f.lane(x, lanes - 1)))
            self.store(self.value(kernel.body), kernel, out)

    def _starts(self, running: RunningValues, lanes: int) -> list[LlvmValue]:
        return [self._start(r.fold, lanes) for r in running.folds]

    def units(self, over: Sequence[str], inside: Dim = 1) -> Units:
        """States that the work has a unit for each round of loops over some axes, times a number inside of those.

        Returns the range of units to do; see `WorkDivision`.
        """
        return self._division.part(self._f, self._rounds(over) * inside, self.size)

    def prepares_units(self) -> None:
        """States that some work is done again for each range of units, so that there should be few of them."""
        self._division.prepares = True

    def _rounds(self, over: Sequence[str]) -> Dim:
        return element_count([self._extents[a] for a in over])

    def _over_vectors(
        self, over: Sequence[str], inner: Sequence[str], last: str, each: int, innermost: Callable[[Units], None]
    ) -> None:
        """Adds the loops around one over vectors of an axis, of which a unit has so many; whole rows if that is 0."""
        if each:
            count = ceil_div(self._extents[last], each * self._lanes)
            self._over_units(over, self.units(over, count), innermost, count)
            return
        whole = Units(self._f)
        self._over_units(over, self.units(over), lambda _: self._nested(inner, lambda: innermost(whole)))

    def _over_units(
        self, over: Sequence[str], units: Units, innermost: Callable[[Units], None], inside: Dim = 1
    ) -> None:
        """Adds the loops over some axes that units are numbered by."""
        if not over:
            innermost(units)
            return
        extent, each = self.size(self._extents[over[0]]), self.size(self._rounds(over[1:]) * inside)
        with units.loop(extent, each) as (i, units_here), self.bound(over[0], i):
            self._over_units(over[1:], units_here, innermost, inside)

    def _fold_together(self, kernel: LoopKernel, scopes: Sequence[LoopScope]) -> None:
        """Computes the folds that several vectors need in one loop each."""
        bound = self._bound_in(scopes[0])
        folds = [e for e in kernel.folds() if not is_small(e, self._extents) and set(free(e)) <= bound]
        for e in reversed(folds):
            if scopes[0].index in free(e) and not any(isinstance(x, Join) for x in walk(e.body)):
                self._add_folds(e, scopes)

    def _bound_in(self, scope: LoopScope | None) -> set[str]:
        out: set[str] = set()
        while scope is not None:
            out.add(scope.index)
            scope = scope.parent
        return out

    def _add_folds(self, e: Fold, scopes: Sequence[LoopScope]) -> None:
        """Computes a fold for several vectors, with several partial results of each."""
        f = self._f
        copies = max(1, ACCUMULATORS // len(scopes))
        lanes = scopes[0].lanes
        start = self._start(e, lanes)
        partial = [[f.variable(start.type, start) for _ in range(copies)] for _ in scopes]

        def step(n: int, copy: int) -> None:
            x = f.splat(self.value(e.body), lanes)
            self.keep(e, x)
            partial[n][copy].set(combined(f, e.fn, e.dtype, partial[n][copy].get(), x))

        self._nested_together(e.over, scopes, step, copies)
        for scope, of_scope in zip(scopes, partial, strict=True):
            first, *others = [p.get() for p in of_scope]
            for x in others:
                first = combined(f, e.fn, e.dtype, first, x)
            scope.values[e] = first

    def _nested_together(
        self,
        over: Sequence[str],
        scopes: Sequence[LoopScope],
        innermost: Callable[[int, int], None],
        copies: int = 1,
    ) -> None:
        """Adds loops inside of several scopes at once; `copies` points of the last one are handled in a round.

        `innermost` receives the number of the scope that it is in, and that of the copy.
        """
        f = self._f
        if not over:
            for n, scope in enumerate(scopes):
                with self._entered(scope):
                    innermost(n, 0)
            return
        name, rest = over[0], over[1:]
        extent = self._extents[name]
        with self._entered(scopes[0]):
            size = self.size(extent)
        start = f.integer(0)
        for step in (1,) if rest else dict.fromkeys((copies, 1)):
            if isinstance(extent, int) and extent - (start.number or 0) < step:
                continue
            stop = size if step == 1 else self._whole_steps(size, step)
            with f.loop(start, stop, step) as i:
                for copy in range(step):
                    inside = [LoopScope(s, f.region, name, i + copy) for s in scopes]
                    self._nested_together(rest, inside, lambda n, c, copy=copy: innermost(n, c + copy))
            start = stop
