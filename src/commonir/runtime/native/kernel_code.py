"""Code of one kernel: loops over the axes of its result, and everything inside computed where it is first possible.

Each loop is a scope that binds an index. An expression is computed in the innermost scope that binds one of its free
indices, once: what does not depend on a loop moves out of it, as do sums of folds that only depend on outer indices.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from commonir.base.tuples import NamedTuple
from commonir.ir.types import ElementType
from commonir.notation import (
    Access,
    Apply,
    Cast,
    Const,
    Expr,
    Fold,
    Guard,
    Join,
    Position,
    free,
    index,
    pieces_by_position,
    put,
    walk,
)
from commonir.runtime.interpreter.evaluation import rounds_to_half
from commonir.runtime.kernel_graph.layouts import MemoryLayout
from commonir.runtime.native.element_code import converted_integer, loaded_value, rounded, stored_value
from commonir.runtime.native.llvm_ir import BOOL, I32, I64, Function, LlvmType, LlvmValue, Region
from commonir.runtime.native.loop_kernel import (
    DataPosition,
    LoopKernel,
    Read,
    read_of,
    vector_axis,
    vector_index_of,
)
from commonir.runtime.native.loop_order import ACCUMULATORS, is_small, loop_order
from commonir.runtime.native.program import Check
from commonir.runtime.native.running_values import RunningValues, elements_of, with_running_values
from commonir.runtime.native.scalar_functions import (
    NotCompiled,
    applied,
    combined,
    converted,
    reduced_lanes,
    register_type,
    start_of,
)
from commonir.runtime.native.target import Target
from commonir.runtime.native.work_units import Units, WorkDivision, axes_of_units, rounds_of_unit
from commonir.symbolic import (
    Atom,
    Dim,
    DimExpr,
    Floor,
    Max,
    Mod,
    Symbol,
    at_least,
    ceil_div,
    extreme,
    linear_in,
    names,
    terms_of,
    total,
)


class Buffer(NamedTuple):
    """A tensor in memory: a pointer to its first element, the LLVM type of elements there, and their layout."""

    pointer: LlvmValue
    storage: str
    layout: MemoryLayout


class Scratch:
    """Memory that a function uses while it runs, with the sizes in bytes that its parts need of it."""

    def __init__(self, pointer: LlvmValue) -> None:
        self.pointer = pointer
        self.sizes: list[Dim] = []

    def require(self, size_bytes: Dim) -> None:
        """States that the function uses so many bytes."""
        if size_bytes not in self.sizes:
            self.sizes.append(size_bytes)


class LoopScope:
    """A loop, or a part of one, that binds an index. Lane `n` of a vector has the value plus `n`."""

    __slots__ = ("index", "lanes", "mask", "parent", "region", "sums", "value", "values")

    def __init__(
        self,
        parent: LoopScope | None,
        region: Region,
        name: str = "",
        value: LlvmValue | None = None,
        lanes: int = 1,
        mask: LlvmValue | None = None,
    ) -> None:
        self.parent = parent
        self.region = region
        self.index = name
        self.value = value
        self.lanes = lanes
        self.mask = mask
        self.values: dict[Expr, LlvmValue] = {}
        self.sums: dict[Dim, LlvmValue] = {}


class KernelCode:
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
        self._f = function
        self._division = division
        self._target = target
        self._buffers = buffers
        self._sizes = sizes
        self._faults = faults
        self._checks = checks
        self.scratch = scratch
        self.layouts = {name: b.layout for name, b in buffers.items()}
        self._scope = LoopScope(None, function.region)
        self._data: dict[str, LlvmValue] = {}
        # The indices that data positions depend on.
        self._indices_of_data: dict[str, tuple[str, ...]] = {}
        self._extents: Mapping[str, Dim] = {}
        self._lanes = target.lanes()

    # -- loops

    def emit(self, kernel: LoopKernel, out: Buffer) -> None:
        """Adds loops that compute the elements of a kernel. Units of work are rounds of the outermost loops."""
        kernel, running = with_running_values(kernel)
        self.start(kernel)
        if running is not None:
            self._emit_running(kernel, running, out)
            return
        order = loop_order(kernel, self.layouts)
        over = axes_of_units(order.outer, kernel.extents)
        inner = order.outer[len(over) :]

        def element() -> None:
            self.store(self.value(kernel.body), kernel, out)

        last = order.last
        if last is None:
            self._over_units(over, self.units(over), lambda _: self._nested(inner, element))
            return
        rounds = 0 if inner else rounds_of_unit(kernel, over, last, order.vectors * self._lanes)

        def vectors(units: Units) -> None:
            for scopes in self._vector_groups(last, order.vectors, units, rounds):
                self._fold_together(kernel, scopes)
                self._nested_together(order.inner, scopes, lambda _, __: element())

        if rounds:
            count = ceil_div(self._extents[last], rounds * order.vectors * self._lanes)
            self._over_units(over, self.units(over, count), vectors, count)
        else:
            whole = Units(self._f)
            self._over_units(over, self.units(over), lambda _: self._nested(inner, lambda: vectors(whole)))

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
            for r, running_value in zip(running.folds, values[n], strict=True):
                before = running_value.get()
                x = f.splat(self.value(r.element), before.type.lanes)
                after = combined(f, r.fold.fn, r.fold.dtype, before, x)
                running_value.set(after)
                self.assume(r.fold, before if r.is_exclusive else after)
            self.store(self.value(kernel.body), kernel, out)

        self._nested_together((running.axis,), scopes, step)

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

    def _rounds(self, over: Sequence[str]) -> Dim:
        out: Dim = 1
        for a in over:
            out = out * self._extents[a]
        return out

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

    def start(self, kernel: LoopKernel) -> None:
        """Prepares for the code of a kernel."""
        self._extents = kernel.extents
        self._lanes = self._target.lanes(_widest_bits(kernel.body))

    def _nested(self, over: Sequence[str], innermost: Callable[[], None]) -> None:
        if not over:
            innermost()
            return
        with self._f.loop(self._f.integer(0), self.size(self._extents[over[0]])) as i, self.bound(over[0], i):
            self._nested(over[1:], innermost)

    def _vectors(self, name: str, unroll: int) -> Iterator[int]:
        """Yields in code that handles a vector of values of an index; numbers from 0 within an unrolled round."""
        for scopes in self._vector_groups(name, unroll):
            for copy, scope in enumerate(scopes):
                with self._entered(scope):
                    yield copy

    def _vector_groups(
        self, name: str, count: int, units: Units | None = None, rounds: int = 0
    ) -> Iterator[list[LoopScope]]:
        """Yields scopes of up to so many vectors of values of an index, in code that handles them together.

        If the loop is divided, a unit has some of its rounds.
        """
        f, lanes, extent = self._f, self._lanes, self._extents[name]
        n = self.size(extent)
        step = lanes * count
        in_whole, in_rest = Units(f), Units(f)
        whole = f.integer(extent // step * step) if isinstance(extent, int) else self._whole_steps(n, step)
        if units is not None and rounds and not units.is_whole:
            in_whole, in_rest = units.scaled(rounds * step).split(whole)
        if isinstance(extent, int):
            if whole.number:
                with f.loop(*in_whole.range(whole), step) as i:
                    yield self._vector_scopes(name, i, count, None)
            rest = extent % step
            if rest:
                with in_rest.if_any():
                    yield self._vector_scopes(name, whole, -(-rest // lanes), n)
            return
        with f.loop(*in_whole.range(whole), step) as i:
            yield self._vector_scopes(name, i, count, None)
        with in_rest.if_any():
            last = self._whole_steps(n, lanes)
            if count > 1:
                with f.loop(whole, last, lanes) as i:
                    yield self._vector_scopes(name, i, 1, None)
            with f.when(last.compare("slt", n)):
                yield self._vector_scopes(name, last, 1, n)

    def _vector_scopes(self, name: str, start: LlvmValue, count: int, stop: LlvmValue | None) -> list[LoopScope]:
        """Returns scopes of vectors from a value on; the last one ends at `stop`."""
        f, lanes = self._f, self._lanes
        scopes = [LoopScope(self._scope, f.region, name, start + n * lanes, lanes) for n in range(count)]
        if stop is not None:
            left = stop - (start + (count - 1) * lanes)
            if left.number != lanes:
                numbers = f.lane_numbers(LlvmType("i32", lanes))
                scopes[-1].mask = numbers.compare("slt", self._narrow(left))
        return scopes

    def _whole_steps(self, n: LlvmValue, step: int) -> LlvmValue:
        return self._f.binary("sdiv", "sdiv", n, step) * step

    @contextmanager
    def bound(
        self, name: str, value: LlvmValue | None, lanes: int = 1, mask: LlvmValue | None = None
    ) -> Generator[None]:
        """Opens a scope that binds an index in the region that instructions are added to."""
        with self._entered(LoopScope(self._scope, self._f.region, name, value, lanes, mask)):
            yield

    @contextmanager
    def _entered(self, scope: LoopScope) -> Generator[None]:
        """Adds instructions within a scope, to the region that they are added to already."""
        before = self._scope
        self._scope = scope
        try:
            yield
        finally:
            self._scope = before

    @contextmanager
    def bound_all(self, values: Mapping[str, LlvmValue]) -> Generator[None]:
        """Opens scopes that bind several indices."""
        if not values:
            yield
            return
        (name, value), *others = values.items()
        with self.bound(name, value), self.bound_all(dict(others)):
            yield

    def assume(self, e: Expr, value: LlvmValue) -> None:
        """Makes a value the one of an expression in the innermost scope."""
        self._scope.values[e] = value

    def buffer(self, name: str) -> Buffer:
        """Returns an operand."""
        return self._buffers[name]

    @contextmanager
    def _within(self, scope: LoopScope) -> Generator[None]:
        """Adds instructions to an outer scope."""
        before = self._scope
        self._scope = scope
        try:
            with self._f.inserting(scope.region):
                yield
        finally:
            self._scope = before

    def _owner(self, needed: Iterable[str]) -> LoopScope:
        """Returns the innermost scope that binds one of some indices."""
        wanted = self._indices(needed)
        scope = self._scope
        while scope.parent is not None and scope.index not in wanted:
            scope = scope.parent
        return scope

    def _indices(self, needed: Iterable[str]) -> set[str]:
        """Returns indices, with those that data positions among them depend on."""
        return {i for name in needed for i in (name, *self._indices_of_data.get(name, ()))}

    def _scope_of(self, name: str) -> LoopScope | None:
        """Returns the scope that binds an index."""
        scope: LoopScope | None = self._scope
        while scope is not None and scope.index != name:
            scope = scope.parent
        return scope

    @property
    def _vector(self) -> LoopScope | None:
        """The scope whose index has a value for each lane, if instructions here are inside of one."""
        scope: LoopScope | None = self._scope
        while scope is not None and scope.lanes == 1:
            scope = scope.parent
        return scope

    # -- expressions

    def value(self, e: Expr) -> LlvmValue:
        """Returns the value of an expression: a vector where it depends on the index that has lanes."""
        if isinstance(e, Const):
            return self._constant(e)
        scope = self._owner(free(e))
        result = scope.values.get(e)
        if result is None:
            with self._within(scope):
                result = self._computed(e)
            scope.values[e] = result
        return result

    def _constant(self, e: Const) -> LlvmValue:
        if isinstance(e.value, complex):
            raise NotCompiled("complex numbers")
        return self._f.constant(LlvmType(register_type(e.dtype)), e.value)

    def _computed(self, e: Expr) -> LlvmValue:
        match e:
            case Position(at=at):
                return self._position_value(at, e.dtype)
            case Access():
                return self._access(e)
            case Cast(body=body):
                return self._in_bits(self._cast(body, e.dtype), e.dtype)
            case Apply(fn=fn, args=args):
                element = args[1].dtype if fn == "select" else args[0].dtype
                register_type(element)
                x = applied(self._f, fn, element, tuple([self.value(a) for a in args]))
                return self._in_bits(x, e.dtype)
            case Fold():
                return self._in_bits(self._fold(e), e.dtype)
            case Join():
                return self._join(e)
            case _:
                raise NotCompiled(type(e).__name__)

    def _in_bits(self, x: LlvmValue, element: ElementType) -> LlvmValue:
        """Returns integers of less than a byte, which are computed in bytes, wrapped to their bits."""
        unused = x.type.bits - element.bits
        if not element.is_integer or unused <= 0:
            return x
        return x.shift_left(unused).shift_right(unused, is_signed=element.kind == "int")

    def _position_value(self, at: Dim, element: ElementType) -> LlvmValue:
        x = self._position(at)
        scalar = register_type(element)
        if element.kind == "float":
            return self._f.cast("sitofp", x, scalar)
        return converted_integer(self._f, x, scalar, is_signed=True)

    def _cast(self, body: Expr, to: ElementType) -> LlvmValue:
        x = self.value(body)
        f = self._f
        if rounds_to_half(body, to):
            if to.bits < 16 or x.type.bits == 64:
                raise NotCompiled(f"a conversion to {to}")
            x = converted(f, x, body.dtype, to)
            return rounded(f, x, to)
        if to.is_integer and body.dtype.kind == "float" and body.dtype.bits < 32:
            x = rounded(f, x, body.dtype)
        return converted(f, x, body.dtype, to)

    def _join(self, e: Join) -> LlvmValue:
        """Returns the piece at the position of the index; all pieces are read."""
        along = self._position(index(e.along))
        result: LlvmValue | None = None
        for start, piece in pieces_by_position(e, self._extents):
            x = self.value(piece)
            result = (
                x if result is None else self._f.select(along.compare("sge", self._lanes_of(start, along)), x, result)
            )
        if result is None:
            raise NotCompiled("a join of nothing")
        return result

    def _lanes_of(self, dim: Dim, like: LlvmValue) -> LlvmValue:
        """Returns a size with the element type of positions."""
        x = self.size(dim)
        return x if like.type.scalar == "i64" else self._narrow(x)

    # -- folds

    def _fold(self, e: Fold) -> LlvmValue:
        joined = {x.along for x in walk(e.body) if isinstance(x, Join)}
        if self._vector is not None and is_small(e, self._extents) and not joined.intersection(e.over):
            return self._unrolled(e)
        along = None if self._vector is not None else vector_index_of(e, self.layouts, self._extents)
        return self._looped(e) if along is None else self._along_vectors(e, along)

    def _unrolled(self, e: Fold) -> LlvmValue:
        ranges = [range(n) for n in (self._extents[i] for i in e.over) if isinstance(n, int)]
        result: LlvmValue | None = None
        for point in itertools.product(*ranges):
            values: dict[str, Dim] = dict(zip(e.over, point, strict=True))
            x = self.value(put(e.body, values))
            result = x if result is None else combined(self._f, e.fn, e.dtype, result, x)
        return self._start(e, 1) if result is None else result

    def _start(self, e: Fold, lanes: int) -> LlvmValue:
        return start_of(self._f, e.fn, e.dtype, LlvmType(register_type(e.dtype), lanes))

    def _looped(self, e: Fold) -> LlvmValue:
        vector = self._vector
        lanes = 1 if vector is None else vector.lanes
        sum_so_far = self._f.variable(LlvmType(register_type(e.dtype), lanes), self._start(e, lanes))

        def step() -> None:
            x = self._f.splat(self.value(e.body), lanes)
            sum_so_far.set(combined(self._f, e.fn, e.dtype, sum_so_far.get(), x))

        self._nested(e.over, step)
        return sum_so_far.get()

    def _along_vectors(self, e: Fold, along: str) -> LlvmValue:
        """Returns a fold whose vectors run along one of its indices, with several partial results."""
        f, lanes = self._f, self._lanes
        start = self._start(e, lanes)
        partial = [f.variable(start.type, start) for _ in range(ACCUMULATORS)]

        def row() -> None:
            for copy in self._vectors(along, ACCUMULATORS):
                x = f.splat(self.value(e.body), lanes)
                if self._scope.mask is not None:
                    x = f.select(self._scope.mask, x, start)
                partial[copy].set(combined(f, e.fn, e.dtype, partial[copy].get(), x))

        self._nested([i for i in e.over if i != along], row)
        first, *others = [p.get() for p in partial]
        for x in others:
            first = combined(f, e.fn, e.dtype, first, x)
        return reduced_lanes(f, e.fn, e.dtype, first)

    # -- positions

    def size(self, dim: Dim) -> LlvmValue:
        """Returns an expression of sizes, indices without lanes, and scalar data, in 64 bits.

        Each part is computed in the innermost scope that it needs, so that outer loops compute outer parts.
        """
        if isinstance(dim, int):
            return self._f.integer(dim)
        scope = self._owner(names(dim))
        result = scope.sums.get(dim)
        if result is None:
            inner = [DimExpr({m: c}) if m else c for m, c in terms_of(dim).items() if self._needs(m, scope)]
            rest = dim - total(inner)
            with self._within(scope):
                result = self._sum(inner)
                if rest != 0:
                    result = self.size(rest) + result if inner else result
            scope.sums[dim] = result
        return result

    def _needs(self, monomial: Sequence[Atom], scope: LoopScope) -> bool:
        if scope.parent is None:
            return True
        return bool(monomial) and scope.index in self._indices(names(DimExpr({tuple(monomial): 1})))

    def _sum(self, parts: Iterable[Dim]) -> LlvmValue:
        out = self._f.integer(0)
        for part in parts:
            for m, c in terms_of(part).items():
                term = self._f.integer(c)
                for a in m:
                    term = self._atom(a) * term
                out = term if out.number == 0 else out + term
        return out

    def _atom(self, a: Atom) -> LlvmValue:
        f = self._f
        match a:
            case Symbol():
                return self._symbol(a.name)
            case Floor() | Mod():
                x, y = self.size(a.num), self.size(a.den)
                return self._divided(a, x, y)
            case Max():
                first, *others = [self.size(y) for y in a.args]
                for y in others:
                    first = f.intrinsic("smax", first, y)
                return first

    def _symbol(self, name: str) -> LlvmValue:
        scope = self._scope_of(name)
        if scope is not None and scope.value is not None:
            return scope.value
        result = self._data.get(name)
        return self._sizes[name] if result is None else result

    def _divided(self, a: Floor | Mod, x: LlvmValue, y: LlvmValue) -> LlvmValue:
        """Returns a floor or remainder; of numbers that cannot be negative by plain division."""
        f, is_floor = self._f, isinstance(a, Floor)
        if y.number is None:
            # Where a size is zero nothing is read at the position, but the processor would fault.
            y = f.select(y.compare("eq", 0), f.constant(y.type, 1), y)
        if self._is_nonnegative(a.num) and self._is_nonnegative(a.den):
            op = "udiv" if is_floor else "urem"
            return f.binary(op, op, x, y)
        r = f.binary("srem", "srem", x, y)
        differs = (r ^ y).compare("slt", 0) & r.compare("ne", 0)
        if not is_floor:
            return f.select(differs, r + y, r)
        return f.binary("sdiv", "sdiv", x, y) - f.cast("zext", differs, r.type.scalar)

    def _is_nonnegative(self, dim: Dim) -> bool:
        if any(n in self._data for n in names(dim)):
            return False
        return at_least(extreme(dim, self._extents, upper=False), 0)

    def _varies(self, dim: Dim) -> bool:
        """Returns whether a position differs between lanes."""
        vector = self._vector
        return any((vector is not None and n == vector.index) or self._has_lanes(n) for n in names(dim))

    def _has_lanes(self, name: str) -> bool:
        return name in self._data and self._data[name].type.lanes > 1

    def _position(self, dim: Dim) -> LlvmValue:
        """Returns a position: in 64 bits, or in 32 bits for each lane where lanes differ."""
        return self._lane_position(dim) if self._varies(dim) else self.size(dim)

    def _lane_position(self, dim: Dim) -> LlvmValue:
        """Returns the positions of all lanes, in 32 bits."""
        out: LlvmValue | None = None
        fixed: list[Dim] = []
        for m, c in terms_of(dim).items():
            part: Dim = DimExpr({m: c}) if m else c
            if not self._varies(part):
                fixed.append(part)
                continue
            term = self._f.constant(I32, c)
            for a in m:
                term = self._lane_atom(a) * term
            out = term if out is None else out + term
        rest = total(fixed)
        start = self._narrow(self.size(rest))
        if out is None:
            return start
        return out if rest == 0 else out + self._f.splat(start, out.type.lanes)

    def _narrow(self, x: LlvmValue) -> LlvmValue:
        return self._f.constant(I32, x.number) if x.number is not None else self._f.cast("trunc", x, "i32")

    def _lane_atom(self, a: Atom) -> LlvmValue:
        f = self._f
        if not self._varies(DimExpr({(a,): 1})):
            return self._narrow(self.size(DimExpr({(a,): 1})))
        match a:
            case Symbol():
                if self._has_lanes(a.name):
                    return self._data[a.name]
                scope = self._scope_of(a.name)
                assert scope is not None
                assert scope.value is not None
                numbers = f.lane_numbers(LlvmType("i32", scope.lanes))
                return f.splat(self._narrow(scope.value), scope.lanes) + numbers
            case Floor() | Mod():
                x, y = f.paired(self._lane_position(a.num), self._lane_position(a.den))
                return self._divided(a, x, y)
            case Max():
                first, *others = [self._lane_position(y) for y in a.args]
                for y in others:
                    x, y = f.paired(first, y)
                    first = f.intrinsic("smax", x, y)
                return first

    # -- memory

    def _access(self, e: Access) -> LlvmValue:
        read = read_of(e, self.layouts, self._extents)
        for d in read.data:
            self._indices_of_data[d.name] = free(d.value)
            with self._within(self._owner(free(d.value))):
                self._data[d.name] = self._checked(e, d)
        buffer = self._buffers[e.tensor.name]
        conditions = [(self._holds(g), g.fill) for g in read.guards]
        if any(isinstance(fill, complex) for _, fill in conditions):
            raise NotCompiled("complex numbers")
        result = self._loaded(buffer, read, [c for c, _ in conditions], e.dtype)
        for condition, fill in reversed(conditions):
            assert not isinstance(fill, complex)
            other = self._f.constant(LlvmType(result.type.scalar), fill)
            result = self._f.select(condition, result, other)
        return result

    def _checked(self, e: Access, d: DataPosition) -> LlvmValue:
        """Returns a position from data, after checking that it is in range; outside a fault is stored, and the function
        returns: nothing may be read from a tensor without elements.
        """
        f = self._f
        x = self.value(d.value)
        wide = converted_integer(f, x, "i64", is_signed=d.value.dtype.kind == "int")
        size = f.splat(self.size(d.size), wide.type.lanes)
        is_inside = wide.compare("ult", size)
        is_bad = is_inside ^ True
        mask = self._vector.mask if self._vector is not None else None
        if mask is not None and is_bad.type.lanes > 1:
            is_bad = is_bad & mask
        self._checks.append(Check(e.tensor.name, d.axis, d.size))
        any_bad = (
            is_bad if is_bad.type.lanes == 1 else f.called(f"llvm.vector.reduce.or.{is_bad.type.mangled}", BOOL, is_bad)
        )
        with f.when(any_bad):
            at = f.select(is_bad, wide, -1) if wide.type.lanes > 1 else wide
            one = at if at.type.lanes == 1 else f.called(f"llvm.vector.reduce.smax.{at.type.mangled}", I64, at)
            # Several threads may find faults: the first one counts.
            is_first = f.compare_exchange(self._faults, f.integer(0), f.integer(len(self._checks)))
            with f.when(is_first):
                f.store(one, f.element(self._faults, f.integer(1), "i64"))
            f.return_()
        # Lanes that do not count read anything.
        safe = f.select(is_inside, wide, 0)
        return safe if safe.type.lanes == 1 else f.cast("trunc", safe, "i32")

    def _holds(self, g: Guard) -> LlvmValue:
        f = self._f
        position, bound = (
            f.paired(self._position(g.position), self._position(g.bound))
            if self._varies(g.position) == self._varies(g.bound)
            else f.paired(self._lane_position(g.position), self._lane_position(g.bound))
        )
        if g.kind == "inside":
            return position.compare("ult", bound)
        return f.binary("srem", "srem", position, bound).compare("eq", 0)

    def _loaded(self, buffer: Buffer, read: Read, conditions: Sequence[LlvmValue], element: ElementType) -> LlvmValue:
        """Returns the elements at an address, anything where a condition does not hold."""
        f, vector = self._f, self._vector
        holds: LlvmValue | None = None
        for c in conditions:
            holds = c if holds is None else f.binary("and", "and", holds, c)
        if not self._varies(read.address):
            at = self.size(read.address)
            if holds is not None and holds.type.lanes == 1:
                at = f.select(holds, at, 0)
            elif holds is not None:
                any_holds = f.called(f"llvm.vector.reduce.or.{holds.type.mangled}", BOOL, holds)
                at = f.select(any_holds, at, 0)
            x = f.load(f.element(buffer.pointer, at, buffer.storage), LlvmType(buffer.storage))
            return loaded_value(f, x, element)
        assert vector is not None
        mask = vector.mask
        if holds is not None:
            wide = f.splat(holds, vector.lanes)
            mask = wide if mask is None else mask & wide
        type = LlvmType(buffer.storage, vector.lanes)
        is_linear = not any(self._has_lanes(n) for n in names(read.address))
        if is_linear and linear_in(read.address, vector.index)[0] == 1:
            return loaded_value(f, self._contiguous(buffer, read.address, vector, type, mask), element)
        every = f.constant(LlvmType("i1", vector.lanes), 1)
        at = self._lane_position(read.address)
        x = f.gather(buffer.pointer, at, mask or every, f.constant(type, 0))
        return loaded_value(f, x, element)

    def _contiguous(
        self, buffer: Buffer, address: Dim, vector: LoopScope, type: LlvmType, mask: LlvmValue | None
    ) -> LlvmValue:
        """Returns neighbouring elements."""
        f = self._f
        assert vector.value is not None
        start = self.size(address - index(vector.index)) + vector.value
        pointer = f.element(buffer.pointer, start, buffer.storage)
        return f.load(pointer, type) if mask is None else f.masked_load(pointer, mask, f.constant(type, 0))

    def store(self, x: LlvmValue, kernel: LoopKernel, out: Buffer) -> None:
        """Writes a value at the address of the indices here."""
        f, vector = self._f, self._vector
        x = stored_value(f, x, out.storage, kernel.body.dtype)
        if vector is None:
            f.store(x, f.element(out.pointer, self.size(kernel.address), out.storage))
            return
        assert vector.value is not None
        start = self.size(kernel.address - index(vector.index)) + vector.value
        pointer = f.element(out.pointer, start, out.storage)
        x = f.splat(x, vector.lanes)
        if vector.mask is None:
            f.store(x, pointer)
        else:
            f.masked_store(x, pointer, vector.mask)


def _widest_bits(body: Expr) -> int:
    """Returns the bits that the number of lanes is chosen by: 64 where everything is computed in 64 bits."""
    return 64 if body.dtype.kind == "float" and body.dtype.bits == 64 else 32
