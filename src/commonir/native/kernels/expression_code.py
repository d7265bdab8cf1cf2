"""Code of expressions: reads, scalar functions and folds, in the loops around them.

An expression is computed in the innermost scope that binds one of its free indices, once: what does not depend on a
loop moves out of it, as do sums of folds that only depend on outer indices.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.ir.types import ElementType, f32, i8, u8
from commonir.llvm.element_code import converted_integer, loaded_value, rounded, stored_value
from commonir.llvm.llvm_ir import BOOL, I64, Function, LlvmType, LlvmValue
from commonir.llvm.scalar_functions import (
    NotCompiled,
    applied,
    combined,
    combined_all,
    converted,
    quantized,
    reduced_lanes,
    register_type,
    start_of,
)
from commonir.llvm.target import Target
from commonir.native.kernels.lane_offsets import MovingGuard, lane_offsets, loaded_at
from commonir.native.kernels.loop_order import ACCUMULATORS, is_small
from commonir.native.kernels.position_code import LoopScope, PositionCode
from commonir.native.kernels.work_units import Units
from commonir.native.program import Check
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
from commonir.runtime.kernel_graph.loop_kernel import DataPosition, LoopKernel, Read, read_of, vector_index_of
from commonir.symbolic import Dim, linear_in, names, terms_of


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


def missing_code(body: Expr) -> str:
    """Returns the part of the expression of a kernel that has no machine code, "" if all has."""
    for e in walk(body):
        if e.dtype.kind not in ("bool", "int", "uint", "float"):
            return f"elements of type {e.dtype}"
        if isinstance(e, Cast) and e.dtype.bits < 16 and rounds_to_half(e.body, e.dtype):
            return f"a conversion to {e.dtype}"
    return ""


class ExpressionCode(PositionCode):
    """Adds code of expressions of a kernel to a function.

    `buffers` are the operands by name, `sizes` the symbols. Found `checks` are appended to the list.
    """

    def __init__(
        self,
        function: Function,
        target: Target,
        buffers: Mapping[str, Buffer],
        sizes: Mapping[str, LlvmValue],
        faults: LlvmValue,
        checks: list[Check],
    ) -> None:
        super().__init__(function, sizes)
        self._target = target
        self._buffers = buffers
        self._faults = faults
        self._checks = checks
        self.layouts = {name: b.layout for name, b in buffers.items()}
        self._lanes = target.lanes()

    def start(self, kernel: LoopKernel) -> None:
        """Prepares for the code of a kernel."""
        self._extents = kernel.extents
        self._lanes = self._target.lanes(widest_bits(kernel.body))

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
        starts = [start + n * lanes for n in range(count)]
        scopes = [LoopScope(self._scope, f.region, name, s, lanes, is_aligned=True) for s in starts]
        if stop is not None:
            left = stop - (start + (count - 1) * lanes)
            if left.number != lanes:
                scopes[-1].mask = f.first_lanes(self._narrow(left), lanes)
        return scopes

    def _whole_steps(self, n: LlvmValue, step: int) -> LlvmValue:
        return self._f.binary("sdiv", "sdiv", n, step) * step

    def assume(self, e: Expr, value: LlvmValue) -> None:
        """Makes a value the one of an expression in the innermost scope."""
        self._scope.values[e] = value

    def buffer(self, name: str) -> Buffer:
        """Returns an operand."""
        return self._buffers[name]

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
        assert not isinstance(e.value, complex)
        return self._f.constant(LlvmType(register_type(e.dtype)), e.value)

    def _computed(self, e: Expr) -> LlvmValue:
        match e:
            case Position(at=at):
                return self._position_value(at, e.dtype)
            case Access():
                return self._access(e)
            case Cast(body=body):
                return self._in_bits(self._cast(body, e.dtype), e.dtype)
            case Apply(fn="divide", args=(x, y)) if self._has_reciprocal(y):
                return self.value(x) * self.value(Apply("divide", (Const(1.0, y.dtype), y)))
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

    def _has_reciprocal(self, divisor: Expr) -> bool:
        """Returns whether a divisor is one of several numbers, and never so small that its reciprocal overflows.

        Such are square roots, and sums of exponentials of which one is 1.
        """
        if divisor.dtype is not f32 or self._owner(free(divisor)) is self._scope:
            return False
        match divisor:
            case Apply(fn="sqrt"):
                return True
            case Fold(fn="add", body=Apply(fn="exp")):
                return True
            case _:
                return False

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
        steps = _quantization(body, to)
        if steps is not None:
            return quantized(self._f, self.value(steps[0]), steps[1], to)
        x = self.value(body)
        f = self._f
        if rounds_to_half(body, to):
            if to.bits < 16:
                raise NotCompiled(f"a conversion to {to}")
            return rounded(f, x if x.type.is_float else converted(f, x, body.dtype, to), to)
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
        # A join of nothing has no elements.
        return self._f.constant(LlvmType(register_type(e.dtype)), 0) if result is None else result

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
        points = [dict[str, Dim](zip(e.over, point, strict=True)) for point in itertools.product(*ranges)]
        result = combined_all(self._f, e.fn, e.dtype, (self.value(put(e.body, values)) for values in points))
        return self._start(e, 1) if result is None else result

    def _start(self, e: Fold, lanes: int) -> LlvmValue:
        return start_of(self._f, e.fn, e.dtype, LlvmType(register_type(e.dtype), lanes))

    def _looped(self, e: Fold) -> LlvmValue:
        vector = self._vector
        lanes = 1 if vector is None else vector.lanes
        sum_so_far = self._f.variable(LlvmType(register_type(e.dtype), lanes), self._start(e, lanes))

        def step() -> None:
            x = self._f.splat(self.value(e.body), lanes)
            self.keep(e, x)
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
                self.keep(e, x)
                if self._scope.mask is not None:
                    x = f.select(self._scope.mask, x, start)
                partial[copy].set(combined(f, e.fn, e.dtype, partial[copy].get(), x))

        self._nested([i for i in e.over if i != along], row)
        first, *others = [p.get() for p in partial]
        for x in others:
            first = combined(f, e.fn, e.dtype, first, x)
        return reduced_lanes(f, e.fn, e.dtype, first)

    def keep(self, e: Fold, x: LlvmValue) -> None:
        """Stores an element of a fold, here, if it is needed again."""

    # -- memory

    def _access(self, e: Access) -> LlvmValue:
        read = self._read(e)
        buffer = self._buffers[e.tensor.name]
        conditions = [(self._holds(g), g.fill) for g in read.guards]
        result = self._loaded(buffer, read, [c for c, _ in conditions], e.dtype)
        for condition, fill in reversed(conditions):
            assert not isinstance(fill, complex)
            other = self._f.constant(LlvmType(result.type.scalar), fill)
            result = self._f.select(condition, result, other)
        return result

    def _read(self, e: Access) -> Read:
        """Returns the address of an access, after checking the positions that are read from data."""
        read = read_of(e, self.layouts, self._extents)
        for d in read.data:
            self._indices_of_data[d.name] = free(d.value)
            with self._within(self._owner(free(d.value))):
                self._data[d.name] = self._checked(e, d)
        return read

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
        holds = f.all_of(conditions)
        if not self._varies(read.address):
            at = self.size(read.address)
            if holds is not None and holds.type.lanes == 1:
                at = f.select(holds, at, 0)
            elif holds is not None:
                any_holds = f.called(f"llvm.vector.reduce.or.{holds.type.mangled}", BOOL, holds)
                at = f.select(any_holds, at, 0)
            x = f.load(f.element(buffer.pointer, at, buffer.storage), LlvmType(buffer.storage))
            return _element(f, x, buffer, element)
        assert vector is not None
        mask = vector.mask
        if holds is not None:
            wide = f.splat(holds, vector.lanes)
            mask = wide if mask is None else mask & wide
        type = LlvmType(buffer.storage, vector.lanes)
        is_linear = not any(self._has_lanes(n) for n in names(read.address))
        if is_linear and linear_in(read.address, vector.index)[0] == 1:
            return _element(f, self._contiguous(buffer, read.address, vector, type, mask), buffer, element)
        guards = self._moving_guards(read, vector) if is_linear else None
        if guards is not None:
            offsets = self._lane_offsets(read.address, vector)
            if offsets is not None:
                same = [c for c in conditions if c.type.lanes == 1]
                pointer = f.element(buffer.pointer, self.size(read.address), buffer.storage)
                x = loaded_at(f, pointer, buffer.storage, offsets, vector.lanes, f.all_of(same), guards)
                return _element(f, x, buffer, element)
        every = f.constant(LlvmType("i1", vector.lanes), 1)
        at = self._lane_position(read.address)
        x = f.gather(buffer.pointer, at, mask or every, f.constant(type, 0))
        return _element(f, x, buffer, element)

    def _moving_guards(self, read: Read, vector: LoopScope) -> list[MovingGuard] | None:
        """Returns the guards that differ by lane; None if the position of one does not move as the address does."""
        out: list[MovingGuard] = []
        step = linear_in(read.address, vector.index)[0]
        for g in read.guards:
            if not self._varies(g.position) and not self._varies(g.bound):
                continue
            has_data = any(self._has_lanes(n) for n in (*names(g.position), *names(g.bound)))
            follows_address = isinstance(step, int) and linear_in(g.position, vector.index)[0] == step
            if g.kind != "inside" or has_data or not follows_address or self._varies(g.bound):
                return None
            out.append(MovingGuard(self._narrow(self.size(g.position)), self._narrow(self.size(g.bound))))
        return out

    def _lane_offsets(self, address: Dim, vector: LoopScope) -> list[int] | None:
        """Returns how far the elements of a vector are from the first one; None where that is not known or far."""
        count = vector.lanes
        if vector.mask is not None:
            extent = self._extents[vector.index]
            if not isinstance(extent, int):
                return None
            count = extent % vector.lanes
        return lane_offsets(address, vector.index, vector.lanes, count, is_aligned=vector.is_aligned)

    def _contiguous(
        self, buffer: Buffer, address: Dim, vector: LoopScope, type: LlvmType, mask: LlvmValue | None
    ) -> LlvmValue:
        """Returns neighbouring elements."""
        f = self._f
        assert vector.value is not None
        # Neighbouring windows share what is the same but for the offset.
        offset = constant_term(address)
        start = self.size(address - index(vector.index) - offset) + vector.value
        pointer = f.element_beside(buffer.pointer, start, offset, buffer.storage)
        return f.load(pointer, type, mask)

    def reload(self, kernel: LoopKernel, out: Buffer) -> LlvmValue:
        """Returns the elements at the address of the indices here."""
        f, vector, element = self._f, self._vector, kernel.body.dtype
        if vector is None:
            x = f.load(f.element(out.pointer, self.size(kernel.address), out.storage), LlvmType(out.storage))
        else:
            x = self._contiguous(out, kernel.address, vector, LlvmType(out.storage, vector.lanes), vector.mask)
        return _element(f, x, out, element)

    def store(self, x: LlvmValue, kernel: LoopKernel, out: Buffer) -> None:
        """Writes a value at the address of the indices here."""
        self.store_at(x, kernel.address, kernel.body.dtype, out)

    def store_at(self, x: LlvmValue, address: Dim, element: ElementType, out: Buffer) -> None:
        """Writes a value at an address, or a vector from there on."""
        f, vector = self._f, self._vector
        x = self.in_memory(x, element, out)
        if vector is None:
            f.store(x, f.element(out.pointer, self.size(address), out.storage))
            return
        assert vector.value is not None
        start = self.size(address - index(vector.index)) + vector.value
        pointer = f.element(out.pointer, start, out.storage)
        x = f.splat(x, vector.lanes)
        f.store(x, pointer, vector.mask)

    def in_memory(self, x: LlvmValue, element: ElementType, out: Buffer) -> LlvmValue:
        """Returns elements as they lie in a tensor."""
        f, base = self._f, out.layout.base
        if out.layout.is_narrow:
            # Only for processors that have an instruction for it.
            return f.cast("bitcast", f.cast("fptrunc", x, out.storage), "i16")
        return stored_value(f, x, out.storage, element) if base is None else f.cast("trunc", x - base, out.storage)


def _quantization(e: Expr, to: ElementType) -> tuple[Expr, int] | None:
    """Returns the number to round, and the integer to add before limiting it to a type of bytes; None for others."""
    if to not in (i8, u8):
        return None
    low, high = to.integer_limits
    match e:
        case Apply(
            fn="minimum",
            args=(
                Apply(
                    fn="maximum",
                    args=(
                        Apply(fn="add", args=(Apply(fn="round", args=(x,)), Cast(body=Const(value=int(shift))))),
                        Const(value=least),
                    ),
                ),
                Const(value=most),
            ),
        ) if x.dtype is f32 and (least, most) == (low, high) and low <= shift <= high:
            return x, shift
        case _:
            return None


def _element(f: Function, x: LlvmValue, buffer: Buffer, element: ElementType) -> LlvmValue:
    """Returns elements of a tensor from what lies in memory."""
    base = buffer.layout.base
    return loaded_value(f, x, element) if base is None else f.cast("zext", x, register_type(element)) + base


def constant_term(dim: Dim) -> int:
    """Returns the number in a sum."""
    return terms_of(dim).get((), 0)


def widest_bits(body: Expr) -> int:
    """Returns the bits that the number of lanes is chosen by: 64 where everything is computed in 64 bits."""
    return 64 if body.dtype.kind == "float" and body.dtype.bits == 64 else 32
