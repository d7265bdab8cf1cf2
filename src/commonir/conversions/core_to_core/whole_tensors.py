"""Index notation as operations of the core on whole tensors: for dialects that have no kernels.

Every expression becomes a tensor with an axis for each index of the kernel, of size 1 along those that it does not
depend on. What is read at the positions of indices is moved there; any other read gathers. A fold reduces its axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from string import ascii_lowercase

from commonir.conversions.operands import named_operands, refused
from commonir.conversions.symbolic_dims import sum_of_products
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, boolean, i32
from commonir.notation import (
    Access,
    Apply,
    Cast,
    Const,
    Expr,
    Fold,
    Guard,
    Join,
    Kernel,
    Position,
    index,
    names_of_axes,
    pieces_by_position,
    resolve,
)
from commonir.ods import Form, Op, infer
from commonir.rewrite.legalize import NO_REASON, Mismatch, Result
from commonir.symbolic import Dim, DimExpr, Floor, Max, Mod, Symbol, atom_dim, largest, plain
from commonir.symbolic.dims import Atom

Extents = Mapping[str, Dim]

_FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "absolute": core.abs,
    "divide": core.div,
    "floor_divide": core.floor_div,
    "multiply": core.mul,
    "negative": core.neg,
    "power": core.pow,
    "remainder": core.mod,
    "subtract": core.sub,
    "truncated_divide": core.div,
    "truncated_remainder": core.remainder,
}
"""Functions that are called otherwise in the core."""


def _function(name: str) -> Callable[..., Value]:
    result: Callable[..., Value] | None = _FUNCTIONS.get(name) or getattr(core, name, None)
    if result is None:
        raise refused(f"the function {name} has no operation")
    return result


def _all(x: Value, axes: tuple[int, ...]) -> Value:
    return core.cast(core.reduce_min(core.cast(x, i32), axes, True), boolean)


def _some(x: Value, axes: tuple[int, ...]) -> Value:
    return core.cast(core.reduce_max(core.cast(x, i32), axes, True), boolean)


_FOLDS: Mapping[str, Callable[[Value, tuple[int, ...]], Value]] = {
    "add": lambda x, axes: core.reduce_sum(x, axes, True),
    "multiply": lambda x, axes: core.reduce_prod(x, axes, True),
    "maximum": lambda x, axes: core.reduce_max(x, axes, True),
    "minimum": lambda x, axes: core.reduce_min(x, axes, True),
    "logical_and": _all,
    "logical_or": _some,
}


ELEMENTARY = (
    core.Unary,
    core.Binary,
    core.Comparison,
    core.Predicate,
    core.Movement,
    core.Reduce,
    core.Select,
    core.Cast,
    core.Concat,
    core.GatherNd,
    core.Iota,
)
"""Operations that kernels become, which a kernel would not describe further."""


def of_kernels(
    op: Op, operands: Sequence[Value | tuple[Value, ...] | None], positions: ElementType, *, contracts: bool = False
) -> Result:
    """The results of an operation that is stated in index notation, by its kernels (`kernel_value`)."""
    if isinstance(op, ELEMENTARY) or op.regions:
        return NO_REASON
    if op.form is not Form.KERNEL:
        return Mismatch(f"{op.name} is not defined in index notation")
    derived = infer(op)
    if not derived.kernels:
        return Mismatch(f"{op.name} on operands of which the ranks are not known")
    kernels = zip(derived.kernels, derived.extents, strict=True)
    operands_by_name = named_operands(op, operands)
    return tuple([kernel_value(k, extents, operands_by_name, positions, contracts=contracts) for k, extents in kernels])


def kernel_value(
    kernel: Kernel,
    extents: Extents,
    operands: Mapping[str, Value],
    positions: ElementType,
    *,
    contracts: bool = False,
) -> Value:
    """The result of a kernel on operands by name, as operations of the core; `positions` are integers of a type.

    `contracts`: sums of products of floats become `core.einsum`.

    Raises: DiagnosticError (E0601) for what only stands in kernels.
    """
    axes, known = names_of_axes(kernel, extents)
    space = [*axes, *[i for i in known if i not in axes]]
    result = _Space(space, known, operands, positions, contracts=contracts).value(kernel.body)
    flat = core.reshape(result, tuple([d for d in core.tensor_type(result).shape or () if d is not None][: len(axes)]))
    return core.broadcast_to(flat, tuple([known[i] for i in axes]))


def computed_atom(atom: Floor | Mod | Max, computed: Callable[[Dim], Value]) -> Value:
    """Returns an atom other than a symbol, from the values of the dims in it."""
    match atom:
        case Floor(num=num, den=den):
            return core.floor_div(computed(num), computed(den))
        case Mod(num=num, den=den):
            return core.mod(computed(num), computed(den))
        case Max(args=args):
            return reduce(core.maximum, map(computed, args))


class _Space:
    """The iteration space of a kernel: an axis for each index."""

    def __init__(
        self,
        indices: Sequence[str],
        extents: Extents,
        operands: Mapping[str, Value],
        positions: ElementType,
        *,
        contracts: bool,
    ) -> None:
        self.positions = positions
        self.contracts = contracts
        self.place = {name: n for n, name in enumerate(indices)}
        self.rank = len(indices)
        self.extents = extents
        self.operands = operands
        self.known: dict[Expr, Value] = {}
        self.numbers: dict[Dim, Value] = {}

    def value(self, e: Expr) -> Value:
        """An expression at all points."""
        if e not in self.known:
            self.known[e] = self._computed(e)
        return self.known[e]

    def _computed(self, e: Expr) -> Value:
        match e:
            case Const(value=number):
                return core.reshape(core.scalar(number, e.dtype), (1,) * self.rank)  # pyright: ignore[reportArgumentType]
            case Position(at=at):
                return core.cast(self.number(at), e.dtype)
            case Apply(fn=fn, args=args):
                return _function(fn)(*[self.value(a) for a in args])
            case Cast(body=body):
                result = self.value(body)
                return result if body.dtype is e.dtype else core.cast(result, e.dtype)
            case Fold(fn="add", over=over, body=Apply(fn="multiply", args=(a, b))) if (
                self.contracts and e.dtype.is_float
            ):
                return self._contracted(over, self.value(a), self.value(b))
            case Fold(fn=fn, over=over, body=body):
                return self._folded(fn, over, self.value(body))
            case Access():
                return self._read(e)
            case Join():
                return self._joined(e)
            case _:
                raise refused(f"{e} stands in kernels only")

    def _contracted(self, over: Sequence[str], a: Value, b: Value) -> Value:
        """The sum of products over indices, without a tensor of all products."""
        # All dims are known or named in a kernel.
        shapes = [tuple([d for d in core.tensor_type(x).shape or () if d is not None]) for x in (a, b)]
        axes = [[n for n, d in enumerate(shape) if d != 1] for shape in shapes]
        shared = set(axes[0]) & set(axes[1])
        summed = {self.place[i] for i in over if self.extents[i] != 1}
        is_plain = all(shapes[0][n] == shapes[1][n] for n in shared) and summed <= {*axes[0], *axes[1]}
        if not is_plain or not summed & shared or self.rank > len(ascii_lowercase):
            return self._folded("add", over, core.mul(a, b))
        kept = sorted({*axes[0], *axes[1]} - summed)
        terms = ["".join([ascii_lowercase[n] for n in each]) for each in (*axes, kept)]
        factors = [core.reshape(x, tuple([s[n] for n in on])) for x, s, on in zip((a, b), shapes, axes, strict=True)]
        result = core.einsum(tuple(factors), f"{terms[0]},{terms[1]}->{terms[2]}")
        dims = [shapes[0][n] if n in axes[0] else shapes[1][n] for n in range(self.rank)]
        return core.reshape(result, tuple([d if n in kept else 1 for n, d in enumerate(dims)]))

    def _folded(self, fn: str, over: Sequence[str], x: Value) -> Value:
        shape = [d for d in core.tensor_type(x).shape or () if d is not None]
        for i in over:
            shape[self.place[i]] = self.extents[i]
        return _FOLDS[fn](core.broadcast_to(x, tuple(shape)), tuple(sorted(self.place[i] for i in over)))

    # -- positions

    def number(self, dim: Dim) -> Value:
        """A position at all points."""
        if dim not in self.numbers:
            self.numbers[dim] = self._numbered(dim)
        return self.numbers[dim]

    def _numbered(self, dim: Dim) -> Value:
        if isinstance(dim, int):
            return core.reshape(core.scalar(dim, self.positions), (1,) * self.rank)
        return sum_of_products(dim, self._atom, self.number, core.mul, core.add)

    def _atom(self, atom: Atom) -> Value:
        match atom:
            case Symbol() if atom.is_index and atom.name in self.place:
                at = self.place[atom.name]
                dim = self.extents[atom.name]
                return core.reshape(
                    core.iota((dim,), 0, self.positions), (*(1,) * at, dim, *(1,) * (self.rank - at - 1))
                )
            case Symbol():
                if DimExpr({(atom,): 1}) in self.numbers:
                    return self.numbers[DimExpr({(atom,): 1})]
                return core.reshape(core.dims((atom_dim(atom),), self.positions, True), (1,) * self.rank)
            case _:
                return computed_atom(atom, self.number)

    # -- reading

    def _read(self, e: Access) -> Value:
        whole = self._moved(e)
        if whole is not None:
            return whole
        places: list[Dim] = []
        for p in e.at:
            if not isinstance(p, Expr):
                places.append(p)
                continue
            name = f"from data {len(self.numbers)}"
            result = self.value(p)
            self.numbers[index(name)] = result if p.dtype is self.positions else core.cast(result, self.positions)
            places.append(index(name))
        at, guards = resolve(e.tensor, places)
        source = self.operands[e.tensor.name]
        if 0 in e.tensor.source.shape:
            if not guards:
                raise refused("an element is read of a tensor that has none")
            return self._splat(guards[0].fill, e.dtype)
        conditions = [self._holds(g) for g in guards]
        where = [self.number(p) for p in at]
        if conditions:
            limits = [largest(n - 1, 0) for n in e.tensor.source.shape]
            where = [self._limited(w, n) for w, n in zip(where, limits, strict=True)]
        result = self._gathered(source, where)
        for g, holds in zip(reversed(guards), reversed(conditions), strict=True):
            result = core.select(holds, result, self._splat(g.fill, e.dtype))
        return result

    def _splat(self, value: object, element: ElementType) -> Value:
        return core.reshape(core.scalar(value, element), (1,) * self.rank)  # pyright: ignore[reportArgumentType]

    def _limited(self, at: Value, last: Dim) -> Value:
        return core.minimum(core.maximum(at, self.number(0)), self.number(last))

    def _moved(self, e: Access) -> Value | None:
        """A tensor that is read at the positions of different indices, its axes moved to theirs; None otherwise."""
        if e.tensor.steps:
            return None
        names: list[str | None] = []
        for p, n in zip(e.at, e.tensor.shape, strict=True):
            name = None if isinstance(p, Expr) else plain(p)
            if name is not None and name in self.place and self.extents[name] == n and name not in names:
                names.append(name)
            elif p == 0 and n == 1:
                names.append(None)
            else:
                return None
        source = self.operands[e.tensor.name]
        remaining = [n for n, name in enumerate(names) if name is not None]
        order = sorted(remaining, key=lambda n: self.place[names[n] or ""])
        gone = tuple([n for n, name in enumerate(names) if name is None])
        result = core.transpose(source, (*order, *gone)) if [*order, *gone] != list(range(len(names))) else source
        shape: list[Dim] = [1] * self.rank
        for n in remaining:
            shape[self.place[names[n] or ""]] = e.tensor.shape[n]
        return core.reshape(result, tuple(shape))

    def _gathered(self, source: Value, where: Sequence[Value]) -> Value:
        if not where:
            return core.reshape(source, (1,) * self.rank)
        shape: list[Dim] = [1] * self.rank
        for w in where:
            for n, d in enumerate(core.tensor_type(w).shape or ()):
                if d != 1 and d is not None:
                    shape[n] = d
        rows = [core.unsqueeze(core.broadcast_to(w, tuple(shape)), (self.rank,)) for w in where]
        return core.gather_nd(source, core.concat(tuple(rows), self.rank) if len(rows) > 1 else rows[0])

    def _holds(self, guard: Guard) -> Value:
        at, bound = self.number(guard.position), self.number(guard.bound)
        if guard.kind == "inside":
            return core.logical_and(core.greater_equal(at, self.number(0)), core.less(at, bound))
        return core.equal(core.mod(at, bound), self.number(0))

    def _joined(self, e: Join) -> Value:
        """The piece that a position lies in."""
        along = index(e.along)
        result: Value | None = None
        for start, piece in pieces_by_position(e, self.extents):
            value = self.value(piece)
            here = core.greater_equal(self.number(along), self.number(start))
            result = value if result is None else core.select(here, value, result)
        return self._splat(0, e.dtype) if result is None else result
