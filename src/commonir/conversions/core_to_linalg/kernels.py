"""Kernels of index notation as `linalg.generic`, whatever operation they are of.

Each fold becomes an operation that reduces over its indices; what remains is one operation over the axes of the result.
An operand that is read plainly is an input with an indexing map. Any other read, through views, at computed positions
or at positions from data, is a `tensor.extract` in the body, guarded where a view continues the tensor. Pieces of a
join are chosen by position.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonir.conversions.core_to_linalg.scalars import Scalars, scalar_constant
from commonir.conversions.core_to_linalg.tensors import dilated, empty, filled_with, generic, padded, part
from commonir.conversions.operands import refused
from commonir.conversions.to_mlir.dims import IndexDims, size
from commonir.conversions.to_mlir.finish import signless
from commonir.dialects.mlir import arith, tensor
from commonir.dialects.mlir.arith import CmpIPredicate
from commonir.dialects.mlir.linalg.base import Index_
from commonir.ir.affine import AffineConstant, AffineDim, AffineExpr
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, boolean
from commonir.notation import (
    Access,
    Apply,
    Cast,
    Const,
    Dilated,
    Expr,
    Fold,
    Guard,
    Join,
    Kernel,
    Padded,
    Position,
    Tensor,
    View,
    Visit,
    children,
    free,
    identity,
    index,
    mapped,
    names_of_axes,
    pieces_by_position,
    replace_accesses,
    resolve,
    walk,
    with_children,
)
from commonir.ods import Op
from commonir.rewrite.legalize import Context
from commonir.symbolic import Dim, Symbol, at_least, atom_dim, largest, plain, terms_of

Extents = Mapping[str, Dim]

_WINDOW_INDICES = 2
"""A position inside of a window is that of the window plus that in it."""


def kernel_value(context: Context, kernel: Kernel, extents: Extents, operands: Mapping[str, Value]) -> Value:
    """The result of a kernel on operands by name.

    Raises: DiagnosticError (E0601) for scalar functions that MLIR does not have, and dims that cannot be computed.
    """
    return _Kernel(context, dict(extents), dict(operands)).result(kernel)


class _Kernel:
    """One kernel."""

    def __init__(self, context: Context, extents: dict[str, Dim], operands: dict[str, Value]) -> None:
        self.context = context
        self.extents = extents
        self.operands = operands
        self.made: dict[Fold, Expr] = {}
        self.materialized: dict[Tensor, Tensor] = {}

    def result(self, kernel: Kernel) -> Value:
        axes, self.extents = names_of_axes(kernel, self.extents)
        body = replace_accesses(kernel.body, self._materialized)
        if isinstance(body, Access) and self._is_whole(body, axes):
            return self.operands[body.tensor.name]
        if isinstance(body, Fold) and set(free(body)) == set(axes):
            return self.folded(body, axes)
        return self.mapped(self.without_folds(body), axes)

    def _is_whole(self, e: Access, axes: Sequence[str]) -> bool:
        """Whether an access reads a tensor as it is."""
        where = [None if isinstance(p, Expr) else plain(p) for p in e.at]
        return not e.tensor.steps and where == list(axes) and e.tensor.shape == tuple([self.extents[i] for i in axes])

    def _materialized(self, e: Access) -> Access:
        """A read of a tensor through views that continue it by numbers, as one of a tensor that holds the numbers."""
        if not e.tensor.steps or any(isinstance(p, Expr) for p in e.at):
            return e
        if e.tensor not in self.materialized:
            value: Value | None = self.operands[e.tensor.name]
            shapes = [*[shape for _, shape in e.tensor.steps[1:]], e.tensor.shape]
            for (view, shape), seen in zip(e.tensor.steps, shapes, strict=True):
                value = None if value is None else self._seen(value, view, shape, seen)
            if value is None:
                return e
            name = f"materialized{len(self.operands)}"
            self.operands[name] = value
            self.materialized[e.tensor] = Tensor(name, e.tensor.shape, e.dtype)
        return self.materialized[e.tensor][e.at]

    def _seen(self, value: Value, view: View, shape: tuple[Dim, ...], seen: tuple[Dim, ...]) -> Value | None:
        """A tensor as a view shows it; None of one that is read at computed positions."""
        match view:
            case Dilated(factors=factors):
                return dilated(self.context, value, factors, seen)
            case Padded(before=before, after=after, mode="constant", fill=fill):
                sides = [(b, a) for b, a in zip(before, after, strict=True)]
                if not all(at_least(n, 0) or at_least(0, n) for side in sides for n in side):
                    return None
                cut = [(largest(-b, 0), largest(-a, 0)) for b, a in sides]
                left = [n - b - a for n, (b, a) in zip(shape, cut, strict=True)]
                if tuple(left) != shape:
                    value = part(self.context, value, [b for b, _ in cut], left, (1,) * len(cut))
                more = [(largest(b, 0), largest(a, 0)) for b, a in sides]
                if tuple(left) == seen:
                    return value
                return padded(self.context, value, seen, [b for b, _ in more], [a for _, a in more], fill)
            case _:
                return None

    def without_folds(self, e: Expr) -> Expr:
        """The expression with a read of its values in place of each fold."""
        return mapped(e, self._without_fold)

    def _without_fold(self, e: Expr, visit: Visit) -> Expr:
        if isinstance(e, Fold):
            if e not in self.made:
                axes = list(free(e))
                name = f"fold{len(self.operands)}"
                self.operands[name] = self.folded(e, axes)
                shape = tuple([self.extents[i] for i in axes])
                self.made[e] = Tensor(name, shape, e.dtype)[tuple([index(i) for i in axes])]
            return self.made[e]
        return with_children(e, visit)

    def mapped(self, body: Expr, axes: Sequence[str]) -> Value:
        """The values of an expression without folds for all values of some indices."""
        target = empty(self.context, body.dtype, [self.extents[i] for i in axes])
        reads = _Reads(self, body, axes)

        def scalars(s: Scalars, arguments: Sequence[Value]) -> Sequence[Value]:
            return (_Body(self, s, axes, reads.bound(arguments)).value(body),)

        at = [AffineDim(n) for n in range(len(axes))]
        (result,) = generic(self.context, reads.inputs, [(target, at)], [False] * len(axes), scalars)
        return result

    def folded(self, e: Fold, axes: Sequence[str]) -> Value:
        """The values of a fold for all values of some indices."""
        body = self.without_folds(e.body)
        start = scalar_constant(self.context, identity(e.fn, e.dtype), e.dtype)
        target = filled_with(start, empty(self.context, e.dtype, [self.extents[i] for i in axes]))
        loops = [*axes, *e.over]
        reads = _Reads(self, body, loops)
        reads.cover(e.over, e.dtype)

        def scalars(s: Scalars, arguments: Sequence[Value]) -> Sequence[Value]:
            value = _Body(self, s, loops, reads.bound(arguments)).value(body)
            return (s.apply(e.fn, (arguments[-1], value), e.dtype),)

        at = [AffineDim(n) for n in range(len(axes))]
        is_reduced = [n >= len(axes) for n in range(len(loops))]
        (result,) = generic(self.context, reads.inputs, [(target, at)], is_reduced, scalars)
        return result


class _Reads:
    """The inputs of a structured operation: the accesses of its body that are read plainly."""

    def __init__(self, kernel: _Kernel, body: Expr, loops: Sequence[str]) -> None:
        self.kernel = kernel
        self.loops = {name: n for n, name in enumerate(loops)}
        self.inputs: list[tuple[Value, Sequence[AffineExpr]]] = []
        self._places: dict[Access, int] = {}
        self._visit(body)

    def _visit(self, body: Expr) -> None:
        pending = [body]
        seen = {body}
        while pending:
            e = pending.pop()
            if isinstance(e, Access):
                at = self._plain(e)
                if at is not None:
                    self._places[e] = len(self.inputs)
                    self.inputs.append((self.kernel.operands[e.tensor.name], at))
            # What a piece of a join reads lies elsewhere.
            for c in () if isinstance(e, Join) else reversed(children(e)):
                if c not in seen:
                    seen.add(c)
                    pending.append(c)

    def _plain(self, e: Access) -> list[AffineExpr] | None:
        """Returns where an access reads, if that is indices or sums of positive multiples of them, as for windows."""
        if e.tensor.steps:
            return None
        out: list[AffineExpr] = []
        for p, n in zip(e.at, e.tensor.shape, strict=True):
            name = None if isinstance(p, Expr) else plain(p)
            if name is not None and name in self.loops and self.kernel.extents[name] == n:
                out.append(AffineDim(self.loops[name]))
            elif p == 0 and n == 1:
                out.append(AffineConstant(0))
            else:
                window = None if isinstance(p, Expr) else self._window(p)
                if window is None:
                    return None
                out.append(window)
        return out

    def _window(self, p: Dim) -> AffineExpr | None:
        """A position inside of windows: two indices with positive factors, neither of which covers an axis alone."""
        out: AffineExpr = AffineConstant(0)
        count = 0
        for monomial, factor in terms_of(p).items():
            symbol = monomial[0] if len(monomial) == 1 else None
            if not isinstance(symbol, Symbol) or not symbol.is_index or symbol.name not in self.loops or factor < 1:
                return None
            out = out + AffineDim(self.loops[symbol.name]) * AffineConstant(factor)
            count += 1
        return out if count == _WINDOW_INDICES else None

    def cover(self, over: Sequence[str], element: ElementType) -> None:
        """Adds an input for the ranges of indices that no other input determines."""
        reported = {e.position for _, at in self.inputs for e in at if isinstance(e, AffineDim)}
        missing = [i for i in over if self.loops[i] not in reported]
        if missing:
            ranges = [self.kernel.extents[i] for i in missing]
            window = empty(self.kernel.context, element, ranges)
            self.inputs.append((window, [AffineDim(self.loops[i]) for i in missing]))

    def bound(self, arguments: Sequence[Value]) -> dict[Access, Value]:
        """The argument of the body that each plain access is."""
        return {access: arguments[n] for access, n in self._places.items()}


class _Positions(IndexDims):
    """Positions in terms of the indices of a scalar program, inside of which they are computed."""

    def __init__(self, body: _Body) -> None:
        super().__init__(body.kernel.context)
        self._body = body

    def put(self, op: Op) -> Value:
        return self._body.scalars.make(op)

    def symbol(self, expected: Symbol) -> Value:
        return self._body.symbol(expected)

    def value(self, dim: Dim) -> Value:
        return self.number(dim) if isinstance(dim, int) else self.sum(dim)


class _Body:
    """The scalar program of one structured operation."""

    def __init__(self, kernel: _Kernel, scalars: Scalars, loops: Sequence[str], known: Mapping[Access, Value]) -> None:
        self.kernel = kernel
        self.scalars = scalars
        self.loops = {name: n for n, name in enumerate(loops)}
        self.positions: dict[str, Value] = {}
        self.values: dict[Expr, Value] = {**known}
        self.numbers: dict[Dim, Value] = {}

    def value(self, e: Expr) -> Value:
        """The value of an expression."""
        result = self.values.get(e)
        if result is None:
            result = self._computed(e)
            self.values[e] = result
        return result

    def _computed(self, e: Expr) -> Value:
        s = self.scalars
        match e:
            case Const(value=number_):
                return s.constant(number_, e.dtype)
            case Position(at=at):
                return s.of_index(self.number(at), e.dtype)
            case Apply(fn=fn, args=args):
                return s.apply(fn, [self.value(a) for a in args], args[-1].dtype)
            case Cast(body=body):
                return s.cast(self.value(body), body.dtype, e.dtype)
            case Access():
                return self._read(e)
            case Join():
                return self._joined(e)
            case _:
                raise refused(f"{e} cannot be part of a structured operation")

    def number(self, dim: Dim) -> Value:
        """A position as a value."""
        if dim not in self.numbers:
            self.numbers[dim] = _Positions(self).value(dim)
        return self.numbers[dim]

    def symbol(self, symbol: Symbol) -> Value:
        """A symbol or index as a value."""
        if not symbol.is_index:
            return size(self.kernel.context, atom_dim(symbol))
        if symbol.name not in self.positions:
            self.positions[symbol.name] = self.scalars.make(Index_(self.loops[symbol.name]))
        return self.positions[symbol.name]

    def _read(self, e: Access) -> Value:
        """An element of a tensor, or what a view has in its place."""
        places: list[Dim] = []
        for p in e.at:
            if isinstance(p, Expr):
                position = self.scalars.to_index(self.value(p), p.dtype)
                # What the position is read from may have brought in a name of its own.
                name = f"from_data{len(self.positions)}"
                self.positions[name] = position
                places.append(index(name))
            else:
                places.append(p)
        at, guards = resolve(e.tensor, places)
        source = e.tensor.source
        if 0 in source.shape and guards:
            return self.scalars.constant(guards[0].fill, e.dtype)
        conditions = [self._holds(g) for g in guards]
        inside = self._all(conditions)
        where = [self.number(p) for p in at]
        if inside is not None:
            zero = self.scalars.index_constant(0)
            where = [w if isinstance(p, int) else self._chosen(inside, w, zero) for p, w in zip(at, where, strict=True)]
        element = signless(e.dtype)
        operand = self.kernel.operands[e.tensor.name]
        new_op = tensor.Extract.build({"tensor": operand, "indices": tuple(where)}, [element])
        result = self.scalars.make(new_op)
        for g, condition in zip(reversed(guards), reversed(conditions), strict=True):
            result = self._chosen(condition, result, self.scalars.constant(g.fill, e.dtype))
        return result

    def _chosen(self, condition: Value, a: Value, b: Value) -> Value:
        return self.scalars.make(arith.Select(condition, a, b))

    def _all(self, conditions: Sequence[Value]) -> Value | None:
        result: Value | None = None
        for c in conditions:
            result = c if result is None else self.scalars.make(arith.AndI(result, c))
        return result

    def _holds(self, guard: Guard) -> Value:
        at, bound = self.number(guard.position), self.number(guard.bound)
        s = self.scalars
        if guard.kind == "inside":
            # As a number without sign, what lies before the first position is larger than any size.
            return s.make(arith.CmpI(predicate=CmpIPredicate.ULT, lhs=at, rhs=bound))
        rest = s.make(arith.RemSI(at, bound))
        return s.make(arith.CmpI(predicate=CmpIPredicate.EQ, lhs=rest, rhs=s.index_constant(0)))

    def _joined(self, e: Join) -> Value:
        """The piece that a position lies in."""
        if any(isinstance(x, Join) for piece in e.pieces for x in walk(piece)):
            raise refused("a join inside of a join cannot be part of a structured operation")
        along = index(e.along)
        result: Value | None = None
        s = self.scalars
        for start, piece in pieces_by_position(e, self.kernel.extents):
            value = self.value(piece)
            if result is None:
                result = value
            else:
                at, first = self.number(along), self.number(start)
                is_here = s.make(arith.CmpI(predicate=CmpIPredicate.SGE, lhs=at, rhs=first))
                result = self._chosen(is_here, value, result)
        if result is None:
            return s.constant(False if e.dtype is boolean else 0, e.dtype)
        return result
