"""Symbolic dims as values of type `index`, computed once for a function from its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonir.conversions.operands import refused
from commonir.conversions.symbolic_dims import carrying, early, measuring
from commonir.dialects.mlir import arith, tensor
from commonir.dialects.mlir.tensor.base import DYNAMIC
from commonir.ir.attributes import IntegerAttr
from commonir.ir.operation import Value
from commonir.ir.types import index
from commonir.ods import Op
from commonir.rewrite.legalize import Context
from commonir.symbolic import Dim, Floor, Max, Mod, Symbol, bounds, terms_of
from commonir.symbolic.dims import Atom

Make = Callable[[Op], Value]
"""Puts an operation where it belongs, and gives its result."""


def index_constant(context: Context, number: int) -> Value:
    """A number of type `index`."""
    key = ("index", number)
    if key not in context.memo:
        context.memo[key] = context.hoist(arith.Constant(IntegerAttr(number, index)))
    return context.memo[key]


def size(context: Context, dim: Dim | None) -> Value:
    """A size as a value.

    Raises: DiagnosticError (E0601) if the program cannot compute it.
    """
    if dim is None:
        raise refused("a size is not known before running, and nothing names it")
    if isinstance(dim, int):
        return index_constant(context, dim)
    key = ("size", dim)
    if key in context.memo:
        return context.memo[key]
    carried = carrying(context, dim)
    if carried is not None:
        result = axis_size(context, *carried)
    else:
        result = number(dim, lambda s: _symbol(context, s), lambda op: early(context, op), context)
    if context.is_hoisted(result):
        context.memo[key] = result
    return result


def dynamic_sizes(context: Context, shape: Sequence[Dim | None]) -> tuple[Value, ...]:
    """Returns the dynamic dims of a shape as values."""
    return tuple([size(context, d) for d in shape if not isinstance(d, int)])


def static_sizes(shape: Sequence[Dim | None]) -> tuple[int, ...]:
    """A shape with what stands for a value in place of sizes that are not numbers."""
    return tuple([d if isinstance(d, int) else DYNAMIC for d in shape])


def number(dim: Dim, symbol: Callable[[Symbol], Value], make: Make, context: Context) -> Value:
    """An expression as a value: `symbol` gives that of a symbol, `make` places operations."""
    if isinstance(dim, int):
        return index_constant(context, dim)
    total: Value | None = None
    for monomial, coefficient in sorted(terms_of(dim).items(), key=lambda term: (not term[0], term[1] < 0)):
        product: Value | None = None
        for atom in monomial:
            factor = _atom(atom, symbol, make, context)
            product = factor if product is None else make(arith.MulI(product, factor))
        if product is None:
            product = index_constant(context, coefficient)
        elif abs(coefficient) != 1 or (total is None and coefficient == -1):
            scale = coefficient if total is None else abs(coefficient)
            product = make(arith.MulI(product, index_constant(context, scale)))
        if total is None:
            total = product
        elif coefficient < 0 and monomial:
            total = make(arith.SubI(total, product))
        else:
            total = make(arith.AddI(total, product))
    return index_constant(context, 0) if total is None else total


def _atom(atom: Atom, symbol: Callable[[Symbol], Value], make: Make, context: Context) -> Value:
    def value(dim: Dim) -> Value:
        return number(dim, symbol, make, context)

    match atom:
        case Symbol():
            return symbol(atom)
        case Floor(num=num, den=den):
            return _quotient(num, value(num), value(den), make)
        case Mod(num=num, den=den):
            dividend, divisor = value(num), value(den)
            if bounds(num)[0] >= 0:
                return make(arith.RemUI(dividend, divisor))
            whole = make(arith.FloorDivSI(dividend, divisor))
            return make(arith.SubI(dividend, make(arith.MulI(whole, divisor))))
        case Max(args=args):
            first, *rest = map(value, args)
            for other in rest:
                first = make(arith.MaxSI(first, other))
            return first


def _quotient(num: Dim, dividend: Value, divisor: Value, make: Make) -> Value:
    # Divisors are positive.
    return make((arith.DivUI if bounds(num)[0] >= 0 else arith.FloorDivSI)(dividend, divisor))


def axis_size(context: Context, value: Value, axis: int) -> Value:
    """The size of an axis of a tensor."""
    return early(context, tensor.Dim_(value, index_constant(context, axis)))


def _symbol(context: Context, expected: Symbol) -> Value:
    """A symbol, from an axis that has it or a linear expression of it as its size."""
    axis, factor, offset = measuring(context, expected)
    value = axis_size(context, *axis)
    if offset:
        value = early(context, arith.SubI(value, index_constant(context, offset)))
    return early(context, arith.DivSI(value, index_constant(context, factor))) if factor != 1 else value
